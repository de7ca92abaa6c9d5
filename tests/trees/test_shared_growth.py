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
from rankforce.kernels.trees import round_planning
from rankforce.kernels.trees.histograms import REGION
from rankforce.kernels.trees.rounds import BOTH, FAILED, GIVEN, LOOK, N_JOBS, N_TRAVELLING, RECOUNT, ROOT, SPLIT, TASK
from rankforce.threads import using_threads
from rankforce.trees import leaf_rounds
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


def grown(data, rows, curvatures=CURVATURES, before=contextlib.nullcontext, forces=FORCES, **settings):
    """The tree, with what says where documents went."""
    grower = Grower(Binned.of(data, 255, "fast"), **settings)
    given = forces[rows], None if curvatures is None else curvatures[rows]
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


ALWAYS, NEVER = -(10**9), 10**9  # tolls with which rows of documents travel whatever their number, or never


def travel(monkeypatch, toll):
    """Have rows travel at this toll; how many leaves they did so for."""
    monkeypatch.setattr(leaf_rounds, "TOLL", toll)
    leaves = []
    usual = leaf_rounds.LeafwiseGrowth._exchange_rows

    def exchange(self, counts):
        leaves.append(int(self.rounds.nodes.plan[N_TRAVELLING]))
        return usual(self, counts)

    monkeypatch.setattr(leaf_rounds.LeafwiseGrowth, "_exchange_rows", exchange)
    return leaves


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("members", [2, 3, 11])  # more than there are bytes, too
def test_rows_that_travel_give_the_tree_of_one(settings, members, monkeypatch):
    alone = grown(DATA, EVERYTHING, growth="leafwise", **settings)
    leaves = travel(monkeypatch, ALWAYS)

    def grow(rank):
        with using_threads(2):  # that share what is packed and added
            return grown(*part(rank, members), growth="leafwise", **settings)

    for tree in Crowd(members).run(grow):
        assert str(tree) == str(alone)
    assert sum(leaves) >= members * len(alone["feature"]) // 2


def test_rows_of_a_round_are_bounded(monkeypatch):
    """More rounds, and the same tree."""
    settings = {"n_leaves": 14, "min_documents": 1, "l2": 50.0}
    alone = grown(DATA, EVERYTHING, EVEN, **settings)
    rounds = []
    for most in (leaf_rounds.MESSAGE_BYTES, 300):
        monkeypatch.setattr(leaf_rounds, "MESSAGE_BYTES", most)
        with monkeypatch.context() as patched:
            leaves = travel(patched, ALWAYS)
            for tree in Crowd(2).run(lambda rank: grown(*part(rank, 2), EVEN, **settings)):
                assert str(tree) == str(alone)
        rounds.append(leaves)
    assert len(rounds[0]) < len(rounds[1])
    assert max(rounds[0]) > max(rounds[1])


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("growth", ["leafwise", "symmetric"])
@pytest.mark.parametrize("members", [2, 3, 11])
def test_a_tree_of_several_is_that_of_one(settings, growth, members):
    alone = grown(DATA, EVERYTHING, growth=growth, **settings)
    assert len(alone["feature"]) > 2
    for tree in Crowd(members).run(lambda rank: grown(*part(rank, members), growth=growth, **settings)):
        assert str(tree) == str(alone)  # NaN is NaN


@contextlib.contextmanager
def watched(monkeypatch):
    """What was done in the rounds of all members: (leaves so far, the jobs, whether histograms were given up)."""
    seen = []
    usual = leaf_rounds.LeafwiseGrowth._scan_round

    def scan(self):
        rounds = self.rounds
        jobs = rounds.jobs[: rounds.nodes.plan[N_JOBS]].copy()
        found = usual(self)
        failed = rounds.jobs[: len(jobs), TASK] == FAILED
        seen.append((self.growing.n_leaves, jobs, failed))
        return found

    monkeypatch.setattr(leaf_rounds.LeafwiseGrowth, "_scan_round", scan)
    yield seen


