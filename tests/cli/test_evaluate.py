"""``rankforce evaluate``: every way to name a ranking, the numbers, the policies, the errors."""

from __future__ import annotations

import csv
import gzip
import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf

# NDCG@10 of feature 1: query 7 is ideal; query 8 has its relevant document second; query 9 is blank
QUERY_8 = 1 / math.log2(3)

QRELS = "7 0 a 2\n7 0 b 1\n7 0 c 0\n8 0 d 0\n8 0 e 1\n9 0 f 0\n"
RUN = "7 Q0 a 1 0.9 x\n7 Q0 b 2 0.5 x\n8 Q0 d 1 0.8 x\n8 Q0 e 2 0.2 x\n9 Q0 f 1 0.4 x\n"


def mean(outcome: Any, measure: str = "NDCG@10") -> float:
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)["measures"][measure]["mean"]


def test_text_has_the_numbers_and_the_policies(run: Any, data: Path) -> None:
    outcome = run("evaluate", data, "feature:1", "-m", "NDCG@10", "-m", "MRR")
    assert outcome.code == 0
    assert outcome.err == ""
    assert f"{(1 + QUERY_8) / 2:.4f}" in outcome.out
    assert "0.7500" in outcome.out
    assert "stable" in outcome.out
    assert "skipped" in outcome.out


def test_json_has_the_numbers(run: Any, data: Path) -> None:
    outcome = run("evaluate", data, "1", "-m", "NDCG@10", "-m", "MAP", "--json")
    found = json.loads(outcome.out)
    assert found["kind"] == "feature"
    assert found["measures"]["NDCG@10"]["mean"] == pytest.approx((1 + QUERY_8) / 2)
    assert found["measures"]["NDCG@10"]["blank"] == 1
    assert found["measures"]["MAP"]["mean"] == pytest.approx(0.75)
    assert found["blank"] == "skip"


@pytest.mark.parametrize(("policy", "of_blank"), [("zero", 0.0), ("one", 1.0)])
def test_blank_policy(run: Any, data: Path, policy: str, of_blank: float) -> None:
    outcome = run("evaluate", data, "1", "--blank", policy, "--json")
    assert mean(outcome) == pytest.approx((1 + QUERY_8 + of_blank) / 3)


def test_ties_policy_and_convention(run: Any, data: Path, tmp_path: Path) -> None:
    scores = tmp_path / "equal.txt"
    scores.write_text("0\n" * 7)
    assert mean(run("evaluate", data, scores, "--ties", "optimistic", "--json")) == pytest.approx(1.0)
    assert mean(run("evaluate", data, scores, "--ties", "pessimistic", "--json")) < 0.8
    lightgbm = run("evaluate", data, "1", "--convention", "lightgbm", "--json")
    assert mean(lightgbm) == pytest.approx((1 + QUERY_8 + 1) / 3)
    both = run("evaluate", data, "1", "--convention", "lightgbm", "--ties", "stable")
    assert both.code == 2
    assert "convention" in both.err


def test_scores_from_text_gzip_and_numpy(run: Any, data: Path, tmp_path: Path) -> None:
    values = [0.9, 0.5, 0.1, 0.8, 0.2, 0.4, 0.3]
    text = "".join(f"{value}\n" for value in values)
    (tmp_path / "scores.txt").write_text(text)
    (tmp_path / "scores.gz").write_bytes(gzip.compress(text.encode()))
    np.save(tmp_path / "scores.npy", np.array(values))
    for name in ("scores.txt", "scores.gz", "scores.npy"):
        outcome = run("evaluate", data, tmp_path / name, "--json")
        assert mean(outcome) == pytest.approx((1 + QUERY_8) / 2)
        assert json.loads(outcome.out)["kind"] == "scores"


