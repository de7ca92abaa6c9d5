"""Combine rankers: the weights that make the mean of a measure as high as it can be."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rankforce.combining.curve import Curve
from rankforce.combining.net import learned_net, linear_weights
from rankforce.combining.pair import SEARCHES, Chosen, best_pair
from rankforce.combining.target import MeanMeasure
from rankforce.data.dataset import Dataset
from rankforce.data.hashing import checked_seed
from rankforce.errors import DataError, SettingsError
from rankforce.evaluation.compare import Comparison, compare
from rankforce.evaluation.evaluate import BLANK_POLICIES, scores_of
from rankforce.measures.catalogue import measure as measure_of
from rankforce.measures.measure import Measure
from rankforce.models.combination import Combination, weighted_sum
from rankforce.models.model import Model
from rankforce.models.net import Net
from rankforce.models.provenance import Provenance
from rankforce.models.stacked import Stacked, stacked_scores
from rankforce.models.storage import load
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.threads import using_threads

METHODS = ("sweep", "net")
UNRETRIEVED = ("raise", "lowest")
BETTER = 1e-12  # a mean must rise by more than rounding to count as an improvement
LEVEL = 0.05  # of "significantly"

_Of = TypeVar("_Of")


def combine(
    rankers: Sequence[Any],
    data: Dataset,
    measure: str | Measure = "NDCG@10",
    *,
    method: str = "sweep",
    search: str = "mixture",
    hidden: int = 0,
    validation: Any = None,
    folds: int | None = None,
    blank: str = "skip",
    unretrieved: str = "raise",
    starts: int = 4,
    names: Sequence[str] | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Combined:
    """The linear combination of rankers with the highest mean of a measure on ``data``.

    For two rankers with scores s and t it is the global optimum: the measure can change only where two documents of a
    query cross, and all crossings are swept. The middle of the best open interval between them is taken; of equal
    ones the widest. For more than two, each ranker in turn is combined so with the mixture of the others until
    nothing improves, from several starts: a local optimum.

    Parameters
    ----------
    rankers : sequence of two or more
        Models, fitted rankers, names of features, paths of model files, or arrays of one score per row.
    data : Dataset
        Better not the data that the rankers learned from: they look better there than they are.
    measure : any measure, also your own
    method : "sweep" or "net"
        The exact sweep, or a LambdaRank net that learns from the rankers' scores, for comparison: with ``hidden`` 0 it
        is linear and gives weights, too; with more it has a layer of so many hidden units, and no weights.
    search : "mixture", "beyond" or "all"
        (1 − α)·s + α·t with α from 0 to 1; with any α ≥ 0 (beyond 1, s counts negatively);
        cos θ·s + sin θ·t with any θ.
    validation : Dataset, or (scores of each ranker, Dataset)
        Other data, on which the combination is compared with the ranker that was best on ``data``, by paired tests:
        the maximum over all α is optimistic. The pair form is needed where a ranker is an array.
    folds : int
        The same without other data: for each of so many parts of the queries, the weights and the best single ranker
        are chosen on the other parts.
    blank : "skip", "zero", "one" or "raise", as in ``rf.evaluate``
    unretrieved : "raise" or "lowest"
        What becomes of documents that a ranker did not retrieve (score −∞): an error, or its lowest score of the
        query (0 where it retrieved nothing).
    starts : how many starts are tried for more than two rankers
    names : of the rankers, for the report
    seed : of starts, folds and tests
    threads : the number of threads; results never depend on it

    Equal scores are in row order, as in ``rf.evaluate``. Query weights count. Memory: about 100 MiB beyond the data,
    whatever the number of crossings.
    """
    if not isinstance(data, Dataset):
        raise DataError(
            f"data must be a Dataset, not {type(data).__name__}: rf.Dataset(X, y, qid=...) or rf.read(path)"
        )
    _check_choice("method", method, METHODS)
    _check_choice("search", search, SEARCHES)
    _check_choice("blank", blank, BLANK_POLICIES)
    _check_choice("unretrieved", unretrieved, UNRETRIEVED)
    seed = checked_seed(seed)
    if isinstance(starts, bool) or not isinstance(starts, int) or starts < 1:
        raise SettingsError(f"starts must be a positive whole number, not {starts!r}")
    if isinstance(hidden, bool) or not isinstance(hidden, int) or hidden < 0:
        raise SettingsError(f"hidden must be a whole number of at least 0, not {hidden!r}")
    for name, given, belongs in (("hidden", hidden != 0, "net"), ("search", search != "mixture", "sweep")):
        if given and method != belongs:
            raise SettingsError(f"{name}= goes with method={belongs!r}")
    if validation is not None and folds is not None:
        raise SettingsError("test on validation data or on folds of the data, not on both")
    wanted = measure_of(measure)
    members = [_Member.of(one) for one in _several(rankers)]
    called = _names(names, members)
    how = _How(wanted, method, search, hidden, blank, starts, seed)
    with using_threads(threads):
        scores = [member.scores(data, name, unretrieved) for member, name in zip(members, called, strict=True)]
        found = _combined(scores, data, how, called)
        held_out, tested_on = None, ""
        if validation is not None:
            held_out = _on_other_data(found, members, called, validation, unretrieved, how)
            tested_on = "validation data"
        elif folds is not None:
            held_out = _on_folds(scores, data, folds, how, called)
            tested_on = f"{folds} folds"
    settings = {
        "ranker": "combine",
        "method": method,
        "search": search,
        "hidden": hidden,
        "blank": blank,
        "unretrieved": unretrieved,
        "starts": starts,
        "rankers": list(called),
    }
    return Combined(
        measure=wanted,
        names=called,
        weights=found.weights,
        value=found.value,
        scores=data.by_row(found.applied_to(scores)),
        singles=found.singles,
        curves=tuple(one.curve for one in found.chosen),
        intervals=tuple(one.interval for one in found.chosen),
        places=tuple(one.place for one in found.chosen),
        held_out=held_out,
        tested_on=tested_on,
        net=found.net,
        _models=tuple(member.model(data) for member in members),
        _provenance=lambda: Provenance.of_training(
            data, settings=settings, objective=str(wanted), history={}, seed=seed
        ),
    )


@dataclasses.dataclass(frozen=True, eq=False)
class Combined:
    """The result of ``rf.combine``.

    ``weights`` of the rankers; ``scores``, the combination of each row of the data; ``value``, the mean of the measure
    at them, recomputed in float64; ``singles``, the mean of each ranker alone. For two rankers ``curve`` is the mean
    against α (or θ), ``interval`` its open piece around the best ``place``; for more, ``curves``, ``intervals`` and
    ``places`` have one entry per ranker, against the mixture of all others. ``held_out`` compares the combination with
    the best single ranker where neither was chosen (``None`` without validation data and folds), and ``model`` is the
    combination as a model.

    Of a net, there are no curves; ``net`` is the net on the rankers' scores where it has hidden units, and ``weights``
    is None then.
    """

    measure: Measure
    names: tuple[str, ...]
    weights: np.ndarray | None
    value: float
    scores: np.ndarray
    singles: tuple[float, ...]
    curves: tuple[Curve, ...]
    intervals: tuple[tuple[float, float], ...]
    places: tuple[float, ...]
    held_out: Comparison | None
    tested_on: str
    net: Net | None
    _models: tuple[Model | None, ...]
    _provenance: Callable[[], Provenance]

    @property
    def curve(self) -> Curve:
        return self._swept(self.curves)

    @property
    def interval(self) -> tuple[float, float]:
        return self._swept(self.intervals)

    @property
    def place(self) -> float:
        """α, or θ, of the combination of two rankers."""
        return self._swept(self.places)

    def _swept(self, found: tuple[_Of, ...]) -> _Of:
        if not found:
            raise SettingsError("a net was learned: only method='sweep' sees the whole curve")
        return found[0]

    @property
    def best_single(self) -> int:
        """The number of the ranker that is best alone; of equal ones the first."""
        return int(np.argmax(self.singles))

    @property
    def model(self) -> Combination | Stacked:
        """The combination as a model, which scores, evaluates and saves like any other."""
        for name, model in zip(self.names, self._models, strict=True):
            if model is None:
                raise SettingsError(
                    f"{name} was given as scores: a combination with it is no model. Give models or features, or "
                    "apply .weights to the scores"
                )
        if self.net is not None:
            return Stacked.of(self._models, self.net, provenance=self._provenance())
        return Combination.of(self._models, self.weights, provenance=self._provenance())

    @property
    def significantly_better(self) -> bool | None:
        """Whether the combination beats the best single ranker on held-out queries (paired t-test at 5 %).

        None where nothing was held out.
        """
        if self.held_out is None:
            return None
        name = str(self.measure)
        return self.held_out.difference[name] > 0.0 and self.held_out.t_test[name].p_value < LEVEL

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values; curves by their number of pieces."""
        result: dict[str, Any] = {
            "measure": str(self.measure),
            "rankers": list(self.names),
            "weights": None if self.weights is None else self.weights.tolist(),
            "value": self.value,
            "singles": list(self.singles),
            "axis": self.curves[0].axis if self.curves else None,
            "places": list(self.places),
            "intervals": [list(one) for one in self.intervals],
            "pieces": [len(one) for one in self.curves],
            "held_out": None,
        }
        if self.held_out is not None:
            result["held_out"] = {
                "on": self.tested_on,
                "significantly_better": self.significantly_better,
            } | self.held_out.to_dict()
        return result

    def __str__(self) -> str:
        width = max(len(name) for name in (*self.names, "combination"))
        lines = [f"{self.measure!s:{width}}  {'mean':>8}  {'weight':>9}"]
        for number, (name, value) in enumerate(zip(self.names, self.singles, strict=True)):
            weight = "" if self.weights is None else f"{self.weights[number]:9.5f}"
            lines.append(f"{name:{width}}  {value:8.4f}  {weight}".rstrip())
        lines.append(f"{'combination':{width}}  {self.value:8.4f}")
        if len(self.curves) == 1:
            symbol = {"alpha": "α", "theta": "θ"}[self.curve.axis]
            low, high = self.interval
            lines.append(
                f"best {symbol} = {self.place:.6g}, alike from {low:.6g} to {high:.6g}; "
                f"{len(self.curve):,} {'pieces' if self.curve.exact else 'cells'}"
            )
        lines.append(self._verdict())
        return "\n".join(lines)

    def _verdict(self) -> str:
        if self.held_out is None:
            return "chosen and measured on the same queries: optimistic; validation or folds say by how much"
        name = str(self.measure)
        difference, test = self.held_out.difference[name], self.held_out.t_test[name]
        better = "significantly better" if self.significantly_better else "not significantly better"
        return (
            f"on {self.tested_on}: {better} than {self.names[self.best_single]}, "
            f"{difference:+.4f} (paired t-test, p = {test.p_value:.3g}, {self.held_out.n_compared[name]:,} queries)"
        )


