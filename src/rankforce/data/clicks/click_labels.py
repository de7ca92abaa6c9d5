"""Click labels from session logs: one number per query and document.

labels = rf.click_labels("log.parquet")
data = data.with_label("clicks", labels.for_data(data))
"""

from __future__ import annotations

from typing import Any

from rankforce.data.clicks.counting import Counting
from rankforce.data.clicks.dwell import Dwelling, DwellSettings
from rankforce.data.clicks.keys import QueryKey, QueryKeys
from rankforce.data.clicks.propensities import as_propensities
from rankforce.data.clicks.rates import DWELL_RATES, ClickLabels, ClickSettings
from rankforce.data.clicks.session_logs import checked_columns, log_name, read_log
from rankforce.data.clicks.similar_queries import SimilarQueries
from rankforce.errors import SettingsError
from rankforce.files.limits import within_memory
from rankforce.kinds import OrNone, Switch, check_number, check_switches

CHUNK_ROWS = 1 << 20


def click_labels(
    log: Any,
    rate: str = "last_click",
    *,
    query_key: str | QueryKey | None = None,
    last_of: str = "query",
    smoothing: float = 0.0,
    prior: str | float = "query",
    smooth_zeros: bool = False,
    min_impressions: int = 1,
    propensities: Any = None,
    similar: Any = None,
    satisfied_after: float = 30.0,
    longest_dwell: float = 1800.0,
    unknown_dwell: str = "satisfied",
    session: str | None = None,
    query: str | None = None,
    document: str | None = None,
    position: str | None = None,
    clicked: str | None = None,
    time: str | None = None,
    dwell: str | None = None,
    time_unit: str | None = None,
    sorted_by_session: bool = False,
    chunk_rows: int = CHUNK_ROWS,
    progress: bool | None = None,
) -> ClickLabels:
    """Labels in [0, 1] from what users clicked.

    Of the n impressions of a document under a query, c were clicked, and l of these clicks were the last of their
    session for that query. The click-through rate is c/n; the last-click rate is l/n, which suffers less from the
    position: a user who stops has found something, wherever it stood. Documents that were never shown have no label.

    Parameters
    ----------
    log : path, data frame, or an iterable of these
        A row per document shown: ``session``, ``query``, ``document``, ``clicked`` (0 or 1), ``position`` (1 is the
        top) and ``time``, of which one may be absent. CSV (.csv, .tsv, also .gz) or Parquet; read in chunks.
    rate : "last_click", "click", "satisfied_click", "dwell" or "median_dwell"
        Which rate is the label. The first two are always in the result, those of dwell times if one of them is the
        label. "satisfied_click": clicks after which the user stayed, per impression. "dwell", "median_dwell": the mean
        and the median over the clicks of ln(1 + t)/ln(1 + longest_dwell), t seconds being the dwell time.
    query_key : function, mapping, or name of a column of the log
        Queries with the same key are one query: their impressions are pooled, in the log and in ``for_data``. A
        function is called with the query as text; a query that a mapping lacks is its own key.
    last_of : "query" or "session"
        Whose last click counts: that of each query of a session, or only that of the whole session.
    smoothing : number
        Imaginary impressions s at the prior mean m: (c + s·m)/(n + s). With few impressions the label stays near m.
    prior : "query", "global" or number
        The mean m: of all impressions of the query, of the whole log, or given.
    smooth_zeros : bool
        False: what was never clicked stays exactly 0, whatever the smoothing, so that objectives that leave zero
        clicks out still see them. True: such a document gets s·m/(n + s).
    min_impressions : int
        With fewer a document is unlabelled.
    propensities : Propensities, or numbers, the first that of position 1; optional
        How likely users look at each position. The click rate is then clicks per look, c/Σ p over the impressions, at
        most 1: what an examined document attracts, wherever it stood. Smoothing adds looks in place of impressions.
    similar : "words", "characters", a function, pairs or a SimilarQueries
        Also pool clicks over queries that are similar by their texts, as a function of two queries says, or as pairs
        say; ``rf.SimilarQueries`` has the details. The result's ``similar`` has these labels, beside its own.
    satisfied_after, longest_dwell : number of seconds
        A click is satisfied from the one on; beyond the other the user had left, and the dwell time is unknown.
    unknown_dwell : "satisfied" or "leave_out"
        A click with an unknown dwell time, such as the last of a session, is satisfied, or its impression does not
        count in the rate of satisfied clicks. Mean and median leave it out in either case; a document of which no
        dwell time is known has no such label.
    session, query, document, position, clicked, time, dwell : str
        The names of the columns, where they are not called so. Dwell times (seconds) come from the column ``dwell``;
        without one they are the time to the next action of the session, a row with a later time, clicked or not.
    time_unit : "s", "ms", "us" or "ns"
        Of times that are numbers, for dwell times; seconds, unless they would lie beyond the year 5000.
    sorted_by_session : bool
        The rows of a session are adjacent, which is checked. Needs 8 bytes of memory per session in place of a few
        hundred for each last click.
    chunk_rows : int
        Rows looked at together; the result does not depend on it.
    progress : bool, optional
        Show a progress bar; by default on a terminal, for files that take long.

    The last click is that with the latest time; without times, or where they are equal, that at the lowest place of
    the list (users read downwards), then the later row. Ids are compared as text.
    """
    known = None if propensities is None else as_propensities(propensities)
    looks = None if known is None else tuple(known.values.tolist())
    dwell_settings = DwellSettings(satisfied_after, longest_dwell, unknown_dwell, time_unit)
    settings = ClickSettings(rate, last_of, smoothing, prior, smooth_zeros, min_impressions, looks, dwell_settings)
    rule = similar if similar is None or isinstance(similar, SimilarQueries) else SimilarQueries(similar)
    if rule is not None and rate == "median_dwell":
        raise SettingsError("medians are not pooled over similar queries: the mean is, rate 'dwell'")
    if rule is not None:
        _ = rule.pairs  # a mistake in their file is found before the log is read, which may take long
    check_number("chunk_rows", chunk_rows, 1, whole=True)
    check_switches(smooth_zeros=smooth_zeros, sorted_by_session=sorted_by_session)
    OrNone(Switch()).check("progress", progress)
    keys = QueryKeys(query_key)
    names = checked_columns(
        session=session,
        query=query,
        document=document,
        position=position,
        clicked=clicked,
        time=time,
        key=keys.column,
        dwell=dwell,
    )
    dwelling = Dwelling(dwell_settings, rate == "median_dwell") if rate in DWELL_RATES else None
    if dwelling is None:
        del names["dwell"]  # what is not needed is not read
    counting = Counting(keys, last_of == "session", sorted_by_session, known, dwelling)
    with within_memory(log_name(log)):
        for chunk in read_log(log, names, int(chunk_rows), progress):
            counting.add(chunk)
        return counting.labels(settings, rule)
