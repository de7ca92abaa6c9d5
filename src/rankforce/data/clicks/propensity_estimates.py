"""Propensities of positions, estimated from a click log.

Both methods assume the position-based model: a document d (of a query) that was shown n_dk times at position k is
expected to be clicked n_dk θ_k γ_d times there. Only documents that were shown at several positions tell positions and
attractiveness apart.

``harvest``
    What follows from c_d = Σ_k c_dk clicks on a document alone, wherever they fell: Σ_d Σ_k c_dk log(n_dk θ_k/Σ_j n_dj
    θ_j) is maximised, a concave function in log θ. The attractiveness γ_d has cancelled out, so it need not be
    estimated, and the estimate is consistent however seldom each document was shown.
``em``
    Expectation and maximisation for θ and all γ_d. Every γ_d is pulled to their mean by imaginary impressions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from rankforce.console.wording import counted
from rankforce.data.clicks.keys import QueryKey, QueryKeys
from rankforce.data.clicks.position_counts import MOST_POSITIONS, PositionCounting, PositionCounts
from rankforce.data.clicks.propensities import Propensities
from rankforce.data.clicks.session_logs import checked_columns, log_name, read_log
from rankforce.data.hashing import checked_seed
from rankforce.data.random_streams import Stream
from rankforce.files.limits import within_memory
from rankforce.kernels.propensities import expected_looks, harvest_sums
from rankforce.kinds import Number, OrNone, Switch, Whole, check_choice, check_number

METHODS = ("harvest", "em")
_CHUNK_ROWS = 1 << 20
_FEW_QUERIES = 20  # fewer are no sample to draw from: documents are drawn
_LOWEST = -12.0  # log propensity


def estimate_propensities(
    log: Any,
    method: str = "harvest",
    *,
    positions: int | None = None,
    resamples: int = 200,
    smoothing: float = 5.0,
    query_key: str | QueryKey | None = None,
    session: str | None = None,
    query: str | None = None,
    document: str | None = None,
    position: str | None = None,
    clicked: str | None = None,
    seed: int = 0,
    progress: bool | None = None,
) -> Propensities:
    """How likely each position is looked at, relative to the first, from clicks alone.

    The log must show some documents of a query at several positions: through experiments, several rankers, or rankings
    that change with time. ``verdict`` of the result says whether it was rich enough.

    Parameters
    ----------
    log : path, data frame, simulated log, or an iterable of these
        As for ``click_labels``; positions are whole numbers from 1.
    method : "harvest" or "em"
        Harvesting compares the clicks of each document at its positions; EM fits the position-based model with an
        attractiveness for every document, which is biased where documents were shown a few times each.
    positions : int, optional
        Only the first so many; by default all of the log, at most 200.
    resamples : int
        Bootstrap samples for intervals, of queries (of documents, if there are fewer than 20 queries); 0: none.
    smoothing : float
        Imaginary impressions that pull the attractiveness of a document to the mean of all (EM).
    query_key, session, query, document, position, clicked, progress
        As for ``click_labels``.
    seed : int
        Of the bootstrap.
    """
    check_choice("method", method, METHODS)
    OrNone(Whole(1, MOST_POSITIONS)).check("positions", positions)
    check_number("resamples", resamples, 0, whole=True)
    Number(0.0, above=True).check("smoothing", smoothing)
    OrNone(Switch()).check("progress", progress)
    seed = checked_seed(seed)
    keys = QueryKeys(query_key)
    names = checked_columns(
        session=session, query=query, document=document, position=position, clicked=clicked, key=keys.column
    )
    counting = PositionCounting(keys, positions)
    with within_memory(log_name(log)):
        for chunk in read_log(log, names, _CHUNK_ROWS, progress):
            counting.add(chunk)
        counts = counting.counts()
        return propensities_of(counts, method, int(resamples), float(smoothing), seed)


def propensities_of(counts: PositionCounts, method: str, resamples: int, smoothing: float, seed: int) -> Propensities:
    """The estimate from what was counted."""
    telling = _telling(counts)
    known = np.flatnonzero(_connected(telling))
    position_of = np.full(counts.positions, -1)
    position_of[known] = np.arange(len(known))
    part = telling if method == "harvest" else _at_several(counts)
    part = _at_several(part.where(np.isin(part.position, known)))
    part = PositionCounts(
        part.starts, part.query, position_of[part.position], part.shown, part.clicked, len(known)
    )  # fmt: skip
    fit = _harvested if method == "harvest" else _by_em
    values = np.full(counts.positions, np.nan)
    ends = np.full((2, counts.positions), np.nan)
    estimate = fit(part, np.ones(len(part.query)), None, smoothing)
    values[known] = np.exp(estimate.log_values)
    clusters, unit = _clusters(part)
    if resamples and len(known) > 1:
        draws = np.empty((resamples, len(known)))
        for sample, weights in enumerate(_samples(clusters, resamples, seed)):
            draws[sample] = fit(part, weights, estimate, smoothing).log_values
        ends[:, known] = np.exp(np.quantile(draws, [0.025, 0.975], axis=0))
    notes = {
        "counted": f"from {counted(int(counts.shown.sum()), 'impression')} of "
        f"{counted(len(counts.query), 'document')}, {len(telling.query):,} of them clicked and at several positions"
    }
    if resamples:
        notes["intervals"] = f"95 % intervals by {counted(resamples, 'bootstrap sample')} of {unit}"
    return Propensities(
        values,
        low=ends[0] if resamples else None,
        high=ends[1] if resamples else None,
        method=method,
        impressions=counts.per_position(counts.shown),
        clicks=counts.per_position(counts.clicked),
        documents=np.bincount(telling.position, minlength=counts.positions),
        connections=_connections(telling),
        notes=notes,
    )


def _at_several(counts: PositionCounts) -> PositionCounts:
    """Documents that were shown at several positions."""
    return counts.where((np.diff(counts.starts) > 1)[counts.document])


def _telling(counts: PositionCounts) -> PositionCounts:
    """Those of them that were clicked."""
    several = (np.diff(counts.starts) > 1) & (counts.per_document(counts.clicked) > 0.0)
    return counts.where(several[counts.document])


def _connections(counts: PositionCounts) -> np.ndarray:
    """How many documents were shown at each two positions; how many at one, on the diagonal."""
    at = np.zeros((len(counts.query), counts.positions), dtype=bool)
    at[counts.document, counts.position] = True
    return np.stack([at[at[:, k]].sum(axis=0) for k in range(counts.positions)])


def _connected(counts: PositionCounts) -> np.ndarray:
    """The positions whose propensities the clicks tell, as a mask: the maximum is finite for them.

    Position k beats l if a document that was shown at both was clicked at k. Those that beat the first, perhaps through
    others, and are beaten by it, are comparable with it; to the rest no or infinite ratios would fit best.
    """
    size = counts.positions
    beats = np.zeros((size, size), dtype=bool)
    clicked = np.zeros((len(counts.query), size), dtype=bool)
    at = np.zeros((len(counts.query), size), dtype=bool)
    clicked[counts.document, counts.position] = counts.clicked > 0.0
    at[counts.document, counts.position] = True
    for k in range(size):
        beats[k] = at[clicked[:, k]].any(axis=0)
    reached = beats | np.eye(size, dtype=bool)
    for k in range(size):
        reached |= reached[:, k, None] & reached[None, k]
    return reached[0] & reached[:, 0]


def _clusters(counts: PositionCounts) -> tuple[np.ndarray, str]:
    """What is drawn for a bootstrap sample: the number of each document's cluster, and what they are."""
    queries, number = np.unique(counts.query, return_inverse=True)
    if len(queries) >= _FEW_QUERIES:
        return number, "queries"
    return np.arange(len(counts.query)), "documents"