@dataclasses.dataclass(frozen=True)
class _How:
    """What is searched."""

    measure: Measure
    method: str
    search: str
    hidden: int
    blank: str
    starts: int
    seed: int


@dataclasses.dataclass(frozen=True, eq=False)
class _Found:
    """Weights, or a net, and what the search saw."""

    weights: np.ndarray | None
    value: float
    singles: tuple[float, ...]
    chosen: tuple[Chosen, ...]
    net: Net | None = None

    def applied_to(self, scores: list[np.ndarray]) -> np.ndarray:
        """The combination of these scores."""
        if self.net is not None:
            return stacked_scores(self.net, scores)
        return weighted_sum(self.weights, scores)

    @property
    def best_single(self) -> int:
        return int(np.argmax(self.singles))


@dataclasses.dataclass(frozen=True)
class _Member:
    """One of the rankers: a model, the name of a feature, or an array."""

    given: Any

    @classmethod
    def of(cls, given: Any) -> _Member:
        if isinstance(given, Path):
            return cls(load(given))
        if hasattr(given, "model_"):
            return cls(given.model_)
        return cls(given)

    def scores(self, data: Dataset, name: str, unretrieved: str) -> np.ndarray:
        """Finite scores in ``by_query`` order."""
        try:
            scores = scores_of(self.given, data)
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
        missing = np.flatnonzero(scores == -np.inf)
        if not len(missing):
            return scores
        if unretrieved == "raise":
            row = int(data.rows[missing[0]])
            raise DataError(
                f"{name} did not retrieve {len(missing):,} documents (score -inf), the first in row {row}: a sum with "
                "them has no meaning. unretrieved='lowest' gives them its lowest score of the query"
            )
        lowest = np.minimum.reduceat(np.where(scores == -np.inf, np.inf, scores), data.query_starts[:-1])
        lowest = np.where(np.isfinite(lowest), lowest, 0.0)
        return np.where(scores == -np.inf, np.repeat(lowest, data.query_sizes), scores)

    def model(self, data: Dataset) -> Model | None:
        if isinstance(self.given, Model):
            return self.given
        if isinstance(self.given, str):
            return TreeEnsemble.from_trees([], data.feature_names, base_model=self.given)
        return None

    @property
    def is_array(self) -> bool:
        return not isinstance(self.given, str) and not hasattr(self.given, "predict")


