"""What a λ-function is: how hard the documents of a query are pulled up or down, at given scores.

One of the pairwise kind (``Cost``) says how hard a pair i ▷ j (i has the better label) is pulled apart, from the gap
of their scores and from the change of the measure if they swapped ranks. The better document gets +force (it should
move up), the worse one −force. Both get +curvature, minus the slope of the force with the gap: what Newton's step
divides by. One of the listwise kind (``lambdas/listwise.py``) sees the whole ranking.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from rankforce.compiling.kernel_values import NO_CUTOFF, KernelValue, python_only
from rankforce.errors import SettingsError
from rankforce.kinds import Number
from rankforce.written_forms import name_of


class LambdaFunction(KernelValue):
    """Base of all λ-functions.

    ``diagonal`` is the α of an optional term that holds every score back: λ_j − α·s_j, curvature + α. With it the
    forces of a query no longer sum to zero: that is its purpose, the scores as a whole are pulled to 0 and the Hessian
    gets α on its diagonal. It counts share × query weight × document weight, on every document that the measure sees.
    """

    PYTHON_SIDE: ClassVar[frozenset[str]] = frozenset({"check", "kernel_tuple", "written_form", "require"})
    ALIASES: ClassVar[tuple[str, ...]] = ()  # other names under which ``rf.cost`` reads it
    HAS_CURVATURE: ClassVar[bool] = True  # without a positive curvature there is no Newton step

    diagonal: float = python_only(0.0)

    def check(self) -> None:
        Number(0.0).check(f"{type(self).__name__}: diagonal", self.diagonal)

    def require(self, name: str) -> None:
        """Raise unless the field ``name`` is positive and finite."""
        value = getattr(self, name)
        if not 0 < value < np.inf:
            raise SettingsError(f"{type(self).__name__}: {name} must be positive, not {value!r}")

    def written_form(self) -> str:
        """``NAME(parameter=value,...)``, the inverse of ``rf.cost``; ``diagonal`` is written if it is not 0."""
        shown = [
            f"{field.name}={_written(getattr(self, field.name))}"
            for field in dataclasses.fields(self)
            if field.repr and not (field.name == "diagonal" and self.diagonal == 0)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __repr__(self) -> str:
        return self.written_form()

    def __str__(self) -> str:
        return self.written_form()


def _written(value: Any) -> str:
    return name_of(value) if callable(value) else repr(value)


class Cost(LambdaFunction):
    """Base of all pairwise λ-functions. A subclass gives ``pair_of_gap``; the rest makes it faster.

    Methods called in kernels:

    ``pair_of_gap(gap, change, normaliser) -> (force, curvature)``
        The definition. ``gap`` is the better document's score minus the worse one's, ``change`` is |ΔZ|, the absolute
        change of the measure if the two swapped ranks, ``normaliser`` the query's (ΔẐ = ΔZ × normaliser).
    ``coordinate(score, top)`` and ``pair(better, worse, gap, change, normaliser)``
        The same from a number that is computed once per document: for the logistic family e^{σ(score − top)}, so
        that no exponential is left in the pair loop. ``top`` is the query's highest score.
    ``widest()``
        The widest range of scores within a query for which coordinates serve; beyond it ``pair_of_gap`` is used.
    """

    REQUIRED: ClassVar[tuple[str, ...]] = ("pair_of_gap",)

    @property
    def reach(self) -> int:
        """Only pairs at most so many ranks apart are pulled. A subclass that acts nearby overrides this."""
        return NO_CUTOFF

    def coordinate(self: Any, score: Any, top: Any) -> Any:
        return score - top

    def pair(self: Any, better: Any, worse: Any, gap: Any, change: Any, normaliser: Any) -> Any:
        return self.pair_of_gap(gap, change, normaliser)

    def widest(self: Any) -> Any:
        return 1e300
