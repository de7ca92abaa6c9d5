"""The λ's as arrows on the ranked list of a query."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.data.dataset_columns import MAIN_LABEL
from rankforce.diagnostics.document_forces import DocumentForces
from rankforce.displayed_text import displayed
from rankforce.plot.canvas import BETTER, WORSE, Canvas, plain, wrong_kind

MOST_DOCUMENTS = 40  # arrows below are too near to each other to be read
LONGEST = 0.25  # of the range of scores


def forces(of: Any, query: Any = None, *, ax: Any = None, path: Any = None) -> Any:
    """The ranked documents of a query at their scores, each with its force: to the right it is pushed up.

    of : what ``rf.forces_at`` gave
    query : its id; the one with the largest forces if left out

    The longest arrow spans a quarter of the scores; of long lists the first 40 documents are drawn.
    """
    if not isinstance(of, DocumentForces):
        raise wrong_kind(of, "the forces that rf.forces_at(data, scores) gives")
    data = of.data
    q = of.strongest_query if query is None else of.query_number(query)
    rows = data.rows[data.query_starts[q] : data.query_starts[q + 1]]
    rows = rows[np.argsort(of.ranks[rows])][:MOST_DOCUMENTS]
    canvas = Canvas(ax, path, figsize=(7.0, 1.6 + 0.26 * len(rows)))
    scores, pulls, ranks = of.scores[rows], of.forces[rows], of.ranks[rows]
    span = float(np.ptp(scores)) or 1.0
    largest = float(np.abs(pulls).max()) or 1.0
    lengths = pulls * (LONGEST * span / largest)
    canvas.axes.plot(scores, ranks, "o", color="black", markersize=4)
    canvas.axes.quiver(
        scores,
        ranks,
        lengths,
        np.zeros(len(rows)),
        angles="xy",
        scale_units="xy",
        scale=1.0,
        width=0.004,
        color=np.where(pulls > 0.0, BETTER, WORSE).tolist(),
    )
    labels = data.labels.get(MAIN_LABEL)
    names = rows if data.document_ids is None else data.document_ids[rows]
    grades = ["" if labels is None or np.isnan(labels[row]) else f", label {labels[row]:g}" for row in rows]
    canvas.axes.set_yticks(ranks, [plain(f"{name}{grade}") for name, grade in zip(names, grades, strict=True)])
    canvas.axes.set_ylim(len(rows) + 0.7, 0.3)  # rank 1 on top
    canvas.axes.set_xlim(scores.min() - 1.3 * LONGEST * span, scores.max() + 1.3 * LONGEST * span)
    canvas.axes.set_xlabel("score; an arrow to the right pushes up")
    return canvas.finish(
        f"Forces of {of.measure} on query {displayed(data.query_ids[q])}",
        [f"{of.source}; largest |λ| {largest:.3g}"],
    )
