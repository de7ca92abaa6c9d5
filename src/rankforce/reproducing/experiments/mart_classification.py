"""Ranking as classification, as ordinal classification and as regression, by boosted trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankforce.rankers.lambdarank import LambdaRank
from rankforce.rankers.mart import MART
from rankforce.reproducing.data_sets import Parts, queries_in_words, web_like
from rankforce.reproducing.drawing import cutoff_curves, legend, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.measuring import NDCGS, measured
from rankforce.reproducing.papers import WEB_SEARCH
from rankforce.reproducing.real_data import LIGHTGBM, MQ2008, MSLR
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, significant

ORDER = 6
BY_GAINS = "classification, scored by gains"
ARMS = ("classification", "ordinal", "regression", "LambdaRank, two layers")


class MARTClassification(Experiment):
    name = "mart-classification"
    paper = WEB_SEARCH
    place = "slides MART: 2 layer results and Results, cont."
    title = "MART as classification, ordinal classification and regression, against LambdaRank"
    found = (
        'Pictures without numbers, and "MART gives great results": classification and ordinal classification, scored '
        "by the expected grade, are above regression on gains and above two-layer LambdaRank. The score could be the "
        "expectation of any monotonic function of the grade k; the simplest, k itself, gave the best results."
    )
    data = "generated with the kinds of features of web data"
    paper_size = {"queries (train / test)": "16,000 / 10,000"}
    remarks = (
        "which other functions of the grade were tried is not told: here it is the gain 2^k − 1, which DCG asks for, "
        "with trees and early stopping of its own."
    )
    revised = (
        "the claim on the score was not judged at first. Its rule was written when the other arms' rows were known, "
        "and none of this one."
    )
    real = (MSLR, MQ2008, LIGHTGBM)
    figsize = (6.0, 3.6)
    sizes = {
        "tiny": Size(seeds=1, minutes=0.03, queries=(30, 20, 40), documents=(6, 12), features=8, trees=4, leaves=5,
                     least=5, epochs=2),
        "quick": Size(seeds=3, minutes=0.45, queries=(300, 200, 1500), documents=(20, 48), features=30, trees=60,
                      leaves=15, least=20, epochs=30),
        "full": Size(seeds=3, minutes=240, queries=(16_000, 2000, 10_000), documents=(20, 48), features=136, trees=500,
                     leaves=30, least=100, epochs=60),
    }  # fmt: skip

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        return compared(web_like(size.queries, size.documents, size.features, seed), seed, size)

    def run_fold(self, fold: Parts, number: int, size: Size) -> list[Row]:
        return compared(fold, number, size)

    def claims(self) -> Sequence[Claim]:
        better = [
            significant(f"{new} is better than {old}", new, old, NDCGS)
            for new in ARMS[:2]
            for old in reversed(ARMS[2:])
        ]
        return [*better, significant("the expected grade is a better score than the expected gain", ARMS[0], BY_GAINS,
                                     NDCGS)]  # fmt: skip

    def draw(self, rows: Rows, figure: Any) -> None:
        axes = panel(figure.subplots(), "test NDCG, mean over seeds", "cut-off", "NDCG")
        cutoff_curves(axes, rows, (*ARMS, BY_GAINS))
        legend(axes)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        train, _, test = size.queries
        return {
            "queries (train / test)": queries_in_words((train, test)),
            "documents per query": f"{size.documents[0]} to {size.documents[1]}", "features": str(size.features),
            "trees": f"at most {size.trees} of {size.leaves} leaves",
        }  # fmt: skip


def compared(data: Parts, seed: int, size: Size) -> list[Row]:
    trees: dict[str, Any] = {
        "n_trees": size.trees, "n_leaves": size.leaves, "min_documents": size.least, "early_stopping": 20,
        "validation_measure": "NDCG@10", "progress": False,
    }  # fmt: skip
    rankers: dict[str, Any] = {
        "classification": MART("multiclass", **trees),
        BY_GAINS: MART("multiclass", values="gains", **trees),
        "ordinal": MART("ordinal", **trees),
        "regression": MART(target="gains", **trees),
        "LambdaRank, two layers": LambdaRank(
            "NDCG", hidden=10, epochs=size.epochs, learning_rate=[0.001, 0.003, 0.01], validation_measure="NDCG@10",
            seed=seed, progress=False,
        ),
    }  # fmt: skip
    fitted = {name: ranker.fit(data.train, validation=data.valid) for name, ranker in rankers.items()}
    pairs = [(new, old) for new in ARMS[:2] for old in ARMS[2:]]
    return measured(fitted, data.test, NDCGS, [*pairs, ("ordinal", "classification"), ("classification", BY_GAINS)])
