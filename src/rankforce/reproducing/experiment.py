"""What an experiment declares: a place in a paper, sizes, one seed's work, rules for the verdict, a figure."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rankforce.reproducing.data_sets import Parts
from rankforce.reproducing.papers import Paper
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim


class Size:
    """How large an experiment is: its seeds, the minutes that two cores take, and numbers of its own by name."""

    def __init__(self, *, seeds: int, minutes: float, **numbers: Any) -> None:
        self.seeds = seeds
        self.minutes = minutes
        self.numbers: Mapping[str, Any] = numbers

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "numbers":
            raise AttributeError(name)
        try:
            return self.numbers[name]
        except KeyError:
            raise AttributeError(f"this size has no {name}: {', '.join(self.numbers)}") from None


class Experiment(abc.ABC):
    """A table or a figure of a paper.

    Rows are mappings of names to numbers and words. Some columns have a meaning to rules and tables: ``kind``,
    ``arm`` (a ranker or a way to train), ``against`` (the arm that it is compared with), ``measure``, ``value``,
    ``deviation``, ``queries``. Columns ``seed`` and ``part`` are added.
    """

    name: ClassVar[str]  # as it is typed
    paper: ClassVar[Paper]
    place: ClassVar[str]  # in the paper
    title: ClassVar[str]  # what is measured, in a few words
    found: ClassVar[str]  # what the paper found
    published: ClassVar[Sequence[Row]] = ()  # numbers of the paper
    data: ClassVar[str]  # what data is used here
    paper_size: ClassVar[Mapping[str, str]]  # by the names of ``size_in_words``
    remarks: ClassVar[str] = ""  # what is done otherwise than in the paper, and why
    revised: ClassVar[str] = ""  # what was changed after results had been seen, and what they were before
    sizes: ClassVar[Mapping[str, Size]]  # "tiny" (for tests), "quick" and "full"
    figsize: ClassVar[tuple[float, float]] = (7.0, 3.6)
    real: ClassVar[Sequence[str]] = ()  # data of ``real_data.REAL`` that it is also run on, where it is at hand

    def parts(self, size: Size) -> Sequence[str]:
        """The work of one seed in parts: each is run, and kept, by itself."""
        return ("all",)

    @abc.abstractmethod
    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        """One part of the work of one seed."""

    def run_fold(self, fold: Parts, number: int, size: Size) -> list[Row]:
        """What ``run`` does, on one fold of real data; the number of the fold (from 0) stands for the seed."""
        raise NotImplementedError(f"{self.name} names real data: {', '.join(self.real)}")

    @abc.abstractmethod
    def claims(self) -> Sequence[Claim]:
        """What the paper claims, with the rules that decide whether the rows agree."""

    def claims_of_real_data(self) -> Sequence[Claim]:
        """What is asked of the rows of one set of real data: as a rule the same."""
        return self.claims()

    @abc.abstractmethod
    def draw(self, rows: Rows, figure: Any) -> None:
        """The figure."""

    @abc.abstractmethod
    def size_in_words(self, size: Size) -> Mapping[str, str]:
        """The size of a run under the names of ``paper_size``."""

    def tables(self, rows: Rows) -> Sequence[tuple[str, Rows]]:
        """What the page shows: titles and rows of kind "mean", one table each, arms by measures."""
        return (("", rows.where(kind="mean")),)

    def tables_of_real_data(self, rows: Rows) -> Sequence[tuple[str, Rows]]:
        """As ``tables``, of the rows of one set of real data."""
        return self.tables(rows)
