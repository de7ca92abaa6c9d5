"""Trained weights varied one at a time, beside random directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.diagnostics.optimality import Changes, directions_needed, local_optimality
from rankforce.models.net import Net
from rankforce.reproducing.data_sets import artificial_queries, web_like_queries
from rankforce.reproducing.drawing import colour, legend, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.net_comparison import HIDDEN
from rankforce.reproducing.papers import LOCAL_OPTIMALITY
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, none_of
from rankforce.reproducing.trained_nets import CLAIMED, MEASURES, SMALL, settled_net

ORDER = 3
MAKERS = {"artificial": artificial_queries, "web": web_like_queries}
WIDE, NEAR = "steps up to the norm of the weights", "steps up to a tenth of it"
REACHES = {WIDE: 1.0, NEAR: 0.1}
SINGLE, TOGETHER = "one weight", "random direction"


class SingleWeights(Experiment):
    name = "single-weights"
    paper = LOCAL_OPTIMALITY
    place = "Section 7.1"
    title = "Each weight varied alone, the others as they were learned"
    found = (
        "For all measures, nets and data sets, no variation of any one weight raises the training measure: the "
        "gradient vanishes at every learned weight. No figures."
    )
    data = "the paper's artificial data, and generated data with the kinds of features of web data"
    paper_size = {
        "training queries": "10,000; web 10,000 and 22,000", "documents per query": "50; web 158.7",
        "features": "300; web 420", "variations": "random", "epochs": "700",
    }  # fmt: skip
    remarks = (
        "a weight moves by ± ten steps, up to the norm of all weights and up to a tenth of it; weights that cannot "
        "change a ranking are left out. Training ends with full batches, as for local-optimality, whose test by random "
        "directions is repeated beside it."
    )
    figsize = (8.0, 6.0)
    revised = (
        "all ten claims differed by the largest share of any net. Now the weights of all seeds and data are counted "
        "together, and their share has an exact bound, as if they were drawn. "
        "The rule was changed on unchanged rows; all was run anew since."
    )
    sizes = {
        "tiny": Size(seeds=1, minutes=0.03, queries=30, documents=10, features=4, epochs=2, batches=2, epsilon=0.3),
        "quick": Size(seeds=2, minutes=0.9, queries=600, documents=25, features=15, epochs=15, batches=100,
                      epsilon=0.05),
        "full": Size(seeds=1, minutes=900, queries=10_000, documents=50, features=300, epochs=50, batches=600,
                     epsilon=0.01),
    }  # fmt: skip

    def parts(self, size: Size) -> Sequence[str]:
        return tuple(MAKERS)

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        data = MAKERS[part](size.queries, size.documents, size.features, seed)
        rows: list[Row] = []
        for layers, hidden in HIDDEN.items():
            for name, measure in MEASURES.items():
                net = settled_net(data, measure, hidden, epochs=size.epochs, batches=size.batches, seed=seed)
                for reach in REACHES:
                    rows += varied(net, data, measure, reach, size, seed, measure_name=name, layers=layers)
        return rows

    def claims(self) -> Sequence[Claim]:
        wide = [
            no_weight(f"no single weight raises {name}, {layers}", reach=WIDE, layers=layers, measure=name)
            for name in MEASURES
            for layers in HIDDEN
        ]
        near = [
            no_weight(f"nor any measure nearby, {layers}", reach=NEAR, layers=layers, measure=tuple(MEASURES))
            for layers in HIDDEN
        ]
        return [*wide, *near]

    def draw(self, rows: Rows, figure: Any) -> None:
        first = rows.where(seed=0, arm=SINGLE, reach=NEAR)
        for line, layers in zip(figure.subplots(2, 4), HIDDEN, strict=True):
            for axes, name in zip(line, MEASURES, strict=True):
                panel(axes, f"{name}, {layers}", "step / norm" if layers == "two layers" else "")
                for number, part in enumerate(MAKERS):
                    for row in first.where(part=part, layers=layers, measure=name):
                        for heights in row["drawn"]:
                            axes.plot(row["steps"], heights, color=colour(number), linewidth=0.7)
                        axes.plot([0], [row["at"]], "o", color=colour(number), markersize=3, label=part)
                if (layers, name) == ("two layers", "NDCG"):
                    legend(axes, loc="center")

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return {
            "training queries": f"{size.queries:,}; web-like {size.queries:,}",
            "documents per query": str(size.documents), "features": str(size.features),
            "variations": f"20 of each weight; {directions_needed(size.epsilon, size.epsilon)} random directions",
            "epochs": f"{size.epochs} by queries and {size.batches} full batches",
        }  # fmt: skip

    def tables(self, rows: Rows) -> Sequence[tuple[str, Rows]]:
        return [
            (
                f"share that ascends, {reach}",
                Rows(
                    {**row, "arm": f"{row['arm']}, {row['part']}, {row['layers']}"} for row in rows.where(reach=reach)
                ),
            )
            for reach in REACHES
        ]


def varied(
    net: Net, data: Dataset, measure: str, reach: str, size: Size, seed: int, *, measure_name: str, layers: str
) -> list[Row]:
    """A row for single weights and one for random directions: how many ascend, and by how much at most."""
    found = local_optimality(
        net, data, measure, epsilon=size.epsilon, delta=size.epsilon, scale=REACHES[reach], each_weight=True, seed=seed,
        progress=False,
    )  # fmt: skip
    assert found.weights is not None
    common: Row = {"kind": "lines", "measure": measure_name, "layers": layers, "reach": reach, "at": found.value}
    rows = [
        common | {"arm": arm, "value": one.share_ascending, "lines": len(one), "highest": float(one.changes.max())}
        for arm, one in ((SINGLE, found.weights), (TOGETHER, found.directions))
    ]
    rows[0] |= drawn(found.weights, found.value, found.norm)
    return rows


def drawn(lines: Changes, value: float, norm: float) -> Row:
    """Four weights, spread over all, as lines through the learned value."""
    chosen = np.linspace(0, len(lines) - 1, 4).astype(int)
    middle = len(lines.lengths) // 2
    steps = np.insert(lines.lengths / norm, middle, 0.0)
    heights = np.insert(lines.changes[chosen], middle, 0.0, axis=1) + value
    return {"steps": steps.round(4).tolist(), "drawn": heights.round(6).tolist()}


def no_weight(statement: str, *, reach: str, **where: Any) -> Claim:
    def count(rows: Rows) -> tuple[int, int]:
        mine = rows.where(arm=SINGLE, reach=reach, **where)
        lines = mine.values("lines")
        return round(float((mine.values() * lines).sum())), int(lines.sum())

    return none_of(statement, count, what=f"single weights that ascend by {reach}", small=SMALL, claimed=CLAIMED)
