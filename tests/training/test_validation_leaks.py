"""Validation queries that are training queries are told, and no others."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import rankforce as rf
from rankforce.training.inputs import as_validation
from rankforce.training.validation_leaks import SharedQueriesWarning


def made(ids: Sequence[Any] | None, seed: int = 0, queries: int = 4) -> rf.Dataset:
    dice = np.random.default_rng(seed)
    named: dict[str, Any] = {"group": [2] * queries} if ids is None else {"qid": np.repeat(np.array(ids), 2)}
    return rf.Dataset(dice.random((2 * queries, 3)), [0, 1] * queries, **named)


def told(held_out: Any, data: rf.Dataset) -> str | None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        as_validation(held_out, data)
    messages = [str(one.message) for one in caught if issubclass(one.category, SharedQueriesWarning)]
    assert len(messages) <= 1
    return messages[0] if messages else None


def test_the_training_data_itself_is_told() -> None:
    data = made(None)
    assert str(told(data, data)).startswith("all 4 queries of the validation data are in the training data")


def test_shared_ids_are_counted() -> None:
    message = told(made([7, 8, 30, 40], seed=1), made([7, 8, 9, 10]))
    assert str(message).startswith("2 of 4 queries of the validation data")


def test_texts_are_ids_too() -> None:
    assert told(made(["shoes", "a", "b", "c"], seed=1), made(["shoes", "d", "e", "f"])) is not None
    assert told(made(["g", "a", "b", "c"], seed=1), made(["shoes", "d", "e", "f"])) is None


@pytest.mark.parametrize("ids", [None, [0, 1, 2, 3], [1, 2, 3, 4]])
def test_numbers_that_count_queries_are_no_names(ids: Sequence[int] | None) -> None:
    assert told(made(ids, seed=1), made(ids)) is None
    assert told(made(ids), made(ids)) is not None


def test_folds_and_parts_share_nothing() -> None:
    data = made(None, queries=20)
    train, held_out = data.split(0.5, 0.5, seed=1)
    assert told(held_out, train) is None


def test_fit_warns() -> None:
    data = made([5, 6, 7, 9])
    with pytest.warns(SharedQueriesWarning, match="all 4 queries"):
        rf.LambdaMART(n_trees=1, n_leaves=2, min_documents=1, progress=False).fit(data, validation=data)
