"""``rankforce export``: a model as a file that a search engine or another library reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rankforce.cli import options, output
from rankforce.displayed_text import displayed_path

if TYPE_CHECKING:
    from rankforce.export.bundling import ExportedBundle


def export(
    model: Annotated[Path, typer.Argument(metavar="MODEL.json", help="A model file.")],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="ranklib, ltr-xgboost, ltr-xgboost-raw or ltr-linear (plugins of OpenSearch and Elasticsearch), solr, "
            "vespa, xgboost, lightgbm, onnx, ...: docs/export.md has all of them.",
            show_default=False,
        ),
    ],
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="ENGINE-RELEASE",
            help="What the file is for, as in opensearch-2.19 or elasticsearch-1.5.10 (the plugin's release): what "
            "cannot be right there is refused.",
            show_default=False,
        ),
    ] = None,
    missing: Annotated[
        Literal["zero", "nan"] | None,
        typer.Option(
            metavar="zero|nan",
            help="What a feature without a value was in training.",
            show_default="what the training data says",
        ),
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The engine's features in its order: a list of names, a plugin's feature set, or Solr's feature "
            "store.",
            show_default="the model's",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The model's name in the engine.", show_default="the file's name"),
    ] = None,
    shift: Annotated[
        bool, typer.Option("--shift", help="Add a constant so that no score is negative: engines refuse such scores.")
    ] = False,
    check: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="Compare the file with the model in the engine's own arithmetic: on this data file, and on rows made "
            "for every threshold.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Where to write.", show_default="standard output"),
    ] = None,
    bundle: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write a folder instead: the model, its features, requests that upload, log and rank, and a README "
            "with their curl lines. For OpenSearch, Elasticsearch, Solr and Vespa.",
            show_default=False,
        ),
    ] = None,
    read: options.Reading = None,
    json: options.Json = False,
) -> None:
    """Write a model for a search engine or another library.

    For OpenSearch, Elasticsearch, Solr, Vespa, RankLib, XGBoost, LightGBM and ONNX Runtime, by --to FORMAT.
    Thresholds are written so that no document changes its side. With --check, one that does leaves with exit code 1.
    """
    import rankforce as rf
    from rankforce.cli.failures import NEGATIVE_VERDICT
    from rankforce.cli.misplaced_files import load_model
    from rankforce.cli.reading import read_data
    from rankforce.cli.writing import check_output
    from rankforce.export.format import format_named

    target = format_named(to)
    if bundle is not None:
        if out is not None:
            raise rf.SettingsError("--out FILE and --bundle FOLDER: a bundle has its model inside, give one of the two")
        ranker = load_model(model)
        rows = None if check is None else read_data(check, read, like=ranker)
        made = rf.export_bundle(
            ranker, bundle, to, engine=engine, missing=missing, features=features, name=name, shift=shift,
            check=rows,
        )  # fmt: skip
        _show_bundle(made, json)
        return
    check_output(out, model, features, check)
    if out is None and (json or target.BINARY):
        raise rf.SettingsError(f"{'--json' if json else f'a file of {to!r}, which is no text,'} needs --out FILE")
    ranker = load_model(model)
    rows = None if check is None else read_data(check, read, like=ranker)
    exported = rf.export_model(
        ranker, out, to, engine=engine, missing=missing, features=features, name=name, shift=shift, check=rows
    )
    if out is None:
        output.write_line(exported.contents.decode().removesuffix("\n"))
    if json:
        output.show_json(exported.to_dict())
    else:
        for line in exported.notes:
            output.note(line)
        if exported.check is not None:
            (output.note if out is None else output.show)(str(exported.check))
        if out is not None:
            output.show(f"{displayed_path(out)}: {to}, {len(exported.contents):,} bytes, a missing value is "
                        f"{'0' if exported.missing == 'zero' else 'NaN'}")  # fmt: skip
    if exported.check is not None and not exported.check.passed:
        raise typer.Exit(NEGATIVE_VERDICT)


def _show_bundle(made: ExportedBundle, json: bool) -> None:
    from rankforce.cli.failures import NEGATIVE_VERDICT

    checked = made.exported.check
    if json:
        output.show_json(made.to_dict())
    else:
        for line in made.exported.notes:
            output.note(line)
        if checked is not None:
            output.show(str(checked))
        output.show(f"{displayed_path(made.folder)}: {made.name}; {', '.join(made.files)}")
    if checked is not None and not checked.passed:
        raise typer.Exit(NEGATIVE_VERDICT)
