"""Why is A above B? What each feature contributes to scores, and to the difference of two."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from rankforce.console.wording import counted
from rankforce.data.dataset import Dataset, check_dataset
from rankforce.data.hashing import checked_seed
from rankforce.data.random_streams import Stream
from rankforce.displayed_text import displayed
from rankforce.errors import DataError, SettingsError
from rankforce.explaining.attribution import attributed, methods, rows_of
from rankforce.explaining.contributions import Contributions
from rankforce.explaining.document_explanation import DocumentExplanation
from rankforce.explaining.explained_models import explained_model
from rankforce.explaining.pair_explanation import PairExplanation, PairMember
from rankforce.explaining.place_changes import smallest_changes
from rankforce.kinds import Whole, check_switches, shown
from rankforce.memory import check_memory
from rankforce.models.model import Model
from rankforce.models.ranking import Ranking
from rankforce.remedies import NAME_ALONE, Argument
from rankforce.threads import using_threads

_BYTES_PER_CELL = 20  # contributions, their copy in order, and the values of the features


@overload
def explain(
    model: Any,
    data: Dataset,
    query: Any = None,
    *,
    background: Any = None,
    seed: int = 0,
    threads: int | None = None,
) -> Contributions: ...


@overload
def explain(
    model: Any,
    data: Dataset,
    query: Any,
    *,
    document: int | str,
    background: Any = None,
    seed: int = 0,
    threads: int | None = None,
) -> DocumentExplanation: ...


@overload
def explain(
    model: Any,
    data: Dataset,
    query: Any,
    *,
    pair: Sequence[int | str],
    changes: bool = True,
    threads: int | None = None,
) -> PairExplanation: ...


def explain(
    model: Any,
    data: Dataset,
    query: Any = None,
    *,
    document: Any = None,
    pair: Any = None,
    background: Any = None,
    changes: bool = True,
    seed: int = 0,
    threads: int | None = None,
) -> Contributions | DocumentExplanation | PairExplanation:
    """What each feature contributes: contributions add up to the score, or to the difference of two scores.

    Parameters
    ----------
    model : a model of rankforce, or a fitted ranker
    data : Dataset
    query : the id of a query: all its documents × features; None: all documents of the data
    document : one document of the query: its id, or the number of its row if the data has no document ids
    pair : two documents (a, b) of the query: why a stands above b
        Contributions are Shapley values with b as the only reference, and add up to score of a − score of b.
    background : documents that scores are compared with: a Dataset, a matrix, a data frame, or how many are drawn from
        ``data``
        Contributions then add up to the score less the mean score of the background. Left out, trees are compared with
        their own training documents, by the counts in their nodes (path-dependent TreeSHAP), nets and perceptrons with
        the means of the features.
    changes : for a pair, also look for the smallest change of one feature that would swap the two
    seed : of the documents that are drawn
    threads : the number of threads; results never depend on it

    Trees: Shapley values. One layer, perceptrons: Shapley values. Two layers: integrated gradients, in closed form.
    Sums and averages of models: sums and averages of contributions. Each result says what it is and how exactly it
    adds up.
    """
    explained = explained_model(model)
    check_dataset(data)
    check_switches(changes=changes)
    seed = checked_seed(seed)
    if query is None and (document is not None or pair is not None):
        raise SettingsError("a document is one of a query: say which by ", Argument("query"))
    if pair is not None and (document is not None or background is not None):
        other = "document" if document is not None else "background"
        raise SettingsError("a pair is compared with itself: leave ", Argument(other, NAME_ALONE), " out")
    with using_threads(threads):
        asked = AskedDocuments.of(data, query)
        if pair is not None:
            return explained_pair(explained, data, asked, *asked.places_of_pair(pair), changes)
        place = None if document is None else asked.place_of(document)
        table, order = _table(explained, asked, _references(background, explained, data, seed))
    return table if place is None else table._document_at(int(np.flatnonzero(order == place)[0]))


@dataclasses.dataclass(frozen=True, eq=False)
class AskedDocuments:
    """The documents of one query, or of all: their data, and what each is called."""

    data: Dataset
    query: Any  # None: all queries
    names: np.ndarray  # document ids, or numbers of rows where there are none

    @classmethod
    def of(cls, data: Dataset, query: Any) -> AskedDocuments:
        names = np.arange(data.n_documents) if data.document_ids is None else data.document_ids
        if query is None:
            return cls(data, None, names)
        number = _place(query, data.query_ids)
        if number is None:
            raise DataError(f"there is no query {shown(query)}; query_ids lists those that there are")
        return cls(data.take_queries([number]), data.query_id(number), names[data.row_queries == number])

    def place_of(self, document: Any) -> int:
        """The row of a document within the data."""
        place = _place(document, self.names)
        if place is None:
            some = ", ".join(displayed(name) for name in self.names[:5].tolist())
            more = ", ..." if len(self.names) > 5 else ""
            what = "rows of this query" if self.data.document_ids is None else "its documents"
            raise DataError(f"query {displayed(self.query)} has no document {shown(document)} ({what}: {some}{more})")
        if (self.names == self.names[place]).sum() > 1:
            raise DataError(f"document {shown(document)} stands twice in query {displayed(self.query)}")
        return place

    def places_of_pair(self, pair: Any) -> tuple[int, int]:
        """The rows of two documents."""
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise SettingsError(f"pair must be two documents (a, b), not {shown(pair)}")
        a, b = self.place_of(pair[0]), self.place_of(pair[1])
        if a == b:
            raise SettingsError(f"pair names one document twice: {shown(pair[0])}")
        return a, b


def _place(wanted: Any, ids: np.ndarray) -> int | None:
    """Where an id stands first; None if it does not."""
    number = isinstance(wanted, (int, np.integer)) and not isinstance(wanted, bool) and ids.dtype.kind in "iu"
    text = isinstance(wanted, str) and ids.dtype.kind not in "iu"
    if not (number or text):
        return None
    found = [place for place, one in enumerate(ids.tolist()) if one == wanted]
    return found[0] if found else None


def _table(model: Model, asked: AskedDocuments, references: np.ndarray | None) -> tuple[Contributions, np.ndarray]:
    """The contributions, and the row of each document in them."""
    data = asked.data
    cells = data.n_documents * model.n_features
    check_memory(
        _BYTES_PER_CELL * cells,
        "explaining all documents",
        f"{_BYTES_PER_CELL} bytes × {data.n_documents:,} documents × {model.n_features:,} features",
        "explain them query by query, or a part: data.take_queries(...)",
    )
    found = attributed(model, rows_of(model, data), references)
    scores = model.predict(data)
    ranking = Ranking.of_scores(scores, data.row_queries, data.query_ids, None, None)
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[ranking.row] = ranking.rank
    order = np.arange(len(scores)) if asked.query is None else ranking.row
    table = Contributions(
        query=asked.query,
        query_ids=data.qid[order],
        documents=asked.names[order],
        ranks=ranks[order],
        scores=scores[order],
        base=found.base,
        feature_names=model.feature_names,
        values=model.matrix(data)[order],
        contributions=found.contributions[order],
        notes=tuple(methods(model, None if references is None else counted(len(references), "document"))),
        categories=model.categories,
    )
    return table, order


def explained_pair(
    model: Model, data: Dataset, asked: AskedDocuments, a: int, b: int, changes: bool
) -> PairExplanation:
    """Why row ``a`` of the asked documents stands above row ``b``; changes are measured by all of the data."""
    part = asked.data
    rows, matrix, scores = rows_of(model, part), model.matrix(part), model.predict(part)
    contributions = attributed(model, rows[a : a + 1], rows[b : b + 1]).contributions[0]
    ranking = Ranking.of_scores(scores, part.row_queries, part.query_ids, None, None)
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[ranking.row] = ranking.rank
    names = asked.names.tolist()
    swaps = None
    if changes and scores[a] != scores[b]:
        higher, lower = (a, b) if scores[a] > scores[b] else (b, a)
        swaps = tuple(smallest_changes(model, data, matrix, higher, lower, (names[higher], names[lower])))
    first, second = (
        PairMember(names[row], int(ranks[row]), float(scores[row]), matrix[row].astype(np.float64)) for row in (a, b)
    )
    return PairExplanation(
        asked.query, first, second, model.feature_names, contributions, swaps, tuple(methods(model, "b")),
        model.categories,
    )  # fmt: skip


def _references(background: Any, model: Model, data: Dataset, seed: int) -> np.ndarray | None:
    """The documents to compare with, as ``attributed`` takes them."""
    if background is None:
        return None
    if isinstance(background, (bool, int, float, str, np.number)):
        Whole(1, data.n_documents).check("background", background)
        position = data.by_row(np.arange(data.n_documents) - np.repeat(data.query_starts[:-1], data.query_sizes))
        words = Stream.BACKGROUND.words(seed, data.query_hashes[data.row_queries], position)
        chosen = np.sort(np.argsort(words, kind="stable")[: int(background)])
        return np.ascontiguousarray(rows_of(model, data)[chosen])
    rows = rows_of(model, background)
    if not len(rows):
        raise DataError("the background has no documents to compare with")
    return rows
