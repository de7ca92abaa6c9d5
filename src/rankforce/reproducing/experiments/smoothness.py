"""How smooth NDCG is along a weight, for more and more queries."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.diagnostics.weight_profiles import smoothness
from rankforce.rankers.lambdarank import LambdaRank
from rankforce.reproducing.data_sets import artificial_queries, web_like_queries
from rankforce.reproducing.drawing import curves, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.net_comparison import HIDDEN
from rankforce.reproducing.papers import WEB_SEARCH
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, each_seed

ORDER = 5
MAKERS = {"artificial": artificial_queries, "web": web_like_queries}


class SmoothnessOfNDCG(Experiment):
    name = "smoothness"
    paper = WEB_SEARCH
    place = "slides Smoothness Tests, Two Layers, Zoom In"
    title = "NDCG along one weight, for growing numbers of queries"
    found = "Steps for 100 queries, a rough curve for 1,000, a smooth one for 10,000, with one layer and with two."
    data = "the paper's artificial data, and generated data with the kinds of features of web data"
    paper_size = {"queries": "100, 1,000 and 10,000", "documents per query": "not said"}
    figsize = (8.0, 5.0)
    revised = (
        "the rule took the way up and down over the span for roughness, which calls a staircase of few steps "
        "smooth. By it ratios were 0.56, 1.13 and 0.68 for one layer (not told) and 0.71, 0.59 and 0.66 for two: it "
        "differed. Now it is the largest step. By it, with 30, 300 and 3,000 queries, one layer agreed (1.54, 1.85 and "
        "1.96) and two could not be told (2.09, 2.2 and 0.70); now the numbers of queries are the paper's."
    )
    sizes = {
        "tiny": Size(seeds=1, minutes=0.02, queries=(5, 20, 40), documents=8, features=4, epochs=2, points=21),
        "quick": Size(
            seeds=3, minutes=0.3, queries=(100, 1000, 10_000), documents=20, features=10, epochs=10, points=201
        ),
        "full": Size(
            seeds=3, minutes=20, queries=(100, 1000, 10_000), documents=50, features=50, epochs=20, points=401
        ),
    }

    def parts(self, size: Size) -> Sequence[str]:
        return tuple(MAKERS)

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        data = MAKERS[part](max(size.queries), size.documents, size.features, seed)
        rows: list[Row] = []
        for layers, hidden in HIDDEN.items():
            ranker = LambdaRank("NDCG", hidden=hidden, epochs=size.epochs, seed=seed, progress=False).fit(data)
            found = smoothness(ranker, data, "NDCG", weight=0, queries=size.queries, points=size.points, seed=seed)
            drawn = np.linspace(0, size.points - 1, min(size.points, 101)).astype(int)
            for count, curve in found.curves.items():
                rows.append(
                    {"kind": "mean", "arm": layers, "measure": f"{count:,} queries", "count": count}
                    | {"value": largest_step(curve), "roughness": found.roughness(count), "turns": found.turns(count)}
                )
                rows += [
                    {"kind": "curve", "arm": f"{count:,} queries", "layers": layers, "x": float(found.positions[place])}
                    | {"value": float(curve[place])}
                    for place in drawn
                    if seed == 0
                ]
        return rows

    def claims(self) -> Sequence[Claim]:
        return [
            each_seed(f"{layers}: the more queries, the smoother", functools.partial(falling, layers),
                      what=f"smallest ratio of the largest step, from queries to ten times as many, {layers}",
                      least=1.0)
            for layers in HIDDEN
        ]  # fmt: skip

    def draw(self, rows: Rows, figure: Any) -> None:
        grid = figure.subplots(2, 2)
        for line, part in zip(grid, MAKERS, strict=True):
            for axes, layers in zip(line, HIDDEN, strict=True):
                mine = rows.where(kind="curve", part=part, layers=layers)
                curves(panel(axes, f"{part}, {layers}", "weight", "NDCG"), mine, "x", "arm", marker="")
        grid[0][0].legend(frameon=False, fontsize=7)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return {
            "queries": ", ".join(f"{count:,}" for count in size.queries), "documents per query": str(size.documents),
        }  # fmt: skip

    def tables(self, rows: Rows) -> Sequence[tuple[str, Rows]]:
        return [
            (f"{part} data: the largest step of the curve as a share of its span", rows.where(kind="mean", part=part))
            for part in MAKERS
        ]


def largest_step(curve: np.ndarray) -> float:
    """Between two neighbouring points, as a share of the curve's span: 1 for a single step, small for a smooth hill."""
    span = float(np.ptp(curve))
    return float(np.abs(np.diff(curve)).max()) / span if span > 0 else 0.0


def falling(layers: str, rows: Rows) -> float:
    ratios = []
    for part in rows.distinct("part"):
        values = rows.values(kind="mean", arm=layers, part=part)
        ratios += list(values[:-1] / values[1:])
    return float(min(ratios))
