"""``rankforce inspect``: what is in a file, and what in it will mislead."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated

import typer

from rankforce.cli import failures, options, output


def inspect(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Data files; several are compared: no query may be in two.")
    ],
    strict: Annotated[bool, typer.Option("--strict", help="Leave with exit code 1 if anything is suspicious.")] = False,
    read: options.Reading = None,
    json: options.Json = False,
) -> None:
    """Report what is in data files.

    Sizes, labels and features, and what will mislead: a feature that gives the answer away, rows sorted by grade,
    a query in two files, blank queries, duplicates, features that never vary. Each finding comes with its remedy.
    """
    import rankforce as rf
    from rankforce.cli.reading import reading_options
    from rankforce.diagnostics.shared_queries import shared_queries

    chosen = reading_options(read)
    reports = {}
    data = {}
    for path in files:
        data[str(path)] = rf.read(path, **chosen)
        reports[str(path)] = rf.inspect(data[str(path)])
    shared = [shared_queries(data[a], data[b], (a, b)) for a, b in itertools.combinations(data, 2)]
    findings = [finding for report in (*reports.values(), *shared) for finding in report.findings]
    if json:
        output.show_json(
            {
                "files": {name: report.to_dict() for name, report in reports.items()},
                "shared_queries": [one.to_dict() for one in shared],
            }
        )
    else:
        for name, report in reports.items():
            output.show(f"{name}\n", str(report) + "\n")
        for one in shared:
            for finding in one.findings:
                output.show(f"! {finding}")
            if not one.findings:
                output.show(f"{one.first} and {one.second} share no query.")
    if strict and findings:
        raise typer.Exit(failures.NEGATIVE_VERDICT)
