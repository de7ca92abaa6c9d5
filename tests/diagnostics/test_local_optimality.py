"""Local optimality: changes along lines against a slow twin, and verdicts that must come out."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf
from rankforce.diagnostics.optimality import STEPS, directions_needed
from rankforce.diagnostics.weight_space import weight_space
from rankforce.errors import DataError, NotFittedError, RankforceError, SettingsError
from rankforce.forces.forces import RunningOrder
from rankforce.models.net import Net
from rankforce.models.net_layout import Layout
from rankforce.models.net_scaling import Scaling
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.training.monitoring import WatchedMeasure
from rankforce.trees.tree import Tree

MEASURES = ["NDCG", "NDCG@2", "MAP", "MRR", "CNDCG:clicks"]


def made(queries: int = 8, documents: int = 6, features: int = 3, seed: int = 0) -> rf.Dataset:
    rng = np.random.default_rng(seed)
    n = queries * documents
    X = rng.normal(size=(n, features))
    grades = np.clip(np.round(X[:, 0] + 0.5 * rng.normal(size=n)), 0, 3)
    grades[:documents] = 0.0  # a blank query
    clicks = np.where(rng.random(n) < 0.3, np.nan, rng.random(n))
    qid = rng.permutation(np.repeat(np.arange(queries), documents))
    data = rf.Dataset(X, grades, qid, query_weights=rng.integers(1, 4, queries))
    return data.with_label("clicks", clicks)


def net(data: rf.Dataset, hidden: int, seed: int = 0, weights: Any = None) -> Net:
    layout = Layout(data.n_features, hidden)
    return Net(
        feature_names=data.feature_names,
        scaling=Scaling.of(data, "standard"),
        hidden=hidden,
        weights=layout.start(seed) if weights is None else weights,
    )


def forest(data: rf.Dataset, trees: int = 3, seed: int = 0) -> TreeEnsemble:
    """Trees of three leaves on different features."""
    rng = np.random.default_rng(seed)
    made = [
        Tree(
            feature=np.array([t % data.n_features, (t + 1) % data.n_features]),
            threshold=rng.normal(scale=0.5, size=2).astype(np.float32),
            missing_left=np.array([True, False]),
            left=np.array([1, ~0]),
            right=np.array([~2, ~1]),
            gain=np.ones(2),
            leaf_value=rng.normal(size=3).astype(np.float32),
            leaf_documents=np.ones(3, dtype=np.int64),
        )
        for t in range(trees)
    ]
    return TreeEnsemble.from_trees(made, data.feature_names)


def slow_means(model: Any, data: rf.Dataset, measure: str, direction: np.ndarray, steps: Any, seed: int) -> list[float]:
    """The mean of the measure at each step, by scoring and ranking anew."""
    result = []
    watched = WatchedMeasure(data, rf.measure(measure))
    for step in steps:
        if isinstance(model, Net):
            scores = model.with_weights(model.weights + step * direction).predict(data)
        else:
            leaves = model.leaf_indices(data) + model.leaf_starts[:-1]
            scores = (model.leaf_value.astype(np.float64) + step * direction)[leaves].sum(axis=1)
        result.append(watched.mean(RunningOrder(data, seed).update(data.by_query(scores))))
    return result


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kind", ["linear", "hidden", "trees"])
def test_values_along_a_line_are_those_of_the_slow_twin(kind: str, measure: str) -> None:
    data = made()
    model = {"linear": lambda: net(data, 0), "hidden": lambda: net(data, 3), "trees": lambda: forest(data)}[kind]()
    space = weight_space(model, data, measure, seed=4)
    rng = np.random.default_rng(1)
    steps = np.array([0.0, -0.5, 0.3, 2.0])
    for trial in range(3):
        direction = rng.normal(size=len(space.weights))
        if trial == 2:  # a single weight: units and queries that do not move are not computed again
            direction[1:] = 0.0
        expected = slow_means(model, data, measure, direction, steps, seed=4)
        assert space.means(direction, steps) == pytest.approx(expected, abs=1e-12)


def test_decisive_weights_are_those_that_change_a_ranking() -> None:
    data = made()
    features = np.array(data.features)
    features[:, 1] = 5.0
    data = data.replace(features=features)
    one, two = net(data, 0), net(data, 2)
    assert weight_space(one, data, "NDCG", 0).decisive.tolist() == [True, False, True, False]
    used = weight_space(two, data, "NDCG", 0).decisive
    left_out = [two.weight_names[place] for place in np.flatnonzero(~used)]
    assert left_out == ["hidden 1 × feature '2'", "hidden 2 × feature '2'", "output bias"]
    model = forest(data)  # tree 0 asks features 1 and 2: its leaf 0 or 1 is empty
    space = weight_space(model, data, "NDCG", 0)
    leaves = model.leaf_indices(data) + model.leaf_starts[:-1]
    for place, used in enumerate(space.decisive):
        inside = [(leaves[rows] == place).any(axis=1) for rows in data.each_query()]
        assert used == any(one.any() and not one.all() for one in inside)
    assert space.names[4] == "tree 1 leaf 1"


def test_number_of_directions() -> None:
    assert directions_needed() == 459
    assert directions_needed(0.1, 0.1) == 22
    assert directions_needed(0.05, 0.01) == math.ceil(math.log(0.01) / math.log(0.95))


def test_changes_are_those_of_the_directions() -> None:
    data = made()
    model = net(data, 3)
    found = rf.diagnostics.local_optimality(model, data, "NDCG@3", epsilon=0.2, delta=0.2, seed=3, progress=False)
    assert len(found.directions) == 8
    assert found.directions.lengths == pytest.approx(np.array(STEPS) * np.linalg.norm(model.weights))
    for number in range(8):
        direction = found.direction(number)
        assert np.linalg.norm(direction) == pytest.approx(1.0)
        assert direction[-1] == 0.0  # the output bias
        means = slow_means(model, data, "NDCG@3", direction, [0.0, *found.directions.lengths], seed=3)
        assert found.directions.changes[number] == pytest.approx(np.array(means[1:]) - means[0], abs=1e-12)
    assert found.value == pytest.approx(means[0])
    absolute = rf.diagnostics.local_optimality(
        model, data, "NDCG@3", epsilon=0.2, delta=0.2, seed=3, relative=False, scale=0.5, progress=False
    )
    assert absolute.directions.lengths == pytest.approx(0.5 * np.array(STEPS))


@pytest.mark.compiled_only
def test_threads_do_not_matter() -> None:
    data = made(20)
    runs = [
        rf.diagnostics.local_optimality(
            net(data, 3), data, epsilon=0.1, delta=0.1, each_weight=True, threads=n, progress=False
        )
        for n in (1, 2, 3)
    ]
    for other in runs[1:]:
        assert other.directions.changes.tobytes() == runs[0].directions.changes.tobytes()
        assert other.weights.changes.tobytes() == runs[0].weights.changes.tobytes()


@pytest.mark.compiled_only
def test_an_optimum_passes_and_its_opposite_fails() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 3))
    data = rf.Dataset(X, np.digitize(X @ [1.0, -2.0, 0.5], [-1.0, 0.5, 2.0]), np.repeat(np.arange(60), 20))
    best = net(data, 0, weights=np.array([1.0, -2.0, 0.5, 0.0]) * [*X.std(axis=0), 1.0])
    found = rf.diagnostics.local_optimality(best, data, each_weight=True, progress=False)
    assert found.passed
    assert found.value == pytest.approx(1.0)
    assert found.verdict.startswith("Local optimum: fewer than 0.01 of the directions ascend, confidence 0.99 (none of")
    assert "One at a time, 0 weights of 3 ascend." in found.verdict
    assert "left out as they change no ranking: 1: output bias" in str(found)
    worst = best.with_weights(-best.weights)
    lost = rf.diagnostics.local_optimality(worst, data, each_weight=True, progress=False)
    assert not lost.passed
    assert lost.directions.share_ascending > 0.9
    assert lost.verdict.startswith("Not a local optimum: ")
    line, step, change = lost.directions.steepest()
    assert line == lost.directions.ascending[0]
    better = worst.with_weights(worst.weights + step * lost.direction(line))
    measured = rf.evaluate(better, data, "NDCG").mean["NDCG"]
    assert measured == pytest.approx(lost.value + change, abs=1e-9)
    assert {lost.weights.names[place] for place in lost.weights.ascending} <= set(best.weight_names[:3])
    told = json.loads(json.dumps(lost.to_dict(), allow_nan=False))
    assert told["directions"]["count"] == 459
    assert told["weights"]["left_out"] == ["output bias"]


def test_a_measure_that_cannot_change_is_flat() -> None:
    data = made()
    flat = data.replace(labels={"grades": np.ones(data.n_documents)})
    found = rf.diagnostics.local_optimality(net(flat, 0), flat, "NDCG", epsilon=0.1, delta=0.1, progress=False)
    assert found.passed
    assert len(found.directions.flat) == 22
    strict = rf.diagnostics.local_optimality(
        net(flat, 0), flat, "NDCG", epsilon=0.1, delta=0.1, strict=True, progress=False
    )
    assert not strict.passed
    assert strict.directions.share_ascending == 1.0
    assert "raise or keep" in strict.verdict


def test_trees_at_an_optimum_of_their_leaves() -> None:
    data = made(40, 12)
    model = forest(data, trees=2)
    found = rf.diagnostics.local_optimality(
        model, data, "NDCG", epsilon=0.1, delta=0.1, each_weight=True, progress=False
    )
    assert not found.passed  # leaves drawn at random
    line, step, change = found.weights.steepest()
    assert change > 0.01
    assert found.weights.names[line].startswith("tree ")
    assert abs(step) in found.directions.lengths


def test_mistakes() -> None:
    data = made()
    model = net(data, 0)
    for wrong in ({"epsilon": 0.0}, {"delta": 1.0}, {"scale": 0.0}, {"seed": -1}, {"measure": "nonsense"}):
        with pytest.raises(RankforceError, match=next(iter(wrong))):
            rf.diagnostics.local_optimality(model, data, **({"measure": "NDCG"} | wrong))
    with pytest.raises(DataError, match="must be a Dataset"):
        rf.diagnostics.local_optimality(model, data.features)
    with pytest.raises(SettingsError, match="only nets and sums of trees"):
        rf.diagnostics.local_optimality(rf.Dataset, data)
    for ranker in (rf.LambdaRank(), rf.MART()):
        with pytest.raises(NotFittedError, match="call fit first"):
            rf.diagnostics.local_optimality(ranker, data)
    blank = data.replace(labels={"grades": np.zeros(data.n_documents)})
    with pytest.raises(DataError, match="no query of the data can score"):
        rf.diagnostics.local_optimality(model, blank)
    with pytest.raises(SettingsError, match="use relative=False"):
        rf.diagnostics.local_optimality(model.with_weights(np.zeros(4)), data)
    with pytest.raises(SettingsError, match="no weight of the model can change"):
        rf.diagnostics.local_optimality(model, data.replace(features=np.ones((data.n_documents, 3))))
    with pytest.raises(SettingsError, match="no trees"):
        rf.diagnostics.local_optimality(TreeEnsemble.from_trees([], data.feature_names), data)


def test_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    data = made()
    found = rf.diagnostics.local_optimality(net(data, 0), data, epsilon=0.2, delta=0.2, progress=False)
    figure = found.plot(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 1000
    assert len(figure.axes[0].lines) == 8 + 1


@pytest.mark.compiled_only
@pytest.mark.parametrize("measure", ["NDCG", "NDCG@10", "MAP", "MRR"])
def test_trained_nets_are_near_an_optimum_and_random_ones_are_not(measure: str) -> None:
    """Shares of directions that ascend; the full test, on more queries, is ``experiments/local_optimality.py``."""
    trained, random = [], []
    for seed in range(3):
        data = rf.make_artificial(200, 20, 10, seed=seed)
        ranker = rf.LambdaRank(measure, hidden=5, epochs=40, learning_rate=0.01, seed=seed, progress=False).fit(data)
        start = ranker.model_.with_weights(ranker.model_.layout.start(seed + 50))
        for model, shares in ((ranker.model_, trained), (start, random)):
            found = rf.diagnostics.local_optimality(
                model, data, measure, epsilon=0.06, delta=0.06, seed=seed, progress=False
            )
            shares.append(found.directions.share_ascending)
    assert max(trained) < 0.15
    assert min(random) > 0.3
