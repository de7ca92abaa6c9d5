"""Ensembles of LambdaMART rankers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankforce.rankers.bagging import Bagging
from rankforce.rankers.lambdamart import LambdaMART
from rankforce.reproducing.data_sets import Parts, queries_in_words, web_like
from rankforce.reproducing.drawing import difference_bars, legend, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.measuring import NDCGS, measured
from rankforce.reproducing.papers import OVERVIEW
from rankforce.reproducing.real_data import LIGHTGBM, MSLR
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, significant

ORDER = 6
ONE, MANY = "LambdaMART", "ensemble of LambdaMART"
MEASURES = (*NDCGS, "ERR(max_grade=4)")


class Ensembles(Experiment):
    name = "ensembles"
    paper = OVERVIEW
    place = "Section 1"
    title = "An ensemble of LambdaMART rankers against one"
    found = "An ensemble of LambdaMART rankers won Track 1 of the Yahoo! Learning to Rank Challenge 2010. No numbers."
    data = "generated with the kinds of features of web data: the challenge's is not public"
    paper_size = {"queries": "19,944 in the challenge's training set", "features": "519"}
    remarks = "the winning ensemble mixed measures and settings; here ten rankers see different queries."
    real = (MSLR, LIGHTGBM)
    figsize = (6.0, 3.2)
    sizes = {
        "tiny": Size(seeds=1, minutes=0.02, queries=(40, 1, 40), documents=(6, 12), features=8, trees=4, models=2),
        "quick": Size(
            seeds=3, minutes=0.5, queries=(300, 1, 1500), documents=(20, 48), features=40, trees=60, models=10
        ),
        "full": Size(
            seeds=3, minutes=120, queries=(10_000, 1, 5000), documents=(20, 48), features=136, trees=500, models=10
        ),
    }

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        return compared(web_like(size.queries, size.documents, size.features, seed), seed, size)

    def run_fold(self, fold: Parts, number: int, size: Size) -> list[Row]:
        return compared(fold, number, size)

    def claims(self) -> Sequence[Claim]:
        return [
            significant("the ensemble has the higher NDCG", MANY, ONE, NDCGS),
            significant("and the higher ERR, the challenge's measure", MANY, ONE, MEASURES[-1:]),
        ]

    def draw(self, rows: Rows, figure: Any) -> None:
        axes = panel(figure.subplots(), "paired differences, 95 %", "cut-off", "NDCG")
        difference_bars(axes, rows, [(MANY, ONE)], NDCGS)
        legend(axes)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        train, _, test = size.queries
        return {
            "queries": f"{queries_in_words((train, test))} for training and testing", "features": str(size.features),
            "trees": f"{size.trees}, {size.models} models",
        }  # fmt: skip


def compared(data: Parts, seed: int, size: Size) -> list[Row]:
    single = LambdaMART("NDCG", n_trees=size.trees, n_leaves=15, min_documents=20, seed=seed, progress=False)
    many = Bagging(single.unfitted(), size.models, seed=seed, progress=False)
    rankers: dict[str, Any] = {ONE: single.fit(data.train), MANY: many.fit(data.train)}
    return measured(rankers, data.test, MEASURES, [(MANY, ONE)])
