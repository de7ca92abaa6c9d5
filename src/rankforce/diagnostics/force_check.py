"""Do forces derive from a cost? What a λ-function really does to the scores of a list.

    print(rf.diagnostics.check_forces("RankNetWeightPairs", "NDCG"))

With λ = −∂C/∂s the Hessian of the cost C is H_jk = −∂λ_j/∂s_k. Where H is symmetric a cost exists; where it is positive
semidefinite too, the cost is convex. Symmetry at points without ties is not enough: forces that jump when two documents
change places may have a cost on either side of the jump and none across it. So λ·ds is also integrated around small
loops that cross one change of order: if a cost exists across it, every such integral is 0.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankforce.console import html_parts
from rankforce.data.dataset import Dataset
from rankforce.data.dataset_columns import MAIN_LABEL
from rankforce.data.hashing import checked_seed
from rankforce.data.random_streams import Stream
from rankforce.errors import DataError, SettingsError
from rankforce.forces.forces import Forces, RunningOrder
from rankforce.kinds import check_choice, check_number, shown
from rankforce.lambdas.base import LambdaFunction
from rankforce.lambdas.catalogue import lambda_function as read_lambda_function
from rankforce.measures.catalogue import measure as read_measure
from rankforce.measures.measure import Measure
from rankforce.measures.ndcg import NDCG
from rankforce.objectives.objective import Objective, Term, as_part
from rankforce.remedies import NAME_ALONE, Argument

CONVEX = "a convex cost"
COST = "a cost"
BETWEEN = "a cost only between changes of order"
NONE = "no cost"

GRADES = (3.0, 2.0, 1.0, 1.0, 0.0, 0.0)  # the list that is looked at, unless labels are given
OTHER_LABELS = (0.1, 0.6, 0.0, 0.9, 0.3, 0.3)  # of label sources beside the grades
LOOP_NODES = 16  # per half of a loop
TOLERANCE = 1e-6
SPREADS = (1e-3, 10.0)  # beyond these the forces of a λ-function with σ near 1 ...
RADII = (1e-6, 1.0)  # ... differ by rounding errors, or are constant: any verdict would be one on those


@dataclasses.dataclass(frozen=True)
class ForceCheck:
    """What ``check_forces`` found. Sums, errors and violations are relative: 0 is perfect, 1 is as large as can be."""

    objective: str
    verdict: str
    documents: int
    samples: int
    largest_force: float
    sum_of_forces: float  # largest |Σλ| of a list / largest force
    symmetry_error: float  # largest |H − Hᵀ| / largest |H|
    smallest_eigenvalue: float  # of the symmetric part of H, over all samples
    largest_eigenvalue: float
    convexity_violation: float  # largest cosine between a step and the change of forces along it; ≤ 0 if convex
    circulations: tuple[tuple[float, float], ...]  # (radius, largest |∮λ·ds| of a loop with it)
    circulation_exponent: float  # |∮λ·ds| grows with radius^this; NaN where there is no circulation
    near_force: float | None  # WTA, relevant documents at ranks 2 and 20 of 20: force on the former ...
    far_force: float | None  # ... and on the latter; None for an objective of several terms

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, ready for JSON."""
        found = dataclasses.asdict(self)
        return found | {"circulations": [{"radius": r, "largest": c} for r, c in self.circulations]}

    def __str__(self) -> str:
        name, verdict = self._lines()[0]
        return "\n".join([f"{name}: {verdict}", *(f"  {what:<21} {found}" for what, found in self._lines()[1:])])

    def _repr_html_(self) -> str:
        """What notebooks show: the findings as a table."""
        (name, verdict), *found = self._lines()
        return html_parts.block(html_parts.heading(f"{name}: {verdict}"), html_parts.facts(found))

    def _lines(self) -> list[tuple[str, str]]:
        """(what, found): first the objective and the verdict."""
        (radius, circulation), *_ = self.circulations
        around = f"{circulation:.3g} around a loop of radius {radius:g}"
        if not np.isnan(self.circulation_exponent):
            around += f", grows with radius^{self.circulation_exponent:.2f}"
        lines = [
            (self.objective, self.verdict),
            ("looked at", f"{self.samples} score vectors of {self.documents} documents, as many loops"),
            ("sum of forces", f"{self.sum_of_forces:.1e} of the largest force {self.largest_force:.3g}"),
            ("symmetry error", f"{self.symmetry_error:.1e}"),
            ("eigenvalues of H", f"{self.smallest_eigenvalue:.3g} to {self.largest_eigenvalue:.3g}"),
            ("convexity violation", f"{max(self.convexity_violation, 0.0):.1e}"),
            ("circulation", around),
        ]
        if self.near_force is not None:
            near = f"force {self.near_force:.3g} on a relevant document at rank 2"
            lines.append(("WTA, near and far", f"{near}, {self.far_force:.3g} on one at rank 20"))
        return lines


