"""Options that several commands share, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output instead of text.")]

Measures = Annotated[
    list[str],
    typer.Option(
        "--measure",
        "-m",
        help="A measure, as NAME[@cutoff][(parameter=value,...)][:label]; repeat for several.",
        show_default=True,
    ),
]

Imports = Annotated[
    list[Path],
    typer.Option(
        "--import", help="A Python file with measures of your own, then known by name to -m.", show_default=False
    ),
]

Seed = Annotated[int, typer.Option("--seed", help="The seed of everything random.")]
