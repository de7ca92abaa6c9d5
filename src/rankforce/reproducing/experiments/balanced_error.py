"""MART for unbalanced classes: the balanced cost against the plain one, by balanced error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankforce.rankers.mart import MART
from rankforce.reproducing.data_sets import artificial
from rankforce.reproducing.drawing import bars, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.papers import OVERVIEW
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, over_seeds

ORDER = 5
COSTS = ("binary", "balanced")


class BalancedError(Experiment):
    name = "balanced-error"
    paper = OVERVIEW
    place = "Section 6.1"
    title = "Balanced error of MART's plain and balanced cost"
    found = (
        "For very unbalanced data errors are counted as FP/(2n₋) + FN/(2n₊), and a balanced loss is given for it. No "
        "numbers."
    )
    data = "artificial with noise; 3 % of the documents are relevant"
    paper_size = {"documents": "–"}
    figsize = (5.5, 2.4)
    sizes = {
        "tiny": Size(seeds=2, minutes=0.02, queries=(30, 1, 30), documents=20, features=5, trees=4),
        "quick": Size(seeds=4, minutes=0.06, queries=(300, 1, 300), documents=40, features=20, trees=60),
        "full": Size(seeds=5, minutes=10, queries=(3000, 1, 3000), documents=50, features=50, trees=300),
    }

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        data = artificial(size.queries, size.documents, size.features, seed, noise=0.3)
        rows: list[Row] = []
        for cost in COSTS:
            ranker = MART(cost, relevant=3, n_trees=size.trees, n_leaves=10, min_documents=20, progress=False)
            error = ranker.fit(data.train).balanced_error(data.test)
            rows.append({"kind": "mean", "arm": cost, "measure": "balanced error", "value": error})
        return rows

    def claims(self) -> Sequence[Claim]:
        return [
            over_seeds("the balanced cost has the lower balanced error",
                       lambda rows: rows.mean(arm="binary") - rows.mean(arm="balanced"),
                       what="balanced error of the plain cost less that of the balanced one")
        ]  # fmt: skip

    def draw(self, rows: Rows, figure: Any) -> None:
        bars(panel(figure.subplots(), "", "balanced error"), COSTS, [rows.mean(arm=cost) for cost in COSTS])

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        train, _, test = size.queries
        return {"documents": f"{train * size.documents:,} and {test * size.documents:,} for testing"}
