"""``rankforce inspect``: what is in a file, and what in it will mislead; what a model is."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from rankforce.cli import failures, options, output
from rankforce.displayed_text import displayed_path
from rankforce.errors import SettingsError


def inspect(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="Data files, or folders or quoted patterns of files that are read as one (several are compared: no "
            "query may be in two), or models.",
            show_default=False,
        ),
    ] = None,
    forces: Annotated[
        str | None,
        typer.Option(
            metavar="NAME(PARAMETER=VALUE)",
            help="Check a λ-function instead: do its forces derive from a cost?",
            show_default=False,
        ),
    ] = None,
    measure: Annotated[
        str, typer.Option("--measure", "-m", metavar="MEASURE", help="With --forces: the measure it sees.")
    ] = "NDCG",
    train: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Training data, of a model that keeps no distribution of it.", show_default=False
        ),
    ] = None,
    held_out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Data that the model did not learn from, to compare scores with.",
            show_default="what the model keeps of its validation data",
        ),
    ] = None,
    former: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="Also tell how many pairs change places since it.", show_default=False),
    ] = None,
    alpha: Annotated[float, typer.Option(metavar="P", help="How probable a false alarm of drift may be.")] = 0.05,
    fail_on: Annotated[
        Literal["shifted", "drifted"] | None,
        typer.Option(
            "--fail-on",
            metavar="shifted|drifted",
            help="Leave with exit code 1 if data has drifted (or at least shifted).",
            show_default=False,
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Leave with exit code 1 if anything is suspicious.")] = False,
    imports: options.Imports = None,
    read: options.Reading = None,
    categorical: options.Categorical = None,
    json: options.Json = False,
) -> None:
    """Report what is in data files and models.

    Data: sizes, labels and features, and what will mislead: a feature that gives the answer away, rows sorted by
    grade, a query in two files, blank queries, duplicates, features that never vary. Each finding comes with its
    remedy.

    A model: its settings, the data it was trained on, its history, the importance and range of each feature, versions.

    A model and data files: also whether they are still like the data it was trained on (drift): range, missing values,
    PSI and KS of each feature with what chance does, categories, scores; --former tells what changes places.

    A λ-function (--forces): sum and symmetry of its forces, curvature, circulation where documents change places; a
    convex cost, a cost, a cost only between changes of order, or no cost.
    """
    if forces is not None:
        if files:
            raise SettingsError("--forces checks a λ-function, not a file: leave the files out")
        _inspect_forces(forces, measure, imports, json)
        return
    if not files:
        raise SettingsError("name at least one file, or a λ-function with --forces")
    import rankforce as rf
    from rankforce.cli.drift_reports import DriftReports
    from rankforce.cli.reading import read_data
    from rankforce.importing.recognising import looks_like_model
    from rankforce.inspection.model_card import model_card
    from rankforce.inspection.shared_queries import shared_queries

    reports = {}
    data = {}
    models = {}
    drifts = DriftReports(train, held_out, former, alpha, fail_on, read)
    for number, path in enumerate(files):
        name = f"{path} again" if path in files[:number] else str(path)
        if looks_like_model(path):
            model = rf.load(path)
            drifts.models.append(model)
            models[name] = model_card(model)
            continue
        data[name] = read_data(path, read, categorical=categorical, say_origins=False)
        reports[name] = rf.inspect(data[name])
    drifted = drifts.of(data)
    overlaps = [shared_queries(data[a], data[b], (a, b)) for a, b in itertools.combinations(data, 2)]
    everything: list[Any] = [*reports.values(), *overlaps]
    findings = [finding for report in everything for finding in report.findings]
    if json:
        output.show_json(
            {
                "files": {name: report.to_dict() for name, report in reports.items()},
                "shared_queries": [overlap.to_dict() for overlap in overlaps],
                "models": {name: card.to_dict() for name, card in models.items()},
                "drift": {name: one.to_dict() for name, one in drifted.items()},
            }
        )
    else:
        for name, card in models.items():
            output.show(f"{displayed_path(name)}\n", str(card) + "\n")
        for name, report in reports.items():
            output.show(f"{displayed_path(name)}\n", str(report) + "\n")
        for overlap in overlaps:
            for finding in overlap.findings:
                output.show(f"! {finding}")
            if not overlap.findings:
                output.show(f"{displayed_path(overlap.first)} and {displayed_path(overlap.second)} share no query.")
        for name, one in drifted.items():
            output.show(f"{displayed_path(name)}, against the training data of the model\n")
            output.show_result(one)
    if (strict and findings) or drifts.failed(drifted):
        raise typer.Exit(failures.NEGATIVE_VERDICT)


def _inspect_forces(lambda_function: str, measure: str, imports: list[Path] | None, json: bool) -> None:
    import rankforce as rf
    from rankforce.cli.own_measures import import_measures

    import_measures(imports or ())
    found = rf.diagnostics.check_forces(lambda_function, measure)
    if json:
        output.show_json(found.to_dict())
    else:
        output.show(str(found))
