"""Settings of a ranker from the command line: ``--set name=value``, and options that are settings themselves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from rankforce.cli.named_values import name_and_text
from rankforce.errors import SettingsError


def read_settings(written: Sequence[str], ranker: type, by_option: Collection[str] = ()) -> dict[str, Any]:
    """Settings by name, each read as what it is declared to be: ``large_margin=false``, ``early_stopping=none``.

    One that is written twice, or that an option has given, is refused: nobody knows which was meant.
    """
    from rankforce.training.other_names import unknown_setting
    from rankforce.training.settings import kinds_of

    kinds = kinds_of(ranker)
    settings = {}
    for entry in written:
        name, text = name_and_text(entry, "--set", "n_leaves=15")
        name = name.replace("-", "_")
        if name not in kinds:
            raise unknown_setting(ranker.__name__, name, kinds)
        if name in settings or name in by_option:
            other = "--set" if name in settings else "an option of its own"
            raise SettingsError(f"--set {entry}: {name} is given twice, also by {other}: leave one of them out")
        settings[name] = kinds[name].read_checked(text, name, f"--set {entry}")
    return settings


def read_option(text: str | None, option: str, name: str, ranker: type) -> Any:
    """The setting ``name`` of a ranker out of what was typed after an option of its own; None if nothing was."""
    from rankforce.training.settings import kinds_of

    if text is None or name not in kinds_of(ranker):
        return text
    return kinds_of(ranker)[name].read_checked(text, name, f"{option} {text}")


def said_by_options(*, seed: int, quiet: bool, threads: int | None) -> set[str]:
    """The settings that ``--seed``, ``--quiet`` and ``--threads`` speak of, where they say other than is usual."""
    said = {"seed": seed != 0, "progress": quiet, "threads": threads is not None}
    return {name for name, given in said.items() if given}
