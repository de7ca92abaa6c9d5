"""A graded objective whose second label is missing for most documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.data.random_streams import Stream
from rankforce.objectives.graded import Graded
from rankforce.reproducing.boosted_objectives import DATA, FULL, PAPER_SIZE, TINY, lambdamart, size_of_boosting
from rankforce.reproducing.click_data import clicked_queries
from rankforce.reproducing.drawing import difference_bars, legend, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.measuring import measured
from rankforce.reproducing.papers import MULTIPLE_OBJECTIVES
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, alike, significant

ORDER = 8
ALONE, WHOLE, THINNED = "NDCG alone", "three tiers", "three tiers, 70 % of the clicks missing"
MEASURES = ("NDCG@10", "CNDCG@10:equal", "NDCG@10:fresh")


class MissingLabels(Experiment):
    name = "missing-labels"
    paper = MULTIPLE_OBJECTIVES
    place = "Section 7"
    title = "Three tiers, and most labels of the second missing"
    found = (
        "Left for later: learning for several measures when not all training samples have labels from all sources, and "
        "more than two tiers."
    )
    data = f"{DATA}; a third label, freshness"
    paper_size = PAPER_SIZE
    remarks = (
        "a document without a label is in no pair of that tier, and nothing is imputed. The claims are what the paper "
        "asks for, not what it found."
    )
    revised = (
        "run twice, with two draws of what is missing: the numbers come from a random stream of their own now. In "
        "the first draw NDCG@10 fell by .0026 (p .008) and the last claim could not be told; all else was the same."
    )
    sizes = {
        "tiny": Size(seeds=1, minutes=0.04, **TINY),
        "quick": Size(
            seeds=3, minutes=0.08, queries=(400, 1, 2000), documents=40, trees=100, leaves=15, least=30, rate=0.2
        ),
        "full": Size(seeds=5, minutes=120, **FULL),
    }

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        data = clicked_queries(size.queries, size.documents, seed)
        clicks = data.train.labels["equal"].copy()
        rows = np.arange(len(clicks))
        clicks[Stream.EXPERIMENT_GAPS.uniform(seed, rows) < 0.7] = np.nan
        objective = Graded(["NDCG", "CNDCG:equal", "NDCG:fresh"], [0.6, 0.3, 0.1])
        rankers: dict[str, Any] = {
            ALONE: lambdamart(size).fit(data.train),
            WHOLE: lambdamart(size, objective).fit(data.train),
            THINNED: lambdamart(size, objective).fit(data.train.with_label("equal", clicks)),
        }
        return measured(rankers, data.test, MEASURES, [(WHOLE, ALONE), (THINNED, ALONE), (THINNED, WHOLE)])

    def claims(self) -> Sequence[Claim]:
        return [
            significant("three tiers raise the second measure", WHOLE, ALONE, MEASURES[1:2]),
            significant("also with 70 % of its labels missing", THINNED, ALONE, MEASURES[1:2]),
            significant("and the third", THINNED, ALONE, MEASURES[2:]),
            alike("the first stays", THINNED, ALONE, MEASURES[:1], margin=0.01),
        ]

    def draw(self, rows: Rows, figure: Any) -> None:
        axes = panel(figure.subplots(), "against NDCG alone, 95 %", "", "change")
        difference_bars(axes, rows, [(WHOLE, ALONE), (THINNED, ALONE)], MEASURES)
        axes.set_xticks(range(3), MEASURES)
        legend(axes)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return size_of_boosting(size)
