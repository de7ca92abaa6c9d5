"""Columns of a data set as it keeps them: labels, weights and names, checked and copied."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankforce import dtypes
from rankforce.data import frames
from rankforce.errors import DataError
from rankforce.files.limits import longest_id
from rankforce.kinds import shown
from rankforce.remedies import Phrase, Remedy

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset

MAIN_LABEL = "grades"
LABEL_NAMES = ("label", "grade", "grades", "relevance")  # what columns of tables are called that hold it


# what else such a column may be called, which is not taken for the label unasked
LABEL_LIKE = (
    *("y", "target", "rating", "rel", "relevancy", "judgment", "judgement", "gain", "score"),
    *("click", "clicks", "clicked", "is_clicked", "purchase", "purchased", "ordered", "is_relevant", "relevant"),
)


def missing_label(name: Any, data: Dataset) -> DataError:
    """The error for a label source that there is not."""
    known = ", ".join(map(repr, data.labels)) or "none"
    return DataError(f"the data has no label source {shown(name)} (it has: {known})", *label_remedy(name, data))


def label_remedy(name: Any, data: Dataset) -> list[str | Remedy]:
    """What to write where the main label is missing and columns are called as labels are."""
    likely = (*LABEL_LIKE, *LABEL_NAMES)
    columns = [column for column in (*data.feature_names, *data.roles) if column.lower() in likely]
    if name != MAIN_LABEL or not columns:
        return []
    first = columns[0]
    others = "" if len(columns) == 1 else f", or in {', '.join(map(repr, columns[1:4]))}"
    remedy = Phrase(
        f"rf.read(path, label={first!r}), rf.Dataset(frame, y={first!r})", shlex.join(["--read", f"label={first}"])
    )
    return [f"; if it is in the column {first!r}{others}, name it: ", remedy]


def _vector(values: Any, n: int, what: str, dtype: Any) -> np.ndarray:
    given = frames.as_numbers(values, what)
    if given.shape != (n,):
        raise DataError(f"{what} must have one entry per {_unit(what)} ({n}), not shape {given.shape}")
    # always a copy: the user's frame may change, a read-only view of it too, the data set may not
    return np.array(given, dtype=dtype, copy=True)


def _unit(what: str) -> str:
    return "query" if what == "query_weights" else "document"


def checked_sources(labels: Any) -> Mapping[str, Any]:
    """Label sources by name, as they were given."""
    if not isinstance(labels, Mapping):
        raise DataError('labels must map names to columns: labels={"clicks": clicks}; the main label is y')
    return labels


def as_labels(y: Any, further: Mapping[str, Any], n: int) -> dict[str, np.ndarray]:
    given = ({} if y is None else {MAIN_LABEL: y}) | dict(further)
    if y is not None and MAIN_LABEL in further:
        raise DataError(f"the main label is given twice: as y and as labels[{MAIN_LABEL!r}]")
    result = {}
    for name, values in given.items():
        if not isinstance(name, str) or not name:
            raise DataError(f"a label source is named by text, not {name!r}")
        refuse_long_names([name], "label source")
        if values is None:
            raise DataError(f"label {name!r} is None: leave it out, or give NaN for every unlabelled document")
        array = _vector(values, n, f"label {name!r}", dtypes.LABEL)
        if np.isinf(array).any():
            raise DataError(f"label {name!r} of row {int(np.flatnonzero(np.isinf(array))[0])} (from 0) is infinite")
        result[name] = frozen(array)
    return result


def as_weights(values: Any, n: int, what: str) -> np.ndarray:
    array = _vector(values, n, what, dtypes.WEIGHT)
    bad = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if len(bad):
        raise DataError(f"{what} must be finite and not negative: entry {int(bad[0])} is {array[bad[0]]:g}")
    with np.errstate(over="ignore"):
        if not np.isfinite(array.sum()):
            raise DataError(f"{what} add up to infinity: divide them by the largest, {array.max():g}")
    return array


def as_query_weights(values: Any, data: Dataset) -> np.ndarray | None:
    """One weight per query; ``values`` has one entry per query, or per document, equal within a query."""
    if values is None:
        return None
    given = frames.as_numbers(values, "query_weights")
    if given.shape == (data.n_documents,) and data.n_documents != data.n_queries:
        grouped = data.by_query(as_weights(given, data.n_documents, "query_weights"))
        firsts = grouped[data.query_starts[:-1]]
        differing = np.flatnonzero(grouped != np.repeat(firsts, data.query_sizes))
        if len(differing):
            q = int(np.searchsorted(data.query_starts, differing[0], side="right")) - 1
            raise DataError(f"query_weights differ within query {data.query_id(q)!r}: one weight per query")
        return frozen(firsts)
    return frozen(as_weights(given, data.n_queries, "query_weights"))


def as_feature_names(names: Sequence[str] | None, n: int) -> tuple[str, ...]:
    if names is None:
        return tuple(str(index) for index in range(1, n + 1))  # as LETOR files count
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable) or getattr(names, "ndim", 1) != 1:
        raise DataError(f"feature_names must be one name per feature, not {names!r:.80}")
    result = tuple(str(name) for name in names)
    if len(result) != n:
        raise DataError(f"{len(result)} feature names for {n} features")
    refuse_long_names(result, "feature")
    if len(set(result)) != n:
        twice, _ = Counter(result).most_common(1)[0]
        raise DataError(f"two features are named {twice!r}")
    return result


def frozen(array: np.ndarray) -> np.ndarray:
    """The array, read-only."""
    view = array.view()
    view.setflags(write=False)
    return view


def refuse_long_names(names: Iterable[str], what: str) -> None:
    """Raise for a name that is a whole text: a column of them would fill every table and every message."""
    longest = longest_id()
    for name in names:
        if len(name) > longest:
            raise DataError(
                f"the name of a {what} has {len(name):,} characters ({name[:40]!r} ...), at most {longest:,} are "
                "allowed: is a line or a quotation mark not closed? The environment variable RANKFORCE_LONGEST_ID "
                "sets the limit"
            )


def refuse_label_among_features(data: Dataset, name: str | None) -> None:
    """Raise if a frame of features also holds the label, by its name and its values: nothing else would be learned."""
    with np.errstate(over="ignore"):
        label = data.labels[MAIN_LABEL].astype(dtypes.FEATURE)
    for place, feature in enumerate(data.feature_names):
        suspect = feature == name or feature.lower() in LABEL_NAMES
        if suspect and np.array_equal(data.features[:, place], label, equal_nan=True):
            raise DataError(
                f"the column {feature!r} of X is the label itself, and would be learned as a feature: leave it out of "
                f"X, or name it (y={feature!r}) in place of giving it again"
            )


def origins_of(
    qid: Any, label: Any, labels: Mapping[str, Any], document: Any, weight: Any, query_weight: Any
) -> dict[str, str]:
    """Part of a data set → the column it is taken from, in words, for the parts that are given as names of columns."""
    parts = {"queries": qid, "label": label, **{f"label {name!r}": one for name, one in labels.items()}}
    parts |= {"documents": document, "weights": weight, "query weights": query_weight}
    return {part: f"column {name!r}" for part, name in parts.items() if isinstance(name, str)}
