"""λ-functions that need no pairs: the forces of a query from its whole ranking."""

from __future__ import annotations

from typing import ClassVar

from rankforce.lambdas.base import LambdaFunction


class ListwiseLambdaFunction(LambdaFunction):
    """Base of all listwise λ-functions. A subclass gives ``forces``; there is no curvature, hence no Newton step.

    Called in kernels, once per query that is not blank:

    ``forces(scores, grades, order, measure, state, out)``
        Write the force on each document, positive = up, into ``out`` (float64, zeros on entry). ``scores`` and
        ``grades`` are per document (a grade is NaN where there is none), ``order[r]`` is the document at rank r,
        counted from 0. ``measure.value(ranked, normaliser)`` is the measure; ``state`` is the ranking under it
        (``kernels/forces/listwise_forces.py``): ``state.ranked`` (worth by rank), ``state.rank`` (by document),
        ``state.normaliser``, ``state.value``. ``rf.lambdas.value_if_moved(measure, state, a, b)``,
        ``rf.lambdas.change_if_swapped(measure, state, a, b)`` and ``rf.lambdas.centre(grades, out)`` can be called.

    Forces that do not sum to zero move all scores of a query together: ``centre`` prevents it. Document weights
    multiply the forces afterwards; where they differ the sum is no longer zero.
    """

    REQUIRED: ClassVar[tuple[str, ...]] = ("forces",)
    HAS_CURVATURE: ClassVar[bool] = False
