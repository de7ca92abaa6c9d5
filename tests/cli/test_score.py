"""``rankforce score``: rankings as CSV, Parquet and TREC runs, whatever queries and documents are called."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf

HOSTILE = ["a,b", 'say "x"', "line\nfeed", "cr\rhere", "=1+1", "7", " blank ", "é;\t"]


def linear(features: int) -> Any:
    """A model whose score is the first feature, rounded so that there are ties."""
    data = rf.make_artificial(queries=6, documents=6, features=features, seed=0)
    return rf.LambdaMART(n_trees=2, n_leaves=3, min_documents=2, progress=False).fit(data)


@pytest.fixture(scope="module")
def ranker() -> Any:
    return linear(2)


@pytest.fixture
def files(ranker: Any, tmp_path: Path) -> tuple[Path, Path, rf.Dataset]:
    """A model, and data with hostile ids whose queries are not adjacent and whose scores are tied."""
    pytest.importorskip("pyarrow")
    n = 3 * len(HOSTILE)
    rng = np.random.default_rng(1)
    made = rf.Dataset(
        np.round(rng.random((n, 2)), 1),
        rng.integers(0, 3, n),
        HOSTILE * 3,
        document_ids=[f"{name}{row}" for row, name in enumerate(HOSTILE * 3)],
    )
    ranker.save(tmp_path / "model.json")
    made.write(tmp_path / "data.parquet")
    return tmp_path / "model.json", tmp_path / "data.parquet", made


def slow_ranking(data: rf.Dataset, scores: np.ndarray) -> list[list[Any]]:
    """Query, document, rank, score: by falling score, equal ones by row."""
    rows = []
    for query in dict.fromkeys(data.qid.tolist()):
        members = [row for row in range(len(data)) if data.qid[row] == query]
        members.sort(key=lambda row: (-scores[row], row))
        for rank, row in enumerate(members, start=1):
            name = row if data.document_ids is None else data.document_ids[row]
            rows.append([query, name, rank, float(scores[row])])
    return rows


def as_read(text: str, delimiter: str = ",") -> list[list[Any]]:
    lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    assert lines[0] == ["query", "document", "rank", "score"]
    return [[query, name, int(rank), float(score)] for query, name, rank, score in lines[1:]]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz", ".CSV"])
def test_delimited_text_holds_any_id(run: Any, ranker: Any, files: Any, tmp_path: Path, ending: str) -> None:
    model, path, data = files
    out = tmp_path / f"out{ending}"
    outcome = run("score", model, path, "-o", out)
    assert outcome.code == 0, outcome.err
    content = gzip.decompress(out.read_bytes()) if ending.endswith(".gz") else out.read_bytes()
    expected = slow_ranking(data, ranker.predict(data))
    assert len({row[3] for row in expected}) < len(expected)  # ties
    assert as_read(content.decode(), "\t" if ending == ".tsv" else ",") == expected


def test_parquet(run: Any, ranker: Any, files: Any, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    model, path, data = files
    assert run("score", model, path, "-o", tmp_path / "out.parquet").code == 0
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names == ["query", "document", "rank", "score"]
    rows = [list(row.values()) for row in table.to_pylist()]
    assert rows == slow_ranking(data, ranker.predict(data))


def test_a_run_by_its_ending(run: Any, ranker: Any, files: Any, data: Path, tmp_path: Path) -> None:
    model, path, _ = files
    out = tmp_path / "out.run"
    assert run("score", model, data, "-o", out).code == 0
    scores = ranker.predict(rf.read(data))
    written = [line.split() for line in out.read_text().splitlines()]
    expected = slow_ranking(rf.read(data), scores)
    assert [[q, d, int(k), float(s)] for q, _, d, k, s, _ in written] == [[str(q), *rest] for q, *rest in expected]
    assert {tag for *_, tag in written} == {"rankforce"}
    assert run("score", model, data, "-o", out, "--tag", "mine").code == 0
    assert out.read_text().split()[5] == "mine"
    refused = run("score", model, path, "-o", tmp_path / "refused.run")
    assert refused.code == 2
    assert "one word" in refused.err
    assert "use --format csv" in refused.err
    assert not (tmp_path / "refused.run").exists()


def test_the_format_beats_the_ending(run: Any, files: Any, data: Path, tmp_path: Path) -> None:
    model, out = files[0], tmp_path / "out.txt"
    plain = json.loads(run("score", model, data, "--json").out)["scores"]
    assert run("score", model, data, "-o", out).code == 0
    assert [float(line) for line in out.read_text().split()] == plain
    printed = run("score", model, data, "--format", "csv")
    assert run("score", model, data, "-o", out, "--format", "csv").code == 0
    assert printed.out == out.read_text()
    found = json.loads(run("score", model, data, "-o", tmp_path / "a.csv", "--format", "scores", "--json").out)
    assert found["format"] == "scores"
    assert [float(line) for line in (tmp_path / "a.csv").read_text().split()] == plain


def test_rows_where_there_are_no_ids(run: Any, files: Any, tmp_path: Path) -> None:
    rf.Dataset(np.eye(2), [0, 1], [5, 5]).write(tmp_path / "plain.csv")
    outcome = run("score", files[0], tmp_path / "plain.csv", "--format", "csv")
    assert {row[1] for row in as_read(outcome.out)} == {"0", "1"}
    assert outcome.out.splitlines()[1].startswith("5,")  # numbers are no text


def test_what_does_not_go_together(run: Any, files: Any, data: Path, tmp_path: Path) -> None:
    model = files[0]
    for options, words in (
        (("--format", "parquet"), "--format parquet needs --out FILE"),
        (("--tag", "x"), "--tag needs --out FILE"),
        (("--tag", "x", "--format", "csv", "-o", tmp_path / "o"), "--tag is that of a TREC run"),
        (("--format", "csv", "--json"), "--json gives scores"),
        (("-o", tmp_path / "o.parquet.gz"), "leave .gz out"),
    ):
        outcome = run("score", model, data, *options)
        assert (outcome.code, words in outcome.err) == (2, True), outcome.err


def test_text_that_never_names_the_last_features_is_read_like_the_model(run: Any, tmp_path: Path) -> None:
    linear(4).save(tmp_path / "model.json")
    narrow = tmp_path / "narrow.txt"
    narrow.write_text("0 qid:1 1:0.5\n1 qid:1 2:1\n")
    scored = run("score", tmp_path / "model.json", narrow)
    assert scored.code == 0, scored.err
    assert len(scored.out.splitlines()) == 2
    evaluated = run("evaluate", narrow, tmp_path / "model.json")
    assert evaluated.code == 0, evaluated.err


def test_validation_text_is_read_like_the_training_data(run: Any, tmp_path: Path) -> None:
    rf.make_artificial(queries=6, documents=6, features=4, seed=0).write(tmp_path / "train.txt")
    narrow = tmp_path / "narrow.txt"
    narrow.write_text("0 qid:1001 1:0.5\n1 qid:1001 2:1\n")
    trained = run(
        "train", tmp_path / "train.txt", "--validation", narrow, "--trees", 2, "-o", tmp_path / "m.json", "-q"
    )
    assert trained.code == 0, trained.err


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_score_per_row_needs_no_queries(run: Any, ranker: Any, tmp_path: Path, ending: str) -> None:
    pandas = pytest.importorskip("pandas")
    ranker.save(tmp_path / "model.json")
    features = np.random.default_rng(0).random((4, 2)).astype(np.float32)
    table = tmp_path / f"rows.{ending}"
    frame = pandas.DataFrame(features, columns=list(ranker.model_.feature_names)).assign(title=list("abcd"))
    frame.to_csv(table, index=False) if ending == "csv" else frame.to_parquet(table)
    scored = run("score", tmp_path / "model.json", table)
    assert scored.code == 0, scored.err
    assert [float(line) for line in scored.out.split()] == pytest.approx(ranker.predict(features).tolist())
    refused = run("score", tmp_path / "model.json", table, "--format", "csv")
    assert refused.code != 0
    assert "no column says which query a row belongs to" in refused.err


def test_rows_without_queries_are_queries_of_their_own(tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_text("qid,price\n7,1\n7,2\n8,3\n")
    data = rf.read(table, qid=False)
    assert data.n_queries == 3
    assert data.feature_names == ("qid", "price")
