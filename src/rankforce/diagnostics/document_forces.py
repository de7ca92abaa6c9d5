"""The λ's: how each document is pulled up or down its ranking, at given scores."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from rankforce.boosting.finite_forces import check_finite
from rankforce.console import tables
from rankforce.console.result_tables import ResultTable, Tabular
from rankforce.console.wording import counted
from rankforce.data.dataset import MAIN_LABEL, Dataset, check_dataset
from rankforce.data.hashing import checked_seed
from rankforce.displayed_text import displayed
from rankforce.errors import DataError, SettingsError
from rankforce.evaluation.scores import scores_of
from rankforce.forces.forces import RunningOrder
from rankforce.forces.trained_forces import ASSUMED, forces_of
from rankforce.kinds import shown
from rankforce.lambdas.base import LambdaFunction
from rankforce.lambdas.catalogue import lambda_function as read_lambda_function
from rankforce.measures.catalogue import measure as read_measure
from rankforce.measures.measure import Measure
from rankforce.objectives.objective import ALL_PAIRS, Term
from rankforce.remedies import Argument
from rankforce.threads import using_threads

LONGEST_ARROW = 20  # characters


@dataclasses.dataclass(frozen=True, eq=False)
class DocumentForces(Tabular):
    """What ``rf.forces_at`` yields: one entry per row of the data.

    forces : λ, minus the gradient of the cost in the score; positive pushes the document up
    curvatures : the diagonal of the Hessian
    ranks : in the query, from 1, by the scores; equal ones in the order of training
    scores
    measure : what the forces raise
    source : whose forces they are, in words

    Printed, it shows the query with the largest forces; ``query(id)`` is a table of another.
    """

    data: Dataset
    forces: np.ndarray
    curvatures: np.ndarray
    ranks: np.ndarray
    scores: np.ndarray
    measure: str
    source: str

    def query(self, query: Any) -> ResultTable:
        """The documents of a query in ranked order, each with its force as an arrow."""
        q = self.query_number(query)
        rows = self.data.rows[self.data.query_starts[q] : self.data.query_starts[q + 1]]
        rows = rows[np.argsort(self.ranks[rows])]
        largest = float(np.abs(self.forces[rows]).max())
        labels = self.data.labels.get(MAIN_LABEL)
        lines = []
        for row in rows:
            force = float(self.forces[row])
            length = round(LONGEST_ARROW * abs(force) / largest) if largest > 0.0 else 0
            document = row if self.data.document_ids is None else self.data.document_ids[row]
            lines.append(
                [
                    str(self.ranks[row]),
                    str(document),
                    "–" if labels is None or np.isnan(labels[row]) else f"{labels[row]:g}",
                    f"{self.scores[row]:.4g}",
                    f"{force:+.4g}",
                    f"{float(self.curvatures[row]):.4g}",
                    ("↑" if force > 0.0 else "↓") * length,
                ]
            )
        title = f"query {displayed(query)}: forces of {self.measure}, {counted(len(rows), 'document')}"
        header = ["rank", "document", "label", "score", "force", "curvature", ""]
        return ResultTable(title, header, lines, [f"forces: {self.source}; ↑ up the ranking"], left=2)

    def to_pandas(self) -> Any:
        """A data frame of one row per document: query, rank, score, force, curvature."""
        columns = {
            "query": self.data.qid,
            "rank": self.ranks,
            "score": self.scores,
            "force": self.forces,
            "curvature": self.curvatures,
        }
        if self.data.document_ids is not None:
            columns = {"query": columns.pop("query"), "document": self.data.document_ids} | columns
        return tables.load_pandas().DataFrame(columns)

    def plot(self, query: Any = None, *, ax: Any = None, path: Any = None) -> Any:
        """The forces on a query as arrows: ``rf.plot.forces``."""
        import rankforce

        return rankforce.plot.forces(self, query, ax=ax, path=path)

    def __repr__(self) -> str:
        return f"<Forces of {self.measure} on {counted(self.data.n_documents, 'document')}>"

    def _result_table(self) -> ResultTable:
        return self.query(self.data.query_ids[self.strongest_query])

    def query_number(self, query: Any) -> int:
        """The place of a query among ``data.query_ids``."""
        try:
            return {name: q for q, name in enumerate(self.data.query_ids.tolist())}[query]
        except (KeyError, TypeError):  # what has no hash is no id
            raise DataError(f"there is no query {shown(query)}; data.query_ids lists those that there are") from None

    @property
    def strongest_query(self) -> int:
        """The number of the query with the largest sum of |forces|."""
        pulls = np.add.reduceat(np.abs(self.data.by_query(self.forces)), self.data.query_starts[:-1])
        return int(np.argmax(pulls))


def forces_at(
    data: Dataset,
    scores: Any,
    measure: str | Measure | None = None,
    *,
    lambda_function: str | LambdaFunction | None = None,
    iteration: int = 0,
    seed: int = 0,
    threads: int | None = None,
) -> DocumentForces:
    """The forces on the documents of a data set, at these scores: what the next tree would be grown on.

    Parameters
    ----------
    data : Dataset
    scores : a fitted ranker, a model, an array of one score per row, or the name of a feature
        Of a ranker or a model, the forces are those that it was trained with (λ-function, pairs, normalisation,
        anchor). Of plain scores they are assumed, and the result says so.
    measure : what the forces raise; by default what the ranker was trained for, else NDCG
    lambda_function : in place of the training's, on all pairs
    iteration : of a schedule, from 0
    seed : of the order of equal scores, as in training
    """
    check_dataset(data)
    function = None if lambda_function is None else read_lambda_function(lambda_function)
    seed = checked_seed(seed)
    if isinstance(iteration, bool) or not isinstance(iteration, (int, np.integer)) or iteration < 0:
        raise SettingsError("iteration is a whole number from 0 on, not ", Argument("iteration", iteration))
    trained = ASSUMED if function is not None else forces_of(scores)
    at = scores_of(scores, data)
    if not np.isfinite(at).all():
        raise DataError("forces_at needs a finite score for every document: a pair has a gap")
    if function is not None:
        term = Term(read_measure("NDCG" if measure is None else measure), function, pairs=ALL_PAIRS)
    else:
        term = trained.term(measure)
    with using_threads(threads):
        order = RunningOrder(data, seed).update(at)
        forces, curvatures = trained.on(data, term).at(at, order, int(iteration))
    check_finite(trained, str(term), data, forces, curvatures, "at these scores")
    ranks = np.empty(data.n_documents, dtype=np.int64)
    ranks[order] = np.arange(data.n_documents) - np.repeat(data.query_starts[:-1], data.query_sizes) + 1
    whole = trained.objective is not None and measure is None and len(trained.objective.terms) > 1
    return DocumentForces(
        data,
        data.by_row(forces.copy()),
        data.by_row(curvatures.copy()),
        data.by_row(ranks),
        data.by_row(at),
        str(term.measure) + (" (first of several terms)" if whole else ""),
        "asked for" if function is not None else str(trained),
    )
