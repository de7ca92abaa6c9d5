"""Random weights are no local optimum: the check of the check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.diagnostics.optimality import directions_needed
from rankforce.models.net import Net
from rankforce.models.net_layout import Layout
from rankforce.models.net_scaling import Scaling
from rankforce.reproducing.data_sets import artificial_queries
from rankforce.reproducing.drawing import colour, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.papers import LOCAL_OPTIMALITY
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, each_seed
from rankforce.reproducing.trained_nets import directions_row, moved

ORDER = 4


class RandomWeights(Experiment):
    name = "random-weights"
    paper = LOCAL_OPTIMALITY
    place = "Figure 6"
    title = "Random weights of a linear net along random directions"
    found = "Random weights are no local optimum: in two of four drawn directions mean NDCG rises."
    data = "the paper's artificial data"
    paper_size = {"queries": "10,000", "documents per query": "158.7", "features": "420", "directions": "459"}
    sizes = {
        "tiny": Size(seeds=1, minutes=0.01, queries=30, documents=10, features=4, epsilon=0.3, scale=1.0),
        "quick": Size(seeds=5, minutes=0.07, queries=1000, documents=50, features=50, epsilon=0.05, scale=1.0),
        "full": Size(seeds=5, minutes=5, queries=10_000, documents=50, features=300, epsilon=0.01, scale=1.0),
    }

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        data = artificial_queries(size.queries, size.documents, size.features, seed)
        net = Net(
            feature_names=data.feature_names, scaling=Scaling.of(data, "standard"), hidden=0,
            weights=Layout(data.n_features, 0).start(seed), sigma=1.0,
        )  # fmt: skip
        return [directions_row(moved(net, data, "NDCG", size, seed), measure="NDCG", arm="random weights")]

    def claims(self) -> Sequence[Claim]:
        return [
            each_seed(
                "random weights are not at a local optimum", lambda rows: rows.mean(),
                what="share of directions that ascend", least=0.1,
            )
        ]  # fmt: skip

    def draw(self, rows: Rows, figure: Any) -> None:
        axes = panel(figure.subplots(), "random weights, four directions of each seed", "step", "NDCG")
        for number, row in enumerate(rows):
            for heights in row["drawn"]:
                axes.plot(np.arange(11) / 10, [row["at"], *heights], color=colour(number), linewidth=1.0)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return {
            "queries": f"{size.queries:,}", "documents per query": str(size.documents), "features": str(size.features),
            "directions": str(directions_needed(size.epsilon, size.epsilon)),
        }  # fmt: skip

    def tables(self, rows: Rows) -> Sequence[tuple[str, Rows]]:
        return (("share of directions that ascend", rows),)
