"""Which queries are shown with their documents: those that were asked for, or those worth a look."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from rankforce.errors import DataError
from rankforce.evaluation.significance import EQUAL
from rankforce.kinds import Whole, shown
from rankforce.reporting.given import ReportedModel

USUAL_COUNT = 20
MOST_QUERIES = 1000


def chosen_queries(given: ReportedModel, wanted: Any) -> dict[int, str]:
    """The numbers of queries and why each was chosen; ``wanted`` is how many, or a list of ids."""
    count = USUAL_COUNT if wanted is None else wanted
    if isinstance(count, (int, float, np.number, bool)):
        Whole(0, MOST_QUERIES).check("queries", count)
        return _worth_a_look(given, min(int(count), given.data.n_queries))
    if isinstance(count, str) or not isinstance(count, Iterable) or getattr(count, "ndim", 1) != 1:
        raise DataError(f"queries must be how many, or a list of query ids, not {shown(wanted)}")
    number_of = {name: number for number, name in enumerate(given.data.query_ids.tolist())}
    chosen = {}
    for name in count:
        plain = name.item() if isinstance(name, np.generic) else name
        if not isinstance(plain, (int, str)) or plain not in number_of:
            raise DataError(f"there is no query {shown(name)} to show; query_ids lists those that there are")
        chosen[number_of[plain]] = "asked for"
    if len(chosen) > MOST_QUERIES:
        raise DataError(f"at most {MOST_QUERIES} queries can be shown with their documents, not {len(chosen)}")
    return chosen


def _worth_a_look(given: ReportedModel, count: int) -> dict[int, str]:
    """Half that changed most, a quarter that does worst, the rest drawn; without a baseline half does worst."""
    chosen: dict[int, str] = {}

    def take(numbers: Iterator[int], reason: str, upto: float) -> None:
        for number in numbers:
            if len(chosen) >= upto:
                return
            chosen.setdefault(number, reason)

    if given.evaluations:
        values = given.evaluation.per_query[given.measure]
        for name, comparison in list(given.comparisons.items())[:1]:
            before = comparison.a.per_query[given.measure]
            changes = np.where(np.isnan(values - before), 0.0, values - before)
            gains, losses = np.argsort(-changes, kind="stable"), np.argsort(changes, kind="stable")
            better = (int(q) for q in gains if changes[q] > EQUAL)
            worse = (int(q) for q in losses if changes[q] < -EQUAL)
            take(worse, f"lost most against {name}", count / 4)
            take(better, f"gained most against {name}", count / 2)
        lowest = (int(q) for q in np.argsort(values, kind="stable") if not np.isnan(values[q]))
        take(lowest, f"among the lowest {given.measure}", 3 * count / 4)
    take((int(q) for q in given.draw), "drawn", count)
    return chosen
