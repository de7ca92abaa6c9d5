"""Data whose documents are in other processes: whoever would look at them hands over what is to be done."""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.errors import DataError

Given = ParamSpec("Given")
R = TypeVar("R")


class SpreadData(abc.ABC):
    """Documents in several processes, every query in one of them."""

    @abc.abstractmethod
    def train(self, ranker: Any, *given: Any, **inputs: Any) -> None:
        """Fit the ranker where the documents are: what ``fit`` was given beside the data, and leaves."""

    @abc.abstractmethod
    def scored(self, ranking: Any) -> tuple[np.ndarray, Dataset]:
        """The scores of a ranking, computed where the documents are, and labels, queries and weights: here, by row."""

    @abc.abstractmethod
    def collect(self) -> Dataset:
        """All documents, here."""


def trained_where_data_is(fit: Callable[Concatenate[R, Any, Given], R]) -> Callable[Concatenate[R, Any, Given], R]:
    """A method ``fit`` that lets data train the ranker which cannot be brought to it."""

    @functools.wraps(fit)
    def fitted(self: R, X: Any, *given: Given.args, **inputs: Given.kwargs) -> R:
        if isinstance(X, SpreadData):
            X.train(self, *given, **inputs)
            return self
        return fit(self, X, *given, **inputs)

    return fitted


def refuse_spread(what: str) -> NoReturn:
    """Say that something needs the documents themselves."""
    raise DataError(
        f"{what} needs all documents in one process, and these are shared by several: data.collect() brings them here"
    )
