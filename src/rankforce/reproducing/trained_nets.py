"""Nets trained for the four measures of the local optimality paper, and what moves of their weights do."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.diagnostics.optimality import LocalOptimality, local_optimality
from rankforce.models.net import Net
from rankforce.rankers.lambdarank import LambdaRank
from rankforce.reproducing.rows import Rows
from rankforce.reproducing.rules import Claim, none_of

SMALL = 0.05  # share of ascending directions that none among the 59 of a quick run excludes with 95 %
CLAIMED = 0.01  # that none among the paper's 459 excludes with 99 %

# Grades from 2 on are relevant; of MRR, only swaps that raise it pull (Eq. 11).
MEASURES = {
    "NDCG": "NDCG",
    "NDCG@10": "NDCG@10",
    "MAP": "MAP(relevant=2)",
    "MRR": "MRR(relevant=2,swaps=upward)",
}


def settled_net(data: Dataset, measure: str, hidden: int, *, epochs: int, batches: int, seed: int, **more: Any) -> Net:
    """A net trained by queries, then by full batches, whose steps all queries share: it comes to rest."""
    common: dict[str, Any] = {"hidden": hidden, "seed": seed, "progress": False, **more}
    rough = LambdaRank(measure, epochs=epochs, learning_rate=0.003, **common).fit(data)
    if not batches:
        return rough.model_
    fine = LambdaRank(measure, epochs=batches, learning_rate=0.001, update="batch", base_model=rough, **common)
    return fine.fit(data).model_


def moved(net: Net, data: Dataset, measure: str, size: Any, seed: int) -> LocalOptimality:
    """The certificate of random directions."""
    return local_optimality(
        net, data, measure, epsilon=size.epsilon, delta=size.epsilon, scale=size.scale, seed=seed, progress=False
    )


def directions_row(found: LocalOptimality, **columns: Any) -> dict[str, Any]:
    """How many directions ascend, and four of them as the paper draws them."""
    lines = found.directions
    few = np.asarray(lines.changes)[:4] + found.value
    return {
        "kind": "directions",
        "value": len(lines.ascending) / len(lines),
        "ascending": len(lines.ascending),
        "flat": len(lines.flat),
        "directions": len(lines),
        "at": float(found.value),
        "highest": float(np.max(lines.changes)),
        "drawn": few.round(6).tolist(),
        **columns,
    }


def no_direction(statement: str, **where: Any) -> Claim:
    """None of the random directions of these nets raises the measure."""

    def count(rows: Rows) -> tuple[int, int]:
        mine = rows.where(kind="directions", **where)
        return int(mine.values("ascending").sum()), int(mine.values("directions").sum())

    return none_of(statement, count, what="directions that ascend", small=SMALL, claimed=CLAIMED)
