"""What ranks documents, as scores: the one place where a ranking is told from what is none.

A ranking is a model or a function (``foreign_models.py``), an array or a column of scores, the name of a feature, a
TREC run (``run_scores.py``), or the path of a model file or of a run.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.data import frames
from rankforce.data.dataset import Dataset
from rankforce.data.trec import read_run
from rankforce.displayed_text import displayed
from rankforce.errors import DataError
from rankforce.evaluation.foreign_models import name_of, predictions, ranks_documents
from rankforce.evaluation.run_scores import holds_run, run_scores
from rankforce.importing.library_objects import from_library
from rankforce.importing.recognising import load, looks_like_model, names_model_file

LARGEST_EXACT = 2**53  # whole numbers up to here are float64 numbers


def scores_of(ranking: Any, data: Dataset) -> np.ndarray:
    """The scores of a ranking, checked, in ``by_query`` order: a new float64 array."""
    if isinstance(ranking, (str, os.PathLike)):
        path = os.fspath(ranking)
        if path not in data.feature_names and isinstance(path, str) and os.path.isfile(path):
            return scores_of(load(path) if looks_like_model(path) else read_run(path), data)
        name = _feature(path, data)
        if name in data.categories:
            raise DataError(f"feature {name!r} holds categories, which have no order: nothing can be ranked by it")
        return _checked(f"feature {name!r}", data.features[:, data.feature_names.index(name)], data)
    if isinstance(ranking, type):
        raise DataError(f"{ranking.__name__} is a class, and ranks nothing: make a model of it, and fit it")
    if holds_run(ranking):
        return _checked("the run", run_scores(ranking, data), data)
    if ranks_documents(ranking):
        return _checked(f"the prediction of {name_of(ranking)}", predictions(ranking, data), data)
    return _checked("the scores", ranking, data)


def _feature(name: Any, data: Dataset) -> str:
    if isinstance(name, str) and name in data.feature_names:
        return name
    known = ", ".join(data.feature_names[:8]) + (", ..." if data.n_features > 8 else "")
    no_file = ", and there is no file of that name" if isinstance(name, str) and _names_file(name) else ""
    raise DataError(f"the data has no feature {name!r} to rank by (it has: {known}){no_file}")


def _names_file(text: str) -> bool:
    return names_model_file(text) or os.sep in text or text.lower().endswith((".run", ".gz"))


def _checked(what: str, ranking: Any, data: Dataset) -> np.ndarray:
    values = _numbers(what, ranking)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (data.n_documents,):
        columns = "; choose one of its columns" if values.ndim == 2 and len(values) == data.n_documents else ""
        raise DataError(
            f"{what} must have one entry per document ({data.n_documents}), not shape {values.shape}{columns}"
        )
    if values.dtype.kind in "iu" and max(-int(values.min()), int(values.max())) > LARGEST_EXACT:
        raise DataError(
            f"{what} are whole numbers beyond 2^53, of which float64 cannot tell all apart: give their ranks, or "
            "smaller numbers"
        )
    scores = np.array(values, dtype=dtypes.SCORE)
    largest = scores.max()  # NaN if any score is
    if np.isnan(largest) or largest == np.inf:
        row = int(np.flatnonzero(np.isnan(scores) | (scores == np.inf))[0])
        problem = "is NaN" if np.isnan(scores[row]) else "is +inf"
        raise DataError(
            f"{what}: the score of row {row} (query {displayed(data.qid[row])}) {problem}; "
            "a document that was not retrieved has score -inf, every other a finite one"
        )
    return data.by_query(scores)


def _numbers(what: str, given: Any) -> np.ndarray:
    """An array of numbers or truth values, of any shape."""
    try:
        if from_library(given, "torch"):
            given = _without_gradient(given)
        values = np.asarray(frames.as_vector(given))
    except Exception as error:  # whatever an object does where it is asked for its numbers
        reason = f" ({type(error).__name__}: {str(error)[:200]})"
        values = np.empty(0, dtype=object)
    else:
        reason = ""
    if values.dtype.kind not in "biuf":
        raise DataError(
            f"{what} must be numbers, one per document; give an array, a model with predict, or the name of a feature, "
            f"not {type(given).__name__}{reason}"
        )
    return values


def _without_gradient(tensor: Any) -> Any:
    """A PyTorch tensor as NumPy takes it: without its history, on the processor, in a precision that both have."""
    tensor = tensor.detach().cpu()
    return (tensor.double() if tensor.is_floating_point() else tensor).numpy()
