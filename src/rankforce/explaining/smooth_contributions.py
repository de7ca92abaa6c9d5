"""What each input contributes to a smooth function of them, between a reference and a document.

Integrated gradients (Sundararajan et al. 2017; the Aumann–Shapley value): every input gets its change times the mean
slope of the function on the straight line from the reference to the document. For a linear and a quadratic function
that is the Shapley value. For tanh units and logistic links the mean has a closed form, so that contributions add up
to the change of the score without an error of integration.
"""

from __future__ import annotations

import numpy as np

from rankforce.models.expected_grade import GradeLink
from rankforce.models.net import Net
from rankforce.models.net_scaling import Scaling
from rankforce.models.perceptron import Perceptron, scaled

POINTS = 64  # of Gauss's rule on the line, for the softmax link: the one mean slope without a closed form


def net_contributions(net: Net, inputs: np.ndarray, references: np.ndarray) -> np.ndarray:
    """The mean over the references, float64 (documents, features), of what each scaled feature contributes.

    inputs, references: scaled features (documents, features). With one layer v·Δz. With two, a hidden unit of input u
    and weight v adds v·(tanh u_a − tanh u_b), which the features share as they share in its change of input, u_a − u_b.
    """
    z = inputs.astype(np.float64)
    total = np.zeros(z.shape)
    for reference in references.astype(np.float64):
        total += (z - reference) * net_slopes(net, z, reference)
    return total / len(references)


def net_slopes(net: Net, inputs: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """The mean slope of the net in each input between a reference (features,) and documents (documents, features)."""
    layout, weights = net.layout, net.weights
    if not net.hidden:
        return np.broadcast_to(layout.output_weights(weights), inputs.shape)
    w, b = layout.hidden_weights(weights), layout.hidden_biases(weights)
    to = np.einsum("nf,hf->nh", inputs, w) + b
    start = np.einsum("nf,hf->nh", reference[None, :], w) + b
    slopes = tanh_slope(start, to) * layout.output_weights(weights)
    return np.einsum("nh,hf->nf", slopes, w)


def tanh_slope(start: np.ndarray, to: np.ndarray) -> np.ndarray:
    """(tanh to − tanh start)/(to − start), also where the two meet.

    tanh a − tanh b = tanh(a − b)·(1 − tanh a·tanh b), without a difference of nearly equal numbers.
    """
    change = to - start
    apart = change != 0.0
    secant = np.divide(np.tanh(change), change, out=np.ones_like(change), where=apart)
    return secant * (1.0 - np.tanh(to) * np.tanh(start))


def logistic_slope(start: np.ndarray, to: np.ndarray) -> np.ndarray:
    """The same of 1/(1 + e^{−x}) = (1 + tanh(x/2))/2."""
    return tanh_slope(start / 2.0, to / 2.0) / 4.0


def scaling_slopes(scaling: Scaling, start: np.ndarray, to: np.ndarray) -> np.ndarray:
    """The mean slope of scaled features between start (1, features) and to (documents, features)."""
    slopes = np.ones(to.shape)
    if scaling.kind == "log1p":
        change = to - start
        logs = np.copysign(np.log1p(np.abs(to)), to) - np.copysign(np.log1p(np.abs(start)), start)
        near = np.abs(change) <= 1e-6 * (1.0 + np.abs(to))  # the quotient would be one of rounding errors
        slopes = np.where(near, 1.0 / (1.0 + np.abs(to)), logs / np.where(near, 1.0, change))
    return slopes / scaling.scale


def perceptron_contributions(model: Perceptron, matrix: np.ndarray, references: np.ndarray | None) -> np.ndarray:
    """The mean over the references (None: the means of the features) of each feature's contribution.

    A quadratic function changes by Δx times its slope half-way: a product counts half for each of its two features,
    which is their Shapley value.
    """
    x = scaled(matrix, model.means, model.deviations, "linear")
    baselines = np.zeros((1, x.shape[1]))
    if references is not None:
        baselines = scaled(references, model.means, model.deviations, "linear")
    if model.kernel == "linear":
        return model.weights * (x - baselines.mean(axis=0))
    size = x.shape[1] + 1
    square = np.zeros((size, size))
    square[np.triu_indices(size)] = model.weights
    curvature, slope = square[:-1, :-1] + square[:-1, :-1].T, square[:-1, -1]
    total = np.zeros(x.shape)
    for baseline in baselines:
        total += (x - baseline) * (np.einsum("nf,gf->ng", (x + baseline) / 2.0, curvature) + slope)
    return total / len(baselines)


def link_slopes(link: GradeLink, start: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """The mean slope of a link's score in each output between start (outputs,) and outputs (outputs, documents)."""
    if link.kind == "ordinal":
        steep = 2.0 * link.sigma
        return np.diff(link.values)[:, None] * steep * logistic_slope(steep * start[:, None], steep * outputs)
    x, w = np.polynomial.legendre.leggauss(POINTS)
    total = np.zeros(outputs.shape)
    for point, weight in zip((x + 1.0) / 2.0, w / 2.0, strict=True):
        at = start[:, None] + point * (outputs - start[:, None])
        shares = link.probabilities(at).T
        total += weight * shares * (link.values[:, None] - link.scores(at))
    return total
