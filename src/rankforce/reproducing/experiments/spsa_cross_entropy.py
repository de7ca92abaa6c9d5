"""SPSA on the cross entropy against its gradient, and against finite differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.models.net import Net
from rankforce.rankers.ranknet import RankNet
from rankforce.rankers.spsa import SPSA
from rankforce.reproducing.data_sets import web_like_queries
from rankforce.reproducing.drawing import colour, legend, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.papers import WEB_SEARCH
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, each_seed

ORDER = 4
GRADIENT, PERTURBED, DIFFERENCES = "gradient", "SPSA", "finite differences"


class SPSACrossEntropy(Experiment):
    name = "spsa-cross-entropy"
    paper = WEB_SEARCH
    place = "slides SPSA Results: Cross Entropy, Web and SPSA versus FDSA"
    title = "Cross entropy by SPSA, by finite differences and by its gradient"
    found = (
        "Two pictures without numbers: SPSA comes to the cross entropy that the gradient reaches, and needs far fewer "
        "evaluations than finite differences, two a step whatever the number of weights."
    )
    data = "generated with the kinds of features of web data"
    paper_size = {"queries": "not said", "weights": "not said"}
    remarks = (
        "the gradient is RankNet's by full batches (Adam). How close is close is our choice: nine tenths of the fall."
    )
    sizes = {
        "tiny": Size(seeds=1, minutes=0.02, queries=20, documents=8, features=4, evaluations=100, batches=20),
        "quick": Size(seeds=3, minutes=0.51, queries=200, documents=20, features=20, evaluations=6000, batches=300),
        "full": Size(seeds=3, minutes=30, queries=1000, documents=30, features=50, evaluations=30_000, batches=1000),
    }

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        data = web_like_queries(size.queries, size.documents, size.features, seed)
        rows: list[Row] = []
        gradient = RankNet(
            hidden=0, update="batch", epochs=size.batches, learning_rate=0.03, keep_weights=True, seed=seed,
            scaling="standard", progress=False,
        ).fit(data)  # fmt: skip
        rows += followed(GRADIENT, gradient, data, 1)
        for name, slope in ((PERTURBED, "perturbation"), (DIFFERENCES, "differences")):
            each = 2 if slope == "perturbation" else 2 * (size.features + 1)
            steps = max(1, size.evaluations // each // 25)
            climber = SPSA(
                hidden=0, target="cross_entropy", slope=slope, epochs=25, steps=steps, learning_rate=0.03,  # type: ignore[arg-type]
                keep_weights=True, seed=seed, scaling="standard", progress=False,
            ).fit(data)  # fmt: skip
            rows += followed(name, climber, data, each * steps)
        return rows

    def claims(self) -> Sequence[Claim]:
        return [
            each_seed("SPSA comes close to what the gradient reaches", lambda rows: share_of_fall(rows, PERTURBED),
                      what="share of the gradient's fall that SPSA reaches", least=0.9),
            each_seed("with as many evaluations finite differences fall less",
                      lambda rows: share_of_fall(rows, PERTURBED, 0.2) - share_of_fall(rows, DIFFERENCES, 0.2),
                      what="SPSA's share of the fall less theirs, after a fifth of the evaluations", least=0.0),
        ]  # fmt: skip

    def draw(self, rows: Rows, figure: Any) -> None:
        axes = panel(
            figure.subplots(), "", "evaluations of the cost (of the gradient: epochs)", "cross entropy of a pair"
        )
        for number, name in enumerate((GRADIENT, PERTURBED, DIFFERENCES)):
            for seed in rows.distinct("seed"):
                mine = rows.where(arm=name, seed=seed)
                axes.plot(
                    mine.values("evaluations"),
                    mine.values(),
                    color=colour(number),
                    linewidth=1.0,
                    label=name if seed == 0 else None,
                )
        axes.set_xscale("log")
        legend(axes)  # fmt: skip

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return {
            "queries": f"{size.queries:,}",
            "weights": str(size.features + 1),
            "evaluations": f"{size.evaluations:,}",
        }

    def tables(self, rows: Rows) -> Sequence[tuple[str, Rows]]:
        names = (GRADIENT, PERTURBED, DIFFERENCES)
        last = [
            {"arm": name, "measure": "cross entropy in the end", "value": rows.values(arm=name, seed=seed)[-1]}
            for name in names
            for seed in rows.distinct("seed")
        ]
        return (("", Rows(last)),)


def followed(arm: str, ranker: Any, data: Dataset, evaluations: int) -> list[Row]:
    """The cross entropy after every epoch."""
    model: Net = ranker.model_
    start = model.with_weights(model.layout.start(ranker.seed))
    values = [mean_cross_entropy(net.predict(data), data) for net in (start, *map(model.with_weights, ranker.weights_))]
    kept = sorted({*np.unique(np.geomspace(1, len(values), 40).astype(int) - 1), len(values) - 1})
    return [
        {"kind": "cost", "arm": arm, "evaluations": int(place) * evaluations, "value": values[place]} for place in kept
    ]


def mean_cross_entropy(scores: np.ndarray, data: Dataset) -> float:
    """log(1 + e^{−gap}), the mean over all pairs of different grades; all queries are equally long."""
    documents = data.n_documents // data.n_queries
    by_query = np.asarray(scores).reshape(-1, documents)
    grades = data.labels["grades"].reshape(-1, documents)
    better = grades[:, :, None] > grades[:, None, :]
    gaps = by_query[:, :, None] - by_query[:, None, :]
    return float(np.logaddexp(0.0, -gaps)[better].mean())


def share_of_fall(rows: Rows, arm: str, share: float = 1.0) -> float:
    """How much of the gradient's fall an arm reaches with this share of its evaluations."""
    gradient, mine = rows.where(arm=GRADIENT), rows.where(arm=arm)
    start, lowest = gradient.values()[0], gradient.values().min()
    most = share * mine.values("evaluations").max()
    reached = [row["value"] for row in mine if row["evaluations"] <= most]
    return float((start - reached[-1]) / (start - lowest))
