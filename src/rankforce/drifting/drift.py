"""Whether new data is still like the data that a model was trained on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.data.dataset import Dataset, check_dataset
from rankforce.drifting.column_drift import STEADY, Column, ColumnDrift
from rankforce.drifting.drift_result import LEVELS, Drift
from rankforce.drifting.order_changes import OrderChanges, order_changes
from rankforce.drifting.references import Reference
from rankforce.errors import DataError, SettingsError
from rankforce.evaluation.scores import scores_of
from rankforce.evaluation.significance import holm
from rankforce.kinds import Number

SCORE = "score"


def drift(
    model: Any,
    new: Dataset,
    *,
    train: Dataset | None = None,
    held_out: Dataset | None = None,
    former: Any = None,
    alpha: float = 0.05,
) -> Drift:
    """Compare new data with the training data of a model: its features, and the model's scores.

    Parameters
    ----------
    model : a model of rankforce or a fitted ranker, which keeps the distribution of its training data; or a Dataset, to
        compare two data sets
    new : Dataset, with labels or without
    train : the training data, of a model that does not keep its distribution
    held_out : data that the model did not learn from, whose scores the new ones are compared with; default: what the
        model keeps of its validation data. Scores of the training data would not do: a model is surer of these
    former : a model (or anything that ranks), to tell how many pairs of documents change places
    alpha : how probable a false alarm may be, over all columns together

    A column has drifted if it is much (PSI of 0.2, or 5 % of the values outside of what was seen) *and* chance does not
    explain it. With few queries a PSI of 0.2 is what chance does: ``psi_by_chance`` says how much. p-values are bounds
    that hold for whole queries, however alike the documents of one query are, and are corrected for the number of
    columns by Holm's method; see docs/drift.md.
    """
    check_dataset(new)
    if not Number(0.0, 1.0, above=True).holds(alpha):
        raise SettingsError(f"alpha must be a number above 0 and at most 1, not {alpha!r}")
    reference = Reference.of(model, train, held_out)
    columns = _feature_drifts(reference, new)
    scores = None
    if reference.model is not None:
        scores = np.array(new.by_query(reference.model.predict(new)), dtype=dtypes.SCORE)
        if reference.known.scores is not None:
            columns.append(_score_drift(reference, scores, new))
    adjusted = holm([one.p_value for one in columns])
    judged = [one.judged(p, float(alpha)) for one, p in zip(columns, adjusted, strict=True)]
    scored = judged.pop() if len(judged) > len(reference.feature_names) else None
    judged.sort(key=lambda one: (-LEVELS.index(one.verdict), -one.weight * one.psi))
    return Drift(
        features=tuple(judged),
        score=scored,
        order=None if former is None else _order(former, scores, new),
        known_queries=reference.known.all_queries,
        new_queries=new.n_queries,
        new_documents=new.n_documents,
        weighed_by=reference.weighed_by,
        alpha=float(alpha),
    )


def _feature_drifts(reference: Reference, new: Dataset) -> list[ColumnDrift]:
    known = reference.known
    drifts = []
    for place, own in enumerate(reference.places_in(new)):
        name = reference.feature_names[place]
        listed = new.categories.get(new.feature_names[own])
        column = Column(
            name,
            known.features[place],
            queries=known.queries,
            all_queries=known.all_queries,
            low=float(reference.lows[place]),
            high=float(reference.highs[place]),
            categories=reference.categories.get(name),
        )
        if (column.known.categories is None) != (listed is None):
            then, now = ("numbers", "categories") if listed is not None else ("categories", "numbers")
            raise DataError(f"feature {name!r} was {then} in the training data and is {now} in the new data")
        values = np.ascontiguousarray(new.by_query(new.features[:, own]))
        drifts.append(column.drift(values, new.query_sizes, listed, float(reference.weights[place])))
    return drifts


def _score_drift(reference: Reference, scores: np.ndarray, new: Dataset) -> ColumnDrift:
    """A range of scores is none of the training data: whatever is beyond the last cut is in the last bin."""
    known = reference.known
    assert known.scores is not None
    column = Column(SCORE, known.scores, known.score_queries, known.score_queries, -math.inf, math.inf)
    return column.drift(scores.astype(dtypes.FEATURE), new.query_sizes, None, math.nan)


def _order(former: Any, scores: np.ndarray | None, new: Dataset) -> OrderChanges:
    if scores is None:
        raise SettingsError("a former model is compared with a model: give one in place of the training data")
    return order_changes(new, scores_of(former, new), scores)


def is_at_least(verdict: str, level: str) -> bool:
    """Whether a verdict is as grave as a level, of which the least grave is "steady"."""
    return level != STEADY and LEVELS.index(verdict) >= LEVELS.index(level)
