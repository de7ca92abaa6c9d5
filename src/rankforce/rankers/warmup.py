"""Compile what training and scoring need, before it is needed: after installing, or when an image is built."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from rankforce.data.artificial import make_artificial
from rankforce.data.files import read
from rankforce.evaluation.evaluate import evaluate
from rankforce.jit import KERNELS, Kernel
from rankforce.measures.measure import Measure
from rankforce.rankers.lambdamart import LambdaMART

# Kernels that the common path does not need, with the reason.
NOT_WARMED = {
    "add_gradient": "nets",
    "ranknet_costs": "nets",
    "score_documents": "nets",
    "take_step": "nets",
    "update_by_pair": "nets",
    "update_by_query": "nets",
    "add_preference_forces": "preference lists",
    "add_forces_by_rank": "measures without columns, pairs by rank or drawn, very wide score ranges",
    "add_forces_nearby": "λ-functions between near ranks",
    "add_listwise_forces": "listwise λ-functions",
    "best_splits": "XRank",
    "count_effective_pairs": "how many pairs take part in training, for inspection",
    "divide_by_deviation": "the gradient step",
    "find_blocks": "XRank",
    "frontier_values": "XRank",
    "inner_forces": "XRank",
    "input_slopes": "local optimality",
    "leaf_slopes": "local optimality",
    "leaves_by_walking": "leaf numbers, for inspection",
    "linear_values": "local optimality",
    "net_values": "local optimality",
    "ordered_split_gains": "XRank",
    "pair_edges": "XRank",
    "passing_gains": "XRank",
    "perceptron_scores": "PRank",
    "prank_pass": "PRank",
    "rank_discounts": "XRank",
    "redraw_forces": "forces of very different size",
    "sweep_queries": "combining rankers",
    "swap_changes": "swaps of one ranking, for inspection",
}


def warm_up(measures: Iterable[Measure]) -> list[Kernel]:
    """Run the common path once for each measure: read a file, train with validation, score, evaluate.

    Returns the kernels that were compiled, or found compiled on disk.
    """
    train = make_artificial(queries=120, documents=25, features=6, seed=0, missing=0.05)
    held_out = make_artificial(queries=120, documents=25, features=6, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        train.write(Path(folder) / "data.txt")
        read(Path(folder) / "data.txt")
    for measure in measures:
        if measure.label not in train.labels:
            clicks = train.labels["grades"] / 4.0
            train = train.with_label(measure.label, clicks)
            held_out = held_out.with_label(measure.label, held_out.labels["grades"] / 4.0)
        ranker = LambdaMART(measure, n_trees=3, n_leaves=7, min_documents=5, query_fraction=0.9, progress=False)
        ranker.fit(train, validation=held_out)
        LambdaMART(measure, n_trees=2, n_leaves=7, min_documents=5, progress=False).fit(train)
        evaluate(ranker, held_out, [measure])
        evaluate(np.round(ranker.predict(held_out)), held_out, [measure], ties="expected")
        ranker.predict(held_out.features[:1])
    return [kernel for kernel in KERNELS if kernel.compiled]
