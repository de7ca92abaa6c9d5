"""The forces of an objective on the documents of a data set, at given scores."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator

import numpy as np

from rankforce import dtypes
from rankforce.collective import highest
from rankforce.data.dataset import Dataset, document_hashes, tie_breakers
from rankforce.data.random_streams import Stream
from rankforce.errors import MeasureError, RankforceWarning
from rankforce.forces.giant_queries import GiantQueries
from rankforce.forces.normalising import normalise_forces
from rankforce.forces.pairs import FEW_PAIRS, PairRanges
from rankforce.forces.position_weights import PositionWeights
from rankforce.kernels.forces.bundles import ForceSums, PairPlaces, ScoredQueries
from rankforce.kernels.forces.giant_queries import add_forces_with_giants
from rankforce.kernels.forces.kept_documents import add_of_kept, scores_of_kept
from rankforce.kernels.forces.listwise_forces import add_listwise_forces
from rankforce.kernels.forces.local_forces import add_forces_nearby
from rankforce.kernels.forces.pair_forces import (
    add_forces_by_columns,
    add_forces_by_rank,
)
from rankforce.kernels.ranking.ordering import reorder_documents
from rankforce.lambdas.base import LambdaFunction
from rankforce.lambdas.pairwise import PairwiseLambdaFunction
from rankforce.measures.judged import judged
from rankforce.measures.mean import weights_of_queries
from rankforce.measures.measure import Measure
from rankforce.measures.method_check import check_swaps
from rankforce.objectives.objective import ALL_PAIRS, DEFAULT_LAMBDA_FUNCTION, Objective, Pairs, Term
from rankforce.threads import (
    FEW_IN_A_PASS,
    over_queries,
    over_ranges,
    ranges_of_queries,
    take_ranges,
    thread_count,
)

_slow_measures: set[type] = set()


class SlowMeasureWarning(RankforceWarning):
    """A measure gives no swap: it is found by brute force."""


class RunningOrder:
    """The documents of every query in ranked order, kept up to date from one iteration to the next.

    Equal scores are ordered by a hash of seed, query id and position in the query.
    """

    def __init__(self, data: Dataset, seed: int) -> None:
        self.starts = data.query_starts
        self.tie_keys = tie_breakers(data, seed)
        self.order = np.arange(data.n_documents, dtype=dtypes.INDEX)

    def update(self, scores: np.ndarray) -> np.ndarray:
        """Rank by these scores (``by_query`` order) and return the order."""
        self._rank(scores, self.order)
        return self.order

    def update_some(self, scores: np.ndarray, first: int, last: int) -> None:
        """Rank the queries ``first`` to ``last`` alone by these scores."""
        reorder_documents(scores, self.tie_keys, self.starts, first, last, self.order)

    def of(self, scores: np.ndarray) -> np.ndarray:
        """The order by other scores; the ranking stays as it is."""
        order = self.order.copy()
        self._rank(scores, order)
        return order

    def _rank(self, scores: np.ndarray, order: np.ndarray) -> None:
        over_queries(
            self.starts,
            lambda a, b: reorder_documents(scores, self.tie_keys, self.starts, a, b, order),
            FEW_IN_A_PASS,
        )


class TermForces:
    """The forces of one term of an objective."""

    def __init__(self, data: Dataset, term: Term, seed: int) -> None:
        self.term = term = term.settled(DEFAULT_LAMBDA_FUNCTION, ALL_PAIRS)
        assert term.pairs is not None
        assert term.lambda_function is not None
        self.pairs: Pairs = term.pairs
        self.lambda_function: LambdaFunction = term.lambda_function
        self.judged = judgement = judged(data, term.measure)
        (self.longest,) = highest(int(np.diff(judgement.starts).max(initial=0)))  # which decides what loop runs
        self.all_pairs = not term.pairs.sample and term.pairs.top >= self.longest
        self.reach = (
            term.lambda_function.reach if isinstance(term.lambda_function, PairwiseLambdaFunction) else None
        )  # None: listwise
        earlier = [labels_of(data, source, term.measure) for source in term.earlier]
        self.tied_in = tuple(judgement.of_kept(data.by_query(labels)) for labels in earlier)
        self.standing = judgement.standing()
        self.ranges = PairRanges.of(
            self.standing,
            judgement.starts,
            earlier=self.tied_in,
            active=judgement.labels != 0.0 if term.zeros is False else None,
            with_better=not self.all_pairs,
        )
        self.query_weights = weights_of_queries(data)
        # a copy that can be written to, as the ones are: kernels are compiled for one kind of array
        weights = np.ones(data.n_documents) if data.weights is None else np.array(data.by_query(data.weights))
        self.document_weights = judgement.of_kept(weights)
        self.lambda_tuple = term.lambda_function.kernel_tuple()
        self.column_count = judgement.column_count
        check_swaps(judgement, signed=self.reach is None)  # pairs are pulled by |ΔZ|
        self.position_weights = None if term.bias is None else PositionWeights(data, term, term.bias, judgement)
        if self.position_weights is not None and self.position_weights.fixed is not None:
            self.document_weights = self.document_weights * self.position_weights.fixed
        self.seed = seed
        self._draws = np.zeros(len(judgement.worth), dtype=dtypes.HASH)
        if term.pairs.sample:
            self._document_hashes = judgement.of_kept(document_hashes(data))
        if term.measure.swap_kind == "brute":
            _warn_of_slow_measure(term)

    @property
    def ranges(self) -> PairRanges:
        """Which documents are paired. Others may be set."""
        return self._ranges

    @ranges.setter
    def ranges(self, ranges: PairRanges) -> None:
        self._ranges = ranges
        self.costs = ranges.costs_of_queries(self.judged.starts)
        self.giants = GiantQueries(ranges, self.judged.starts, self.judged.column_count)
        self._dearest: dict[int, np.ndarray] = {}
        self.pair_places = PairPlaces(ranges.members, ranges.worse, ranges.better)

    @property
    def every_pair(self) -> bool:
        """Whether there is a force between any two documents of different labels, whatever their ranks."""
        return self.all_pairs and self.reach is not None and self.reach >= self.longest - 1

    @property
    def by_columns(self) -> bool:
        """Whether the fast loop serves: every pair, and a measure whose columns of two documents give their swap."""
        measure = self.term.measure
        return self.every_pair and (measure.swap_kind == "columns" or measure.gives_swap_deltas(self.column_count))

    def add(
        self,
        order: np.ndarray,
        scores: np.ndarray,
        share: float,
        iteration: int,
        queries: np.ndarray | None,
        pulls: np.ndarray,
        forces: np.ndarray,
        curvatures: np.ndarray,
    ) -> None:
        """Add share × force and share × curvature of every document (``by_query`` order)."""
        if share == 0.0:
            return
        members = self.judged.kept
        if members is None:
            self._add(order, scores, share, iteration, queries, pulls, forces, curvatures)
            return
        own_order = self.judged.order_of_kept(order)
        with on_kept(members, scores, forces, curvatures) as (own_scores, own_forces, own_curvatures):
            self._add(own_order, own_scores, share, iteration, queries, pulls, own_forces, own_curvatures)

    def _add(
        self,
        order: np.ndarray,
        scores: np.ndarray,
        share: float,
        iteration: int,
        queries: np.ndarray | None,
        pulls: np.ndarray,
        forces: np.ndarray,
        curvatures: np.ndarray,
    ) -> None:
        scales = share * (self.query_weights if queries is None else self.query_weights * queries)
        if self.lambda_function.diagonal:
            self._add_diagonal(scores, scales, forces, curvatures)
        if self.reach is None:
            self._add_listwise(order, scores, scales, pulls, forces)
            return
        scored = self._scored(order, scores, scales)
        sums = ForceSums(pulls, forces, curvatures)
        if self.reach < self.longest - 1:
            self._add_nearby(scored, sums)
            return
        if not self.by_columns:
            self._add_by_rank(scored, iteration, sums)
            return
        measure = self.judged.kernel_tuple
        wide = np.zeros(len(scales), dtype=np.uint8)
        terms = (measure, self.lambda_tuple, self.column_count)
        ranges = self._ranges_of_queries()
        if self.giants:
            others = np.where(self.giants.are, 0.0, scales)
            self.giants.add(
                ranges,
                lambda thread, threads, meeting, taken, ranges, tiles, space: add_forces_with_giants(
                    thread, threads, meeting, taken, *terms, scored, self.pair_places, ranges, others, tiles, space,
                    wide, sums,
                ),
            )  # fmt: skip
        else:
            take_ranges(
                ranges,
                lambda ranges, taken: add_forces_by_columns(
                    *terms, scored, self.pair_places, ranges, taken, wide, sums
                ),
            )
        if wide.any():
            self._add_by_rank(scored._replace(scales=scales * wide), iteration, sums)

    def _ranges_of_queries(self) -> np.ndarray:
        """What threads take one after the other; without giants, which are shared in another way."""
        count = thread_count()
        if count not in self._dearest:
            costs = self.costs
            if self.giants:
                costs = np.concatenate([[0], np.cumsum(np.where(self.giants.are, 0, np.diff(costs)))])
            self._dearest[count] = ranges_of_queries(costs, FEW_PAIRS)
        return self._dearest[count]

    def weights_at(self, order: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """What each document of the term counts in its pairs, at these scores; members ask for it together."""
        positions = self.position_weights
        if positions is None or positions.fixed is not None:
            return self.document_weights
        judgement = self.judged
        scored = ScoredQueries(
            judgement.worth, scores, order, self.document_weights, judgement.starts, judgement.normalisers,
            self.query_weights,
        )  # fmt: skip
        return self.document_weights * positions.at(scored, self.pair_places, self.column_count, self.costs)

    def _scored(self, order: np.ndarray, scores: np.ndarray, scales: np.ndarray) -> ScoredQueries:
        judgement = self.judged
        weights = self.weights_at(order, scores)
        return ScoredQueries(judgement.worth, scores, order, weights, judgement.starts, judgement.normalisers, scales)

    def _add_diagonal(self, scores: np.ndarray, scales: np.ndarray, forces: np.ndarray, curvatures: np.ndarray) -> None:
        applied = self.judged
        alphas = self.lambda_function.diagonal * scales * (applied.normalisers != 0.0)
        weights = np.repeat(alphas, np.diff(applied.starts)) * self.document_weights
        forces -= weights * scores
        curvatures += weights

    def _add_listwise(
        self, order: np.ndarray, scores: np.ndarray, scales: np.ndarray, pulls: np.ndarray, forces: np.ndarray
    ) -> None:
        applied = self.judged
        normalisers = applied.normalisers
        over_queries(
            applied.starts,
            lambda a, b: add_listwise_forces(
                applied.kernel_tuple, self.lambda_tuple, self.column_count, applied.worth, applied.labels, scores,
                order, applied.starts, normalisers, self.document_weights, scales, a, b, pulls, forces,
            ),
        )  # fmt: skip

    def _add_nearby(self, scored: ScoredQueries, sums: ForceSums) -> None:
        measure = self.judged.kernel_tuple
        over_queries(
            scored.starts,
            lambda a, b: add_forces_nearby(
                measure, self.lambda_tuple, self.column_count, scored, self.pair_places, self.reach, self.pairs.top,
                a, b, sums,
            ),
        )  # fmt: skip

    def _add_by_rank(self, scored: ScoredQueries, iteration: int, sums: ForceSums) -> None:
        if self.pairs.sample:
            self._draws = Stream.PAIR_SAMPLE.words(self.seed, iteration, self._document_hashes)
        measure = self.judged.kernel_tuple
        over_queries(
            scored.starts,
            lambda a, b: add_forces_by_rank(
                measure, self.lambda_tuple, self.column_count, scored, self.pair_places, self.pairs.top,
                self.pairs.sample, self._draws, a, b, sums,
            ),
            costs=None if self.pairs.sample else self.costs,
        )  # fmt: skip


class Forces:
    """The forces of an objective on a data set.

    ``normalise`` says how the forces of a query are scaled against those of other queries: ``"none"``; ``"log"`` by
    log2(1 + P)/P, P twice the sum of its pairs' forces, curvatures likewise; ``"deviation"`` divides by their standard
    deviation, after which the curvatures mean nothing. Query weights count in full, whatever is chosen.
    """

    def __init__(self, data: Dataset, objective: Objective, seed: int, *, normalise: str = "none") -> None:
        self.objective = objective
        # A term that stands in two parts of an objective (before and after a change, say) is computed once.
        places: dict[Term, int] = {}
        self._place_of = [places.setdefault(term.alone(), len(places)) for term in objective.terms]
        self.terms = [TermForces(data, term, seed) for term in places]
        self.normalise = normalise
        self.pulls = np.zeros(data.n_queries)
        self.query_weights = weights_of_queries(data)
        self.starts = data.query_starts
        self.forces = np.zeros(data.n_documents, dtype=dtypes.FORCE)
        self.curvatures = np.zeros(data.n_documents, dtype=dtypes.CURVATURE)

    @property
    def n_pairs(self) -> int:
        """How many pairs of documents there are, over all terms."""
        return sum(term.ranges.n_pairs for term in self.terms)

    def shares(self, iteration: int) -> list[float]:
        """The share of each of ``terms`` in an iteration."""
        shares = [0.0] * len(self.terms)
        for place, share in zip(self._place_of, self.objective.shares(iteration), strict=True):
            shares[place] += share
        return shares

    def at(
        self, scores: np.ndarray, order: np.ndarray, iteration: int = 0, queries: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(forces, curvatures) at these scores, in ``by_query`` order; positive force = up.

        ``order`` is the ranking by these scores (``RunningOrder.update``). ``queries``, a mask, leaves the others
        without force. The arrays returned are reused by the next call.
        """
        over_ranges(len(self.forces), self._clear, FEW_IN_A_PASS)
        self.pulls.fill(0.0)
        for term, share in zip(self.terms, self.shares(iteration), strict=True):
            term.add(order, scores, share, iteration, queries, self.pulls, self.forces, self.curvatures)
        normalise_forces(self.normalise, self.starts, self.pulls, self.query_weights, self.forces, self.curvatures)
        return self.forces, self.curvatures

    def _clear(self, first: int, last: int) -> None:
        self.forces[first:last] = 0.0
        self.curvatures[first:last] = 0.0


