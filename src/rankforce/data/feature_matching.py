"""Features of two sources matched: by name where both have names, else by position."""

from __future__ import annotations

from collections.abc import Sequence

from rankforce.errors import DataError
from rankforce.remedies import Words, parts_of


def are_numbered(names: Sequence[str]) -> bool:
    """Whether features have no names but the numbers 1, 2, 3, ... that a data set gives them."""
    return all(name == str(place) for place, name in enumerate(names, start=1))


def feature_places(
    wanted: Sequence[str], names: Sequence[str], *, named: bool, what: str, of: str, counted: str, remedy: Words
) -> list[int] | None:
    """Where each of the ``wanted`` features stands among ``names``; None if they stand alike.

    Features that are only numbered, on either side, are matched by position (``named``: those of ``names`` are not).
    Numbers that begin with 0 on one side and with 1 on the other name different features: they are refused.
    Errors say what has the names, ``of`` what the wanted ones are, how these are ``counted``, and what to do where
    some lack.
    """
    if tuple(names) == tuple(wanted):
        return None
    known = {name: place for place, name in enumerate(names)}
    missing = [name for name in wanted if name not in known]
    if not missing and are_numbered(wanted) and "0" in known:
        raise DataError(
            f"{what} numbers its features from 0 (0, 1, 2, ...), those of {of} are numbered from 1: number 1 may be "
            "the same feature or the one before it; give both the same names, or a plain matrix of these features"
        )
    if not missing and (named or len(names) == len(wanted)):
        return [known[name] for name in wanted]
    if not named or are_numbered(wanted):
        if len(names) == len(wanted):
            return None
        raise DataError(f"{what} has {len(names)} features, {counted} {len(wanted)}")
    shown = ", ".join(map(repr, missing[:5])) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
    count = "a feature" if len(missing) == 1 else f"{len(missing)} features"
    raise DataError(f"{what} lacks {count} of {of}: {shown}; ", *parts_of(remedy))
