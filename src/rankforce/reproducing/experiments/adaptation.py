"""Adaptation: a model of one market and a little data of another, against training from scratch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankforce.data.artificial.artificial import make_artificial
from rankforce.rankers.lambdamart import LambdaMART
from rankforce.reproducing.drawing import curves, legend, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.measuring import measured
from rankforce.reproducing.papers import OVERVIEW
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, significant

ORDER = 4
MEASURE = "NDCG@10"
BASE, SCRATCH, ADAPTED = "base model", "from scratch", "adapted"


class Adaptation(Experiment):
    name = "adaptation"
    paper = OVERVIEW
    place = "Section 7"
    title = "Starting from a base model's scores, with little data of another market"
    found = "Model adaptation is easy: boosting starts with the scores of a base model. No numbers."
    data = "artificial: the second market's truth is the first's with all coefficients moved by 0.3"
    paper_size = {"queries": "–"}
    remarks = "a quarter of the second market's queries is held out for early stopping."
    figsize = (5.5, 3.4)
    sizes = {
        "tiny": Size(seeds=1, minutes=0.05, shares=(0.1, 1.0), base=40, queries=40, test=30, documents=10, features=8,
                     trees=10),
        "quick": Size(seeds=3, minutes=0.1, shares=(0.02, 0.1, 1.0), base=600, queries=500, test=700, documents=25,
                      features=30, trees=150),
        "full": Size(seeds=3, minutes=15, shares=(0.01, 0.05, 0.2, 1.0), base=1500, queries=1000, test=1000,
                     documents=25, features=30, trees=400),
    }  # fmt: skip

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        common: dict[str, Any] = {"documents": size.documents, "features": size.features, "noise": 0.3}
        first = make_artificial(size.base, seed=3 * seed, **common)
        second = make_artificial(size.queries + size.test, seed=3 * seed + 1, drift=0.3, **common)
        whole, test = (second.take_queries(one) for one in (range(size.queries), range(size.queries, second.n_queries)))
        train, valid = first.split(0.8, 0.2)
        base = ranker(size).fit(train, validation=valid)
        rows: list[Row] = []
        for share in size.shares:
            count = max(4, round(share * size.queries))
            train, valid = whole.take_queries(range(count)).split(0.75, 0.25)
            rankers = {
                BASE: base,
                SCRATCH: ranker(size).fit(train, validation=valid),
                ADAPTED: ranker(size, base.model_).fit(train, validation=valid),
            }
            pairs = [(ADAPTED, SCRATCH), (ADAPTED, BASE)]
            rows += measured(rankers, test, [MEASURE], pairs, share=share, rank=_rank(share, size))
        return rows

    def claims(self) -> Sequence[Claim]:
        return [
            significant("with the least data, adapting beats training from scratch", ADAPTED, SCRATCH, [MEASURE],
                        rank="least"),
            significant("with all of it, adapting beats the base model", ADAPTED, BASE, [MEASURE], rank="most"),
        ]  # fmt: skip

    def draw(self, rows: Rows, figure: Any) -> None:
        axes = panel(figure.subplots(), "", "share of the second market's queries", f"test {MEASURE}")
        curves(axes, rows.where(kind="mean"), "share", "arm")
        axes.set_xscale("log")
        legend(axes)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        shares = ", ".join(f"{share:.0%}" for share in size.shares)
        return {
            "queries": f"{size.base:,} of the first market; {shares} of {size.queries:,} of the second",
            "test queries": f"{size.test:,}",
            "trees": f"at most {size.trees}",
        }  # fmt: skip

    def tables(self, rows: Rows) -> Sequence[tuple[str, Rows]]:
        means = ({**row, "measure": f"{row['share']:.0%}"} for row in rows.where(kind="mean"))
        return ((f"test {MEASURE} by the share of the second market's queries", Rows(means)),)


def ranker(size: Size, base: Any = None) -> LambdaMART:
    return LambdaMART(
        MEASURE, n_trees=size.trees, n_leaves=15, learning_rate=0.1, min_documents=10, early_stopping=30,
        base_model=base, growth="leafwise", progress=False,
    )  # fmt: skip


def _rank(share: float, size: Size) -> str:
    return "least" if share == min(size.shares) else "most" if share == max(size.shares) else "between"
