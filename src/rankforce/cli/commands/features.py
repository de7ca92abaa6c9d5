"""``rankforce features``: training data from what a search engine logged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rankforce.cli import options, output


def features(
    logs: Annotated[
        list[Path],
        typer.Argument(metavar="LOG", help="Search responses with logged features: JSON, one per file or per line."),
    ],
    judgments: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Judgments: query, document, grade (.csv, .tsv, .parquet), or TREC qrels.",
            show_default="none: documents stay unlabelled",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="OUT",
            help="The data file to write; its ending says the format.",
            show_default=False,
        ),
    ] = None,
    feature_set: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Which features, in which order: the engine's feature set or feature store as JSON, or a name per "
            "line.",
            show_default="those of the log",
        ),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(
            metavar="WHERE",
            help="Where the query id stands: a path such as responseHeader.params.q, file, entry, or named:PREFIX.",
            show_default="qid, query_id or query beside the response",
        ),
    ] = None,
    document: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Where a hit has its document id.", show_default="_id, id or documentid"),
    ] = None,
    entry: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The log entry or field with the features, of several.", show_default=False),
    ] = None,
    unjudged: Annotated[
        Literal["drop", "keep"],
        typer.Option(metavar="drop|keep", help="Logged documents that are not judged: left out, or unlabelled."),
    ] = "drop",
    absent: Annotated[
        Literal["missing", "zero"] | None,
        typer.Option(
            metavar="missing|zero",
            help="What a feature without a value is.",
            show_default="missing; zero for Solr",
        ),
    ] = None,
    repeated: Annotated[
        Literal["raise", "first", "last"],
        typer.Option(metavar="raise|first|last", help="A document logged again under a query, with other values."),
    ] = "raise",
    force: Annotated[bool, typer.Option("--force", help="Overwrite OUT if it exists.")] = False,
    write: options.Writing = None,
    json: options.Json = False,
) -> None:
    """Make training data from features that a search engine logged.

    Reads responses of Elasticsearch and OpenSearch with their learning-to-rank plugin, of Solr and of Vespa, joins
    them with the judgments by query and document, and says what did not find its partner. Without --out it only says
    so.
    """
    import rankforce as rf
    from rankforce.cli.writing import check_output, write_data
    from rankforce.displayed_text import displayed_path

    check_output(out, judgments, feature_set, *logs, force=force)
    log = rf.read_feature_log(
        logs,
        judgments,
        features=feature_set,
        query=query,
        document=document,
        entry=entry,
        unjudged=unjudged,
        absent=absent,
        repeated=repeated,
    )
    report = {"logs": [str(path) for path in logs], **log.to_dict()}
    words = [str(log)]
    if out is not None:
        write_data(log.data, out, write)
        report["out"] = str(out)
        words.append(f"{displayed_path(out)}: written")
    if json:
        output.show_json(report)
    else:
        output.show("\n".join(words))
