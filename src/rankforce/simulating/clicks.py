"""Clicks simulated on judged data: a log whose truth is known, for trying out what learns from logs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankforce.click_models import ClickModel, as_click_model
from rankforce.data.dataset import MAIN_LABEL, Dataset, check_dataset
from rankforce.data.frames import as_numbers
from rankforce.data.hashing import checked_seed
from rankforce.data.random_streams import Stream
from rankforce.errors import DataError, SettingsError
from rankforce.evaluation.scores import scores_of
from rankforce.kinds import MOST, Choice, Number, OrNone, Whole, shown
from rankforce.remedies import Argument
from rankforce.simulating.shown_lists import EXCHANGES, ListPolicy, RankedLists
from rankforce.simulating.simulated_clicks import SimulatedClicks

_MOST_ROWS = 2**28


def simulate_clicks(
    data: Dataset,
    ranking: Any,
    sessions: Any = 10,
    click_model: str | ClickModel = "position",
    *,
    positions: int | None = 10,
    noise: float = 0.1,
    label: str = MAIN_LABEL,
    attractiveness: Any = None,
    exchange: str | None = None,
    exchanged: float = 1.0,
    seed: int = 0,
) -> SimulatedClicks:
    """A click log as users of a production ranking would leave it behind.

    A user who looks at a document with grade g clicks it with the probability a = ε + (1 − ε)(2^g − 1)/(2^m − 1), its
    attractiveness, where m is the highest grade of the data. What users look at is said by the click model.

    Parameters
    ----------
    data : Dataset
    ranking : a model, scores (one per row), the name of a feature; or a list of models and names
        The production ranking; of several, each session sees one, drawn evenly. Documents with score −∞ are not shown.
    sessions : int, or one for each query
        How often each query is asked.
    click_model : "position", "trust", "cascade", or one of ``rf.click_models``
        ``rf.click_models.PositionBased(strength=2)``: P(click) = a/k² at position k.
    positions : int, optional
        The length of a list; None: all documents are shown.
    noise : float from 0 to 1
        ε, the attractiveness of what has grade 0.
    label : str
        The label source of the grades.
    attractiveness : array, one entry per row, optional
        In place of what noise and grades give.
    exchange : "swap", "adjacent" or "shuffle", optional
        Some sessions see a list in which two places are exchanged, any or neighbours, or all of them.
    exchanged : float from 0 to 1
        The share of these sessions.
    seed : int
        The sessions of a query depend on the seed, the id of the query and its documents, not on the other queries.
    """
    check_dataset(data)
    seed = checked_seed(seed)
    chosen_model = as_click_model(click_model)
    OrNone(Whole(1)).check("positions", positions)
    OrNone(Choice(EXCHANGES)).check("exchange", exchange)
    Number(0.0, 1.0).check("exchanged", exchanged)
    attracts = _attractiveness(data, label, noise, attractiveness)
    counts = _counts(sessions, data)
    longest = int(data.query_sizes.max())
    width = longest if positions is None else min(int(positions), longest)
    if int(counts.sum()) * width > _MOST_ROWS:
        raise SettingsError(f"a log of {int(counts.sum()):,} sessions would have more than {_MOST_ROWS:,} rows")
    lists = [RankedLists.by(scores_of(one, data), data, width, seed) for one in _rankings(ranking)]
    policy = ListPolicy(lists, exchange, float(exchanged))
    queries = np.repeat(np.arange(data.n_queries), counts)
    numbers = np.arange(len(queries)) - np.repeat(np.cumsum(counts) - counts, counts)
    rows = policy.draw(data, queries, numbers, seed)

    def draw(part: int) -> np.ndarray:
        return Stream.SIMULATED_CLICKS.uniform(
            seed, data.query_hashes[queries][:, None], numbers[:, None], part, np.arange(width)
        )

    behaviour = chosen_model.behave(np.where(rows >= 0, attracts[rows], 0.0), draw)
    visible = rows >= 0
    if not visible.any():
        raise DataError("nothing is shown: every document has score -inf")
    session, place = np.nonzero(visible)
    seen = rows[visible]
    return SimulatedClicks(
        data=data if data.document_ids is not None else data.replace(document_ids=np.arange(data.n_documents)),
        row=seen,
        session=session,
        position=place + 1,
        clicked=behaviour.clicked[visible],
        attractiveness=attracts[seen],
        examination=behaviour.examination[visible],
        examined=behaviour.examined[visible],
        placement=policy.placement(seen, queries[session], place),
    )


def _rankings(given: Any) -> Sequence[Any]:
    """Several rankings: a list of them, where a list of numbers is one ranking by scores."""
    if not isinstance(given, (list, tuple)):
        return [given]
    if not given:
        raise DataError("there is no ranking: give a model, scores or the name of a feature, or several")
    return [given] if all(Number().is_one(one) for one in given) else given


def _counts(sessions: Any, data: Dataset) -> np.ndarray:
    if Whole(1).holds(sessions):
        return np.full(data.n_queries, int(sessions), dtype=np.int64)
    listed = isinstance(sessions, (list, tuple)) or getattr(sessions, "ndim", 0) == 1
    listed = listed and len(sessions) == data.n_queries
    if listed and all(Whole(0, MOST).holds(one) for one in sessions) and any(sessions):
        return np.array(sessions, dtype=np.int64)
    raise SettingsError(
        f"sessions is a whole number of at least 1, or a list of such with one for each query ({data.n_queries}; "
        f"0 is possible there, but not for all), not {shown(sessions)}"
    )


def _attractiveness(data: Dataset, label: str, noise: float, given: Any) -> np.ndarray:
    Number(0.0, 1.0).check("noise", noise)
    if given is not None:
        values = as_numbers(given, "attractiveness").astype(np.float64)
        if values.shape != (data.n_documents,):
            raise DataError(
                f"attractiveness must have one entry per document ({data.n_documents}), not shape {values.shape}"
            )
        if not ((values >= 0.0) & (values <= 1.0)).all():
            raise DataError("attractiveness must be probabilities: numbers from 0 to 1")
        return values
    grades = data.label(label)
    if np.isnan(grades).any():
        row = int(np.flatnonzero(np.isnan(grades))[0])
        raise DataError(
            f"row {row} (from 0) has no label from {label!r}, which says how attractive a document is: ",
            Argument("attractiveness"),
            " says it for every row",
        )
    if grades.min() < 0.0 or grades.max() > 100.0:
        raise DataError(f"grades for clicks are from 0 to 100, not {grades.min():g} to {grades.max():g}")
    highest = grades.max()
    worth = (2.0**grades - 1.0) / (2.0**highest - 1.0) if highest > 0.0 else np.zeros(data.n_documents)
    return noise + (1.0 - noise) * worth