def _several(rankers: Any) -> list[Any]:
    if isinstance(rankers, (str, bytes)) or not isinstance(rankers, (Sequence, np.ndarray)) or len(rankers) < 2:
        raise SettingsError("rankers must be a sequence of at least two: rf.combine([one, another], data, measure)")
    return list(rankers)


def _names(names: Sequence[str] | None, members: list[_Member]) -> tuple[str, ...]:
    if names is None:
        names = [
            one.given if isinstance(one.given, str) else f"ranker {number}"
            for number, one in enumerate(members, start=1)
        ]
    if isinstance(names, str) or len(names) != len(members):
        raise SettingsError(f"names must be one name per ranker ({len(members)}), not {names!r}")
    return tuple(str(name) for name in names)


def _combined(
    scores: list[np.ndarray], data: Dataset, how: _How, names: tuple[str, ...], queries: np.ndarray | None = None
) -> _Found:
    """The combination chosen on ``queries``, a mask, or on all of them."""
    target = MeanMeasure(data, how.measure, how.blank, queries)
    singles = tuple(target.mean(one) for one in scores)
    if how.method == "net":
        net = learned_net(scores, data, how.measure, how.hidden, how.seed, queries)
        if how.hidden == 0:
            weights = linear_weights(net)
            return _Found(weights, target.mean(weighted_sum(weights, scores)), singles, ())
        return _Found(None, target.mean(stacked_scores(net, scores)), singles, (), net)
    if len(scores) == 2:
        chosen = best_pair(scores[0], scores[1], target, how.search, names=(names[0], names[1]))
        return _Found(np.array(chosen.weights), chosen.value, singles, (chosen,))
    generator = np.random.default_rng(how.seed)
    best: _Found | None = None
    for start in range(how.starts):
        weights = _start(start, scores, singles, generator)
        found = _ascend(weights, scores, singles, target, how, names, generator)
        if best is None or found.value > best.value + BETTER:
            best = found
    assert best is not None
    return best


