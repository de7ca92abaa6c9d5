"""Is a model at a local optimum of a measure? A test with random directions, and a confidence.

    result = rf.diagnostics.local_optimality(model, data, "NDCG@10")
    print(result)

If a share ε or more of all directions led uphill, K = ⌈ln δ / ln(1 − ε)⌉ random ones would miss them all with a
probability of at most δ: 459 for ε = δ = 0.01.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rankforce.console import html_parts
from rankforce.console.figures import figure_class, save_picture
from rankforce.console.progress import Progress
from rankforce.console.wording import counted, listed
from rankforce.data.dataset import Dataset
from rankforce.data.hashing import checked_seed
from rankforce.data.random_streams import Stream
from rankforce.diagnostics.weight_space import WeightSpace, weight_space
from rankforce.errors import SettingsError
from rankforce.kinds import Number, check_number, check_switches, shown
from rankforce.measures.measure import Measure
from rankforce.remedies import Phrase
from rankforce.threads import over_pieces, thread_count, using_threads

STEPS = tuple(round(0.1 * k, 1) for k in range(1, 11))
EQUAL = 1e-12  # means nearer than this differ by rounding only
_PER_THREAD = 4  # directions that a thread works on between two looks at the progress


def directions_needed(epsilon: float = 0.01, delta: float = 0.01) -> int:
    """⌈ln δ / ln(1 − ε)⌉: so many random directions find one of a share ε with a probability of at least 1 − δ."""
    return math.ceil(math.log(delta) / math.log1p(-epsilon))


LEAST_SHARE = 1e-6  # below, there would be more directions than anyone waits for


def local_optimality(
    model: Any,
    data: Dataset,
    measure: str | Measure = "NDCG",
    *,
    epsilon: float = 0.01,
    delta: float = 0.01,
    scale: float = 1.0,
    relative: bool = True,
    strict: bool = False,
    each_weight: bool = False,
    seed: int = 0,
    threads: int | None = None,
    progress: bool = True,
) -> LocalOptimality:
    """Move the weights of a model along random directions and see whether the measure ever rises.

    Parameters
    ----------
    model : Net, TreeEnsemble, or a ranker that learned one
        The weights are those of the net, or the values of all leaves. Weights that cannot change a ranking of this
        data stay as they are: the bias of the output, weights of features that do not vary, leaves that do not divide
        any query.
    data : Dataset
        The data that the model was trained on: elsewhere nothing promises an optimum.
    measure : str or Measure
    epsilon, delta : float
        How small a share of ascending directions is to be excluded, and the probability of an error: K directions,
        uniform on the sphere.
    scale : float
    relative : bool
        At ten steps, 0.1 … 1 times ``scale`` times the norm of the weights; with ``relative=False`` without the norm.
    strict : bool
        Also count a step without any change as ascending.
    each_weight : bool
        Also move one weight at a time, by ± the ten steps.
    seed, threads, progress
        Results do not depend on the threads. Equal scores are ordered as in training with this seed.

    A direction ascends if the mean of the measure is higher at any of its steps; it is flat if the mean never differs.
    """
    for name, share in (("epsilon", epsilon), ("delta", delta)):
        if not Number(LEAST_SHARE, 1.0 - LEAST_SHARE).holds(share):
            raise SettingsError(f"{name} must lie between 0 and 1 (by at least {LEAST_SHARE:g}), not be {shown(share)}")
    check_switches(relative=relative, strict=strict, each_weight=each_weight, progress=progress)
    check_number("scale", scale, 0.0, above=True)
    checked_seed(seed)
    with using_threads(threads):
        space = weight_space(model, data, measure, seed)
        movable = np.flatnonzero(space.decisive)
        if not len(movable):
            raise SettingsError("no weight of the model can change a ranking of this data")
        norm = float(np.linalg.norm(space.weights[movable]))
        if relative and norm == 0.0:
            raise SettingsError(
                "all weights are 0, so steps relative to them are, too: use ", Phrase("relative=False", "--absolute")
            )
        lengths = np.array(STEPS) * scale * (norm if relative else 1.0)
        count = directions_needed(epsilon, delta)
        total = count + (len(movable) if each_weight else 0)
        with Progress("optimality", total, "directions", progress) as bar:

            def random_direction(number: int) -> np.ndarray:
                return unit_vector(space.decisive, seed, number)

            changes = _changes(space, count, random_direction, lengths, bar, 0)
            singles = None
            if each_weight:
                signed_lengths = np.concatenate([-lengths[::-1], lengths])

                def one_weight(number: int) -> np.ndarray:
                    direction = np.zeros(len(space.weights))
                    direction[movable[number]] = 1.0
                    return direction

                weight_changes = _changes(space, len(movable), one_weight, signed_lengths, bar, count)
                names = space.names
                left_out = tuple(names[place] for place in np.flatnonzero(~space.decisive))
                tested = tuple(names[place] for place in movable)
                singles = Changes(signed_lengths, weight_changes, strict, tested, left_out)
        value = float(space.means(np.zeros(len(space.weights)), np.zeros(1))[0])
    return LocalOptimality(
        measure=str(space.measure),
        value=value,
        n_queries=int((space.query_weights > 0).sum()),
        n_weights=len(space.weights),
        n_movable=len(movable),
        norm=norm,
        relative=relative,
        scale=float(scale),
        epsilon=float(epsilon),
        delta=float(delta),
        seed=seed,
        directions=Changes(lengths, changes, strict),
        weights=singles,
        movable=space.decisive,
    )


def unit_vector(movable: np.ndarray, seed: int, number: int) -> np.ndarray:
    """A random direction, uniform on the sphere of the movable weights (a mask), by seed and number."""
    drawn = Stream.DIRECTIONS.generator(seed, number).normal(size=int(movable.sum()))
    direction = np.zeros(len(movable))
    direction[movable] = drawn / np.linalg.norm(drawn)
    return direction


def _changes(
    space: WeightSpace,
    count: int,
    direction: Callable[[int], np.ndarray],
    lengths: np.ndarray,
    bar: Progress,
    steps_before: int,
) -> np.ndarray:
    """How much the measure changes at each step of each direction: (directions, steps)."""
    # The weights themselves are among the steps: their ranking then comes from the same arithmetic.
    steps = np.concatenate([[0.0], lengths])
    changes = np.empty((count, len(lengths)))

    def work(first: int, last: int) -> None:
        for number in range(first, last):
            values = np.empty((len(steps), space.n_queries))
            space.values(direction(number), steps, 0, space.n_queries, values)
            changes[number] = space.queries.means(values[1:] - values[0])

    work(0, min(1, count))  # alone: threads that begin together would compile together
    batch = _PER_THREAD * thread_count()
    for first in range(1, count, batch):
        over_pieces(range(first, min(first + batch, count) + 1), work)
        bar.advance(
            steps_before + min(first + batch, count), {"ascending": float((changes[:first] > EQUAL).any(axis=1).sum())}
        )
    return changes


@dataclasses.dataclass(frozen=True, eq=False)
class Changes:
    """What happened along some lines: ``changes[d, k]`` is the change of the mean at step ``lengths[k]`` of line d.

    ``names`` are those of single weights, ``left_out`` of the weights that cannot change a ranking.
    """

    lengths: np.ndarray
    changes: np.ndarray
    strict: bool
    names: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.changes)

    @property
    def ascending(self) -> np.ndarray:
        """The numbers of the lines that ascend, the steepest first."""
        highest = self.changes.max(axis=1)
        bound = -EQUAL if self.strict else EQUAL
        found = np.flatnonzero(highest >= bound if self.strict else highest > bound)
        return found[np.argsort(-highest[found], kind="stable")]

    @property
    def flat(self) -> np.ndarray:
        """The numbers of the lines along which the measure never differs."""
        return np.flatnonzero((np.abs(self.changes) <= EQUAL).all(axis=1))

    @property
    def share_ascending(self) -> float:
        return len(self.ascending) / len(self)

    def steepest(self) -> tuple[int, float, float]:
        """(line, step, change) where the measure rises most, or falls least."""
        line, step = np.unravel_index(np.argmax(self.changes), self.changes.shape)
        return int(line), float(self.lengths[step]), float(self.changes[line, step])

    def to_dict(self) -> dict[str, Any]:
        line, step, change = self.steepest()
        named = {"tested": list(self.names), "left_out": list(self.left_out)} if self.names else {}
        ascending = [self.names[place] for place in self.ascending] if self.names else self.ascending.tolist()
        flat = [self.names[place] for place in self.flat] if self.names else self.flat.tolist()
        return {
            "count": len(self),
            "lengths": self.lengths.tolist(),
            "ascending": ascending,
            "share_ascending": self.share_ascending,
            "flat": flat,
            "steepest": {"line": self.names[line] if self.names else line, "step": step, "change": change},
            **named,
        }


@dataclasses.dataclass(frozen=True, eq=False)
class LocalOptimality:
    """The result of ``rf.diagnostics.local_optimality``.

    ``directions`` and ``weights`` (None unless ``each_weight``) hold the changes of the measure; ``movable`` is a mask
    of the weights that can change a ranking.
    """

    measure: str
    value: float
    n_queries: int
    n_weights: int
    n_movable: int
    norm: float
    relative: bool
    scale: float
    epsilon: float
    delta: float
    seed: int
    directions: Changes
    weights: Changes | None
    movable: np.ndarray

    def direction(self, number: int) -> np.ndarray:
        """The unit vector of a direction: weights + length × this are the weights at one of its steps."""
        return unit_vector(self.movable, self.seed, number)

    @property
    def passed(self) -> bool:
        """Whether no direction and no single weight ascends."""
        return not len(self.directions.ascending) and (self.weights is None or not len(self.weights.ascending))

    @property
    def verdict(self) -> str:
        """The answer in a sentence."""
        ascending, count = self.directions.ascending, len(self.directions)
        if len(ascending):
            line, step, change = self.directions.steepest()
            rises = "raise" if not self.directions.strict else "raise or keep"
            text = (
                f"Not a local optimum: {len(ascending):,} of {counted(count, 'direction', 'directions')} "
                f"({len(ascending) / count:.1%}) {rises} {self.measure}, "
                f"direction {line} by {change:+.5f} at step {step:.3g}."
            )
        else:
            text = (
                f"Local optimum: fewer than {self.epsilon:.3g} of the directions ascend, "
                f"confidence {1 - self.delta:.3g} "
                f"(none of {count:,} raises {self.measure} at any of {len(self.directions.lengths)} steps)."
            )
        if self.weights is not None:
            names = [self.weights.names[place] for place in self.weights.ascending]
            text += f" One at a time, {counted(len(names), 'weight', 'weights')} of {len(self.weights):,} " + (
                f"ascend: {listed(names)}." if names else "ascend."
            )
        return text

    def __str__(self) -> str:
        kind = f"{self.scale:g} × the norm of the weights" if self.relative else f"{self.scale:g}"
        lines = [
            self.verdict,
            f"{self.measure} {self.value:.5f} on {self.n_queries:,} queries; {self.n_movable:,} of {self.n_weights:,} "
            f"weights can change a ranking, norm {self.norm:.4g}",
            f"steps 0.1 to 1 times {kind}; flat directions: {len(self.directions.flat):,}; a step without change "
            + ("counts as ascending" if self.directions.strict else "does not count as ascending"),
        ]
        line, step, change = self.directions.steepest()
        if self.passed:
            lines.append(f"nearest to ascending: direction {line}, {change:+.2g} at step {step:.3g}")
        if self.weights is not None:
            kept = f": {listed(self.weights.left_out)}" if self.weights.left_out else ""
            lines.append(
                f"one weight at a time, left out as they change no ranking: {len(self.weights.left_out):,}{kept}"
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """What notebooks show: the verdict, and below it what it rests on."""
        verdict, *rest = str(self).split("\n")
        return html_parts.block(html_parts.heading(verdict), html_parts.small(*rest))

    def __repr__(self) -> str:
        return f"<LocalOptimality of {self.measure}: {'passed' if self.passed else 'failed'}>"

    def to_dict(self) -> dict[str, Any]:
        """All of it but the single changes, as plain values ready for JSON."""
        plain = ("measure", "value", "n_queries", "n_weights", "n_movable", "norm", "relative", "scale", "epsilon")
        return {
            "passed": self.passed,
            "verdict": self.verdict,
            **{name: getattr(self, name) for name in (*plain, "delta", "seed")},
            "strict": self.directions.strict,
            "confidence": 1.0 - self.delta,
            "directions": self.directions.to_dict(),
            "weights": None if self.weights is None else self.weights.to_dict(),
        }

    def plot(self, path: Any = None) -> Any:
        """Draw the measure along all directions (ascending ones in red) as a matplotlib figure; also into a file."""
        figure = figure_class()(figsize=(7, 4.5), layout="constrained")
        axes = figure.subplots()
        steps = np.concatenate([[0.0], self.directions.lengths])
        rising = set(self.directions.ascending.tolist())
        for number, change in enumerate(self.directions.changes):
            style: dict[str, Any] = (
                {"color": "tab:red", "alpha": 0.6} if number in rising else {"color": "0.5", "alpha": 0.25}
            )
            axes.plot(steps, self.value + np.concatenate([[0.0], change]), linewidth=0.8, **style)
        axes.axhline(self.value, color="black", linewidth=0.8, linestyle="--")
        axes.set_xlabel("length of the step")
        axes.set_ylabel(self.measure)
        axes.set_title(f"{len(self.directions):,} random directions, {len(rising):,} ascending")
        if path is not None:
            save_picture(figure, path)
        return figure
