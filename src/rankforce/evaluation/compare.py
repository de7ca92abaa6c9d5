"""Compare rankings query by query: is one better, by how much, where, and could it be chance?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict, Unpack, overload

from rankforce.data.hashing import checked_seed
from rankforce.errors import SettingsError
from rankforce.evaluation.comparison import Comparison
from rankforce.evaluation.evaluate import evaluate
from rankforce.evaluation.judged_rankings import is_run
from rankforce.evaluation.leaderboard import Leaderboard
from rankforce.evaluation.result import Evaluation
from rankforce.kinds import Several, Text, check_switches, shown
from rankforce.measures.measure import Measure


class EvaluationOptions(TypedDict, total=False):
    """What ``rf.evaluate`` takes beside ranking, data, measures and seed."""

    qid: Any
    group: Any
    missing_queries: Literal["zero", "skip", "raise"]
    ties: str | None
    blank: str | None
    convention: str | None
    segments: Any
    level: float
    threads: int | None


@overload
def compare(
    a: Mapping[str, Any],
    b: Any = None,
    data: str | Measure | Iterable[str | Measure] | None = None,
    *,
    seed: int = 0,
    **options: Unpack[EvaluationOptions],
) -> Leaderboard: ...
@overload
def compare(
    a: Any,
    b: Any,
    data: Any = None,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    names: Sequence[str] = ("a", "b"),
    graded: bool = False,
    seed: int = 0,
    **options: Unpack[EvaluationOptions],
) -> Comparison: ...
def compare(
    a: Any,
    b: Any = None,
    data: Any = None,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    names: Sequence[str] = ("a", "b"),
    graded: bool = False,
    seed: int = 0,
    **options: Unpack[EvaluationOptions],
) -> Comparison | Leaderboard:
    """Evaluate rankings of the same queries and test their differences.

    Two: ``rf.compare(a, b, data, measures)``. ``a`` is the ranking that one has, ``b`` the one that would replace it:
    models, scores, names of features or TREC runs, as for ``rf.evaluate``, whose options are the same.
    Differences are b − a. Two evaluations, or cross-validations, of the same queries can be compared too (``data`` and
    ``measures`` are then left out). Queries that the blank policy leaves out count in neither.

    Several: ``rf.compare({"BM25": ..., "ours": ...}, data, measures)``, rankings by name, or evaluations by name. The
    result is a ``Leaderboard``; its tests are corrected for all pairs and measures.

    ``graded=True``: the measures are tiers, the most important first. The first tier in which the two differ
    significantly (paired t-test at ``1 − level``) decides; ``verdict`` says which and how.

    If all queries have the same difference, a t-test is undefined, and the randomisation test decides instead.
    """
    check_switches(graded=graded)
    seed = checked_seed(seed)
    several = isinstance(a, Mapping) and not is_run(a)
    if several:
        if graded or tuple(names) != ("a", "b"):
            raise SettingsError("rankings by name have names, and no verdict by tiers: leave names and graded out")
        if b is not None:  # the data; what stands behind it are the measures
            data, measures = b, measures if data is None else data
        rankings = {_checked_name(name): ranking for name, ranking in a.items()}
    else:
        rankings = dict(zip(_two_names(names), (a, b), strict=True))
    known = {name: _evaluation_in(ranking) for name, ranking in rankings.items()}
    evaluations = {name: one for name, one in known.items() if one is not None}
    if len(evaluations) == len(rankings):
        if data is not None:
            raise SettingsError("evaluations are compared as they are: leave data out")
    elif evaluations:
        raise SettingsError("compare evaluations, or rankings, not some of each")
    elif data is None:
        raise SettingsError("give the data to compare on: rf.compare(a, b, data, measures)")
    else:
        evaluations = {
            name: evaluate(
                ranking,
                data,
                measures,
                seed=seed,
                **options,
            )
            for name, ranking in rankings.items()
        }
    if several:
        return Leaderboard(evaluations)
    (first, one), (second, other) = evaluations.items()
    return Comparison(one, other, (first, second), graded)


def _two_names(names: Any) -> tuple[str, str]:
    pair = Several(Text()).holds(names) and len(names) == 2
    if not pair or names[0] == names[1] or "difference" in list(names):
        raise SettingsError(f"names must be two different names (and not 'difference'), not {shown(names)}")
    return str(names[0]), str(names[1])


def _checked_name(name: Any) -> str:
    if not Text().holds(name) or name == "difference":
        raise SettingsError(f"a ranking needs a name (and not 'difference'), not {shown(name)}")
    return str(name)


def _evaluation_in(ranking: Any) -> Evaluation | None:
    """An evaluation as it is, that of a cross-validation, or None for a ranking."""
    if isinstance(ranking, Evaluation):
        return ranking
    inner = None if isinstance(ranking, type) else getattr(ranking, "evaluation", None)
    return inner if isinstance(inner, Evaluation) else None