def test_trec_run_on_qrels_and_on_data(run: Any, data: Path, tmp_path: Path) -> None:
    (tmp_path / "judgments").write_text(QRELS)
    (tmp_path / "bm25.run").write_text(RUN)
    for judgments in (tmp_path / "judgments", f"qrels:{tmp_path / 'judgments'}", data):
        outcome = run("evaluate", judgments, tmp_path / "bm25.run", "--json")
        assert mean(outcome) == pytest.approx((1 + QUERY_8) / 2)
        assert json.loads(outcome.out)["kind"] == "run"
    trec = run("evaluate", tmp_path / "judgments", tmp_path / "bm25.run", "--convention", "trec", "--json")
    assert mean(trec) == pytest.approx((1 + QUERY_8 + 0) / 3)


def test_queries_missing_from_a_run(run: Any, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text("7 Q0 a 1 0.9 x\n7 Q0 b 2 0.5 x\n44 Q0 b 2 0.5 x\n")
    arguments = ("evaluate", tmp_path / "qrels", tmp_path / "run", "--json")
    zero = run(*arguments)
    assert mean(zero) == pytest.approx(0.5)
    assert "lacks 2 judged queries" in zero.err
    assert "1 query without judgments" in zero.err
    assert mean(run(*arguments, "--missing-queries", "skip")) == pytest.approx(1.0)
    refused = run(*arguments, "--missing-queries", "raise")
    assert refused.code == 2


def test_per_query_values(run: Any, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert run("evaluate", data, "1", "-m", "NDCG@10", "-m", "MRR", "--per-query", out).code == 0
    with out.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["query"] for row in rows] == ["7", "8", "9"]
    assert float(rows[1]["NDCG@10"]) == pytest.approx(QUERY_8)
    assert [row["MRR"] for row in rows] == ["1.0", "0.5", ""]


def test_segments(run: Any, data: Path, tmp_path: Path) -> None:
    segments = tmp_path / "segments.txt"
    segments.write_text("7 head\n8\ttail\n9, tail\n")
    found = json.loads(run("evaluate", data, "1", "--segments", segments, "--json").out)["segments"]
    assert found["head"]["measures"]["NDCG@10"]["mean"] == pytest.approx(1.0)
    assert found["tail"]["measures"]["NDCG@10"]["mean"] == pytest.approx(QUERY_8)
    for text, problem in [("7 head\n", "no segment for 2 of 3"), ("7\n", "line 1"), ("7 a\n7 b\n", "two segments")]:
        segments.write_text(text)
        outcome = run("evaluate", data, "1", "--segments", segments)
        assert outcome.code == 2
        assert problem in outcome.err


OWN = """
import rankforce as rf

class FirstGrade(rf.Measure):
    def normaliser(self, ideal):
        return ideal[0] if ideal.shape[0] > 0 else 0.0

    def value(self, ranked, normaliser):
        return ranked[0] / normaliser
"""


def test_a_measure_of_ones_own(run: Any, data: Path, tmp_path: Path) -> None:
    own = tmp_path / "my_measures.py"
    own.write_text(OWN)
    outcome = run("evaluate", data, "1", "--import", own, "-m", "FirstGrade", "--json")
    assert mean(outcome, "FirstGrade") == pytest.approx(0.5)


def test_two_measures_of_one_name(run: Any, data: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(OWN)
    both = ("--import", tmp_path / "one.py", "--import", tmp_path / "two.py")
    outcome = run("evaluate", data, "1", *both, "-m", "FirstGrade", "--json")
    assert mean(outcome, "FirstGrade") == pytest.approx(0.5)  # a copy
    written = (tmp_path / "two.py").stat()
    (tmp_path / "two.py").write_text(OWN.replace("ranked[0] /", "ranked[1] /"))
    # As long as before and as old as before: only the text tells the two apart.
    os.utime(tmp_path / "two.py", ns=(written.st_atime_ns, int(written.st_mtime) * 10**9 + 10**8))
    outcome = run("evaluate", data, "1", *both, "-m", "FirstGrade")
    assert outcome.code == 2
    assert f"FirstGrade is in {tmp_path / 'one.py'}, too, and is not the same" in outcome.err
    assert "value of FirstGrade" in outcome.err


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("x = = 1\n", "line 1: SyntaxError"),
        ("x = 1\n\nx / 0\n", "line 3: ZeroDivisionError"),
        ("x = 1\n", "no measure in it"),
        (OWN.replace("FirstGrade", "NDCG"), "NDCG is a measure of rankforce already"),
    ],
)
def test_a_file_of_measures_that_is_none(run: Any, data: Path, tmp_path: Path, content: str, problem: str) -> None:
    own = tmp_path / "mine.py"
    own.write_text(content)
    outcome = run("evaluate", data, "1", "--import", own)
    assert outcome.code == 2
    assert problem in outcome.err


