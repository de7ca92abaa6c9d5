"""Several rankings of the same documents: what `rankforce combine` adds up."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankforce.cli import output
from rankforce.cli.rankings import kind_and_name, read_ranking
from rankforce.displayed_text import displayed
from rankforce.errors import DataError, SettingsError

if TYPE_CHECKING:
    import numpy as np

    from rankforce.cli.rankings import Qrels
    from rankforce.data.dataset import Dataset


def read_joint_rankings(
    texts: Sequence[str], judgments: Dataset | Qrels, missing_queries: str = "zero"
) -> tuple[Dataset, list[Any]]:
    """The data, and for each ranking what ranks it.

    On qrels there must be runs, and the documents are all that any of them retrieved or that were judged. On a data
    set the documents are its own, which runs name by document id. A document that a run lacks has the score −∞.
    Queries of which a run lacks every document stay (``"zero"``), are left out for all rankings (``"skip"``) or are
    refused (``"raise"``).
    """
    import numpy as np

    import rankforce as rf

    kinds = {text: kind_and_name(text, judgments) for text in texts}
    runs = {text: rf.read_run(what) for text, (kind, what) in kinds.items() if kind == "run"}
    if isinstance(judgments, Mapping):
        other_texts = [text for text in texts if text not in runs]
        if other_texts:
            raise SettingsError(
                f"{other_texts[0]}: TREC judgments name documents, not rows or features: combine TREC runs on them"
            )
        data = _all_documents(judgments, runs.values())
    else:
        data = judgments
    members = [
        _scores_of_run(runs[text], data, text) if text in runs else read_ranking(text, data).scores for text in texts
    ]
    of_runs = {text: scores for text, scores in zip(texts, members, strict=True) if text in runs}
    left_out = _missing_queries(data, of_runs, missing_queries)
    if not left_out.any():
        return data, members
    documents_kept = ~left_out[data.row_queries]
    return data.take_queries(~left_out), [
        scores[documents_kept] if isinstance(scores, np.ndarray) else scores for scores in members
    ]


def _all_documents(qrels: Qrels, runs: Iterable[Mapping[str, Mapping[str, float]]]) -> Dataset:
    """Every document that was judged or retrieved by any run, in the judged queries."""
    import rankforce as rf

    everything: dict[str, dict[str, float]] = {}
    for run in runs:
        for query, of_query in run.items():
            everything.setdefault(query, {}).update(dict.fromkeys(of_query, 0.0))
    return rf.judged_run(qrels, everything).data


def _missing_queries(data: Dataset, runs: dict[str, np.ndarray], treatment: str) -> np.ndarray:
    """Which queries to leave out, bool (queries,): with ``"skip"`` those of which a run lacks every document.

    Says of every run what it lacks; with ``"raise"`` that is an error.
    """
    import numpy as np

    left_out = np.zeros(data.n_queries, dtype=bool)
    for name, scores in runs.items():
        lacking = np.maximum.reduceat(data.by_query(scores), data.query_starts[:-1]) == -np.inf
        if not lacking.any():
            continue
        count = f"{int(lacking.sum()):,} of the {data.n_queries:,} judged queries"
        if treatment == "raise":
            first = data.query_ids[int(np.argmax(lacking))]
            raise DataError(
                f"{name} lacks {count}, among them {displayed(first)}; --missing-queries skip leaves them "
                "out for all rankings"
            )
        consequence = "left out for all rankings" if treatment == "skip" else "all documents score the same there"
        output.note(f"{name} lacks {count}: {consequence}")
        if treatment == "skip":
            left_out |= lacking
    if left_out.all():
        raise DataError("no judged query is in all runs: nothing is left to combine them on")
    return left_out


def _scores_of_run(run: Mapping[str, Mapping[str, float]], data: Dataset, name: str) -> np.ndarray:
    """The score of every row; −∞ where the run lacks the document."""
    import numpy as np

    if data.document_ids is None:
        raise DataError(
            f"{name}: a TREC run names documents, and the data has no document ids: combine on qrels instead"
        )
    nothing: Mapping[str, float] = {}
    rows = zip(data.qid.tolist(), data.document_ids.tolist(), strict=True)
    scores = np.array([run.get(str(query), nothing).get(str(document), -math.inf) for query, document in rows])
    if not np.isfinite(scores).any():
        raise DataError(f"{name}: the run has no document of the data: are their ids written alike?")
    return scores


def note_unretrieved(written: Sequence[str], members: Sequence[Any]) -> None:
    """Say which runs get scores for documents that they did not retrieve: evaluated alone, these earn them nothing."""
    import numpy as np

    for name, scores in zip(written, members, strict=True):
        count = int((scores == -np.inf).sum()) if isinstance(scores, np.ndarray) else 0
        if count:
            output.note(
                f"{name} did not retrieve {count:,} documents: here they have its lowest score of the query, where "
                "evaluate counts nothing for them"
            )
