"""Options that several commands share, declared once.

Help is written without square brackets: on a terminal they would be read as markup.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output instead of text.")]

Format = Annotated[
    Literal["text", "markdown", "latex", "csv"],
    typer.Option("--format", metavar="text|markdown|latex|csv", help="The form of the table."),
]

Seed = Annotated[int, typer.Option("--seed", metavar="N", help="The seed of everything random.")]

Threads = Annotated[
    int | None, typer.Option("--threads", metavar="N", help="Threads.", show_default="all processors of the process")
]

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")]

Refit = Annotated[
    bool,
    typer.Option(
        "--refit",
        help="Then learn once more from training and validation data together, as long as was best.",
    ),
]

Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Train on a Dask cluster, whose workers read the files: tcp://scheduler:8786.",
        show_default=False,
    ),
]

Workers = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", help="Train on a Dask cluster of N processes here.", show_default=False),
]

USUAL_MEASURES = ["NDCG@10"]  # where nobody says what to measure
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        "-m",
        metavar="MEASURE",
        help="What to measure, for example NDCG@10, ERR@10(max_grade=4) or NDCG@10:clicks; repeat for several.",
        show_default=", ".join(USUAL_MEASURES),
    ),
]

Imports = Annotated[
    list[Path] | None,
    typer.Option(
        "--import",
        metavar="FILE.py",
        help="Python file with measures or λ-functions of your own, then known by name.",
        show_default=False,
    ),
]

Ties = Annotated[
    str | None,
    typer.Option(
        "--ties",
        metavar="POLICY",
        help="Equal scores: stable (row order), expected, pessimistic, optimistic, or hashed (as training ranks them).",
        show_default="stable",
    ),
]

Preferences = Annotated[
    str | None,
    typer.Option(
        "--preferences",
        metavar="FILE",
        help="Measure the agreement with preferences (equal scores count one half unless --ties says otherwise): CSV "
        "or TSV with qid, better, worse and perhaps probability, weight.",
        show_default=False,
    ),
]

Blank = Annotated[
    str | None,
    typer.Option(
        "--blank",
        metavar="POLICY",
        help="Queries that no ranking can score on: skip, zero, one or raise.",
        show_default="skip",
    ),
]

Convention = Annotated[
    str | None,
    typer.Option(
        "--convention",
        metavar="TOOL",
        help="Compute as a tool does: trec, letor4, mslr, gdeval, lightgbm, xgboost, xgboost-, sklearn, catboost or "
        "ranklib; excludes --ties and --blank.",
        show_default=False,
    ),
]

Segments = Annotated[
    Path | None,
    typer.Option(
        "--segments",
        metavar="FILE",
        help="Segments of queries: a file with one query and its segment per line; each is also evaluated alone.",
        show_default=False,
    ),
]

Level = Annotated[float, typer.Option("--level", metavar="L", help="Of the intervals.")]

MissingQueries = Annotated[
    Literal["zero", "skip", "raise"],
    typer.Option(
        "--missing-queries",
        metavar="zero|skip|raise",
        help="Judged queries that a TREC run lacks: scored 0, left out, or refused.",
    ),
]

PerQuery = Annotated[
    Path | None,
    typer.Option("--per-query", metavar="OUT.csv", help="Also write the value of every query.", show_default=False),
]

Reading = Annotated[
    list[str] | None,
    typer.Option(
        "--read",
        metavar="NAME=VALUE",
        help="An option of rankforce.read for the data file, for example absent=missing, qid=query or weight=boost; "
        "repeatable.",
        show_default=False,
    ),
]

Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        metavar="COLUMN,...",
        help="Columns that hold categories, though they are numbers or hardly repeat: brand,colour; of LETOR text the "
        "numbers of features. Columns of text that repeat are categories unasked. Repeatable.",
        show_default=False,
    ),
]

Writing = Annotated[
    list[str] | None,
    typer.Option(
        "--write",
        metavar="NAME=VALUE",
        help="An option of writing the data file: label=grades chooses the label of LETOR text, weights=drop leaves "
        "weights out, unlabelled=allow writes nan; also absent, first_index; delimiter of CSV; repeatable.",
        show_default=False,
    ),
]

DATA_FILE_HELP = "Data file: LETOR text, Parquet or CSV; or a folder of files, or a quoted pattern."
FILES_HELP = "Data files: LETOR text, Parquet or CSV; also a folder of them, or a pattern."
DATA_HELP = "Data file (LETOR text, Parquet, CSV; - is standard input), a folder, a quoted pattern, or TREC qrels."
RANKING_HELP = "a file of scores, the name of a feature, a model file, or a TREC run."
QueryKey = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Queries with the same value here are one query.", show_default=False),
]
LogColumns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ROLE=COLUMN",
        help="The column for session, query, document, position or clicked, if called otherwise; repeatable.",
        show_default=False,
    ),
]
