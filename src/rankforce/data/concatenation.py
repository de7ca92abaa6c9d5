"""Several data sets as one: documents one set after the other, features by name, lists of categories united."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.data.categories import UNKNOWN, Category
from rankforce.data.dataset import MAIN_LABEL, Dataset, check_dataset
from rankforce.data.feature_matching import are_numbered
from rankforce.data.query_groups import Numbered
from rankforce.errors import DataError
from rankforce.kinds import check_choice, shown
from rankforce.remedies import Argument, Phrase

SAME_QUERY = ("raise", "merge", "apart")
FEATURES = ("same", "union", "shared")
Categories = Mapping[str, Sequence[Category]]  # by feature


def concatenated(parts: Any, same_query: str, features: str) -> Dataset:
    """The data sets as one; see ``Dataset.concat``."""
    check_choice("same_query", same_query, SAME_QUERY)
    check_choice("features", features, FEATURES)
    sets = _checked(parts)
    owned = _own_names(sets)
    names = _feature_names(owned, features)
    coded = [_categories(one, own) for one, own in zip(sets, owned, strict=True)]
    categories = {name: listed for name in names if (listed := _united_categories(owned, coded, name)) is not None}
    labels = {source: None for one in sets for source in one.labels}
    columns = {source: np.concatenate([_label(one, source) for one in sets]) for source in labels}
    numbers, ids = _queries(sets, same_query)
    weights = _per_document(sets, lambda one: one.weights)
    return Dataset(
        np.concatenate([_matrix(*one, names, categories) for one in zip(sets, owned, coded, strict=True)]),
        columns.pop(MAIN_LABEL, None),
        Numbered(numbers, ids),
        labels=columns,
        weights=weights,
        query_weights=_query_weights(sets, numbers, ids),
        feature_names=names,
        document_ids=_document_ids(sets),
        categories=categories,
    ).with_origins(_common([one.origins for one in sets]), _common([one.roles for one in sets]))


def _common(remembered: Sequence[Mapping[str, str]]) -> Mapping[str, str]:
    """What all sets remember alike, if they do."""
    return remembered[0] if all(one == remembered[0] for one in remembered) else {}


def _checked(parts: Any) -> list[Dataset]:
    if isinstance(parts, (str, bytes, Dataset)) or not isinstance(parts, Iterable):
        raise DataError(f"data sets are joined as a list: Dataset.concat([a, b]), not {shown(parts)}")
    try:
        sets = list(parts)
    except Exception as error:  # an object that only promises to be a list
        raise DataError(f"the data sets to join cannot be listed: {error}") from error
    if not sets:
        raise DataError("there is no data set to join: Dataset.concat([a, b])")
    for one in sets:
        check_dataset(one)
    return sets


# ------------------------------------------------------------------------------------------------------------ features


def _own_names(sets: Sequence[Dataset]) -> list[Sequence[str]]:
    """The names of the features of each set.

    Features that are only numbered in one set and named in another are the same ones if they are equally many.
    """
    named = [one for one in sets if not are_numbered(one.feature_names)] or list(sets)
    first = named[0].feature_names
    return [first if _by_place(one, first) else one.feature_names for one in sets]


def _feature_names(lists: Sequence[Sequence[str]], wanted: str) -> list[str]:
    """The features of the whole, in the order of the first set."""
    everywhere = set(lists[0]).intersection(*map(set, lists))
    if wanted == "shared":
        return [name for name in lists[0] if name in everywhere]
    union = list(dict.fromkeys(name for listed in lists for name in listed))
    odd = [name for name in union if name not in everywhere]
    if odd and wanted == "same":
        number = next(place for place, listed in enumerate(lists, start=1) if odd[0] not in listed)
        more = f" (and {len(odd) - 1:,} more are not in all sets)" if len(odd) > 1 else ""
        raise DataError(
            f"data set {number} has no feature {odd[0]!r}, another one has{more}; ",
            Argument("features", "union"),
            " makes it missing (NaN) there, ",
            Argument("features", "shared"),
            " keeps only what all have",
        )
    return union


def _by_place(one: Dataset, names: Sequence[str]) -> bool:
    """Whether the features of a set are only numbered, and these names are theirs by place."""
    return are_numbered(one.feature_names) and not are_numbered(names) and one.n_features == len(names)


def _categories(one: Dataset, own: Sequence[str]) -> Categories:
    """The categories of a set by its own names of features, which those of the set stand for by place."""
    return {
        name: one.categories[given]
        for name, given in zip(own, one.feature_names, strict=True)
        if given in one.categories
    }


def _matrix(
    one: Dataset, own: Sequence[str], coded: Categories, names: Sequence[str], categories: Categories
) -> np.ndarray:
    """The features of a set in the order of the whole; NaN where it has none of them."""
    place_of = {name: place for place, name in enumerate(own)}
    places = [place_of.get(name, -1) for name in names]
    if places == list(range(one.n_features)) and not categories:
        return one.features
    matrix = np.full((one.n_documents, len(names)), np.nan, dtype=dtypes.FEATURE)
    there = [place for place, own_place in enumerate(places) if own_place >= 0]
    matrix[:, there] = one.features[:, [places[place] for place in there]]
    for name, listed in categories.items():
        if name in coded:
            _recode(matrix[:, list(names).index(name)], coded[name], listed)
    return matrix


def _united_categories(
    owned: Sequence[Sequence[str]], coded: Sequence[Categories], name: str
) -> tuple[Category, ...] | None:
    """The categories of a feature in all sets, in the order in which they come; None for a numeric feature."""
    lists = [one[name] for one in coded if name in one]
    if not lists:
        return None
    if len(lists) < sum(name in own for own in owned):
        raise DataError(
            f"feature {name!r} is categories in one data set and numbers in another: ",
            Phrase("give both their categories=, or neither", "read both files alike"),
        )
    return tuple({str(category): category for listed in lists for category in listed}.values())


def _recode(column: np.ndarray, old: Sequence[Category], new: Sequence[Category]) -> None:
    """Write the codes of the new list in place of those of the old one; unknown and missing stay."""
    code_of = {str(category): code for code, category in enumerate(new)}
    codes = np.array([*(code_of[str(category)] for category in old), UNKNOWN], dtype=dtypes.FEATURE)
    known = ~np.isnan(column)
    column[known] = codes[column[known].astype(np.int64)]  # UNKNOWN, which is -1, is the last


# ------------------------------------------------------------------------------------------------------------- columns


def _label(one: Dataset, source: str) -> np.ndarray:
    return one.labels[source] if source in one.labels else np.full(one.n_documents, np.nan, dtype=dtypes.LABEL)


def _per_document(sets: Sequence[Dataset], column: Callable[[Dataset], np.ndarray | None]) -> np.ndarray | None:
    """Weights of all documents, 1 where a set has none; None if no set has."""
    given = [column(one) for one in sets]
    if all(values is None for values in given):
        return None
    ones = (np.ones(one.n_documents) if values is None else values for one, values in zip(sets, given, strict=True))
    return np.concatenate(list(ones))


def _document_ids(sets: Sequence[Dataset]) -> np.ndarray | None:
    given = [one.document_ids for one in sets if one.document_ids is not None]
    if not given:
        return None
    if len(given) < len(sets):
        raise DataError(
            "one data set has document ids, another has none: ",
            Phrase("data.replace(document_ids=...) gives them, document_ids=None takes them away", "give both"),
        )
    return as_one_kind(given)


def as_one_kind(ids: Sequence[np.ndarray]) -> np.ndarray:
    """Ids one after the other: whole numbers if all are, else text."""
    if all(one.dtype != object for one in ids):
        return np.concatenate(ids)
    result = np.empty(sum(map(len, ids)), dtype=object)
    result[:] = [str(name) for one in ids for name in one.tolist()]
    return result


# ------------------------------------------------------------------------------------------------------------- queries


def _queries(sets: Sequence[Dataset], same_query: str) -> tuple[np.ndarray, np.ndarray]:
    """(the number of its query for every document, the ids that the numbers count)."""
    ids = as_one_kind([one.query_ids for one in sets])
    firsts = np.cumsum([0, *(one.n_queries for one in sets)])
    numbers = np.concatenate([one.row_queries + first for one, first in zip(sets, firsts[:-1], strict=True)])
    place_of: dict[Any, int] = {}
    place = np.array([place_of.setdefault(query, number) for number, query in enumerate(ids.tolist())])
    again = np.flatnonzero(place != np.arange(len(ids)))
    if len(again) and same_query == "raise":
        of_first, of_second = (int(np.searchsorted(firsts, n, side="right")) for n in (place[again[0]], again[0]))
        raise DataError(
            f"query {ids.tolist()[again[0]]!r} is in data sets {of_first} and {of_second}"
            + (f", and {len(again) - 1:,} more are in two" if len(again) > 1 else "")
            + "; ",
            Argument("same_query", "merge"),
            " makes one query of them, ",
            Argument("same_query", "apart"),
            " keeps them apart under ids of their own",
        )
    if len(again) and same_query == "merge":
        return place[numbers], ids
    if not len(again):
        return numbers, ids
    set_of = {number: int(np.searchsorted(firsts, number, side="right")) for number in again.tolist()}
    return numbers, told_apart(list(map(str, ids.tolist())), set_of)


def told_apart(names: Sequence[str], again: Mapping[int, int]) -> np.ndarray:
    """Names in which those that were there before, by place, have a number behind them: ``7`` and ``7:2``."""
    result = np.empty(len(names), dtype=object)
    result[:] = names
    taken = set(names)
    for number, mark in again.items():
        name = f"{result[number]}:{mark}"
        while name in taken:
            name += "'"
        taken.add(name)
        result[number] = name
    return result


def _query_weights(sets: Sequence[Dataset], numbers: np.ndarray, ids: np.ndarray) -> np.ndarray | None:
    """One weight per document, that of its query; a query of two sets must weigh the same in both."""

    def by_row(one: Dataset) -> np.ndarray | None:
        return None if one.query_weights is None else one.query_weights[one.row_queries]

    weights = _per_document(sets, by_row)
    if weights is None:
        return None
    of_query = np.zeros(len(ids))
    of_query[numbers] = weights
    differing = np.flatnonzero(of_query[numbers] != weights)
    if len(differing):
        query = ids.tolist()[numbers[differing[0]]]
        raise DataError(
            f"query {query!r} has different weights in two data sets: give it one in both, or ",
            Argument("same_query", "apart"),
        )
    _, first_rows = np.unique(numbers, return_index=True)
    return weights[np.sort(first_rows)]  # by query in order of first appearance: rows might be as many as queries
