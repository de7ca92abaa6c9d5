"""``rankforce bin``: data larger than memory, as a store that trees can be trained on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankforce.cli import options, output
from rankforce.console.wording import counted
from rankforce.displayed_text import displayed_path


def bin(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA", help="Data files, in the order of their rows; folders and patterns are expanded."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="STORE", help="The folder to write, ending in .bins.")],
    like: Annotated[
        Path | None,
        typer.Option(
            metavar="STORE", help="Bin at the thresholds of this store: for validation data.", show_default=False
        ),
    ] = None,
    max_bins: Annotated[
        int, typer.Option(metavar="N", help="At most so many bins per feature, as of the ranker.", min=2, max=255)
    ] = 255,
    memory: Annotated[str, typer.Option(metavar="SIZE", help="What may be taken of the memory, about.")] = "2 GB",
    check: Annotated[bool, typer.Option("--check", help="Read the whole store again and compare its digests.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace STORE if it exists.")] = False,
    read: options.Reading = None,
    categorical: options.Categorical = None,
    json: options.Json = False,
) -> None:
    """Bin data that may be larger than memory.

    Two passes over the files: one for queries, labels and thresholds, one for the bins. The store is a folder that
    every command takes as data: train learns from it the same model, bit for bit, as from the files.
    """
    import rankforce as rf
    from rankforce.cli.reading import input_file, reading_options
    from rankforce.errors import SettingsError
    from rankforce.memory import written_size

    if out.exists() and not force:
        raise SettingsError(f"{displayed_path(out)} exists already; use --force to overwrite it")
    files = [input_file(one) for one in data]
    store = rf.bin(files, out, like=like, max_bins=max_bins, memory=memory, **reading_options(read, categorical))
    if check:
        store.check()
    size = store.bins.rows.nbytes
    report = {
        "store": str(out),
        "documents": store.n_documents,
        "queries": store.n_queries,
        "features": store.n_features,
        "labels": list(store.labels),
        "categories": {name: len(listed) for name, listed in store.categories.items()},
        "bytes": size,
        "fingerprint": store.fingerprint,
    }
    if json:
        output.show_json(report)
        return
    output.show(
        f"{displayed_path(out)}: {counted(store.n_documents, 'document')}, {counted(store.n_queries, 'query')}, "
        f"{counted(store.n_features, 'feature')}; {written_size(size)} of bins"
    )
