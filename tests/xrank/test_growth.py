"""The theorems of XRank as tests, and how each form grows."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import rankforce as rf
from rankforce.binning.binned import Binned
from rankforce.xrank.edges import LevelEdges, MartingaleReport
from rankforce.xrank.frontier import Frontier
from rankforce.xrank.graph import Forked, Joined, Route
from rankforce.xrank.growth import Full, Martingale, MaxNDCG, Rebalancing, Simple
from rankforce.xrank.sample import Sample

FORMS = {"simple": Simple, "full": Full, "rebalancing": Rebalancing, "martingale": Martingale, "max_ndcg": MaxNDCG}


def grown(data, form, steps, min_documents=1, measure="NDCG", after_step=lambda growth, changes: None):
    growth = FORMS[form](Sample.of(data, Binned.of(data), rf.measure(measure), 0), min_documents)
    for _ in range(steps):
        changes = growth.step()
        if not changes:
            break
        after_step(growth, changes)
    return growth


def noise(queries=8, documents=6, features=2, seed=0, grades=4):
    """Grades that have nothing to do with the features; every two documents differ in some bin."""
    random = np.random.default_rng(seed)
    n = queries * documents
    x = np.column_stack([random.permutation(n) for _ in range(features)]).astype(np.float32)
    return rf.Dataset(x, random.integers(0, grades, n), np.repeat(np.arange(queries), documents))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("form", ["simple", "full"])
def test_what_differs_is_ranked_perfectly_in_the_end(form, seed):
    data = noise(seed=seed)
    growth = grown(data, form, steps=300)
    assert growth.perfect
    assert growth.frontier.value() == pytest.approx(1.0, abs=1e-12)
    assert growth.step() == []
    scores = -growth.frontier.positions.astype(float)
    assert rf.evaluate(scores, data, ["NDCG"], ties="expected").mean["NDCG"] == pytest.approx(1.0, abs=1e-12)


def test_what_does_not_differ_cannot_be_ranked():
    x = np.array([[1.0], [1.0], [2.0], [3.0]])
    growth = grown(rf.Dataset(x, [0, 1, 2, 3], [1, 1, 1, 1]), "simple", steps=50)
    assert not growth.perfect
    assert growth.frontier.size == 3


@pytest.mark.parametrize("form", ["simple", "full"])
def test_training_never_oscillates(form):
    """No state comes twice; between two splits of more nodes the value only rises."""
    seen = set()
    before = {"size": 1, "value": 0.0}

    def check(growth, changes):
        state = growth.frontier.positions.tobytes()
        assert state not in seen
        seen.add(state)
        assert growth.frontier.size >= before["size"]
        if growth.frontier.size == before["size"]:
            assert growth.frontier.value() > before["value"]
        before.update(size=growth.frontier.size, value=growth.frontier.value())

    growth = grown(noise(seed=4, queries=10), form, steps=200, after_step=check)
    assert growth.perfect
    assert len(seen) > 20


def test_every_move_of_a_reordering_raises_the_value(monkeypatch):
    values = []
    real = Frontier.move

    def noting(self, place, to):
        before = self.value()
        real(self, place, to)
        values.append(self.value() - before)

    monkeypatch.setattr(Frontier, "move", noting)
    grown(noise(seed=5), "simple", steps=40)
    assert len(values) > 10
    assert min(values) > 0


@pytest.mark.compiled_only
def test_the_full_form_merges_where_that_is_worth_more():
    data = rf.make_artificial(queries=80, documents=15, features=6, seed=2)
    merges = []
    values = [0.0]

    def note(growth, changes):
        merges.append(any(isinstance(change, Joined) for change in changes))
        values.append(growth.frontier.value())
        assert not merges[-1] or values[-1] > values[-2]

    full = grown(data, "full", steps=40, min_documents=10, after_step=note)
    simple = grown(data, "simple", steps=40, min_documents=10)
    assert any(merges)
    assert not all(merges)
    assert full.frontier.size == 1 + len(merges) - sum(merges)
    assert full.frontier.value() > simple.frontier.value()  # with fewer places
    assert full.frontier.size < simple.frontier.size


@pytest.mark.parametrize("form", FORMS)
def test_the_graph_leads_every_document_to_its_place(form):
    data = rf.make_artificial(queries=15, documents=10, features=4, seed=1, missing=0.2)
    binned = Binned.of(data)
    route = Route(binned.columns, binned.binning.n_bins)
    growth = grown(data, form, steps=12, min_documents=3, after_step=lambda growth, changes: route.follow(changes))
    assert growth.frontier.size > 5
    np.testing.assert_array_equal(route.positions(growth.nodes), growth.frontier.positions)
    arrays = growth.graph.arrays(growth.nodes, binned.binning)
    for row, place in zip(data.features, growth.frontier.positions, strict=True):
        node = 0
        while node >= 0:
            value = row[arrays["feature"][node]]
            left = arrays["missing_left"][node] if np.isnan(value) else value <= arrays["threshold"][node]
            node = arrays["left"][node] if left else arrays["right"][node]
        assert ~node == place


def test_the_largest_node_is_split_where_nothing_gains():
    """Two queries that want opposite orders: at the root all forces cancel."""
    x = np.array([[1.0], [2], [1], [2]])
    growth = FORMS["simple"](_sample(rf.Dataset(x, [0, 1, 1, 0], [1, 1, 2, 2])), 1)
    (change,) = growth.step()
    assert isinstance(change, Forked)
    assert change.split.gain == 0.0
    assert np.bincount(growth.frontier.positions).tolist() == [2, 2]


def _sample(data):
    return Sample.of(data, Binned.of(data), rf.NDCG(), 0)


def test_max_ndcg_never_falls_and_stalls_through_fragmentation():
    """The earlier way ends where no split of any node helps, far from perfect; forces learn the same data wholly."""
    data = noise(queries=12, documents=8, features=3, seed=1)
    values = []
    rank = np.arange(data.n_documents) % 8

    def note(growth, changes):
        sample, order = growth.sample, growth.frontier.ranked()
        query = np.repeat(np.arange(12), 8)
        values.append(float((sample.scales[query] * sample.worth[order] * sample.discounts[rank]).sum()))

    stalled = grown(data, "max_ndcg", steps=500, after_step=note)
    assert all(later > earlier for earlier, later in itertools.pairwise(values))
    assert len(values) < 200
    assert values[-1] < 0.95
    blocks = [len(np.unique(stalled.frontier.positions[q * 8 : q * 8 + 8])) for q in range(12)]
    assert np.mean(blocks) > 4  # the documents of a query are spread over many nodes: none can still help another
    assert grown(data, "simple", steps=500).perfect


@pytest.mark.parametrize("seed", range(4))
def test_the_martingale_bound_holds(seed):
    data = rf.make_artificial(queries=30, documents=10, features=3, seed=seed)
    growth = grown(data, "martingale", steps=10 if seed else 3)
    report = MartingaleReport.of(growth.sample, growth.frontier.positions, growth.edges)
    assert report.misordered <= report.bound <= 1.0
    # by hand: all pairs
    labels, places = data.labels["grades"], growth.frontier.positions
    gaps = [
        places[j] - places[i]
        for q in range(30)
        for i in range(q * 10, q * 10 + 10)
        for j in range(q * 10, q * 10 + 10)
        if labels[i] > labels[j]
    ]
    assert report.misordered == pytest.approx(np.mean(np.array(gaps) <= 0))
    # every level moves the better document up by the mean edge, on average
    assert math.fsum(report.mean) == pytest.approx(np.mean(gaps))
    assert all(least <= mean for least, mean in zip(report.minimum, report.mean, strict=True))


def test_the_bound_says_something_where_all_edges_are_positive():
    """A feature that knows the grade: the first levels separate it, and the least edges are positive."""
    random = np.random.default_rng(0)
    grades = random.integers(0, 2, 400)
    x = (grades + 0.0)[:, None]
    growth = FORMS["martingale"](_sample(rf.Dataset(x, grades, np.repeat(np.arange(40), 10))), 1)
    growth.step()
    report = MartingaleReport.of(growth.sample, growth.frontier.positions, growth.edges)
    assert report.minimum == report.mean == (1.0,)
    assert report.bound == pytest.approx(math.exp(-1 / 4))
    assert report.misordered == 0.0
    noisy = np.where(random.random(400) < 0.2, 1 - grades, grades)
    noisy_x = np.column_stack([np.where(random.random(400) < 0.2, 1 - noisy, noisy) for _ in range(6)])
    several = grown(rf.Dataset(noisy_x, noisy, np.repeat(np.arange(40), 10)), "martingale", steps=3, min_documents=20)
    report = MartingaleReport.of(several.sample, several.frontier.positions, several.edges)
    assert 0.0 < report.misordered <= report.bound < 1.0


def test_edges_by_hand():
    data = rf.Dataset(np.arange(5.0)[:, None], [2, 1, 0, 1, 0], [1, 1, 1, 2, 2])
    sample = _sample(data)
    positions = np.array([0, 0, 1, 1, 1], dtype=np.int32)
    up = np.array([True, False, True, True, False])
    # pairs (better, worse) by nodes: (0,1) in (0,0): 1; (0,2) in (0,1): 0; (1,2) in (0,1): -1; (3,4) in (1,1): 1
    assert LevelEdges.of(sample, positions, up) == LevelEdges(-0.5, 0.25)


def test_levels_of_the_martingale_have_one_node_more_each():
    def check(growth, changes):
        assert len(growth.nodes) == len(growth.edges) + 1 == growth.frontier.size
        assert len(changes) == len(growth.edges)

    grown(rf.make_artificial(queries=10, documents=8, features=3, seed=1), "martingale", steps=6, after_step=check)


def test_rebalancing_merges_without_a_split_and_without_a_loss():
    """Steps that end with a merge are worth more than all before; and there are fewer nodes than without merges."""
    rng = np.random.default_rng(3)
    data = rf.Dataset(rng.integers(0, 9, (120, 4)).astype(float), rng.integers(0, 3, 120), np.repeat(np.arange(24), 5))
    growth = Rebalancing(_sample(data), 1)
    values, merged = [growth.frontier.value()], 0
    for _ in range(40):
        kinds = [type(change) for change in growth.step()]
        if not kinds:
            break
        value = growth.frontier.value()
        if kinds[-1] is Joined:  # the full form merges before it splits
            assert value > max(values)
            merged += 1
        values.append(value)
    assert merged
    assert len(growth.nodes) < len(grown(data, "full", steps=40, min_documents=1).nodes)
    replayed = Rebalancing(_sample(data), 1)
    replayed.resume(growth.state())
    assert replayed.frontier.value() == growth.frontier.value()
    assert replayed.nodes == growth.nodes
