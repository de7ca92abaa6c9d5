"""Real data that experiments are also run on, where it is at hand: in five folds, every query tested once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.data.files import read
from rankforce.data.fold_files import read_folds
from rankforce.reproducing.data_sets import Parts, real_folder

FOLDS = 5
MQ2008, MSLR, LIGHTGBM = "MQ2008", "MSLR sample", "LightGBM's example"
MSLR_CLICKS = "MSLR sample, clicks as labels"
CLICK_FEATURES = {"equal": 133, "similar": 134}  # places, from 0; the third, 135, is the time spent on a page


class RealData(NamedTuple):
    folder: str
    description: str
    folds: Callable[[Path], list[Parts]]


def letor_folds(folder: Path) -> list[Parts]:
    """Folds that come as files: 3 + 1 + 1 for training, validation and test."""
    found = []
    for fold in read_folds(folder):
        assert fold.validation is not None
        found.append(Parts(fold.train, fold.validation, fold.test))
    return found


def mslr_folds(folder: Path) -> list[Parts]:
    return folds_of(read(folder / "all.txt"))


def mslr_click_folds(folder: Path) -> list[Parts]:
    """The clicks on a page for this query, and those on it for any query, are labels and no features; neither is the
    time that was spent there. A label is log(1 + count), as a share of the largest.
    """
    data = read(folder / "all.txt")
    labels = {}
    for name, place in CLICK_FEATURES.items():
        counts = np.log1p(np.maximum(data.features[:, place].astype(np.float64), 0.0))
        labels[name] = counts / counts.max()
    others = data.features[:, : min(CLICK_FEATURES.values())]
    return folds_of(Dataset(others, data.labels["grades"], data.qid, labels=labels))


def lightgbm_folds(folder: Path) -> list[Parts]:
    """Training and test queries in one. The files have no query ids: a file beside each has the sizes of queries."""
    features, grades, sizes = [], [], []
    for part in ("train", "test"):
        for line in (folder / f"rank.{part}").read_text(encoding="ascii").splitlines():
            grade, *values = line.split()
            row = np.zeros(301, dtype=np.float32)
            for place, value in (one.split(":") for one in values):
                row[int(place)] = float(value)
            features.append(row)
            grades.append(float(grade))
        sizes += [int(size) for size in (folder / f"rank.{part}.query").read_text(encoding="ascii").split()]
    return folds_of(Dataset(np.array(features), np.array(grades), group=np.array(sizes)))


def folds_of(data: Dataset) -> list[Parts]:
    """Whole queries: a fifth for testing, the next for validation, the other three for training."""
    fifths = [test for _, test in data.folds(FOLDS, seed=0)]
    found = []
    for first in range(FOLDS):
        test, valid, *train = (fifths[(first + step) % FOLDS] for step in range(FOLDS))
        found.append(Parts(Dataset.concat(train), valid, test))
    return found


REAL: Mapping[str, RealData] = {
    MQ2008: RealData(
        "mq2008", "LETOR 4.0: 784 queries with 46 features and grades 0 to 2, in its own folds", letor_folds
    ),
    MSLR: RealData(
        "mslr-sample", "162 queries of MSLR-WEB with 136 features and grades 0 to 4, folded by query", mslr_folds
    ),
    MSLR_CLICKS: RealData(
        "mslr-sample",
        "the MSLR sample with 133 features: clicks for the query are the label of equal queries, clicks for any query "
        "that of similar ones, and neither is a feature",
        mslr_click_folds,
    ),
    LIGHTGBM: RealData(
        "lightgbm-example",
        "LightGBM's example of lambdarank: 251 queries with 300 sparse features and grades 0 to 4, its training and "
        "test queries together, folded by query",
        lightgbm_folds,
    ),
}


def at_hand(name: str) -> bool:
    return real_folder(REAL[name].folder) is not None


def folds_at_hand(name: str) -> list[Parts]:
    folder = real_folder(REAL[name].folder)
    assert folder is not None
    return _folds(name, folder)


@functools.lru_cache(maxsize=1)
def _folds(name: str, folder: Path) -> list[Parts]:
    return REAL[name].folds(folder)
