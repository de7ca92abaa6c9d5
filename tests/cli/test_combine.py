"""``rankforce combine``: models, features, scores and runs; the curve; what it writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Forty queries on which both features know something."""
    rng = np.random.default_rng(0)
    lines = []
    for query in range(40):
        for place, grade in enumerate(rng.permutation([0, 0, 0, 1, 2])):
            one, two = grade + rng.normal(size=2)
            lines.append(f"{grade} qid:{query} 1:{one:.6f} 2:{two:.6f} # docid = d{query}-{place}\n")
    path = tmp_path / "many.txt"
    path.write_text("".join(lines))
    return path


def test_text_json_model_and_picture(run: Any, many: Path, tmp_path: Path) -> None:
    expected = rf.combine(["1", "2"], rf.read(many), "NDCG@3", folds=4)
    model, picture = tmp_path / "both.json", tmp_path / "curve.svg"
    pytest.importorskip("matplotlib")
    outcome = run(
        "combine", many, "feature:1", "feature:2", "-m", "NDCG@3", "--folds", 4, "-o", model, "--plot", picture
    )
    assert outcome.code == 0, outcome.err
    assert f"{expected.value:.4f}" in outcome.out
    assert "significantly better than feature:1" in outcome.out or "feature:2" in outcome.out
    assert "on 4 folds" in outcome.out
    assert "█" in outcome.out
    assert picture.read_text().startswith("<?xml")
    assert rf.evaluate(rf.load(model), rf.read(many), "NDCG@3").mean["NDCG@3"] == expected.value
    found = json.loads(run("combine", many, "feature:1", "feature:2", "-m", "NDCG@3", "--folds", 4, "--json").out)
    assert found["value"] == expected.value
    assert found["weights"] == expected.weights.tolist()
    assert found["held_out"]["on"] == "4 folds"
    assert found["held_out"]["significantly_better"] is expected.significantly_better


def test_runs_are_combined_on_judgments_and_on_data(run: Any, many: Path, tmp_path: Path) -> None:
    data = rf.read(many)
    assert data.document_ids is not None
    s, t = data.features.T.astype(np.float64)
    rows = list(zip(data.qid.tolist(), data.document_ids.tolist(), data.label().tolist(), strict=True))
    qrels = tmp_path / "judged.qrels"
    qrels.write_text("".join(f"{query} 0 {document} {grade:g}\n" for query, document, grade in rows))
    for name, scores in (("one", s), ("two", t)):
        rf.write_run(data, scores, tmp_path / f"{name}.run", tag=name)
    lines = (tmp_path / "two.run").read_text().splitlines(keepends=True)
    (tmp_path / "two.run").write_text("".join(lines[:4] + lines[5:]))  # the last of the first query is not retrieved
    fused = tmp_path / "both.run"
    on_qrels = run(
        "combine",
        qrels,
        tmp_path / "one.run",
        tmp_path / "two.run",
        "--run",
        fused,
        "--json",
        "--unretrieved",
        "lowest",
    )
    assert on_qrels.code == 0, on_qrels.err
    on_data = run("combine", many, "feature:1", tmp_path / "two.run", "--json", "--unretrieved", "lowest")
    assert on_data.code == 0, on_data.err
    one, other = json.loads(on_qrels.out), json.loads(on_data.out)
    assert one["value"] == pytest.approx(other["value"], abs=1e-12)
    joined = rf.judged_run(rf.read_qrels(qrels), rf.read_run(fused))
    assert rf.evaluate(joined.scores, joined.data).mean["NDCG@10"] == pytest.approx(one["value"], abs=1e-12)
    refused = run("combine", qrels, tmp_path / "one.run", tmp_path / "two.run")
    assert refused.code == 2
    assert "--unretrieved raise" in refused.err
    assert "--unretrieved lowest" in refused.err
    assert "did not retrieve" in refused.err


def test_mistakes(run: Any, many: Path, tmp_path: Path) -> None:
    for arguments, words in (
        (("feature:1",), "nothing to combine"),
        (("feature:1", "feature:9"), "no feature '9'"),
        (("feature:1", "feature:2", "--folds", 1), "folds must be"),
        (("feature:1", "feature:2", "--measure", "NDGC"), "NDGC"),
    ):
        outcome = run("combine", many, *arguments)
        assert outcome.code == 2
        assert words in outcome.err
    pytest.importorskip("matplotlib")
    for name, others, words in (
        ("curve.xyz", (), "not as '.xyz'"),
        ("curve", (), "not as 'nothing'"),
        ("nowhere/curve.png", (), "no folder"),
        ("curve.png", ("--method", "net"), "leave --plot out"),
    ):
        written = tmp_path / "model.json"
        outcome = run("combine", many, "feature:1", "feature:2", "-o", written, "--plot", tmp_path / name, *others)
        assert outcome.code == 2
        assert words in outcome.err
        assert not written.exists()  # it was found out before the work
    scores = tmp_path / "scores.txt"
    scores.write_text("0.5\n" * 200)
    outcome = run("combine", many, "feature:1", scores, "--validation", many)
    assert outcome.code == 2
    assert "given as scores" in outcome.err
    outcome = run("combine", many, "feature:1", "feature:2", "--validation", many)
    assert outcome.code == 0
    assert "on validation data" in outcome.out


