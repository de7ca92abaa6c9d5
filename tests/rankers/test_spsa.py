"""SPSA as a ranker: it climbs the measure, and keeps the contract of the other nets."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf
from rankforce.errors import RankforceError
from rankforce.models.net import Net
from rankforce.optimising.perturbations import signs

pytestmark = pytest.mark.compiled_only


@pytest.fixture(scope="module")
def data() -> rf.Dataset:
    return rf.make_artificial(queries=60, documents=12, features=5, seed=1)


@pytest.fixture(scope="module")
def other() -> rf.Dataset:
    return rf.make_artificial(queries=60, documents=12, features=5, seed=2)


def ranker(**settings: Any) -> rf.SPSA:
    return rf.SPSA(**({"epochs": 15, "progress": False} | settings))


@pytest.mark.parametrize("hidden", [0, 3])
@pytest.mark.parametrize("measure", ["NDCG", "MAP", "MRR", "ERR@3(max_grade=4)"])
def test_the_measure_rises(hidden: int, measure: str, data: rf.Dataset) -> None:
    made = ranker(measure=measure, hidden=hidden, epochs=30).fit(data)
    start = Net(
        feature_names=data.feature_names,
        scaling=made.model_.scaling,
        hidden=hidden,
        weights=made.model_.layout.start(0),
    )
    before = rf.evaluate(start, data, measure).mean[measure]
    assert made.score(data) > before + 0.02
    assert made.history_["train"][-1] == pytest.approx(made.score(data), abs=1e-9)


def test_a_step_is_spalls(data: rf.Dataset) -> None:
    one, two = (ranker(epochs=epochs, steps=1, keep_weights=True).fit(data) for epochs in (1, 2))
    move = two.weights_[1] - two.weights_[0]
    assert np.abs(move) == pytest.approx(np.abs(move[0]))  # every weight by the same amount, up or down
    assert (np.sign(move) == signs(6, 2, 0)).all() or (np.sign(move) == -signs(6, 2, 0)).all()
    assert len(one.weights_) == 1


def cross_entropy(scores: np.ndarray, data: rf.Dataset) -> float:
    """Pair by pair, as it is defined."""
    labels, total = data.labels["grades"], 0.0
    for query in np.unique(data.qid):
        rows = np.flatnonzero(data.qid == query)
        for i in rows:
            for j in rows:
                if labels[i] > labels[j]:
                    total += np.log1p(np.exp(-(scores[i] - scores[j])))
    return float(total)


def test_the_cross_entropy_falls_where_it_is_the_target(data: rf.Dataset) -> None:
    first, last = (
        ranker(target="cross_entropy", epochs=40, keep_weights=True).fit(data).weights_[place] for place in (0, -1)
    )
    model = ranker(epochs=1).fit(data).model_
    costs = [cross_entropy(model.with_weights(weights).predict(data), data) for weights in (first, last)]
    assert costs[1] < 0.97 * costs[0]


def test_differences_step_along_every_weight(data: rf.Dataset) -> None:
    """Of the cross entropy, which is smooth: the step is the gradient's, weight by weight."""
    made = ranker(target="cross_entropy", slope="differences", epochs=2, steps=1, keep_weights=True).fit(data)
    first, second = made.weights_
    move, gradient = second - first, np.zeros(len(first))
    for place in range(len(first)):
        shift = np.zeros(len(first))
        shift[place] = 1e-3
        above, below = (
            cross_entropy(made.model_.with_weights(first + sign * shift).predict(data), data) for sign in (1, -1)
        )
        gradient[place] = -(above - below) / 2e-3
    decisive = np.abs(gradient) > 1e-6 * np.abs(gradient).max()
    ratio = move[decisive] / gradient[decisive]
    assert ratio == pytest.approx(ratio[0], rel=0.02)  # c is 0.1: differences of a curve, not its slope
    assert ratio[0] > 0


def test_a_user_s_measure_is_climbed(data: rf.Dataset) -> None:
    class FirstGrade(rf.Measure):
        def normaliser(self, ideal: Any) -> Any:
            return ideal[0]

        def value(self, ranked: Any, normaliser: Any) -> Any:
            return ranked[0] / normaliser

    made = ranker(measure=FirstGrade(), epochs=30, distance=0.2).fit(data)
    assert made.history_["train"][-1] > made.history_["train"][0]


