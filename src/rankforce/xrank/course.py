"""A training of XRank between its steps: one graph that grows, or graphs that are boosted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.binning.binned import Binned
from rankforce.binning.binning import Binning
from rankforce.data.dataset import Dataset, tie_breakers
from rankforce.data.random_streams import Stream
from rankforce.forces.forces import RunningOrder
from rankforce.measures.judged import judged
from rankforce.measures.mean import QueriesInMean
from rankforce.measures.ndcg import NDCG
from rankforce.models.combination import Combination
from rankforce.models.dag import RankingGraph
from rankforce.models.storage import document_of, model_of
from rankforce.sweeping.sweep import Scaled, sweep
from rankforce.xrank.edges import MartingaleReport
from rankforce.xrank.graph import Route
from rankforce.xrank.growth import Growth, Martingale
from rankforce.xrank.sample import Sample


class Growing:
    """A graph that grows, and where the documents of all data sets are in it.

    ``columns`` and ``held_out_columns`` uint8 (columns, documents): the bins of all documents.
    """

    def __init__(
        self,
        growth: Growth,
        binning: Binning,
        feature_names: tuple[str, ...],
        columns: np.ndarray,
        held_out_columns: np.ndarray | None,
    ) -> None:
        self.growth = growth
        self.binning = binning
        self.feature_names = feature_names
        self.values: list[float] = []
        self.route = Route(columns, binning.n_bins)
        self.held_out_route = None if held_out_columns is None else Route(held_out_columns, binning.n_bins)

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

    def state(self) -> dict[str, Any]:
        """All changes so far, and where they have led."""
        return {"values": self.values} | self.growth.state()

    def resume(self, state: Mapping[str, Any], name: str) -> None:
        """Go on from a state."""
        self.values = [float(value) for value in state["values"]]
        changes = self.growth.resume(state)
        for route in (self.route, self.held_out_route):
            if route is not None:
                route.follow(changes)


class Ground:
    """What graphs are grown on: the sample, and the bins of all documents of both data sets."""

    def __init__(self, data: Dataset, held_out: Dataset | None, learned: NDCG, max_bins: int, seed: int) -> None:
        binned = Binned.of(data, max_bins)
        assert binned.columns is not None
        self.binning = binned.binning
        self.feature_names = data.feature_names
        self.sample = Sample.of(data, binned, learned, seed)
        self.columns = binned.columns
        self.held_out_columns = None if held_out is None else Binned.by(self.binning, held_out).columns

    def growing(self, form: Callable[[Sample], Growth]) -> Growing:
        """A graph on all columns and with the weights that queries have."""
        return Growing(form(self.sample), self.binning, self.feature_names, self.columns, self.held_out_columns)

    def growing_on(self, columns: np.ndarray, factors: np.ndarray, form: Callable[[Sample], Growth]) -> Growing:
        """A graph on some columns, with queries that count ``factors`` times as much."""
        held_out = self.held_out_columns
        return Growing(
            form(self.sample.only(columns).reweighted(factors)),
            self.binning.only(columns),
            self.feature_names,
            self.columns[columns],
            None if held_out is None else held_out[columns],
        )


class BoostedGraphs:
    """Graphs that are added one by one: F becomes (1 − α)·F + α·f.

    The next graph f is grown on queries that count e^{−NDCG of F} (as AdaRank has it) and on features drawn for it; α
    is where the sweep over all crossings finds the training measure highest. A graph that does not raise it is left
    out. Equal scores are in the order of a hash.
    """

    def __init__(
        self,
        data: Dataset,
        held_out: Dataset | None,
        ground: Ground,
        learned: NDCG,
        form: Callable[[Sample], Growth],
        n_steps: int,
        feature_fraction: float,
        seed: int,
    ) -> None:
        self.ground = ground
        self.form = form
        self.n_steps = n_steps
        self.feature_fraction = feature_fraction
        self.seed = seed
        self.judged = judged(data, learned)
        self.shares = QueriesInMean(data, self.judged).shares
        self.ranking = RunningOrder(data, seed)
        self.kept_ties = self.judged.of_kept(tie_breakers(data, seed))
        self.total = np.zeros(data.n_documents)
        self.held_out_total = np.zeros(0 if held_out is None else held_out.n_documents)
        self.data, self.held_out = data, held_out
        self.graphs: list[RankingGraph] = []
        self.shares_taken: list[float] = []  # α of every graph
        self.weights: list[float] = []  # that follow from them
        self.value = -math.inf

    def step(self, number: int) -> bool:
        """Grow a graph and add it where it helps."""
        columns = self._drawn_columns(number)
        per_query = self._per_query(self.total)
        values = per_query[self.ground.sample.queries]
        factors = np.exp(-values)
        if not factors.any():  # values without a bound, as those of DCG: only their differences matter
            factors = np.exp(values.min() - values)
        growing = self.ground.growing_on(columns, factors, self.form)
        for k in range(self.n_steps):
            if not growing.step(k):
                break
        share = self._best_share(growing.scores()) if self.graphs else 1.0
        mixed = (1.0 - share) * self.total + share * growing.scores()
        value = math.fsum(self._per_query(mixed) * self.shares)
        if value > self.value:
            self.value = value
            held_out = None if growing.held_out_route is None else growing.held_out_scores()
            self._take(growing.model(), share, mixed, held_out)
        return True

    def _take(self, graph: RankingGraph, share: float, mixed: np.ndarray, held_out: np.ndarray | None) -> None:
        self.total = mixed
        self.weights = [*((1.0 - share) * weight for weight in self.weights), share]
        self.shares_taken.append(share)
        self.graphs.append(graph)
        if held_out is not None:
            self.held_out_total = (1.0 - share) * self.held_out_total + share * held_out

    def _drawn_columns(self, number: int) -> np.ndarray:
        """Columns drawn by a hash of seed, graph and feature; at least one, if there are any."""
        features = self.ground.binning.features
        count = min(len(features), max(1, round(self.feature_fraction * len(features))))
        drawn = np.argsort(Stream.GRAPH_FEATURES.words(self.seed, number, features), kind="stable")[:count]
        return np.sort(drawn)

    def _per_query(self, scores: np.ndarray) -> np.ndarray:
        """The measure of every query at these scores; 0 for blank ones."""
        order = self.ranking.update(scores)
        if self.judged.kept is not None:
            places = np.full(len(order), -1, dtype=dtypes.INDEX)
            places[self.judged.kept] = np.arange(len(self.judged.kept), dtype=dtypes.INDEX)
            order = places[order]
            order = order[order >= 0]
        return np.nan_to_num(self.judged.values(order), nan=0.0)

    def _best_share(self, scores: np.ndarray) -> float:
        """α in the middle of the best interval between crossings, of equal ones the widest."""
        mine, other = (Scaled.of(self.judged.of_kept(one), "XRank") for one in (self.total, scores))
        pieces = sweep(mine, other, self.judged, self.shares, tie_keys=self.kept_ties).best
        low, high, _ = max(pieces, key=lambda piece: (piece[2], piece[1] - piece[0]))
        x = 0.5 * (low + high)  # in the sweep's scales, which differ by a power of two
        weight = x * math.ldexp(1.0, other.exponent - mine.exponent)
        return weight / (1.0 - x + weight)

    def scores(self) -> np.ndarray:
        """F of the training documents."""
        return self.total

    def held_out_scores(self) -> np.ndarray:
        """F of the validation documents."""
        return self.held_out_total

    def model(self) -> Combination:
        """The graphs with their weights."""
        return Combination.of(self.graphs, self.weights)

    def state(self) -> dict[str, Any]:
        """The graphs that were taken, and how."""
        graphs = [document_of(graph) for graph in self.graphs]
        return {"graphs": graphs, "shares": self.shares_taken, "value": self.value}

    def resume(self, state: Mapping[str, Any], name: str) -> None:
        """Go on from a state: the same sums in the same order."""
        self.value = float(state["value"])
        for document, share in zip(state["graphs"], state["shares"], strict=True):
            graph: Any = model_of(document, name)
            scores = self.data.by_query(graph.predict(self.data))
            held_out = None if self.held_out is None else self.held_out.by_query(graph.predict(self.held_out))
            self._take(graph, float(share), (1.0 - share) * self.total + share * scores, held_out)