def check_forces(
    lambda_function: str | LambdaFunction | Objective | Term,
    measure: str | Measure = "NDCG",
    *,
    labels: Any = None,
    samples: int = 32,
    spread: float = 1.0,
    radius: float = 0.01,
    normalise: str = "none",
    iteration: int = 0,
    seed: int = 0,
) -> ForceCheck:
    """Sample score vectors of one list and say whether its forces derive from a cost.

    Parameters
    ----------
    lambda_function : written or as an object; or, without ``measure``, a whole objective, a term or a list of terms
    measure : the measure whose changes the λ-function sees
    labels : one label per document of the list, or a mapping of label source to labels
        Default: grades 3, 2, 1, 1, 0, 0, and some values between 0 and 1 for every other label source.
    samples : score vectors, and loops, that are looked at
    spread : the mean distance of neighbouring scores, beyond the least one of 8 × radius; from 0.001 to 10
    radius : of the largest loop, from 10⁻⁶ to 1; loops of a half and a quarter are looked at, too
    normalise : as in ``LambdaMART``: "none", "log" or "deviation"
    iteration : of an objective whose shares change while it learns
    seed : of the samples

    The verdict is "a convex cost", "a cost", "a cost only between changes of order" or "no cost". It holds for what was
    sampled: more samples, and lists of your own, make it surer.
    """
    check_number("samples", samples, 1, whole=True)
    check_number("iteration", iteration, 0, whole=True)
    check_choice("normalise", normalise, ("none", "log", "deviation"))
    _check_distance("spread", spread, SPREADS)
    _check_distance("radius", radius, RADII)
    seed = checked_seed(seed)
    if isinstance(lambda_function, (Objective, Term, list, tuple)):
        objective = as_part(lambda_function)
    else:
        objective = Objective((Term(read_measure(measure), read_lambda_function(lambda_function)),))
    if any(term.pairs is not None and term.pairs.sample for term in objective.terms):
        raise SettingsError("forces of sampled pairs are random: check them with ", Argument("pairs", "all"))
    if not any(objective.shares(iteration)):
        raise SettingsError(f"nothing pulls: all shares of {objective} are 0 in iteration {iteration}")
    field = _Field(objective, _labels(objective, labels), normalise, iteration)
    rng = Stream.FORCE_POINTS.generator(seed)
    points = _points(rng, samples, field.size, spread, radius)
    forces = field.at(points)
    largest = float(abs(forces).max())
    if largest == 0.0:
        raise DataError(
            f"{objective} exerts no force on a list with these labels: give ",
            Argument("labels", NAME_ALONE),
            " that differ",
        )
    hessians = field.hessians(points, radius * 1e-2)
    symmetric = 0.5 * (hessians + hessians.transpose(0, 2, 1))
    steepest = float(abs(hessians).max())
    # Forces that are constant between changes of order have a Hessian of rounding errors: it is taken for 0.
    flat = steepest < TOLERANCE * largest / spread
    error = 0.0 if flat else float(abs(hessians - symmetric).max()) * 2.0 / steepest
    eigenvalues = np.zeros(1) if flat else np.linalg.eigvalsh(symmetric)
    violation = _convexity_violation(points, forces)
    circulations, exponent, is_circulating = _circulations(field, rng, samples, spread, radius, largest)
    if error > 1e-4:
        verdict = NONE
    elif is_circulating:
        verdict = BETWEEN
    elif eigenvalues.min() < -TOLERANCE * abs(eigenvalues).max() or violation > TOLERANCE:
        verdict = COST
    else:
        verdict = CONVEX
    near, far = _near_and_far(objective, spread)
    return ForceCheck(
        objective=str(objective),
        verdict=verdict,
        documents=field.size,
        samples=samples,
        largest_force=largest,
        sum_of_forces=float(abs(forces.sum(axis=1)).max()) / largest,
        symmetry_error=error,
        smallest_eigenvalue=float(eigenvalues.min()),
        largest_eigenvalue=float(eigenvalues.max()),
        convexity_violation=violation,
        circulations=circulations,
        circulation_exponent=exponent,
        near_force=near,
        far_force=far,
    )