def _samples(clusters: np.ndarray, resamples: int, seed: int) -> Iterator[np.ndarray]:
    """The weights of documents in each bootstrap sample: how often their cluster was drawn."""
    random = Stream.PROPENSITY_SAMPLES.generator(seed)
    size = int(clusters.max()) + 1
    for _ in range(resamples):
        yield np.bincount(random.integers(size, size=size), minlength=size)[clusters].astype(np.float64)


class _Estimate(NamedTuple):
    log_values: np.ndarray  # (positions), the first 0
    attractiveness: np.ndarray  # (documents), where it is estimated


def _harvested(counts: PositionCounts, weights: np.ndarray, start: _Estimate | None, smoothing: float) -> _Estimate:
    """Newton's steps to the maximum; ``weights`` of documents."""
    size = counts.positions
    values = np.zeros(size) if start is None else start.log_values.copy()
    for _ in range(100):
        gradient, hessian, shares = np.zeros(size), np.zeros((size, size)), np.zeros(size)
        harvest_sums(
            counts.starts, counts.position, counts.shown, counts.clicked, weights, np.exp(values), shares, gradient,
            hessian,
        )  # fmt: skip
        # a sample may leave a position without clicks: the maximum is then at infinity, and the steps end at _LOWEST
        curved = hessian[1:, 1:] + 1e-9 * np.eye(size - 1)
        step = np.clip(np.linalg.solve(curved, gradient[1:]), -1.0, 1.0)
        moved = np.clip(values[1:] + step, _LOWEST, -_LOWEST)
        change = np.abs(moved - values[1:]).max(initial=0.0)
        values[1:] = moved
        if change < 1e-9:
            break
    return _Estimate(values, np.empty(0))


def _by_em(counts: PositionCounts, weights: np.ndarray, start: _Estimate | None, smoothing: float) -> _Estimate:
    """Steps of EM until the propensities change by less than 10⁻⁵ (in a sample 10⁻³) in 20 of them."""
    size, documents = counts.positions, len(counts.query)
    shown = counts.per_position(counts.shown * weights[counts.document])
    if start is None:
        rates = counts.per_position(counts.clicked) / np.maximum(shown, 1.0)
        examination = np.maximum(rates, 1e-6) / max(rates.max(initial=0.0), 1e-6)
        attractiveness = np.full(documents, min(0.5, 2.0 * rates.mean() if size else 0.5))
    else:
        examination, attractiveness = np.exp(start.log_values - start.log_values.max()), start.attractiveness.copy()
    before = np.zeros(size)
    for step in range(5000):
        looks = np.zeros(size)
        mean = float(np.average(attractiveness, weights=weights)) if documents else 0.5
        expected_looks(
            counts.starts, counts.position, counts.shown, counts.clicked, weights, smoothing, mean, examination,
            attractiveness, looks,
        )  # fmt: skip
        examination = np.where(shown > 0.0, looks / np.maximum(shown, 1e-300), examination)
        if step % 20 == 0:
            values = np.maximum(np.log(np.maximum(examination, 1e-300)), _LOWEST)
            if np.abs(values - values[0] - before).max(initial=0.0) < (1e-5 if start is None else 1e-3):
                break
            before = values - values[0]
    values = np.maximum(np.log(np.maximum(examination, 1e-300)), _LOWEST)
    return _Estimate(values - values[0], attractiveness)
