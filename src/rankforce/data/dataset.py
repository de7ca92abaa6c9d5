"""Judged query-document features: what every ranker is trained on and every measure is computed from."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from rankforce.cached_properties import cached_property
from rankforce.collective import alone
from rankforce.console.wording import counted
from rankforce.data import frames
from rankforce.data.categories import Categories, as_categories, category_counts, check_codes, kept
from rankforce.data.dataset_columns import MAIN_LABEL as MAIN_LABEL
from rankforce.data.dataset_columns import (
    as_labels,
    as_query_weights,
    as_weights,
    checked_sources,
    frozen,
    missing_label,
    refuse_label_among_features,
)
from rankforce.data.document_hashes import document_hashes as document_hashes
from rankforce.data.document_hashes import tie_breakers as tie_breakers
from rankforce.data.fingerprints import fingerprint_of
from rankforce.data.given_columns import FeatureChoice, given_columns
from rankforce.data.hashing import hash_ids
from rankforce.data.identifiers import as_ids
from rankforce.data.notebook_view import html_of
from rankforce.data.other_words import refusing_other_words
from rankforce.data.query_groups import Numbered, grouped_by_query, query_mask
from rankforce.displayed_text import displayed
from rankforce.errors import DataError
from rankforce.kinds import shown

_PARTS = frozenset(
    {"features", "feature_names", "query_ids", "rows", "query_starts", "labels"}
    | {"weights", "query_weights", "document_ids", "origins", "categories", "roles"}
)
_MAPPINGS = ("labels", "origins", "categories", "roles")  # which pickle does not take as they are


class Dataset:
    """Features, labels and queries. Frozen: arrays cannot be written to.

    Parameters
    ----------
    X : array of shape (documents, features), data frame, Arrow table or scipy.sparse matrix
        Features; NaN is a missing value. Kept as float32, in the order given. A C-contiguous float32 array is not
        copied: do not write to it afterwards. There may be no features at all, as for evaluation only.
    y : array of shape (documents,), or the name of a column of X; optional
        The main label, called ``"grades"``. Any real number; NaN is an unlabelled document. A column of X that holds
        it is named, not given again: it would be a feature.
    qid : array of shape (documents,), or the name of a column of X
        The query of every document: whole numbers or text, in any order.

        Of a data frame, label, queries and document ids that are not given are found by the names of columns, as
        ``rf.read`` finds them; ``False`` in place of ``y``, ``weights``, ``document_ids``: there is none.
    group : sequence of whole numbers
        Instead of ``qid``: how many consecutive documents each query has.
    labels : mapping of name to array or column name
        Further label sources.
    weights, query_weights : arrays, or names of columns of X
        A pair of documents counts query weight times the product of the two document weights. ``query_weights`` has
        one entry per query (in order of first appearance) or per document (equal within a query).
    feature_names : sequence of text
        Names for people and for export; by default those of the columns, else "1", "2", ... as LETOR files count.
    document_ids : array of whole numbers or text, or the name of a column of X
    features, ignore : sequences of names of columns of X
        The columns that are features, by default all that have no other role; columns to leave out.
    categorical : sequence of names of columns, of a matrix also of their numbers (from 0)
        Columns whose entries name categories, besides those whose type says it, and texts that repeat.
    categories : mapping of feature name to list of categories (texts or whole numbers)
        Known categories. A matrix of numbers holds their numbers in the list (0, 1, ...), -1 for one that is not in it,
        NaN for a missing one; a data frame holds the categories themselves.
    like : Dataset, model or fitted ranker
        Its categories are those of the features here, which must be numbers where its own are. Columns of a data frame
        that it does not know, and that are no numbers, are left out.

    Attributes
    ----------
    features, labels, weights, document_ids
        One entry per document, in the order of the rows that were given.
    rows, query_starts
        Documents by query: ``rows[query_starts[q]:query_starts[q + 1]]`` are the rows of query ``q``. Queries are in
        order of first appearance, their rows in the order given.
    categories
        Categories of the categorical features by name, in the order of their codes in ``features``; see above.
    origins
        What was taken from where, in words: ``{"queries": "column 'qid'", "label": "column 'grade'"}`` for a table or
        a data frame; empty for arrays.
    roles
        What became of the columns of a table or data frame, by name: ``{"brand": "category", "title": "left out (as
        asked)"}``; plain numeric features are not in it.
    """

    @refusing_other_words
    def __init__(
        self,
        X: Any,
        y: Any = None,
        qid: Any = None,
        *,
        group: Any = None,
        labels: Mapping[str, Any] | None = None,
        weights: Any = None,
        query_weights: Any = None,
        feature_names: Sequence[str] | None = None,
        document_ids: Any = None,
        features: Sequence[str] | None = None,
        ignore: Sequence[str] = (),
        categorical: Sequence[str | int] = (),
        categories: Mapping[str, Sequence[str | int]] | None = None,
        like: Any = None,
    ) -> None:
        parts = {"y": y, "qid": qid, "weights": weights, "query_weights": query_weights, "document_ids": document_ids}
        choice = FeatureChoice(features, ignore, categorical, categories, like)
        sources = checked_sources({} if labels is None else labels)
        given = given_columns(X, parts, sources, feature_names, group, choice)
        matrix, taken = given.matrix, given.parts
        n = matrix.shape[0]
        if n == 0 and alone():  # one of several that train together may have none
            raise DataError("a data set needs at least one document")
        self.features = frozen(matrix)
        self.feature_names = given.feature_names
        self.categories: Categories = as_categories(given.categories, self.feature_names)
        check_codes(self.features, self.feature_names, self.categories)
        self.query_ids, self.rows, self.query_starts = map(frozen, grouped_by_query(taken["qid"], group, n))
        self.labels: Mapping[str, np.ndarray] = MappingProxyType(as_labels(taken["y"], given.labels, n))
        self.weights = None if taken["weights"] is None else frozen(as_weights(taken["weights"], n, "weights"))
        self.query_weights = as_query_weights(taken["query_weights"], self)
        if given.named and MAIN_LABEL in self.labels:
            refuse_label_among_features(self, getattr(y, "name", None))
        self.origins: Mapping[str, str] = MappingProxyType(given.origins)
        self.roles: Mapping[str, str] = MappingProxyType(given.roles)
        documents = taken["document_ids"]
        self.document_ids = None if documents is None else frozen(as_ids(documents, n, "document_ids"))

    bins: Any = None  # the features as bins, of a data set that is kept as such

    @property
    def n_documents(self) -> int:
        return self.features.shape[0]

    @property
    def n_features(self) -> int:
        return self.features.shape[1]

    @property
    def n_queries(self) -> int:
        return len(self.query_ids)

    @cached_property
    def n_categories(self) -> np.ndarray:
        """The number of categories of every feature, int32; 0 for a numeric one."""
        return frozen(category_counts(self.feature_names, self.categories))

    @property
    def query_sizes(self) -> np.ndarray:
        return np.diff(self.query_starts)

    def __len__(self) -> int:
        return self.n_documents

    def __repr__(self) -> str:
        sources = ", ".join(map(displayed, self.labels)) or "no labels"
        return (
            f"Dataset({counted(self.n_documents, 'document')}, {counted(self.n_queries, 'query')}, "
            f"{counted(self.n_features, 'feature')}, labels: {sources})"
        )

    def _repr_html_(self) -> str:
        """What notebooks show: sizes, and the range of each label source."""
        return html_of(self)

    @cached_property
    def contiguous(self) -> bool:
        """Whether the documents of every query are adjacent, so that ``rows`` is 0, 1, 2, ..."""
        return bool((self.rows == np.arange(self.n_documents)).all())

    def by_query(self, values: np.ndarray) -> np.ndarray:
        """Values given per row, in the order of ``rows``: the documents of a query adjacent."""
        return values if self.contiguous else np.ascontiguousarray(values[self.rows])

    def by_row(self, values: np.ndarray) -> np.ndarray:
        """The inverse of ``by_query``."""
        if self.contiguous:
            return values
        result = np.empty_like(values)
        result[self.rows] = values
        return result

    @cached_property
    def row_queries(self) -> np.ndarray:
        """The number of its query (from 0) for every row."""
        return frozen(self.by_row(np.repeat(np.arange(self.n_queries), self.query_sizes)))

    @cached_property
    def query_hashes(self) -> np.ndarray:
        """A hash of every query id: what random choices about a query are made from."""
        return frozen(hash_ids(self.query_ids))

    @cached_property
    def qid(self) -> np.ndarray:
        """The query id of every row."""
        return frozen(self.query_ids[self.row_queries])

    def query_id(self, query: int) -> int | str:
        """The id of a query, given by its number (from 0)."""
        return self.query_ids[query : query + 1].tolist()[0]

    @property
    def fingerprint(self) -> str:
        """A digest of features, labels, queries and weights, whatever the order of the queries."""
        return fingerprint_of(self)

    def each_query(self) -> Iterator[np.ndarray]:
        """The rows of each query in turn."""
        for q in range(self.n_queries):
            yield self.rows[self.query_starts[q] : self.query_starts[q + 1]]

    def label(self, name: str = MAIN_LABEL) -> np.ndarray:
        """One label source, or an error that says which there are."""
        if not isinstance(name, str) or name not in self.labels:
            raise missing_label(name, self)
        return self.labels[name]

    def take_queries(self, queries: Any) -> Dataset:
        """The data set of some queries, given by their numbers (from 0) or as a mask; rows keep their order."""
        mask = query_mask(queries, self.n_queries)
        return self._take_rows(np.flatnonzero(mask[self.row_queries]))

    def take_features(self, features: Iterable[int | str]) -> Dataset:
        """The data set with some of the features, given by number (from 0) or name, in the order given."""
        listed = isinstance(features, Iterable) and not isinstance(features, (str, bytes))
        if not listed or getattr(features, "ndim", 1) != 1:
            raise DataError(f"features are given as a list of numbers (from 0) or names, not {shown(features)}")
        places = [self.feature_place(feature) for feature in features]
        names = [self.feature_names[place] for place in places]
        return self.replace(features=self.features[:, places], feature_names=names)

    def without_features(self, features: Iterable[int | str]) -> Dataset:
        """The data set without some features, given by number (from 0) or name."""
        dropped = {self.feature_place(feature) for feature in features}
        return self.take_features([place for place in range(self.n_features) if place not in dropped])

    def with_label(self, name: str, values: Any) -> Dataset:
        """The data set with one more label source (or with another content of one it has)."""
        if not isinstance(name, str):
            raise DataError(f"a label source is named by text, not {shown(name)}")
        return self.replace(labels={**self.labels, name: values})

    def with_origins(self, origins: Mapping[str, str], roles: Mapping[str, str] | None = None) -> Dataset:
        """This data set, remembering where its parts were taken from; for those who read files."""
        object.__setattr__(self, "origins", MappingProxyType(dict(origins)))
        if roles is not None:
            object.__setattr__(self, "roles", MappingProxyType(dict(roles)))
        return self

    def replace(self, **changes: Any) -> Dataset:
        """A copy with some parts replaced: features, labels, weights, query_weights, feature_names, document_ids,
        categories.

        Categories go with the name of their feature; where names alone are replaced, with its place.
        """
        parts: dict[str, Any] = {
            "features": self.features,
            "labels": self.labels,
            "weights": self.weights,
            "query_weights": self.query_weights,
            "feature_names": self.feature_names,
            "document_ids": self.document_ids,
            "categories": self.categories,
        }
        unknown = set(changes) - set(parts)
        if unknown:
            raise DataError(f"a data set has no part {sorted(unknown)[0]!r} (it has: {', '.join(parts)})")
        parts |= changes
        labels = dict(checked_sources(parts["labels"]))
        if "categories" not in changes and self.categories:
            by_place = "features" not in changes
            parts["categories"] = kept(self.categories, self.feature_names, parts["feature_names"], by_place)
        return Dataset(
            parts["features"],
            labels.pop(MAIN_LABEL, None),
            Numbered(self.row_queries, self.query_ids),
            labels=labels,
            weights=parts["weights"],
            query_weights=parts["query_weights"],
            feature_names=parts["feature_names"],
            document_ids=parts["document_ids"],
            categories=parts["categories"],
        ).with_origins(self.origins, self.roles)

    def _take_rows(self, rows: np.ndarray) -> Dataset:
        labels = {name: values[rows] for name, values in self.labels.items()}
        kept = self.row_queries[rows]
        return Dataset(
            self.features[rows],
            labels.pop(MAIN_LABEL, None),
            Numbered(kept, self.query_ids),
            labels=labels,
            weights=None if self.weights is None else self.weights[rows],
            query_weights=None if self.query_weights is None else self.query_weights[kept],
            feature_names=self.feature_names,
            document_ids=None if self.document_ids is None else self.document_ids[rows],
            categories=self.categories,
        ).with_origins(self.origins, self.roles)

    @staticmethod
    def concat(
        parts: Iterable[Dataset],
        *,
        same_query: Literal["raise", "merge", "apart"] = "raise",
        features: Literal["same", "union", "shared"] = "same",
    ) -> Dataset:
        """Several data sets as one, with the features in the order of the first (or of the first that names them).

        Features are matched by name, by place where one side only numbers them; ``features`` says what becomes of
        those that not all sets have: refused, missing (NaN) elsewhere, or left out. Categories are united. A query id
        that is in two sets is refused, one query (``"merge"``), or two, the later as ``"7:2"`` (``"apart"``). Where a
        set lacks a label source its documents are unlabelled, where it lacks weights they are 1.
        """
        from rankforce.data.concatenation import concatenated

        return concatenated(parts, same_query, features)

    def split(self, *shares: float, seed: int = 0) -> tuple[Dataset, ...]:
        """Whole queries dealt into parts with these shares (0.6, 0.2, 0.2), stratified by query size."""
        from rankforce.data.splits import split

        return split(self, shares, seed)

    def folds(self, count: int = 5, seed: int = 0) -> Iterator[tuple[Dataset, Dataset]]:
        """(train, test) pairs for cross-validation: whole queries, stratified by query size."""
        from rankforce.data.splits import folds

        return folds(self, count, seed)

    def write(self, path: str | Path, **options: Any) -> None:
        """Write to a file whose ending says the format: .txt, .letor, .svm (also .gz), .parquet, .csv."""
        from rankforce.data.files import write

        write(self, path, **options)

    def to_pandas(self) -> Any:
        """A pandas data frame: qid, document, labels, weights, features."""
        return frames.to_pandas(self)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.feature_names)}

    def feature_place(self, feature: int | str) -> int:
        """The number (from 0) of a feature given by name or number."""
        if isinstance(feature, str):
            place = self._places.get(feature)
            if place is None:
                raise DataError(f"the data has no feature {feature!r}")
            return place
        if isinstance(feature, (bool, np.bool_)) or not isinstance(feature, (int, np.integer)):
            raise DataError(f"features are given by number (from 0) or name, not {feature!r}")
        if not 0 <= feature < self.n_features:
            raise DataError(f"there is no feature {feature}: features are numbered 0 to {self.n_features - 1}")
        return int(feature)

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name in _PARTS}  # the rest follows from them
        return state | {name: dict(state[name]) for name in _MAPPINGS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        labels = {name: frozen(values) for name, values in state["labels"].items()}
        # a data set pickled before there were origins or categories has none
        mappings = {name: MappingProxyType(dict(state.get(name, {}))) for name in _MAPPINGS}
        for name, value in (state | mappings | {"labels": MappingProxyType(labels)}).items():
            setattr(self, name, frozen(value) if isinstance(value, np.ndarray) else value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__ or name not in _PARTS:
            raise dataclasses.FrozenInstanceError(f"a data set is frozen: use data.replace({name}=...)")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"a data set is frozen: {name} cannot be deleted")


def check_dataset(given: Any) -> None:
    """Raise unless this is a data set."""
    if not isinstance(given, Dataset):
        raise DataError(
            f"data must be a Dataset, not {type(given).__name__}: rf.Dataset(X, y, qid=...) or rf.read(path)"
        )
