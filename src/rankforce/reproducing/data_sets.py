"""Data of experiments: the papers' artificial data, stand-ins for data that nobody may publish, real data at hand."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rankforce.data.artificial.artificial import make_artificial
from rankforce.data.artificial.web_like import make_web_like
from rankforce.data.dataset import Dataset

VARIABLE = "RANKFORCE_DATA"  # the folder of real data


class Parts(NamedTuple):
    train: Dataset
    valid: Dataset
    test: Dataset


def artificial(queries: Sequence[int], documents: Any, features: int, seed: int, **more: Any) -> Parts:
    """Cubic polynomials of uniform features; every seed has a function, training, validation and test queries of its
    own."""
    made = make_artificial(sum(queries), documents, features, seed=seed, function_seed=seed, **more)
    return in_parts(made, queries)


def web_like(queries: Sequence[int], documents: Any, features: int, seed: int, **more: Any) -> Parts:
    """Counts, heavy tails and few-valued features that show hidden causes, every feature a little of one or two."""
    return in_parts(make_web_like(sum(queries), documents, features, seed=seed, function_seed=seed, **more), queries)


def artificial_queries(queries: int, documents: Any, features: int, seed: int, **more: Any) -> Dataset:
    """As ``artificial``, where nothing is held out."""
    return make_artificial(queries, documents, features, seed=seed, function_seed=seed, **more)


def web_like_queries(queries: int, documents: Any, features: int, seed: int) -> Dataset:
    """As ``web_like``, where nothing is held out."""
    return make_web_like(queries, documents, features, seed=seed, function_seed=seed)


def in_parts(data: Dataset, queries: Sequence[int]) -> Parts:
    """The first queries for training, the next for validation, the others for testing."""
    train, valid, _ = queries
    whole = range(data.n_queries)
    return Parts(
        *(data.take_queries(whole[a:b]) for a, b in ((0, train), (train, train + valid), (train + valid, None)))
    )


def real_folder(name: str) -> Path | None:
    """Where real data is: in the folder that the variable RANKFORCE_DATA names; None if it is not there."""
    folder = Path(os.environ.get(VARIABLE, "data")) / name
    return folder if folder.is_dir() else None


def queries_in_words(queries: Sequence[int]) -> str:
    return " / ".join(f"{count:,}" for count in queries)