def _start(
    number: int, scores: list[np.ndarray], singles: tuple[float, ...], generator: np.random.Generator
) -> np.ndarray:
    """Where a search starts: all rankers alike, the best one alone, then random shares of the rankers' deviations."""
    if number == 1:
        return np.eye(len(scores))[int(np.argmax(singles))]
    deviations = np.array([float(np.std(one)) for one in scores])
    shares = np.ones(len(scores)) if number == 0 else generator.exponential(size=len(scores))
    weights = shares / np.where(deviations > 0.0, deviations, 1.0)
    return np.asarray(weights / weights.sum())


def _ascend(
    weights: np.ndarray,
    scores: list[np.ndarray],
    singles: tuple[float, ...],
    target: MeanMeasure,
    how: _How,
    names: tuple[str, ...],
    generator: np.random.Generator,
) -> _Found:
    """Combine each ranker in turn with the mixture of the others until a whole turn improves nothing."""
    value = target.mean(weighted_sum(weights, scores))
    size = len(scores)
    while True:
        improved = False
        chosen: list[Chosen | None] = [None] * size
        for one in generator.permutation(size):
            others = weights.copy()
            others[one] = 0.0
            if not others.any():
                continue
            others /= np.abs(others).sum()

            def with_shares(pair: tuple[float, float], others: np.ndarray = others, one: int = one) -> np.ndarray:
                return pair[0] * others + pair[1] * np.eye(size)[one]

            def mean_at(pair: tuple[float, float], with_shares: Any = with_shares) -> float:
                return target.mean(weighted_sum(with_shares(pair), scores))

            found = best_pair(
                weighted_sum(others, scores),
                scores[one],
                target,
                how.search,
                names=("the mixture of the others", names[one]),
                mean_at=mean_at,
            )
            chosen[one] = found
            if found.value > value + BETTER:
                weights, value, improved = with_shares(found.weights), found.value, True
        if not improved:
            total = np.abs(weights).sum()
            exact = weights / total
            if target.mean(weighted_sum(exact, scores)) == value:  # else keep the weights that give the value
                weights = exact
            return _Found(weights, value, singles, tuple(one for one in chosen if one is not None))


