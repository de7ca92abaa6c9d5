"""XRank: a directed acyclic graph whose ordered frontier is the ranking."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankforce import dtypes
from rankforce.binning.binned import Binned
from rankforce.dags.edges import MartingaleReport
from rankforce.dags.graph import Route
from rankforce.dags.growth import Full, Growth, Martingale, MaxNDCG, Simple
from rankforce.dags.sample import Sample
from rankforce.data.dataset import Dataset
from rankforce.errors import DataError, SettingsError
from rankforce.measures.catalogue import measure
from rankforce.measures.measure import Measure
from rankforce.measures.ndcg import NDCG
from rankforce.models.dag import RankingGraph
from rankforce.rankers.settings import check_choice, check_number
from rankforce.rankers.stepwise import Stepwise

FORMS: dict[str, type[Growth]] = {"simple": Simple, "full": Full, "martingale": Martingale}
SPLITS = ("forces", "max_ndcg")


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
    form : "simple", "full" or "martingale"
        ``"simple"``: split and swap. If no split gains anything, the largest node is split. Such a graph is a tree with
        an order of its leaves.
        ``"full"``: the node to be split may first be merged with a neighbour, if that is worth more after reordering.
        ``"martingale"``: level t has t + 1 nodes, each of which sends a document to the same place or the next lower
        one; ``martingale_`` reports the edges of the levels and the bound on misordered pairs that follows.
    split : "forces" or "max_ndcg"
        ``"max_ndcg"``: the split that most raises the measure while the order inside both sides stays as it is, and no
        reordering: the measure never falls, but learning stalls when every query's documents are spread over many
        nodes. For the simple form only.
    n_steps : int
        The most changes (levels of the martingale form). Learning ends sooner when the training documents are ranked as
        well as can be, or when no node can be split.
    min_documents : int
        Least number of training documents on each side of a split.
    max_bins : int
        Bins per feature; missing values have one of their own and learn their side.
    early_stopping : int, optional
        End after this many steps without a higher validation value.
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
    model_ : RankingGraph
        ``to_text``, ``to_dot``, ``to_svg`` and ``draw`` show the graph.
    expected_ : list of float
        The value of the frontier after every step: the training measure expected over ties.
    martingale_ : MartingaleReport
        Of the martingale form: edges γ_t (least and mean), misordered pairs, bound; for all levels that were learned.
    """

    STEP: ClassVar[str] = "steps"

    model_: RankingGraph

    def __init__(
        self,
        measure: str | Measure = "NDCG",
        *,
        form: str = "simple",
        split: str = "forces",
        n_steps: int = 100,
        min_documents: int = 20,
        max_bins: int = 255,
        early_stopping: int | None = None,
        validation_measure: str | Measure | None = None,
        seed: int = 0,
        threads: int | None = None,
        progress: bool = True,
    ) -> None:
        self.measure = measure
        self.form = form
        self.split = split
        self.n_steps = n_steps
        self.min_documents = min_documents
        self.max_bins = max_bins
        self.early_stopping = early_stopping
        self.validation_measure = validation_measure
        self.seed = seed
        self.threads = threads
        self.progress = progress

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of the total gain that each feature brought."""
        gains = np.array(list(self._fitted().feature_importance("gain").values()))  # type: ignore[attr-defined]
        return gains / gains.sum() if gains.sum() > 0 else gains

    @property
    def expected_(self) -> list[float]:
        """The value of the frontier after every step."""
        self._fitted()
        return self._grown.values

    @property
    def martingale_(self) -> MartingaleReport:
        """Edges and bound of the martingale form."""
        self._fitted()
        if self._grown.report is None:
            raise AttributeError("only form='martingale' has edges")
        return self._grown.report

    def _steps(self) -> int:
        return self.n_steps

    def _course(self, data: Dataset, held_out: Dataset | None) -> Growing:
        growth = MaxNDCG if self.split == "max_ndcg" else FORMS[self.form]
        if data.weights is not None:
            raise DataError("XRank knows no weights of documents, for NDCG has none: give query_weights, or none")
        learned = self._learned_measure()
        self._grown = Growing(data, held_out, growth, learned, self.min_documents, self.max_bins, self.seed)
        return self._grown

    def _learned_measure(self) -> NDCG:
        chosen = measure(self.measure)
        if not isinstance(chosen, NDCG):
            raise SettingsError(f"XRank learns NDCG, DCG or CNDCG, not {chosen}: use LambdaMART for other measures")
        return chosen

    def _watched_measure(self) -> Measure:
        return measure(self.measure if self.validation_measure is None else self.validation_measure)

    def _objective_name(self) -> str:
        return str(measure(self.measure))

    def _check_settings(self) -> None:
        check_choice("form", self.form, tuple(FORMS))
        check_choice("split", self.split, SPLITS)
        check_number("n_steps", self.n_steps, 1, whole=True)
        check_number("min_documents", self.min_documents, 1, whole=True)
        check_number("max_bins", self.max_bins, 2, 255, whole=True)
        if self.split == "max_ndcg" and self.form != "simple":
            raise SettingsError("split='max_ndcg' goes with form='simple': it knows neither merges nor levels")
        self._learned_measure()


class Growing:
    """A graph that grows on a data set, and where the documents of all data sets are in it."""

    def __init__(
        self,
        data: Dataset,
        held_out: Dataset | None,
        growth: type[Growth],
        learned: NDCG,
        min_documents: int,
        max_bins: int,
        seed: int,
    ) -> None:
        binned = Binned.of(data, max_bins)
        self.binning = binned.binning
        self.feature_names = data.feature_names
        self.growth = growth(Sample.of(data, binned, learned, seed), min_documents)
        self.values: list[float] = []
        assert binned.columns is not None
        self.route = Route(binned.columns, self.binning.n_bins)
        self.held_out_route: Route | None = None
        if held_out is not None:
            columns = Binned.by(self.binning, held_out).columns
            assert columns is not None
            self.held_out_route = Route(columns, self.binning.n_bins)

    def step(self, number: int) -> bool:
        """One change of the graph."""
        changes = self.growth.step()
        if not changes:
            return False
        self.route.follow(changes)
        if self.held_out_route is not None:
            self.held_out_route.follow(changes)
        self.values.append(self.growth.frontier.value())
        return True

    def scores(self) -> np.ndarray:
        """The number of places below."""
        return self._scores(self.route)

    def held_out_scores(self) -> np.ndarray:
        """The number of places below."""
        assert self.held_out_route is not None
        return self._scores(self.held_out_route)

    def _scores(self, route: Route) -> np.ndarray:
        nodes = self.growth.nodes
        return (len(nodes) - 1 - route.positions(nodes)).astype(dtypes.SCORE)

    @property
    def report(self) -> MartingaleReport | None:
        """Edges and bound, of the martingale form."""
        growth = self.growth
        if not isinstance(growth, Martingale):
            return None
        return MartingaleReport.of(growth.sample, growth.frontier.positions, growth.edges)

    def model(self) -> RankingGraph:
        """The graph as it is now."""
        nodes = self.growth.nodes
        return RankingGraph(
            feature_names=self.feature_names,
            documents=np.bincount(self.route.positions(nodes), minlength=len(nodes)),
            **self.growth.graph.arrays(nodes, self.binning),
        )
