"""Runs with judgments and scores with labels are evaluated as the data sets that they are."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf

QRELS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"d": 1, "e": 0}, "q3": {"f": 1}}
RUN = {"q1": {"b": 3.0, "a": 2.0, "x": 1.5}, "q2": {"d": 1.0, "e": 0.5}, "q9": {"z": 1.0}}
MEASURES = ["NDCG@2", "MAP"]


def expected(missing_queries="zero"):
    joined = rf.judged_run(QRELS, RUN, missing_queries=missing_queries)
    return rf.evaluate(joined.scores, joined.data, MEASURES)


def written(tmp_path):
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("".join(f"{q} 0 {d} {g}\n" for q, docs in QRELS.items() for d, g in docs.items()))
    run.write_text("".join(f"{q} Q0 {d} 1 {s} tag\n" for q, docs in RUN.items() for d, s in docs.items()))
    return qrels, run


def frames(kind):
    module = pytest.importorskip(kind)
    qrels = [(q, d, g) for q, docs in QRELS.items() for d, g in docs.items()]
    run = [(q, d, s) for q, docs in RUN.items() for d, s in docs.items()]

    def frame(rows, names):
        return module.DataFrame(
            {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
        )

    return frame(qrels, ("query_id", "doc_id", "relevance")), frame(run, ("Query", "docno", "score"))


@pytest.mark.parametrize("missing_queries", ["zero", "skip"])
def test_mappings(missing_queries):
    result = rf.evaluate(RUN, QRELS, MEASURES, missing_queries=missing_queries)
    assert result.mean == expected(missing_queries).mean
    assert any("lacks 1 judged query" in note for note in result.remarks)
    assert "has 1 query without judgments: left out" in str(result)


def test_files(tmp_path):
    qrels, run = written(tmp_path)
    assert rf.evaluate(run, str(qrels), MEASURES).mean == expected().mean
    assert rf.evaluate(RUN, qrels, MEASURES).mean == expected().mean


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames(kind):
    qrels, run = frames(kind)
    assert rf.evaluate(run, qrels, MEASURES).mean == expected().mean
    with pytest.raises(rf.DataError, match=r"column of the number \(score, sim\)"):
        rf.evaluate(qrels, qrels, MEASURES)


def test_scores_and_labels():
    scores, labels = np.array([0.1, 0.5, 0.2, 0.9]), [2, 0, 1, 0]
    data = rf.Dataset(np.zeros((4, 1)), labels, qid=[1, 1, 2, 2])
    assert rf.evaluate(scores, labels, "NDCG", qid=[1, 1, 2, 2]).mean == rf.evaluate(scores, data, "NDCG").mean
    assert rf.evaluate(scores, labels, "NDCG", group=[2, 2]).mean == rf.evaluate(scores, data, "NDCG").mean
    compared = rf.compare(scores, -scores, labels, "NDCG", group=[2, 2])
    assert compared.difference["NDCG"] == rf.compare(scores, -scores, data, "NDCG").difference["NDCG"]


@pytest.mark.parametrize(
    ("ranking", "data", "options", "message"),
    [
        (RUN, QRELS, {"missing_queries": "raise"}, "lacks 1 of the 3 judged queries"),
        (RUN, QRELS, {"missing_queries": "no"}, "missing_queries"),
        ([1.0, 2.0], [0, 1], {}, "must be a Dataset"),
        ([1.0, 2.0], [[0, 1]], {"qid": [1, 1]}, "vector"),
        ([1.0], [0, 1], {"qid": [1, 1]}, "one entry per document"),
        ([1.0, 2.0], QRELS, {}, "the run must be"),
        (RUN, {"q1": 3}, {}, "must map documents"),
    ],
)
def test_refusals(ranking, data, options, message):
    with pytest.raises(rf.RankforceError, match=message):
        rf.evaluate(ranking, data, "NDCG", **options)


def test_a_document_twice_is_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"query": ["q", "q"], "document": ["a", "a"], "score": [1.0, 2.0]})
    with pytest.raises(rf.DataError, match="stands twice in query 'q'"):
        rf.evaluate(frame, QRELS)


def test_data_knows_its_queries():
    data = rf.make_artificial(queries=3, documents=4, features=2)
    with pytest.raises(rf.DataError, match="leave qid and group out"):
        rf.evaluate("1", data, qid=data.qid)


def test_labels_without_document_ids_are_told_what_a_convention_by_ids_needs():
    with pytest.raises(rf.DataError, match=r"'trec' orders equal scores by document id.*\{query: \{document: ") as told:
        rf.evaluate([0.2, 0.1], [1, 0], "NDCG", qid=[1, 1], convention="trec")
    assert "data.replace" not in str(told.value)
