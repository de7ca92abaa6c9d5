"""``rankforce generate``, ``convert``, ``inspect`` and ``demo``."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf


def test_generate_writes_the_same_data_each_time(run: Any, tmp_path: Path) -> None:
    sizes = ("--queries", 6, "--documents", 5, "--features", 3)
    outcome = run("generate", tmp_path / "a.txt", *sizes)
    assert outcome.code == 0, outcome.err
    assert "30 documents, 6 queries, 3 features" in outcome.out
    found = json.loads(run("generate", tmp_path / "b.txt", *sizes, "--json").out)
    assert found["documents"] == 30
    assert (tmp_path / "a.txt").read_bytes() == (tmp_path / "b.txt").read_bytes()
    assert run("generate", tmp_path / "c.txt", *sizes, "--seed", 1).code == 0
    assert (tmp_path / "a.txt").read_bytes() != (tmp_path / "c.txt").read_bytes()
    assert rf.read(tmp_path / "a.txt").n_queries == 6


def test_generate_with_clicks(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "clicks.csv"
    outcome = run("generate", path, "--queries", 6, "--documents", 5, "--features", 3, "--clicks")
    assert outcome.code == 0, outcome.err
    assert "grades, clicks" in outcome.out


def test_generate_refuses_nonsense(run: Any, tmp_path: Path) -> None:
    for arguments in (("a.txt", "--queries", 0), ("a.txt", "--clicks"), ("no/such/folder/a.txt",)):
        outcome = run("generate", tmp_path / arguments[0], *arguments[1:], "--features", 3)
        assert outcome.code == 2
        assert outcome.err.startswith("rankforce: ")


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".txt.gz"])
def test_convert_there_and_back(run: Any, data: Path, tmp_path: Path, ending: str) -> None:
    there, back = tmp_path / f"there{ending}", tmp_path / "back.txt"
    for arguments in ((data, there), (there, back)):
        outcome = run("convert", *arguments)
        assert outcome.code == 0, outcome.err
        assert "7 documents, 3 queries, 2 features" in outcome.out
    first, second = rf.read(data), rf.read(back)
    assert np.array_equal(first.features, second.features)
    assert np.array_equal(first.labels["grades"], second.labels["grades"])
    assert first.document_ids is not None
    assert second.document_ids is not None
    assert first.document_ids.tolist() == second.document_ids.tolist()


def test_convert_keeps_what_is_there(run: Any, data: Path, tmp_path: Path) -> None:
    there = tmp_path / "there.csv"
    there.write_text("precious")
    refused = run("convert", data, there)
    assert refused.code == 2
    assert "--force" in refused.err
    assert there.read_text() == "precious"
    assert json.loads(run("convert", data, there, "--force", "--json").out)["queries"] == 3


def test_inspect_reports_and_warns(run: Any, data: Path) -> None:
    outcome = run("inspect", data)
    assert outcome.code == 0, outcome.err
    assert "documents     7\n" in outcome.out
    assert "! grades: 1 of 3 queries (33.3%) have no label above 0." in outcome.out
    assert run("inspect", data, "--strict").code == 1


def test_inspect_as_json_with_two_files(run: Any, data: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("1 qid:7 1:0.9 2:0.1\n0 qid:7 1:0.5 2:0.3\n0 qid:70 1:0.1\n1 qid:70 1:0.7 2:0.9\n")
    found = json.loads(run("inspect", data, other, "--json").out)
    assert found["files"][str(data)]["labels"]["grades"]["blank_queries"] == 1
    (shared,) = found["shared_queries"]
    assert shared["same_id"] == ["7"]
    text = run("inspect", data, other).out
    assert f"1 query is in both {data} and {other}: 7." in text


def test_inspect_strict_passes_clean_data(run: Any, tmp_path: Path) -> None:
    clean = tmp_path / "clean.txt"
    clean.write_text("1 qid:1 1:0.9 2:0.1\n0 qid:1 1:0.5 2:0.3\n1 qid:2 1:0.1 2:0.8\n0 qid:2 1:0.7 2:0.9\n")
    outcome = run("inspect", clean, "--strict")
    assert outcome.code == 0, outcome.out
    assert "Nothing suspicious" in outcome.out


def test_inspect_forces(run: Any, data: Path) -> None:
    outcome = run("inspect", "--forces", "RankNet(sigma=2)")
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith("NDCG (RankNetCost(sigma=2.0)): a convex cost\n")
    found = json.loads(run("inspect", "--forces", "LambdaRank", "-m", "NDCG@3", "--json").out)
    assert found["verdict"] == "a cost only between changes of order"
    for wrong in (["--forces", "RankNot"], ["--forces", "RankNet", data], []):
        outcome = run("inspect", *wrong)
        assert outcome.code == 2
        assert outcome.err.startswith("rankforce: ")


def test_demo_shows_rankings_policies_and_a_verdict(run: Any) -> None:
    outcome = run("demo")
    assert outcome.code == 0, outcome.err
    for expected in (
        "LambdaMART",
        "feature",
        "NDCG@10",
        "blank queries: skipped",
        "paired t-test",
        "rankforce inspect",
    ):
        assert expected in outcome.out
    found = json.loads(run("demo", "--json").out)
    means = [values["NDCG@10"] for values in found["means"].values()]
    assert means == sorted(means)
    assert found["comparison"]["measures"]["NDCG@10"]["difference"] > 0.1


def test_inspect_reads_all_of_a_pipe(run: Any, tmp_path: Path) -> None:
    path, pipe = tmp_path / "data.txt", tmp_path / "pipe"
    line = "1 qid:{} 1:0.123456 2:0.123456 3:0.123456 4:0.123456 5:0.12345\n"
    path.write_text("".join(line.format(number // 10 + 100) for number in range(2000)))
    expected = json.loads(run("inspect", path, "--json").out)["files"][str(path)]
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()))
    writer.start()
    found = json.loads(run("inspect", pipe, "--json").out)["files"][str(pipe)]
    writer.join()
    assert found == expected


def test_scores_may_come_through_a_pipe(run: Any, data: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text("3\n2\n1\n0\n1\n0\n1\n"))
    writer.start()
    outcome = run("evaluate", data, pipe, "--json")
    writer.join()
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["measures"]["NDCG@10"]["mean"] == 1.0


def test_the_same_file_twice_shares_its_queries(run: Any, data: Path) -> None:
    outcome = run("inspect", data, data, "--strict")
    assert outcome.code == 1
    assert "3 queries are in both" in outcome.out


def test_rows_without_an_id_are_no_duplicates(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "some.txt"
    path.write_text("1 qid:1 1:1 2:1\n0 qid:1 1:2 2:3\n1 qid:2 1:1\n0 qid:2 2:3 # docid = x\n")
    assert "appears twice" not in run("inspect", path).out
    path.write_text("1 qid:1 1:1 2:1 # docid = x\n0 qid:1 1:2 2:3 # docid = x\n1 qid:2 1:1\n0 qid:2 2:3\n")
    assert "1 document id appears twice" in run("inspect", path).out


def test_commands_say_which_column_became_what(run: Any, tmp_path: Path) -> None:
    table = tmp_path / "products.csv"
    table.write_text("query_id,grade,weight,price\n1,2,5.5,9\n1,0,1.5,8\n2,1,2,7\n2,0,3,6\n")
    inspected = run("inspect", table)
    assert "queries: column 'query_id'; label: column 'grade'" in inspected.out
    assert "the column 'weight' is taken as a feature" in inspected.err
    assert "say --read weight=weight, if it is a feature, --read weight=false" in inspected.err
    told = json.loads(run("inspect", table, "--json", "--read", "weight=false").out)["files"][str(table)]
    assert told["origins"] == {"queries": "column 'query_id'", "label": "column 'grade'"}
    converted = run("convert", table, tmp_path / "out.txt", "--read", "weight=weight", "--write", "weights=drop")
    assert converted.code == 0, converted.err
    taken = "products.csv: queries from column 'query_id', label from column 'grade', weights from column 'weight'; 1 f"
    assert taken in converted.err


def test_queries_from_a_file_beside_the_data_are_said(run: Any, tmp_path: Path) -> None:
    data = tmp_path / "data.txt"
    data.write_text("1 1:0.5 # first\n0 1:0.25 # second\n")
    (tmp_path / "data.txt.query").write_text("2\n")
    outcome = run("convert", data, tmp_path / "out.txt")
    assert outcome.code == 0, outcome.err
    assert "data.txt: queries from file " in outcome.err
    assert "documents from the first word of each comment; 1 feature" in outcome.err
