"""Estimators of other libraries where rankers are trained: fitted on features, labels and queries as each takes them.

LightGBM's and XGBoost's rankers get queries and validation data, CatBoost's too; every other estimator that follows
scikit-learn is fitted on features and labels. Weights of documents and queries are not handed on: what they mean
differs from library to library.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from rankforce.data.dataset import MAIN_LABEL, Dataset
from rankforce.data.feature_matching import are_numbered
from rankforce.errors import DataError, RankforceError, SettingsError
from rankforce.evaluation.foreign_models import name_of
from rankforce.evaluation.scores import scores_of
from rankforce.importing.library_objects import attribute, first_line, from_library
from rankforce.kinds import shown
from rankforce.remedies import Phrase
from rankforce.training.ranker import Ranker


def trainable(given: Any) -> Any:
    """A ranker as it is, an estimator of another library as one; an error for what has nothing to learn."""
    if isinstance(given, Ranker):
        return given
    if isinstance(given, type):
        raise SettingsError(f"a ranker is needed, not its class: for example {given.__name__}()")
    if callable(attribute(given, "get_params")) and all(callable(attribute(given, one)) for one in ("fit", "predict")):
        return ForeignRanker(given)
    if given is None or isinstance(given, (int, float, bytes)):
        raise SettingsError(f"a ranker is needed, for example rf.LambdaMART(), not {shown(given)}")
    what = shown(given) if isinstance(given, str) else name_of(given)
    raise SettingsError(
        "a ranker is needed, for example rf.LambdaMART(), or an estimator of scikit-learn, LightGBM, XGBoost or "
        f"CatBoost, and {what} learns nothing: it has no fit. What is already a ranking is measured on all queries",
        Phrase(" by rf.evaluate, and its evaluation can be compared with that of a cross-validation", ""),
    )


class ForeignRanker:
    """An estimator of another library with the parts of a ranker that cross-validation uses."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def silent(self) -> ForeignRanker:
        """A copy that has learned nothing."""
        from sklearn.base import clone

        try:
            return ForeignRanker(clone(self.estimator))
        except Exception as error:  # an estimator whose constructor changes what it is given
            raise SettingsError(
                f"{name_of(self.estimator)} cannot be copied unfitted: {type(error).__name__}: {first_line(error)}"
            ) from error

    def fit(self, train: Dataset, *, validation: Dataset | None = None) -> None:
        """Fit the estimator on the main label."""
        given = _arranged(train, name_of(self.estimator))
        held_out = None if validation is None else _arranged(validation, name_of(self.estimator))
        try:
            self.estimator.fit(given.features, given.labels, **_queries(self.estimator, given, held_out))
        except RankforceError:
            raise
        except Exception as error:  # the library's: it may be any
            raise DataError(
                f"{name_of(self.estimator)} cannot be fitted: {type(error).__name__}: {first_line(error)}\n"
                f"  it was handed {given.features.shape[0]:,} × {given.features.shape[1]:,} features and the labels "
                f"{MAIN_LABEL!r}, query after query"
            ) from error

    def predict(self, data: Dataset) -> np.ndarray:
        """Scores in the order of the rows."""
        return data.by_row(scores_of(self.estimator, data))


class _ArrangedDocuments:
    """Features and labels, query after query."""

    def __init__(self, features: Any, labels: np.ndarray, sizes: np.ndarray) -> None:
        self.features = features
        self.labels = labels
        self.sizes = sizes

    @property
    def queries(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)


def _arranged(data: Dataset, name: str) -> _ArrangedDocuments:
    labels = data.labels.get(MAIN_LABEL)
    if labels is None or np.isnan(labels).any():
        raise DataError(
            f"{name} learns from the label of every document, and {MAIN_LABEL!r} "
            + ("is not in the data" if labels is None else "is missing for some: leave these documents out")
        )
    features: Any = data.features[data.rows]
    if not are_numbered(data.feature_names):
        try:
            import pandas as pd
        except ImportError:
            pass
        else:
            features = pd.DataFrame(features, columns=list(data.feature_names), copy=False)
    return _ArrangedDocuments(features, labels[data.rows], data.query_sizes)


def _queries(estimator: Any, train: _ArrangedDocuments, held_out: _ArrangedDocuments | None) -> dict[str, Any]:
    """What ``fit`` is told beside features and labels."""
    takes = inspect.signature(estimator.fit).parameters
    given: dict[str, Any] = {}
    if from_library(estimator, "lightgbm") and "group" in takes:
        given["group"] = train.sizes
        if held_out is not None:
            given["eval_group"] = [held_out.sizes]
            if "eval_X" in takes:  # from LightGBM 4.7 on
                given |= {"eval_X": held_out.features, "eval_y": held_out.labels}
            else:
                given["eval_set"] = [(held_out.features, held_out.labels)]
    elif from_library(estimator, "xgboost") and "qid" in takes:
        given["qid"] = train.queries
        if held_out is not None:
            given |= {"eval_set": [(held_out.features, held_out.labels)], "eval_qid": [held_out.queries]}
    elif from_library(estimator, "catboost"):
        given["verbose"] = False
        if "group_id" in takes:
            given["group_id"] = train.queries
        if held_out is not None:
            import catboost

            group = held_out.queries if "group_id" in takes else None
            given["eval_set"] = catboost.Pool(held_out.features, held_out.labels, group_id=group)
    return given
