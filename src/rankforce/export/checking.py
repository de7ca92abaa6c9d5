"""A written file checked: read back as the engine reads it, scored in its arithmetic, compared with the model."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.export.adversarial_rows import mixed_rows, rows_of_tree
from rankforce.export.emulation import EmulatedTree, EmulatedTrees, less_or_equal, reached
from rankforce.export.engines import MissingAs
from rankforce.export.format import Format, Prepared
from rankforce.export.forms import AdditiveTrees, Form, ScaledTree
from rankforce.models.exported import ExportCheck
from rankforce.models.model import Model

MIXED_ROWS = 500


def check_written(
    model: Model, target: Format, prepared: Prepared, written: bytes, suffix: str, rows: Any = None
) -> ExportCheck:
    """Compare a file with its model on rows that are made, and on those that are given."""
    emulated = target.read(written, prepared, suffix)
    changed, made = None, 0
    if isinstance(prepared.form, AdditiveTrees) and isinstance(emulated, EmulatedTrees):
        changed, made = _changed_leaves(prepared.form, emulated, model.n_features, target.DOUBLE)
    counts = {place: len(model.categories.get(model.feature_names[place], ())) for place in prepared.categorical}
    mixed = mixed_rows(prepared.form, model.n_features, MIXED_ROWS, counts)
    difference, largest = _difference(model, target, prepared, mixed, emulated.scores(mixed))
    reordered = tied = neighbours = given_rows = 0
    if rows is not None:
        given = model.matrix(rows)
        given_rows = len(given)
        scores = emulated.scores(given)
        beside, most = _difference(model, target, prepared, given, scores)
        difference, largest = max(difference, beside), max(largest, most)
        queries = rows.row_queries if isinstance(rows, Dataset) else np.zeros(given_rows, dtype=np.int64)
        reordered, tied, neighbours = _neighbours(_model_scores(model, prepared, given), scores, queries)
        if changed is not None:
            changed += _changed_on(prepared.form, emulated, given)
    return ExportCheck(
        format=target.NAME,
        engine="the engine" if prepared.reader is None else str(prepared.reader),
        made_rows=made + len(mixed),
        given_rows=given_rows,
        changed_leaves=changed,
        largest_difference=difference,
        tolerance=_tolerance(prepared.form, largest),
        largest_score=largest,
        reordered=reordered,
        tied=tied,
        neighbours=neighbours,
    )


def _model_scores(model: Model, prepared: Prepared, rows: np.ndarray) -> np.ndarray:
    """The model's own scores, of rows whose missing values are what they mean."""
    rows = rows.astype(np.float32)
    if prepared.missing == "zero":
        known = np.nan_to_num(rows, nan=0.0)
        known[:, prepared.categorical] = rows[:, prepared.categorical]  # a missing category is not category 0
        rows = known
    return model.predict(rows)


def _difference(
    model: Model, target: Format, prepared: Prepared, rows: np.ndarray, scores: np.ndarray
) -> tuple[float, float]:
    """(largest difference between the engine's scores and what they should be, largest score)."""
    expected = target.expected(_model_scores(model, prepared, rows), prepared)
    return float(np.abs(scores - expected).max(initial=0.0)), float(np.abs(expected).max(initial=0.0))


def _tolerance(form: Form, largest: float) -> float:
    """What rounding can do: n additions of float32 err by at most n half units of all that is added."""
    if not isinstance(form, AdditiveTrees):
        return 1e-5 * largest
    added = abs(form.constant) + sum(float(np.abs(tree.leaf_value).max()) for tree in form.trees)
    return (len(form.trees) + 2) * float(np.finfo(np.float32).eps) * added


def own_tree(tree: ScaledTree) -> EmulatedTree:
    """A tree of the model as it is walked here."""
    return EmulatedTree(
        tree.feature, tree.threshold, tree.missing_left, tree.left, tree.right, tree.leaf_value, tree.listed
    )


def _changed_leaves(form: AdditiveTrees, emulated: Any, n_features: int, double: bool) -> tuple[int, int]:
    """(rows that come to another leaf, rows): every node of every tree, with rows that reach it."""
    changed = count = 0
    for number, tree in enumerate(form.trees):
        rows = rows_of_tree(tree, n_features, double=double)
        changed += _changed_in_tree(tree, number, emulated, rows)
        count += len(rows)
    return changed, count


def _changed_on(form: Any, emulated: Any, rows: np.ndarray) -> int:
    return sum(_changed_in_tree(tree, number, emulated, rows) for number, tree in enumerate(form.trees))


def _changed_in_tree(tree: ScaledTree, number: int, emulated: EmulatedTrees, rows: np.ndarray) -> int:
    mine, theirs = own_tree(tree), emulated.trees[number]
    if len(mine.value) != len(theirs.value):
        return len(rows)
    with np.errstate(over="ignore"):
        here = mine.leaf_order()[reached(mine, rows, less_or_equal, MissingAs.SIDE)]
    there = theirs.leaf_order()[emulated.leaves(number, rows)]
    return int(np.count_nonzero(here != there))


def _neighbours(mine: np.ndarray, theirs: np.ndarray, queries: np.ndarray) -> tuple[int, int, int]:
    """(reordered, tied, all) among documents that follow each other in a ranking of the model with different scores."""
    order = np.lexsort((-mine, queries))
    above, below = order[:-1], order[1:]
    differ = (queries[above] == queries[below]) & (mine[above] > mine[below])
    gap = (theirs[above] - theirs[below])[differ]
    return int(np.count_nonzero(gap < 0)), int(np.count_nonzero(gap == 0)), int(np.count_nonzero(differ))
