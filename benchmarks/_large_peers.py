"""LightGBM and XGBoost on data that is made in blocks: what ``papers_size.py --peer`` runs in a process of its own.

LightGBM bins a ``Sequence``, whose rows it asks for, first some of them, then all, in batches. XGBoost's
``ExtMemQuantileDMatrix`` goes over the blocks for its sketch and again for the bins, which it keeps in files.
"""

from __future__ import annotations

import dataclasses
import json
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

LEAVES = 31
THREADS = 2


@dataclasses.dataclass
class Made:
    """Data in blocks of whole queries: ``block(number)`` is a data set; counts the seconds that making it takes."""

    block: Callable[[int], Any]
    blocks: int
    rows: int  # of a block
    features: int
    per_query: int
    seconds: float = 0.0
    _last: tuple[int, Any] = (-1, None)

    @property
    def documents(self) -> int:
        return self.blocks * self.rows

    def get(self, number: int) -> Any:
        if self._last[0] != number:
            began = time.perf_counter()
            self._last = (-1, None)  # two blocks are never in memory
            self._last = (number, self.block(number))
            self.seconds += time.perf_counter() - began
        return self._last[1]


def lightgbm_peer(made: Made, trees: int, folder: Path) -> None:
    import lightgbm

    grades = np.full(made.documents, np.nan, dtype=np.float32)

    class Rows(lightgbm.Sequence):
        batch_size = max(1, made.rows // 8)  # they are copied as float64

        def __len__(self) -> int:
            return made.documents

        def __getitem__(self, asked: Any) -> np.ndarray:
            if isinstance(asked, slice):
                first, last, _ = asked.indices(made.documents)
                number = first // made.rows
                begin = first - number * made.rows
                rows = self._features(number)[begin : begin + last - first]
                if len(rows) < last - first:  # goes on in the next block
                    rows = np.concatenate([rows, self[first + len(rows) : last]])
                return rows
            if isinstance(asked, list):
                return np.stack([self[one] for one in asked])
            return self._features(int(asked) // made.rows)[int(asked) % made.rows].astype(np.float64)  # as it wants it

        def _features(self, number: int) -> np.ndarray:
            block = made.get(number)
            grades[number * made.rows : (number + 1) * made.rows] = block.label("grades")
            return block.features

    began = time.perf_counter()
    # by columns: rows beside them, which it would try otherwise, are as large again
    settings = {"max_bin": 255, "num_threads": THREADS, "verbosity": -1, "force_col_wise": True}
    group = np.full(made.documents // made.per_query, made.per_query)
    train = lightgbm.Dataset(Rows(), label=np.zeros(made.documents), group=group, params=settings).construct()
    assert not np.isnan(grades).any(), "a block was never asked for"
    train.set_label(grades)
    _tell(construction=time.perf_counter() - began, making=made.seconds)
    moments = [time.perf_counter()]
    lightgbm.train(
        settings | {"objective": "lambdarank", "num_leaves": LEAVES, "learning_rate": 0.1},
        train,
        trees,
        callbacks=[lambda _: moments.append(time.perf_counter())],
    )
    _tell(per_tree=float(np.median(np.diff(moments)[1:])))


def xgboost_peer(made: Made, trees: int, folder: Path) -> None:
    import xgboost

    class Blocks(xgboost.DataIter):
        def __init__(self) -> None:
            self.number = 0
            super().__init__(cache_prefix=str(folder / "cache"))

        def next(self, input_data: Callable[..., Any]) -> bool:
            if self.number == made.blocks:
                return False
            block = made.get(self.number)
            input_data(data=block.features, label=block.label("grades"), qid=block.qid)
            self.number += 1
            return True

        def reset(self) -> None:
            self.number = 0

    began = time.perf_counter()
    train = xgboost.ExtMemQuantileDMatrix(Blocks(), max_bin=255, nthread=THREADS)
    _tell(construction=time.perf_counter() - began, making=made.seconds, on_disk=_size_of(folder))
    settings = {
        "objective": "rank:ndcg", "tree_method": "hist", "grow_policy": "lossguide", "max_leaves": LEAVES,
        "max_depth": 0, "max_bin": 255, "nthread": THREADS, "eta": 0.1, "verbosity": 0,
    }  # fmt: skip
    booster = xgboost.Booster(settings, [train])
    seconds = []
    for tree in range(trees):
        started = time.perf_counter()
        booster.update(train, tree)
        seconds.append(time.perf_counter() - started)
    _tell(per_tree=float(np.median(seconds[1:])))


PEERS: dict[str, Callable[[Made, int, Path], None]] = {"lightgbm": lightgbm_peer, "xgboost": xgboost_peer}


def in_this_process(peer: str, made: Made, trees: int, folder: Path, limit: float | None) -> None:
    """Train, and print what is measured as lines of JSON; memory beyond ``limit`` GB cannot be had."""
    if limit is not None:
        most = int(limit * 1e9)
        # data, not address space: files that are mapped, which the system can take back, do not count
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    PEERS[peer](made, trees, folder)


def _tell(**measured: float) -> None:
    print(json.dumps(measured), flush=True)


def _size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