def test_validation_chooses_epoch_and_rate(data: rf.Dataset, other: rf.Dataset) -> None:
    made = ranker(learning_rate=[0.001, 0.03]).fit(data, validation=other)
    assert set(made.rates_) == {0.001, 0.03}
    assert made.learning_rate_ == max(made.rates_, key=made.rates_.get)
    assert made.history_["validation"][made.best_iteration_ - 1] == max(made.history_["validation"])
    stopped = ranker(early_stopping=2, epochs=40).fit(data, validation=other)
    assert len(stopped.history_["train"]) <= 40
    again = ranker(learning_rate=[0.001, 0.03], threads=1).fit(data, validation=other)
    assert again.model_.weights.tobytes() == made.model_.weights.tobytes()


def test_an_interrupted_training_ends_with_the_same_bytes(data: rf.Dataset, other: rf.Dataset, tmp_path: Path) -> None:
    whole = ranker(hidden=2).fit(data, validation=other)
    path = tmp_path / "checkpoint.json"

    def stop(iteration: Any) -> None:
        if iteration.number == 6:
            iteration.stop()

    ranker(hidden=2).fit(data, validation=other, checkpoint=path, callbacks=[stop])
    resumed = ranker(hidden=2).fit(data, validation=other, checkpoint=path)
    assert resumed.model_.weights.tobytes() == whole.model_.weights.tobytes()
    assert resumed.history_ == whole.history_
    for changed, now in (({"epochs": 16}, "epochs=16, steps=10"), ({"steps": 20}, "epochs=15, steps=20")):
        with pytest.raises(RankforceError, match="Spall's constant A") as refused:  # its sequences would be others
            ranker(hidden=2, **changed).fit(data, validation=other, checkpoint=path)
        assert f"epochs and steps were epochs=15, steps=10 and are {now}" in str(refused.value)
        assert "steps_in_all" not in str(refused.value)
        assert "steps was" not in str(refused.value)
    with pytest.raises(RankforceError, match="steps was 10 and is 5"):
        ranker(hidden=2, epochs=30, steps=5).fit(data, validation=other, checkpoint=path)


def test_files_and_warm_start(data: rf.Dataset, tmp_path: Path) -> None:
    made = ranker().fit(data)
    made.save(tmp_path / "model.json")
    assert rf.load(tmp_path / "model.json").predict(data).tobytes() == made.predict(data).tobytes()
    assert pickle.loads(pickle.dumps(made)).predict(data).tobytes() == made.predict(data).tobytes()
    further = ranker(base_model=made, epochs=1, steps=1, learning_rate=1e-9).fit(data)
    assert further.model_.weights == pytest.approx(made.model_.weights, abs=1e-7)


def test_mistakes(data: rf.Dataset) -> None:
    for wrong, message in (
        ({"steps": 0}, "steps must be"),
        ({"epochs": 0}, "epochs must be"),
        ({"distance": 0.0}, "distance must be"),
        ({"distance": 1e-12}, "the same everywhere at distance=1e-12 of the first weights: give a larger one"),
        ({"learning_rate": "auto"}, "a choice of learning rates needs validation data"),
        ({"learning_rate": None}, "learning_rate must be"),
        ({"learning_rate": -1.0}, "learning_rate must be"),
        ({"early_stopping": 3}, "needs validation data"),
        ({"measure": "nonsense"}, "unknown measure"),
    ):
        with pytest.raises(RankforceError, match=message):
            ranker(**wrong).fit(data)


def test_labels_without_any_order_are_named_and_no_distance():
    features = np.random.default_rng(0).normal(size=(12, 2))
    for labels in (np.ones(12), np.zeros(12), np.repeat([1.0, 2.0], 6)):
        data = rf.Dataset(features, labels, group=[6, 6])
        with pytest.raises(
            rf.DataError, match="nothing to learn from: no query has two documents with different labels"
        ):
            rf.SPSA(progress=False).fit(data)
