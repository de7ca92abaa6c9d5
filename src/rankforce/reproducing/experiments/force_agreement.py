"""Do the forces of clicks pull documents the way that the forces of grades do?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankforce.diagnostics.instruments import ForceAgreement
from rankforce.reproducing.boosted_objectives import (
    DATA,
    FULL,
    PAPER_SIZE,
    TINY,
    graded,
    lambdamart,
    size_of_boosting,
)
from rankforce.reproducing.click_data import clicked_queries
from rankforce.reproducing.data_sets import Parts
from rankforce.reproducing.drawing import curves, legend, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.papers import MULTIPLE_OBJECTIVES
from rankforce.reproducing.real_data import MSLR_CLICKS
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, each_seed

ORDER = 1
ALL, TIED = "all pairs of clicks", "tied grades, both clicked"


class ForceAgreementOfTiers(Experiment):
    name = "force-agreement"
    paper = MULTIPLE_OBJECTIVES
    place = "Figure 2"
    title = "Agreement of the forces of grades and of clicks"
    found = (
        "While a model learns for NDCG alone, about 70 % of the forces of all click pairs agree with it. Pairs of "
        "equal grade, both clicked, agree by almost 15 points more."
    )
    published = [
        {"arm": ALL, "measure": "agreement", "value": 0.70},
        {"arm": TIED, "measure": "agreement", "value": 0.85},
    ]
    data = DATA
    paper_size = PAPER_SIZE
    real = (MSLR_CLICKS,)
    sizes = {
        "tiny": Size(seeds=1, minutes=0.02, **TINY),
        "quick": Size(
            seeds=3, minutes=0.2, queries=(300, 10, 10), documents=40, trees=60, leaves=15, least=30, rate=0.2
        ),
        "full": Size(seeds=3, minutes=60, **FULL),
    }

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        return agreement(clicked_queries(size.queries, size.documents, seed), size)

    def run_fold(self, fold: Parts, number: int, size: Size) -> list[Row]:
        return agreement(fold, size)

    def claims(self) -> Sequence[Claim]:
        return [
            each_seed(
                "the forces of all click pairs agree in about 70 % of the documents", lambda rows: rows.mean(arm=ALL),
                what="mean agreement of all pairs", least=0.6, most=0.8,
            ),
            each_seed(
                "tied pairs agree clearly more often", lambda rows: rows.mean(arm=TIED) - rows.mean(arm=ALL),
                what="points that tied pairs agree more", least=0.07,
            ),
        ]  # fmt: skip

    def draw(self, rows: Rows, figure: Any) -> None:
        axes = panel(figure.subplots(), "", "iteration", "share of documents that agree")
        curves(axes, rows, "iteration", "arm", marker="")
        axes.set_ylim(0.0, 1.0)
        legend(axes)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return size_of_boosting(size)


def agreement(data: Parts, size: Size) -> list[Row]:
    instrument = ForceAgreement(graded("equal", 0.5))
    lambdamart(size).fit(data.train, instruments=[instrument])
    tied, everything = (name for name in instrument.columns if name != "iteration")
    return [
        {"kind": "mean", "arm": arm, "measure": "agreement", "iteration": iteration, "value": row[name]}
        for iteration, row in zip(instrument.iterations, instrument.rows, strict=True)
        for arm, name in ((ALL, everything), (TIED, tied))
        if iteration > 0  # as the paper, without the first: all scores are equal
    ]
