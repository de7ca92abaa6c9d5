"""The optimal combination of two rankers: the exact sweep against a grid and against a net on their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.combining.combine import combine
from rankforce.evaluation.evaluate import evaluate
from rankforce.rankers.lambdarank import LambdaRank
from rankforce.rankers.mart import MART
from rankforce.reproducing.data_sets import Parts, queries_in_words, web_like
from rankforce.reproducing.drawing import curves, legend, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.measuring import measured
from rankforce.reproducing.papers import WEB_SEARCH
from rankforce.reproducing.real_data import LIGHTGBM, MSLR
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, alike, each_seed, significant

ORDER = 9
MEASURE = "NDCG@10"
FIRST, SECOND, SWEEP, NET = "LambdaRank", "MART", "sweep", "net on the scores"


class OptimalCombiner(Experiment):
    name = "optimal-combiner"
    paper = WEB_SEARCH
    place = "slides Optimal Combiners; An Overview, Section 7"
    title = "Combining two rankers: all crossings, a grid, a net"
    found = (
        "Of all linear combinations of two rankers the sweep over crossings finds the one with the highest NDCG. A "
        "LambdaRank net on the rankers' scores usually gives equally good results."
    )
    data = "generated with the kinds of features of web data; weights are chosen on validation queries"
    paper_size = {"queries": "not said"}
    real = (MSLR, LIGHTGBM)
    sizes = {
        "tiny": Size(seeds=1, minutes=0.05, queries=(30, 30, 40), documents=(6, 12), features=8, trees=5, epochs=2,
                     grid=21),
        "quick": Size(seeds=3, minutes=0.12, queries=(300, 300, 1500), documents=(20, 48), features=30, trees=60,
                      epochs=20, grid=201),
        "full": Size(seeds=5, minutes=60, queries=(5000, 2000, 10_000), documents=(20, 48), features=136, trees=300,
                     epochs=60, grid=1001),
    }  # fmt: skip

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        return combined(web_like(size.queries, size.documents, size.features, seed), seed, size)

    def run_fold(self, fold: Parts, number: int, size: Size) -> list[Row]:
        return combined(fold, number, size)

    def claims(self) -> Sequence[Claim]:
        return [
            each_seed("no point of a grid is above what the sweep finds", lambda rows: float(
                          rows.mean(kind="optimum") - rows.values(kind="grid").max()),
                      what="value of the sweep less the best of the grid", least=-1e-12, form="+.5f"),
            significant("on other queries the combination is better than the first ranker", SWEEP, FIRST, [MEASURE]),
            significant("and than the second", SWEEP, SECOND, [MEASURE]),
            alike("a net on the scores is equally good", NET, SWEEP, [MEASURE], margin=0.01),
        ]  # fmt: skip

    def draw(self, rows: Rows, figure: Any) -> None:
        axes = panel(figure.subplots(), "", f"share of {SECOND}", f"validation {MEASURE}")
        named = Rows({**row, "arm": f"seed {row['seed']}"} for row in rows.where(kind="grid"))
        curves(axes, named, "share", "arm", marker="")
        for row in rows.where(kind="optimum"):
            axes.plot([row["share"]], [row["value"]], "o", color="#D55E00", markersize=5)
        legend(axes)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return {
            "queries": f"{queries_in_words(size.queries)} for the rankers, the weights and testing",
            "grid": f"{size.grid} points",
        }  # fmt: skip


def combined(data: Parts, seed: int, size: Size) -> list[Row]:
    first = LambdaRank("NDCG", hidden=0, epochs=size.epochs, learning_rate=0.003, seed=seed, progress=False)
    second = MART(target="gains", n_trees=size.trees, n_leaves=15, min_documents=20, progress=False)
    rankers: list[Any] = [one.fit(data.train) for one in (first, second)]
    swept = combine(rankers, data.valid, MEASURE, names=[FIRST, SECOND], seed=seed)
    net = combine(rankers, data.valid, MEASURE, method="net", names=[FIRST, SECOND], seed=seed)
    s, t = (one.predict(data.valid) for one in rankers)
    shares = np.linspace(0.0, 1.0, size.grid)
    heights = [evaluate((1 - share) * s + share * t, data.valid, MEASURE).mean[MEASURE] for share in shares]
    rows = [
        {"kind": "grid", "arm": "grid", "share": float(share), "value": float(height)}
        for share, height in zip(shares, heights, strict=True)
    ]
    assert swept.weights is not None
    rows.append({"kind": "optimum", "arm": SWEEP, "share": float(swept.weights[1]), "value": float(swept.value)})
    fitted = {FIRST: rankers[0], SECOND: rankers[1], SWEEP: swept.model, NET: net.model}
    pairs = [(SWEEP, FIRST), (SWEEP, SECOND), (NET, SWEEP)]
    return rows + measured(fitted, data.test, [MEASURE], pairs)
