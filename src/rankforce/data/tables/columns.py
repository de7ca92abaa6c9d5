"""Which column of a table is what.

It follows from the names, unless an option says it; the data set remembers it (``Dataset.origins``), and commands
say it:

=================== ================================================================================
``qid``             the query; also ``query``, ``query_id``
``label``           the main label; also ``grade``, ``grades``, ``relevance``
``label:clicks``    the label source "clicks"
``document``        the document id; also ``doc``, ``docid``, ``doc_id``, ``document_id``
``weight:document`` the weight of the document
``weight:query``    the weight of its query, the same for all documents of the query
``feature:qid``     a feature whose name would be taken for one of the above
``category:brand``  a feature that holds categories
anything else       a feature (``feature_columns.py`` says what is made of its entries)
=================== ================================================================================

A column called ``weight`` or ``query_weight`` may be a product's kilograms: it is a feature, with a warning that names
the option, until ``weight=`` or ``query_weight=`` says what it is (``False``: a feature).

Capitals do not matter; white space around a name is an error. ``write_table`` writes these names, so that
``read_table`` gives back the same data set. In CSV files, ids that are text but look like whole numbers stand in a
column ``qid:text`` or ``document:text``. An empty cell or a null is a missing feature, an unlabelled document.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from rankforce.console.wording import listed
from rankforce.data.categories import Category
from rankforce.data.dataset_columns import LABEL_NAMES, MAIN_LABEL, origins_of
from rankforce.data.feature_columns import Unsettled
from rankforce.data.feature_options import LEFT_OUT, FeatureOptions, listed_columns
from rankforce.displayed_text import displayed_path
from rankforce.errors import DataError, FileFormatError, RankforceWarning, warn
from rankforce.kinds import Either, OrNone, Switch, Text, shown
from rankforce.remedies import NAME_ALONE, ReadOption, Remedy, Words, parts_of

ROLE_NAMES = {
    "qid": ("qid", "query", "query_id", "qid:text"),
    "label": LABEL_NAMES,
    "document": ("document", "doc", "docid", "doc_id", "document_id", "document:text"),
    "weight": ("weight:document",),
    "query_weight": ("weight:query",),
}
# names that weights often have and other things have, too: never taken for weights unasked
WEIGHT_LIKE = {
    "weight": ("weight", "weights", "sample_weight", "document_weight"),
    "query_weight": ("query_weight", "query_weights", "group_weight"),
}
LABEL_PREFIX, FEATURE_PREFIX, CATEGORY_PREFIX, TEXT_SUFFIX = "label:", "feature:", "category:", ":text"
_FRAME_ARGUMENTS = {"label": "y", "document": "document_ids", "weight": "weights", "query_weight": "query_weights"}
_PANDAS_INDEX = r"__index_level_\d+__"  # how pandas keeps the index of a data frame in Parquet
_RESERVED = {name for named in (ROLE_NAMES, WEIGHT_LIKE) for names in named.values() for name in names}


class NoQueryColumnError(FileFormatError):
    """No column of a table says which query a row belongs to."""


class ColumnWarning(RankforceWarning):
    """The name of a column suggests a role that it was not given."""


@dataclasses.dataclass(frozen=True)
class Roles:
    """Which column of a table is what."""

    qid: str | None  # None: the queries are known otherwise
    label: str | None
    document: str | None
    weight: str | None
    query_weight: str | None
    labels: Mapping[str, str]  # further sources: name → column
    features: Mapping[str, str]  # column → name of the feature
    declared: tuple[str, ...] = ()  # features that hold categories by the names of their columns
    left_out: Mapping[str, str] = dataclasses.field(default_factory=dict)  # column → why

    @property
    def numeric(self) -> dict[str, str]:
        """Column → what it is, for the columns of numbers that are not features."""
        named = {self.label: "label", self.weight: "weight", self.query_weight: "query weight"}
        named |= {column: f"label {name!r}" for name, column in self.labels.items()}
        return {column: what for column, what in named.items() if column is not None}

    @property
    def origins(self) -> dict[str, str]:
        """Part of a data set → the column it is taken from, in words; features are all the others."""
        return origins_of(self.qid, self.label, self.labels, self.document, self.weight, self.query_weight)

    @property
    def words(self) -> dict[str, str]:
        """Column → what it is, for all that are no features."""
        named = {self.qid: "query", self.document: "document"}
        found = {column: what for column, what in named.items() if column is not None} | self.numeric
        return found | {column: f"{LEFT_OUT} ({why})" for column, why in self.left_out.items()}

    @property
    def ids(self) -> list[str]:
        return [name for name in (self.qid, self.document) if name is not None]

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys([*self.ids, *self.numeric, *self.features]))


class TableFeatures(NamedTuple):
    """The features of a table."""

    matrix: np.ndarray  # float32 (rows, features)
    names: list[str]
    categories: Mapping[str, tuple[Category, ...]]
    roles: Mapping[str, str]  # column → what was made of it, where this is worth saying
    unsettled: Mapping[str, Unsettled]  # of some rows: feature → what its entries become when all were seen


class TableColumns(NamedTuple):
    """What was read of a table."""

    roles: Roles
    ids: Mapping[str, Any]  # column → ids
    numbers: Mapping[str, np.ndarray]  # column → labels or weights
    features: TableFeatures
    fail: Callable[
        [int, str, str, str, Words], NoReturn
    ]  # row, column, problem, text, remedy: what to raise for a cell


@dataclasses.dataclass(frozen=True)
class ColumnOptions:
    """What the user said about the columns; None: find it by name, False: there is none."""

    qid: str | bool | None
    label: str | bool | None
    document: str | bool | None
    weight: str | bool | None
    query_weight: str | bool | None
    labels: Mapping[str, str]
    features: Sequence[str] | None
    ignore: Sequence[str]
    categorical: Sequence[str] = ()
    known: frozenset[str] = frozenset()  # features of what the columns are read like

    def roles(self, columns: Sequence[str], path: Path | None) -> Roles:
        """Who is what among the columns of a file; without a path, of a data frame."""
        column_list = f"the columns are: {listed(columns, 30, repr)}"
        asked_roles = {role: getattr(self, role) for role in ROLE_NAMES}
        named_columns = [name for name in asked_roles.values() if isinstance(name, str)]
        claimed = [*named_columns, *self.labels.values(), *(self.features or ()), *self.ignore]
        self._check_names(columns, claimed, path, column_list)
        taken = set(claimed)
        free = [name for name in columns if name not in taken and not re.fullmatch(_PANDAS_INDEX, name)]
        self._refuse_surrounding_space(free, path, column_list)
        roles_found: dict[str, Any] = {
            role: self._found(role, name, free, path, column_list) for role, name in asked_roles.items()
        }
        if roles_found["qid"] is None and self.qid is not False:
            remedy: Words = ("name it: ", ReadOption("qid"), f"; {column_list}")
            problem = "no column says which query a row belongs to"
            raise refused(problem, path, remedy=remedy, error=NoQueryColumnError)
        sources = self._sources(free, path, column_list)
        if MAIN_LABEL in sources:
            main = sources.pop(MAIN_LABEL)
            if roles_found["label"] is not None and roles_found["label"] != main:
                problem = f"two columns are the main label: {roles_found['label']!r} and {main!r}"
                raise refused(problem, path, remedy=("name one of them: ", ReadOption("label")))
            roles_found["label"] = main
        claimed_columns = [*(name for name in roles_found.values() if name), *sources.values(), *self.ignore]
        not_features = set(claimed_columns)
        others = [name for name in free if name not in not_features]
        features = self.features if self.features is not None else others
        clash, count = next(iter(Counter([*claimed_columns, *features]).most_common(1)), ("", 0))
        if count > 1:
            raise refused("a column is given two roles", path, text=clash)
        left_out = dict.fromkeys(self.ignore, "as asked")
        if self.features is None:
            self._warn_of_weights(features, path)
        else:
            left_out |= dict.fromkeys((name for name in others if name not in set(features)), "not among the features")
        left_out |= {name: "index of a data frame" for name in columns if name not in taken | set(free)}
        declared = tuple(name for name in features if name.lower().startswith(CATEGORY_PREFIX))
        named = {name: _feature_name(name) for name in features}
        return Roles(**roles_found, labels=sources, features=named, declared=declared, left_out=left_out)

    def _check_names(self, columns: Sequence[str], claimed: Sequence[str], path: Path | None, column_list: str) -> None:
        """Raise unless the columns have names of their own, and all that are spoken of are there."""
        twice, count = Counter(columns).most_common(1)[0] if columns else ("", 1)
        if count > 1:
            raise refused("two columns have the same name", path, text=twice, remedy=column_list)
        all_columns = set(columns)
        features = {_feature_name(name) for name in columns}
        for name in claimed:
            if name not in all_columns:
                raise refused("there is no such column", path, text=str(name), remedy=column_list)
        for name in self.categorical:
            if name not in all_columns and name not in features:
                raise refused("there is no such column to be categorical", path, text=str(name), remedy=column_list)
        if self.features is None and "" in all_columns - set(claimed):
            remedy: Words = (
                "if it is the index of a data frame, leave it out: ",
                ReadOption("ignore", [""]),
                f"; {column_list}",
            )
            raise refused("a column has no name", path, remedy=remedy)

    def _sources(self, free: list[str], path: Path | None, column_list: str) -> dict[str, str]:
        """Label sources beside the main label: source → column."""
        prefixed = [name for name in free if name.lower().startswith(LABEL_PREFIX)]
        sources = {name[len(LABEL_PREFIX) :]: name for name in prefixed}
        if len(sources) < len(prefixed) or sources.keys() & self.labels.keys():
            problem = "two columns are the same label source"
            remedy: Words = ("leave one out: ", ReadOption("ignore"), f"; {column_list}")
            raise refused(problem, path, remedy=remedy)
        return sources | dict(self.labels)

    def _warn_of_weights(self, features: Sequence[str], path: Path | None) -> None:
        """Say that a column which is called like weights is a feature, unless an option speaks of such weights."""
        for role, names in WEIGHT_LIKE.items():
            doubtful = [name for name in features if name.lower() in names and name not in self.known]
            column = next(iter(doubtful), None)
            if column is not None and getattr(self, role) is None:
                whose = "queries" if role == "query_weight" else "documents"
                words: list[str | Remedy] = [
                    f"the column {column!r} is taken as a feature; if it holds the weights of {whose}, say ",
                    ReadOption(role, column),
                    ", if it is a feature, ",
                    ReadOption(role, False),
                ]
                place = "" if path is None else f"{displayed_path(path)}: "
                warn(ColumnWarning(place, *(words if path is not None else _for_frames(words))))

    def _refuse_surrounding_space(self, free: list[str], path: Path | None, listed: str) -> None:
        """A column ' label' is meant as the label, and would become a feature; one that an option names is as meant."""
        for name in free:
            meant = name.strip()
            if name == meant or name.lower().startswith((LABEL_PREFIX, FEATURE_PREFIX, CATEGORY_PREFIX)):
                continue
            if self.features is None or meant.lower() in _RESERVED or meant.lower().startswith(LABEL_PREFIX):
                remedy = (
                    f"write {meant!r}, or say what it is: ",
                    *(ReadOption("label"), ", ", ReadOption("features"), ", ", ReadOption("ignore", [name])),
                    f"; {listed}",
                )
                problem = "the name of a column has white space around it"
                raise refused(problem, path, text=name, remedy=remedy)

    def _found(
        self, role: str, asked: str | bool | None, free: list[str], path: Path | None, column_list: str
    ) -> str | None:
        if isinstance(asked, str):
            return asked
        if asked is False:
            return None
        if asked is True:
            raise DataError(
                ReadOption(role, NAME_ALONE), " takes the name of a column, or ", ReadOption(role, False), " for none"
            )
        candidates = [name for name in free if name.lower() in ROLE_NAMES[role]]
        if len(candidates) > 1:
            problem = f"several columns could be the {role}: {', '.join(map(repr, candidates))}"
            remedy = (
                "name one: ",
                ReadOption(role, candidates[0]),
                ", and leave others out: ",
                ReadOption("ignore", candidates[1:]),
                f"; {column_list}",
            )
            raise refused(problem, path, remedy=remedy)
        return candidates[0] if candidates else None


def refused(
    problem: str,
    path: Path | None,
    text: str | None = None,
    remedy: Words | None = None,
    error: type[FileFormatError] = FileFormatError,
) -> DataError:
    """The error about the columns of a file, or of a data frame, where options have other names."""
    if path is not None:
        return error(problem, path=path, text=text, remedy=remedy)
    told = problem if text is None else f"{problem}: {text!r:.80}"
    return DataError(told, *(() if remedy is None else ("\n  ", *_for_frames(remedy))))


def _for_frames(words: Words) -> list[str | Remedy]:
    """Options of ``rf.read`` in a message as arguments of ``Dataset``."""
    return [
        ReadOption(_FRAME_ARGUMENTS.get(one.name, one.name), one.value) if isinstance(one, ReadOption) else one
        for one in parts_of(words)
    ]


def _feature_name(column: str) -> str:
    for prefix in (FEATURE_PREFIX, CATEGORY_PREFIX):
        if column.lower().startswith(prefix):
            return column[len(prefix) :]
    return column


def feature_column(name: str) -> str:
    """The column for a feature: its name, unless this would be read as something else."""
    lowered = name.lower()
    plain = (
        name == name.strip() != ""
        and lowered not in _RESERVED
        and not lowered.startswith((LABEL_PREFIX, FEATURE_PREFIX, CATEGORY_PREFIX))
        and not re.fullmatch(_PANDAS_INDEX, name)
    )
    return name if plain else FEATURE_PREFIX + name


def named_labels(labels: Any) -> dict[str, str]:
    """The further label sources that an option names: source → column."""
    if labels is None:
        return {}
    if isinstance(labels, (str, bytes)) or not isinstance(labels, (Mapping, Sequence)):
        raise DataError(
            f'labels maps names to columns or lists columns: {{"clicks": "click_rate"}}, not {shown(labels)}'
        )
    return dict(labels) if isinstance(labels, Mapping) else {str(name): str(name) for name in labels}


def column_options(
    *,
    qid: Any = None,
    label: Any = None,
    labels: Any = None,
    document: Any = None,
    weight: Any = None,
    query_weight: Any = None,
    features: Any = None,
    ignore: Any = (),
    categorical: Any = (),
    like: Any = None,
) -> tuple[ColumnOptions, FeatureOptions]:
    """What the options of ``read_table`` say about roles and features, checked."""
    named = {"qid": qid, "label": label, "document": document, "weight": weight, "query_weight": query_weight}
    for role, column in named.items():
        OrNone(Either((Text("the name of a column"), Switch()))).check(role, column)
    known = FeatureOptions.of(categorical, like)
    options = ColumnOptions(
        qid=qid,
        label=label,
        document=document,
        weight=weight,
        query_weight=query_weight,
        labels=named_labels(labels),
        features=None if features is None else listed_columns(features, "features"),
        ignore=listed_columns(ignore, "ignore"),
        categorical=known.categorical,
        known=known.needed or frozenset(),
    )
    return options, known
