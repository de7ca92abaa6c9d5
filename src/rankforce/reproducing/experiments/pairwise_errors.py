"""A list with fewer pairwise errors and a worse top: what RankNet pulls at, and what LambdaRank does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.diagnostics.document_forces import forces_at
from rankforce.evaluation.evaluate import evaluate
from rankforce.reproducing.drawing import colour, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.papers import OVERVIEW
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, each_seed

ORDER = 3
DOCUMENTS = 16
LISTS = {"before": (1, 15), "after": (4, 10)}  # ranks of the two relevant documents
FUNCTIONS = {"RankNet": "RankNet", "LambdaRank": "RankNetWeightPairs"}


class PairwiseErrors(Experiment):
    name = "pairwise-errors"
    paper = OVERVIEW
    place = "Figure 1; slide Pairwise Cost Revisited"
    title = "Two lists: 13 pairwise errors and a good top, 11 and a bad one"
    found = (
        "Moving the upper relevant document down three ranks and the lower one up five lowers the pairwise errors from "
        "13 to 11, and NDCG with them. RankNet's forces grow with the errors of a document, and so pull the lower one "
        "harder; what one would like is to pull the upper one."
    )
    data = "the figure's list of 16 documents, two of them relevant"
    paper_size = {"documents": "16"}
    remarks = "scores fall by 0.1 a rank. The figure's arrows are a sketch; ratios of forces are measured here."
    figsize = (7.0, 3.6)
    sizes = {name: Size(seeds=1, minutes=0.01, gap=0.1) for name in ("tiny", "quick", "full")}

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        rows: list[Row] = []
        for name, ranks in LISTS.items():
            grades = np.zeros(DOCUMENTS)
            grades[np.array(ranks) - 1] = 1.0
            data = Dataset(np.zeros((DOCUMENTS, 1)), grades, np.ones(DOCUMENTS, dtype=int))
            scores = -size.gap * np.arange(DOCUMENTS)
            rows.append({"kind": "mean", "arm": name, "measure": "pairwise errors", "value": errors(grades)})
            found = evaluate(scores, data, ["NDCG", "ERR(max_grade=1)"])
            rows += [{"kind": "mean", "arm": name, "measure": one, "value": float(v)} for one, v in found.mean.items()]
            for kind, function in FUNCTIONS.items():
                pulled = forces_at(data, scores, "NDCG", lambda_function=function)
                for rank in ranks:
                    rows.append(
                        {
                            "kind": "force",
                            "arm": kind,
                            "list": name,
                            "rank": rank,
                            "value": float(pulled.forces[rank - 1]),
                        }
                    )
        return rows

    def claims(self) -> Sequence[Claim]:
        def value(arm: str, measure: str) -> Any:
            return lambda rows: rows.mean(kind="mean", arm=arm, measure=measure)

        return [
            each_seed("13 errors before", value("before", "pairwise errors"), what="errors", least=13, most=13),
            each_seed("11 after", value("after", "pairwise errors"), what="errors", least=11, most=11),
            each_seed("NDCG falls", lambda rows: value("before", "NDCG")(rows) - value("after", "NDCG")(rows),
                      what="NDCG before less after", least=1e-9),
            each_seed("RankNet pulls the lower document harder", lambda rows: 1.0 / upper_share(rows, "RankNet"),
                      what="force on the lower over that on the upper document", least=1.0),
            each_seed("LambdaRank gives the upper one a larger part than RankNet does",
                      lambda rows: upper_share(rows, "LambdaRank") / upper_share(rows, "RankNet"),
                      what="ratio of upper to lower force, LambdaRank's over RankNet's", least=1.0),
        ]  # fmt: skip

    def draw(self, rows: Rows, figure: Any) -> None:
        for axes, name in zip(figure.subplots(1, 2, sharey=True), LISTS, strict=True):
            count = rows.mean(kind="mean", arm=name, measure="pairwise errors")
            panel(
                axes,
                f"{name}: {count:.0f} errors, NDCG {rows.mean(kind='mean', arm=name, measure='NDCG'):.2f}",
                "force",
            )
            relevant = LISTS[name]
            ranks = np.arange(1, DOCUMENTS + 1)
            axes.barh(
                ranks, [0.3] * DOCUMENTS, color=[colour(0) if r in relevant else "#dddddd" for r in ranks], left=-0.3
            )
            for number, kind in enumerate(FUNCTIONS):
                mine = rows.where(kind="force", arm=kind, list=name)
                lengths = mine.values() / rows.values(kind="force", arm=kind).max()
                axes.barh(
                    mine.values("rank") + 0.2 - 0.4 * number, lengths, height=0.35, color=colour(number + 2), label=kind
                )
            axes.legend(frameon=False, fontsize=8)
        axes.invert_yaxis()

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return {"documents": str(DOCUMENTS)}


def errors(grades: np.ndarray) -> float:
    """Pairs whose better document stands below."""
    return float(sum(grades[i] < grades[j] for i in range(len(grades)) for j in range(i + 1, len(grades))))


def upper_share(rows: Rows, kind: str) -> float:
    """In the list after the move: the force on the upper relevant document over that on the lower."""
    upper, lower = LISTS["after"]
    mine = rows.where(kind="force", arm=kind, list="after")
    return mine.mean(rank=upper) / mine.mean(rank=lower)
