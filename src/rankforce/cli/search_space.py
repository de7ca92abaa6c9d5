"""``--try name=values`` and TOML files: what ``rankforce tune`` searches."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankforce.errors import SettingsError


def read_space(tried: Sequence[str], file: Path | None) -> dict[str, Any]:
    """The space of a file and of ``--try`` options, which come first where both name a setting."""
    space = {} if file is None else _from_toml(file)
    for entry in tried:
        name, equals, text = entry.partition("=")
        if not equals or not text.strip():
            raise SettingsError(
                f"--try {entry}: write name=value,value,... or name=low..high or name=low..high,log, for example "
                "--try learning_rate=0.05,0.1,0.2"
            )
        space[name.strip().replace("-", "_")] = _values(text.strip(), entry)
    if not space:
        raise SettingsError("say what to try: --try n_leaves=8..64, or --space FILE.toml")
    return space


def _values(text: str, entry: str) -> Any:
    """A list, or a tuple for a range."""
    if ".." in text:
        ends, comma, kind = text.partition(",")
        low, _, high = ends.partition("..")
        numbers = [_value(low), _value(high)]
        if not all(isinstance(one, (int, float)) for one in numbers) or (comma and kind.strip() != "log"):
            raise SettingsError(f"--try {entry}: a range is low..high or low..high,log with two numbers")
        return (*numbers, "log") if comma else tuple(numbers)
    if text.startswith("["):
        found = _value(text)
        if isinstance(found, list):
            return found
    return [_value(part) for part in _split(text)]


def _split(text: str) -> list[str]:
    """Parts between commas that stand in no bracket: ERR@10(max_grade=4) and {"a": 1} are one part."""
    parts, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]


def _value(text: str) -> Any:
    if text.strip() in ("true", "false"):
        return text.strip() == "true"
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text.strip()


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
