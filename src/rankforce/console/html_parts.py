"""What notebooks show, piece by piece: paragraphs, tables, small curves, on light pages and on dark ones.

Text has the colour of the page, and nothing sets a background: what a page looks like is its theme's to say, and what
the operating system prefers says nothing about it (a white page of Jupyter on a dark desktop). Curves and marks have
colours of middling lightness, four times as far from white as WCAG counts it, and as far from the black of JupyterLab
and Visual Studio Code. They are told apart by their dashes and shapes, too. All of it stands in attributes: notebooks
that are not trusted, mails and GitHub drop style sheets.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence

from rankforce.console.sparklines import thinned
from rankforce.displayed_text import displayed, displayed_lines

WIDTH, HEIGHT, EDGE = 320, 96, 4  # of a curve, in pixels
COLOURS = ("#1C7FC0", "#C75A10", "#0A8A64", "#A6659A")  # of curves
_DASHES = ("", "5 3", "1 3", "8 3 1 3")


def heading(text: str) -> str:
    return f"<strong>{html.escape(displayed(text))}</strong>"


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Names and values, one below the other."""
    cells = "".join(
        f'<tr><td style="text-align:left;opacity:0.7">{html.escape(displayed(name))}</td>'
        f'<td style="text-align:left">{html.escape(displayed(value))}</td></tr>'
        for name, value in pairs
    )
    return f"<table><tbody>{cells}</tbody></table>" if pairs else ""


def small(*lines: str) -> str:
    """Small print."""
    return "".join(f'<div style="font-size:85%">{html.escape(displayed_lines(line))}</div>' for line in lines if line)


def block(*parts: str) -> str:
    return "<div>" + "".join(parts) + "</div>"


def unfolded(summary: str, content: str) -> str:
    """What is only seen when it is asked for."""
    return f"<details><summary>{html.escape(displayed(summary))}</summary>{content}</details>"


def curves(values: Mapping[str, Sequence[float]], title: str) -> str:
    """Curves over 1, 2, 3 … as a small drawing with the lowest and the highest value and the names beside it."""
    known = {name: list(map(float, heights)) for name, heights in values.items()}
    finite = [height for heights in known.values() for height in heights if math.isfinite(height)]
    length = max(map(len, known.values()), default=0)
    if not finite or length < 2:
        return ""
    low, high = min(finite), max(finite)
    span = (high - low) or 1.0
    lines, names = [], []
    for number, (name, heights) in enumerate(known.items()):
        points = " ".join(
            f"{EDGE + (WIDTH - 2 * EDGE) * place / (length - 1):.2f},"
            f"{HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (heights[place] - low) / span:.2f}"
            for place in thinned(len(heights), WIDTH)  # a point per pixel
            if math.isfinite(heights[place])
        )
        dashes = _DASHES[number % len(_DASHES)]
        colour = COLOURS[number % len(COLOURS)]
        style = f'fill="none" stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dashes}"'
        lines.append(f'<polyline points="{points}" {style}/>')
        words = {"": "solid", "5 3": "dashed", "1 3": "dotted", "8 3 1 3": "dash-dotted"}[dashes]
        text = f"{displayed(name)} ({words}): {heights[-1]:.4f}" if heights else displayed(name)
        names.append(f'<span style="color:{colour}">■</span> {html.escape(text)}')
    drawing = (
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{html.escape(displayed(title), quote=True)}">'
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" fill="none" stroke="currentColor" '
        f'stroke-opacity="0.25"/>{"".join(lines)}</svg>'
    )
    return block(
        f"<div>{html.escape(displayed(title))}</div>",
        drawing,
        small(f"{low:.4f} to {high:.4f}, {length} iterations"),
        f'<div style="font-size:85%">{" &nbsp; ".join(names)}</div>',
    )