def test_whatever_happens_in_rounds_trees_are_those_of_one(monkeypatch):
    """Leaves are split ahead, some in vain; sides turn out to be too small, are counted, and others have their turn."""
    tasks, split, failed, turned, both = set(), 0, 0, 0, 0
    with watched(monkeypatch) as seen:
        for seed in (*range(8), 63):  # where one that was thought to be the last was not
            random = np.random.default_rng(seed)
            forces = random.normal(size=DATA.n_documents)
            heavy = random.random(DATA.n_documents) < random.choice([0.03, 0.3])
            curvatures = np.where(heavy, 50.0, 0.01) * random.random(DATA.n_documents)
            settings = {
                "n_leaves": int(random.integers(2, 40)),
                "min_documents": int(random.choice([1, 5, 15, 40])),
                "max_depth": random.choice([None, 4, 7]),
                "min_gain": float(random.choice([0.0, 0.5])),
                "histogram_bytes": int(random.choice([1, 6 * 8 * 264 * FEATURES, 2**30])),
            }
            given = {"forces": forces, "curvatures": curvatures, **settings}
            alone = grown(DATA, EVERYTHING, **given)
            seen.clear()
            for tree in Crowd(2).run(lambda rank, given=given: grown(*part(rank, 2), **given)):
                assert str(tree) == str(alone), settings
            for leaves, jobs, lost in seen:
                tasks.update(jobs[:, TASK].tolist())
                failed += lost.sum()
                split += ((jobs[:, TASK] == SPLIT) & ~lost).sum()
                both += ((jobs[:, TASK] == SPLIT) & (jobs[:, GIVEN] == BOTH)).sum()
                assert leaves <= settings["n_leaves"]
            turned += 2 * len(alone["feature"])
    assert tasks == {ROOT, SPLIT, LOOK, RECOUNT}
    assert failed > 0
    assert both > 0  # a histogram had been given up
    assert turned < split < 1.5 * turned


def exchanged(members, **settings):
    """(calls, bytes) that each member sends for one tree, and the tree."""
    listeners = [Listener() for _ in range(members)]
    addresses = [listener.address for listener in listeners]

    def take_part(rank):
        peers = Peers(listeners[rank], addresses, rank, b"0123456789abcdef", timeout=300, silence=300)
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

    def all_to_all(self, leaves, documents, words):
        """Sizes of leaves, and rows of documents: an entry of two words and those with the bytes of their owner."""
        self.calls += 1
        self.bytes += (self.members - 1) * (4 * (leaves + documents * (2 + words)) + _HEADER.size)


HOPE = round_planning.HOPE


