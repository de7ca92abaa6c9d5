"""How the time of a RankNet update grows with the length of the list."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.data.artificial.artificial import make_artificial
from rankforce.data.dataset import Dataset, tie_breakers
from rankforce.forces.forces import TermForces
from rankforce.lambdas.every_pair import EveryPair
from rankforce.lambdas.ranknet import RankNetCost
from rankforce.models.net_layout import Layout
from rankforce.objectives.objective import Term
from rankforce.reproducing.drawing import colour, legend, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.papers import NONSMOOTH
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, each_seed

ORDER = 2
SLOPES = {"per pair": 1.943, "per document": 1.185}  # of the paper


class RankNetSlopes(Experiment):
    name = "ranknet-slopes"
    paper = NONSMOOTH
    place = "Figure 1, right"
    title = "RankNet: time of an update against documents per query"
    found = (
        "In a log-log plot the time per pair has slope 1.943, that per document 1.185: close to quadratic and close to "
        "linear."
    )
    published = [{"arm": arm, "measure": "slope", "value": slope} for arm, slope in SLOPES.items()]
    data = "the paper's: random cubic polynomials"
    paper_size = {"queries": "1,000", "documents per query": "4 to 512", "features": "50", "hidden units": "10"}
    remarks = (
        "the paper has 4,000 to 512,000 documents in all. Forces still come from all pairs, so that the slope per "
        "document must rise towards 2 for long lists."
    )
    revised = (
        "seconds were those of the clock, on a busy machine: slopes per pair 2.35, 2.28 and 1.78, which could not "
        "be told, per document 1.44, 1.34 and 1.11. Now they are those of the thread."
    )
    sizes = {
        "tiny": Size(seeds=1, minutes=0.02, queries=20, longest=16, features=10, budget=0.05),
        "quick": Size(seeds=3, minutes=0.08, queries=300, longest=256, features=50, budget=0.5),
        "full": Size(seeds=3, minutes=5, queries=1000, longest=512, features=50, budget=8.0),
    }

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        rows: list[Row] = []
        last = 1e-4
        for length in lengths(size.longest):
            data = make_artificial(size.queries, length, size.features, seed=seed, function_seed=seed)
            few = max(5, min(size.queries, int(size.budget / (4.0 * last))))
            last = seconds_per_query(data, 10, per_pair=True, queries=few)
            second = seconds_per_query(data, 10, per_pair=False, queries=size.queries)
            rows += [
                {"kind": "time", "arm": arm, "documents": length, "value": 1e6 * seconds}
                for arm, seconds in (("per pair", last), ("per document", second))
            ]
        return rows

    def claims(self) -> Sequence[Claim]:
        return [
            each_seed(
                "per pair the time is close to quadratic", lambda rows: slope(rows, "per pair"),
                what="slope per pair", least=1.6, most=2.2,
            ),
            each_seed(
                "per document it is close to linear", lambda rows: slope(rows, "per document"),
                what="slope per document", least=0.8, most=1.5,
            ),
        ]  # fmt: skip

    def draw(self, rows: Rows, figure: Any) -> None:
        axes = panel(figure.subplots(), "two layers, 10 hidden units", "documents per query", "µs per query")
        for number, arm in enumerate(SLOPES):
            mine = rows.where(arm=arm)
            places = mine.distinct("documents")
            label = f"{arm}: slope {slope(rows, arm):.2f} (paper {SLOPES[arm]})"
            heights = [mine.mean(documents=place) for place in places]
            axes.loglog(places, heights, color=colour(number), marker="o", markersize=4, label=label)
        legend(axes)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return {
            "queries": f"{size.queries:,}, fewer per pair on long lists", "documents per query": f"4 to {size.longest}",
            "features": str(size.features), "hidden units": "10",
        }  # fmt: skip

    def tables(self, rows: Rows) -> Sequence[tuple[str, Rows]]:
        return (("", Rows({"arm": arm, "measure": "slope", "value": slope(rows, arm)} for arm in SLOPES)),)


def lengths(longest: int) -> list[int]:
    return [4 * 2**power for power in range(20) if 4 * 2**power <= longest]


def slope(rows: Rows, arm: str) -> float:
    """Of log seconds against log documents, least squares over the means of the seeds."""
    mine = rows.where(arm=arm)
    places = mine.distinct("documents")
    heights = [mine.mean(documents=place) for place in places]
    return float(np.polyfit(np.log(places), np.log(heights), 1)[0])


def seconds_per_query(data: Dataset, hidden: int, *, per_pair: bool, queries: int) -> float:
    """One update per query of the data's first queries, on one thread: the kernels alone, the best of some rounds."""
    from rankforce.kernels.nets.network import update_by_pair, update_by_query

    layout = Layout(data.n_features, hidden)
    pulling = TermForces(data, Term(EveryPair(), RankNetCost()), 0)
    judged, n = pulling.judged, data.n_documents
    given = (
        judged.kernel_tuple, pulling.lambda_tuple, pulling.column_count, judged.worth, pulling.ranges.members,
        pulling.ranges.worse, judged.starts, judged.normalisers, pulling.document_weights, pulling.query_weights,
        tie_breakers(data, 0), np.array(data.features),
    )  # fmt: skip
    state = (np.zeros((2, layout.size)), np.zeros(1, dtype=np.int64), layout.start(0))
    order, scores = np.arange(n, dtype=np.int32), np.empty(n)

    def epoch(sequence: np.ndarray) -> None:
        if per_pair:
            update_by_pair(*given, sequence, hidden, 1e-6, False, False, order, scores, *state)
        else:
            update_by_query(*given, sequence, hidden, 1e-6, False, order, scores, np.empty(n), np.empty(n), *state)

    epoch(np.arange(1))
    best = np.inf
    for _ in range(1 if per_pair else 3):
        start = time.thread_time()  # others may run beside it
        epoch(np.arange(queries))
        best = min(best, time.thread_time() - start)
    return float(best) / queries