def _on_other_data(
    found: _Found, members: list[_Member], names: tuple[str, ...], validation: Any, unretrieved: str, how: _How
) -> Comparison:
    if isinstance(validation, Dataset):
        for member, name in zip(members, names, strict=True):
            if member.is_array:
                raise SettingsError(
                    f"{name} was given as scores: give its scores on the validation data, too: "
                    "validation=([scores of each ranker], data)"
                )
        others, data = members, validation
    else:
        if (
            not isinstance(validation, tuple)
            or len(validation) != 2
            or not isinstance(validation[1], Dataset)
            or len(validation[0]) != len(members)
        ):
            raise SettingsError("validation must be a Dataset, or a pair ([scores of each ranker], Dataset)")
        others, data = [_Member.of(one) for one in validation[0]], validation[1]
    scores = [
        one.scores(data, f"{name} on validation data", unretrieved) for one, name in zip(others, names, strict=True)
    ]
    return _compared(scores[found.best_single], found.applied_to(scores), data, how, names[found.best_single])


def _on_folds(scores: list[np.ndarray], data: Dataset, folds: int, how: _How, names: tuple[str, ...]) -> Comparison:
    """Each query under weights, and a single ranker, that were chosen on the folds without it."""
    single = np.empty(data.n_documents)
    combination = np.empty(data.n_documents)
    for _, test in data.take_features([]).folds(folds, seed=how.seed):
        tested = np.isin(data.query_ids, test.query_ids)
        found = _combined(scores, data, how, names, ~tested)
        documents = np.repeat(tested, data.query_sizes)
        single[documents] = scores[found.best_single][documents]
        combination[documents] = found.applied_to(scores)[documents]
    return _compared(single, combination, data, how, "the best single ranker")


def _compared(single: np.ndarray, combination: np.ndarray, data: Dataset, how: _How, name: str) -> Comparison:
    return compare(
        data.by_row(single),
        data.by_row(combination),
        data,
        how.measure,
        names=(name, "combination"),
        blank=how.blank,
        seed=how.seed,
    )


def _check_choice(name: str, value: Any, options: tuple[str, ...]) -> None:
    if value not in options:
        raise SettingsError(f"{name} must be one of {', '.join(map(repr, options))}, not {value!r}")
