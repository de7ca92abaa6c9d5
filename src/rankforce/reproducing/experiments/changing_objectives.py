"""Objectives that change while a model learns: six ways to train for the top of the list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankforce.evaluation.evaluate import evaluate
from rankforce.reproducing.boosted_objectives import (
    DATA,
    FULL,
    GRADIENT,
    NEWTON,
    PAPER_SIZE,
    STARTS,
    TINY,
    changing,
    lambdamart,
    schedules,
    size_of_boosting,
)
from rankforce.reproducing.click_data import clicked_queries
from rankforce.reproducing.data_sets import Parts
from rankforce.reproducing.drawing import cutoff_curves, difference_bars, legend, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.measuring import NDCGS, measured
from rankforce.reproducing.papers import MULTIPLE_OBJECTIVES
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, alike, significant

ORDER = 5
FROM_3 = NDCGS[2:]  # all but NDCG@1 and NDCG@2
EXPONENTIAL, LINEAR = "λ + λS, exponential", "λ + λS, linear"
EXPONENTIAL_3, LINEAR_3 = "λ + λS@3, exponential", "λ + λS@3, linear"
CHANGING = {
    EXPONENTIAL: ("exponential", False),
    LINEAR: ("linear", False),
    EXPONENTIAL_3: ("exponential", True),
    LINEAR_3: ("linear", True),
}
PAPER = {
    arm: dict(zip(NDCGS, values, strict=True))
    for arm, values in {
        NEWTON: (0.6227, 0.6143, 0.6166, 0.6229, 0.6288, 0.6349, 0.6400, 0.6447, 0.6483, 0.6517),
        GRADIENT: (0.6247, 0.6153, 0.6194, 0.6257, 0.6317, 0.6375, 0.6428, 0.6477, 0.6516, 0.6551),
        EXPONENTIAL: (0.6266, 0.6169, 0.6215, 0.6274, 0.6339, 0.6398, 0.6450, 0.6496, 0.6537, 0.6571),
        LINEAR: (0.6256, 0.6182, 0.6219, 0.6278, 0.6333, 0.6397, 0.6447, 0.6491, 0.6532, 0.6568),
        EXPONENTIAL_3: (0.6223, 0.6150, 0.6175, 0.6230, 0.6290, 0.6340, 0.6387, 0.6430, 0.6467, 0.6503),
        LINEAR_3: (0.6230, 0.6164, 0.6182, 0.6243, 0.6299, 0.6351, 0.6402, 0.6445, 0.6482, 0.6514),
    }.items()
}
SCHEDULES = (EXPONENTIAL, LINEAR)
CENTRES = (0.0, 1.0)  # μ of the sigmoid cost
PAIRS = (
    (GRADIENT, NEWTON), (EXPONENTIAL, GRADIENT), (LINEAR, GRADIENT), (EXPONENTIAL, NEWTON), (LINEAR, NEWTON),
    (EXPONENTIAL, EXPONENTIAL_3), (LINEAR, LINEAR_3), (EXPONENTIAL, LINEAR),
)  # fmt: skip


class ChangingObjectives(Experiment):
    name = "changing-objectives"
    paper = MULTIPLE_OBJECTIVES
    place = "Table 2"
    title = "Newton, gradient descent, and objectives that change with the iteration"
    found = (
        "Gradient descent is significantly better than Newton's step except at NDCG@1 and @2. Objectives that change "
        "to the sigmoid cost are significantly better than both except there; that cost for NDCG is significantly "
        "better than that for NDCG@3. Linear and exponential schedules are equivalent."
    )
    published = [
        {"arm": arm, "measure": measure, "value": value}
        for arm, values in PAPER.items()
        for measure, value in values.items()
    ]
    data = f"{DATA}; grades alone"
    paper_size = PAPER_SIZE | {"first shares tried": "0.1, 0.25, 0.5"}
    remarks = (
        "splits are by least squares in all six. The paper's schedules are for 1,000 trees; with fewer, they reach the "
        "same shares after the same shares of the trees. The centre μ of the sigmoid cost, which the paper does not "
        "tell, is swept: 0 or 1. All is chosen by validation NDCG@3, as in the paper: for each of the six the learning "
        "rate, for four of them μ and the schedule, too. What the sigmoid cost for NDCG gains over that for NDCG@3 has "
        "the paper's sign, but is six to eighteen times as large from NDCG@3 on: a cost that sees three documents of a "
        "list has little to learn from in 300 queries."
    )
    figsize = (8.5, 3.6)
    revised = (
        "at first μ was 0 alone, with all nine and six schedules of the paper: the linear schedule was .014 and the "
        "exponential .029 below gradient descent at NDCG@3, and differed. Then μ = 1 was tried on another draw, was "
        "better, and was added to the sweep; for time the first share was 0.25 alone in the quick size. The five other "
        "verdicts did not change. Later it was found that the exponential schedules had been made for fewer trees "
        "wrongly, and reached 1 after a share of the trees nearly twice the paper's; that the learning rate, .3, had "
        "not been swept; and that the claim on schedules being equivalent was missing. With these put right all was "
        "run again. Before, gradient descent and both schedules were significantly below Newton's step (.007, .012 and "
        ".009 at NDCG@3), both schedules could not be told from gradient descent, and λS was above λS@3. The rule on "
        "differences that are closely measured and much smaller than the paper's is new, too. In that run the first "
        "share was still .25 alone; now all three of the paper are swept. With .25 alone the exponential schedule was "
        ".0043 above gradient descent at NDCG@3 and agreed, the linear one .0018 and could not be told; of the others "
        "λS agreed to be above λS@3, twice, and all else could not be told."
    )
    sizes = {
        "tiny": Size(seeds=1, minutes=0.06, starts=(0.25,), **TINY | {"rate": (0.3,)}),
        "quick": Size(seeds=3, minutes=0.9, starts=STARTS, queries=(300, 500, 2000), documents=40, trees=100,
                      leaves=15, least=30, rate=(0.2, 0.5)),
        "full": Size(seeds=5, minutes=4800, starts=STARTS, **FULL | {"rate": (0.2, 0.5)}),
    }  # fmt: skip

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        data = clicked_queries(size.queries, size.documents, seed)
        rankers = {step: best(data, size, ["NDCG"], step) for step in (NEWTON, GRADIENT)}
        for name, (kind, top) in CHANGING.items():
            swept = [
                changing(one, top=top, mu=mu) for one in schedules(kind, size.trees, size.starts) for mu in CENTRES
            ]
            rankers[name] = best(data, size, swept, GRADIENT)
        return measured(rankers, data.test, NDCGS, PAIRS)

    def claims(self) -> Sequence[Claim]:
        return [
            better("gradient descent is better than Newton's step from @3 on", GRADIENT, NEWTON),
            *(better(f"{name} is better than gradient descent from @3 on", name, GRADIENT) for name in SCHEDULES),
            *(better(f"{name} is better than Newton's step from @3 on", name, NEWTON) for name in SCHEDULES),
            better("λS is better than λS@3, exponential", EXPONENTIAL, EXPONENTIAL_3, NDCGS),
            better("λS is better than λS@3, linear", LINEAR, LINEAR_3, NDCGS),
            alike("exponential and linear schedules are equivalent", EXPONENTIAL, LINEAR,
                  ("NDCG@1", "NDCG@3", "NDCG@10"), margin=0.005),
        ]  # fmt: skip

    def draw(self, rows: Rows, figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        cutoff_curves(panel(left, "test NDCG, mean over seeds", "cut-off", "NDCG"), rows, list(PAPER))
        panel(right, "paired differences, 95 %", "cut-off", "NDCG")
        difference_bars(right, rows, PAIRS[:3], NDCGS)
        legend(left, fontsize=7)
        legend(right, fontsize=7)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return size_of_boosting(size) | {"first shares tried": ", ".join(f"{one:g}" for one in size.starts)}


def better(statement: str, new: str, old: str, measures: Sequence[str] = FROM_3) -> Claim:
    paper = {measure: PAPER[new][measure] - PAPER[old][measure] for measure in measures}
    return significant(statement, new, old, measures, paper=paper)


def best(data: Parts, size: Size, objectives: Sequence[Any], step: str) -> Any:
    """Of all objectives and learning rates, the ranker with the highest validation NDCG@3."""
    fitted = [
        lambdamart(size, objective, step=step, learning_rate=rate).fit(data.train)
        for objective in objectives
        for rate in size.rate
    ]
    return max(fitted, key=lambda ranker: evaluate(ranker, data.valid, ["NDCG@3"]).mean["NDCG@3"])
