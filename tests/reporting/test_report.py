"""What stands in a report is what the functions of the package say; what cannot be said is left out with the reason."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf
from rankforce.reporting.parts import rounded
from rankforce.reporting.query_details import MOST_REASONS, TOP

pytest.importorskip("vl_convert", reason="pip install '.[report]'")


def near(value: float) -> Any:
    """The number as a page has it: six digits."""
    return pytest.approx(value, rel=1e-5, abs=1e-12)


def test_the_contents_are_json_and_the_page_holds_them(made: rf.Report) -> None:
    assert made.path is not None
    text = made.path.read_text(encoding="utf-8")
    inside = text.partition('<script type="application/json" id="report-contents">')[2].partition("</script>")[0]
    assert json.loads(inside) == made.to_dict() == json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert made.html() == text


def test_the_same_bytes_every_time(made: rf.Report, ranker: Any, parts: Any, options: Any, tmp_path: Path) -> None:
    again = rf.report(ranker, parts[2], path=tmp_path / "again.html", **options, threads=1)
    assert again.path is not None
    assert made.path is not None
    assert again.path.read_bytes() == made.path.read_bytes()


def test_measures_are_those_of_evaluate(made: rf.Report, ranker: Any, parts: Any, options: Any) -> None:
    test, measures = parts[2], options["measures"]
    found = made.to_dict()
    for name, ranking in ({"model": ranker} | options["baselines"]).items():
        evaluation = rf.evaluate(ranking, test, measures)
        assert found["measures"]["rankings"][name] == evaluation.to_dict()["measures"]
        for measure in measures:
            per_query = [None if np.isnan(one) else near(one) for one in evaluation.per_query[measure]]
            assert found["queries"]["values"][name][measure] == per_query
    assert any(line.startswith("ties: stable") for line in found["measures"]["conventions"])


def test_where_a_t_test_is_undefined_the_page_has_the_p_value_that_decides(tmp_path: Path) -> None:
    features = np.tile([[0.0, 2.0], [2.0, 1.0], [1.0, 0.0]], (2, 1))
    data = rf.Dataset(features, [1.0, 0.0, 0.0] * 2, group=[3, 3], feature_names=["poor", "good"])
    model = rf.LambdaMART("MRR", n_trees=2, n_leaves=3, min_documents=1, progress=False).fit(data)
    options: dict[str, Any] = {"baselines": {"by poor": "poor"}, "measures": "MRR", "segments": ["s", "s"]}
    found = rf.report(model, data, path=tmp_path / "page.html", **options, progress=False).to_dict()
    whole, part = found["comparison"]["baselines"]["by poor"]["measures"]["MRR"], found["segments"]["segments"][0]
    for one in (whole, part["differences"]["by poor"]["MRR"]):
        assert (one["t_test_p"], one["interval"], one["p"]) == (None, [None, None], 0.5)
    assert whole["t_test_holm_p"] == 0.5  # what the sentence on top of the page asks
    assert any("against by poor, MRR: the same difference" in note for note in found["comparison"]["notes"])


def test_comparisons_and_segments_are_those_of_compare(made: rf.Report, ranker: Any, parts: Any, options: Any) -> None:
    found = made.to_dict()
    for name, ranking in options["baselines"].items():
        one = rf.compare(
            ranking, ranker, parts[2], options["measures"], names=(name, "model"), segments=options["segments"]
        ).to_dict()
        by_segment = one.pop("segments")
        assert found["comparison"]["baselines"][name] == json.loads(json.dumps(one))
        for segment in found["segments"]["segments"]:
            for measure, one_measure in segment["differences"][name].items():
                expected = by_segment[segment["segment"]]["measures"][measure]
                assert one_measure == {key: expected[key] for key in one_measure}


def test_pairs_are_those_of_explain(made: rf.Report, ranker: Any, parts: Any) -> None:
    test, queries = parts[2], made.to_dict()["queries"]
    seen = 0
    for detail in queries["details"]:
        query, documents = test.query_id(detail["query"]), detail["documents"]
        assert len(detail["pairs"]) == len(documents) * (len(documents) - 1) // 2
        for pair in detail["pairs"][::7]:
            a, b = documents[pair["a"]], documents[pair["b"]]
            one = rf.explain(ranker, test, query, pair=(a["id"], b["id"]))
            assert pair["difference"] == near(one.difference)
            shares = dict(zip(one.feature_names, one.contributions, strict=True))
            for place, share in pair["reasons"]:
                assert share == near(shares[queries["features"][place]])
            assert len(pair["reasons"]) <= MOST_REASONS
            total = sum(share for _, share in pair["reasons"]) + pair["others"]
            assert total == pytest.approx(one.difference, rel=1e-4, abs=1e-6)
            if pair["looked_for_change"]:
                change = one.smallest_change
                assert (pair["change"] is None) == (change is None)
                assert change is None or pair["change"]["value"] == change.value
            seen += 1
    assert seen > 10


def test_documents_have_their_ranks_scores_contributions_and_forces(made: rf.Report, ranker: Any, parts: Any) -> None:
    test, contents = parts[2], made.to_dict()
    forces = rf.forces_at(test, ranker)
    place_of = {name: row for row, name in enumerate(test.document_ids.tolist())}
    scores = ranker.predict(test)
    for detail in contents["queries"]["details"]:
        table = rf.explain(ranker, test, test.query_id(detail["query"]))
        for one in detail["documents"]:
            row = place_of[one["id"]]
            at = table.documents.tolist().index(one["id"])
            assert one["ranks"][0] == table.ranks[at]
            assert one["scores"][0] == near(scores[row])
            assert one["label"] == test.label()[row]
            assert one["force"] == near(forces.forces[row])
            by_name = dict(zip(table.feature_names, table.contributions[at], strict=True))
            expected = [near(by_name[name]) for name in contents["queries"]["features"]]
            assert one["contributions"] == expected
            total = detail["base"] + sum(one["contributions"]) + one["others"]
            assert total == pytest.approx(scores[row], rel=1e-3, abs=1e-4)
        for ranking in range(3):
            shown = sorted(one["ranks"][ranking] for one in detail["documents"])
            assert shown[: min(TOP, detail["of"])] == list(range(1, min(TOP, detail["of"]) + 1))


def test_features_drift_and_data_are_those_of_their_functions(made: rf.Report, ranker: Any, parts: Any) -> None:
    test, found = parts[2], made.to_dict()
    losses = rf.importance(ranker, test, "NDCG@5", permutations=1, progress=False)
    assert found["features"]["losses"] == json.loads(json.dumps(losses.to_dict()))
    assert found["features"]["contributions"] == rf.explain(ranker, test).mean_absolute
    gains = {one.name: one.gain for one in rf.model_card(ranker).features}
    assert found["features"]["gain"] == gains
    assert found["drift"]["drift"] == json.loads(json.dumps(rf.drift(ranker, test).to_dict()))
    inspected = rf.inspect(test)
    assert found["data"]["findings"] == [one.to_dict() for one in inspected.findings]
    assert found["data"]["fingerprint"] == test.fingerprint


def test_training_says_what_became_of_what_was_left_open(made: rf.Report, ranker: Any) -> None:
    found = made.to_dict()
    settled = {one["name"]: one["settled"] for one in found["training"]["settings"]}
    assert settled["normalise"] == str(ranker.settled_["normalise"])
    assert settled["n_trees"] is None
    assert found["training"]["data_fingerprint"] == ranker.model_.provenance.data_fingerprint
    assert found["curves"]["history"]["validation"] == list(ranker.model_.provenance.history["validation"])


def test_the_frontier_of_a_ranker_is_also_that_of_its_file(
    made: rf.Report, ranker: Any, parts: Any, options: Any, tmp_path: Path
) -> None:
    found = made.to_dict()["frontier"]
    assert [one["means"] for one in found["candidates"]] == [list(one.means) for one in ranker.frontier_.candidates]
    assert sum(one["chosen"] for one in found["candidates"]) == 1
    ranker.save(tmp_path / "model.json")
    again = rf.report(rf.load(tmp_path / "model.json"), parts[2], path=None, **options | {"queries": 0})
    assert again.to_dict()["frontier"] == found


def test_queries_that_changed_most_are_chosen(made: rf.Report, ranker: Any, parts: Any) -> None:
    changes = rf.compare("bm25", ranker, parts[2], "NDCG@5").to_pandas()["NDCG@5"]["difference"]
    reasons = {parts[2].query_id(one["query"]): one["reason"] for one in made.to_dict()["queries"]["details"]}
    assert len(reasons) == 6
    assert reasons[changes.idxmax()] == "gained most against by bm25"
    lost = changes.idxmin()
    assert changes[lost] >= 0 or reasons[lost] == "lost most against by bm25"
    assert "drawn" in reasons.values()


def test_queries_can_be_asked_for(ranker: Any, parts: Any, options: Any) -> None:
    wanted = parts[2].query_ids[[3, 1]]
    found = rf.report(ranker, parts[2], path=None, **options | {"queries": wanted}).to_dict()["queries"]
    assert [(one["query"], one["reason"]) for one in found["details"]] == [(3, "asked for"), (1, "asked for")]
    assert len(found["ids"]) == parts[2].n_queries


def test_what_is_missing_is_left_out_with_the_reason(parts: Any) -> None:
    net = rf.RankNet(hidden=3, epochs=1, progress=False).fit(parts[0]).model_
    forgetful = dataclasses.replace(net.provenance, history={}, known_data=None)
    bare = rf.Dataset(parts[2].features, qid=parts[2].qid, feature_names=list(parts[2].feature_names))
    found = rf.report(dataclasses.replace(net, provenance=forgetful), bare, path=None, progress=False).to_dict()
    reasons = {name: part["absent"] for name, part in found.items() if isinstance(part, dict) and "absent" in part}
    assert set(reasons) == {"measures", "comparison", "segments", "scores", "curves", "frontier", "drift"}
    assert "no labels" in reasons["measures"]
    assert all("\n" not in one for one in reasons.values())
    assert reasons["drift"].endswith("give the training data")
    assert found["features"]["gain"] is None
    assert any("no splits" in one for one in found["features"]["remarks"])
    assert found["queries"]["details"][0]["documents"][0]["contributions"]
    assert found["queries"]["documents_are_rows"] is True


@pytest.mark.parametrize("made_by", [rf.XRank(n_steps=3, min_documents=3), rf.PRank(epochs=1, n_members=2)])
def test_models_of_every_kind_are_reported(made_by: Any, parts: Any) -> None:
    ranker = made_by.set_params(progress=False).fit(parts[0])
    found = rf.report(ranker, parts[2], path=None, queries=1, permutations=1, progress=False).to_dict()
    assert "absent" not in found["features"]
    assert found["features"]["contributions"] is not None
    assert found["queries"]["details"][0]["pairs"]


def test_categories_are_shown_by_name(parts: Any) -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "qid": np.repeat(np.arange(30), 8),
            "label": rng.integers(0, 3, 240),
            "brand": rng.choice(["ash", "birch", "elm"], 240),
            "price": rng.random(240),
        }
    )
    frame.loc[frame["brand"] == "elm", "label"] = 2
    data = rf.Dataset(frame)
    ranker = rf.LambdaMART(n_trees=4, n_leaves=4, min_documents=3, progress=False).fit(data)
    found = rf.report(ranker, data, path=None, queries=1, permutations=1, progress=False).to_dict()
    place = found["queries"]["features"].index("brand")
    assert {one["values"][place] for one in found["queries"]["details"][0]["documents"]} <= {"ash", "birch", "elm"}
    brand = next(one for one in found["features"]["dependence"] if one["feature"] == "brand")
    assert brand["categories"] is True
    assert set(brand["values"]) == {"ash", "birch", "elm"}


def test_a_sample_of_whole_queries_is_drawn_by_the_seed(ranker: Any, parts: Any) -> None:
    def sampled(**more: Any) -> dict[str, Any]:
        arguments = {"path": None, "queries": 1, "permutations": 1, "progress": False, "sample": 60} | more
        return rf.report(ranker, parts[2], **arguments).to_dict()["features"]

    one = sampled()
    assert one["sample"] == {"queries": 7, "documents": 56, "of_queries": parts[2].n_queries}
    assert sampled() == one
    assert sampled(seed=1)["contributions"] != one["contributions"]


def test_baselines_in_every_form(ranker: Any, parts: Any) -> None:
    test = parts[2]

    def names(baselines: Any) -> list[str]:
        arguments = {"path": None, "queries": 0, "permutations": 1, "progress": False}
        return rf.report(ranker, test, baselines=baselines, **arguments).to_dict()["rankings"]

    scores = test.features[:, 0].astype(float)
    assert names("bm25") == ["model", "bm25"]
    assert names(["bm25", "bm25"]) == ["model", "bm25", "bm25 again"]
    assert names([scores, ranker.model_]) == ["model", "baseline", "TreeEnsemble"]
    assert names(scores) == ["model", "baseline"]
    run = {str(query): {} for query in test.query_ids.tolist()}
    for query, document, score in zip(test.qid.tolist(), test.document_ids.tolist(), scores.tolist(), strict=True):
        run[str(query)][document] = score
    assert names({"run": run, "same": scores}) == ["model", "run", "same"]


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "path": ({"path": "nowhere/at/all/report.html"}, "there is no folder"),
    "no path": ({"path": 3}, "path must be"),
    "baseline": ({"baselines": {"model": "bm25"}}, "name of the model"),
    "unknown feature": ({"baselines": "bm26"}, "no feature 'bm26'"),
    "too many": ({"baselines": ["bm25"] * 9}, "at most 8"),
    "measure": ({"measures": "NDCD"}, "NDCD"),
    "no measures": ({"measures": []}, "measure"),
    "label": ({"measures": "NDCG:sales"}, "sales"),
    "segments": ({"segments": {1: "a"}}, "segments="),
    "query": ({"queries": [10**6]}, "no query 1000000"),
    "queries": ({"queries": 2.5}, "queries must be"),
    "texts": ({"query_texts": ["a"]}, "query_texts must map"),
    "name": ({"name": ""}, "needs a name"),
    "title": ({"title": 1}, "title must be"),
    "sample": ({"sample": 0}, "sample must be"),
    "permutations": ({"permutations": 0}, "permutations must be"),
    "training data": ({"train": 3}, "Dataset"),
    "seed": ({"seed": -1}, "a seed is a whole number"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named_and_nothing_is_written(name: str, ranker: Any, parts: Any, tmp_path: Path) -> None:
    arguments, words = MISTAKES[name]
    with pytest.raises(rf.RankforceError, match=words):
        rf.report(ranker, parts[2], **{"path": tmp_path / "report.html", "progress": False} | arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_store_is_refused(ranker: Any, parts: Any, tmp_path: Path) -> None:
    parts[2].write(tmp_path / "data.csv")
    rf.bin(tmp_path / "data.csv", tmp_path / "data.bins", progress=False)
    with pytest.raises(rf.DataError, match="a store has bins"):
        rf.report(ranker, rf.read(tmp_path / "data.bins"), path=None, progress=False)


def test_a_report_says_what_it_wrote(made: rf.Report) -> None:
    assert "24 queries, 6 of them with their documents" in str(made)
    assert repr(made).startswith("<Report: ")


def test_ids_that_a_browser_would_change_are_texts(ranker: Any, parts: Any) -> None:
    test = parts[2]
    large = test.row_queries.astype(np.int64) + 2**53
    data = rf.Dataset(test.features, test.label(), large, feature_names=list(test.feature_names))
    found = rf.report(
        ranker, data, path=None, baselines="bm25", queries=1, permutations=1, seed=2**60, progress=False
    ).to_dict()
    assert found["seed"] == str(2**60)
    assert found["queries"]["ids"][:3] == [2**53, str(2**53 + 1), str(2**53 + 2)]
    changed = found["comparison"]["baselines"]["bm25"]["measures"][found["measure"]]["changed"]
    assert {one["query"] for one in changed} <= set(found["queries"]["ids"])


def test_rounding_keeps_six_digits_and_no_odd_numbers() -> None:
    assert rounded(1234567.0) == 1234570.0
    assert rounded(-0.00012345678) == -0.000123457
    assert rounded(float("nan")) is rounded(float("inf")) is None
