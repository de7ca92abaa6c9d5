"""Curves of a measure along one weight."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rankforce as rf
from rankforce.errors import SettingsError
from rankforce.models.net import Net
from rankforce.models.net_layout import Layout
from rankforce.models.net_scaling import Scaling


@pytest.fixture(scope="module")
def data() -> rf.Dataset:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400 * 10, 4))
    return rf.Dataset(X, np.digitize(X @ [1.0, 0.5, -0.5, 0.1], [-1, 0.5, 2]), np.repeat(np.arange(400), 10))


def net(data: rf.Dataset, hidden: int) -> Net:
    weights = Layout(4, hidden).start(1)
    return Net(feature_names=data.feature_names, scaling=Scaling.of(data, "none"), hidden=hidden, weights=weights)


@pytest.mark.parametrize(("hidden", "weight"), [(0, 1), (2, "hidden 2 × feature '3'"), (2, "output × hidden 1")])
def test_curves_are_evaluations_of_moved_weights(data: rf.Dataset, hidden: int, weight: int | str) -> None:
    model = net(data, hidden)
    found = rf.diagnostics.smoothness(model, data, "NDCG@5", weight=weight, queries=(400,), points=5, width=0.7)
    place = weight if isinstance(weight, int) else model.weight_names.index(weight)
    assert found.positions == pytest.approx(model.weights[place] + np.linspace(-0.7, 0.7, 5))
    for position, value in zip(found.positions, found.curves[max(found.curves)], strict=True):
        weights = np.array(model.weights)
        weights[place] = position
        assert value == pytest.approx(rf.evaluate(model.with_weights(weights), data, "NDCG@5").mean["NDCG@5"])


@pytest.mark.compiled_only
def test_more_queries_are_smoother(data: rf.Dataset) -> None:
    found = rf.diagnostics.smoothness(net(data, 0), data, weight=0, queries=(5, 50, 1000), points=101)
    few, more, all_queries = found.curves
    assert (few, more) == (5, 50)
    assert all_queries <= 400
    assert found.turns(few) >= found.turns(all_queries)
    jumps = [float(np.abs(np.diff(curve)).max()) for curve in found.curves.values()]
    assert jumps[0] > 2 * jumps[2]
    assert found.roughness(few) > 0.9


def test_table_and_plot(data: rf.Dataset, tmp_path: Path) -> None:
    found = rf.diagnostics.smoothness(net(data, 0), data, weight=2, queries=(5, 50), points=11)
    assert str(found).startswith("NDCG while output × feature '3' moves from")
    assert "at the weight" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)
    if pytest.importorskip("pandas"):
        assert list(found.to_pandas().columns) == [5, 50]
    pytest.importorskip("matplotlib")
    found.plot(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 1000


def test_mistakes(data: rf.Dataset) -> None:
    model = net(data, 0)
    for wrong in ({"weight": 9}, {"weight": "bias"}, {"points": 10}, {"points": 1}, {"width": 0.0}, {"queries": ()}):
        with pytest.raises(SettingsError, match=next(iter(wrong))):
            rf.diagnostics.smoothness(model, data, **wrong)
