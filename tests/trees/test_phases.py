"""Trees grown phase by phase from Python are those that one call grows."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.crowd import Crowd
from tests.trees import test_categories, test_grower

from rankforce.kernels.trees.leaf_table import HERE, SIZE, START
from rankforce.trees.grower import Grower
from rankforce.trees.quantised import quantise

SETTINGS = {"n_leaves": 12, "min_documents": 6}
CASES = {
    "leafwise": {},
    "leafwise, counted": {"min_documents": 14},
    "leafwise, monotone": {"monotone": [1, -1, 0, 1, 0, 0, 0, -1, 1, 0, 0]},
    "leafwise, few histograms": {"histogram_bytes": 0},
    "leafwise, least squares": {"split": "least_squares"},
    "symmetric": {"growth": "symmetric"},
    "symmetric, monotone": {"growth": "symmetric", "monotone": [1, -1, 0, 1, 0, 0, 0, -1, 1, 0, 0]},
    "symmetric, one histogram": {"growth": "symmetric", "histogram_bytes": 0},
    "symmetric, least squares": {"growth": "symmetric", "split": "least_squares"},
    "leafwise, categories": {"min_documents": 2},
    "leafwise, categories, counted": {"min_documents": 14},
    "symmetric, categories": {"growth": "symmetric", "min_documents": 2},
    "symmetric, categories, one histogram": {"growth": "symmetric", "histogram_bytes": 0},
}


def made(case):
    return (test_categories if "categories" in case else test_grower).made(4)


def prepared(grower, binned, forces, curvatures):
    """A root, and the entries in the grower's own array."""
    work = grower.begin()
    scales = quantise(
        forces, curvatures if grower.split == "newton" else None, work.documents, binned.query_starts,
        binned.query_hashes, 0, 0, grower._entries,
    )  # fmt: skip
    return work, scales


def bytes_of(work, leaves):
    return [
        work.splits[: leaves - 1].tobytes(),
        work.gain[: leaves - 1].tobytes(),
        work.bounds[:leaves].tobytes(),
        work.state[:leaves, SIZE].tobytes(),
        work.sets[: leaves - 1].tobytes(),
    ]


def grown_at_once(case):
    _, binned, forces, curvatures = made(case)
    grower = Grower(binned, **SETTINGS | CASES[case])
    work, scales = prepared(grower, binned, forces, curvatures)
    leaves = grower.split_leaves(work, scales)
    assert leaves > 4
    return bytes_of(work, leaves), work.documents.tolist()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_phase_by_phase_is_at_once(case, threads, monkeypatch):
    expected, order = grown_at_once(case)
    monkeypatch.setenv("NUMBA_NUM_THREADS", str(threads))
    _, binned, forces, curvatures = made(case)
    grower = Grower(binned, **SETTINGS | CASES[case])
    work, scales = prepared(grower, binned, forces, curvatures)
    growing = grower.growing(work, scales, threads)
    phases = list(growing.steps())
    assert phases[:4] == [0, 1, 2, 3] or "one histogram" in case
    assert bytes_of(work, growing.n_leaves) == expected
    assert work.documents.tolist() == order


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("threads", [1, 3])
def test_halves_of_the_documents_whose_histograms_are_added(case, threads, monkeypatch):
    """Two members' work: each has some of the documents; sums cross between build and scan, counts after deal."""
    expected, order = grown_at_once(case)
    monkeypatch.setenv("NUMBA_NUM_THREADS", str(threads))
    _, binned, forces, curvatures = made(case)
    places = np.arange(0, 120, 3), np.setdiff1d(np.arange(120), np.arange(0, 120, 3))

    def grow_half(rank):
        here = places[rank]
        part = dataclasses.replace(
            binned,
            rows=np.pad(binned.rows[here], ((0, 0), (0, 64 * rank))),  # filled up, as much as each has memory for
            columns=np.ascontiguousarray(binned.columns[:, here]),
            query_starts=np.array([0, len(here)]),
        )
        grower = Grower(part, **SETTINGS | CASES[case])
        work, scales = prepared(grower, part, forces[here], curvatures[here])
        growing = grower.growing(work, scales, threads)
        growing.grow()
        return here, work, growing

    halves = Crowd(2).run(grow_half)
    growing = [each for _, _, each in halves]
    for _, work, each in halves:
        assert bytes_of(work, each.n_leaves) == expected
    for leaf in range(growing[0].n_leaves):
        documents = []
        for here, work, _ in halves:
            start, size = work.state[leaf, [START, HERE]]
            documents.extend(here[work.documents[start : start + size]].tolist())
        assert len(documents) == halves[0][1].state[leaf, SIZE]
        assert sorted(documents) == sorted(set(documents) & set(order))
