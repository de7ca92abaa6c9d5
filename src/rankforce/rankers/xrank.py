"""XRank: a directed acyclic graph whose ordered frontier is the ranking."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, ClassVar, Literal

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.errors import DataError, SettingsError, warn
from rankforce.measures.catalogue import measure
from rankforce.measures.measure import Measure
from rankforce.measures.ndcg import NDCG
from rankforce.models.combination import Combination
from rankforce.remedies import Setting
from rankforce.training.monitoring import TrainingWarning
from rankforce.training.settings import MEASURE, checked, choice, measure_to_watch, number, whole, with_settings
from rankforce.training.stepwise import Stepwise
from rankforce.xrank.course import BoostedGraphs, Ground, Growing
from rankforce.xrank.edges import MartingaleReport
from rankforce.xrank.growth import Full, Growth, Martingale, MaxNDCG, Rebalancing, Simple

FORMS: dict[str, type[Growth]] = {
    "simple": Simple,
    "full": Full,
    "rebalancing": Rebalancing,
    "martingale": Martingale,
}


@with_settings
class XRank(Stepwise):
    """A graph of tests that leads every document to one of the ordered nodes of its frontier (Burges, 2007).

    The rank of a document is the place of its node. Documents of one query in one node are tied; the value of a
    frontier is the mean NDCG expected over those ties. Two tied documents pull each other apart by what their swap
    between the first and the last rank of their block would change, (g_i − g_j)(D(first) − D(last))/maxDCG; a split
    gains |Σ of the forces on one side|, and the side with the positive sum goes above. After every change the
    frontier is reordered: the best move of one node to any place, until none raises the value.

    Parameters
    ----------
    measure : str or Measure
        What is learned: NDCG, DCG or CNDCG, with any cut-off, gain and discount.
    form : "simple", "full", "rebalancing" or "martingale"
        ``"simple"``: split and swap. If no split gains anything, the largest node is split. Such a graph is a tree with
        an order of its leaves.
        ``"full"``: the node to be split may first be merged with a neighbour, if that is worth more after reordering.
        ``"rebalancing"``: as full, and after every step that raises the value above all before, neighbours are merged
        without being split again wherever that costs nothing.
        ``"martingale"``: level t has t + 1 nodes, each of which sends a document to the same place or the next lower
        one; ``martingale_`` reports the edges of the levels and the bound on misordered pairs that follows.
    split : "forces" or "max_ndcg"
        ``"max_ndcg"``: the split that most raises the measure while the order inside both sides stays as it is, and no
        reordering: the measure never falls, but learning stalls when every query's documents are spread over many
        nodes. For the simple form only.
    n_graphs : int
        More than one: boosting. Each further graph, of ``n_steps`` changes, is grown on queries that count the more the
        worse they are ranked so far, e^{−NDCG}, and is added with the weight that makes the training measure highest:
        the global optimum, by the sweep of ``rf.combine``. A graph that does not raise it is left out.
    feature_fraction : float
        The share of the features that each graph of several is grown on, drawn by hash: else they are much alike.
    n_steps : int
        The most changes (levels of the martingale form). Learning ends sooner when the training documents are ranked as
        well as can be, or when no node can be split.
    min_documents : int
        Least number of training documents on each side of a split.
    max_bins : int
        Bins per feature; missing values have one of their own and learn their side.
    early_stopping : int, optional
        End after this many steps (graphs, of several) without a higher validation value.
    validation_measure : str or Measure, optional
        What the history and early stopping watch; default ``measure``.
    seed, threads, progress
        As for ``LambdaMART``. The seed orders ties only.

    Notes
    -----
    Queries count by their weights. Document weights are refused: NDCG has none. Unlabelled documents and queries on
    which no ranking can score take part in nothing, but get scores.

    With enough steps, ``min_documents=1`` and no cut-off, training documents that differ in some binned feature are
    ranked perfectly. On held-out data that is overfitting: give ``validation`` to ``fit``, and the best step is kept.

    Attributes
    ----------
    model_ : RankingGraph, or a Combination of several
        ``to_text``, ``to_dot``, ``to_svg`` and ``draw`` show a graph.
    expected_ : list of float
        The value of one graph's frontier after every step: the training measure expected over ties.
    martingale_ : MartingaleReport
        Of one graph in martingale form: edges γ_t (least and mean), misordered pairs, bound; for all levels that were
        learned.
    """

    WHY_ALONE: ClassVar[str] = "every change of its graph is measured on the rankings of all queries"
    STEP: ClassVar[str] = "steps"

    measure: str | Measure = dataclasses.field(default="NDCG", kw_only=False, metadata=checked(MEASURE))
    form: Literal["simple", "full", "rebalancing", "martingale"] = choice("simple")
    split: Literal["forces", "max_ndcg"] = choice("forces")
    n_graphs: int = whole(1, least=1)
    feature_fraction: float = number(0.5, above=0.0, most=1.0)
    n_steps: int = whole(100, least=1)
    min_documents: int = whole(20, least=1)
    max_bins: int = whole(255, least=2, most=255)
    validation_measure: str | Measure | None = measure_to_watch(after="early_stopping")

    model_: Any = dataclasses.field(init=False)

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of the total gain that each feature brought, graphs by their weights."""
        model: Any = self._fitted()
        several = isinstance(model, Combination)
        weights, graphs = (model.weights, model.models) if several else ([1.0], [model])
        gains = np.zeros(self.n_features_in_)
        for weight, graph in zip(weights, graphs, strict=True):
            gains += weight * np.array(list(graph.feature_importance("gain").values()))
        return gains / gains.sum() if gains.sum() > 0 else gains

    @property
    def expected_(self) -> list[float]:
        """The value of the frontier after every step."""
        return self._only_graph().values

    @property
    def martingale_(self) -> MartingaleReport:
        """Edges and bound of the martingale form."""
        report = self._only_graph().report
        if report is None:
            raise AttributeError("only form='martingale' has edges")
        return report

    def _only_graph(self) -> Growing:
        self._fitted()
        if not isinstance(self._grown, Growing):
            raise AttributeError("only a single graph (n_graphs=1) reports on its growth")
        return self._grown

    def _steps_name(self) -> str:
        return "n_steps" if self.n_graphs == 1 else "n_graphs"

    def _learner(self, data: Dataset, held_out: Dataset | None) -> Growing | BoostedGraphs:
        if data.weights is not None:
            raise DataError("XRank knows no weights of documents, for NDCG has none: give query_weights, or none")
        growth = MaxNDCG if self.split == "max_ndcg" else FORMS[self.form]
        form = functools.partial(growth, min_documents=self.min_documents)
        learned = self._learned_measure()
        ground = Ground(data, held_out, learned, self.max_bins, self.seed)
        self._grown: Growing | BoostedGraphs
        if self.n_graphs == 1:
            self._grown = ground.growing(form)
        else:
            self._grown = BoostedGraphs(
                data, held_out, ground, learned, form, self.n_steps, self.feature_fraction, self.seed
            )
        return self._grown

    def _explain_nothing_learned(self, model: Any, data: Dataset) -> None:
        graphs: Any = model.models if isinstance(model, Combination) else [model]
        if any(graph.n_tests for graph in graphs):
            return
        warn(
            TrainingWarning(
                f"no split of the {data.n_documents} training documents raises {self._objective_name()}: all documents "
                "get the same score. Are all features constant, or is ",
                Setting("min_documents", self.min_documents),
                " too large?",
            )
        )

    def _learned_measure(self) -> NDCG:
        chosen = measure(self.measure)
        if not isinstance(chosen, NDCG):
            raise SettingsError(f"XRank learns NDCG, DCG or CNDCG, not {chosen}: use LambdaMART for other measures")
        return chosen

    def _watched_measure(self) -> Measure:
        return measure(self.measure if self.validation_measure is None else self.validation_measure)

    def _objective_name(self) -> str:
        return str(measure(self.measure))

    def _check_settings(self, data: Dataset, held_out: Dataset | None) -> None:
        super()._check_settings(data, held_out)
        if self.split == "max_ndcg" and self.form != "simple":
            raise SettingsError(
                Setting("split", "max_ndcg"),
                " goes with ",
                Setting("form", "simple"),
                ": it knows neither merges nor levels",
            )
        self._learned_measure()
