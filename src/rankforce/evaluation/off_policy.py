"""Would another ranking have had more clicks? Answered from the log of the ranking that users saw."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankforce.console.tables import per_cent
from rankforce.data.clicks.keys import QueryKey, QueryKeys
from rankforce.data.clicks.logged_views import LoggedViews, read_views
from rankforce.data.clicks.propensities import Propensities, as_propensities
from rankforce.data.clicks.session_logs import checked_columns
from rankforce.data.dataset import Dataset, check_dataset
from rankforce.data.hashing import checked_seed
from rankforce.displayed_text import displayed
from rankforce.errors import DataError, SettingsError
from rankforce.evaluation.judged_rankings import is_run
from rankforce.evaluation.off_policy_result import PRODUCTION, OffPolicyEvaluation, OffPolicySettings
from rankforce.evaluation.off_policy_weights import Evidence, Support
from rankforce.evaluation.scores import scores_of
from rankforce.evaluation.significance import check_level
from rankforce.evaluation.ties import HASHED, RankedData
from rankforce.kinds import Number, OrNone, Switch, Text, Whole, check_choice, check_number, shown
from rankforce.remedies import DOCUMENT_IDS, Argument

UNITS = ("session", "query")


def off_policy(
    log: Any,
    ranking: Any,
    data: Dataset,
    propensities: Any,
    *,
    cutoff: int | None = None,
    clip: float | None = 10.0,
    relevance: Any = None,
    smoothing: float = 10.0,
    resample: str = "session",
    resamples: int = 1000,
    level: float = 0.95,
    max_unsupported: float = 0.1,
    ties: str = "stable",
    seed: int = 0,
    query_key: str | QueryKey | None = None,
    session: str | None = None,
    query: str | None = None,
    document: str | None = None,
    position: str | None = None,
    clicked: str | None = None,
    progress: bool | None = None,
) -> OffPolicyEvaluation:
    """How many clicks per view a ranking would have had on the queries of a log, under the position-based model.

    Users look at position k with probability θ_k, and click what they look at with a probability that depends on the
    query and the document alone. A click on a document counts θ of its new position over θ of its old one, the latter
    averaged over all views of the query. A view is a list that a session was shown for a query.

    Parameters
    ----------
    log : path, data frame, simulated log, or an iterable of these
        A row per document shown: session, query, document, position (1 is the top), clicked; as for ``click_labels``.
    ranking : a model, scores (one per row of the data), the name of a feature, a TREC run; or several by name
        What would be shown. Documents with score −∞ would not.
    data : Dataset
        The queries and documents that are ranked, with ids as in the log.
    propensities : Propensities, or numbers, the first that of position 1
        θ_1, θ_2, ..., of which only the ratios matter. Impressions below the last are left out.
    cutoff : int, optional
        Places of a list whose clicks count, old and new; all that have a propensity. What was shown below still tells
        how attractive it is.
    clip : number, optional
        Weights beyond it are cut off in the estimators "clipped" and "dr". None: none is.
    relevance : a model, numbers from 0 to 1 (one per row), the name of a label or a feature; optional
        The probability of a click on the document if it stands at position 1, for "dr" and "model". By default the rate
        of each query and document in the log, drawn to that of its query by ``smoothing`` looks, and that to the rate
        of the whole log by as many.
    resample : "session" or "query"
        What the bootstrap draws: sessions, as other traffic would bring them, or whole queries.
    resamples : int
        How often it does.
    level : float
        Of the intervals.
    max_unsupported : float from 0 to 1
        Refuse to answer if a larger share of the looks at the new ranking would fall on documents that the log never
        showed for their query: about these it says nothing.
    ties : "stable" or "hashed"
        The order of equal scores.
    seed : int
        Of the bootstrap, and of hashed ties.
    query_key, session, query, document, position, clicked, progress
        As for ``click_labels``.
    """
    check_dataset(data)
    settings = OffPolicySettings(
        clip=math.inf if clip is None else _above_zero("clip", clip),
        smoothing=_above_zero("smoothing", smoothing),
        resample=_one_of("resample", resample, UNITS),
        resamples=_whole("resamples", resamples),
        level=check_level(level),
        max_unsupported=_share("max_unsupported", max_unsupported),
        ties=_one_of("ties", ties, ("stable", HASHED)),
        seed=checked_seed(seed),
    )
    OrNone(Switch()).check("progress", progress)
    thetas = as_propensities(propensities)
    examination = _examination(thetas, cutoff)
    shown_places = len(examination) if cutoff is None else int(cutoff)
    places = {name: _places(one, data, shown_places, settings) for name, one in _named(ranking).items()}
    given = None if relevance is None else _probabilities(relevance, data)
    keys = QueryKeys(query_key)
    names = checked_columns(
        session=session, query=query, document=document, position=position, clicked=clicked, key=keys.column
    )
    logged = read_views(log, data, keys, names, progress)
    counted = _down_to(logged, len(examination))
    evidence = Evidence.of(counted, data, examination, shown_places)
    if given is None and not evidence.looks.any():
        raise DataError("no document that the log shows is in the data: ids are compared as text")
    gamma = evidence.shrunken_rates(settings.smoothing) if given is None else given
    n_units = counted.n_sessions if settings.resample == "session" else data.n_queries
    columns, supports = {}, {}
    for name, place in places.items():
        if not (evidence.views[data.row_queries[place >= 0]] > 0).any():
            raise DataError(f"{displayed(name)} shows no document of the queries that the log has")
        columns[name], supports[name] = evidence.columns(place, gamma, settings.clip, settings.resample, n_units)
    _refuse_unsupported(supports, settings.max_unsupported)
    return OffPolicyEvaluation(
        columns,
        supports,
        evidence,
        settings,
        thetas,
        left_out=len(logged.row) - len(counted.row),
        modelled=given is None,
    )


def _named(ranking: Any) -> dict[str, Any]:
    if isinstance(ranking, Mapping) and not ranking:
        raise SettingsError("there is no ranking: give a model, scores or the name of a feature, or several by name")
    if not isinstance(ranking, Mapping) or is_run(ranking):
        return {"ranking": ranking}
    for name in ranking:
        if not Text().holds(name) or name == PRODUCTION:
            raise SettingsError(f"a ranking needs a name (and not {PRODUCTION!r}), not {shown(name)}")
    return dict(ranking)


def _places(ranking: Any, data: Dataset, cutoff: int, settings: OffPolicySettings) -> np.ndarray:
    """The place of every row in its query, from 0; −1: not shown."""
    scores = data.by_query(_scores_of_run(ranking, data)) if is_run(ranking) else scores_of(ranking, data)
    ranked = RankedData(data, scores, settings.ties, settings.seed).documents()
    order = ranked.order
    starts = np.repeat(ranked.starts[:-1], np.diff(ranked.starts))
    place = np.arange(len(order)) - starts
    documents = order if ranked.places is None else ranked.places[order]  # in ``by_query`` order
    found = np.full(data.n_documents, -1, dtype=np.int64)
    found[documents] = np.where(place < cutoff, place, -1)
    return data.by_row(found)


def _scores_of_run(run: Mapping[Any, Mapping[Any, Any]], data: Dataset) -> np.ndarray:
    """The scores of a TREC run by row; what it lacks was not retrieved."""
    if data.document_ids is None:
        raise DataError("the data has no document ids, which a run is joined by: ", DOCUMENT_IDS)
    rows = {
        (str(query), str(document)): row
        for row, (query, document) in enumerate(zip(data.qid.tolist(), data.document_ids.tolist(), strict=True))
    }
    queries = set(map(str, data.query_ids.tolist()))
    scores = np.full(data.n_documents, -np.inf)
    for query, documents in run.items():
        for document, score in documents.items() if str(query) in queries else ():
            row = rows.get((str(query), str(document)))
            if row is None:
                raise DataError(
                    f"the run ranks document {str(document)!r} for query {str(query)!r}, which the data does not have"
                )
            if not Number().holds(score):
                raise DataError(f"the score of document {str(document)!r} in the run is no number: {shown(score)}")
            scores[row] = float(score)
    return scores


def _down_to(logged: LoggedViews, places: int) -> LoggedViews:
    """The impressions of the first places; views stay what they were."""
    kept = logged.position <= places
    if kept.all():
        return logged
    if not kept.any():
        raise DataError(f"the log shows nothing in the first {places} places, which have propensities")
    names = ("query", "session", "row", "position", "clicked")
    return dataclasses.replace(logged, **{name: getattr(logged, name)[kept] for name in names})


def _examination(known: Propensities, cutoff: int | None) -> np.ndarray:
    OrNone(Whole(1)).check("cutoff", cutoff)
    if cutoff is not None and cutoff > len(known):
        raise SettingsError(
            f"cutoff is {cutoff}, but there are propensities of {len(known)} positions only: give more of them"
        )
    return known.at(np.arange(1, len(known) + 1))


def _probabilities(given: Any, data: Dataset) -> np.ndarray:
    """What ``relevance`` says of every row."""
    if isinstance(given, str) and given in data.labels:
        values = np.asarray(data.label(given), dtype=np.float64)
    else:
        values = data.by_row(scores_of(given, data))
    wrong = np.flatnonzero(~((values >= 0.0) & (values <= 1.0)))
    if len(wrong):
        raise DataError(
            f"relevance is a probability, from 0 to 1, for every row; that of row {wrong[0]} (from 0) is "
            f"{values[wrong[0]]:g}"
        )
    return values


def _refuse_unsupported(supports: Mapping[str, Support], most: float) -> None:
    beyond = {name: one for name, one in supports.items() if one.unsupported > most}
    if beyond:
        shares = ", ".join(f"{displayed(name)}: {per_cent(one.unsupported)}" for name, one in beyond.items())
        largest = max(one.unsupported for one in beyond.values())
        raise DataError(
            f"too much of the new ranking has never been shown: share of looks on documents that the log never showed "
            f"for their query ({shares}), more than {per_cent(most)}\n  rank only what the log showed (others: score "
            "-inf), or to get an answer all the same: ",
            Argument("max_unsupported", math.ceil(100.0 * largest) / 100.0),
        )


def _above_zero(name: str, value: Any) -> float:
    check_number(name, value, 0.0, above=True)
    return float(value)


def _share(name: str, value: Any) -> float:
    check_number(name, value, 0.0, 1.0)
    return float(value)


def _whole(name: str, value: Any) -> int:
    check_number(name, value, 1, 1_000_000, whole=True)
    return int(value)


def _one_of(name: str, value: Any, choices: tuple[str, ...]) -> str:
    check_choice(name, value, choices)
    return str(value)
