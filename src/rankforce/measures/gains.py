"""From labels to gains: exponential, linear, a table, or any function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.errors import MeasureError
from rankforce.kinds import FunctionOf, Number, Several, shown

Gain = str | tuple[float, ...] | Callable[[np.ndarray], Any]


def normalised_gain(gain: Any) -> Gain:
    """A gain as a hashable value: a word, a tuple (the table), or a function; lists and arrays become tuples."""
    if isinstance(gain, str):
        if gain not in ("exponential", "linear"):
            raise MeasureError(
                f"unknown gain {gain!r}: 'exponential' (2^label - 1), 'linear' (the label), "
                "a table with one gain per grade, or a function of an array of labels"
            )
        return gain
    if callable(gain):
        if not FunctionOf(1).holds(gain):
            raise MeasureError(f"a gain may be a function of an array of labels, which {shown(gain)} is not")
        return gain
    if not Several(Number()).holds(gain):
        raise MeasureError(f"a gain table needs one finite number per grade, not {shown(gain)}")
    return tuple(float(entry) for entry in gain)


def gains(labels: np.ndarray, gain: Gain, measure: str) -> np.ndarray:
    """The gain of every label; unlabelled documents and negative labels gain 0 (as in trec_eval)."""
    labelled = np.where(np.isnan(labels), 0.0, labels)
    if gain == "exponential":
        with np.errstate(over="ignore"):
            result = np.exp2(np.maximum(labelled, 0.0)) - 1.0
        if not np.isfinite(result).all():
            worst = labelled.max()
            raise MeasureError(
                f"{measure}: the exponential gain of label {worst:g} is infinite; "
                "use a linear gain, NDCG(gain=linear), or a table, NDCG(gain=0/1/3)"
            )
        return result
    if gain == "linear":
        return np.maximum(labelled, 0.0)
    if isinstance(gain, tuple):
        grades = np.maximum(labelled, 0.0)
        index = grades.astype(np.int64)
        if (index != grades).any() or index.max(initial=0) >= len(gain):
            bad = grades[(index != grades) | (index >= len(gain))][0]
            raise MeasureError(
                f"{measure}: label {bad:g} has no entry in the gain table (grades 0 to {len(gain) - 1}); "
                "extend the table, or use gain=exponential or gain=linear"
            )
        result = np.asarray(gain, dtype=dtypes.WORTH)[index]
    else:
        assert callable(gain)
        result = _called(gain, labelled, measure)
        if result.shape != labels.shape:
            raise MeasureError(
                f"{measure}: the gain function returned shape {result.shape} for {labels.shape} labels: "
                "it must return one gain per label"
            )
    if not np.isfinite(result).all() or (result < 0).any():
        raise MeasureError(f"{measure}: gains must be finite and not negative")
    return np.where(np.isnan(labels), 0.0, result)


def _called(gain: Callable[[np.ndarray], Any], labels: np.ndarray, measure: str) -> np.ndarray:
    """What a user's function makes of the labels. Most that fail were written for one label."""
    try:
        return np.asarray(gain(labels), dtype=dtypes.WORTH)
    except Exception as error:
        raise MeasureError(
            f"{measure}: the gain function raised {type(error).__name__}: {error}. It is given an array of all labels "
            "and must return an array of their gains, as lambda labels: np.where(labels > 1, 2.0**labels, 0.0) does"
        ) from error
