"""``convention="trec"`` against trec_eval (through pytrec_eval), and ``"gdeval"`` against gdeval.pl (ir-measures)."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from tests.agreement.judged_lists import judged_lists

import rankforce as rf

TREC_NAMES = {
    "NDCG": "ndcg",
    "NDCG@5": "ndcg_cut_5",
    "NDCG@30": "ndcg_cut_30",
    "MAP": "map",
    "MAP@5": "map_cut_5",
    "MRR": "recip_rank",
    "Precision@5": "P_5",
    "Precision@30": "P_30",
    "Recall@5": "recall_5",
    "RPrecision": "Rprec",
    "BPref": "bpref",
    "Success@1": "success_1",
    "Success@5": "success_5",
}

Judgments = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def joined(seed: int) -> tuple[rf.Dataset, np.ndarray, Judgments, Run]:
    """Judgments and a run that overlap: unjudged documents in the run, relevant ones missing from it, negative
    grades, ties in score, blank queries."""
    lists = judged_lists(seed=seed)
    generator = np.random.default_rng(seed)
    labels, scores = lists.labels.copy(), lists.scores.copy()
    labels[generator.random(len(labels)) < 0.05] = -1.0
    kind = generator.random(len(labels))
    labels[kind < 0.2] = np.nan  # retrieved, not judged
    scores[kind > 0.85] = -np.inf  # judged, not retrieved
    data = lists.data().replace(labels={"grades": labels})
    judgments: Judgments = {}
    run: Run = {}
    for row, query in enumerate(data.qid.tolist()):
        document = str(data.document_ids[row])  # type: ignore[index]
        if not np.isnan(labels[row]):
            judgments.setdefault(str(query), {})[document] = int(labels[row])
        if scores[row] > -np.inf:
            run.setdefault(str(query), {})[document] = float(scores[row])
    in_both = {int(query) for query in judgments if query in run}
    kept = np.array([query in in_both for query in data.query_ids.tolist()])
    part = data.take_queries(kept)
    return part, scores[kept[data.row_queries]], judgments, run


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_trec_eval(seed: int) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    data, scores, judgments, run = joined(seed)
    asked = {"ndcg", "ndcg_cut", "map", "map_cut", "recip_rank", "P", "recall", "Rprec", "bpref", "success"}
    said = pytrec_eval.RelevanceEvaluator(judgments, asked).evaluate(run)
    result = rf.evaluate(scores, data, list(TREC_NAMES), convention="trec")
    assert len(said) == data.n_queries
    for name, theirs in TREC_NAMES.items():
        expected = [said[str(query)][theirs] for query in data.query_ids]
        np.testing.assert_allclose(result.per_query[name], expected, rtol=1e-12, atol=1e-12, err_msg=name)


def test_agrees_with_a_relevance_threshold() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    data, scores, judgments, run = joined(7)
    said = pytrec_eval.RelevanceEvaluator(judgments, {"map", "bpref"}, relevance_level=2).evaluate(run)
    names = {"MAP(relevant=2)": "map", "BPref(relevant=2)": "bpref"}
    result = rf.evaluate(scores, data, list(names), convention="trec")
    for name, theirs in names.items():
        expected = [said[str(query)][theirs] for query in data.query_ids]
        np.testing.assert_allclose(result.per_query[name], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval.pl needs perl")
@pytest.mark.parametrize("cutoff", [1, 5, 20])
def test_agrees_with_gdeval(cutoff: int) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    data, scores, judgments, run = joined(1)
    measures = [ir_measures.nDCG(dcg="exp-log2") @ cutoff, ir_measures.ERR @ cutoff]
    said = {
        (one.query_id, str(one.measure)): one.value for one in ir_measures.gdeval.iter_calc(measures, judgments, run)
    }
    result = rf.evaluate(scores, data, [f"NDCG@{cutoff}", f"ERR@{cutoff}"], convention="gdeval")
    for ours, theirs in zip(result.measures, measures, strict=True):
        for query, value in zip(data.query_ids, result.per_query[ours], strict=True):
            expected = said.get((str(query), str(theirs)))
            if np.isnan(value):
                assert not expected  # gdeval skips the topic; ir-measures fills in 0
            else:
                assert value == pytest.approx(expected, abs=6e-6)  # five digits are printed
