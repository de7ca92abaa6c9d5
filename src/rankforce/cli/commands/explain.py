"""``rankforce explain``: why a document has its score, or stands above another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rankforce.cli import options, output


def explain(
    model: Annotated[Path, typer.Argument(metavar="MODEL.json", help="A model file.")],
    data: Annotated[str, typer.Argument(metavar="DATA", help=options.DATA_FILE_HELP)],
    query: Annotated[
        str | None,
        typer.Option("--query", metavar="ID", help="Explain the documents of this query.", show_default="all queries"),
    ] = None,
    document: Annotated[
        str | None,
        typer.Option(
            "--document",
            metavar="ID",
            help="Explain one document of the query: its id, or its row (from 0) if there are no ids.",
            show_default=False,
        ),
    ] = None,
    pair: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--pair",
            metavar="A B",
            help="Explain why document A of the query stands above B, and what would swap them.",
            show_default=False,
        ),
    ] = None,
    background: Annotated[
        str | None,
        typer.Option(
            "--background",
            metavar="N|FILE",
            help="Compare with N documents drawn from the data, or with those of a data file.",
            show_default="the training documents, by the counts in the trees",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="OUT.csv", help="Also write the contributions of every document.", show_default=False
        ),
    ] = None,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    read: options.Reading = None,
    json: options.Json = False,
) -> None:
    """Say what each feature contributes to scores.

    Contributions add up: with the base to the score of a document, of a pair to the difference of the two scores.

    Without --document and --pair the documents of a query × features, without --query a summary of all documents:
    the mean size of each feature's contributions.
    """
    import rankforce as rf
    from rankforce.cli.misplaced_files import load_model
    from rankforce.cli.reading import read_data
    from rankforce.cli.writing import check_output, write_contributions

    check_output(out, model, data, background)
    if out is not None and (document is not None or pair is not None):
        raise rf.SettingsError("--out writes a table of documents: leave --document and --pair out")
    if pair is not None and (document is not None or background is not None):
        raise rf.SettingsError("a pair is compared with itself: leave --document and --background out")
    loaded = load_model(model)
    documents = read_data(data, read, like=loaded)
    asked: dict[str, Any] = {"query": None if query is None else _typed(query, documents.query_ids), "threads": threads}
    ids = documents.document_ids
    if document is not None:
        asked["document"] = _typed(document, ids)
    if pair is not None:
        asked["pair"] = tuple(_typed(one, ids) for one in pair)
    else:
        asked |= {"background": _background(background, read, loaded), "seed": seed}
    result: Any = rf.explain(loaded, documents, **asked)
    if out is not None:
        write_contributions(out, result)
    if json:
        output.show_json({"model": str(model), "data": data} | result.to_dict())
    else:
        output.show(str(result))


def _typed(word: str, ids: Any) -> int | str:
    """A word of the command line as an id: a number where ids are numbers, or where rows are counted."""
    number = word.removeprefix("-").isdecimal() and (ids is None or ids.dtype.kind in "iu")
    return int(word) if number else word


def _background(written: str | None, read: list[str] | None, model: Any) -> Any:
    from rankforce.cli.reading import read_data

    if written is None or written.isdecimal():
        return None if written is None else int(written)
    return read_data(written, read, like=model)
