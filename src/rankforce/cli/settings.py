"""Settings of a ranker from the command line: ``--set name=value``, and options that are settings themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankforce.cli.named_values import name_and_text


def read_settings(written: Sequence[str], ranker: type) -> dict[str, Any]:
    """Settings by name, each read as what it is declared to be: ``large_margin=false``, ``early_stopping=none``."""
    from rankforce.training.other_names import unknown_setting
    from rankforce.training.settings import kinds_of

    kinds = kinds_of(ranker)
    settings = {}
    for entry in written:
        name, text = name_and_text(entry, "--set", "n_leaves=15")
        name = name.replace("-", "_")
        if name not in kinds:
            raise unknown_setting(ranker.__name__, name, kinds)
        settings[name] = kinds[name].read_checked(text, name, f"--set {entry}")
    return settings


def read_option(text: str | None, option: str, name: str, ranker: type) -> Any:
    """The setting ``name`` of a ranker out of what was typed after an option of its own; None if nothing was."""
    from rankforce.training.settings import kinds_of

    if text is None or name not in kinds_of(ranker):
        return text
    return kinds_of(ranker)[name].read_checked(text, name, f"{option} {text}")