@pytest.fixture
def two_runs(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Judgments of two queries; a run that lacks the second, and one that lacks a document of it."""
    qrels, a, b = tmp_path / "a.qrels", tmp_path / "a.run", tmp_path / "b.run"
    qrels.write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\nq2 0 d3 0\nq2 0 d4 0\n")
    a.write_text("q1 Q0 d2 1 3.0 t\nq1 Q0 d1 2 2.0 t\n")
    b.write_text("q1 Q0 d1 1 3.0 t\nq1 Q0 d2 2 2.0 t\nq2 Q0 d4 1 2 t\nq2 Q0 d3 2 1 t\n")
    return qrels, a, b


def test_queries_that_a_run_lacks(run: Any, two_runs: tuple[Path, Path, Path]) -> None:
    qrels, a, b = two_runs
    kept = run("combine", qrels, a, b, "-m", "MAP", "--json", "--unretrieved", "lowest")
    assert kept.code == 0
    assert f"{a} lacks 1 of the 2 judged queries: all documents score the same there" in kept.err
    assert f"{b} did not retrieve 1 documents" in kept.err
    skipped = run("combine", qrels, a, b, "-m", "MAP", "--missing-queries", "skip", "--json", "--unretrieved", "lowest")
    assert "left out for all rankings" in skipped.err
    assert json.loads(skipped.out)["singles"] == [0.5, 1.0]  # on the first query alone
    refused = run("combine", qrels, a, b, "-m", "MAP", "--missing-queries", "raise")
    assert refused.code == 2
    assert "lacks 1 of the 2 judged queries, among them q2" in refused.err


def test_no_query_in_common(run: Any, tmp_path: Path) -> None:
    qrels, a, b = tmp_path / "a.qrels", tmp_path / "a.run", tmp_path / "b.run"
    qrels.write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\nq2 0 d3 0\n")
    a.write_text("q1 Q0 d2 1 3.0 t\nq1 Q0 d1 2 2.0 t\n")
    b.write_text("q2 Q0 d1 1 3.0 t\nq2 Q0 d3 2 2.0 t\n")
    outcome = run("combine", qrels, a, b, "--missing-queries", "skip")
    assert (outcome.code, "no judged query is in all runs" in outcome.err) == (2, True)


def test_queries_are_left_out_of_scores_and_features_too(run: Any, many: Path, tmp_path: Path) -> None:
    data = rf.read(many)
    rf.write_run(data, data.features[:, 0], tmp_path / "one.run", tag="one")
    lines = (tmp_path / "one.run").read_text().splitlines(keepends=True)
    (tmp_path / "one.run").write_text("".join(line for line in lines if not line.startswith("7 ")))
    scores = tmp_path / "two.txt"
    scores.write_text("".join(f"{value!r}\n" for value in data.features[:, 1].tolist()))
    expected = rf.combine(["1", "2"], data.take_queries(data.query_ids != 7))
    for other in (scores, "feature:2"):
        outcome = run("combine", many, tmp_path / "one.run", other, "--missing-queries", "skip", "--json")
        assert outcome.code == 0, outcome.err
        assert json.loads(outcome.out)["singles"] == pytest.approx(list(expected.singles))
        assert json.loads(outcome.out)["value"] == pytest.approx(expected.value)


def test_what_cannot_be_written_is_refused_before_the_work(
    run: Any, many: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("the work began")

    monkeypatch.setattr("rankforce.combining.combine.best_weights", never)
    data = rf.read(many)
    rf.write_run(data, data.features[:, 0], tmp_path / "one.run", tag="one")
    outcome = run("combine", many, tmp_path / "one.run", "feature:2", "-o", tmp_path / "both.json")
    assert (outcome.code, "a combination with it is no model. Leave --out out" in outcome.err) == (2, True)
    data.replace(document_ids=None).write(tmp_path / "nameless.txt")
    outcome = run("combine", tmp_path / "nameless.txt", "1", "2", "--run", tmp_path / "both.run")
    assert (outcome.code, "the data has no document ids: write '#docid" in outcome.err) == (2, True)
    outcome = run("combine", many, tmp_path / "one.run", "feature:2", "--validation", many)
    assert (outcome.code, "only models and features rank other data; use --folds" in outcome.err) == (2, True)
    outcome = run("combine", tmp_path / "absent.txt", "1", "2", "-m", "NDCGG")
    assert (outcome.code, "unknown measure 'NDCGG'" in outcome.err) == (2, True)
