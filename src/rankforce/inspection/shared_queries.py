"""Queries that stand in two data sets: a leak when one is for training and the other for testing."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import numpy as np

from rankforce.binning.binned import Binned
from rankforce.console.wording import counted, listed
from rankforce.data.category_codes import recoded
from rankforce.data.dataset import Dataset
from rankforce.data.hashing import mix
from rankforce.displayed_text import displayed
from rankforce.errors import DataError
from rankforce.inspection.duplicates import bin_hashes, row_hashes
from rankforce.inspection.findings import Finding


@dataclasses.dataclass(frozen=True)
class SharedQueries:
    """Queries that two data sets have in common.

    ``same_id`` have the same id and share documents, ``renumbered`` have the same documents under different ids,
    ``other_documents`` have the same id and no document in common.
    """

    first: str
    second: str
    same_id: tuple[str, ...]
    renumbered: tuple[tuple[str, str], ...]
    other_documents: tuple[str, ...]
    documents_compared: bool = True  # else ``other_documents`` has all ids that both have

    @property
    def findings(self) -> tuple[Finding, ...]:
        list_of_findings = []
        first, second = displayed(self.first), displayed(self.second)
        if self.same_id:
            list_of_findings.append(
                Finding(
                    "query_in_two_splits",
                    f"{counted(len(self.same_id), 'query is', 'queries are')} in both {first} and {second}: "
                    f"{listed(self.same_id)}.",
                    "What is measured on them was learned by heart: split by whole queries (Dataset.split).",
                )
            )
        if self.renumbered:
            pairs = [f"{a} = {b}" for a, b in self.renumbered]
            list_of_findings.append(
                Finding(
                    "query_in_two_splits_renumbered",
                    f"{counted(len(pairs), 'query', 'queries')} of {first} and {second} hold the same "
                    f"documents under different ids: {listed(pairs)}.",
                    "They are the same queries with other numbers: remove them from one of the two.",
                )
            )
        if self.other_documents:
            list_of_findings.append(
                Finding(
                    "query_id_in_two_splits",
                    f"{counted(len(self.other_documents), 'query id is', 'query ids are')} in both {first} and "
                    f"{second}, "
                    + ("with other documents" if self.documents_compared else "whose bins cannot be compared")
                    + f": {listed(self.other_documents)}.",
                    "Either a query was torn apart between the files, or each file counts its queries from 1: find out "
                    "which; torn queries leak.",
                )
            )
        return tuple(list_of_findings)

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self) | {"findings": [finding.to_dict() for finding in self.findings]}


def shared_queries(first: Dataset, second: Dataset, names: tuple[str, str] = ("first", "second")) -> SharedQueries:
    """Queries that are in two data sets: a leak when one of them is for training and the other for testing.

    Where one is a store, documents are the same if they have the same bins in it. Two stores with different bins are
    compared by the ids of their queries alone.
    """
    first, second, documents = _documents(first, second)
    if documents is None:
        other_ids = set(map(str, second.query_ids.tolist()))
        shared = tuple(one for one in map(str, first.query_ids.tolist()) if one in other_ids)
        return SharedQueries(*names, (), (), shared, documents_compared=False)
    contents = [_query_contents(data, hashes) for data, hashes in zip((first, second), documents, strict=True)]
    indices = [{str(query): index for index, query in enumerate(data.query_ids.tolist())} for data in (first, second)]
    same: list[str] = []
    different: list[str] = []
    for name in indices[0].keys() & indices[1].keys():
        a = documents[0][first.rows[_span(first, indices[0][name])]]
        b = documents[1][second.rows[_span(second, indices[1][name])]]
        (same if np.isin(a, b).any() else different).append(name)
    telling = [_telling(data, hashes) for data, hashes in zip((first, second), documents, strict=True)]
    by_content = {
        int(content): str(first.query_ids[index]) for index, content in enumerate(contents[0]) if telling[0][index]
    }
    renumbered = []
    for index in np.flatnonzero(telling[1]):
        twin = by_content.get(int(contents[1][index]))
        name_here = str(second.query_ids[index])
        if twin is not None and twin != name_here and twin not in same and name_here not in same:
            renumbered.append((twin, name_here))
    order = {name: index for index, name in enumerate(indices[0])}
    return SharedQueries(
        *names,
        same_id=tuple(sorted(same, key=order.__getitem__)),
        renumbered=tuple(sorted(renumbered, key=lambda pair: order[pair[0]])),
        other_documents=tuple(sorted(different, key=order.__getitem__)),
    )


def _documents(first: Dataset, second: Dataset) -> tuple[Dataset, Dataset, list[np.ndarray] | None]:
    """The two, made comparable, and a hash of every document of each; None where they cannot be compared."""
    if first.bins is not None or second.bins is not None:
        return first, second, _documents_by_bins(first, second)
    if first.n_features != second.n_features:
        width = max(first.n_features, second.n_features)  # a LETOR file ends at its last feature that is not 0
        first, second = _widened(first, width), _widened(second, width)
    if first.feature_names == second.feature_names:
        with contextlib.suppress(DataError):  # numbers here, categories there: no document is in both
            second = recoded(second, first, what="the second", of="the first")
    return first, second, [row_hashes(data.features) for data in (first, second)]


def _documents_by_bins(first: Dataset, second: Dataset) -> list[np.ndarray] | None:
    store: Any = first if first.bins is not None else second
    hashes = []
    if first.n_features != second.n_features:
        return None
    try:
        for data in (first, second):
            coded = recoded(data, store, what="the data", of="the store")
            rows = Binned.by(store.bins.binning, coded, "low").rows
            hashes.append(data.by_row(bin_hashes(rows)))
    except DataError:  # other thresholds or categories
        return None
    return hashes


def _widened(data: Dataset, width: int) -> Dataset:
    if data.n_features == width:
        return data
    features = np.zeros((data.n_documents, width), dtype=data.features.dtype)
    features[:, : data.n_features] = data.features
    return data.replace(features=features, feature_names=None)


def _span(data: Dataset, query: int) -> slice:
    return slice(int(data.query_starts[query]), int(data.query_starts[query + 1]))


def _query_contents(data: Dataset, hashes: np.ndarray) -> np.ndarray:
    """A hash of the documents of each query, whatever their order."""
    return np.add.reduceat(mix(data.by_query(hashes)), data.query_starts[:-1])


def _telling(data: Dataset, hashes: np.ndarray) -> np.ndarray:
    """Queries whose documents say which query it is: at least two different ones."""
    grouped = data.by_query(hashes)
    starts = data.query_starts[:-1]
    return np.minimum.reduceat(grouped, starts) < np.maximum.reduceat(grouped, starts)
