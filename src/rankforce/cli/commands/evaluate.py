"""``rankforce evaluate``: measures of a ranking, with the policies that decide them."""

from __future__ import annotations

from typing import Annotated

import typer

from rankforce.cli import options, output


def evaluate(
    data: Annotated[str, typer.Argument(metavar="DATA", help=options.DATA_HELP)],
    ranking: Annotated[str, typer.Argument(metavar="RANKING", help="What ranks: " + options.RANKING_HELP)],
    measure: options.Measures = None,
    ties: options.Ties = None,
    blank: options.Blank = None,
    convention: options.Convention = None,
    segments: options.Segments = None,
    missing_queries: options.MissingQueries = "zero",
    preferences: options.Preferences = None,
    per_query: options.PerQuery = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    imports: options.Imports = None,
    read: options.Reading = None,
    form: options.Format = "text",
    json: options.Json = False,
) -> None:
    """Measure a ranking.

    What RANKING is, is found out; scores:FILE, feature:NAME, model:FILE and run:FILE say it. Every result says how
    equal scores and queries without a relevant document were treated.
    """
    import rankforce as rf
    from rankforce.cli.own_measures import import_measures
    from rankforce.cli.rankings import read_agreement, read_judgments, read_ranking
    from rankforce.cli.segments import read_segments
    from rankforce.cli.writing import check_output, write_per_query
    from rankforce.evaluation.request import Request

    check_output(per_query, data, ranking, segments, preferences)
    import_measures(imports or ())
    Request.of(measure or options.USUAL_MEASURES, ties=ties, blank=blank, convention=convention, level=level)
    named_ranking = read_ranking(ranking, read_judgments(data, read, [ranking]), missing_queries)
    result = rf.evaluate(
        named_ranking.scores,
        named_ranking.data if preferences is None else read_agreement(preferences, named_ranking, measure),
        measure or None,
        ties=ties,
        blank=blank,
        convention=convention,
        segments=None if segments is None else read_segments(segments, named_ranking.data),
        level=level,
        seed=seed,
    )
    if per_query is not None:
        write_per_query(per_query, result)
    if json:
        output.show_json({"data": data, "ranking": ranking, "kind": named_ranking.kind} | result.to_dict())
    else:
        output.show_result(result, form)
