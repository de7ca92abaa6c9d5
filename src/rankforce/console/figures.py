"""Files of pictures that matplotlib draws: what can be written is found out before anything is computed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rankforce.errors import SettingsError, missing_dependency
from rankforce.files.atomic_writes import atomic_write, check_replaceable


def figure_class() -> Any:
    """matplotlib's Figure, which needs no display."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise missing_dependency("matplotlib", "plot", "a picture") from None
    return Figure


def new_figure(*, shown: bool, figsize: tuple[float, float]) -> Any:
    """A figure: one that pyplot and notebooks show, or one that only goes into a file and needs no display."""
    figure = figure_class()
    if not shown:
        return figure(figsize=figsize, layout="constrained")
    import matplotlib.pyplot as plt

    return plt.figure(figsize=figsize, layout="constrained")


def check_picture(path: str | os.PathLike[str]) -> None:
    """Refuse a file that matplotlib cannot write: by its ending, or because its folder is missing."""
    kinds = sorted(figure_class()().canvas.get_supported_filetypes())
    kind = Path(path).suffix
    if kind.removeprefix(".").lower() not in kinds:
        raise SettingsError(
            f"{path}: a picture is drawn as .{', .'.join(kinds)}, not as {kind or 'nothing'!r}: end the name in .png"
        )
    check_replaceable(path, SettingsError)


def save_picture(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure into a file whose ending says the format, whole or not at all."""
    check_picture(path)
    with atomic_write(path, SettingsError) as file:
        figure.savefig(file, format=Path(path).suffix.removeprefix(".").lower())
