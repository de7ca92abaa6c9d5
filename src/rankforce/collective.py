"""What crosses processes that train one model together, each on its own queries.

Everything that a training decides from all queries goes through here, as a sum or maximum of integers, an exact sum of
floats, or a set: none depends on who has which query, or on how many take part. Everything else is computed query by
query by the process that has it, or by every process alike from the same numbers.

Alone, which is the default, nothing is exchanged and nothing is copied. ``using_collective`` puts another collective in
force; every member must then make the same calls in the same order.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Protocol, SupportsInt

import numpy as np

from rankforce.errors import RankforceError
from rankforce.exact_sums import ExactSum

_SAID, _REFUSED = b"\0", b"\1"  # what an answer of the first member begins with


class Collective(Protocol):
    """Processes (or threads) that exchange integers and bytes. Arrays are int64 and equally long everywhere."""

    rank: int
    size: int

    def add(self, values: np.ndarray) -> np.ndarray:
        """The sum of everybody's arrays, element by element; a new array, or the one given."""
        ...

    def scatter_add(self, values: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """The elements from ``edges[rank]`` to ``edges[rank + 1]`` of the sum; ``values`` may be overwritten."""
        ...

    def all_to_all(self, values: np.ndarray, edges: np.ndarray, came: np.ndarray, places: np.ndarray) -> None:
        """Give member m the ``values`` (uint32) from ``edges[m]`` on; have what it gave in ``came`` from ``places[m]``.

        Both end where those of the next member begin: how much will come must be known.
        """
        ...

    def highest(self, values: np.ndarray) -> np.ndarray:
        """The maximum of everybody's arrays, element by element."""
        ...

    def gather(self, content: bytes) -> list[bytes]:
        """What everybody gave, by rank."""
        ...


class Alone:
    """The collective of one: everything is what it was."""

    rank = 0
    size = 1

    def add(self, values: np.ndarray) -> np.ndarray:
        return values

    def scatter_add(self, values: np.ndarray, edges: np.ndarray) -> np.ndarray:
        return values[edges[0] : edges[1]]

    def all_to_all(self, values: np.ndarray, edges: np.ndarray, came: np.ndarray, places: np.ndarray) -> None:
        came[places[0] : places[1]] = values[edges[0] : edges[1]]

    def highest(self, values: np.ndarray) -> np.ndarray:
        return values

    def gather(self, content: bytes) -> list[bytes]:
        return [content]


ALONE = Alone()
_collective: ContextVar[Collective] = ContextVar("rankforce_collective", default=ALONE)


def collective() -> Collective:
    """The collective in force."""
    return _collective.get()


def alone() -> bool:
    """Whether nobody else takes part."""
    return _collective.get().size == 1


def is_first() -> bool:
    """Whether this member is the one who writes files and shows progress; alone it is."""
    return _collective.get().rank == 0


@contextlib.contextmanager
def using_collective(members: Collective) -> Iterator[None]:
    """Train together with these members inside the block."""
    token = _collective.set(members)
    try:
        yield
    finally:
        _collective.reset(token)


def totals(*counts: SupportsInt) -> list[int]:
    """The sums of everybody's whole numbers, below 2^63 in magnitude."""
    return list(map(int, counts)) if alone() else collective().add(np.array(counts, dtype=np.int64)).tolist()


def total(count: SupportsInt) -> int:
    """The sum of everybody's whole number."""
    return totals(count)[0]


def highest(*values: int) -> list[int]:
    """The largest of everybody's whole numbers, place by place."""
    return list(map(int, values)) if alone() else collective().highest(np.array(values, dtype=np.int64)).tolist()


def anybody(truth: bool) -> bool:
    """Whether it is true somewhere."""
    return bool(highest(int(truth))[0])


def everybody(truth: bool) -> bool:
    """Whether it is true everywhere."""
    return not anybody(not truth)


def first_says(answer: Callable[[], bytes]) -> bytes:
    """What the first member (rank 0) answers; nobody else is asked. Its RankforceError is everybody's."""
    if alone():
        return answer()
    said = b""
    if is_first():
        try:
            said = answer()
        except RankforceError as error:
            collective().gather(_REFUSED + str(error).encode())
            raise
        said = _SAID + said
    said = collective().gather(said)[0]
    if said.startswith(_REFUSED):
        raise RankforceError(said[1:].decode())
    return said[1:]


def exact_total(values: np.ndarray) -> float:
    """The sum of everybody's float64 numbers, rounded once: the same whoever has which of them.

    Alone that is ``math.fsum``, which is the sum rounded once, too.
    """
    if alone():
        return math.fsum(values.tolist())
    return ExactSum.from_parts(collective().add(ExactSum.of(values).parts)).rounded()


def union(values: np.ndarray) -> np.ndarray:
    """Everybody's different numbers of one dtype, rising; zero without a sign; NaN, once, last."""
    mine = np.unique(values) + 0
    if alone():
        return mine
    return np.unique(np.concatenate([np.frombuffer(one, mine.dtype) for one in collective().gather(mine.tobytes())]))


def gathered(values: np.ndarray) -> np.ndarray:
    """Everybody's rows of one dtype and width, those of rank 0 first."""
    if alone():
        return values
    parts = collective().gather(np.ascontiguousarray(values).tobytes())
    return np.concatenate([np.frombuffer(one, values.dtype).reshape(-1, *values.shape[1:]) for one in parts])
