"""The mean of a measure against the share of a ranker: constant on pieces."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import numpy as np

from rankforce.console.figures import check_picture, new_figure, save_picture
from rankforce.errors import DataError

BLOCKS = " ▁▂▃▄▅▆▇█"


@dataclasses.dataclass(frozen=True, eq=False)
class Curve:
    """Open pieces (``starts``, ``ends``), rising, and the mean on each: ``lows`` = ``highs``.

    Pieces too narrow for float64 are left out. Where there were more than a million pieces the curve is drawn in
    cells, ``exact`` is False, and ``lows`` and ``highs`` are the extremes within each cell. ``axis`` is "alpha", the
    share of the second ranker, or "theta", the angle of cos θ·s + sin θ·t in radians.
    """

    axis: str
    starts: np.ndarray
    ends: np.ndarray
    lows: np.ndarray
    highs: np.ndarray

    @property
    def exact(self) -> bool:
        return bool(np.array_equal(self.lows, self.highs))

    def __len__(self) -> int:
        return len(self.starts)

    def at(self, place: float) -> float:
        """The mean at a place within a piece; an error where two pieces meet."""
        piece = int(np.searchsorted(self.starts, place, side="left")) - 1
        if piece < 0 or not place < self.ends[piece]:
            raise DataError(f"{self.axis} = {place!r} lies in no piece of the curve, or where two of them meet")
        if self.lows[piece] != self.highs[piece]:
            raise DataError("the curve has too many pieces to be kept one by one: it has no single value here")
        return float(self.highs[piece])

    def picture(self, columns: int = 60, rows: int = 8) -> str:
        """The curve in text: in each column the highest value within it."""
        right = self.right
        edges = np.linspace(self.starts[0], right, columns + 1)
        heights = np.array(
            [
                self.highs[(self.starts < high) & (self.ends > low)].max(initial=-np.inf)
                for low, high in itertools.pairwise(edges)
            ]
        )
        finite = heights[np.isfinite(heights)]
        bottom, top = float(finite.min()), float(finite.max())
        span = top - bottom
        filled = np.where(np.isfinite(heights), (heights - bottom) / span if span > 0.0 else 0.5, 0.0)
        eighths = np.rint(filled * (8 * rows - 1)).astype(int) + 1
        lines = []
        for row in range(rows - 1, -1, -1):
            label = f"{top:.4f}" if row == rows - 1 else f"{bottom:.4f}" if row == 0 else ""
            cells = "".join(BLOCKS[int(np.clip(height - 8 * row, 0, 8))] for height in eighths)
            lines.append(f"{label:>8} ┤{cells}".rstrip())
        left_text, right_text = f"{self.starts[0]:.3g}", f"{right:.3g}"
        lines.append(f"{'':9}└{'─' * columns}")
        lines.append(f"{'':10}{left_text}{self.axis:^{columns - len(left_text) - len(right_text)}}{right_text}")
        return "\n".join(lines)

    def plot(
        self, path: str | Path | None = None, *, mark: float | None = None, title: str = "", label: str = ""
    ) -> Any:
        """Draw the curve, with a line at ``mark``; returns matplotlib's axes. Needs matplotlib.

        With a path it is also written into a picture file (the format by its ending).
        """
        if path is not None:
            check_picture(path)
        figure = new_figure(shown=path is None, figsize=(7.0, 4.0))
        axes = figure.subplots()
        right = self.right
        ends = np.minimum(self.ends, right)
        places = np.column_stack([self.starts, ends]).ravel()
        for values in (self.lows,) if self.exact else (self.lows, self.highs):
            axes.plot(places, np.repeat(values, 2), linewidth=1.0, color="tab:blue")
        if mark is not None:
            axes.axvline(mark, color="tab:red", linewidth=0.8)
        axes.set_xlim(self.starts[0], right)
        axes.set_xlabel({"alpha": "α, share of the second ranker", "theta": "θ"}[self.axis])
        axes.set_ylabel(label)
        axes.set_title(title)
        if path is not None:
            save_picture(figure, path)
        return axes

    @property
    def right(self) -> float:
        """Where a picture ends: where the last bounded piece does, within reason."""
        if np.isfinite(self.ends[-1]):
            return float(self.ends[-1])
        return max(3.0, min(float(self.starts[-1]) * 1.1, 10.0))
