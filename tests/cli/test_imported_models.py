"""Models of other libraries on the command line: named like rankforce's own, recognised by content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.importing.foreign_files import FILES

TWO_FEATURES = ["XGBoost JSON", "XGBoost UBJSON", "CatBoost JSON"]  # as the data has


@pytest.mark.parametrize("form", TWO_FEATURES)
def test_they_are_evaluated_compared_scored_and_inspected(form: str, run: Any, data: Path, tmp_path: Path) -> None:
    model = tmp_path / "foreign"
    model.write_bytes(FILES[form])
    evaluated = run("evaluate", data, model, "-m", "NDCG@10", "--json")
    assert evaluated.code == 0, evaluated.err
    assert json.loads(evaluated.out)["kind"] == "model"
    assert run("compare", data, model, "feature:1", "-m", "NDCG@10").code == 0
    scored = run("score", model, data)
    assert scored.code == 0, scored.err
    assert len(scored.out.split()) == 7
    inspected = run("inspect", model)
    assert inspected.code == 0, inspected.err
    assert "XGBoost" in inspected.out or "CatBoost" in inspected.out


def test_a_damaged_one_is_an_error_with_the_reason(run: Any, data: Path, tmp_path: Path) -> None:
    model = tmp_path / "lightgbm.txt"
    model.write_bytes(FILES["LightGBM text"][:400])
    outcome = run("evaluate", data, model, "-m", "NDCG@10")
    assert outcome.code == 2
    assert "truncated" in outcome.err
