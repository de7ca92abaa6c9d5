"""The best combination of two rankers: all directions of a search swept, and the best that float64 scores reach."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator

import numpy as np

from rankforce.combining.curve import Curve
from rankforce.combining.target import MeanMeasure
from rankforce.models.combination import weighted_sum
from rankforce.sweeping.pieces import Pieces
from rankforce.sweeping.sweep import MOST_CHANGES, Scaled, sweep

SEARCHES = ("mixture", "beyond", "all")
REACHED = 1e-11  # a recomputed mean this near the swept one is the same: they differ by rounding


@dataclasses.dataclass(frozen=True)
class Unreached:
    """A piece of the curve on which the mean is higher than at the weights found: too narrow for float64.

    Its ends are so close, or scores are rounded so much, that weights within it rank as weights beside it do.
    """

    value: float
    interval: tuple[float, float]


@dataclasses.dataclass(frozen=True, eq=False)
class Chosen:
    """The best combination of two rankers.

    ``weights`` of the two; ``place`` of them on the curve, ``interval`` the open piece of the curve around it;
    ``value`` the mean there. ``unreached`` is a piece of the curve with a higher mean that no float64 weights reach.
    """

    weights: tuple[float, float]
    place: float
    interval: tuple[float, float]
    value: float
    curve: Curve
    unreached: Unreached | None = None


@dataclasses.dataclass(frozen=True)
class _Arc:
    """A quarter of all directions, (1 − x)·p + x·q with p and q each one of ±s, ±t (scaled)."""

    p: Scaled
    q: Scaled
    quarter: int
    end: float

    @property
    def ratio(self) -> float:
        """Scales differ by powers of two: x stands for (1 − x) of p and ratio·x of q."""
        return math.ldexp(1.0, self.q.exponent - self.p.exponent)

    def weights(self, x: float) -> tuple[float, float]:
        """Of s and t."""
        p, q = 1.0 - x, x * self.ratio
        return ((p, q), (-q, p), (-p, -q), (q, -p))[self.quarter]

    def places(self, x: np.ndarray, axis: str) -> np.ndarray:
        """Where x stands on the curve."""
        p, q = 1.0 - x, x * self.ratio
        if axis == "theta":
            return np.arctan2(q, p) + self.quarter * (math.pi / 2.0)
        if self.quarter == 0:
            return q / (p + q)
        rest = p - q
        return np.where(rest > 0.0, p / np.where(rest > 0.0, rest, 1.0), np.inf)


def _arcs(s: Scaled, t: Scaled, search: str) -> list[_Arc]:
    first = _Arc(s, t, 0, 1.0)
    if search == "mixture":
        return [first]
    if search == "beyond":  # α from 1 on: t − (1 − 1/α)·s, up to t − s
        return [first, _Arc(t, -s, 1, 1.0 / (1.0 + math.ldexp(1.0, s.exponent - t.exponent)))]
    return [first, _Arc(t, -s, 1, 1.0), _Arc(-s, -t, 2, 1.0), _Arc(-t, s, 3, 1.0)]


def weights_at(place: float, axis: str) -> tuple[float, float]:
    """The weights of two rankers at a place of a curve."""
    return (math.cos(place), math.sin(place)) if axis == "theta" else (1.0 - place, place)


def best_pair(
    s: np.ndarray,
    t: np.ndarray,
    target: MeanMeasure,
    search: str,
    *,
    names: tuple[str, str] = ("the first ranker", "the second ranker"),
    mean_at: Callable[[tuple[float, float]], float] | None = None,
    most_changes: int = MOST_CHANGES,
) -> Chosen:
    """The best combination of scores s and t (``by_query`` order, finite) for the mean of a measure.

    ``mean_at`` says what the mean at some weights is in float64, if that is not the mean of w_0·s + w_1·t.
    """
    judgement = target.known
    scaled = [Scaled.of(judgement.of_kept(scores), name) for scores, name in zip((s, t), names, strict=True)]
    axis = "theta" if search == "all" else "alpha"
    arcs = _arcs(scaled[0].paired_with(scaled[1]), scaled[1].paired_with(scaled[0]), search)
    swept = [
        sweep(
            arc.p,
            arc.q,
            judgement,
            target.shares,
            target.constant,
            end=arc.end,
            split_at_ties=True,
            most_changes=most_changes,
        )
        for arc in arcs
    ]
    curve = _curve(arcs, swept, axis)
    reach = mean_at or (lambda weights: target.mean(weighted_sum(weights, (s, t))))
    best = _reached(arcs, swept, curve, reach)
    return dataclasses.replace(best, unreached=_unreached(arcs, swept, axis, best.value))


def _reached(
    arcs: list[_Arc], swept: list[Pieces], curve: Curve, reach: Callable[[tuple[float, float]], float]
) -> Chosen:
    """The first piece whose mean its weights reach, best first; if there is none, the weights with the best mean."""
    best: Chosen | None = None
    for arc, low, high, claimed in _by_value(arcs, swept):
        interval = arc.places(np.array([low, high]), curve.axis)
        for weights, place in _inside(arc, low, high, interval, curve.axis):
            value = reach(weights)
            found = Chosen(weights, place, (float(interval[0]), float(interval[1])), value, curve)
            if not _higher(claimed, value) and not _higher(value, claimed):
                return found
            if best is None or value > best.value:
                best = found
    assert best is not None  # a sweep has at least one piece
    return best


def _unreached(arcs: list[_Arc], swept: list[Pieces], axis: str, value: float) -> Unreached | None:
    """The highest piece of the curve, if that is higher than the mean that was reached."""
    pieces = [
        (piece[2], arc, piece)
        for arc, found in zip(arcs, swept, strict=True)
        for piece in (*found.best[:1], *([] if found.narrow is None else [found.narrow]))
    ]
    highest, arc, (low, high, _) = max(pieces, key=lambda one: one[0])
    if not _higher(highest, value):
        return None
    ends = arc.places(np.array([low, high]), axis)
    return Unreached(highest, (float(ends[0]), float(ends[1])))


def _higher(one: float, other: float) -> bool:
    """Whether a mean is above another one by more than rounding."""
    return one - other > REACHED * max(1.0, abs(one))


def _by_value(arcs: list[_Arc], swept: list[Pieces]) -> Iterator[tuple[_Arc, float, float, float]]:
    """The best pieces of all arcs, best first, of equal ones the widest first, of equally wide ones the lowest."""
    found = [(arc, *piece) for arc, pieces in zip(arcs, swept, strict=True) for piece in pieces.best]

    def place(one: tuple[_Arc, float, float, float]) -> tuple[int, float, int, float]:
        arc, low, high, value = one
        width = float(f"{high - low:.11e}")  # ends are rounded: a third is as wide here as there
        return -round(value / REACHED), -width, arc.quarter, low

    return iter(sorted(found, key=place))


def _inside(
    arc: _Arc, low: float, high: float, interval: np.ndarray, axis: str
) -> Iterator[tuple[tuple[float, float], float]]:
    """Points within a piece, the middle first.

    Of many documents that meet at the middle without changing the value, rounding may make another order: other points
    are tried then. Last comes the middle as the sweep sees it, for scores of so different sizes that 1 − α has few
    digits left.
    """
    width = interval[1] - interval[0]
    if np.isfinite(width):
        for share in (0.5, 0.381966, 0.618034):
            place = float(interval[0] + share * width)
            yield weights_at(place, axis), place
    x = 0.5 * (low + high)
    weights = arc.weights(x)
    size = math.hypot(*weights) if axis == "theta" else sum(weights)
    if size != 0.0:
        yield (weights[0] / size, weights[1] / size), float(arc.places(np.array([x]), axis)[0])


def _curve(arcs: list[_Arc], swept: list[Pieces], axis: str) -> Curve:
    def joined(name: str) -> np.ndarray:
        return np.concatenate([getattr(pieces, name) for pieces in swept])

    def placed(name: str) -> np.ndarray:
        return np.concatenate(
            [arc.places(getattr(pieces, name), axis) for arc, pieces in zip(arcs, swept, strict=True)]
        )

    return Curve(axis, placed("starts"), placed("ends"), joined("lows"), joined("highs"))
