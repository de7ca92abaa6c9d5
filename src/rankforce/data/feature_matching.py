"""Features of two sources matched: by name where both have names, else by position."""

from __future__ import annotations

from collections.abc import Sequence

from rankforce.errors import DataError
from rankforce.remedies import ReadOption, Words, parts_of


def are_numbered(names: Sequence[str]) -> bool:
    """Whether features have no names but the numbers 1, 2, 3, ... that a data set gives them."""
    return all(name == str(index) for index, name in enumerate(names, start=1))


def feature_places(
    features: Sequence[str], names: Sequence[str], *, named: bool, what: str, of: str, counted: str, remedy: Words
) -> list[int] | None:
    """Where each of the ``features`` stands among ``names``; None if they stand alike.

    Features that are only numbered, on either side, are matched by position (``named``: those of ``names`` are not).
    Numbers that begin with 0 on one side and with 1 on the other name different features: they are refused.
    Errors say what has the names, ``of`` what the features are, how these are ``counted``, and what to do where some
    lack.
    """
    if tuple(names) == tuple(features):
        return None
    index_of = {name: index for index, name in enumerate(names)}
    absent = [name for name in features if name not in index_of]
    if not absent and are_numbered(features) and "0" in index_of:
        raise DataError(
            f"{what} numbers its features from 0 (0, 1, 2, ...), those of {of} are numbered from 1: number 1 may be "
            "the same feature or the one before it; give both the same names, or a plain matrix of these features"
        )
    if not absent and (named or len(names) == len(features)):
        return [index_of[name] for name in features]
    if not named or are_numbered(features):
        if len(names) == len(features):
            return None
        told = f"{what} has {len(names)} features, {counted} {len(features)}"
        if named or len(names) > len(features):
            raise DataError(told)
        raise DataError(
            f"{told}; LETOR text that never names the last ones is read with ", ReadOption("n_features", len(features))
        )
    listing = ", ".join(map(repr, absent[:5])) + (f" and {len(absent) - 5} more" if len(absent) > 5 else "")
    count = "a feature" if len(absent) == 1 else f"{len(absent)} features"
    raise DataError(f"{what} lacks {count} of {of}: {listing}; ", *parts_of(remedy))
