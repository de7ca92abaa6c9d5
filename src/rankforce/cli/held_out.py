"""Validation data of ``rankforce train``: a file of its own, or a share of the training queries."""

from __future__ import annotations

from typing import Any

from rankforce.cli import output
from rankforce.console.wording import counted
from rankforce.errors import SettingsError
from rankforce.kinds import check_number


def check_held_out(validation: str | None, share: float | None, preferences: str | None, **needing: Any) -> None:
    """Raise where two options say what is held out, where it cannot be, or where an option needs it and none does."""
    check_number("--validation-share", share, 0.0, 0.9, above=True, optional=True)
    if share is not None and validation is not None:
        raise SettingsError("--validation is held out already: leave --validation-share out, or --validation")
    if share is not None and preferences is not None:
        raise SettingsError(
            "--preferences may name queries that --validation-share would hold out: write two files with rankforce "
            "split, and give the second one as --validation"
        )
    for option, given in needing.items():
        if given and validation is None and share is None:
            name = option.replace("_", "-")
            raise SettingsError(f"--{name} needs --validation FILE, or --validation-share 0.2")


def held_out(documents: Any, share: float, seed: int) -> tuple[Any, Any]:
    """Training and validation queries, dealt as ``rankforce split`` and ``rankforce tune`` deal them."""
    train, validation = documents.split(1.0 - share, share, seed=seed)
    output.note(f"{validation.n_queries:,} of {counted(documents.n_queries, 'query')} held out for validation")
    return train, validation
