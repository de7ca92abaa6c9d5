"""``rankforce report``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rankforce as rf

pytest.importorskip("vl_convert", reason="pip install '.[report]'")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> rf.Dataset:
    monkeypatch.chdir(tmp_path)
    data = rf.make_artificial(queries=12, documents=5, features=3, seed=0)
    data = data.replace(
        feature_names=["bm25", "age", "a=b"], document_ids=[f"d{row}" for row in range(data.n_documents)]
    )
    data.write("data.csv")
    rf.MART(n_trees=2, n_leaves=3, min_documents=2, progress=False).fit(data).save("mine.json")
    rf.write_run(data, data.features[:, 1], "age.run")
    Path("scores.txt").write_text("\n".join(map(str, data.features[:, 0].tolist())))
    ids = data.query_ids.tolist()
    Path("segments.txt").write_text("".join(f"{name} {'odd' if name % 2 else 'even'}\n" for name in ids))
    Path("texts.tsv").write_text("".join(f"{name}\twords {name}\n" for name in ids))
    return data


def test_a_report_with_everything(run: Any, files: rf.Dataset) -> None:
    done = run(
        "report", "mine.json", "data.csv", "--baseline", "first=scores.txt", "--baseline", "bm25", "--baseline", "a=b",
        "--baseline", "aged=age.run", "-m", "NDCG@3", "--segments", "segments.txt", "--query-texts", "texts.tsv",
        "--queries", "2,5", "-o", "out.html", "--permutations", 1, "-q", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found.pop("file") == "out.html"
    assert found["rankings"] == ["mine", "first", "bm25", "a=b", "aged"]
    same = found["measures"]["rankings"]
    assert same["first"] == same["bm25"]
    assert same["mine"]["NDCG@3"]["mean"] == rf.evaluate(rf.load("mine.json"), files, "NDCG@3").mean["NDCG@3"]
    assert [found["queries"]["ids"][one["query"]] for one in found["queries"]["details"]] == [2, 5]
    assert found["queries"]["texts"][0] == f"words {found['queries']['ids'][0]}"
    page = Path("out.html").read_text(encoding="utf-8")
    inside = page.partition('id="report-contents">')[2].partition("</script>")[0]
    assert json.loads(inside) == found


def test_it_says_what_was_written_and_left_out(run: Any, files: rf.Dataset) -> None:
    done = run("report", "mine.json", "data.csv", "--queries", 1, "--permutations", 1, "-q")
    assert done.code == 0, done.err
    assert "report.html: 12 queries, 1 of them with their documents" in done.out
    assert "left out: comparison (no baseline was given to compare with)" in done.out
    assert Path("report.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--out", "data.csv"), "would be overwritten"),
        (("--baseline", "bm26"), "neither a file nor a feature"),
        (("--baseline", "bm25", "--baseline", "bm25"), "--baseline mine=bm25"),
        (("--queries", "77"), None),
        (("--queries", "x,y"), "no query 'x'"),
        (("--query-texts", "segments.txt"), "an id without a text"),
        (("--measure", "NDCD"), "NDCD"),
    ],
)
def test_mistakes_are_named_before_anything_is_written(
    run: Any, files: rf.Dataset, arguments: tuple[str, ...], words: str | None
) -> None:
    done = run("report", "mine.json", "data.csv", "-q", "--permutations", 1, *arguments)
    if words is None:
        assert done.code == 0, done.err
        return
    assert done.code == 2
    assert words in done.err
    assert not Path("report.html").exists()