def rounds_of(gains, children, leaves):
    """The splits of each round but the first, by number, of a tree of so many leaves; said slowly.

    ``gains`` and ``children`` are those of a larger tree, whose splits were made in this order: what is split ahead in
    vain is in it. The last that can be split needs no histograms.
    """
    made, ahead, rounds = 0, set(), []
    while True:
        open_nodes = {0} if made == 0 else {c for n in range(made) for c in children[n] if c >= made}
        while made in ahead and made < leaves - 1:
            made += 1
            open_nodes = {c for n in range(made) for c in children[n] if c >= made}
        if made == leaves - 1:
            return rounds
        hoped = [(-gains[node], node) for node in open_nodes]
        chosen, known, before, least = [], 0, 0, np.inf
        for _ in range(leaves - 1 - made):
            if not hoped:
                break
            gain, node = min(hoped)
            hoped.remove((gain, node))
            if node is not None:
                if -gain < least:  # whatever gains as much might have its turn before
                    least, before = -gain, known
                known += 1
            if node in ahead:
                hoped += [(-gains[c], c) for c in children[node] if c >= 0]
                continue
            if node is not None:
                chosen.append((node, before + 1 < leaves - 1 - made))
            hoped += [(HOPE * gain, None)] * 2
        ahead.update(node for node, _ in chosen)
        rounds.append(chosen)


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("leaves", [2, 6, 14])
def test_messages_and_bytes_of_a_leafwise_tree(rounds, leaves, monkeypatch):
    """Two calls per round, beside three for the scale of the forces; and as many histograms as splits, but the last."""
    travel(monkeypatch, NEVER)
    wire, settings = Wire(rounds), {"growth": "leafwise", "min_documents": 1, "l2": 50.0}
    larger = grown(DATA, EVERYTHING, EVEN, n_leaves=4 * leaves, **settings)
    children = list(zip(larger["left"], larger["right"], strict=True))
    values = int(Binned.of(DATA, 255, "fast").packing.size.sum())  # those that bytes take: bins, and missing
    wire.add(3)  # the largest force and curvature, and whether one is negative
    wire.add(2)  # sums of their sizes
    wire.add(2)  # how many vanished
    wire.scatter_add(values + 2 * wire.members)  # the root, with the sum of its entries
    wire.add(5 * wire.members)  # the best split of each owner
    planned = rounds_of(larger["gain"], children, leaves)
    for chosen in planned:
        histograms = sum(needed for _, needed in chosen)
        wire.scatter_add(histograms * values + 2 * len(chosen) * wire.members)  # and how many went left
        if histograms:
            wire.add(2 * histograms * 5 * wire.members)
    assert wire.calls <= 3 + 2 * leaves - 1
    for tree, calls, sent in exchanged(wire.members, n_leaves=leaves, **settings):
        assert len(tree["leaf_value"]) == leaves
        assert (calls, sent) == (wire.calls, wire.bytes)


def sides(tree):
    """Of each split of a tree which documents are on its left, and on its right."""
    found, waiting = {}, [(0, EVERYTHING)]
    while waiting:
        node, here = waiting.pop()
        left = DATA.features[:, tree["feature"][node]] <= tree["threshold"][node]
        found[node] = here & left, here & ~left
        pairs = zip((tree["left"][node], tree["right"][node]), found[node], strict=True)
        waiting += [(child, below) for child, below in pairs if child >= 0]
    return found


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("leaves", [2, 6, 14])
def test_messages_and_bytes_of_a_tree_whose_rows_travel(rounds, leaves, monkeypatch):
    """A third call per round, for rows in place of histograms: those of the side that has fewer."""
    settings = {"growth": "leafwise", "min_documents": 1, "l2": 50.0}
    larger = grown(DATA, EVERYTHING, EVEN, n_leaves=4 * leaves, **settings)
    children = list(zip(larger["left"], larger["right"], strict=True))
    planned, split = rounds_of(larger["gain"], children, leaves), sides(larger)
    travel(monkeypatch, ALWAYS)
    members = 2**rounds
    for rank, (tree, calls, sent) in enumerate(exchanged(members, n_leaves=leaves, **settings)):
        wire, own = Wire(rounds), part(rank, members)[1]
        for numbers in (3, 2, 2):  # for the scale of the forces
            wire.add(numbers)
        wire.scatter_add((2 + members) * members)  # of each job two numbers; how many documents each member sends
        wire.all_to_all(1, own.sum(), 1)
        wire.add(5 * members)
        for chosen in planned:
            smaller = [min(split[node][::-1], key=np.sum) for node, needed in chosen if needed]
            wire.scatter_add((2 * len(chosen) + (members if smaller else 0)) * members)
            if smaller:
                wire.all_to_all(len(smaller), sum((side & own).sum() for side in smaller), 1)
                wire.add(2 * len(smaller) * 5 * members)
        assert len(tree["leaf_value"]) == leaves
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
        wire.add((4 + 4 * 2**level) * wire.members)  # and what every leaf gains
    wire.add(2 * 2 ** (levels - 1))
    assert wire.calls == 3 + 2 * levels + 1
    for tree, calls, sent in exchanged(wire.members, growth="symmetric", n_leaves=2**levels, min_documents=1):
        assert len(tree["leaf_value"]) == 2**levels
        assert (calls, sent) == (wire.calls, wire.bytes)
