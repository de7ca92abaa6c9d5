"""ERR never rises when a better document moves down, and its change needs no cubic time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.data.random_streams import Stream
from rankforce.measures.expected_reciprocal_rank import ERR
from rankforce.reproducing.drawing import panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.papers import OVERVIEW
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, each_seed

ORDER = 2
TRAINED_LOWEST, TRAINED_ERROR = "smallest drop, swap of training", "largest error, swap of training"


class ERRConsistency(Experiment):
    name = "err-consistency"
    paper = OVERVIEW
    place = "Section 3"
    title = "The change of ERR when two documents swap"
    found = (
        "If the upper of two documents is the better, swapping them never raises ERR, whatever stands between them; "
        "and all swaps of a list take quadratic time, by running products."
    )
    data = "random lists of grades 0 to 4"
    paper_size = {"lists": "a proof"}
    remarks = (
        "the change is computed here by the paper's three steps, and by ERR before and after, in a few lines of this "
        "experiment's own; and by the swap that rankforce trains with, which has another form: it divides no "
        "differences, and so keeps its digits where a reader nearly always stops."
    )
    revised = (
        "the two claims on the swap that rankforce trains with are later than the others; nothing of it had been "
        "recorded."
    )
    figsize = (5.5, 3.2)
    sizes = {
        "tiny": Size(seeds=1, minutes=0.01, lists=5, longest=8),
        "quick": Size(seeds=3, minutes=0.02, lists=100, longest=20),
        "full": Size(seeds=5, minutes=2, lists=2000, longest=40),
    }

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        random = Stream.EXPERIMENT_LISTS.generator(seed)
        lowest, error, trained_lowest, trained_error = np.inf, 0.0, np.inf, 0.0
        rows: list[Row] = []
        for number in range(size.lists):
            grades = random.integers(0, 5, int(random.integers(2, size.longest + 1)))
            stops = (2.0**grades - 1.0) / 16.0
            before = err(stops)
            trained = drops_in_training(grades)
            for i in range(len(stops)):
                for j in range(i + 1, len(stops)):
                    if stops[i] > stops[j]:
                        swapped = stops.copy()
                        swapped[[i, j]] = swapped[[j, i]]
                        drop = before - err(swapped)
                        lowest = min(lowest, drop)
                        error = max(error, abs(drop - drop_by_products(stops, i, j)))
                        trained_lowest = min(trained_lowest, trained[i, j])
                        trained_error = max(trained_error, abs(drop - trained[i, j]))
                        if number < 20 and seed == 0:
                            rows.append({"kind": "swap", "arm": "swap", "distance": j - i, "value": drop})
        for name, value in (
            ("smallest drop", lowest), ("largest error of the formula", error),
            (TRAINED_LOWEST, trained_lowest), (TRAINED_ERROR, trained_error),
        ):  # fmt: skip
            rows.append({"kind": "mean", "arm": name, "measure": "ERR", "value": float(value)})
        return rows

    def claims(self) -> Sequence[Claim]:
        return [
            each_seed("a swap that puts the better document below never raises ERR",
                      lambda rows: rows.mean(arm="smallest drop"), what="smallest drop", least=0.0, form=".3e"),
            each_seed("the three steps give the change", lambda rows: rows.mean(arm="largest error of the formula"),
                      what="largest error", most=1e-12, form=".1e"),
            each_seed("by the swap that rankforce trains with it never rises either",
                      lambda rows: rows.mean(arm=TRAINED_LOWEST), what="smallest drop by that swap", least=0.0,
                      form=".3e"),
            each_seed("that swap is the change", lambda rows: rows.mean(arm=TRAINED_ERROR),
                      what="largest error of that swap", most=1e-12, form=".1e"),
        ]  # fmt: skip

    def draw(self, rows: Rows, figure: Any) -> None:
        axes = panel(figure.subplots(), "", "ranks between the two", "drop of ERR")
        swaps = rows.where(kind="swap")
        distances = sorted(swaps.distinct("distance"))
        for heights, label in (("max", "largest"), ("mean", "mean"), ("min", "smallest")):
            values = [getattr(np, heights)(swaps.values(distance=one)) for one in distances]
            axes.plot(distances, values, marker="o", markersize=3, label=label)
        axes.legend(frameon=False, fontsize=8)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return {"lists": f"{size.lists:,} of up to {size.longest} documents"}


def err(stops: np.ndarray) -> float:
    """Σ_r (1/r) R_r Π_{i<r} (1 − R_i)."""
    total, reading = 0.0, 1.0
    for rank, stop in enumerate(stops, start=1):
        total += reading * stop / rank
        reading *= 1.0 - stop
    return total


def drop_by_products(stops: np.ndarray, i: int, j: int) -> float:
    """The paper's three steps, from running products and ERR cut at every rank; i < j count from 0."""
    goes_on = 1.0 - stops
    products = np.concatenate([[1.0], np.cumprod(goes_on)])  # products[k] is π_k
    cut = np.array([err(stops[:k]) for k in range(len(stops) + 1)])
    drop = products[i] * (stops[i] - stops[j]) / (i + 1)
    drop += (goes_on[i] - goes_on[j]) * (cut[j] - cut[i + 1]) / goes_on[i]
    drop += products[j] / (j + 1) * (stops[j] - goes_on[j] * stops[i] / goes_on[i])
    return float(drop)


def drops_in_training(grades: np.ndarray) -> np.ndarray:
    """Minus the change of ERR under every swap, as training computes it; row and column are ranks from 0."""
    measure = ERR()
    worth = measure.worth(grades.astype(np.float64))
    kernel = measure.kernel_tuple()
    columns = np.empty((measure.COLUMNS, len(worth)))
    kernel.prepare(worth, kernel.normaliser(-np.sort(-worth)), columns)
    documents = [tuple(column) for column in columns.T.tolist()]
    return np.array([[-kernel.swap_delta(a, b) for b in documents] for a in documents])
