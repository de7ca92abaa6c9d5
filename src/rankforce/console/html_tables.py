"""Small tables in HTML, for notebooks."""

from __future__ import annotations

import html
from collections.abc import Sequence


def html_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str]) -> str:
    """A table with its title above and its notes below."""
    heads = "".join(f'<th style="text-align:{_side(index)}">{html.escape(h)}</th>' for index, h in enumerate(header))
    body = "".join(
        "<tr>"
        + "".join(f'<td style="text-align:{_side(index)}">{html.escape(c)}</td>' for index, c in enumerate(row))
        + "</tr>"
        for row in rows
    )
    below = "".join(f"<div>{html.escape(note)}</div>" for note in notes)
    return (
        f"<div><strong>{html.escape(title)}</strong>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
        f'<div style="font-size:85%">{below}</div></div>'
    )


def _side(place: int) -> str:
    return "left" if place == 0 else "right"