class _Field:
    """The forces of one list as a function of its scores, at many points at once: every point is a query."""

    def __init__(self, objective: Objective, labels: Mapping[str, np.ndarray], normalise: str, iteration: int) -> None:
        self.objective = objective
        self.labels = labels
        self.normalise = normalise
        self.iteration = iteration
        self.size = len(next(iter(labels.values())))
        self._prepared = functools.lru_cache(maxsize=4)(self._prepare)

    def _prepare(self, count: int) -> tuple[RunningOrder, Forces]:
        labels = {name: np.tile(values, count) for name, values in self.labels.items()}
        features = np.zeros((count * self.size, 1), dtype=np.float32)
        data = Dataset(features, labels.pop(MAIN_LABEL, None), group=[self.size] * count, labels=labels)
        return RunningOrder(data, 0), Forces(data, self.objective, 0, normalise=self.normalise)

    def at(self, points: np.ndarray) -> np.ndarray:
        """(points, documents) forces at (points, documents) scores."""
        ranking, forces = self._prepared(len(points))
        scores = np.ascontiguousarray(points.ravel())
        return forces.at(scores, ranking.update(scores), self.iteration)[0].reshape(points.shape).copy()

    def hessians(self, points: np.ndarray, step: float) -> np.ndarray:
        """−∂λ_j/∂s_k at each point, by central differences: (points, j, k)."""
        moves = step * np.eye(self.size)
        up, down = (
            self.at((points[:, None, :] + sign * moves).reshape(-1, self.size)).reshape(-1, self.size, self.size)
            for sign in (1.0, -1.0)
        )
        return (down - up).transpose(0, 2, 1) / (2.0 * step)


def _check_distance(name: str, value: Any, sensible: tuple[float, float]) -> None:
    check_number(name, value, 0.0, above=True)
    low, high = sensible
    if not low <= value <= high:
        raise SettingsError(
            f"{name} must lie between {low:g} and {high:g}, not be {value!r}: the forces of scores that are nearer "
            "differ by rounding errors, and those of scores that are further apart hardly differ at all"
        )


def _labels(objective: Objective, given: Any) -> dict[str, np.ndarray]:
    sources = dict.fromkeys(term.measure.label for term in objective.terms)
    if given is None:
        return {name: np.array(GRADES if name == MAIN_LABEL else OTHER_LABELS) for name in sources}
    if not isinstance(given, Mapping):
        given = dict.fromkeys(sources, given)
    try:
        labels = {str(name): np.asarray(values, dtype=np.float64) for name, values in given.items()}
    except Exception:  # also an error of an object's own
        raise DataError(f"labels must be numbers, one per document of the list, not {shown(given)}") from None
    sizes = {values.shape for values in labels.values()}
    if len(sizes) != 1 or len(next(iter(sizes))) != 1 or next(iter(sizes))[0] < 3:
        raise DataError("labels: give a list of at least three documents, equally long for every label source")
    return labels


def _points(rng: np.random.Generator, count: int, size: int, spread: float, radius: float) -> np.ndarray:
    """Random score vectors whose neighbours are at least 8 radii apart.

    Their means differ, since a force may depend on where a list is as a whole (a diagonal does).
    """
    ranked = np.cumsum(8.0 * radius + rng.exponential(spread, (count, size)), axis=1)
    ranked += rng.normal(0.0, spread, (count, 1)) - ranked.mean(axis=1, keepdims=True)
    return rng.permuted(ranked, axis=1)


