"""The features of a query against those of a model: by name, each exactly once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rankforce.displayed_text import displayed
from rankforce.serving.refusals import MOST_NAMES, RequestRefusal


def check_names(given: Sequence[str], features: Sequence[str], ignore_unknown: bool, where: str = "the query") -> None:
    """Raise unless ``given`` are the features of a model, in any order; with ``ignore_unknown`` others beside them."""
    if tuple(given) == tuple(features):
        return
    counts = Counter(given)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise RequestRefusal(
            422, "duplicated-features", f"{where} has {_listed(twice)} more than once", features=twice[:MOST_NAMES]
        )
    missing = [name for name in features if name not in counts]
    if missing:
        message = f"{where} lacks {_listed(missing)} of the model; send them, with null where a value is unknown"
        raise RequestRefusal(422, "missing-features", message, features=missing[:MOST_NAMES], count=len(missing))
    if ignore_unknown:
        return
    wanted = set(features)
    unknown = [name for name in given if name not in wanted]
    if unknown:
        message = f"{where} has {_listed(unknown)}, which the model does not read; leave them out"
        raise RequestRefusal(422, "unknown-features", message, features=unknown[:MOST_NAMES], count=len(unknown))


def check_rows(rows: int, most: int) -> None:
    """Raise if a query has too many documents."""
    if rows > most:
        raise RequestRefusal(413, "too-many-rows", f"the query has {rows:,} rows, the limit is {most:,}", limit=most)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(displayed(name)) for name in names[:5])
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return f"the feature{'s' * (len(names) > 1)} {shown}{more}"
