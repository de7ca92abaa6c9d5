"""``rankforce optimality``: verdict, JSON, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf
from rankforce.models.net import Net
from rankforce.models.net_scaling import Scaling

pytestmark = pytest.mark.compiled_only


@pytest.fixture
def model(data: Path, tmp_path: Path) -> Path:
    path = tmp_path / "model.json"
    judged = rf.read(data)
    weights = np.array([1.0, 2.0, 0.0])
    scaling = Scaling.of(judged, "none")
    Net(feature_names=judged.feature_names, scaling=scaling, hidden=0, weights=weights).save(path)
    return path


def test_verdict_and_json(run: Any, model: Path, data: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    common = ("optimality", model, data, "-m", "NDCG@3", "--epsilon", 0.1, "--delta", 0.1)
    out = run(*common, "--each-weight", "--plot", tmp_path / "plot.png")
    assert out.code == 0, out.err
    assert "NDCG@3" in out.out
    assert (tmp_path / "plot.png").exists()
    told = json.loads(run(*common, "--json").out)
    assert told["directions"]["count"] == 22
    assert told["verdict"] in out.out or told["weights"] is None
    assert run(*common, "--require").code == (0 if told["passed"] else 1)
    strict = json.loads(run(*common, "--strict", "--absolute", "--scale", 1e-9, "--json").out)
    assert strict["passed"] is False  # nothing changes so near


def test_mistakes(run: Any, model: Path, data: Path) -> None:
    assert run("optimality", model, data, "--epsilon", 2).code == 2
    assert run("optimality", data, data).code == 2
    assert run("optimality", model, data, "-m", "nonsense").code == 2
    pytest.importorskip("matplotlib")
    assert "not as '.xyz'" in run("optimality", model, data, "--plot", "plot.xyz").err


def test_quiet_draws_no_progress(run: Any, model: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    found = rf.diagnostics.local_optimality

    def noting(*arguments: Any, progress: bool, **options: Any) -> Any:
        asked.append(progress)
        return found(*arguments, progress=False, **options)

    monkeypatch.setattr(rf.diagnostics, "local_optimality", noting)
    for options in ((), ("-q",), ("--quiet",)):
        assert run("optimality", model, data, "--epsilon", 0.5, *options).code == 0
    assert asked == [True, False, False]