@pytest.mark.compiled_only
def test_a_measure_that_cannot_be_compiled(run: Any, data: Path, tmp_path: Path) -> None:
    own = tmp_path / "mine.py"
    own.write_text(OWN.replace("FirstGrade", "Unspelt").replace("/ normaliser", "/ normalizer"))
    outcome = run("evaluate", data, "1", "--import", own, "-m", "Unspelt")
    assert outcome.code == 2
    assert "Unspelt.value cannot be compiled: NameError: name 'normalizer' is not defined" in outcome.err
    assert f"({own}, line " in outcome.err


def test_reading_options_reach_the_reader(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "from_zero.txt"
    path.write_text("1 qid:1 0:3 1:1\n0 qid:1 0:2 1:2\n")
    assert run("evaluate", path, "feature:1").code == 2
    assert mean(run("evaluate", path, "feature:1", "--read", "first_index=0", "--json")) == pytest.approx(QUERY_8)
    for wrong in ("first_index", "=3", "no such option=3"):
        assert run("evaluate", path, "feature:1", "--read", wrong).code == 2


@pytest.mark.parametrize(
    ("ranking", "content", "problem"),
    [
        ("nonsense", None, "neither a file nor a feature"),
        ("feature:5", None, "no feature '5'"),
        ("s.txt", "1\n2\n", "2 scores for 7 documents"),
        ("scores:s.txt", "1\n2\nx\n", "line 3: not a score: 'x'"),
        ("s.txt", "1 2 3\n", "cannot tell what kind of ranking"),
        ("s.txt", "", "empty"),
        ("s.txt", "nan\n" * 7, "line 1: not a score: 'nan'"),
        ("scores:absent.txt", None, "absent.txt"),
        ("s.npy", "no array", "not an array of numbers"),
        ("s.gz", "no gzip", "gzip"),
    ],
)
def test_rankings_that_are_none(
    run: Any, data: Path, monkeypatch: pytest.MonkeyPatch, ranking: str, content: str | None, problem: str
) -> None:
    monkeypatch.chdir(data.parent)
    if content is not None:
        Path(ranking.removeprefix("scores:")).write_text(content)
    outcome = run("evaluate", data, ranking)
    assert outcome.code == 2
    assert problem in outcome.err
    assert outcome.err.startswith("rankforce: ")
    assert "Traceback" not in outcome.err
    assert outcome.out == ""


def test_what_is_no_score_is_named_by_file_and_line(run: Any, data: Path, tmp_path: Path) -> None:
    for odd in ("nan", "inf", "abc"):
        (tmp_path / "scores.txt").write_text(f"1\n2\n3\n4\n{odd}\n6\n7\n")
        outcome = run("evaluate", data, tmp_path / "scores.txt")
        assert outcome.code == 2
        assert f"scores.txt, line 5: not a score: '{odd}'\n" in outcome.err
    np.save(tmp_path / "scores.npy", [1, 2, 3, 4, math.nan, 6, 7])
    assert (
        "scores.npy: entry 4 (counted from 0) is no score: 'nan'\n"
        in run("evaluate", data, tmp_path / "scores.npy").err
    )
    (tmp_path / "scores.txt").write_text("-inf\n2\n3\n4\n5\n6\n7\n")
    assert run("evaluate", data, tmp_path / "scores.txt").code == 0


def test_blank_lines_count(run: Any, data: Path, tmp_path: Path) -> None:
    (tmp_path / "odd.txt").write_text("\n\nneither of these\n")
    assert (
        "odd.txt, line 3: cannot tell what kind of ranking this is" in run("evaluate", data, tmp_path / "odd.txt").err
    )


def test_a_word_that_is_a_feature_and_a_file(run: Any, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(data.parent)
    Path("1").write_text("0\n" * 7)
    outcome = run("evaluate", data, "1")
    assert outcome.code == 2
    assert "feature:1 or scores:1" in outcome.err
    assert run("evaluate", data, "feature:1").code == 0
    assert run("evaluate", data, "scores:1").code == 0


def test_qrels_need_a_run(run: Any, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "scores.txt").write_text("0\n" * 6)
    outcome = run("evaluate", tmp_path / "qrels", tmp_path / "scores.txt")
    assert outcome.code == 2
    assert "TREC run" in outcome.err
    assert run("evaluate", tmp_path / "qrels", "run:x", "--read", "absent=zero").code == 2


def test_broken_data_names_file_and_line(run: Any, tmp_path: Path) -> None:
    broken = tmp_path / "broken.txt"
    broken.write_text("1 qid:1 1:0.5\n0 qid:1 1:zero\n")
    outcome = run("evaluate", broken, "1")
    assert outcome.code == 2
    assert "broken.txt, line 2" in outcome.err
    assert run("evaluate", tmp_path / "absent.txt", "1").code == 2
    assert run("evaluate", broken.parent, "1").code == 2


def test_unknown_measure(run: Any, data: Path) -> None:
    outcome = run("evaluate", data, "1", "-m", "NGCG@10")
    assert outcome.code == 2
    assert "did you mean NDCG" in outcome.err


PREFERENCES = "qid,better,worse,probability,weight\n7,a,b,0.9,\n7,b,c,,2\n8,e,d,,\n"


def test_the_agreement_with_preferences(run: Any, data: Path, tmp_path: Path) -> None:
    listed = tmp_path / "pairs.csv"
    listed.write_text(PREFERENCES)
    outcome = run("evaluate", data, "feature:1", "--preferences", listed)
    assert f"{(0.9 + 2) / 4:.4f}" in outcome.out
    assert "highest possible 0.9750" in outcome.out
    assert mean(run("evaluate", data, "1", "--preferences", listed, "--json"), "preference agreement") == 0.725
    compared = run("compare", data, "1", "2", "--preferences", listed, "--json")
    assert json.loads(compared.out)["measures"]["preference agreement"]["a"] == 0.725
    refused = run("evaluate", data, "1", "--preferences", listed, "-m", "NDCG")
    assert refused.code == 2
    assert "leave --measure out" in refused.err


def test_a_model_is_trained_and_measured_by_preferences_alone(run: Any, data: Path, tmp_path: Path) -> None:
    listed, bare, model = tmp_path / "pairs.csv", tmp_path / "bare.csv", tmp_path / "model.json"
    listed.write_text(PREFERENCES)
    bare.write_text("qid,document,x\n7,a,3\n7,b,2\n7,c,1\n8,e,5\n8,d,4\n")
    options = ("--trees", 40, "--set", "min_documents=1", "--preferences", listed, "-q")
    outcome = run("train", bare, "-o", model, *options)
    assert outcome.code == 0, outcome.err
    assert "preference agreement (ties hashed): train 0.9750" in outcome.out
    told = json.loads(run("train", bare, "-o", model, *options, "--json").out)
    assert (told["watched"], told["ties"]) == ({"train": "preference agreement"}, "hashed")
    assert mean(run("evaluate", bare, model, "--preferences", listed, "--json"), "preference agreement") == 0.975


def test_level_and_seed_are_those_of_python(run: Any, data: Path) -> None:
    found = [
        json.loads(run("evaluate", data, "feature:1", "--ties", "hashed", "--json", *options).out)
        for options in ((), ("--level", 0.5, "--seed", 7))
    ]
    for result, given in zip(found, ({}, {"level": 0.5, "seed": 7}), strict=True):
        expected = json.loads(json.dumps(rf.evaluate("1", rf.read(data), ties="hashed", **given).to_dict()))
        assert result["measures"] == expected["measures"]
    assert found[0]["measures"] != found[1]["measures"]
    assert run("evaluate", data, "feature:1", "--level", 1.5).code == 2
