"""Trees that members grow together, each the owner of some columns: the trees of one, by so many messages and bytes."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.crowd import Crowd

import rankforce as rf
from rankforce.binning.binned import Binned
from rankforce.collective import using_collective
from rankforce.distributed.connections import Listener
from rankforce.distributed.peers import _HEADER, Peers
from rankforce.kernels.trees.histograms import REGION
from rankforce.trees import shared_growth
from rankforce.trees.grower import Grower

FEATURES = 8  # a byte each
DATA = rf.make_artificial(queries=30, documents=(10, 40), features=FEATURES, seed=2)
RANDOM = np.random.default_rng(3)
FORCES = RANDOM.normal(size=DATA.n_documents)
# The curvatures of few documents are nearly all there is: splits by them leave few documents on a side.
CURVATURES = np.where(RANDOM.random(DATA.n_documents) < 0.03, 50.0, 0.01) * RANDOM.random(DATA.n_documents)
EVEN = np.ones(DATA.n_documents)


def part(rank, members):
    share = np.arange(rank, DATA.n_queries, members)
    return DATA.take_queries(share), np.isin(DATA.row_queries, share)


def grown(data, rows, curvatures=CURVATURES, before=contextlib.nullcontext, **settings):
    """The tree, with what says where documents went."""
    grower = Grower(Binned.of(data, 255, "fast"), **settings)
    given = FORCES[rows], None if curvatures is None else curvatures[rows]
    with before():
        tree = grower.grow(*given).structure
    return {name: np.asarray(values).tolist() for name, values in vars(tree).items()}


EVERYTHING = np.ones(DATA.n_documents, dtype=bool)
SETTINGS = [
    {"n_leaves": 9, "min_documents": 1},
    {"n_leaves": 12, "min_documents": 30, "l2": 0.5},
    {"n_leaves": 12, "min_documents": 30, "monotone": [1, -1, 0, 0, 1, 0, 0, 0]},
    {"n_leaves": 12, "min_documents": 10, "histogram_bytes": 1},
    {"n_leaves": 12, "min_documents": 10, "max_depth": 3, "curvatures": None, "split": "least_squares"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("growth", ["leafwise", "symmetric"])
@pytest.mark.parametrize("members", [2, 3, 11])  # more than there are bytes, too
def test_a_tree_of_several_is_that_of_one(settings, growth, members):
    alone = grown(DATA, EVERYTHING, growth=growth, **settings)
    assert len(alone["feature"]) > 2
    for tree in Crowd(members).run(lambda rank: grown(*part(rank, members), growth=growth, **settings)):
        assert str(tree) == str(alone)  # NaN is NaN


def test_a_side_of_too_few_documents_is_thrown_away(monkeypatch):
    """What was guessed is taken back: the numbers of documents are known only after the histogram was built."""
    counted = []
    usual = shared_growth.LeafwiseGrowth._commit_counted
    monkeypatch.setattr(
        shared_growth.LeafwiseGrowth,
        "_commit_counted",
        lambda self, *counts: counted.append(counts) or usual(self, *counts),
    )
    test_a_tree_of_several_is_that_of_one(SETTINGS[1], "leafwise", 2)
    assert counted


def exchanged(members, **settings):
    """(calls, bytes) that each member sends for one tree, and the tree."""
    listeners = [Listener() for _ in range(members)]
    addresses = [listener.address for listener in listeners]

    def take_part(rank):
        peers = Peers(listeners[rank], addresses, rank, b"0123456789abcdef", timeout=30, silence=60)
        start = []

        @contextlib.contextmanager
        def before():
            start.extend([peers.calls, peers.bytes_sent])
            yield
            start.extend([peers.calls, peers.bytes_sent])

        with using_collective(peers):
            tree = grown(*part(rank, members), EVEN, before, **settings)
        peers.close()
        return tree, start[2] - start[0], start[3] - start[1]

    with ThreadPoolExecutor(members) as pool:
        results = list(pool.map(take_part, range(members)))
    for listener in listeners:
        listener.close()
    return results


class Wire:
    """What one member of 2^rounds sends for each operation on so many numbers of 8 bytes."""

    def __init__(self, rounds):
        self.rounds = rounds
        self.members = 2**rounds
        self.calls = 0
        self.bytes = 0

    def add(self, numbers):
        self.calls += 1
        self.bytes += self.rounds * (8 * numbers + _HEADER.size)

    def scatter_add(self, numbers):
        self.calls += 1
        self.bytes += 8 * numbers * (self.members - 1) // self.members + self.rounds * _HEADER.size


@pytest.mark.parametrize("rounds", [1, 2])
def test_messages_and_bytes_of_a_leafwise_tree(rounds):
    """2·L − 1 calls for L leaves, beside three for the scale of the forces."""
    wire, leaves, histogram = Wire(rounds), 6, FEATURES * REGION
    wire.add(3)  # the largest force and curvature, and whether one is negative
    wire.add(2)  # sums of their sizes
    wire.add(2)  # how many vanished
    wire.scatter_add(histogram)
    wire.add(6 * wire.members)  # the best split of each owner
    for _ in range(leaves - 2):
        wire.scatter_add(histogram + 2 * wire.members)  # with how many went left, and were missing, for each owner
        wire.add(2 * 6 * wire.members)
    wire.add(2)
    assert wire.calls == 3 + 2 * leaves - 1
    for tree, calls, sent in exchanged(wire.members, growth="leafwise", n_leaves=leaves, min_documents=1, l2=50.0):
        assert len(tree["leaf_value"]) == leaves
        assert min(tree["leaf_documents"]) >= 2  # all could have been split
        assert (calls, sent) == (wire.calls, wire.bytes)


@pytest.mark.parametrize("rounds", [1, 2])
def test_messages_and_bytes_of_a_symmetric_tree(rounds):
    """2·D + 1 calls for D levels, beside three for the scale of the forces."""
    wire, levels, histogram = Wire(rounds), 3, FEATURES * REGION
    for numbers in (3, 2, 2):
        wire.add(numbers)
    for level in range(levels):
        counts = 2 * 2 ** (level - 1) if level else 0  # left and missing of each leaf that was split
        wire.scatter_add(max(1, 2 ** (level - 1)) * histogram + counts * wire.members)
        wire.add((6 + 4 * 2**level) * wire.members)  # and what every leaf gains
    wire.add(2 * 2 ** (levels - 1))
    assert wire.calls == 3 + 2 * levels + 1
    for tree, calls, sent in exchanged(wire.members, growth="symmetric", n_leaves=2**levels, min_documents=1):
        assert len(tree["leaf_value"]) == 2**levels
        assert (calls, sent) == (wire.calls, wire.bytes)
