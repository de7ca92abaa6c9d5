"""Features that are columns of something else: ids, positions, numbers that float32 does not tell apart.

All of it is seen in the values: whole numbers that are different for all documents of a query. A few rows show of most
features that they are nothing of the kind, so that a training can look at all its data.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.data.feature_columns import AS_DATE
from rankforce.data.identifiers import exact_bits
from rankforce.displayed_text import displayed
from rankforce.errors import RankforceWarning, warn
from rankforce.inspection.findings import Finding
from rankforce.remedies import ReadOption

_FIRST_ROWS = 4096
_ENOUGH_DOCUMENTS = 50
_ENOUGH_QUERIES = 10  # of more than one document
_EXACT = 2.0 ** exact_bits(np.float32)
_MOST_CATEGORIES_WITH_A_BIN = 254


class SuspectColumnWarning(RankforceWarning):
    """A column of a table was taken as a feature and looks like something else."""


def suspect_columns(data: Dataset) -> Iterator[Finding]:
    """What is suspicious about the values of features."""
    for place in _whole_columns(data):
        yield from _suspicions(data, place)


def _suspicions(data: Dataset, place: int) -> Iterator[Finding]:
    """What is suspicious about a feature of whole numbers."""
    column, name = data.features[:, place], displayed(repr(data.feature_names[place]))
    largest = float(np.abs(column).max())
    if largest > _EXACT:
        step = int(np.spacing(np.float32(largest)))
        yield Finding(
            "rounded_features",
            f"Feature {name} holds whole numbers up to {largest:,.0f}, where float32 counts in steps of {step:,}.",
            "An id is to be left out, or named as the document id; of a time or a count subtract what all have in "
            "common, or divide it.",
        )
    elif _differs_within_queries(data, column):
        if _numbers_documents(data, column):
            yield Finding(
                "position_features",
                f"Feature {name} numbers the documents of each query.",
                "If it is the place where a document was shown, no model knows it before it ranks: leave it out.",
            )
        else:
            yield Finding(
                "id_features",
                f"Feature {name} is another whole number for every document of a query ({column.min():,.0f} to "
                f"{column.max():,.0f}): it looks like an id.",
                "An id says nothing about documents that are new: leave it out, or name it as the document id.",
            )


def many_categories(data: Dataset) -> Iterator[Finding]:
    """Features with more categories than trees tell apart."""
    for name, categories in data.categories.items():
        if len(categories) > _MOST_CATEGORIES_WITH_A_BIN:
            yield Finding(
                "many_categories",
                f"Feature {displayed(repr(name))} has {len(categories):,} categories.",
                f"Trees tell the {_MOST_CATEGORIES_WITH_A_BIN} most frequent apart and take all others as one: if it "
                "is an id, leave it out; if not, a coarser grouping may say more.",
            )


def warn_of_suspect_columns(data: Dataset) -> None:
    """Warn, in the beginning of a fit, of columns of a table or data frame that were hardly meant as features."""
    if data.roles and data.bins is None:  # bins do not tell
        for place in _whole_columns(data):
            for finding in _suspicions(data, place):
                name = data.feature_names[place]
                warn(
                    SuspectColumnWarning(
                        f"{finding.what} {finding.remedy} To leave it out: ", ReadOption("ignore", [name])
                    )
                )


def _whole_columns(data: Dataset) -> list[int]:
    """Numeric features that hold whole numbers, never missing, and are not all the same; dates are days, and no ids."""
    if data.n_documents < _ENOUGH_DOCUMENTS:
        return []
    first = data.features[:_FIRST_ROWS]
    with np.errstate(invalid="ignore"):
        whole = (first == np.floor(first)).all(axis=0) & (data.n_categories == 0)
    dates = {column for column, role in data.roles.items() if role == AS_DATE}
    places = [place for place in np.flatnonzero(whole).tolist() if data.feature_names[place] not in dates]
    return [
        place
        for place in places
        if (data.features[:, place] == np.floor(data.features[:, place])).all()
        and data.features[:, place].min() < data.features[:, place].max()
    ]


def _differs_within_queries(data: Dataset, column: np.ndarray) -> bool:
    """Whether no two documents of a query have the same value; in enough queries, or in all of the data."""
    counted = int(np.count_nonzero(data.query_sizes > 1))
    if counted < _ENOUGH_QUERIES and len(np.unique(column)) < len(column):
        return False
    rows = slice(0, _FIRST_ROWS)
    return _all_differ(data.row_queries[rows], column[rows]) and _all_differ(data.row_queries, column)


def _all_differ(queries: np.ndarray, values: np.ndarray) -> bool:
    order = np.lexsort((values, queries))
    same = (np.diff(queries[order]) == 0) & (np.diff(values[order]) == 0)
    return not same.any()


def _numbers_documents(data: Dataset, column: np.ndarray) -> bool:
    """Whether the values of each query are 1, 2, 3, ... (or begin with 0), in any order."""
    grouped, starts = data.by_query(column), data.query_starts[:-1]
    lows, highs = np.minimum.reduceat(grouped, starts), np.maximum.reduceat(grouped, starts)
    return bool((highs - lows + 1 == data.query_sizes).all() and (lows <= 1).all() and data.query_sizes.max() > 1)
