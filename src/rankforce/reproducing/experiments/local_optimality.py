"""Are trained LambdaRank nets at a local optimum of what they were trained for?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.diagnostics.optimality import directions_needed
from rankforce.reproducing.data_sets import artificial_queries, web_like_queries
from rankforce.reproducing.drawing import colour, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.net_comparison import HIDDEN
from rankforce.reproducing.papers import LOCAL_OPTIMALITY
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim
from rankforce.reproducing.trained_nets import MEASURES, directions_row, moved, no_direction, settled_net

ORDER = 2


class LocalOptimalityOfNets(Experiment):
    name = "local-optimality"
    paper = LOCAL_OPTIMALITY
    place = "Figures 1 to 4"
    title = "Trained weights as local optima of NDCG, NDCG@10, MAP and MRR"
    found = (
        "For four measures, one and two layers and three data sets, none of 459 random directions away from the "
        "learned weights raises the training measure: a local optimum with 99 % confidence."
    )
    data = "the paper's artificial data, and two sizes of generated data with the kinds of features of web data"
    paper_size = {
        "training queries": "10,000; web 10,000 and 22,000", "documents per query": "50; web 158.7",
        "features": "300; web 420", "directions": "459", "epochs": "700",
    }  # fmt: skip
    remarks = (
        "steps are 0.1 to 1 times the norm of the weights: the paper's absolute steps mean nothing without it. "
        "Training ends with full batches, so that weights come to rest."
    )
    figsize = (8.0, 6.0)
    revised = (
        "one claim for each measure became one for each measure and number of layers. The rule is the same; all four "
        "claims of the first form differed, as did the eight. Later another rule was written: it had gone by the "
        "largest share of any net, of 59 directions; now the directions of all seeds and data are counted together, "
        "and their share has an exact bound. The rule was changed on unchanged rows; all was run anew since."
    )
    sizes = {
        "tiny": Size(seeds=1, minutes=0.03, queries=30, larger=40, documents=10, features=4, epochs=2, batches=2,
                     epsilon=0.3, scale=1.0),
        "quick": Size(seeds=2, minutes=0.83, queries=600, larger=1300, documents=25, features=15, epochs=15,
                      batches=100, epsilon=0.05, scale=1.0),
        "full": Size(seeds=1, minutes=600, queries=10_000, larger=22_000, documents=50, features=300, epochs=50,
                     batches=600, epsilon=0.01, scale=1.0),
    }  # fmt: skip

    def parts(self, size: Size) -> Sequence[str]:
        return ("artificial", "web", "larger web")

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        data = training_data(part, seed, size)
        rows = []
        for layers, hidden in HIDDEN.items():
            for name, measure in MEASURES.items():
                net = settled_net(data, measure, hidden, epochs=size.epochs, batches=size.batches, seed=seed)
                rows.append(directions_row(moved(net, data, measure, size, seed), measure=name, layers=layers))
        return rows

    def claims(self) -> Sequence[Claim]:
        return [
            no_direction(f"no direction raises {name}, {layers} (Figure {number})", measure=name, layers=layers)
            for number, name in enumerate(MEASURES, start=1)
            for layers in HIDDEN
        ]

    def draw(self, rows: Rows, figure: Any) -> None:
        first = rows.where(seed=0)
        for line, layers in zip(figure.subplots(2, 4, sharex=True), HIDDEN, strict=True):
            for axes, name in zip(line, MEASURES, strict=True):
                panel(axes, f"{name}, {layers}", "step" if layers == "two layers" else "")
                for number, part in enumerate(rows.distinct("part")):
                    for row in first.where(part=part, layers=layers, measure=name):
                        for heights in row["drawn"]:
                            axes.plot(np.arange(11) / 10, [row["at"], *heights], color=colour(number), linewidth=0.8)
                        axes.plot([0], [row["at"]], "o", color=colour(number), markersize=4)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return {
            "training queries": f"{size.queries:,}; web-like {size.queries:,} and {size.larger:,}",
            "documents per query": str(size.documents), "features": str(size.features),
            "directions": str(directions_needed(size.epsilon, size.epsilon)),
            "epochs": f"{size.epochs} by queries and {size.batches} full batches",
        }  # fmt: skip

    def tables(self, rows: Rows) -> Sequence[tuple[str, Rows]]:
        shares = rows.where(kind="directions")
        titled = ({**row, "arm": f"{row['part']}, {row['layers']}"} for row in shares)
        return (("share of directions that ascend", Rows(titled)),)


def training_data(part: str, seed: int, size: Size) -> Dataset:
    if part == "artificial":
        return artificial_queries(size.queries, size.documents, size.features, seed)
    count = size.larger if part == "larger web" else size.queries
    return web_like_queries(count, size.documents, size.features, seed)
