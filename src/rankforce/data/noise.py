"""Labels as other judges would have given them: confusion of grades by a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.data.dataset import MAIN_LABEL, Dataset, check_dataset, document_hashes
from rankforce.data.frames import as_numbers
from rankforce.data.hashing import checked_seed, combine, hash_ids
from rankforce.data.random_streams import Stream
from rankforce.errors import DataError
from rankforce.kinds import Whole, check_number, shown

MOST_GRADES = 1000


def confuse_labels(data: Dataset, matrix: Any, seed: int = 0, label: str = MAIN_LABEL, *, times: int = 1) -> Dataset:
    """The data set with grades drawn anew: grade t becomes grade c with probability ``matrix[t, c]``.

    The draw of a document is a hash of seed, label source, query id, position in the query, and of all labels that the
    source has now. So the order of the queries does not matter, and labels that are confused once more are drawn
    afresh, also with the same seed and after a detour through a file: two times follow the square of the matrix.
    (Labels of which not one changed are drawn as before. Of dozens of documents that does not happen.) Confusing a part
    of the queries is another draw than taking that part of the confused ones. Unlabelled documents stay unlabelled.

    Parameters
    ----------
    matrix : array of shape (grades, grades)
        Row-stochastic: no entry negative, every row sums to 1 (within 1e-6).
    label : str
        Which label source; it must hold whole numbers from 0 to grades - 1.
    times : int
        How often: ``times=2`` is ``confuse_labels`` of what ``confuse_labels`` gives.
    """
    check_dataset(data)
    cumulated = np.cumsum(_checked_matrix(matrix), axis=1)
    seed = checked_seed(seed)
    check_number("times", times, 1, whole=True)
    grades = data.by_query(data.label(label))
    label_hash, documents = hash_ids(np.array([label], dtype=object)), document_hashes(data)
    for _ in range(times):
        draws = Stream.LABEL_NOISE.uniform(seed, label_hash, _content(documents, grades), documents)
        grades = _confused(grades, cumulated, draws, f"label {label!r}")
    return data.with_label(label, data.by_row(grades))


def _content(documents: np.ndarray, grades: np.ndarray) -> np.uint64:
    """A hash of all grades, whatever the order of the queries."""
    whole = np.where(np.isnan(grades), -1.0, grades + 0.0)  # −0 is 0
    return np.add.reduce(combine(documents, whole.view(dtypes.HASH)))  # wraps around, as hashes do


def _confused(old: np.ndarray, cumulated: np.ndarray, draws: np.ndarray, what: str) -> np.ndarray:
    """Grades by their draws in [0, 1) and the sums along the rows of the matrix."""
    places, labelled = _grades(old, len(cumulated), what)
    new = np.full(len(old), np.nan)
    for grade, sums in enumerate(cumulated):
        chosen = labelled[places == grade]
        # a grade of probability 0 has no room between its edges, and side="right" steps over it
        new[chosen] = np.searchsorted(sums[:-1] / sums[-1], draws[chosen], side="right")
    return new


def confusion_from_repeats(first: Any, second: Any, grades: int | None = None) -> np.ndarray:
    """The confusion matrix P(second judgment | first judgment), from items that were judged twice.

    With N[a, b] items judged a and then b, the estimate is M[a, b] = (N + Nᵀ)[a, b] / Σ_c (N + Nᵀ)[a, c].

    It assumes that the two judgments are exchangeable (the same judges, no memory) and independent given the item.
    M then turns the labels of one judge into those of another: what ``confuse_labels`` needs to ask how much of a
    result survives a second opinion. It is *not* the error of one judge against a hidden truth, which is smaller:
    two judges who each err independently disagree about twice as often as one errs.

    Parameters
    ----------
    first, second : arrays of whole numbers from 0
        The two judgments of every item. Items without one of them (NaN) are left out.
    grades : int, optional
        The size of the matrix, by default the highest grade given plus 1. A grade that no judge gave stays itself,
        for nothing is known about it.
    """
    a, b = (
        np.asarray(as_numbers(values, name), dtype=np.float64)
        for values, name in ((first, "first"), (second, "second"))
    )
    if a.ndim != 1 or a.shape != b.shape:
        raise DataError(f"first and second must be equally long: they have shapes {a.shape} and {b.shape}")
    graded_twice = ~(np.isnan(a) | np.isnan(b))
    if not graded_twice.any():
        raise DataError("no item was judged twice")
    if grades is None:
        top = max(a[graded_twice].max(), b[graded_twice].max())
        if not top < MOST_GRADES:
            raise DataError(f"grades must be whole numbers from 0 to {MOST_GRADES - 1}, not {top:g}")
        grades = max(int(top), 0) + 1
    elif not Whole(1, MOST_GRADES).holds(grades):
        raise DataError(f"grades must be a positive whole number of at most {MOST_GRADES}, not {shown(grades)}")
    firsts, _ = _grades(a[graded_twice], int(grades), "first")
    seconds, _ = _grades(b[graded_twice], int(grades), "second")
    counts = np.bincount(firsts * grades + seconds, minlength=grades * grades).reshape(grades, grades).astype(float)
    counts += counts.T
    unseen = counts.sum(axis=1) == 0
    counts[unseen, unseen] = 1.0
    return counts / counts.sum(axis=1, keepdims=True)


def _checked_matrix(matrix: Any) -> np.ndarray:
    values = np.asarray(as_numbers(matrix, "the confusion matrix"), dtype=np.float64)
    if values.ndim != 2 or values.shape[0] != values.shape[1] or not values.size:
        raise DataError(f"a confusion matrix is square, P(new grade | old grade): not shape {values.shape}")
    if not (np.isfinite(values) & (values >= 0.0)).all():
        row, column = np.argwhere(~(np.isfinite(values) & (values >= 0.0)))[0]
        raise DataError(f"entry [{row}, {column}] of the confusion matrix is no probability: {values[row, column]:g}")
    sums = values.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums - 1.0) > 1e-6)
    if len(wrong):
        remedy = "; the columns do: transpose it" if (np.abs(values.sum(axis=0) - 1.0) <= 1e-6).all() else ""
        raise DataError(f"row {wrong[0]} of the confusion matrix sums to {sums[wrong[0]]:g}, not to 1{remedy}")
    return values


def _grades(labels: np.ndarray, grades: int, what: str) -> tuple[np.ndarray, np.ndarray]:
    """(grades of the labelled documents as whole numbers, the places of these documents)."""
    labelled = np.flatnonzero(~np.isnan(labels))
    values = labels[labelled]
    bad = np.flatnonzero(~((values >= 0) & (values < grades) & (values == np.floor(values))))
    if len(bad):
        raise DataError(
            f"{what} must hold whole numbers from 0 to {grades - 1} for {grades} grades: {values[bad[0]]:g} is not one"
        )
    return values.astype(np.int64), labelled
