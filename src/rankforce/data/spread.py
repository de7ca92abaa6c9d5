"""Data whose documents are in other processes: whoever would look at them hands over what is to be done."""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Iterator
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.errors import DataError

Given = ParamSpec("Given")
R = TypeVar("R")
TAKES_SPREAD = "takes_spread_data"  # a mark of methods


class SpreadData(abc.ABC):
    """Documents in several processes, every query in one of them."""

    @abc.abstractmethod
    def train(self, ranker: Any, *given: Any, **inputs: Any) -> None:
        """Fit the ranker where the documents are: what ``fit`` was given beside the data, and leaves."""

    @abc.abstractmethod
    def scored(self, ranking: Any) -> tuple[np.ndarray, Dataset]:
        """The scores of a ranking, computed where the documents are, and labels, queries and weights: here, by row."""

    @abc.abstractmethod
    def without_values(self) -> Dataset:
        """Labels, queries and weights of all documents, here, by row: the data without features."""

    @abc.abstractmethod
    def split(self, *shares: float, seed: int = 0) -> tuple[Any, ...]:
        """As ``Dataset.split``, the same queries: parts stay where they are."""

    @abc.abstractmethod
    def folds(self, count: int = 5, seed: int = 0) -> Iterator[tuple[Any, Any]]:
        """As ``Dataset.folds``, the same queries: parts stay where they are."""

    @property
    @abc.abstractmethod
    def fingerprint(self) -> str:
        """As of the data set of the same rows."""

    @abc.abstractmethod
    def close(self) -> None:
        """Let the processes give up what they hold; what is used again is read again."""

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

    vars(fitted)[TAKES_SPREAD] = True
    return fitted


def check_takes_spread(ranker: Any, name: str) -> None:
    """Raise unless the ranker, called ``name``, can learn where the documents are."""
    if not any(TAKES_SPREAD in getattr(vars(kind).get("fit"), "__dict__", {}) for kind in type(ranker).__mro__):
        refuse_spread(name)


def bare_data(data: Any) -> Any:
    """A data set as it is; of one whose documents are elsewhere, labels, queries and weights."""
    return data.without_values() if isinstance(data, SpreadData) else data


def refuse_spread(what: str) -> NoReturn:
    """Say that something needs the documents themselves."""
    raise DataError(
        f"{what} needs all documents in one process, and these are shared by several: data.collect() brings them here"
    )