def _convexity_violation(points: np.ndarray, forces: np.ndarray) -> float:
    """The largest cosine of (a − b, λ(a) − λ(b)): the force of a convex cost never rises along a step."""
    steps = points[:, None] - points
    changes = forces[:, None] - forces
    lengths = np.linalg.norm(steps, axis=2) * np.linalg.norm(changes, axis=2)
    products = (steps * changes).sum(axis=2)
    return float(np.divide(products, lengths, out=np.full_like(products, -1.0), where=lengths > 0).max(initial=-1.0))


def _circulations(
    field: _Field, rng: np.random.Generator, count: int, spread: float, radius: float, largest: float
) -> tuple[tuple[tuple[float, float], ...], float, bool]:
    """((radius, largest circulation), ...), how it grows with the radius, and whether there is any."""
    centres = _points(rng, count, field.size, spread, radius)
    order = np.argsort(centres, axis=1)
    place = rng.integers(0, field.size - 1, count)
    samples = np.arange(count)
    a, b = order[samples, place], order[samples, place + 1]
    middle = 0.5 * (centres[samples, a] + centres[samples, b])
    centres[samples, a] = middle
    centres[samples, b] = middle
    across = np.zeros_like(centres)  # across the change of order of a and b ...
    across[samples, a], across[samples, b] = np.sqrt(0.5), -np.sqrt(0.5)
    along = rng.normal(size=centres.shape)  # ... and along it, not moving the list as a whole
    along -= along.mean(axis=1, keepdims=True)
    along -= (along * across).sum(axis=1, keepdims=True) * across
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    radii = (radius, radius / 2, radius / 4)
    by_radius = [abs(_integrals(field, centres, across, along, size, LOOP_NODES)) for size in radii]
    # A force that jumps within a half of a loop (Step) spoils the quadrature there: more nodes show by how much.
    finer = abs(_integrals(field, centres, across, along, radius, 4 * LOOP_NODES))
    sure = (finer > 1e-7 * radius * largest) & (abs(finer - by_radius[0]) < 0.02 * finer)
    largest_ones = [float(np.where(sure, integrals, 0.0).max()) for integrals in by_radius]
    exponent = float(np.median(np.log2(by_radius[0][sure] / by_radius[1][sure]))) if sure.any() else np.nan
    return tuple(zip(radii, largest_ones, strict=True)), exponent, bool(sure.any())


def _integrals(
    field: _Field, centres: np.ndarray, across: np.ndarray, along: np.ndarray, radius: float, nodes: int
) -> np.ndarray:
    """∮λ·ds around a circle at each centre, a half on either side of the change of order: forces are smooth there."""
    abscissae, weights = np.polynomial.legendre.leggauss(nodes)
    angles = np.concatenate([0.5 * np.pi * abscissae, np.pi + 0.5 * np.pi * abscissae])
    weights = np.tile(0.5 * np.pi * weights, 2)
    cosines, sines = np.cos(angles)[:, None], np.sin(angles)[:, None]
    points = centres[:, None] + radius * (cosines * across[:, None] + sines * along[:, None])
    ways = radius * (cosines * along[:, None] - sines * across[:, None])
    forces = field.at(points.reshape(-1, field.size)).reshape(points.shape)
    return (forces * ways).sum(axis=2) @ weights


def _near_and_far(objective: Objective, spread: float) -> tuple[float | None, float | None]:
    """WTA, relevant documents at ranks 2 and 20 of 20, neighbours ``spread`` apart: the forces on the two."""
    if len(objective.terms) != 1:
        return None, None
    labels = np.zeros(20)
    labels[[1, 19]] = 1.0
    # On labels of 0 and 1 NDCG@1 is WTA; its kernels are compiled already, more often than not.
    winner = Objective((dataclasses.replace(objective.terms[0], measure=NDCG(1)),))
    field = _Field(winner, {MAIN_LABEL: labels}, "none", 0)
    forces = field.at(-spread * np.arange(20.0)[None, :])[0]
    return float(forces[1]), float(forces[19])