@contextlib.contextmanager
def on_kept(
    kept: np.ndarray, scores: np.ndarray, forces: np.ndarray, curvatures: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The scores of some documents, and arrays for their forces and curvatures, which are added in the end."""
    own = np.empty((3, len(kept)))
    over_ranges(len(kept), lambda a, b: scores_of_kept(kept, scores, a, b, *own), FEW_IN_A_PASS)
    yield own[0], own[1], own[2]
    over_ranges(len(kept), lambda a, b: add_of_kept(kept, own[1], own[2], a, b, forces, curvatures), FEW_IN_A_PASS)


def labels_of(data: Dataset, source: str, measure: Measure) -> np.ndarray:
    """The labels that the pairs of a term must be tied in."""
    if source not in data.labels:
        known = ", ".join(map(repr, data.labels)) or "none"
        raise MeasureError(
            f"the pairs of {measure} must be tied in {source!r}, a label source that the data does not have "
            f"(it has: {known})"
        )
    return data.labels[source]


def _warn_of_slow_measure(term: Term) -> None:
    measure_class = type(term.measure)
    if measure_class in _slow_measures:
        return
    _slow_measures.add(measure_class)
    warnings.warn(
        f"{measure_class.__name__} gives its value only: each swap is found by evaluating the whole ranking, which is "
        "slow. Add prepare(ranked, normaliser, columns) and swap_delta(a, b) with COLUMNS = ... for full speed.",
        SlowMeasureWarning,
        stacklevel=2,
    )
