"""Combine rankers: the weights that make the mean of a measure as high as it can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rankforce.combining.combined import Combined
from rankforce.combining.member import Member
from rankforce.combining.pair import SEARCHES, Unreached
from rankforce.combining.weights import Found, How, best_weights
from rankforce.data.dataset import Dataset, check_dataset
from rankforce.data.hashing import checked_seed
from rankforce.errors import SettingsError
from rankforce.evaluation.compare import compare
from rankforce.evaluation.comparison import Comparison
from rankforce.evaluation.request import BLANK_POLICIES, Request
from rankforce.kinds import Several, Text, check_choice, check_number, shown
from rankforce.measures.catalogue import measure as measure_of
from rankforce.measures.measure import Measure
from rankforce.models.model import Model
from rankforce.models.provenance import Provenance
from rankforce.remedies import NAME_ALONE, Argument, Phrase
from rankforce.threads import using_threads

METHODS = ("sweep", "net")
UNRETRIEVED = ("raise", "lowest")


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
    ones the widest. Where the best interval is too narrow for float64 weights, the best that they reach is taken, and
    the result says so (``unreached``). For more than two, each ranker in turn is combined so with the mixture of the
    others until nothing improves, from several starts: a local optimum.

    Parameters
    ----------
    rankers : sequence of two or more
        Models, fitted rankers, names of features or of model files, arrays of one score per row, and whatever else
        ``rf.evaluate`` takes.
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
    check_dataset(data)
    check_choice("method", method, METHODS)
    check_choice("search", search, SEARCHES)
    check_choice("blank", blank, BLANK_POLICIES)
    check_choice("unretrieved", unretrieved, UNRETRIEVED)
    seed = checked_seed(seed)
    check_number("starts", starts, 1, whole=True)
    check_number("hidden", hidden, 0, whole=True)
    check_number("folds", folds, 2, whole=True, optional=True)
    for name, is_set, belongs in (("hidden", hidden != 0, "net"), ("search", search != "mixture", "sweep")):
        if is_set and method != belongs:
            raise SettingsError(Argument(name, NAME_ALONE), " goes with ", Argument("method", belongs))
    if validation is not None and folds is not None:
        raise SettingsError("test on validation data or on folds of the data, not on both")
    target = measure_of(measure)
    members = [Member.of(ranker, data.feature_names) for ranker in _several(rankers)]
    member_names = _names(names, members)
    how = How(target, method, search, hidden, blank, starts, seed)
    Request.of(target, blank=blank, threads=threads).on(data)
    if folds is not None:
        data.folds(folds, seed=seed)  # refuses more folds than queries; deals nothing yet
    tested = None if validation is None else _validation(validation, members, member_names, target, blank)
    with using_threads(threads):
        scores = [member.scores(data, name, unretrieved) for member, name in zip(members, member_names, strict=True)]
        combination = best_weights(scores, data, how, member_names)
        held_out, tested_on = None, ""
        if tested is not None:
            held_out = _on_other_data(combination, *tested, member_names, unretrieved, how)
            tested_on = "validation data"
        elif folds is not None:
            held_out = _on_folds(scores, data, folds, how, member_names)
            tested_on = f"{folds} folds"
    settings = {
        "ranker": "combine",
        "method": method,
        "search": search,
        "hidden": hidden,
        "blank": blank,
        "unretrieved": unretrieved,
        "starts": starts,
        "rankers": list(member_names),
    }
    return Combined(
        measure=target,
        names=member_names,
        weights=combination.weights,
        value=combination.value,
        scores=data.by_row(combination.applied_to(scores)),
        singles=combination.singles,
        curves=tuple(choice.curve for choice in combination.chosen),
        intervals=tuple(choice.interval for choice in combination.chosen),
        places=tuple(choice.place for choice in combination.chosen),
        unreached=_highest_unreached(combination),
        held_out=held_out,
        tested_on=tested_on,
        net=combination.net,
        _models=tuple(member.model(data) for member in members),
        _provenance=_provenance(data, settings, how),
    )


WANTED_RANKERS = "rankers must be a sequence of at least two: rf.combine([one, another], data, measure)"


def _provenance(data: Dataset, settings: dict[str, Any], how: How) -> Callable[[Model], Provenance]:
    """What a model of the combination keeps of the data, whose features it may read in another order, or not all."""
    return lambda model: Provenance.of_training(
        data, settings=settings, objective=str(how.measure), seed=how.seed
    ).of_features(model.places_in(data))


def _highest_unreached(found: Found) -> Unreached | None:
    """The highest piece of all curves, if no weights reach it and it is above what was found."""
    pieces = [one.unreached for one in found.chosen if one.unreached is not None and one.unreached.value > found.value]
    return max(pieces, key=lambda piece: piece.value, default=None)


def _several(rankers: Any) -> list[Any]:
    if isinstance(rankers, (str, bytes)) or not isinstance(rankers, (Sequence, np.ndarray)):
        raise SettingsError(WANTED_RANKERS)
    if np.ndim(rankers) == 0 if isinstance(rankers, np.ndarray) else len(rankers) < 2:
        raise SettingsError(WANTED_RANKERS)
    return list(rankers)


def _names(names: Sequence[str] | None, members: list[Member]) -> tuple[str, ...]:
    if names is None:
        names = [
            one.given if isinstance(one.given, str) else f"ranker {number}"
            for number, one in enumerate(members, start=1)
        ]
    if not Several(Text()).holds(names) or len(names) != len(members):
        raise SettingsError(f"names must be one name per ranker ({len(members)}), not {shown(names)}")
    return tuple(str(name) for name in names)


def _validation(
    validation: Any, members: list[Member], names: tuple[str, ...], measure: Measure, blank: str
) -> tuple[list[Member], Dataset]:
    """What ranks the validation data, and that data, which the measure fits."""
    if isinstance(validation, Dataset):
        for member, name in zip(members, names, strict=True):
            if member.is_array:
                raise SettingsError(
                    f"{name} was given as scores: ",
                    Phrase(
                        "give its scores on the validation data, too: validation=([scores of each ranker], data)",
                        "only models and features rank other data; use --folds",
                    ),
                )
        other_members, data = members, validation
    else:
        if (
            not isinstance(validation, tuple)
            or len(validation) != 2
            or not isinstance(validation[1], Dataset)
            or len(validation[0]) != len(members)
        ):
            raise SettingsError("validation must be a Dataset, or a pair ([scores of each ranker], Dataset)")
        data = validation[1]
        other_members = [Member.of(ranker, data.feature_names) for ranker in validation[0]]
    Request.of(measure, blank=blank).on(data)
    return other_members, data


def _on_other_data(
    found: Found, others: list[Member], data: Dataset, names: tuple[str, ...], unretrieved: str, how: How
) -> Comparison:
    scores = [
        one.scores(data, f"{name} on validation data", unretrieved) for one, name in zip(others, names, strict=True)
    ]
    return _compared(scores[found.best_single], found.applied_to(scores), data, how, names[found.best_single])


def _on_folds(scores: list[np.ndarray], data: Dataset, folds: int, how: How, names: tuple[str, ...]) -> Comparison:
    """Each query under weights, and a single ranker, that were chosen on the folds without it."""
    single = np.empty(data.n_documents)
    combination = np.empty(data.n_documents)
    for _, test in data.take_features([]).folds(folds, seed=how.seed):
        tested = np.isin(data.query_ids, test.query_ids)
        found = best_weights(scores, data, how, names, ~tested)
        documents = np.repeat(tested, data.query_sizes)
        single[documents] = scores[found.best_single][documents]
        combination[documents] = found.applied_to(scores)[documents]
    return _compared(single, combination, data, how, "the best single ranker")


def _compared(single: np.ndarray, combination: np.ndarray, data: Dataset, how: How, name: str) -> Comparison:
    return compare(
        data.by_row(single),
        data.by_row(combination),
        data,
        how.measure,
        names=(name, "combination"),
        blank=how.blank,
        seed=how.seed,
    )
