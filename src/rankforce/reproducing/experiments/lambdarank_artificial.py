"""LambdaRank against RankNet on random cubic polynomials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankforce.data.dataset import Dataset
from rankforce.evaluation.evaluate import evaluate
from rankforce.reproducing.data_sets import Parts, artificial, queries_in_words
from rankforce.reproducing.experiment import Size
from rankforce.reproducing.measuring import differences_of, means_of
from rankforce.reproducing.net_comparison import HIDDEN, LIKE_WITH_LIKE, NetComparison
from rankforce.reproducing.papers import NONSMOOTH
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, significant

ORDER = 3
# NDCG@10 that knows two levels: from this grade on a document gains 1, below it nothing.
FROM_GRADE = {
    f"from grade {least} on": f"NDCG@10(gain={'/'.join('1' if grade >= least else '0' for grade in range(5))})"
    for least in (1, 2, 3, 4)
}
LOWEST, *_, HIGHEST = FROM_GRADE
GAP = "gap"  # the measure of rows that compare LambdaRank's lead at two grades


class LambdaRankArtificial(NetComparison):
    name = "lambdarank-artificial"
    paper = NONSMOOTH
    place = "Figure 2, left"
    title = "LambdaRank against RankNet, artificial data"
    found = (
        "On clean data LambdaRank clearly outperforms RankNet, with linear nets and with two layers. The gap increases "
        "at higher relevance levels."
    )
    data = "the paper's: random cubic polynomials of uniform features, five grades with the shares of web data"
    paper_size = {
        "queries (train / validation / test)": "10,000 / 5,000 / 10,000", "documents per query": "50",
        "features": "50", "hidden units": "10", "epochs": "300",
    }  # fmt: skip
    remarks = (
        f"{NetComparison.remarks} Relevance levels are taken for grades, as where the paper speaks of its data: the "
        "gap is that of NDCG@10 where a document gains 1 from a grade on and nothing below it, and the highest grade "
        "is compared with all above 0, on the same queries. The figure shows cut-offs; whether the paper means them, "
        "and which of them are the higher levels, is not clear, and its curves are not in our copy. The gap at every "
        "cut-off stands in the table of differences, and is not judged."
    )
    revised = (
        "the claim on relevance levels was not judged at first. Its rule was written when NDCG at ten cut-offs, from "
        "earlier runs of the same draws, stood on the page, but nothing by grades."
    )
    sizes = {
        "tiny": Size(seeds=1, minutes=0.02, queries=(40, 30, 60), documents=20, features=10, epochs=3,
                     rates=(0.01,), preset=None),
        "quick": Size(seeds=3, minutes=0.43, queries=(1000, 500, 1500), documents=50, features=50, epochs=40,
                      rates=(0.0003, 0.001, 0.003), preset=None),
        "full": Size(seeds=3, minutes=180, queries=(10_000, 5_000, 10_000), documents=50, features=50, epochs=300,
                     rates=(), preset="2006"),
    }  # fmt: skip

    def data_of(self, seed: int, size: Size) -> Parts:
        return artificial(size.queries, size.documents, size.features, seed)

    def rows_of(self, rankers: Mapping[str, Any], test: Dataset) -> list[Row]:
        return super().rows_of(rankers, test) + rows_by_grade(rankers, test)

    def claims(self) -> Sequence[Claim]:
        return [
            *super().claims(),
            *(
                significant(f"the gap increases at higher relevance levels, {layers}",
                            gap_of(layers, HIGHEST), gap_of(layers, LOWEST), [GAP])
                for layers in HIDDEN
            ),
        ]  # fmt: skip

    def tables(self, rows: Rows) -> Sequence[tuple[str, Rows]]:
        means = rows.where(kind="mean")
        return (("", means.where(by=None)), ("LambdaRank less RankNet, by grade", means.where(by="grade")))

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return {
            "queries (train / validation / test)": queries_in_words(size.queries),
            "documents per query": str(size.documents), "features": str(size.features), "hidden units": "10",
            "epochs": str(size.epochs),
        }  # fmt: skip


def gap_of(layers: str, level: str) -> str:
    return f"gap, {layers}, {level}"


def rows_by_grade(rankers: Mapping[str, Any], test: Dataset) -> list[Row]:
    """LambdaRank's lead where only documents from a grade on count, and how much more it is at the highest grade.

    Queries without a document of that grade have no value; the comparison is on those that have one.
    """
    found = {name: evaluate(one, test, list(FROM_GRADE.values())).per_query for name, one in rankers.items()}
    rows: list[Row] = []
    for layers, (new, old) in zip(HIDDEN, LIKE_WITH_LIKE, strict=True):
        lead = {level: found[new][measure] - found[old][measure] for level, measure in FROM_GRADE.items()}
        rows += means_of({f"gap, {layers}": lead}, list(FROM_GRADE), by="grade")
        gaps = {gap_of(layers, level): {GAP: lead[level]} for level in (HIGHEST, LOWEST)}
        rows += differences_of(gaps, [GAP], [(gap_of(layers, HIGHEST), gap_of(layers, LOWEST))])
    return rows
