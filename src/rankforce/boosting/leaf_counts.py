"""How many leaves each tree may have: one number for all, one per tree, or a function of the tree's number."""

from __future__ import annotations

import dataclasses
from typing import Any

from rankforce.errors import SettingsError
from rankforce.kinds import Anything, FunctionOf, Several, Understood, Whole, shown

NAME = "n_leaves"  # of the setting
_COUNT = Whole(2)


@dataclasses.dataclass(frozen=True)
class LeafCounts:
    """The most leaves of each tree; the last number serves for all trees after it.

    Trees are counted from 0, as iterations of a schedule are; several trees of one round have the same number.
    """

    counts: tuple[int, ...]

    @classmethod
    def of(cls, given: Any, n_trees: int) -> LeafCounts:
        """What ``n_leaves`` says about ``n_trees`` trees. A function is asked once for each of them, in order."""
        check_leaf_counts(given)
        if callable(given):
            counts = [_answer(given, number) for number in range(n_trees)]
        else:
            counts = [int(count) for count in ([given] if _COUNT.is_one(given) else given)][:n_trees]
        while len(counts) > 1 and counts[-1] == counts[-2]:  # which the last of the rest serves for
            counts.pop()
        return cls(tuple(counts))

    def __call__(self, number: int) -> int:
        return self.counts[min(number, len(self.counts) - 1)]

    @property
    def most(self) -> int:
        """The largest number of all: what arrays that serve every tree are made for."""
        return max(self.counts)

    def written(self) -> int | list[int]:
        """As a file keeps it: one number where all are the same."""
        return self.counts[0] if len(self.counts) == 1 else list(self.counts)


def check_leaf_counts(given: Any) -> None:
    """Raise unless this says how many leaves trees may have; what a function says is checked when it is asked."""
    if Several(Anything()).holds(given):
        for number, count in enumerate(given):
            _COUNT.check(f"{NAME}[{number}], of tree {number + 1},", count)
    elif _COUNT.is_one(given):
        _COUNT.check(NAME, given)
    elif not FunctionOf(1).holds(given):
        raise SettingsError(
            f"{NAME} must be {_COUNT.wanted}, a list of such numbers (the last one serves for all trees after it) or a "
            f"function of a tree's number, from 0; not {shown(given)}"
        )


def _answer(function: Any, number: int) -> int:
    count = function(number)
    _COUNT.check(f"{NAME}({number}), of tree {number + 1},", count)
    return int(count)


def _read(text: str) -> Any:
    """A number, or several with commas."""
    read = Several(_COUNT).read(text)
    return read[0] if isinstance(read, list) and len(read) == 1 and not text.lstrip().startswith("[") else read


LEAF_COUNTS = Understood(check_leaf_counts, _read)
