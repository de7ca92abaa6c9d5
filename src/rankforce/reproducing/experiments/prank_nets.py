"""PRank in three forms against nets of one and two layers."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from rankforce.rankers.prank import PRank
from rankforce.rankers.ranknet import RankNet
from rankforce.reproducing.data_sets import queries_in_words, web_like
from rankforce.reproducing.drawing import bars, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.measuring import measured
from rankforce.reproducing.papers import WEB_SEARCH
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, significant

ORDER = 1
PAPER = {
    "PRank, quadratic": 0.327,
    "PRank, linear": 0.412,
    "PRank, large margin": 0.454,
    "RankNet, one layer": 0.477,
    "RankNet, two layers": 0.488,
}
MEASURES = ("NDCG", "NDCG@10")


class PRankNets(Experiment):
    name = "prank-nets"
    paper = WEB_SEARCH
    place = "slide Results"
    title = "PRank against RankNet"
    found = "From worst to best: quadratic, linear and large-margin PRank, RankNet with one layer and with two."
    published = [{"arm": arm, "measure": "NDCG", "value": value} for arm, value in PAPER.items()]
    data = "generated with the kinds of features of web data"
    paper_size = {
        "queries (train / validation / test)": "11,336 / 2,384 / 2,384",
        "documents per query": "34 in training, 1,140 in testing", "features": "569",
    }  # fmt: skip
    sizes = {
        "tiny": Size(seeds=1, minutes=0.02, queries=(25, 20, 40), documents=(6, 12), features=6, epochs=2),
        "quick": Size(seeds=3, minutes=0.11, queries=(400, 200, 1500), documents=(20, 48), features=30, epochs=20),
        "full": Size(seeds=3, minutes=120, queries=(11_336, 2384, 2384), documents=(20, 48), features=136, epochs=50),
    }

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        data = web_like(size.queries, size.documents, size.features, seed)
        common: dict[str, Any] = {"epochs": size.epochs, "validation_measure": "NDCG", "seed": seed, "progress": False}
        nets = common | {"learning_rate": [0.001, 0.003, 0.01]}
        rankers: dict[str, Any] = {
            "PRank, quadratic": PRank("quadratic", **common),
            "PRank, linear": PRank("linear", **common),
            "PRank, large margin": PRank("linear", large_margin=True, **common),
            "RankNet, one layer": RankNet(hidden=0, **nets),
            "RankNet, two layers": RankNet(hidden=10, **nets),
        }
        fitted = {name: ranker.fit(data.train, validation=data.valid) for name, ranker in rankers.items()}
        names = list(PAPER)
        return measured(fitted, data.test, MEASURES, [(new, old) for old, new in itertools.pairwise(names)])

    def claims(self) -> Sequence[Claim]:
        names = list(PAPER)
        return [
            significant(f"{new} is better than {old}", new, old, ["NDCG"]) for old, new in itertools.pairwise(names)
        ]

    def draw(self, rows: Rows, figure: Any) -> None:
        heights = [rows.mean(kind="mean", arm=arm, measure="NDCG") for arm in PAPER]
        errors = [rows.mean("error", kind="mean", arm=arm, measure="NDCG") for arm in PAPER]
        axes = panel(figure.subplots(), "", "test NDCG")
        bars(axes, list(PAPER), heights, errors)
        axes.set_xlim(min(heights) - 0.03, max(heights) + 0.02)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return {
            "queries (train / validation / test)": queries_in_words(size.queries),
            "documents per query": f"{size.documents[0]} to {size.documents[1]}", "features": str(size.features),
        }  # fmt: skip
