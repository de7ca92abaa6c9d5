"""The martingale bound for ranking: edges of levels, misordered pairs, and what the bound says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankforce.rankers.xrank import XRank
from rankforce.reproducing.data_sets import artificial_queries
from rankforce.reproducing.drawing import curves, legend, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.papers import WEB_SEARCH
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, each_seed

ORDER = 8
TELLING = 0.999  # a bound on a share that is above this says nothing


class MartingaleEdges(Experiment):
    name = "martingale-edges"
    paper = WEB_SEARCH
    place = "slide Martingale Bound for Ranking"
    title = "Edges of a ranking martingale and the bound on misordered pairs"
    found = (
        "If all edges of level t are at least γ_t, at most exp(−(Σγ_t)²/4T) of the pairs are misordered after T levels."
    )
    data = "artificial, binary grades; training pairs"
    paper_size = {"levels": "T"}
    revised = (
        "that the bound holds was one claim over all numbers of levels, and agreed; with 8 levels and more the bound "
        "is 1, which says nothing. Now the fewest and the most levels are judged apart, and a bound of 1 tells "
        "nothing. The rule was changed on unchanged rows; all was run anew since."
    )
    sizes = {
        "tiny": Size(seeds=1, minutes=0.02, queries=20, documents=8, features=4, levels=(1, 2, 4), least=2),
        "quick": Size(
            seeds=3, minutes=0.04, queries=200, documents=20, features=10, levels=(1, 2, 4, 8, 16, 32), least=10
        ),
        "full": Size(
            seeds=5, minutes=10, queries=2000, documents=30, features=30, levels=(1, 2, 4, 8, 16, 32, 64), least=30
        ),
    }

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        data = artificial_queries(size.queries, size.documents, size.features, seed, shares=(0.5, 0.5))
        rows: list[Row] = []
        for levels in size.levels:
            ranker = XRank("NDCG", form="martingale", n_steps=levels, min_documents=size.least, progress=False).fit(
                data
            )
            report = ranker.martingale_
            grown = len(report.minimum)
            for arm, value in (
                ("misordered pairs", report.misordered), ("bound by least edges", report.bound),
                ("expression of mean edges", report.mean_bound), ("least edge of the last level", report.minimum[-1]),
                ("mean edge of the last level", report.mean[-1]),
            ):  # fmt: skip
                rows.append(
                    {"kind": "mean", "arm": arm, "measure": f"{levels} levels", "levels": grown, "value": value}
                )
        return rows

    def claims(self) -> Sequence[Claim]:
        return [
            each_seed("the bound holds with the fewest levels", lambda rows: slack(rows, 0),
                      what="bound less misordered pairs, where the bound says something", least=0.0),
            each_seed("the bound holds with the most levels", lambda rows: slack(rows, -1),
                      what="bound less misordered pairs with the most levels, where the bound says something",
                      least=0.0),
            each_seed("more levels misorder fewer pairs", lambda rows: float(
                          rows.values(arm="misordered pairs")[0] - rows.values(arm="misordered pairs")[-1]),
                      what="fall of the share of misordered pairs from the fewest levels to the most", least=1e-9),
        ]  # fmt: skip

    def draw(self, rows: Rows, figure: Any) -> None:
        axes = panel(figure.subplots(), "", "levels", "share of the training pairs")
        curves(
            axes,
            rows.where(arm=("misordered pairs", "bound by least edges", "expression of mean edges")),
            "levels",
            "arm",
        )
        axes.set_xscale("log")
        legend(axes)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return {
            "levels": ", ".join(map(str, size.levels)), "queries": f"{size.queries:,}",
            "documents per query": str(size.documents), "features": str(size.features),
        }  # fmt: skip


def slack(rows: Rows, place: int) -> float:
    """NaN, of which nothing can be told, if the bound is 1 or nearly: that much is true of any share."""
    bound = rows.values(arm="bound by least edges")[place]
    return float(bound - rows.values(arm="misordered pairs")[place]) if bound < TELLING else float("nan")
