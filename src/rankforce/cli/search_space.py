"""``--try name=values`` and TOML files: what ``rankforce tune`` searches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankforce import text_values
from rankforce.errors import SettingsError
from rankforce.kinds import Anything, Kind


def read_space(tried: Sequence[str], file: Path | None, ranker: type) -> dict[str, Any]:
    """The space of a file and of ``--try`` options, which come first where both name a setting of the ranker."""
    from rankforce.training.settings import kinds_of

    space = {} if file is None else _from_toml(file)
    for entry in tried:
        name, equals, text = entry.partition("=")
        if not equals or not text.strip():
            raise SettingsError(
                f"--try {entry}: write name=value,value,... or name=low..high or name=low..high,log, for example "
                "--try learning_rate=0.05,0.1,0.2"
            )
        name = name.strip().replace("-", "_")
        space[name] = _values(text.strip(), entry, name, kinds_of(ranker).get(name, Anything()))
    if not space:
        raise SettingsError("say what to try: --try n_leaves=8..64, or --space FILE.toml")
    return space


def _values(text: str, entry: str, name: str, kind: Kind) -> Any:
    """A list, or a tuple for a range."""
    if ".." in text:
        return _range(text, entry)
    if text.startswith("["):
        values = text_values.python_value(text)
        if isinstance(values, list):
            return values
    return [kind.read_checked(part, name, f"--try {entry}") for part in text_values.parts(text)]


def _range(text: str, entry: str) -> tuple[Any, ...]:
    ends, comma, scale = text.partition(",")
    low, _, high = ends.partition("..")
    try:
        numbers: tuple[Any, ...] | None = (text_values.number(low), text_values.number(high))
    except ValueError:
        numbers = None
    if numbers is None or (comma and scale.strip() != "log"):
        raise SettingsError(f"--try {entry}: a range is low..high or low..high,log with two numbers")
    return (*numbers, "log") if comma else numbers


def _from_toml(path: Path) -> dict[str, Any]:
    """Lists, and tables ``{low = 1, high = 9, log = true}``."""
    import tomllib

    try:
        with open(path, "rb") as file:
            read = tomllib.load(file)
    except OSError as error:
        raise SettingsError(f"{path}: the space cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: this is not TOML: {error}") from None
    space: dict[str, Any] = {}
    for name, given in read.items():
        if isinstance(given, dict):
            if not {"low", "high"} <= given.keys() <= {"low", "high", "log"}:
                raise SettingsError(f"{path}: {name}: a range is written {{low = 1, high = 9}}, also with log = true")
            space[name] = (given["low"], given["high"], "log") if given.get("log") else (given["low"], given["high"])
        else:
            space[name] = given
    return space
