"""What training yields: a frozen function from features to scores, with its provenance and its file."""

from __future__ import annotations

import abc
import dataclasses
import operator
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from rankforce import dtypes
from rankforce.cached_properties import cached_property
from rankforce.data import frames
from rankforce.data.categories import Categories, as_categories, check_codes
from rankforce.data.dataset import Dataset
from rankforce.data.feature_matching import are_numbered, feature_places
from rankforce.data.spread import SpreadData, refuse_spread
from rankforce.errors import DataError, SettingsError
from rankforce.kinds import OrNone, Whole
from rankforce.models.binned_scores import is_binned, scores_by_bins
from rankforce.models.categories import (
    CodedColumns,
    check_whole_codes,
    coded_matrix,
    holds_raw_values,
    raw_matrix,
)
from rankforce.models.exported import Exported
from rankforce.models.provenance import Provenance
from rankforce.models.ranking import Ranking
from rankforce.remedies import Phrase, Setting

_PLAIN = np.dtype(dtypes.FEATURE)


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Model(abc.ABC):
    """Base of all models. Frozen; equal files are equal models.

    A kind of model is one file in this folder with one class: ``KIND`` names it in model files, ``contents`` and
    ``from_contents`` are its part of the file, ``_scores`` scores a checked matrix. Nothing else is to be registered.

    ``categories``: a categorical feature -> its categories in the order of their codes 0, 1, 2, ...
    """

    KIND: ClassVar[str]
    takes_dataset: ClassVar[bool] = True  # evaluations hand it the Dataset: features by name, and queries

    feature_names: tuple[str, ...]
    provenance: Provenance = dataclasses.field(default_factory=Provenance)
    categories: Categories = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        names = tuple(str(name) for name in self.feature_names)
        if len(set(names)) != len(names):
            twice, _ = Counter(names).most_common(1)[0]
            raise DataError(f"two features of the model are named {twice!r}")
        object.__setattr__(self, "feature_names", names)
        object.__setattr__(self, "categories", dict(as_categories(self.categories, names)))

    @property
    def n_features(self) -> int:
        return len(self.feature_names)

    def predict(self, data: Any) -> np.ndarray:
        """The score of every document, float64, in the order of the rows.

        ``data`` is a Dataset, a matrix (documents, features) or a data frame. Named columns are matched by name, so
        that their order does not matter and others may stand beside them; a matrix is matched by position. NaN is a
        missing value. Of a model with categories, a data frame or an array of objects holds the categories themselves,
        of which those that the model does not know are as good as none; a matrix of numbers holds their codes.
        """
        if is_binned(data):
            return scores_by_bins(self, data, self._scores)
        if isinstance(data, SpreadData):
            return data.scored(self)[0]
        return self._scores(self.matrix(data))

    def threshold_tests(self) -> Iterator[tuple[str, np.ndarray]]:
        """Per feature some thresholds that its values are compared with; raises where more is asked of features."""
        raise DataError(f"a store has bins in place of the values of features, and {self!r} needs the values")

    def category_tests(self) -> Iterator[tuple[str, np.ndarray]]:
        """Per feature the codes of categories that it asks for."""
        return iter(())

    def places_in(self, data: Dataset) -> list[int] | None:
        """Where each feature of the model stands in a data set; None if they stand alike."""
        return self._places(data.feature_names, named=not are_numbered(data.feature_names))

    def rank(self, data: Any, k: int | None = None) -> Ranking:
        """The documents of each query by falling score, the best ``k`` of each (None: all).

        A matrix or a data frame is taken as the documents of one query, with the number 1.
        """
        if not OrNone(Whole(1)).holds(k):
            raise SettingsError(f"k must be a positive whole number or None, not {k!r}")
        scores = self.predict(data)
        if isinstance(data, Dataset):
            return Ranking.of_scores(scores, data.row_queries, data.query_ids, data.document_ids, k)
        one_query = np.zeros(len(scores), dtype=dtypes.OFFSET)
        return Ranking.of_scores(scores, one_query, np.array([1]), None, k)

    def _repr_html_(self) -> str:
        """What notebooks show: the model's card."""
        import rankforce

        return rankforce.model_card(self)._repr_html_()

    def save(self, path: str | Path) -> None:
        """Write the model to one file; an ending ``.gz`` compresses it. ``rankforce.load`` reads it."""
        from rankforce.models.storage import save

        save(self, path)

    def export(
        self,
        path: str | Path | None,
        format: str,
        *,
        engine: str | None = None,
        missing: str | None = None,
        features: Any = None,
        name: str | None = None,
        shift: bool = False,
        check: Any = None,
    ) -> Exported:
        """Write the model for a search engine or another library: see ``rankforce.export_model``."""
        import rankforce

        return rankforce.export_model(
            self,
            path,
            format,
            engine=engine,
            missing=missing,
            features=features,
            name=name,
            shift=shift,
            check=check,
        )

    def matrix(self, data: Any) -> np.ndarray:
        """The features of ``data`` as this model numbers them: float32 (documents, features), read-only.

        Categories are their codes: -1 for those that the model does not know.
        """
        if type(data) is np.ndarray and data.dtype is _PLAIN and data.ndim == 2 and data.flags.carray:
            matrix = data  # the common case, without looking for what else it might be
            if matrix.shape[1] != self.n_features:
                raise self._wrong_count(matrix.shape[1])
            frames.refuse_infinite(matrix, None)
            self._check_codes(matrix)
        elif isinstance(data, SpreadData):
            refuse_spread("this")
        elif isinstance(data, Dataset):
            places = self.places_in(data)
            matrix = coded_matrix(data.features, data, places, self.feature_names, self.categories)
        elif frames.is_frame(data):
            names = frames.column_names(data)
            places = self._places(names, named=True)
            chosen = data if places is None else frames.columns_at(data, places)
            if self.categories:
                matrix = raw_matrix(chosen, self.feature_names, self.categories)
            else:
                matrix, _ = frames.as_matrix(chosen)
                self._check_codes(matrix)
        else:
            matrix = self._matrix_of_array(data)
        matrix = np.ascontiguousarray(matrix, dtype=dtypes.FEATURE).view()
        matrix.setflags(write=False)
        return matrix

    def _matrix_of_array(self, data: Any) -> np.ndarray:
        if not hasattr(data, "ndim"):
            data = frames.as_vector(data)
        if data.ndim == 1 and not hasattr(data, "nnz"):
            raise DataError("X must have two dimensions (documents, features): for one document write X[None, :]")
        if holds_raw_values(data, self.categories):
            if data.ndim == 2 and data.shape[1] != self.n_features:
                raise self._wrong_count(data.shape[1])
            return raw_matrix(data, self.feature_names, self.categories)
        matrix, _ = frames.as_matrix(data)
        if matrix.shape[1] != self.n_features:
            raise self._wrong_count(matrix.shape[1])
        self._check_codes(matrix)
        return matrix

    def _check_codes(self, matrix: np.ndarray) -> None:
        """Raise where a column of codes holds something else."""
        if self._coded is not None and not self._coded.holds(matrix):  # at once; what is wrong is looked for after
            check_codes(matrix, self.feature_names, self.categories)
            check_whole_codes(matrix, self.feature_names, self.unnamed_categories)

    @cached_property
    def _coded(self) -> CodedColumns | None:
        return CodedColumns.of(self.feature_names, self.categories, self.unnamed_categories)

    @property
    def unnamed_categories(self) -> frozenset[int]:
        """The places of categorical features whose categories are whole numbers that nobody has listed."""
        return frozenset()

    def _wrong_count(self, features: int) -> DataError:
        return DataError(f"X has {features} features, the model was trained on {self.n_features}")

    def _places(self, names: Sequence[str], named: bool) -> list[int] | None:
        """Where each feature of the model stands among ``names``; None if they are the same.

        Features that are only numbered, in the model or in the data, are matched by position.
        """
        return feature_places(
            self.feature_names,
            names,
            named=named,
            what="the data",
            of="the model",
            counted="the model was trained on",
            remedy=(
                "add them (NaN where unknown)",
                Phrase(", or pass a plain matrix to match features by position", ""),
            ),
        )

    def part_for(self, member: Model, matrix: np.ndarray) -> np.ndarray:
        """The columns of a checked matrix that a model within this one reads."""
        if member.feature_names == self.feature_names:
            return matrix
        place_of = {name: index for index, name in enumerate(self.feature_names)}
        places = [place_of[name] for name in member.feature_names]
        part = np.ascontiguousarray(matrix[:, places])
        part.setflags(write=False)
        return part

    def without_known_data(self) -> Model:
        """The same model, which keeps nothing of the distribution of its training data."""
        return dataclasses.replace(self, provenance=dataclasses.replace(self.provenance, known_data=None))

    @property
    def needs_queries(self) -> bool:
        """Whether the score of a document depends on the others of its query: such a model stands alone."""
        return False

    def check_member(self, member: Model, role: str) -> None:
        """Raise unless a model can be part of this one: all its features are features of this one, and it scores
        documents one by one."""
        if member.needs_queries:
            raise SettingsError(
                f"{role} scores whole queries ({member!r}), a model within a model single documents: "
                "train it with another scaling, for example ",
                Setting("scaling", "standard"),
            )
        own = set(self.feature_names)
        lacking = [name for name in member.feature_names if name not in own]
        if lacking:
            raise DataError(f"{role} reads the feature {lacking[0]!r}, which the model around it does not have")
        for name, of_member in member.categories.items():
            if self.categories.get(name) != of_member:
                raise DataError(
                    f"{role} knows other categories of the feature {name!r} than the model around it: train both on "
                    "data with the same categories"
                )

    @abc.abstractmethod
    def _scores(self, matrix: np.ndarray) -> np.ndarray:
        """Scores of a matrix as ``self.matrix`` returns it."""

    @abc.abstractmethod
    def contents(self) -> dict[str, Any]:
        """What decides the scores, as numbers, text, lists and mappings."""

    @classmethod
    @abc.abstractmethod
    def from_contents(cls, contents: Any, feature_names: tuple[str, ...], provenance: Provenance) -> Model:
        """The inverse of ``contents``. ``contents`` is a ``storage.Fields``: it raises where a field is wrong."""


def places_within(model: Model, members: Sequence[Model]) -> frozenset[int]:
    """The places of features that models within a model read as unlisted categories."""
    place_of = {name: place for place, name in enumerate(model.feature_names)}
    named = {member.feature_names[place] for member in members for place in member.unnamed_categories}
    return frozenset(place_of[name] for name in named - model.categories.keys())


def count_of(value: Any, name: str, most: int) -> int:
    """A whole number between 0 and ``most``."""
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if isinstance(value, bool) or not 0 <= number <= most:
        raise SettingsError(f"{name} must be a whole number between 0 and {most}, not {value!r}")
    return number


def frozen(array: np.ndarray, dtype: Any) -> np.ndarray:
    """The array with this dtype, C-contiguous and read-only: kernels are compiled for one kind of array."""
    result = np.ascontiguousarray(array, dtype=dtype).view()
    result.setflags(write=False)
    return result
