"""What is handed to ``Dataset``, as its parts: columns of a data frame by their names, columns of a matrix by place."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankforce.data import frames
from rankforce.data.categories import Categories, Category
from rankforce.data.dataset_columns import MAIN_LABEL, as_feature_names, origins_of
from rankforce.data.factorising import factorised, found_categories
from rankforce.data.feature_columns import FeatureColumn, feature_column
from rankforce.data.feature_options import FeatureOptions, UnusableColumnsError, gathered, listed_columns
from rankforce.data.identifiers import exact_bits
from rankforce.data.tables.columns import ColumnOptions, Roles
from rankforce.errors import DataError
from rankforce.kinds import shown

_ROLES = {"y": "label", "document_ids": "document", "weights": "weight", "query_weights": "query_weight", "qid": "qid"}
_EXACT = 2 ** exact_bits(np.float32)


@dataclasses.dataclass(frozen=True)
class FeatureChoice:
    """What was said about the features: arguments of ``Dataset``, as they were given."""

    features: Any = None
    ignore: Any = ()
    categorical: Any = ()
    categories: Any = None
    like: Any = None

    @property
    def listed(self) -> bool:
        """Whether columns were chosen by name."""
        return self.features is not None or bool(listed_columns(self.ignore, "ignore"))


class GivenColumns(NamedTuple):
    """Parts of a data set, taken from what was given."""

    matrix: np.ndarray
    feature_names: tuple[str, ...]
    categories: Mapping[str, Sequence[Category]]
    parts: dict[str, Any]  # y, qid, weights, query_weights, document_ids: values, or None
    labels: dict[str, Any]
    origins: dict[str, str]
    roles: dict[str, str]
    named: bool  # whether the features have names of their own


def given_columns(
    X: Any, parts: Mapping[str, Any], labels: Mapping[str, Any], feature_names: Any, group: Any, choice: FeatureChoice
) -> GivenColumns:
    """The parts of a data set; ``parts`` and ``labels`` hold values or names of columns of X."""
    if choice.categories is not None and not isinstance(choice.categories, Mapping):
        raise DataError(f"categories maps features to lists of categories, and is not {shown(choice.categories)}")
    if frames.is_frame(X):
        return _of_frame(X, parts, labels, feature_names, group, choice)
    sources = _sources(labels)
    frames.without_columns(X, dict(parts) | sources)  # raises if a column is named
    if choice.listed:
        raise DataError("features and ignore name columns, but X has no named columns")
    matrix, names, categories = _of_matrix(X, feature_names, choice)
    return GivenColumns(matrix, names, categories, dict(parts), dict(labels), {}, {}, False)


def _sources(labels: Mapping[str, Any]) -> dict[str, Any]:
    return {f"labels[{name!r}]": values for name, values in labels.items()}


def _of_frame(
    X: Any, parts: Mapping[str, Any], labels: Mapping[str, Any], feature_names: Any, group: Any, choice: FeatureChoice
) -> GivenColumns:
    sources = _sources(labels)
    rest, taken = frames.without_columns(
        X, {role: None if one is False else one for role, one in parts.items()} | sources
    )
    known = FeatureOptions.of(choice.categorical, choice.like, choice.categories)
    found = _options(parts, labels, group, choice, known).roles(frames.column_names(rest), None)
    detected = {role: getattr(found, option) for role, option in _ROLES.items()}
    detected_sources = {f"labels[{name!r}]": column for name, column in found.labels.items()}
    rest, columns = frames.without_columns(rest, detected | detected_sources)
    for name in found.labels.keys() & labels.keys():
        raise DataError(f"the label source {name!r} is given, and X has a column {found.labels[name]!r}: leave one out")
    given = {role: taken[role] if columns[role] is None else columns[role] for role in parts}
    label_values = {name: taken[source] for name, source in zip(labels, sources, strict=True)}
    label_values |= {name: columns[f"labels[{name!r}]"] for name in found.labels}
    options = dataclasses.replace(known, categorical=[*known.categorical, *found.declared])
    place_of = {name: place for place, name in enumerate(frames.column_names(rest))}
    raw = ((column, name, frames.column_at(rest, place_of[column])) for column, name in found.features.items())
    made = gathered(raw, options)
    matrix = frames.stack(made.columns, X.shape[0])
    frames.refuse_infinite(matrix, made.names)
    names = as_feature_names(made.names if feature_names is None else feature_names, len(made.names))
    new_name = dict(zip(made.names, names, strict=True))
    named = {role: parts[role] if isinstance(parts[role], str) else column for role, column in detected.items()}
    label_columns = {name: one for name, one in labels.items() if isinstance(one, str)} | dict(found.labels)
    return GivenColumns(
        matrix,
        names,
        {new_name[name]: one for name, one in made.categories.items()},
        given,
        label_values,
        _origins(named, label_columns),
        _words(found, named, label_columns) | made.roles,
        True,
    )


def _options(
    parts: Mapping[str, Any], labels: Mapping[str, Any], group: Any, choice: FeatureChoice, known: FeatureOptions
) -> ColumnOptions:
    """What is to be found among the columns that were not named: the parts that were not given."""
    asked = {option: None if parts[role] is None else False for role, option in _ROLES.items()}
    if group is not None:
        asked["qid"] = False
    if MAIN_LABEL in labels:
        asked["label"] = False
    return ColumnOptions(
        **asked,
        labels={},
        features=None if choice.features is None else listed_columns(choice.features, "features"),
        ignore=listed_columns(choice.ignore, "ignore"),
        categorical=known.categorical,
        known=known.needed or frozenset(),
    )


def _origins(named: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, str]:
    roles = ("document_ids", "weights", "query_weights")
    return origins_of(named["qid"], named["y"], labels, *(named[role] for role in roles))


def _words(found: Roles, named: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, str]:
    """Column → what it is, for all that are no features."""
    columns = {option: named[role] for role, option in _ROLES.items()}
    return dataclasses.replace(found, **columns, labels=labels).words


def _of_matrix(
    X: Any, feature_names: Any, choice: FeatureChoice
) -> tuple[np.ndarray, tuple[str, ...], Mapping[str, Sequence[Category]]]:
    """A matrix without names. Of objects, its columns hold raw entries; of numbers, those of known categories codes."""
    raw = _raw_columns(X)
    if raw is not None:
        names = as_feature_names(feature_names, len(raw))
        options = FeatureOptions.of(_names_at(choice.categorical, names), choice.like, choice.categories)
        try:
            made = gathered(((name, name, values) for name, values in zip(names, raw, strict=True)), options)
        except UnusableColumnsError as error:
            raise DataError("X must be a matrix of numbers, or categories must be declared; ", error.problem) from None
        matrix = frames.stack(made.columns, len(raw[0]))
        frames.refuse_infinite(matrix, None)
        return matrix, tuple(made.names), made.categories
    matrix, _ = frames.as_matrix(X)
    names = as_feature_names(feature_names, matrix.shape[1])
    categories = choice.categories
    if choice.like is not None:
        categories = {**FeatureOptions.of((), choice.like).lists, **(categories or {})}
        categories = {name: listed for name, listed in categories.items() if name in names}
    declared = _names_at(choice.categorical, names)
    if not declared:
        return matrix, names, categories
    return (*_declared(matrix, names, declared, categories or {}),)


def _raw_columns(X: Any) -> list[np.ndarray] | None:
    """The columns of a matrix of objects that are not all numbers; None for any other matrix."""
    array = X if isinstance(X, np.ndarray) else None
    if array is None or array.dtype != object or array.ndim != 2 or array.shape[1] == 0:
        return None
    if frames.from_objects(array).dtype != object:
        return None
    return [array[:, place] for place in range(array.shape[1])]


def _names_at(categorical: Any, names: Sequence[str]) -> list[str]:
    """Features that were declared by name or by number (from 0), by name."""
    if isinstance(categorical, str):
        return listed_columns(categorical, "categorical")
    try:
        entries = [] if categorical is None else list(categorical)
    except Exception as error:
        raise DataError(f"categorical lists features, and is not {shown(categorical)}: {error}") from error
    result = []
    for entry in entries:
        if isinstance(entry, (int, np.integer)) and not isinstance(entry, (bool, np.bool_)):
            if not 0 <= entry < len(names):
                raise DataError(
                    f"there is no feature {entry} to be categorical: they are numbered 0 to {len(names) - 1}"
                )
            result.append(names[int(entry)])
        elif isinstance(entry, str) and entry in names:
            result.append(str(entry))
        else:
            raise DataError(f"there is no feature {shown(entry)} to be categorical")
    return result


def _declared(
    matrix: np.ndarray, names: tuple[str, ...], declared: Sequence[str], categories: Categories
) -> tuple[np.ndarray, tuple[str, ...], Categories]:
    """A matrix of numbers in which declared columns hold whole numbers that name categories."""
    result, lists = matrix.copy(), dict(categories)
    for name in declared:
        column = matrix[:, names.index(name)]
        present = column[~np.isnan(column)]
        wrong = present[(present != np.floor(present)) | (np.abs(present) >= _EXACT)]
        if len(wrong):
            raise DataError(
                f"feature {name!r} is declared categorical, but holds {wrong[0]:g}: categories in a matrix are whole "
                f"numbers below 2**24; give others as a column of a data frame"
            )
        listed = lists.get(name)
        found = feature_column(factorised(column), listed=listed or found_categories(factorised(column)) or None)
        if isinstance(found, FeatureColumn) and found.categories:
            result[:, names.index(name)] = found.values
            lists[name] = found.categories
    return result, names, lists
