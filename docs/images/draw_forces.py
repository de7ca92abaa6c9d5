"""Draw forces.svg: one query's documents in ranked order, and the force that LambdaRank with NDCG puts on each.

    python docs/images/draw_forces.py

The arrows are not decoration: their lengths are the forces at the scores below, for the grades below.
"""

from __future__ import annotations

import math
from pathlib import Path

GRADES = [0, 3, 1, 0, 2, 0, 1]  # in ranked order
SCORES = [2.1, 1.7, 1.2, 0.6, 0.3, -0.4, -1.0]
COLOURS = {0: "#c9ced6", 1: "#9cc9c3", 2: "#4fa39a", 3: "#0f766e"}
UP, DOWN = "#0f766e", "#b45309"
WIDTH, HEIGHT, FIRST, STEP = 640, 336, 58, 38


def forces() -> list[float]:
    """Σ over pairs of different grade of |ΔNDCG| / (1 + e^{s_better − s_worse}): up for the better, else down."""
    gains = [2.0**grade - 1.0 for grade in GRADES]
    discounts = [1.0 / math.log2(rank + 2.0) for rank in range(len(GRADES))]
    ideal = sum(g * d for g, d in zip(sorted(gains, reverse=True), discounts, strict=True))
    result = [0.0] * len(GRADES)
    for i, better in enumerate(GRADES):
        for j, worse in enumerate(GRADES):
            if better > worse:
                change = abs((gains[i] - gains[j]) * (discounts[i] - discounts[j])) / ideal
                force = change / (1.0 + math.exp(SCORES[i] - SCORES[j]))
                result[i] += force
                result[j] -= force
    return result


def text(x: float, y: float, words: str, size: int = 13, anchor: str = "start", colour: str = "#475569") -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def picture() -> str:
    pulls = forces()
    scale = 86.0 / max(map(abs, pulls))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="system-ui, sans-serif" role="img" aria-label="Documents in ranked order, '
        'pushed up or down the list by forces">',
        "<defs>",
        *(
            f'<marker id="{name}" viewBox="0 0 10 10" refX="6" refY="5" markerWidth="5" markerHeight="5" '
            f'orient="auto"><path d="M0 0L10 5L0 10z" fill="{colour}"/></marker>'
            for name, colour in (("up", UP), ("down", DOWN))
        ),
        "</defs>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="#f8fafc"/>',
        text(40, 28, "rank"),
        text(112, 28, "document, darker = more relevant"),
        text(600, 28, "force on its score", anchor="end"),
    ]
    for place, (grade, pull) in enumerate(zip(GRADES, pulls, strict=True)):
        y = FIRST + STEP * place
        middle = 470
        end = middle + scale * pull
        name, colour = ("up", UP) if pull > 0 else ("down", DOWN)
        ink = "#ffffff" if grade > 1 else "#334155"
        parts += [
            text(52, y + 5, str(place + 1), anchor="middle"),
            f'<line x1="130" y1="{y}" x2="600" y2="{y}" stroke="#e2e8f0"/>',
            f'<circle cx="130" cy="{y}" r="14" fill="{COLOURS[grade]}"/>',
            text(130, y + 5, str(grade), anchor="middle", colour=ink),
            text(156, y - 4, f"s = {SCORES[place]:.1f}", size=11, colour="#94a3b8"),
            f'<line x1="{middle}" y1="{y}" x2="{end:.1f}" y2="{y}" stroke="{colour}" stroke-width="3.5" '
            f'marker-end="url(#{name})"/>',
        ]
    bottom = FIRST + STEP * len(GRADES) - 8
    parts += [
        f'<line x1="470" y1="{FIRST - 18}" x2="470" y2="{bottom - 12}" stroke="#94a3b8" stroke-dasharray="3 4"/>',
        text(462, bottom + 8, "down the list", anchor="end", colour=DOWN),
        text(478, bottom + 8, "up the list", colour=UP),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("forces.svg").write_text(picture())
