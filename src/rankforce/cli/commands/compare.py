"""``rankforce compare``: is the second ranking better than the first, and could it be chance?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rankforce.cli import failures, options, output

if TYPE_CHECKING:
    from rankforce.evaluation.comparison import Comparison


def compare(
    data: Annotated[str, typer.Argument(metavar="DATA", help=options.DATA_HELP)],
    first: Annotated[str, typer.Argument(metavar="FIRST", help="The ranking there is: " + options.RANKING_HELP)],
    second: Annotated[str, typer.Argument(metavar="SECOND", help="The ranking that would replace it, likewise.")],
    measure: options.Measures = None,
    ties: options.Ties = None,
    blank: options.Blank = None,
    convention: options.Convention = None,
    by: options.By = None,
    missing_queries: options.MissingQueries = "zero",
    preferences: options.Preferences = None,
    require: Annotated[
        Literal["better", "not-worse"] | None,
        typer.Option(
            metavar="better|not-worse",
            help="Leave with exit code 1 unless SECOND is significantly better (or: is not significantly worse) in "
            "every measure, by the paired t-test at 5 %, corrected for the number of measures; also where there are "
            "too few queries for a test.",
            show_default=False,
        ),
    ] = None,
    graded: Annotated[
        bool,
        typer.Option(
            "--graded",
            help="The measures are tiers, most important first: the first with a significant difference (paired t-test "
            "at 1 - level) decides, and --require asks about this verdict.",
        ),
    ] = False,
    level: Annotated[float, typer.Option(metavar="L", help="Of the intervals; 1 - L is the level of --graded.")] = 0.95,
    imports: options.Imports = None,
    read: options.Reading = None,
    json: options.Json = False,
) -> None:
    """Compare two rankings of the same queries.

    Differences are SECOND minus FIRST, tested by the paired t-test and Fisher's randomisation, query by query.
    """
    import rankforce as rf
    from rankforce.cli.own_measures import import_measures
    from rankforce.cli.rankings import read_agreement, read_judgments, read_ranking
    from rankforce.cli.segments import read_segments
    from rankforce.evaluation.request import Request

    import_measures(imports or ())
    Request.of(measure or ["NDCG@10"], ties=ties, blank=blank, convention=convention, level=level)
    judgments = read_judgments(data, read)
    evaluations = []
    for ranking in [read_ranking(text, judgments, missing_queries) for text in (first, second)]:
        segments = None if by is None else read_segments(by, ranking.data)
        evaluations.append(
            rf.evaluate(
                ranking.scores,
                ranking.data if preferences is None else read_agreement(preferences, ranking, measure),
                measure or None,
                ties=ties,
                blank=blank,
                convention=convention,
                by=segments,
                level=level,
            )
        )
    names = (first, second) if first != second else (first, f"{second} again")
    result = rf.compare(evaluations[0], evaluations[1], names=names, graded=graded)
    if json:
        output.show_json({"data": data, "first": first, "second": second} | result.to_dict())
    else:
        output.show(str(result))
    if require is not None and not satisfies(result, require):
        words = "is not better" if require == "better" else "is worse, or there are too few queries to tell"
        output.note(f"{second} {words}: --require {require}")
        raise typer.Exit(failures.NEGATIVE_VERDICT)


def satisfies(result: Comparison, require: str) -> bool:
    """Whether the second ranking is significantly better, or not significantly worse: in every measure, or graded.

    Where there is nothing to test, it is neither.
    """
    if result.verdict is not None:
        return result.verdict.outcome == "better" or (require == "not-worse" and result.verdict.outcome == "equal")
    if not all(math.isfinite(result.holm[name]) for name in result.measures):
        return False  # too few queries for a test: nothing speaks for the second ranking
    significant = {name: result.holm[name] < 0.05 for name in result.measures}
    if require == "better":
        return all(significant[name] and result.difference[name] > 0.0 for name in result.measures)
    return not any(significant[name] and result.difference[name] < 0.0 for name in result.measures)
