"""``rankforce inspect``: what is in a file, and what in it will mislead; what a model is."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated

import typer

from rankforce.cli import failures, options, output


def inspect(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Data files (several are compared: no query may be in two) or models."),
    ],
    strict: Annotated[bool, typer.Option("--strict", help="Leave with exit code 1 if anything is suspicious.")] = False,
    read: options.Reading = None,
    json: options.Json = False,
) -> None:
    """Report what is in data files and models.

    Data: sizes, labels and features, and what will mislead: a feature that gives the answer away, rows sorted by
    grade, a query in two files, blank queries, duplicates, features that never vary. Each finding comes with its
    remedy.

    A model: its settings, the data it was trained on, its history, the importance and range of each feature, versions.
    """
    import rankforce as rf
    from rankforce.cli.reading import reading_options
    from rankforce.diagnostics.model_card import model_card
    from rankforce.diagnostics.shared_queries import shared_queries
    from rankforce.models.storage import is_model_file

    chosen = reading_options(read)
    reports = {}
    data = {}
    models = {}
    for path in files:
        if is_model_file(path):
            models[str(path)] = model_card(rf.load(path))
            continue
        data[str(path)] = rf.read(path, **chosen)
        reports[str(path)] = rf.inspect(data[str(path)])
    shared = [shared_queries(data[a], data[b], (a, b)) for a, b in itertools.combinations(data, 2)]
    findings = [finding for report in (*reports.values(), *shared) for finding in report.findings]
    if json:
        output.show_json(
            {
                "files": {name: report.to_dict() for name, report in reports.items()},
                "shared_queries": [one.to_dict() for one in shared],
                "models": {name: card.to_dict() for name, card in models.items()},
            }
        )
    else:
        for name, card in models.items():
            output.show(f"{name}\n", str(card) + "\n")
        for name, report in reports.items():
            output.show(f"{name}\n", str(report) + "\n")
        for one in shared:
            for finding in one.findings:
                output.show(f"! {finding}")
            if not one.findings:
                output.show(f"{one.first} and {one.second} share no query.")
    if strict and findings:
        raise typer.Exit(failures.NEGATIVE_VERDICT)
