"""``rf.explain``: every kind of model, queries, documents and pairs; what adds up, what is shown, what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.explaining import slow_twin
from tests.models.random_trees import random_ensemble

import rankforce as rf
from rankforce.models.bagged import Bagged
from rankforce.models.combination import Combination
from rankforce.models.net import Net
from rankforce.models.net_layout import Layout
from rankforce.models.net_scaling import Scaling
from rankforce.models.tree_ensemble import TreeEnsemble

NAMES = ("f0", "f1", "f2", "f3")


def some_data(documents: int = 24, ids: bool = True, features: int = 4) -> rf.Dataset:
    rng = np.random.default_rng(3)
    matrix = rng.standard_normal((documents, features)).astype(np.float32)
    matrix[rng.random(matrix.shape) < 0.1] = np.nan
    names = [f"d{row}" for row in range(documents)] if ids else None
    grades = rng.integers(0, 3, documents)
    return rf.Dataset(
        matrix,
        grades,
        qid=np.arange(documents) % 3,
        document_ids=names,
        feature_names=[f"f{k}" for k in range(features)],
    )


def a_net(hidden: int, kind: str) -> Net:
    rng = np.random.default_rng(1)
    scaling = Scaling(kind, np.zeros(4), np.ones(4))
    weights = rng.standard_normal(Layout(4, hidden).size)
    return Net(feature_names=NAMES, scaling=scaling, hidden=hidden, weights=weights)


def trees(seed: int = 0, **options) -> TreeEnsemble:
    return random_ensemble(seed, [6, 9, 1, 5], 4, **options)


MODELS = {
    "trees": trees(),
    "trees on a feature": trees(base_model="f2"),
    "trees on a model": trees(base_model=a_net(2, "standard"), base_score=1.5),
    "bag": Bagged.of(trees(1), trees(2)),
    "combination": Combination.of([trees(1), a_net(3, "standard")], [2.0, -0.5]),
    "one layer": a_net(0, "standard"),
    "two layers": a_net(4, "log1p"),
    "by query": a_net(4, "query"),
}


def data_for(name: str, **options) -> rf.Dataset:
    data = some_data(**options)
    if name == "trees on a feature":
        return data.replace(features=np.nan_to_num(data.features))
    return data


@pytest.mark.parametrize("background", [None, 5])
@pytest.mark.parametrize("name", MODELS)
def test_contributions_add_up_to_every_score(name, background):
    model, data = MODELS[name], data_for(name)
    table = rf.explain(model, data, background=background)
    np.testing.assert_allclose(table.base + table.contributions.sum(axis=1), model.predict(data), atol=1e-12)
    assert table.residual < 1e-12
    assert table.documents.tolist() == data.document_ids.tolist()


@pytest.mark.parametrize("name", MODELS)
def test_a_pair_adds_up_to_the_difference(name):
    model, data = MODELS[name], data_for(name)
    scores = dict(zip(data.document_ids.tolist(), model.predict(data).tolist(), strict=True))
    pair = rf.explain(model, data, 1, pair=("d4", "d10"))
    assert pair.difference == scores["d4"] - scores["d10"]
    assert abs(pair.residual) < 1e-12
    rows = [data.document_ids.tolist().index(one) for one in ("d4", "d10")]
    same = (data.features[rows[0]] == data.features[rows[1]]) | np.isnan(data.features[rows]).all(axis=0)
    assert not pair.contributions[same].any()


def test_a_pair_has_the_shapley_values_with_the_other_as_reference():
    model, data = MODELS["combination"], some_data(ids=False)
    pair = rf.explain(MODELS["trees"], data, 2, pair=(2, 5))
    twin = slow_twin.against_references(MODELS["trees"]._scores, data.features[2], data.features[5:6])
    np.testing.assert_allclose(pair.contributions, twin, atol=1e-12)
    backwards = rf.explain(model, data, 2, pair=(5, 2))
    assert backwards.difference == -rf.explain(model, data, 2, pair=(2, 5)).difference


def test_tables_of_a_query_and_of_a_document():
    model, data = MODELS["trees"], some_data()
    table = rf.explain(model, data, 1)
    assert (np.diff(table.scores) <= 0).all()
    assert table.ranks.tolist() == [*range(1, 9)]
    one = rf.explain(model, data, 1, document=table.documents.tolist()[2])
    assert (one.rank, one.score) == (3, table.scores[2])
    assert one.contributions.tolist() == table.contributions[2].tolist()
    assert table.document(one.document).to_dict() == one.to_dict()
    ranked = model.rank(data.take_queries([1]))
    assert table.documents.tolist() == ranked.document_id.tolist()
    whole = rf.explain(model, data)
    np.testing.assert_array_equal(
        table.contributions, whole.contributions[[whole.documents.tolist().index(one) for one in table.documents]]
    )
    sizes = np.abs(whole.contributions).mean(axis=0)
    assert list(whole.mean_absolute.values()) == sizes.tolist()
    points = whole.dependence("f3")
    np.testing.assert_array_equal(points.values, data.features[:, 3].astype(float))
    np.testing.assert_array_equal(points.contributions, whole.contributions[:, 3])


def test_background_can_be_given_in_every_form():
    model, data = MODELS["trees"], some_data()
    given = rf.explain(model, data, background=data).contributions
    for form in (data.features, data.n_documents):
        assert rf.explain(model, data, background=form).contributions.tolist() == given.tolist()
    drawn = rf.explain(model, data, background=6, seed=1)
    assert drawn.contributions.tolist() == rf.explain(model, data, background=6, seed=1).contributions.tolist()
    assert drawn.base != rf.explain(model, data, background=6, seed=2).base
    other_order = data.take_queries([2, 0, 1])
    assert drawn.base == pytest.approx(rf.explain(model, other_order, background=6, seed=1).base, abs=1e-12)


@pytest.mark.parametrize("columns", ["60", "120"])
def test_what_is_shown_fits_the_terminal(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    data = some_data(features=40).replace(feature_names=[f"feature number {k}" * 2 for k in range(40)])
    model = random_ensemble(0, [20] * 10, 40, feature_names=data.feature_names)
    for result in (
        rf.explain(model, data),
        rf.explain(model, data, 1),
        rf.explain(model, data, 1, document="d4"),
        rf.explain(model, data, 1, pair=("d4", "d10")),
    ):
        lines = str(result).splitlines()
        rule = next(place for place, line in enumerate(lines) if line.startswith("─"))
        table = [line for line in lines[rule - 1 : rule + 10] if "  " in line or "─" in line]
        assert max(map(len, table)) <= int(columns)
        assert "contributions add up to the" in lines[-1]


def test_results_in_other_forms():
    pytest.importorskip("pandas")
    model, data = MODELS["trees"], some_data()
    for result in (
        rf.explain(model, data),
        rf.explain(model, data, 1),
        rf.explain(model, data, 1, document="d4"),
        rf.explain(model, data, 1, pair=("d4", "d10")),
    ):
        assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["notes"]
        assert "<table" in result._repr_html_()
        assert len(result.to_pandas())
    frame = rf.explain(model, data, 1, pair=("d4", "d10")).to_pandas()
    assert frame["contribution"].abs().is_monotonic_decreasing


def test_a_ranker_is_its_model():
    data = rf.make_artificial(queries=10, documents=10, features=4, seed=0)
    ranker = rf.LambdaMART(n_trees=3, min_documents=2, progress=False)
    with pytest.raises(rf.RankforceError, match="call fit first"):
        rf.explain(ranker, data)
    ranker.fit(data)
    assert rf.explain(ranker, data).base == rf.explain(ranker.model_, data).base


class Foreign:
    """A model of somebody else's."""

    def predict(self, matrix):
        return matrix[:, 0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, d: rf.explain(Foreign(), d), "models of rankforce can be explained.*, not Foreign.*rf.MART"),
        (lambda m, d: rf.explain("model.json", d), r"rf.load\('model.json'\)"),
        (lambda m, d: rf.explain(rf.LambdaMART, d), "is a class"),
        (lambda m, d: rf.explain(m, d.features), "data must be a Dataset"),
        (lambda m, d: rf.explain(m, d, 7), "no query 7"),
        (lambda m, d: rf.explain(m, d, "1"), "no query '1'"),
        (lambda m, d: rf.explain(m, d, document="d4"), "say which by query="),
        (lambda m, d: rf.explain(m, d, 1, document="d5"), "query 1 has no document 'd5'.*d1, d4"),
        (lambda m, d: rf.explain(m, d, 1, pair=("d4", "d4")), "one document twice"),
        (lambda m, d: rf.explain(m, d, 1, pair=("d4",)), "two documents"),
        (lambda m, d: rf.explain(m, d, 1, pair=("d4", "d7"), background=3), "leave background= out"),
        (lambda m, d: rf.explain(m, d, 1, pair=("d4", "d7"), document="d4"), "leave document= out"),
        (lambda m, d: rf.explain(m, d, 1, background=0), "background must be"),
        (lambda m, d: rf.explain(m, d, 1, background=np.zeros((0, 4))), "no documents|at least one"),
        (lambda m, d: rf.explain(m, d, 1, background=np.zeros((3, 2))), "2 features"),
        (lambda m, d: rf.explain(m, d).dependence("nothing"), "no feature 'nothing'"),
        (lambda m, d: rf.explain(m, d).document("nothing"), "no document 'nothing'"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(rf.RankforceError, match=message):
        call(MODELS["trees"], some_data())


def test_two_documents_of_one_name_are_refused():
    data = some_data().replace(document_ids=["same"] * 24)
    with pytest.raises(rf.DataError, match="stands twice"):
        rf.explain(MODELS["trees"], data, 1, document="same")


def test_trees_of_other_libraries_are_explained_as_they_are_read():
    lightgbm = pytest.importorskip("lightgbm")
    data = some_data()
    settings = {"verbosity": -1, "min_data_in_leaf": 1, "num_threads": 1}
    booster = lightgbm.train(settings, lightgbm.Dataset(data.features, data.labels["grades"]), 3)
    table = rf.explain(booster, data)
    np.testing.assert_allclose(table.scores, booster.predict(data.features), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(
        table.contributions, booster.predict(data.features, pred_contrib=True)[:, :-1], atol=1e-5
    )


def test_the_way_out_for_what_is_only_known_by_its_scores():
    data = some_data()
    scores = np.asarray(data.features[:, 0], dtype=np.float64) - 0.5  # of any ranking, also below 0
    stand_in = rf.MART(n_trees=3, min_documents=2, progress=False).fit(data.features, scores, data.qid)
    assert len(rf.explain(stand_in, data)) == data.n_documents
