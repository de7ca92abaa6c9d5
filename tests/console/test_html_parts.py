"""What notebooks show: escaped, in the colours of the page, and with the numbers that are known."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import rankforce as rf
from rankforce.console import html_parts, result_tables

TRAIN, VALIDATION = rf.make_artificial(queries=30, documents=6, features=4, clicks=True, seed=1).split(0.5, 0.5)
SMALL: dict[str, Any] = {"n_trees": 3, "n_leaves": 3, "min_documents": 2, "progress": False}


def points(svg: str) -> list[np.ndarray]:
    found = re.findall(r'<polyline points="([^"]*)"', svg)
    return [np.array([pair.split(",") for pair in one.split()], dtype=float) for one in found]


def test_curves_are_the_values_scaled_into_the_drawing() -> None:
    values = {"validation": [0.2, 0.5, 0.4], "train": [0.3, 0.7, 0.9]}
    drawn = points(html_parts.curves(values, "history"))
    inside = html_parts.HEIGHT - 2 * html_parts.EDGE
    for heights, line in zip(values.values(), drawn, strict=True):
        np.testing.assert_allclose(line[:, 0], np.linspace(html_parts.EDGE, html_parts.WIDTH - html_parts.EDGE, 3))
        share = (np.array(heights) - 0.2) / 0.7
        np.testing.assert_allclose(line[:, 1], html_parts.HEIGHT - html_parts.EDGE - inside * share, atol=0.01)
    assert html_parts.curves({"train": [0.5]}, "one value is no curve") == ""
    assert html_parts.curves({"train": [float("nan")] * 3}, "nothing known") == ""


def test_text_of_others_is_escaped() -> None:
    shown = html_parts.block(
        html_parts.heading("<b>\x1b"),
        html_parts.facts([("<i>", "<script>")]),
        html_parts.small("<s>"),
        html_parts.unfolded("<u>", ""),
        html_parts.curves({"<x>": [1.0, 2.0]}, '<t>"'),
    )
    assert not re.search(r"<(b|i|script|s|u|x|t)>|\x1b", shown)


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    ranker = rf.LambdaMART("NDCG@5", **SMALL).fit(TRAIN, validation=VALIDATION)
    graded = rf.LambdaMART(objective=rf.Graded(["NDCG@5", "CNDCG:clicks"], "search"), **SMALL | {"n_trees": 1})
    one_tree = rf.LambdaMART("NDCG@5", **SMALL | {"n_trees": 1})
    return {
        "ranker": ranker,
        "not fitted": rf.LambdaMART(),
        "card": rf.model_card(ranker),
        "ranking": ranker.rank(VALIDATION),
        "evaluation": rf.evaluate(ranker, VALIDATION),
        "comparison": rf.compare("1", ranker, VALIDATION),
        "leaderboard": rf.compare({"a": "1", "b": "2"}, VALIDATION),
        "folds": rf.cross_validate(one_tree, TRAIN, "NDCG@5", folds=2, progress=False),
        "tuning": rf.tune(one_tree, TRAIN, {"n_leaves": [2, 3]}, method="grid", folds=2, refit=False, progress=False),
        "combination": rf.combine(["1", "2"], VALIDATION),
        "search": rf.search_weights(graded, TRAIN, VALIDATION, shares=[0.2]),
        "force check": rf.diagnostics.check_forces("RankNetWeightPairs", samples=2),
        "optimality": rf.diagnostics.local_optimality(ranker, TRAIN, epsilon=0.3, delta=0.3, progress=False),
        "export check": rf.export_model(ranker, None, "xgboost", check=True, missing="nan").check,
        "importance": rf.importance(ranker, VALIDATION, permutations=1, progress=False),
        "contributions": rf.explain(ranker, VALIDATION, VALIDATION.query_ids[0]),
        "forces": rf.forces_at(VALIDATION, "1"),
        "inspection": rf.inspect(VALIDATION),
        "data": VALIDATION,
    }


@pytest.mark.compiled_only
def test_every_result_is_shown_light_and_dark(results: dict[str, Any]) -> None:
    for name, result in results.items():
        shown = result._repr_html_()
        assert shown.startswith("<div"), name
        assert len(re.findall(r"<div\b", shown)) == shown.count("</div>"), name
        assert len(re.findall(r"<table\b", shown)) == shown.count("</table>"), name
        colours = set(re.findall(r"#[0-9a-fA-F]{3,6}\b|background|rgb\(", shown))
        known = {*html_parts.COLOURS, *result_tables.SIGNIFICANT_COLOURS.values()}  # seen on light and dark pages
        assert colours <= known, f"{name} sets {colours - known}, which some page has already"


@pytest.mark.compiled_only
def test_numbers_are_those_of_the_result(results: dict[str, Any]) -> None:
    ranker, combined, tuned = results["ranker"], results["combination"], results["tuning"]
    history = {name: ranker.history_[name] for name in sorted(ranker.history_)}
    for shown in (ranker._repr_html_(), results["card"]._repr_html_()):
        assert shown.count("<polyline") == 2
        assert f"validation (dashed): {history['validation'][-1]:.4f}" in shown
    assert "NDCG@5; ties: hashed" in ranker._repr_html_()
    assert ranker._repr_mimebundle_() == {"text/plain": repr(ranker), "text/html": ranker._repr_html_()}
    assert f"<strong>{combined.value:.4f}</strong>" in combined._repr_html_()
    assert f"{combined.weights[0]:.5f}" in combined._repr_html_()
    assert tuned._repr_html_().count("<strong>") == 2, "the title and the best value"
    folds = results["folds"]
    assert folds._repr_html_().endswith(f"{folds.evaluation._repr_html_()}</div>")
    ranking = results["ranking"]
    assert f"... {len(ranking) - 20} more" in ranking._repr_html_()
    assert str(ranking).endswith(f"... {len(ranking) - 20} more")
