"""Evaluate a ranking: scores and labels in, means with their errors and policies out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.data import frames
from rankforce.data.dataset import Dataset, check_dataset
from rankforce.data.hashing import checked_seed
from rankforce.errors import DataError, SettingsError
from rankforce.evaluation.conventions import Convention, convention_named
from rankforce.evaluation.policies import Policies
from rankforce.evaluation.result import Evaluation, MeasuredQueries
from rankforce.evaluation.significance import check_level
from rankforce.evaluation.ties import POLICIES, QueryValues, Ranking
from rankforce.kinds import check_choice
from rankforce.measures.catalogue import measure, written_parameters
from rankforce.measures.judged import Judged, judged
from rankforce.measures.measure import Measure
from rankforce.threads import using_threads

LARGEST_EXACT = 2**53  # whole numbers up to here are float64 numbers
BLANK_POLICIES = ("skip", "zero", "one", "raise")


def evaluate(
    model_or_scores: Any,
    data: Dataset,
    measures: str | Measure | Iterable[str | Measure] = "NDCG@10",
    *,
    ties: str | None = None,
    blank: str | None = None,
    convention: str | None = None,
    by: Any = None,
    level: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
) -> Evaluation:
    """Values of measures on every query of a data set, and their means.

    Parameters
    ----------
    model_or_scores : a model, an array of one score per row, or the name of a feature
        A model is anything with ``predict(data)``. Higher scores rank higher. A score of −∞ means "not retrieved":
        the document has no rank and earns nothing, but counts in the ideal ranking. NaN and +∞ are errors.
    data : Dataset
    measures : one or several measures, written or as objects
    ties : "stable" (default), "expected", "pessimistic", "optimistic"
        What happens to documents with equal scores: row order; the mean over all their orders, exact where the
        measure knows it and otherwise sampled; the worth less first; the worth more first.
    blank : "skip" (default), "zero", "one", "raise"
        How a query counts on which no ranking can score (no relevant document).
    convention : name of a tool
        Compute exactly as this tool does: trec, letor4, mslr, gdeval, lightgbm, xgboost, xgboost-, sklearn,
        catboost. It fixes everything, so ``ties`` and ``blank`` cannot be given beside it, nor parameters of a measure
        that the tool has no option for. (Of a measure given as an object, a parameter that is the default counts as
        not given: write ``"NDCG@5(gain=exponential)"`` to insist on it.)
    by : array of one segment per query (following ``data.query_ids``), or mapping of query id to segment
        Also evaluate each segment of the queries.
    level : of the intervals
    seed : of sampled ties and of the bootstrap
    threads : the number of threads; results never depend on it

    Means weigh queries by ``data.query_weights`` where there are any. Memory: one order of all documents, and for each
    measure one float64 per document, which the data set remembers for the next evaluation.
    """
    check_dataset(data)
    tool = None if convention is None else convention_named(convention)
    if tool is not None and (ties is not None or blank is not None):
        raise SettingsError(f"convention {convention!r} fixes ties and blank queries: leave ties= and blank= out")
    ties = _one_of("ties", "stable" if ties is None else ties, POLICIES) if tool is None else tool.ties
    blank = _one_of("blank", "skip" if blank is None else blank, BLANK_POLICIES)
    level = check_level(level)
    seed = checked_seed(seed)
    measures = _several(measures)
    asked, written = read_measures(measures), _written_out(measures)
    segments = None if by is None else _segments(by, data)
    scores = scores_of(model_or_scores, data)
    if tool is not None and tool.single_precision:
        scores = _single_precision(scores)
    with using_threads(threads):
        ranking = Ranking(data, scores, ties, seed)
        known = [judged(data, one if tool is None else tool.applied(one, written[one])) for one in asked]
        if tool is not None:
            for one in known:
                tool.check_labels(one.measure, one.labels)
        measured = {
            str(one): _measured(ranking, of, values, blank, tool)
            for one, of, values in zip(asked, known, ranking.values(known), strict=True)
        }
    policies = Policies(ties, _blank_words(tool, asked) or blank, convention, _weight_words(data, tool, asked))
    return Evaluation(
        measured,
        data.query_ids,
        data.query_weights if tool is None or tool.query_weights else None,
        data.query_sizes,
        policies,
        level,
        seed,
        segments,
        _explainer(ranking),
    )


def read_measures(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """The measures asked for, each once."""
    result = list(dict.fromkeys(measure(one) for one in _several(measures)))
    if not result:
        raise SettingsError("name at least one measure, for example 'NDCG@10'")
    return result


def _several(measures: Any) -> list[Any]:
    alone = isinstance(measures, (str, Measure)) or not isinstance(measures, Iterable)
    return [measures] if alone or getattr(measures, "ndim", 1) == 0 else list(measures)


def _written_out(measures: list[Any]) -> dict[Measure, frozenset[str]]:
    """The parameters of each measure that stand in its written form."""
    written: dict[Measure, frozenset[str]] = {}
    for one in measures:
        asked = measure(one)
        written[asked] = written.get(asked, frozenset()) | written_parameters(one)
    return written


def scores_of(model_or_scores: Any, data: Dataset) -> np.ndarray:
    """The scores of a model, an array or a feature, checked, in ``by_query`` order: a new float64 array."""
    if isinstance(model_or_scores, str):
        if model_or_scores not in data.feature_names:
            known = ", ".join(data.feature_names[:8]) + (", ..." if data.n_features > 8 else "")
            raise DataError(f"the data has no feature {model_or_scores!r} to rank by (it has: {known})")
        what = f"feature {model_or_scores!r}"
        given: Any = data.features[:, data.feature_names.index(model_or_scores)]
    elif hasattr(model_or_scores, "predict"):
        what = f"the prediction of {type(model_or_scores).__name__}"
        given = model_or_scores.predict(data)
    else:
        what = "the scores"
        given = model_or_scores
    try:
        given = np.asarray(frames.as_vector(given))
        if given.dtype.kind not in "biuf":
            raise TypeError
        if given.dtype.kind in "iu" and given.size and max(-int(given.min()), int(given.max())) > LARGEST_EXACT:
            raise DataError(
                f"{what} are whole numbers beyond 2^53, of which float64 cannot tell all apart: give their ranks, or "
                "smaller numbers"
            )
        scores = np.array(given, dtype=dtypes.SCORE)
    except DataError:
        raise
    except (TypeError, ValueError):
        raise DataError(
            f"{what} must be numbers, one per document; give an array, a model with predict(data), "
            f"or the name of a feature, not {type(model_or_scores).__name__}"
        ) from None
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0].copy()
    if scores.shape != (data.n_documents,):
        raise DataError(f"{what} must have one entry per document ({data.n_documents}), not shape {scores.shape}")
    largest = scores.max()  # NaN if any score is
    if np.isnan(largest) or largest == np.inf:
        row = int(np.flatnonzero(np.isnan(scores) | (scores == np.inf))[0])
        problem = "is NaN" if np.isnan(scores[row]) else "is +inf"
        raise DataError(
            f"{what}: the score of row {row} (query {data.qid[row]}) {problem}; "
            "a document that was not retrieved has score -inf, every other a finite one"
        )
    return data.by_query(scores)


def _measured(
    ranking: Ranking, known: Judged, found: QueryValues, blank: str, tool: Convention | None
) -> MeasuredQueries:
    data, one = ranking.data, known.measure
    values, variances = found
    is_blank = known.normalisers == 0.0
    rule = None if tool is None else tool.rule(one)
    numerator_weights = None
    if is_blank.any():
        policy = blank if rule is None else rule.blank
        if policy == "raise":
            first = data.query_ids[np.flatnonzero(is_blank)[0]]
            raise DataError(
                f"{one}: {int(is_blank.sum())} of {data.n_queries} queries are blank (no ranking can score), the "
                f"first is query {first}; choose blank='skip', 'zero' or 'one'"
            )
        values[is_blank] = {"skip": np.nan, "zero": 0.0, "one": 1.0}[policy]
        if rule is not None and rule.blank_weighs_one and data.query_weights is not None:
            numerator_weights = np.where(is_blank, 1.0, data.query_weights)
    if rule is not None and rule.short_list_is_zero and one.cut is not None:
        values[data.query_sizes < one.cut] = 0.0
    unlabelled, top = _unlabelled_in_top(ranking, known)
    used = tool is None or (tool.query_weights and rule is not None and not rule.ignores_weights)
    weights = data.query_weights if used else None
    return MeasuredQueries(one, values, is_blank, unlabelled, top, variances, weights, numerator_weights)


def _unlabelled_in_top(ranking: Ranking, known: Judged) -> tuple[np.ndarray, np.ndarray]:
    """For each query: unlabelled documents down to the measure's cut-off, and documents down to it.

    Counted in the whole ranking, also where the measure leaves unlabelled documents out.
    """
    ranked = ranking.documents()
    sizes = np.diff(ranked.starts)
    top = sizes if known.measure.cut is None else np.minimum(sizes, known.measure.cut)
    if known.kept is None and not known.source.any_missing:
        return np.zeros(len(sizes), dtype=np.int64), top
    missing = np.isnan(ranking.data.by_query(known.measure.labels_of(ranking.data.labels)))
    order = ranked.order if known.kept is not None else ranking.order(known)
    ranks = np.arange(len(order)) - np.repeat(ranked.starts[:-1], sizes)
    counted = ranked.of(missing)[order] & (ranks < np.repeat(top, sizes))
    sums = np.concatenate([[0], np.cumsum(counted)])
    return np.diff(sums[ranked.starts]), top


def _explainer(ranking: Ranking) -> Callable[[Measure, int], list[dict[str, Any]]]:
    def explain(one: Measure, q: int) -> list[dict[str, Any]]:
        data = ranking.data
        known = judged(data, one)
        ranked = ranking.documents(known)
        start, end = int(ranked.starts[q]), int(ranked.starts[q + 1])
        order = ranking.order(known)[start:end]
        worth = ranked.worth(known)[order]
        labels = ranked.of(known.labels)[order]
        places = order if ranked.places is None else ranked.places[order]
        places = places if known.kept is None else known.kept[places]
        rows = data.rows[places]
        normaliser = known.normalisers[q]
        kernel = known.kernel_tuple
        result = []
        for r in range(end - start):
            so_far = np.where(np.arange(end - start) <= r, worth, 0.0)
            value = kernel.value(so_far, normaliser) if normaliser != 0.0 else 0.0
            result.append(
                {
                    "rank": r + 1,
                    "document": f"row {rows[r]}" if data.document_ids is None else data.document_ids[rows[r]],
                    "score": float(ranked.scores[order[r]]),
                    "label": None if np.isnan(labels[r]) else float(labels[r]),
                    "worth": float(worth[r]),
                    "value": float(value),
                }
            )
        return result

    return explain


def _segments(by: Any, data: Dataset) -> np.ndarray:
    if isinstance(by, Mapping):
        ids = data.query_ids.tolist()
        missing = [one for one in ids if one not in by]
        if missing:
            raise DataError(
                f"by= names no segment for {len(missing)} of {data.n_queries} queries, the first is {missing[0]!r}"
            )
        given = [by[one] for one in ids]
    else:
        given = np.asarray(frames.as_vector(by)).tolist()
        if not isinstance(given, list) or len(given) != data.n_queries:
            raise DataError(
                f"by= must name one segment per query ({data.n_queries}, following data.query_ids), or map query ids "
                "to segments"
            )
    segments = np.empty(data.n_queries, dtype=object)
    segments[:] = [one if isinstance(one, (str, int)) else str(one) for one in given]
    if len({type(one) for one in segments}) > 1:
        segments[:] = [str(one) for one in segments]
    return segments


def _single_precision(scores: np.ndarray) -> np.ndarray:
    """Scores as a tool compares them that keeps float32; −∞ stays the mark of "not retrieved"."""
    most = np.finfo(np.float32).max
    rounded = np.clip(scores, -most, most).astype(np.float32).astype(dtypes.SCORE)
    return np.where(scores == -np.inf, -np.inf, rounded)


def _one_of(name: str, value: str, options: tuple[str, ...]) -> str:
    check_choice(name, value, options)
    return value


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
