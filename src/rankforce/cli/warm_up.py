"""Compile what training and scoring need, before it is needed: after installing, or when an image is built."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankforce.compiling.jit import KERNELS, Kernel
from rankforce.compiling.stand_ins import compiling_at_once
from rankforce.console.interruption import interrupting_at_once
from rankforce.data.artificial.artificial import make_artificial
from rankforce.data.files import read
from rankforce.drifting.drift import drift
from rankforce.errors import MeasureError, SettingsError
from rankforce.evaluation.evaluate import evaluate
from rankforce.explaining.explain import explain
from rankforce.importing import lightgbm_columns
from rankforce.measures.catalogue import measure, measure_classes
from rankforce.measures.measure import Measure
from rankforce.models import tree_lines
from rankforce.rankers.catalogue import ranker_class
from rankforce.training.ranker import Ranker

CLICKS = "clicks"
TREES = {"n_trees": 2, "n_leaves": 7, "min_documents": 5}
WARMED: dict[str, tuple[dict[str, Any], ...]] = {  # ranker: settings of the trainings that call its kernels
    "LambdaMART": (TREES | {"query_fraction": 0.9}, TREES | {"growth": "leafwise"}, TREES),
    "LambdaRank": ({"epochs": 1},),
    "RankNet": ({"epochs": 1},),
}

# Kernels that the default settings of these rankers do not need, with the reason.
NOT_WARMED = {
    "add_contributions": "explanations",
    "add_gradient": "nets on several terms, preferences or all queries at once",
    "ranknet_costs": "presets of RankNet",
    "take_step": "nets on several terms, preferences or all queries at once",
    "update_by_pair": "nets that learn pair by pair",
    "add_preference_forces": "preference lists",
    "add_pattern_contributions": "explanations",
    "add_reference_contributions": "explanations",
    "add_scores_without": "importance of features",
    "add_forces_by_rank": "measures without columns, pairs by rank or drawn, very wide score ranges",
    "add_forces_with_giants": "queries of thousands of documents",
    "add_forces_nearby": "λ-functions between near ranks",
    "add_listwise_forces": "listwise λ-functions",
    "best_splits": "XRank",
    "expected_looks": "propensities of positions",
    "harvest_sums": "propensities of positions",
    "add_pair_costs": "joint ratios of clicks",
    "add_of_kept": "measures that leave unlabelled documents out",
    "order_of_kept": "measures that leave unlabelled documents out",
    "scores_of_kept": "measures that leave unlabelled documents out",
    "count_effective_pairs": "how many pairs take part in training, for inspection",
    "divide_by_deviation": "the gradient step",
    "find_blocks": "XRank",
    "frontier_values": "XRank",
    "inner_forces": "XRank",
    "input_slopes": "local optimality",
    "left_shares": "explanations",
    "leaf_slopes": "local optimality",
    "leaves_by_walking": "leaf numbers, for inspection",
    "linear_values": "local optimality",
    "map_categories": "features with categories",
    "net_values": "local optimality",
    "ordered_split_gains": "XRank",
    "pair_edges": "XRank",
    "path_sizes": "explanations",
    "passing_gains": "XRank",
    "plan_steps": "explanations",
    "perceptron_scores": "PRank",
    "prank_pass": "PRank",
    "rank_discounts": "XRank",
    "redraw_forces": "forces of very different size",
    "score_by_walking": "trees of more than 400 leaves",
    "sweep_queries": "combining rankers",
    "swap_changes": "swaps of one ranking, for inspection",
    "changes_of_pairs": "measures of a user's own",
    "changes_with_many": "measures of a user's own",
    "take_round": "trees that workers of a cluster grow leaf by leaf: `warm_up_workers`",
    "scan_round": "trees that workers of a cluster grow leaf by leaf: `warm_up_workers`",
    "pack_rows": "rows of small leaves that workers of a cluster send each other: `warm_up_workers`",
    "add_rows": "rows of small leaves that workers of a cluster send each other: `warm_up_workers`",
}


def warm_up(
    measures: Iterable[Measure], rankers: Iterable[str] = ("LambdaMART",), evaluated: Sequence[Measure] = ()
) -> list[Kernel]:
    """Run the common path once for each measure and ranker: read a file, train with validation, score, evaluate.

    The rankers, those of ``WARMED``, have their default settings but for the size. What is ``evaluated`` besides is
    not trained for; with it the last ranker is explained, too. Returns the kernels that were compiled, or found
    compiled on disk.
    """
    with interrupting_at_once(), compiling_at_once():
        return _warm_up(measures, rankers, evaluated)


def _warm_up(measures: Iterable[Measure], rankers: Iterable[str], evaluated: Sequence[Measure]) -> list[Kernel]:
    kinds = [_kind(name) for name in rankers]
    train = make_artificial(queries=120, documents=25, features=6, seed=0, missing=0.05)
    held_out = make_artificial(queries=120, documents=25, features=6, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        train.write(Path(folder) / "data.txt")
        read(Path(folder) / "data.txt")
    for aimed_at in measures:
        if aimed_at.label not in train.labels:
            clicks = train.labels["grades"] / 4.0
            train = train.with_label(aimed_at.label, clicks)
            held_out = held_out.with_label(aimed_at.label, held_out.labels["grades"] / 4.0)
        kind: Any
        for kind in kinds:
            aim = "measure" if "measure" in kind._get_param_names() else "validation_measure"
            for settings in WARMED[kind.__name__]:
                ranker: Any = kind(**{aim: aimed_at}, **settings, progress=False)
                ranker.fit(train, validation=held_out)
            evaluate(ranker, held_out, [aimed_at])
            evaluate(np.round(ranker.predict(held_out)), held_out, [aimed_at], ties="expected")
            ranker.predict(held_out.features[:1])
    tree_lines.compile_reading()
    lightgbm_columns.compile_reading()
    if evaluated:
        clicked = held_out.with_label(CLICKS, held_out.labels["grades"] / 4.0)
        evaluate(held_out.feature_names[0], clicked, list(evaluated))
        evaluate(np.round(clicked.features[:, 0]), clicked, list(evaluated), ties="expected")
        query = held_out.query_ids[0]
        explain(ranker, held_out)
        explain(ranker, held_out, query, pair=(0, 1))
        explain(ranker, held_out, query, document=0, background=2)
        drift(ranker, held_out)
    return [kernel for kernel in KERNELS if kernel.compiled]


def warm_up_workers(measures: Iterable[Measure]) -> list[Kernel]:
    """Train for each measure as the workers of a cluster do, with two of them in this process.

    Returns the kernels as ``warm_up`` does.
    """
    import rankforce as rf
    from rankforce.cli.clusters import workers_here

    measures = list(measures)
    train, held_out = (make_artificial(queries=120, documents=25, features=6, seed=seed) for seed in (0, 1))
    for label in {aimed_at.label for aimed_at in measures} - set(train.labels):
        train, held_out = (data.with_label(label, data.labels["grades"] / 4.0) for data in (train, held_out))
    with (
        interrupting_at_once(),
        compiling_at_once(),
        workers_here(2) as client,
        tempfile.TemporaryDirectory() as folder,
    ):
        for number, queries in enumerate(np.array_split(np.arange(120), 2)):
            train.take_queries(queries).write(Path(folder) / f"{number}.parquet")
        together = rf.shared(folder, client)
        watched = rf.shared(held_out, client, like=together)
        for aimed_at in measures:
            for settings in WARMED["LambdaMART"]:
                ranker = rf.LambdaMART(aimed_at, **settings, progress=False).fit(together, validation=watched)
            evaluate(ranker, watched, [aimed_at])
    return [kernel for kernel in KERNELS if kernel.compiled]


def every_measure() -> list[Measure]:
    """The built-in measures with their default settings; on clicks those that need a label source."""
    found = []
    for name in measure_classes():
        try:
            found.append(measure(name))
        except MeasureError:
            found.append(measure(f"{name}:{CLICKS}"))
    return found


def _kind(name: str) -> type[Ranker]:
    kind = ranker_class(name)
    if kind.__name__ not in WARMED:
        raise SettingsError(f"{kind.__name__} cannot be warmed up: {', '.join(WARMED)} can")
    return kind
