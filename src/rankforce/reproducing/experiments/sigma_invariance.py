"""LambdaMART does not depend on σ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.rankers.lambdamart import LambdaMART
from rankforce.reproducing.data_sets import artificial
from rankforce.reproducing.drawing import colour, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.papers import OVERVIEW
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, each_seed

ORDER = 1
SIGMAS = (0.25, 0.5, 2.0, 4.0)


class SigmaInvariance(Experiment):
    name = "sigma-invariance"
    paper = OVERVIEW
    place = "Section 7"
    title = "LambdaMART for several σ"
    found = "With Newton's step the choice of σ makes no difference: scores scale as 1/σ, and rankings stay."
    data = "artificial"
    paper_size = {"queries": "–"}
    remarks = 'as published (preset="2010"): L2 or a minimum gain would break it.'
    figsize = (5.0, 3.2)
    sizes = {
        "tiny": Size(seeds=1, minutes=0.02, queries=(30, 1, 20), documents=10, features=5, trees=4),
        "quick": Size(seeds=3, minutes=0.06, queries=(300, 1, 500), documents=30, features=20, trees=60),
        "full": Size(seeds=5, minutes=10, queries=(3000, 1, 3000), documents=50, features=50, trees=300),
    }

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        data = artificial(size.queries, size.documents, size.features, seed)
        scores = {
            sigma: LambdaMART(
                "NDCG", sigma=sigma, preset="2010", n_trees=size.trees, n_leaves=10, min_documents=5, progress=False
            ).fit(data.train).predict(data.test)
            for sigma in (1.0, *SIGMAS)
        }  # fmt: skip
        rows: list[Row] = []
        for sigma in SIGMAS:
            scaled = sigma * scores[sigma]
            apart = float(np.max(np.abs(scaled - scores[1.0])))
            rows.append(
                {"kind": "mean", "arm": f"σ = {sigma:g}", "measure": "largest |σ·score − score|", "value": apart}
            )
            some = slice(0, 60)
            rows += [
                {"kind": "score", "arm": f"σ = {sigma:g}", "x": float(x), "value": float(y)}
                for x, y in zip(scores[1.0][some], scaled[some], strict=True)
                if seed == 0
            ]
        return rows

    def claims(self) -> Sequence[Claim]:
        return [
            each_seed("scores are those of σ = 1 divided by σ, to the last bit for powers of two",
                      lambda rows: float(rows.values(kind="mean").max()), what="largest difference", most=0.0)
        ]  # fmt: skip

    def draw(self, rows: Rows, figure: Any) -> None:
        axes = panel(figure.subplots(), "", "score with σ = 1", "σ × score")
        for number, arm in enumerate(rows.distinct("arm")):
            mine = rows.where(kind="score", arm=arm)
            axes.plot(mine.values("x"), mine.values(), "+x.1"[number], color=colour(number), markersize=5, label=arm)
        axes.legend(frameon=False, fontsize=8)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return {"queries": f"{size.queries[0]:,} and {size.queries[2]:,} for testing", "trees": str(size.trees)}
