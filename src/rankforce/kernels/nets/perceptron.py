"""PRank's pass over documents, linear and quadratic."""

from __future__ import annotations

import numpy as np

from rankforce.compiling.jit import kernel, subroutine
from rankforce.dtypes import Array, Number


@subroutine
def _product(x: Array, quadratic: Number, weights: Array) -> Number:
    """w·x, or Σ_{i≤j} w_ij x_i x_j with the weights row by row."""
    total = 0.0
    if not quadratic:
        for i in range(x.shape[0]):
            total += weights[i] * x[i]
        return total
    place = 0
    for i in range(x.shape[0]):
        inner = 0.0
        for j in range(i, x.shape[0]):
            inner += weights[place] * x[j]
            place += 1
        total += inner * x[i]
    return total


@subroutine
def _add(x: Array, quadratic: Number, step: Number, weights: Array) -> None:
    """w += step·φ(x): x itself, or for i ≤ j the products x_i x_j, those of different i and j twice."""
    if not quadratic:
        for i in range(x.shape[0]):
            weights[i] += step * x[i]
        return
    place = 0
    for i in range(x.shape[0]):
        weights[place] += step * x[i] * x[i]
        place += 1
        for j in range(i + 1, x.shape[0]):
            weights[place] += 2.0 * step * x[i] * x[j]
            place += 1


@kernel
def prank_pass(
    inputs: Array, grades: Array, sizes: Array, documents: Array, quadratic: Number, weights: Array, thresholds: Array
) -> None:
    """Show PRank some documents in turn.

    inputs float64 (n, d); grades int64 from 0; sizes float64: the length of a document's steps; documents int64, in the
    order in which they are shown. Changes ``weights`` float64 and ``thresholds`` float64, one between each two grades.

    For threshold r let y_r = 1 if the grade is above r, else −1, and τ_r = y_r if (score − b_r)·y_r ≤ 0, else 0:
    w += (Σ τ_r) φ(x), b_r −= τ_r.
    """
    for k in range(documents.shape[0]):
        document = documents[k]
        x = inputs[document]
        score = _product(x, quadratic, weights)
        size = sizes[document]
        total = 0.0
        for r in range(thresholds.shape[0]):
            side = 1.0 if grades[document] > r else -1.0
            if (score - thresholds[r]) * side <= 0.0:
                total += side
                thresholds[r] -= size * side
        if total != 0.0:
            _add(x, quadratic, size * total, weights)


@kernel
def perceptron_scores(
    inputs: Array, quadratic: Number, weights: Array, first: Number, last: Number, scores: Array
) -> None:
    """Write the score of the documents ``first`` to ``last`` into ``scores`` float64."""
    for document in range(first, last):
        scores[document] = _product(inputs[document], np.bool_(quadratic), weights)
