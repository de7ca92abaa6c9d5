"""Several rankings of the same documents: what `rankforce combine` adds up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankforce.cli import output
from rankforce.cli.rankings import kind_and_name, read_ranking
from rankforce.errors import DataError, SettingsError

if TYPE_CHECKING:
    import numpy as np

    from rankforce.cli.rankings import Qrels
    from rankforce.data.dataset import Dataset


def read_joint_rankings(
    written: Sequence[str], judgments: Dataset | Qrels, missing_queries: str = "zero"
) -> tuple[Dataset, list[Any]]:
    """The data, and for each ranking what ranks it.

    On qrels there must be runs, and the documents are all that any of them retrieved or that were judged. On a data
    set the documents are its own, which runs name by document id. A document that a run lacks has the score −∞.
    """
    import rankforce as rf

    if isinstance(judgments, Mapping):
        others = [one for one in written if kind_and_name(one, judgments)[0] != "run"]
        if others:
            raise SettingsError(
                f"{others[0]}: TREC judgments name documents, not rows or features: combine TREC runs on them"
            )
        runs = [rf.read_run(kind_and_name(one, judgments)[1]) for one in written]
        everything: dict[str, dict[str, float]] = {}
        for run in runs:
            for query, of_query in run.items():
                everything.setdefault(query, {}).update(dict.fromkeys(of_query, 0.0))
        joined = rf.judged_run(judgments, everything, missing_queries=missing_queries)
        if joined.queries_without_run:
            output.note(f"no run has {len(joined.queries_without_run):,} of the judged queries")
        return joined.data, [_scores_of_run(run, joined.data, one) for run, one in zip(runs, written, strict=True)]
    found: list[Any] = []
    for one in written:
        kind, what = kind_and_name(one, judgments)
        if kind == "run":
            found.append(_scores_of_run(rf.read_run(what), judgments, one))
        else:
            found.append(read_ranking(one, judgments).scores)
    return judgments, found


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
