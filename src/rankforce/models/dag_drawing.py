"""A ranking graph as text, in Graphviz's language and as SVG."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from rankforce.displayed_text import displayed

if TYPE_CHECKING:
    from rankforce.models.dag import RankingGraph

COLUMN, ROW, MARGIN, RADIUS = 46, 64, 40, 14  # pixels


def to_text(graph: RankingGraph) -> str:
    """One line per test, then one per place of the frontier, the best first."""
    lines = []
    for k in range(graph.n_tests):
        left, right = _named(int(graph.left[k])), _named(int(graph.right[k]))
        missing = left if graph.missing_left[k] else right
        lines.append(f"test {k}: {_question(graph, k)}? {left} : {right}; missing: {missing}")
    lines.append("frontier, best first:")
    for place, documents in enumerate(graph.documents.tolist()):
        lines.append(f"  place {place}: {documents:,} training documents")
    return "\n".join(lines) + "\n"


def to_dot(graph: RankingGraph) -> str:
    """Tests as boxes, the frontier as a row of circles in its order; dashed is where missing values go."""
    lines = ["digraph ranking {", "  node [fontsize=10];"]
    for k in range(graph.n_tests):
        label = _question(graph, k).replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'  t{k} [shape=box, label="{label}"];')
    places = [f"p{place}" for place in range(graph.n_places)]
    for place, documents in enumerate(graph.documents.tolist()):
        lines.append(f'  p{place} [shape=circle, label="{place}", tooltip="{documents} training documents"];')
    for k in range(graph.n_tests):
        for name, child in (("yes", int(graph.left[k])), ("no", int(graph.right[k]))):
            style = ", style=dashed" if (name == "yes") == bool(graph.missing_left[k]) else ""
            end = f"t{child}" if child >= 0 else f"p{~child}"
            lines.append(f'  t{k} -> {end} [label="{name}"{style}];')
    lines.append(f"  {{ rank=same; {' -> '.join(places)} [style=invis]; }}")
    lines.append("}")
    return "\n".join(lines) + "\n"


def to_svg(graph: RankingGraph) -> str:
    """Tests in levels from the top, the frontier in its order at the bottom, the best place on the left.

    Pointing at a node shows its test, or its number of training documents. Blue goes left (x <= threshold), red right.
    """
    x, y = _layout(graph)
    width, height = MARGIN * 2 + COLUMN * max(graph.n_places - 1, 1), float(y.max()) + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" font-family="sans-serif" font-size="10" text-anchor="middle">',
    ]
    tests = graph.n_tests
    for k in range(tests):
        for child, colour in ((int(graph.left[k]), "#36c"), (int(graph.right[k]), "#c33")):
            end = child if child >= 0 else tests + ~child
            parts.append(
                f'<line x1="{x[k]:.1f}" y1="{y[k]:.1f}" x2="{x[end]:.1f}" y2="{y[end]:.1f}" stroke="{colour}"/>'
            )
    for k in range(tests):
        title = f"test {k}: {_question(graph, k)}"
        name = graph.feature_names[graph.feature[k]]
        parts.append(
            f'<g><title>{escape(title)}</title><circle cx="{x[k]:.1f}" cy="{y[k]:.1f}" r="{RADIUS}" fill="#fff" '
            f'stroke="#333"/><text x="{x[k]:.1f}" y="{y[k] + 3:.1f}">{escape(displayed(name[:6]))}</text></g>'
        )
    for place, documents in enumerate(graph.documents.tolist()):
        node = tests + place
        parts.append(
            f"<g><title>place {place}: {documents:,} training documents</title>"
            f'<rect x="{x[node] - RADIUS:.1f}" y="{y[node] - RADIUS:.1f}" width="{2 * RADIUS}" height="{2 * RADIUS}" '
            f'fill="#eee" stroke="#333"/><text x="{x[node]:.1f}" y="{y[node] + 3:.1f}">{place}</text></g>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _layout(graph: RankingGraph) -> tuple[np.ndarray, np.ndarray]:
    """(x, y) of the tests, then of the places. A test stands over the middle of the places it leads to."""
    tests, places = graph.n_tests, graph.n_places
    x = np.empty(tests + places)
    x[tests:] = MARGIN + COLUMN * np.arange(places)
    level = np.zeros(tests + places, dtype=np.int64)
    ends = [np.where(side >= 0, side, tests + ~side.astype(np.int64)) for side in (graph.left, graph.right)]
    for k in range(tests):
        for end in ends:
            level[end[k]] = max(level[end[k]], level[k] + 1)
    for k in range(tests - 1, -1, -1):
        x[k] = (x[ends[0][k]] + x[ends[1][k]]) / 2
    level[tests:] = level.max()
    return x, MARGIN + ROW * level.astype(np.float64)


def _question(graph: RankingGraph, k: int) -> str:
    name = displayed(graph.feature_names[graph.feature[k]])
    if graph.threshold[k] == np.finfo(np.float32).max:
        return f"{name} is known"
    return f"{name} <= {graph.threshold[k]!s}"


def _named(child: int) -> str:
    return f"test {child}" if child >= 0 else f"place {~child}"
