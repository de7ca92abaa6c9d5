"""λ-functions compared as training for MAP and MRR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankforce.rankers.lambdarank import LambdaRank
from rankforce.reproducing.data_sets import Parts, queries_in_words, web_like
from rankforce.reproducing.drawing import bars, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.measuring import measured
from rankforce.reproducing.papers import LOCAL_OPTIMALITY
from rankforce.reproducing.real_data import LIGHTGBM
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, best_of
from rankforce.reproducing.trained_nets import MEASURES

ORDER = 1
BEST = "RankNetWeightPairs"
NAMED = ("LocalGradient", "LocalCost", "SpringSmooth", "DiscreteBounded")  # in the paper's tables
MORE = ("Step", "Spring", "FiniteDifference", "NearPairs")  # of the kinds that the papers tried, and our default
PAPER = {
    "MAP": {BEST: 0.462, "LocalGradient": 0.435, "LocalCost": 0.427, "SpringSmooth": 0.424, "DiscreteBounded": 0.401},
    "MRR": {BEST: 0.524, "LocalGradient": 0.512, "LocalCost": 0.515, "SpringSmooth": 0.498, "DiscreteBounded": 0.471},
}


class LambdaFunctions(Experiment):
    name = "lambda-functions"
    paper = LOCAL_OPTIMALITY
    place = "Tables 1 and 2"
    title = "λ-functions for MAP and MRR"
    found = (
        "RankNetWeightPairs, RankNet's force times the change of the measure, is best, with statistical significance."
    )
    published = [
        {"arm": arm, "measure": measure, "value": value}
        for measure, values in PAPER.items()
        for arm, value in values.items()
    ]
    data = "generated with the kinds of features of web data; grades from 2 on are relevant"
    paper_size = {
        "queries (train / validation)": "5,000 / 5,000", "documents per query": "158.7", "features": "420",
        "λ-functions": "13, of which 5 are named",
    }  # fmt: skip
    remarks = (
        "two layers, Adam; the rate and the epoch are chosen on validation queries and reported on others, where the "
        "paper reports on the validation queries. Four further λ-functions are shown beside. Nets are not trained as "
        'published here (preset="2009": plain steps, 700 epochs, five rates), for time: at two rates the five '
        "λ-functions of the paper took a minute and a half of the processor for one measure and one draw, nine minutes "
        "for all: more than half of what the quick runs of all experiments take. experiments/mrr_swaps.py trains one "
        "of them so, for MRR."
    )
    real = (LIGHTGBM,)
    figsize = (8.0, 3.4)
    sizes = {
        "tiny": Size(seeds=1, minutes=0.05, queries=(20, 20, 40), documents=(6, 12), features=8, epochs=2,
                     rates=(0.01,), more=False),
        "quick": Size(seeds=3, minutes=2, queries=(300, 300, 1500), documents=(20, 60), features=40, epochs=25,
                      rates=(0.001, 0.003, 0.01), more=True),
        "full": Size(seeds=3, minutes=300, queries=(5000, 5000, 5000), documents=(100, 217), features=420, epochs=100,
                     rates=(0.0003, 0.001, 0.003), more=True),
    }  # fmt: skip

    def parts(self, size: Size) -> Sequence[str]:
        return tuple(PAPER)

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        functions = (BEST, *NAMED, *(MORE if size.more else ()))
        return compared(web_like(size.queries, size.documents, size.features, seed), part, functions, seed, size)

    def run_fold(self, fold: Parts, number: int, size: Size) -> list[Row]:
        return [row for part in PAPER for row in compared(fold, part, (BEST, *NAMED), number, size)]

    def claims(self) -> Sequence[Claim]:
        return [best_of(f"{BEST} is best for {name}", BEST, NAMED, name) for name in PAPER]

    def draw(self, rows: Rows, figure: Any) -> None:
        for axes, measure in zip(figure.subplots(1, 2), PAPER, strict=True):
            mine = rows.where(kind="mean", measure=measure)
            arms = mine.distinct("arm")
            heights = [mine.mean(arm=arm) for arm in arms]
            bars(
                panel(axes, f"trained for {measure}", measure), arms, heights, [mine.mean("error", arm=a) for a in arms]
            )
            axes.set_xlim(min(heights) - 0.05, max(heights) + 0.02)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return {
            "queries (train / validation)": f"{queries_in_words(size.queries[:2])}, {size.queries[2]:,} for testing",
            "documents per query": f"{size.documents[0]} to {size.documents[1]}", "features": str(size.features),
            "λ-functions": str(len((BEST, *NAMED, *MORE))), "epochs": str(size.epochs),
        }  # fmt: skip


def compared(data: Parts, part: str, functions: Sequence[str], seed: int, size: Size) -> list[Row]:
    measure = MEASURES[part]
    rankers = {
        name: LambdaRank(
            measure, lambda_function=name, hidden=10, epochs=size.epochs, learning_rate=list(size.rates), seed=seed,
            progress=False,
        ).fit(data.train, validation=data.valid)
        for name in functions
    }  # fmt: skip
    pairs = [(BEST, name) for name in rankers if name != BEST]
    rows = measured(rankers, data.test, [measure], pairs)
    return [{**row, "measure": part} for row in rows]
