"""A TREC run as scores of the documents of a data set: found by their ids, −∞ where the run does not have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.data.dataset import Dataset
from rankforce.data.frames import column_names
from rankforce.displayed_text import displayed
from rankforce.errors import DataError
from rankforce.evaluation.judged_rankings import SCORE_COLUMNS, by_document, is_table
from rankforce.remedies import DOCUMENT_IDS, Phrase


def holds_run(given: Any) -> bool:
    """Whether an object is a run: {query: {document: score}}, or a data frame with a row per query and document."""
    try:
        return isinstance(given, Mapping) or (is_table(given) and len(column_names(given)) > 1)
    except Exception:  # an object that fails where it is looked at holds nothing
        return False


def run_scores(run: Any, data: Dataset) -> np.ndarray:
    """One score per row of the data.

    A document of the run that its query does not have here is an error: in the run it holds a place, which would be
    lost. Queries of the run that are not in the data do not matter.
    """
    if data.document_ids is None:
        raise DataError("a run names documents, and the data has no document ids: ", DOCUMENT_IDS)
    by_query = {str(query): documents for query, documents in by_document(run, "the run", SCORE_COLUMNS).items()}
    scores = np.full(data.n_documents, -np.inf, dtype=dtypes.SCORE)
    for query, rows in zip(data.query_ids.tolist(), data.each_query(), strict=True):
        found = by_query.get(str(query))
        if found is None:
            continue
        if not isinstance(found, Mapping):
            raise DataError(f"the run must map queries to {{document: score}}, and query {displayed(query)} does not")
        of_query = {str(document): score for document, score in found.items()}
        for row in rows.tolist():
            scores[row] = _number(of_query.pop(str(data.document_ids[row]), -np.inf), query)
        if of_query:
            raise DataError(
                f"the run has {len(of_query)} documents of query {displayed(query)} that the data does not have, the "
                f"first is {displayed(next(iter(of_query)))}: leave them out of the run, or measure it on judgments, "
                "which need not have all documents",
                Phrase(": rf.evaluate(run, qrels, measures)", ""),
            )
    if not np.isfinite(scores).any():
        raise DataError("the run has no document of any query of the data: are these the same ids?")
    return scores


def _number(score: Any, query: Any) -> float:
    try:
        return float(score)
    except (TypeError, ValueError):
        raise DataError(f"a score of the run in query {displayed(query)} is no number: {score!r:.100}") from None
