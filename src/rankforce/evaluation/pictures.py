"""Figures in files: whole or not at all, the format by the ending of the name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rankforce.errors import SettingsError
from rankforce.replacing import replacing


def save_figure(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure of matplotlib to a file; without an ending it is a PNG picture."""
    ending = Path(path).suffix.removeprefix(".").lower() or "png"
    known = figure.canvas.get_supported_filetypes()
    if ending not in known:
        raise SettingsError(f"{path}: a picture cannot be a .{ending} file: choose one of {', '.join(sorted(known))}")
    with replacing(path) as file:
        figure.savefig(file, format=ending)
