"""What a report is made of: the arguments of ``rf.report``, checked, and the rankings scored and evaluated once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankforce.cached_properties import cached_property
from rankforce.data.dataset import MAIN_LABEL, Dataset, check_dataset
from rankforce.data.hashing import checked_seed
from rankforce.data.random_streams import Stream
from rankforce.errors import DataError, RankforceError, SettingsError
from rankforce.evaluation.compare import compare
from rankforce.evaluation.comparison import Comparison
from rankforce.evaluation.evaluate import evaluate
from rankforce.evaluation.foreign_models import name_of, ranks_documents
from rankforce.evaluation.judged_rankings import is_run
from rankforce.evaluation.request import Request
from rankforce.evaluation.result import Evaluation
from rankforce.evaluation.scores import scores_of
from rankforce.explaining.explained_models import explained_model
from rankforce.kinds import Text, Whole, shown
from rankforce.measures.catalogue import measure as read_measure
from rankforce.measures.measure import Measure
from rankforce.models.model import Model

USUAL = "NDCG@10"
MOST_BASELINES = 8  # a reader keeps no more apart


@dataclasses.dataclass(frozen=True)
class MeasuringOptions:
    """How rankings are measured: as ``rf.evaluate`` takes it."""

    measures: Any = None
    segments: Any = None
    ties: str | None = None
    blank: str | None = None
    convention: str | None = None
    level: float = 0.95
    seed: int = 0
    threads: int | None = None


class ReportedModel:
    """A model, the data that it is looked at on, and the rankings that it is compared with.

    name : of the model
    rankings : scores by row of the model and of every baseline, by name, the model first
    data : with numbers of rows as document ids where it has none
    """

    def __init__(
        self, model: Any, data: Dataset, name: Any, baselines: Any, options: MeasuringOptions, sample: Any
    ) -> None:
        check_dataset(data)
        if data.bins is not None:
            raise DataError("a report looks at values of features, and a store has bins: give the data that it is of")
        Whole(1).check("sample", sample)
        self.given = model
        self.model: Model = explained_model(model)
        self.name = _checked_name("model" if name is None else name)
        self.options = dataclasses.replace(options, seed=checked_seed(options.seed))
        self.has_document_ids = data.document_ids is not None
        self.data = data if self.has_document_ids else data.replace(document_ids=np.arange(data.n_documents))
        self.sample_size = int(sample)
        asked = _measures(options.measures, self.model, data)
        self.request = Request.of(
            asked,
            ties=options.ties,
            blank=options.blank,
            convention=options.convention,
            level=options.level,
            seed=self.options.seed,
            threads=options.threads,
        )
        self.asked = asked
        if data.labels:
            self.request.on(data)
        others = named_baselines(baselines, self.name)
        self.rankings = {
            title: data.by_row(scores_of(ranking, data))
            for title, ranking in ({self.name: self.model} | others).items()
        }

    @property
    def baselines(self) -> list[str]:
        return list(self.rankings)[1:]

    @cached_property
    def evaluations(self) -> dict[str, Evaluation]:
        """Of every ranking, by name; empty for data without labels."""
        return self._evaluated(None)

    @cached_property
    def by_segment(self) -> dict[str, Evaluation]:
        """The same with segments; empty without any. Apart, for the tests of a comparison take time in each segment."""
        return {} if self.options.segments is None else self._evaluated(self.options.segments)

    def _evaluated(self, segments: Any) -> dict[str, Evaluation]:
        options = self.options
        if not self.data.labels:
            return {}
        return {
            name: evaluate(
                scores,
                self.data,
                self.asked,
                ties=options.ties,
                blank=options.blank,
                convention=options.convention,
                segments=segments,
                level=options.level,
                seed=options.seed,
                threads=options.threads,
            )
            for name, scores in self.rankings.items()
        }

    @property
    def evaluation(self) -> Evaluation:
        """Of the model."""
        return self.evaluations[self.name]

    @cached_property
    def comparisons(self) -> dict[str, Comparison]:
        """Of the model with every baseline; differences are the model's value less the baseline's."""
        return {
            name: compare(self.evaluations[name], self.evaluation, names=(name, self.name))
            for name in self.baselines
            if self.evaluations
        }

    @property
    def measure(self) -> str:
        """The first measure: what queries are sorted by, and what importance is of."""
        return str(next(iter(self.request.measures)))

    @property
    def label(self) -> str | None:
        """The label source that is shown beside documents: that of the first measure."""
        wanted = next(iter(self.request.measures)).label
        if wanted in self.data.labels:
            return wanted
        return MAIN_LABEL if MAIN_LABEL in self.data.labels else next(iter(self.data.labels), None)

    @cached_property
    def draw(self) -> np.ndarray:
        """The numbers of the queries in an order that the seed and their ids decide."""
        return np.argsort(Stream.REPORT_QUERIES.words(self.options.seed, self.data.query_hashes), kind="stable")

    @cached_property
    def sample(self) -> Dataset:
        """Queries with about ``sample_size`` documents together: what features are looked at on."""
        if self.data.n_documents <= self.sample_size:
            return self.data
        taken = max(1, int(np.searchsorted(np.cumsum(self.data.query_sizes[self.draw]), self.sample_size, "right")))
        return self.data.take_queries(np.sort(self.draw[:taken]))


def named_baselines(given: Any, model_name: str) -> dict[str, Any]:
    """Baselines by name: one, several, or a mapping of names to rankings."""
    if given is None:
        return {}
    if isinstance(given, Mapping) and not is_run(given):
        named = {_checked_name(name): ranking for name, ranking in given.items()}
    else:
        several = isinstance(given, (list, tuple)) and not all(isinstance(one, (int, float)) for one in given)
        named = {}
        for ranking in given if several else [given]:
            title = _title_of(ranking)
            while title in named or title == model_name:
                title += " again"
            named[title] = ranking
    if model_name in named:
        raise SettingsError(f"a baseline has the name of the model, {model_name!r}: give it another")
    if len(named) > MOST_BASELINES:
        raise SettingsError(f"{len(named)} baselines are more than a page can show: give at most {MOST_BASELINES}")
    return named


def _title_of(ranking: Any) -> str:
    if isinstance(ranking, str):
        return ranking
    if not isinstance(ranking, type) and not is_run(ranking) and ranks_documents(ranking):
        return name_of(ranking)
    return "baseline"


def _checked_name(name: Any) -> str:
    if not Text().holds(name) or not str(name).strip() or name == "difference":
        raise SettingsError(f"a ranking needs a name (and not 'difference'), not {shown(name)}")
    return str(name)


def _measures(given: Any, model: Model, data: Dataset) -> Any:
    """The measures as they were asked for; or those that the training watched, and NDCG@10."""
    if given is not None:
        several = isinstance(given, Iterable) and not isinstance(given, (str, bytes, Measure))
        return list(given) if several and getattr(given, "ndim", 1) > 0 else given
    found: dict[str, Measure] = {}
    for written in (*reversed(list(model.provenance.watched.values())), USUAL):
        try:
            one = read_measure(written)
            Request.of(one).on(data)
        except RankforceError:
            continue  # a cost, a measure of the user's that is not known here, or labels that the data does not have
        found.setdefault(str(one), one)
    return list(found.values()) or [read_measure(USUAL)]
