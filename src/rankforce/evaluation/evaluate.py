"""Evaluate a ranking: scores and labels in, means with their errors and policies out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import numpy as np

from rankforce import dtypes
from rankforce.data import frames
from rankforce.data.dataset import Dataset
from rankforce.data.hashing import checked_seed
from rankforce.data.preferences import Preferences
from rankforce.errors import DataError, RankforceError, SettingsError
from rankforce.evaluation.agreement import AGREEMENT, ListedAgreement
from rankforce.evaluation.conventions import Convention
from rankforce.evaluation.elsewhere import ASKED
from rankforce.evaluation.judged_rankings import judged_ranking
from rankforce.evaluation.policies import Policies
from rankforce.evaluation.request import Request
from rankforce.evaluation.result import AskedTool, Evaluation, MeasuredQueries
from rankforce.evaluation.scores import scores_of
from rankforce.evaluation.significance import check_level
from rankforce.evaluation.ties import BY_DOCUMENT_ID, POLICIES, QueryValues, RankedData
from rankforce.kinds import check_choice
from rankforce.measures.judged import JudgedMeasure, judged
from rankforce.measures.measure import Measure
from rankforce.remedies import NAME_ALONE, Argument
from rankforce.threads import using_threads

MISSING_QUERIES = ("zero", "skip", "raise")


def evaluate(
    ranking: Any,
    data: Any,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    qid: Any = None,
    group: Any = None,
    missing_queries: Literal["zero", "skip", "raise"] = "zero",
    ties: str | None = None,
    blank: str | None = None,
    convention: str | None = None,
    segments: Any = None,
    level: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
) -> Evaluation:
    """Values of measures on every query of a data set, and their means; or the agreement with preferences.

    Parameters
    ----------
    ranking : a model, a function, an array of one score per row, or the name of a feature
        A model is anything with ``predict``: of rankforce, scikit-learn (also pipelines), LightGBM, XGBoost, CatBoost,
        a PyTorch module, or your own. It, or a function, is handed the feature matrix (``data.features``), matched by
        name if it knows names; your own class with ``takes_dataset = True`` the Dataset. Higher scores rank higher. A
        score of −∞ means "not retrieved": the document has no rank and earns nothing, but counts in the ideal ranking.
        NaN and +∞ are errors.
    data : Dataset, Preferences, labels, or TREC judgments
        Labels are one number per document, with ``qid`` (a query id per document) or ``group`` (the sizes of
        consecutive queries). Judgments (a path of qrels, ``{query: {document: grade}}`` or a data frame with columns
        query, document, grade) go with a run: a path, ``{query: {document: score}}`` or a data frame with columns
        query, document, score. Of preferences the one measure is their ``"preference agreement"``: Σ w·P̄(of the
        order that the ranking gives the two) / Σ w, where a pair counts its weight × query weight × document weights.
        Queries without a pair that counts are blank and left out; a query counts the sum of its w.
    measures : one or several measures, written or as objects; default NDCG@10
    missing_queries : "zero" (default), "skip", "raise"
        How a judged query counts that a run does not have: as if nothing was retrieved, not at all, or as an error.
    ties : "stable" (default), "expected" (default with preferences), "pessimistic", "optimistic", "hashed"
        What happens to documents with equal scores: row order; the mean over all their orders, exact where the
        measure knows it and otherwise sampled; the worth less first; the worth more first; by a hash of ``seed``,
        query id and position, as training ranks them: with the seed of a ranker the value is that of its history. Of
        a preference between equal scores: whether row order has it right; ½; the smaller, the larger of P̄ and 1 − P̄;
        whether the hash has it right.
    blank : "skip" (default), "zero", "one", "raise"
        How a query counts on which no ranking can score (no relevant document).
    convention : name of a tool
        Compute exactly as this tool does: trec, letor4, mslr, gdeval, lightgbm, xgboost, xgboost-, sklearn,
        catboost, ranklib. It fixes everything, so ``ties`` and ``blank`` cannot be given beside it, nor parameters of
        a measure that the tool has no option for. (Of a measure given as an object, a parameter that is the default
        counts as not given: write ``"NDCG@5(gain=exponential)"`` to insist on it.) Without one, the printed result
        says which conventions would give another number, and ``elsewhere`` has these.
    segments : array of one segment per query (following ``data.query_ids``), or mapping of query id to segment
        Also evaluate each segment of the queries.
    level : of the intervals
    seed : of sampled and of hashed ties, and of the bootstrap
    threads : the number of threads; results never depend on it

    Means weigh queries by ``data.query_weights`` where there are any. Memory: one order of all documents, and for each
    measure one float64 per document, which the data set remembers for the next evaluation.
    """
    check_choice("missing_queries", missing_queries, MISSING_QUERIES)
    ranking, data, remarks, named = judged_ranking(ranking, data, qid, group, missing_queries)
    if isinstance(data, Preferences):
        _refuse_for_preferences(measures=measures, blank=blank, convention=convention)
        return _evaluate_agreement(ranking, data, ties or "expected", segments, level, seed, threads)
    request = Request.of(
        "NDCG@10" if measures is None else measures,
        ties=ties,
        blank=blank,
        convention=convention,
        level=level,
        seed=seed,
        threads=threads,
    )
    segment_of = None if segments is None else _segment_of(segments, data)
    if not named and request.ties == BY_DOCUMENT_ID:
        raise DataError(
            f"convention {convention!r} orders equal scores by document id, and labels beside scores name no "
            "documents: give {query: {document: score}} and {query: {document: grade}}, or a Dataset with document_ids"
        )
    judgements = request.on(data)
    tool, measures_asked = request.tool, list(request.measures)
    scores = scores_of(ranking, data)
    if tool is not None and tool.single_precision:
        scores = _single_precision(scores)
    with using_threads(threads):
        ranked = RankedData(data, scores, request.ties, request.seed)
        measured = {
            str(measure): _measured(measure, ranked, of, values, request.blank, tool)
            for measure, of, values in zip(measures_asked, judgements, ranked.values(judgements), strict=True)
        }
    policies = Policies(
        request.ties,
        _blank_words(tool, measures_asked) or request.blank,
        convention,
        _weight_words(data, tool, measures_asked),
    )
    return Evaluation(
        measured,
        data.query_ids,
        data.query_weights if tool is None or tool.query_weights else None,
        data.query_sizes,
        policies,
        request.level,
        request.seed,
        segment_of,
        _explainer(ranked),
        remarks,
        None if tool is not None else _asker(ranked, threads),
    )


def _evaluate_agreement(
    ranking: Any, preferences: Preferences, ties: str, segments: Any, level: float, seed: int, threads: int | None
) -> Evaluation:
    data = preferences.data
    check_choice("ties", ties, POLICIES)
    level, seed = check_level(level), checked_seed(seed)
    segment_of = None if segments is None else _segment_of(segments, data)
    agreement = ListedAgreement(preferences)
    with using_threads(threads):
        values = agreement.per_query(scores_of(ranking, data), ties, seed)
    none, weights = np.zeros(data.n_queries, dtype=np.int64), agreement.query_weights
    measured = MeasuredQueries(
        agreement.measure, agreement.measure, values, np.isnan(values), none, none, None, weights, None
    )
    return Evaluation(
        {str(AGREEMENT): measured},
        data.query_ids,
        weights,
        data.query_sizes,
        Policies(ties, "skip", None, "the sum of the weights of its preferences"),
        level,
        seed,
        segment_of,
    )


def _refuse_for_preferences(**options: Any) -> None:
    for name, value in options.items():
        if value is not None:
            raise SettingsError(
                "of preferences the measure is their agreement: leave ", Argument(name, NAME_ALONE), " out"
            )


def _measured(
    measure: Measure,
    ranking: RankedData,
    judgement: JudgedMeasure,
    query_values: QueryValues,
    blank: str,
    tool: Convention | None,
) -> MeasuredQueries:
    data, computed = ranking.data, judgement.measure
    values, variances = query_values
    is_blank = judgement.normalisers == 0.0
    rule = None if tool is None else tool.rule(computed)
    numerator_weights = None
    if is_blank.any():
        policy = blank if rule is None else rule.blank
        values[is_blank] = {"skip": np.nan, "zero": 0.0, "one": 1.0}[policy]
        if rule is not None and rule.blank_weighs_one and data.query_weights is not None:
            numerator_weights = np.where(is_blank, 1.0, data.query_weights)
    if rule is not None and rule.short_list_is_zero and computed.cut is not None:
        values[data.query_sizes < computed.cut] = 0.0
    unlabelled, top = _unlabelled_in_top(ranking, judgement)
    used = tool is None or (tool.query_weights and rule is not None and not rule.ignores_weights)
    weights = data.query_weights if used else None
    return MeasuredQueries(measure, computed, values, is_blank, unlabelled, top, variances, weights, numerator_weights)


def _unlabelled_in_top(ranking: RankedData, judgement: JudgedMeasure) -> tuple[np.ndarray, np.ndarray]:
    """For each query: unlabelled documents down to the measure's cut-off, and documents down to it.

    Counted in the whole ranking, also where the measure leaves unlabelled documents out.
    """
    ranked = ranking.documents()
    sizes = np.diff(ranked.starts)
    top = sizes if judgement.measure.cut is None else np.minimum(sizes, judgement.measure.cut)
    if judgement.kept is None and not judgement.source.any_missing:
        return np.zeros(len(sizes), dtype=np.int64), top
    missing = np.isnan(ranking.data.by_query(judgement.measure.labels_of(ranking.data.labels)))
    order = ranked.order if judgement.kept is not None else ranking.order(judgement)
    ranks = np.arange(len(order)) - np.repeat(ranked.starts[:-1], sizes)
    counted = ranked.of(missing)[order] & (ranks < np.repeat(top, sizes))
    sums = np.concatenate([[0], np.cumsum(counted)])
    return np.diff(sums[ranked.starts]), top


def _asker(ranking: RankedData, threads: int | None) -> Callable[[Measure], list[AskedTool]]:
    """The same ranking as other tools measure it."""

    def ask(measure: Measure) -> list[AskedTool]:
        data = ranking.data
        scores, worth = data.by_row(ranking.scores), judged(data, measure).worth
        tied = len(ranking.documents().tied_queries()) > 0
        tools = []
        for name in ASKED:
            try:
                other = evaluate(scores, data, measure, convention=name, threads=threads)
            except RankforceError:
                continue  # the tool has no such measure, or not on such labels
            applied = Request.of(measure, convention=name).applied(measure)
            tools.append(AskedTool(other, tied, not np.array_equal(judged(data, applied).worth, worth)))
        return tools

    return ask


def _explainer(ranking: RankedData) -> Callable[[Measure, int], list[dict[str, Any]]]:
    def explain(measure: Measure, q: int) -> list[dict[str, Any]]:
        data = ranking.data
        judgement = judged(data, measure)
        documents = ranking.documents(judgement)
        start, end = int(documents.starts[q]), int(documents.starts[q + 1])
        order = ranking.order(judgement)[start:end]
        worth = documents.worth(judgement)[order]
        labels = documents.of(judgement.labels)[order]
        rows_by_rank = order if documents.places is None else documents.places[order]
        rows_by_rank = rows_by_rank if judgement.kept is None else judgement.kept[rows_by_rank]
        rows = data.rows[rows_by_rank]
        normaliser = judgement.normalisers[q]
        kernel = judgement.kernel_tuple
        entries = []
        for r in range(end - start):
            so_far = np.where(np.arange(end - start) <= r, worth, 0.0)
            value = kernel.value(so_far, normaliser) if normaliser != 0.0 else 0.0
            entries.append(
                {
                    "rank": r + 1,
                    "document": f"row {rows[r]}" if data.document_ids is None else data.document_ids[rows[r]],
                    "score": float(documents.scores[order[r]]),
                    "label": None if np.isnan(labels[r]) else float(labels[r]),
                    "worth": float(worth[r]),
                    "value": float(value),
                }
            )
        return entries

    return explain


def _segment_of(segments: Any, data: Dataset) -> np.ndarray:
    """The segment of every query, in the order of ``data.query_ids``."""
    if isinstance(segments, Mapping):
        ids = data.query_ids.tolist()
        without_segment = [name for name in ids if name not in segments]
        if without_segment:
            raise DataError(
                Argument("segments", NAME_ALONE),
                f" names no segment for {len(without_segment)} of {data.n_queries} queries, the first is "
                f"{without_segment[0]!r}",
            )
        names = [segments[name] for name in ids]
    else:
        names = np.asarray(frames.as_vector(segments)).tolist()
        if not isinstance(names, list) or len(names) != data.n_queries:
            raise DataError(
                Argument("segments", NAME_ALONE),
                f" must name one segment per query ({data.n_queries}, following data.query_ids), or map query ids to "
                "segments",
            )
    segment_of = np.empty(data.n_queries, dtype=object)
    segment_of[:] = [name if isinstance(name, (str, int)) else str(name) for name in names]
    if len({type(name) for name in segment_of}) > 1:
        segment_of[:] = [str(name) for name in segment_of]
    return segment_of


def _single_precision(scores: np.ndarray) -> np.ndarray:
    """Scores as a tool compares them that keeps float32; −∞ stays the mark of "not retrieved"."""
    most = np.finfo(np.float32).max
    rounded = np.clip(scores, -most, most).astype(np.float32).astype(dtypes.SCORE)
    return np.where(scores == -np.inf, -np.inf, rounded)


def _blank_words(tool: Convention | None, asked: list[Measure]) -> str | None:
    """The blank policy of a convention: one word, or one per measure where they differ."""
    if tool is None:
        return None
    words = {str(one): tool.rule(one).blank for one in asked}
    if len(set(words.values())) == 1:
        return next(iter(words.values()))
    return ", ".join(f"{name} {word}" for name, word in words.items())


def _weight_words(data: Dataset, tool: Convention | None, asked: list[Measure]) -> str:
    if data.query_weights is None:
        return "none"
    if tool is None:
        return "used"
    if not tool.query_weights:
        return f"not used ({tool.tool} has none)"
    ignoring = [str(one) for one in asked if tool.rule(one).ignores_weights]
    return f"used, but not for {', '.join(ignoring)} ({tool.tool} ignores them there)" if ignoring else "used"
