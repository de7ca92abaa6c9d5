"""``rankforce compare``: is the second ranking better than the first, and could it be chance?"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rankforce.cli import failures, options, output
from rankforce.errors import SettingsError

if TYPE_CHECKING:
    from rankforce.evaluation.comparison import Comparison


def compare(
    data: Annotated[str, typer.Argument(metavar="DATA", help=options.DATA_HELP)],
    rankings: Annotated[
        list[str],
        typer.Argument(
            metavar="FIRST SECOND",
            help="The ranking there is, the one that would replace it, and perhaps more: " + options.RANKING_HELP,
        ),
    ],
    measure: options.Measures = None,
    ties: options.Ties = None,
    blank: options.Blank = None,
    convention: options.Convention = None,
    segments: options.Segments = None,
    missing_queries: options.MissingQueries = "zero",
    preferences: options.Preferences = None,
    require: Annotated[
        Literal["better", "not-worse"] | None,
        typer.Option(
            metavar="better|not-worse",
            help="Leave with exit code 1 unless SECOND is significantly better (or: is not significantly worse) in "
            "every measure, by the paired t-test at 5 %, corrected for the number of measures; also where there are "
            "too few queries for a test. Where all queries have the same difference, the randomisation test decides.",
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
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name", metavar="NAME", help="Of a ranking, in their order; repeat for all.", show_default=False
        ),
    ] = None,
    per_query: Annotated[
        Path | None,
        typer.Option(
            "--per-query",
            metavar="OUT.csv",
            help="Also write the values of every query, of two rankings with their difference.",
            show_default=False,
        ),
    ] = None,
    level: Annotated[float, typer.Option(metavar="L", help="Of the intervals; 1 - L is the level of --graded.")] = 0.95,
    seed: options.Seed = 0,
    imports: options.Imports = None,
    read: options.Reading = None,
    form: options.Format = "text",
    json: options.Json = False,
) -> None:
    """Compare two or more rankings of the same queries.

    Of two, differences are SECOND minus FIRST, tested by the paired t-test and Fisher's randomisation, query by query.
    Of more, a table marks every mean with the letters of the rankings that it is significantly above (t-tests,
    corrected for all pairs and measures).
    """
    import rankforce as rf
    from rankforce.cli.own_measures import import_measures
    from rankforce.cli.rankings import read_agreement, read_judgments, read_ranking
    from rankforce.cli.segments import read_segments
    from rankforce.cli.writing import check_output, write_compared_queries
    from rankforce.evaluation.request import Request

    check_output(per_query, data, *rankings, segments, preferences)
    import_measures(imports or ())
    Request.of(measure or options.USUAL_MEASURES, ties=ties, blank=blank, convention=convention, level=level)
    names = named_rankings(rankings, name)
    if len(rankings) > 2 and (require is not None or graded):
        raise SettingsError("--require and --graded are about two rankings: give FIRST and SECOND alone")
    judgments = read_judgments(data, read, rankings)
    evaluations = {}
    read_rankings = [read_ranking(text, judgments, missing_queries) for text in rankings]
    for title, ranking in zip(names, read_rankings, strict=True):
        evaluations[title] = rf.evaluate(
            ranking.scores,
            ranking.data if preferences is None else read_agreement(preferences, ranking, measure),
            measure or None,
            ties=ties,
            blank=blank,
            convention=convention,
            segments=None if segments is None else read_segments(segments, ranking.data),
            level=level,
            seed=seed,
        )
    if len(rankings) > 2:
        board = rf.compare(evaluations)
        write_compared_queries(per_query, evaluations)
        if json:
            output.show_json({"data": data} | board.to_dict())
        else:
            output.show_result(board, form)
        return
    first, second = evaluations.values()
    result = rf.compare(first, second, names=names, graded=graded)
    write_compared_queries(per_query, evaluations)
    if json:
        output.show_json({"data": data, "first": rankings[0], "second": rankings[1]} | result.to_dict())
    else:
        output.show_result(result, form)
    if require is not None and not satisfies(result, require):
        words = "is not better" if require == "better" else "is worse, or there are too few queries to tell"
        output.note(f"{names[1]} {words}: --require {require}")
        raise typer.Exit(failures.NEGATIVE_VERDICT)


def named_rankings(rankings: list[str], names: list[str] | None) -> list[str]:
    """A name for every one of the rankings to compare."""
    if len(rankings) < 2:
        raise SettingsError("name two rankings or more to compare")
    return titles_of(rankings, names)


def titles_of(rankings: list[str], names: list[str] | None) -> list[str]:
    """A name for every ranking: those asked for, or the rankings as they are written, told apart."""
    if names:
        if len(names) != len(rankings) or len(set(names)) != len(names):
            raise SettingsError(f"--name once for every ranking, each another name: {len(rankings)} of them")
        return names
    titles: list[str] = []
    for text in rankings:
        title = text
        while title in titles:
            title += " again"
        titles.append(title)
    return titles


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
