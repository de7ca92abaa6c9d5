"""How much a measure loses without each feature of a model."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from rankforce.console.progress import Progress
from rankforce.data.dataset import Dataset
from rankforce.data.hashing import hash_ids
from rankforce.data.random_streams import Stream
from rankforce.errors import DataError
from rankforce.evaluation import significance
from rankforce.evaluation.evaluate import evaluate
from rankforce.evaluation.request import Request
from rankforce.evaluation.result import Evaluation
from rankforce.explaining.attribution import rows_of
from rankforce.explaining.explained_models import explained_model
from rankforce.explaining.feature_importance import FeatureImportance, FeatureLoss
from rankforce.explaining.neutralised import OneFeature, scores_of_rows
from rankforce.explaining.place_changes import Readers
from rankforce.kinds import Several, Text, Whole, check_switches, shown
from rankforce.measures.catalogue import measure as read_measure
from rankforce.measures.mean import weighted_mean
from rankforce.measures.measure import Measure
from rankforce.models.model import Model
from rankforce.threads import using_threads

NOTHING = significance.Interval(0.0, 0.0)


def importance(
    model: Any,
    data: Dataset,
    measure: str | Measure = "NDCG@10",
    *,
    features: Iterable[str] | None = None,
    permutations: int = 5,
    ties: str = "expected",
    blank: str | None = None,
    level: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    progress: bool = True,
) -> FeatureImportance:
    """What a measure loses without each feature, in two senses.

    *Permuted*: the values of the feature are dealt anew among the documents of each query, ``permutations`` times, and
    the mean value is compared with that of the data as it is. *Removed*: the feature is taken out of the model: at its
    splits in trees a document goes down both sides, in the shares of the training documents; nets and perceptrons see
    its mean, graphs a missing value. Positive losses are those of features that help.

    Parameters
    ----------
    model : a model of rankforce, or a fitted ranker
    data : Dataset with labels; best one that the model was not trained on
    measure : what is lost
    features : the names of some features; None: all
    ties : as for ``rf.evaluate``; the default is the exact mean over their orders, since a model without a feature
        ties more documents, which files that are sorted by grade would reward
    blank, level, threads : as for ``rf.evaluate``; intervals are Student's t over the losses of the queries
    seed : of the deals, which do not depend on the order of the queries

    Of an ensemble, only trees that split on a feature are scored again for it.
    """
    explained = explained_model(model)
    Whole(1, 10_000).check("permutations", permutations)
    check_switches(progress=progress)
    asked = read_measure(measure)
    request = Request.of(asked, ties=ties, blank=blank, level=level, seed=seed, threads=threads)
    request.on(data)
    places = _places(features, explained)
    rows = rows_of(explained, data)

    def evaluated(scores: np.ndarray) -> Evaluation:
        return evaluate(scores, data, asked, ties=ties, blank=blank, level=level, seed=seed, threads=threads)

    readers = Readers.of(explained)
    used = [place for place in places if readers.smooth[place] or len(readers.thresholds[place])]
    losses = []
    with using_threads(threads), Progress("importance", len(used), "feature", progress) as shown_progress:
        whole = evaluated(scores_of_rows(explained, rows))
        for done, place in enumerate(used, start=1):
            losses.append(_loss(explained, data, rows, place, permutations, request, evaluated))
            shown_progress.advance(done, {explained.feature_names[place]: losses[-1].permuted})
    unused = [explained.feature_names[place] for place in places if place not in set(used)]
    losses += [FeatureLoss(name, 0.0, NOTHING, 0.0, NOTHING) for name in unused]
    losses.sort(key=lambda loss: -loss.permuted if not math.isnan(loss.permuted) else math.inf)
    return FeatureImportance(
        measure=str(asked),
        value=whole.mean[asked],
        losses=tuple(losses),
        unused=tuple(unused),
        permutations=int(permutations),
        n_queries=whole.counted[asked],
        level=whole.level,
        policies=whole.policies,
    )


def _loss(
    model: Model, data: Dataset, rows: np.ndarray, place: int, permutations: int, request: Request, evaluated: Any
) -> FeatureLoss:
    one, name = OneFeature(model, rows, place), model.feature_names[place]
    column = rows[:, place]
    before = evaluated(one.scores(column))  # summed in the same order as what it is compared with
    measure = next(iter(request.measures))
    after = np.zeros(data.n_queries)
    for deal in range(permutations):
        after += evaluated(one.scores(dealt(column, data, name, deal, request.seed))).per_query[measure]
    removed = evaluated(one.scores_without()).per_query[measure]
    values, weights = before.per_query[measure], before.weights(measure)
    permuted = _mean(values - after / permutations, weights, request.level)
    return FeatureLoss(name, *permuted, *_mean(values - removed, weights, request.level))


def dealt(column: np.ndarray, data: Dataset, feature: str, deal: int, seed: int) -> np.ndarray:
    """The values of a feature dealt anew among the documents of each query."""
    position = np.arange(data.n_documents) - np.repeat(data.query_starts[:-1], data.query_sizes)
    query = np.repeat(np.arange(data.n_queries), data.query_sizes)
    words = Stream.PERMUTED_VALUES.words(
        seed, deal, hash_ids(np.array([feature])), data.query_hashes[query], position
    )  # fmt: skip
    order = np.lexsort((words, query))
    return data.by_row(np.ascontiguousarray(data.by_query(column)[order]))


def _mean(differences: np.ndarray, weights: np.ndarray | None, level: float) -> tuple[float, significance.Interval]:
    """The mean over the queries that count, and its interval."""
    counted = ~np.isnan(differences)
    values, weights = differences[counted], None if weights is None else weights[counted]
    return weighted_mean(values, weights), significance.t_interval(values, weights, level)


def _places(features: Any, model: Model) -> list[int]:
    if features is None:
        return list(range(model.n_features))
    if not Several(Text()).holds(features):
        raise DataError(f"features must be a list of names, not {shown(features)}")
    place_of = {name: place for place, name in enumerate(model.feature_names)}
    for name in features:
        if name not in place_of:
            raise DataError(f"the model has no feature {shown(name)}")
    return [place_of[name] for name in dict.fromkeys(features)]
