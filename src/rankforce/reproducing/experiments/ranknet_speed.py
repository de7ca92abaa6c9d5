"""RankNet's speed-up: forces summed per document before the backward pass, against a backward pass per pair."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.rankers.ranknet import RankNet
from rankforce.reproducing.data_sets import queries_in_words, web_like
from rankforce.reproducing.drawing import colour, legend, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.net_comparison import HIDDEN
from rankforce.reproducing.papers import NONSMOOTH
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, each_seed

ORDER = 1
WAYS = {"per pair": "pair", "per document": "query"}
FACTORS = {"linear": 5.1, "two layers": 8.0}  # of the paper


class RankNetSpeed(Experiment):
    name = "ranknet-speed"
    paper = NONSMOOTH
    place = "Figure 1, left, and Section 6.1"
    title = "RankNet: validation NDCG against seconds, gradients per pair and per document"
    found = (
        "Summing the forces on a document first is 5.1 times as fast for one layer and 8.0 times for two, and learns "
        "as much in an epoch."
    )
    published = [{"arm": "speed-up", "measure": layers, "value": factor} for layers, factor in FACTORS.items()]
    data = "generated with the kinds of features of web data"
    paper_size = {
        "queries (train / validation)": "1,000 / not said", "documents per query": "26.1 in the mean",
        "features": "367", "hidden units": "10",
    }  # fmt: skip
    remarks = "per pair, weights are updated after every pair; the paper says that this takes as long as per query."
    revised = (
        "seconds were those of the clock, on a busy machine: 19 to 49 times as fast for one layer, 10 to 13 for "
        "two. Now they are those of the processor. The verdict was the same."
    )
    sizes = {
        "tiny": Size(seeds=1, minutes=0.02, queries=(20, 15, 1), documents=(8, 16), features=10, epochs=2, rate=1e-4),
        "quick": Size(seeds=3, minutes=0.08, queries=(200, 100, 1), documents=(13, 39), features=150, epochs=8,
                      rate=1e-4),
        "full": Size(seeds=3, minutes=15, queries=(1000, 500, 1), documents=(13, 39), features=367, epochs=30,
                     rate=1e-4),
    }  # fmt: skip

    def parts(self, size: Size) -> Sequence[str]:
        return tuple(HIDDEN)

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        data = web_like(size.queries, size.documents, size.features, seed)
        rows: list[Row] = []
        for way, update in WAYS.items():
            ranker = RankNet(
                hidden=HIDDEN[part], update=update, optimiser="gradient", learning_rate=size.rate, epochs=size.epochs,  # type: ignore[arg-type]
                validation_measure="NDCG", seed=seed, progress=False,
            )  # fmt: skip
            ranker.unfitted().fit(data.train.take_queries(range(2)), validation=data.valid)  # compiles
            stamps = [time.process_time()]  # of this process alone: others may run beside it
            ranker.fit(data.train, validation=data.valid, callbacks=[functools.partial(_stamp, stamps)])
            best = np.maximum.accumulate(ranker.history_["validation"])
            for epoch, (stamp, value) in enumerate(zip(stamps[1:], best, strict=True), start=1):
                rows.append(
                    {"kind": "epoch", "arm": way, "layers": part, "epoch": epoch, "seconds": stamp - stamps[0]}
                    | {"value": float(value)}
                )
        return rows

    def claims(self) -> Sequence[Claim]:
        speed = [
            each_seed(
                f"{layers}: {factor:g} times as fast",
                functools.partial(_speed_up_of, layers),
                what=f"seconds of an epoch per pair over those per document, {layers}",
                least=factor / 2,
            )
            for layers, factor in FACTORS.items()
        ]
        return [
            *speed,
            each_seed(
                "an epoch learns as much either way",
                _unlike,
                what="difference of the best validation NDCG",
                most=0.02,
            ),
        ]  # fmt: skip

    def draw(self, rows: Rows, figure: Any) -> None:
        for axes, layers in zip(figure.subplots(1, 2), HIDDEN, strict=True):
            panel(
                axes,
                f"{layers}: {speed_up(rows.where(layers=layers)):.1f} times as fast",
                "seconds of the processor",
                "best NDCG",
            )
            for number, way in enumerate(WAYS):
                for seed in rows.distinct("seed"):
                    mine = rows.where(layers=layers, arm=way, seed=seed)
                    axes.plot(
                        mine.values("seconds"), mine.values(), color=colour(number), marker="o", markersize=3,
                        linewidth=1.0, label=way if seed == 0 else None,
                    )  # fmt: skip
            axes.set_xscale("log")
            legend(axes)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return {
            "queries (train / validation)": queries_in_words(size.queries[:2]),
            "documents per query": f"{size.documents[0]} to {size.documents[1]}",
            "features": str(size.features), "hidden units": "10", "epochs": str(size.epochs),
        }  # fmt: skip

    def tables(self, rows: Rows) -> Sequence[tuple[str, Rows]]:
        found = [
            {"arm": "speed-up", "measure": layers, "value": speed_up(rows.where(layers=layers))} for layers in HIDDEN
        ]
        return (("", Rows(found)),)


def _stamp(stamps: list[float], _: Any) -> None:
    stamps.append(time.process_time())


def speed_up(rows: Rows) -> float:
    """Seconds of an epoch per pair over those per document; the first epoch may still load kernels."""
    return _per_epoch(rows.where(arm="per pair")) / _per_epoch(rows.where(arm="per document"))


def _speed_up_of(layers: str, rows: Rows) -> float:
    return speed_up(rows.where(layers=layers))


def _per_epoch(rows: Rows) -> float:
    spans = []
    for seed in rows.distinct("seed"):
        stamps = rows.values("seconds", seed=seed)
        spans.append((stamps[-1] - stamps[0]) / (len(stamps) - 1))
    return float(np.mean(spans))


def _unlike(rows: Rows) -> float:
    ways = ("per document", "per pair")
    return max(abs(last_value(rows, one, ways[0]) - last_value(rows, one, ways[1])) for one in HIDDEN)


def last_value(rows: Rows, layers: str, way: str) -> float:
    return float(rows.values(layers=layers, arm=way)[-1])
