"""Queries: values of all of them, and of some the documents with ranks, features, contributions, forces and pairs."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np

from rankforce.console.progress import Progress
from rankforce.data.dataset import Dataset
from rankforce.diagnostics.document_forces import DocumentForces, forces_at
from rankforce.errors import RankforceError
from rankforce.explaining.contributions import Contributions
from rankforce.explaining.explain import AskedDocuments, explained_pair
from rankforce.explaining.feature_tables import plain
from rankforce.models.ranking import Ranking
from rankforce.reporting.feature_roles import contributions_of
from rankforce.reporting.given import ReportedModel
from rankforce.reporting.parts import AbsentPart, ReportPart, all_rounded, rounded
from rankforce.reporting.texts import ReportTexts
from rankforce.threads import using_threads

TOP = 10  # documents of every ranking
MOST_DOCUMENTS = 30  # of a query, over all rankings
TOP_CHANGED = 5  # of the model's ranking: what would swap two of them is looked for
MOST_FEATURES = 30  # with values and contributions of their own; the others are summed
MOST_REASONS = 8  # features of a pair; the others are summed


@dataclasses.dataclass(frozen=True)
class QueryPart(ReportPart):
    """All queries: ids, sizes, segments, values by ranking and measure; and ``details`` of some, by their number."""

    ids: list[Any]
    sizes: list[int]
    segments: list[str] | None
    texts: list[str | None] | None
    values: dict[str, dict[str, list[float | None]]]
    features: list[str]  # of the details
    forces: dict[str, str] | None  # whose they are
    details: list[dict[str, Any]]
    documents_are_rows: bool
    label: str | None
    top: int  # of every ranking, that many documents are shown: of all, while there is room
    changed: int  # what would swap two is looked for among so many of the model's first documents
    remarks: list[str]

    @classmethod
    def of(cls, given: ReportedModel, chosen: dict[int, str], texts: ReportTexts, progress: bool) -> QueryPart:
        data, evaluations = given.data, given.evaluations
        segments = None
        segmented = given.by_segment.get(given.name)
        if segmented is not None and segmented.segments is not None:
            segments = [str(one) for one in segmented.segments.tolist()]
        looked_at = LookedAtQueries(given, chosen, texts)
        details = looked_at.details(progress)
        return cls(
            ids=data.query_ids.tolist(),
            sizes=data.query_sizes.tolist(),
            segments=segments,
            texts=texts.of_queries(data.query_ids.tolist()),
            values={
                name: {measure: all_rounded(one.per_query[measure].tolist()) for measure in one.measures}
                for name, one in evaluations.items()
            },
            features=looked_at.feature_names,
            forces=looked_at.force_words,
            details=details,
            documents_are_rows=not given.has_document_ids,
            label=given.label,
            top=TOP,
            changed=TOP_CHANGED,
            remarks=looked_at.remarks,
        )


class LookedAtQueries:
    """The chosen queries, and what is the same for all of them: forces, the features that are shown."""

    def __init__(self, given: ReportedModel, chosen: dict[int, str], texts: ReportTexts) -> None:
        self.given, self.chosen, self.texts = given, chosen, texts
        self.remarks: list[str] = []
        numbers = sorted(chosen)
        self.data = given.data.take_queries(numbers) if numbers else None
        self.forces: DocumentForces | None = None
        self.force_words: dict[str, str] | None = None
        self.features: list[int] = []
        if self.data is not None:
            self._find_forces(self.data)
            self._find_features(self.data)
            self.ground = self._ground(numbers)

    @property
    def feature_names(self) -> list[str]:
        return [self.given.model.feature_names[place] for place in self.features]

    def details(self, progress: bool) -> list[dict[str, Any]]:
        """Of every chosen query, in the order in which they were chosen."""
        found = []
        with (
            using_threads(self.given.options.threads),
            Progress("queries of the report", len(self.chosen), "queries", progress) as bar,
        ):
            for done, (number, reason) in enumerate(self.chosen.items(), start=1):
                found.append({"query": number, "reason": reason} | self._detail(number))
                bar.advance(done, {})
        return found

    def _find_forces(self, data: Dataset) -> None:
        try:
            self.forces = forces_at(data, self.given.given, threads=self.given.options.threads)
        except RankforceError as error:
            self.remarks.append(f"forces: {AbsentPart.because(error).absent}")
        else:
            self.force_words = {"measure": self.forces.measure, "source": self.forces.source}

    def _find_features(self, data: Dataset) -> None:
        table = contributions_of(self.given, data)
        if isinstance(table, AbsentPart):
            self.remarks.append(f"contributions: {table.absent}")
            self.features = list(range(min(self.given.model.n_features, MOST_FEATURES)))
            return
        sizes = np.array(list(table.mean_absolute.values()))
        self.features = [int(place) for place in np.argsort(-sizes, kind="stable")[:MOST_FEATURES]]

    def _ground(self, numbers: list[int]) -> Dataset:
        """The sample and the chosen queries: what changes of features are measured by."""
        given = self.given
        if given.sample is given.data:
            return given.data
        wanted = {*given.sample.query_ids.tolist(), *(given.data.query_id(number) for number in numbers)}
        ids = given.data.query_ids.tolist()
        return given.data.take_queries([number for number, name in enumerate(ids) if name in wanted])

    def _detail(self, number: int) -> dict[str, Any]:
        given, data = self.given, self.given.data
        query = data.query_id(number)
        rows = data.rows[data.query_starts[number] : data.query_starts[number + 1]]
        ranks = {name: _ranks(scores[rows]) for name, scores in given.rankings.items()}
        shown = _shown(list(ranks.values()))
        asked = AskedDocuments.of(self.ground, query)
        table = contributions_of(given, self.ground, query)
        documents = self._documents(rows, shown, ranks, asked)
        detail: dict[str, Any] = {"documents": documents, "of": len(rows), "base": None, "pairs": []}
        if isinstance(table, Contributions):
            detail["base"] = rounded(table.base)
            self._add_contributions(documents, table, shown, ranks[given.name])
            detail["pairs"] = self._pairs(asked, shown, ranks[given.name])
        return detail

    def _documents(
        self, rows: np.ndarray, shown: list[int], ranks: dict[str, np.ndarray], asked: AskedDocuments
    ) -> list[dict[str, Any]]:
        given, data = self.given, self.given.data
        labels = None if given.label is None else data.labels[given.label]
        names = asked.names.tolist()
        matrix = given.model.matrix(asked.data)
        listed = [given.model.categories.get(name, ()) for name in self.feature_names]
        pulls = self._pulls(asked.query)
        found = []
        for place in shown:
            values = [plain(v, of) for v, of in zip(matrix[place, self.features].tolist(), listed, strict=True)]
            found.append(
                {
                    "id": names[place],
                    "text": self.texts.of_document(names[place]),
                    "label": None if labels is None else rounded(float(labels[rows[place]])),
                    "ranks": [int(of[place]) or None for of in ranks.values()],
                    "scores": [rounded(float(scores[rows[place]])) for scores in given.rankings.values()],
                    "force": None if pulls is None else rounded(float(pulls[place])),
                    "values": [rounded(value) if isinstance(value, float) else value for value in values],
                }
            )
        return found

    def _pulls(self, query: Any) -> np.ndarray | None:
        if self.forces is None:
            return None
        of = self.forces.data
        q = self.forces.query_number(query)
        return self.forces.forces[of.rows[of.query_starts[q] : of.query_starts[q + 1]]]

    def _add_contributions(
        self, documents: list[dict[str, Any]], table: Contributions, shown: list[int], ranks: np.ndarray
    ) -> None:
        """The table has the documents of the query by rank."""
        for document, place in zip(documents, shown, strict=True):
            shares = table.contributions[ranks[place] - 1]
            document["contributions"] = all_rounded(shares[self.features].tolist())
            document["others"] = rounded(float(shares.sum() - shares[self.features].sum()))

    def _pairs(self, asked: AskedDocuments, shown: list[int], ranks: np.ndarray) -> list[dict[str, Any]]:
        """For each two shown documents, the one ranked higher by the model first: why."""
        found = []
        order = sorted(range(len(shown)), key=lambda at: int(ranks[shown[at]]))
        for first, second in itertools.combinations(order, 2):
            a, b = shown[first], shown[second]
            changes = max(int(ranks[a]), int(ranks[b])) <= TOP_CHANGED
            one = explained_pair(self.given.model, self.ground, asked, a, b, changes)
            shares = one.contributions[self.features]
            most = np.argsort(-np.abs(shares), kind="stable")[:MOST_REASONS]
            reasons = [(int(at), rounded(float(shares[at]))) for at in most if shares[at] != 0.0]
            change = one.smallest_change
            found.append(
                {
                    "a": first,
                    "b": second,
                    "difference": rounded(one.difference),
                    "reasons": reasons,  # (number of the feature in ``features``, contribution)
                    "others": rounded(one.difference - math.fsum(share or 0.0 for _, share in reasons)),
                    "change": None if change is None else one.to_dict()["changes"][0],
                    "looked_for_change": one.changes is not None,
                }
            )
        return found


def _ranks(scores: np.ndarray) -> np.ndarray:
    """Ranks from 1 by falling score, equal scores in the order of the rows; 0 for what was not retrieved."""
    one_query = np.zeros(len(scores), dtype=np.int64)
    ranking = Ranking.of_scores(scores, one_query, np.array([0]), None, None)
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[ranking.row] = ranking.rank
    ranks[scores == -np.inf] = 0
    return ranks


def _shown(rankings: list[np.ndarray]) -> list[int]:
    """The places of the documents that are first in any of the rankings, in the order of the first one."""
    top: dict[int, None] = {}
    first = [(ranks, depth) for ranks in rankings[:2] for depth in range(1, TOP + 1)]  # whole, whatever else there is
    others = [(ranks, depth) for depth in range(1, TOP + 1) for ranks in rankings[2:]]
    for ranks, depth in first + others:
        for place in np.flatnonzero(ranks == depth):
            if len(top) < MOST_DOCUMENTS:
                top[int(place)] = None
    return sorted(top, key=lambda place: (int(rankings[0][place]) or len(rankings[0]) + 1, place))
