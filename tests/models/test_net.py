"""Nets as models: scores, files, names of weights, pairs, and no need of Numba or scikit-learn."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from rankforce.data.dataset import Dataset
from rankforce.errors import DataError, ModelFileError, SettingsError
from rankforce.models.bagged import Bagged
from rankforce.models.net import Net
from rankforce.models.net_layout import Layout
from rankforce.models.net_scaling import KINDS, Scaling
from rankforce.models.storage import from_bytes, to_bytes


def data_of(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3)) * [1.0, 2e8, 1.0]
    X[rng.random(X.shape) < 0.1] = np.nan
    return Dataset(X, rng.integers(0, 3, 30), rng.integers(0, 5, 30), feature_names=["bm25", "clicks", "age"])


def net_of(data, hidden=2, kind="standard", **settings):
    weights = np.random.default_rng(1).normal(size=Layout(data.n_features, hidden).size)
    return Net(
        feature_names=data.feature_names, scaling=Scaling.of(data, kind), hidden=hidden, weights=weights, **settings
    )


@pytest.mark.parametrize("hidden", [0, 1, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_scores_and_files(hidden, kind):
    data = data_of()
    net = net_of(data, hidden, kind, sigma=2.0)
    scores = net.predict(data)
    z = net.inputs(data).astype(np.float64)
    assert np.isfinite(z).all()
    if hidden:
        W, b = net.weights[: 3 * hidden].reshape(hidden, 3), net.weights[3 * hidden : 4 * hidden]
        z = np.tanh(z @ W.T + b)
    np.testing.assert_allclose(scores, z @ net.weights[-1 - z.shape[1] : -1] + net.weights[-1], rtol=1e-12)
    again = from_bytes(to_bytes(net))
    assert to_bytes(again) == to_bytes(net)
    np.testing.assert_array_equal(again.predict(data), scores)
    assert again.sigma == 2.0


@pytest.mark.parametrize("kind", ["none", "standard", "log1p"])
def test_a_document_has_its_score_whatever_stands_beside_it(kind):
    data = data_of()
    net = net_of(data, 7, kind)
    scores = net.predict(data)
    for row in range(30):
        assert net.predict(data.features[row : row + 1])[0] == scores[row]


def test_per_query_scaling_takes_a_matrix_as_one_query():
    data = data_of()
    net = net_of(data, kind="query")
    scores = net.predict(data)
    for rows in data.each_query():
        np.testing.assert_array_equal(net.predict(data.features[rows]), scores[rows])
    assert not np.array_equal(net.predict(data.features), scores)


def test_a_missing_value_is_the_centre_of_its_feature():
    data = data_of()
    net = net_of(data)
    X = np.array([[np.nan, 1.0, 2.0], [net.scaling.centre[0], 1.0, 2.0]])
    first, second = net.predict(X)
    assert first == pytest.approx(second, abs=1e-6)


def test_weights_by_name():
    data = data_of()
    net = net_of(data)
    assert len(net.weight_names) == len(net.weights) == 2 * 3 + 2 + 2 + 1
    assert net.weight_names[0] == "hidden 1 × feature 'bm25'"
    assert net.weight_names[5] == "hidden 2 × feature 'age'"
    assert net.weight_names[6:] == (
        "hidden 1 bias",
        "hidden 2 bias",
        "output × hidden 1",
        "output × hidden 2",
        "output bias",
    )
    assert net_of(data, 0).weight_names[1:] == ("output × feature 'clicks'", "output × feature 'age'", "output bias")
    changed = net.weights.copy()
    changed[net.weight_names.index("output bias")] += 1.0
    np.testing.assert_allclose(net.with_weights(changed).predict(data), net.predict(data) + 1.0)
    with pytest.raises(DataError, match="11 weights"):
        net.with_weights(np.zeros(3))
    with pytest.raises(DataError, match="not finite"):
        net.with_weights(np.full(11, np.nan))


@pytest.mark.parametrize("hidden", [0, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_weights_that_are_not_decisive_change_no_ranking(hidden, kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    X[:, 1] = 3.0  # constant
    qid = np.repeat(np.arange(8), 5)
    X[:, 2] = qid  # constant within queries
    data = Dataset(X, qid=qid)
    net = net_of(data, hidden, kind)
    decisive = net.decisive(data)
    ranking = net.rank(data).row

    def changes(w):
        for change in (-50.0, -3.0, -0.5, 0.5, 3.0, 50.0):
            weights = net.weights.copy()
            weights[w] += change
            if (net.with_weights(weights).rank(data).row != ranking).any():
                return True
        return False

    np.testing.assert_array_equal(decisive, [changes(w) for w in range(len(net.weights))])
    assert not decisive[-1]


def test_pairs():
    data = data_of()
    net = net_of(data, sigma=3.0)
    a, b = data.features[:10], data.features[10:20]
    wanted = 1 / (1 + np.exp(-3.0 * (net.predict(a) - net.predict(b))))
    np.testing.assert_allclose(net.predict_pairs(a, b), wanted)
    np.testing.assert_allclose(net.predict_pairs(a, b) + net.predict_pairs(b, a), 1.0)
    with pytest.raises(DataError, match="10 documents cannot be paired with 9"):
        net.predict_pairs(a, b[1:])
    with pytest.raises(SettingsError, match="whole queries"):
        net_of(data, kind="query").predict_pairs(a, b)


def test_a_net_that_scales_per_query_stands_alone():
    data = data_of()
    Bagged.of(net_of(data), net_of(data, 0))
    with pytest.raises(SettingsError, match="whole queries"):
        Bagged.of(net_of(data), net_of(data, kind="query"))


def test_impossible_nets():
    data = data_of()
    with pytest.raises(SettingsError, match="hidden"):
        net_of(data).__class__(
            feature_names=data.feature_names, scaling=Scaling.of(data, "none"), hidden=-1, weights=np.zeros(4)
        )
    text = to_bytes(net_of(data)).decode()
    with pytest.raises(ModelFileError, match="damaged or edited"):
        from_bytes(text.replace('"hidden": 2', '"hidden": 3').encode())


WITHOUT = """
import sys
for name in ("numba", "sklearn"):
    sys.modules[name] = None
import rankforce as rf
net = rf.load(sys.argv[1])
print(net.predict([[1.0, 2e8, float("nan")]])[0].hex(), net.predict_pairs([[0, 0, 0]], [[0, 0, 0]])[0])
"""


def test_scoring_needs_neither_numba_nor_scikit_learn(tmp_path):
    net = net_of(data_of())
    net.save(tmp_path / "net.json")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, str(tmp_path / "net.json")], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [net.predict([[1.0, 2e8, np.nan]])[0].hex(), "0.5"]
