"""Drift: no false alarms on small and clustered data, no real drift overlooked, the same answer from file and data."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
from tests.drifting import slow_twin

import rankforce as rf
from rankforce.data.distributions import KnownData
from rankforce.drifting.drift import is_at_least
from rankforce.drifting.feature_weights import EQUALLY, GAIN, MOVES
from rankforce.drifting.unseen_values import unseen_values


def drawn(rng, queries, sizes=(2, 15)):
    """Features of documents, of queries, of both, rare ones, missing ones."""
    counts = rng.integers(*sizes, queries)
    qid = np.repeat(np.arange(queries), counts)
    n = len(qid)
    rare = rng.random(queries)[qid] < 0.03
    columns = [
        rng.normal(size=n),
        rng.normal(size=queries)[qid],
        rng.normal(size=queries)[qid] + 0.5 * rng.normal(size=n),
        np.round(rng.pareto(1.0, queries))[qid],
        rare,
        np.where(rare, np.nan, rng.random(n)),
        counts[qid],
    ]
    return rf.Dataset(np.column_stack(columns).astype(np.float32), rng.integers(0, 3, n), qid)


@pytest.fixture(scope="module")
def parts():
    data = rf.make_artificial(queries=300, documents=(4, 16), features=6, seed=3)
    data = data.replace(feature_names=["price", "age", "bm25", "clicks", "length", "rating"])
    return data.split(0.5, 0.25, 0.25, seed=1)


@pytest.fixture(scope="module")
def ranker(parts):
    train, validation, _ = parts
    return rf.LambdaMART(n_trees=20, n_leaves=8, min_documents=5, progress=False).fit(train, validation=validation)


def moved(data, feature, by):
    features = data.features.copy()
    features[:, data.feature_place(feature)] += by
    return data.replace(features=features)


# ------------------------------------------------------------------------------------------ alarms, true and false


@pytest.mark.parametrize(("then", "now"), [(20, 10), (60, 3), (100, 60), (40, 150)])
def test_false_alarms_are_rarer_than_alpha(then, now):
    """Queries of one kind, few of them, with documents that are alike: PSI is large, and no verdict falls."""
    rng = np.random.default_rng(then)
    alarms, large = 0, 0
    for _ in range(60):
        found = rf.drift(drawn(rng, then), drawn(rng, now), alpha=0.1)
        alarms += found.verdict != "steady"
        large += any(one.psi >= 0.2 for one in found.features)
    assert alarms <= 6  # 0.1 × 60
    assert large >= 30 or now > 100  # the rule of thumb alone would have cried


def test_a_shifted_feature_is_found():
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(20):
        new = drawn(rng, 60)
        features = new.features.copy()
        features[:, 0] += 1.0
        result = rf.drift(drawn(rng, 150), new.replace(features=features))
        found += result["1"].verdict == "drifted"
        assert result["2"].verdict == "steady"
    assert found == 20


def test_what_was_never_seen_is_found_with_few_queries(parts):
    train, _, new = parts
    few = new.take_queries(range(6))
    features = few.features.copy()
    features[:, 0] = np.where(np.arange(len(few)) % 2, 9.0, features[:, 0])  # beyond the range
    features[:, 1] = np.where(np.arange(len(few)) % 2, np.nan, features[:, 1])  # never missing before
    result = rf.drift(train, few.replace(features=features))
    assert {one.name for one in result.features if one.verdict == "drifted"} == {"price", "age"}
    assert result["price"].above == pytest.approx(0.5, abs=0.05)
    assert result["age"].missing_then == 0.0
    assert result["age"].missing_now == pytest.approx(0.5, abs=0.05)
    assert result.features[0].verdict == "drifted"


def test_values_where_there_were_none(parts):
    train, _, new = parts
    gone = train.features.copy()
    gone[:, 2] = np.nan
    result = rf.drift(train.replace(features=gone), new)
    assert result["bm25"].verdict == "drifted"
    assert (result["bm25"].missing_then, result["bm25"].missing_now) == (1.0, 0.0)
    assert math.isnan(result["bm25"].ks)
    back = rf.drift(train, new.replace(features=np.full_like(new.features, np.nan)))
    assert back.verdict == "drifted"


# --------------------------------------------------------------------------------------------------- models and scores


def test_a_model_remembers_what_its_training_data_says(parts, ranker, tmp_path):
    train, _, new = parts
    ranker.save(tmp_path / "model.json.gz")
    from_file = rf.drift(rf.load(tmp_path / "model.json.gz"), new)
    assert from_file.to_dict() == rf.drift(ranker, new).to_dict() == rf.drift(ranker, new, train=train).to_dict()
    assert from_file.weighed_by == GAIN
    plain = rf.drift(train, new)
    for one in plain.features:
        kept = from_file[one.name]
        assert (kept.psi, kept.ks, kept.p_value, kept.outside) == (one.psi, one.ks, one.p_value, one.outside)
    assert plain.score is None
    assert plain.weighed_by == EQUALLY


def test_features_are_matched_by_name(parts, ranker):
    new = parts[2]
    turned = new.take_features(list(reversed(new.feature_names)))
    assert rf.drift(ranker, turned).to_dict() == rf.drift(ranker, new).to_dict()
    with pytest.raises(rf.DataError, match="the new data lacks a feature of the training data: 'rating'"):
        rf.drift(ranker, new.without_features(["rating"]))


def test_steady_scores_and_drifted_ones(parts, ranker):
    _, validation, new = parts
    steady = rf.drift(ranker, new)
    assert steady.verdict == "steady"
    assert steady.score is not None
    top = max(steady.features, key=lambda one: one.weight).name
    result = rf.drift(ranker, moved(new, top, 2.0))
    assert result.verdict == "drifted"
    assert result.score is not None
    assert result.score.psi > steady.score.psi
    assert result.drifted_weight == pytest.approx(result[top].weight)
    assert result.weighted_psi == pytest.approx(sum(one.weight * one.psi for one in result.features))
    again = rf.drift(ranker.model_.without_known_data(), new, train=parts[0], held_out=validation)
    assert again.score is not None
    assert again.score.to_dict() == steady.score.to_dict()


def test_a_feature_that_the_model_hardly_reads_makes_no_drift(parts):
    train, _, new = parts
    noise = np.random.default_rng(0).random(len(train) + len(new)).astype(np.float32)
    wide, later = (
        data.replace(features=np.column_stack([data.features, values]), feature_names=[*data.feature_names, "unread"])
        for data, values in ((train, noise[: len(train)]), (new, noise[len(train) :]))
    )
    model = rf.LambdaMART(n_trees=1, n_leaves=2, min_documents=5, progress=False).fit(wide)
    result = rf.drift(model, moved(later, "unread", 5.0))
    assert result["unread"].weight == 0.0
    assert result["unread"].verdict == "drifted"
    assert result.verdict == "shifted"
    assert is_at_least(result.verdict, "shifted")
    assert not is_at_least(result.verdict, "drifted")


@pytest.mark.parametrize(
    ("kind", "weighed_by"),
    [
        (rf.LambdaRank(hidden=2, epochs=2), MOVES),
        (rf.PRank(epochs=2), MOVES),
        (rf.XRank(n_steps=4), GAIN),
        (rf.MART(n_trees=3, cost="ordinal"), GAIN),
        (rf.Bagging(rf.MART(n_trees=2), n_models=2), GAIN),
        (rf.LambdaRank(hidden=0, epochs=2, scaling="query"), EQUALLY),
    ],
    ids=lambda one: type(one).__name__,
)
def test_every_kind_of_model_is_weighed(parts, kind, weighed_by):
    train, _, new = parts
    fitted = kind.unfitted(progress=False).fit(train)
    result = rf.drift(fitted, new)
    assert result.weighed_by == weighed_by
    assert sum(one.weight for one in result.features) == pytest.approx(1.0)
    assert result.verdict == "steady"


def test_a_net_is_weighed_by_what_moves_its_score(parts):
    train, _, new = parts
    flag = (train.features[:, 0] > 0).astype(np.float32)
    data = train.replace(features=np.column_stack([flag, train.features[:, 1]]), feature_names=["flag", "other"])
    data = data.with_label("grades", 2 * flag)
    net = rf.LambdaRank(hidden=0, epochs=5, progress=False).fit(data)
    other = new.take_features([0, 1]).replace(feature_names=["flag", "other"])
    assert rf.drift(net, other)["flag"].weight > 0.6  # though it has two values, and no percentile tells them apart


# ------------------------------------------------------------------------------------------ pairs, categories


def test_pairs_that_change_places(parts, ranker):
    new = parts[2]
    old = rf.LambdaMART(n_trees=2, n_leaves=3, min_documents=5, progress=False).fit(parts[0])
    result = rf.drift(ranker, new, former=old)
    assert result.order is not None
    slow = [
        slow_twin.changed_share(old.predict(new)[rows].tolist(), ranker.predict(new)[rows].tolist())
        for rows in new.each_query()
    ]
    assert result.order.shares.tolist() == pytest.approx(slow, nan_ok=True)
    assert result.order.mean == pytest.approx(np.nanmean(slow))
    assert result.to_dict()["order"]["largest"] == pytest.approx(np.nanmax(slow))
    same = rf.drift(ranker, new, former=ranker)
    assert same.order is not None
    assert same.order.mean == 0.0
    assert same.order.most_changed == {}
    with pytest.raises(rf.SettingsError, match="former"):
        rf.drift(parts[0], new, former=ranker)


def test_long_lists_are_compared_in_parts(monkeypatch):
    monkeypatch.setattr("rankforce.drifting.order_changes.ROWS_AT_A_TIME", 3)
    from rankforce.drifting.order_changes import changed_share

    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 4, 10).astype(float), rng.integers(0, 4, 10).astype(float)
    assert changed_share(one, other) == pytest.approx(slow_twin.changed_share(one.tolist(), other.tolist()))


def categorical(rng, categories, shares, queries=80):
    codes = rng.choice(len(categories), size=queries * 8, p=shares).astype(np.float32)
    features = np.column_stack([codes, rng.random(len(codes))])
    return rf.Dataset(
        features, group=[8] * queries, feature_names=["colour", "size"], categories={"colour": categories}
    )


def test_new_and_vanished_categories():
    rng = np.random.default_rng(0)
    then = categorical(rng, ["red", "blue", "grey"], [0.5, 0.3, 0.2])
    same = categorical(rng, ["grey", "red", "blue"], [0.2, 0.5, 0.3])  # in another order
    assert rf.drift(then, same).verdict == "steady"
    now = categorical(rng, ["red", "green", "blue"], [0.5, 0.3, 0.2])
    colour = rf.drift(then, now)["colour"]
    assert colour.verdict == "drifted"
    assert colour.new_categories == {"green": pytest.approx(0.3, abs=0.1)}
    assert colour.vanished_categories == {"grey": pytest.approx(0.2, abs=0.1)}
    assert colour.unknown == pytest.approx(0.3, abs=0.1)
    assert math.isnan(colour.ks)
    text = str(rf.drift(then, now))
    assert "colour: new categories: green" in text
    assert "colour: vanished categories: grey" in text
    numbers = now.replace(categories={})
    with pytest.raises(rf.DataError, match="'colour' was categories in the training data and is numbers"):
        rf.drift(then, numbers)


def test_a_model_remembers_its_categories(tmp_path):
    rng = np.random.default_rng(2)
    then = categorical(rng, ["red", "blue", "grey"], [0.5, 0.3, 0.2])
    then = then.with_label("grades", (then.features[:, 0] == 1) * 2.0)
    ranker = rf.LambdaMART(n_trees=3, n_leaves=4, min_documents=3, progress=False).fit(then)
    ranker.save(tmp_path / "model.json")
    now = categorical(rng, ["green", "blue", "red"], [0.3, 0.2, 0.5])
    loaded = rf.drift(rf.load(tmp_path / "model.json"), now)
    assert loaded["colour"].to_dict() | {"weight": 0.5} == rf.drift(then, now)["colour"].to_dict()
    assert loaded["colour"].new_categories.keys() == {"green"}
    assert loaded["colour"].vanished_categories.keys() == {"grey"}
    assert loaded["colour"].weight > 0.9
    assert loaded.verdict == "drifted"


def test_one_rare_new_category_is_no_drift():
    rng = np.random.default_rng(1)
    then = categorical(rng, ["red", "blue"], [0.5, 0.5])
    now = categorical(rng, ["red", "blue", "rare"], [0.5, 0.499, 0.001])
    assert rf.drift(then, now).verdict == "steady"


# --------------------------------------------------------------------------------------------------- results, refusals


def test_the_result_in_all_forms(parts, ranker):
    result = rf.drift(ranker, moved(parts[2], "bm25", 3.0), former="bm25")
    text = str(result)
    assert text.startswith(("DRIFTED", "SHIFTED"))
    assert "Holm over 7 columns" in text
    assert "of the pairs of a query are ordered differently" in text
    assert result.to_csv().count("\n") == 8
    assert "bm25" in result.to_markdown()
    assert "tabular" in result.to_latex()
    assert len(result.to_pandas()) == 6
    plain = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert plain["verdict"] == result.verdict
    assert plain["limits"]["psi"] == {"shifted": 0.1, "drifted": 0.2}
    assert "Drift" in repr(result)
    with pytest.raises(KeyError):
        result["nothing"]


def test_what_cannot_be_compared_is_refused(parts, ranker):
    train, validation, new = parts
    bare = ranker.model_.without_known_data()
    with pytest.raises(rf.DataError, match=r"keeps no distribution.*train=\.\.\."):
        rf.drift(bare, new)
    assert rf.drift(bare, new, train=train).score is None
    for wrong in ({"alpha": 0.0}, {"alpha": "small"}, {"train": 3}, {"held_out": "x"}, {"former": 3}):
        with pytest.raises(rf.RankforceError):
            rf.drift(ranker, new, **wrong)
    with pytest.raises(rf.SettingsError, match="has no scores"):
        rf.drift(train, new, held_out=validation)
    with pytest.raises(rf.DataError):
        rf.drift(ranker, new.features)
    with pytest.raises(rf.SettingsError):
        rf.drift("model.json", new)


def test_damaged_distributions_are_refused(ranker):
    from rankforce.models.storage import document_of, model_of

    document = document_of(ranker.model_)

    def read(change):
        copied = json.loads(json.dumps(document, default=lambda array: array.tolist()))
        change(copied["provenance"]["known_data"])
        return model_of(copied, "model")

    assert read(lambda known: None).provenance.known_data == ranker.model_.provenance.known_data
    first = {"cuts": [2.0, 1.0], "counts": [1, -1], "holders": [1], "missing": -1, "noise": [1.0, 2.0, float("nan"), 1]}
    for key, value in first.items():
        with pytest.raises(rf.ModelFileError):
            read(lambda known, key=key, value=value: known["features"][0].__setitem__(key, value))
    for key, value in {"queries": 0, "all_queries": "x", "features": [], "scores": 3, "score_queries": -1}.items():
        with pytest.raises(rf.ModelFileError):
            read(lambda known, key=key, value=value: known.__setitem__(key, value))


def test_what_a_model_learns_is_the_same_without_it(parts, ranker):
    from rankforce.models.storage import document_of

    bare = ranker.model_.without_known_data()
    assert isinstance(ranker.model_.provenance.known_data, KnownData)
    assert repr(document_of(bare)["contents"]) == repr(document_of(ranker.model_)["contents"])
    assert "known_data" not in document_of(bare)["provenance"]
    np.testing.assert_array_equal(bare.predict(parts[2]), ranker.predict(parts[2]))


def test_unseen_values_at_a_glance(parts, ranker):
    new, model = parts[2], ranker.model_
    seen = unseen_values(model, model.matrix(new))
    assert seen is not None
    assert not seen.many
    top = max(rf.drift(ranker, new).features, key=lambda one: one.weight)
    unseen = unseen_values(model, model.matrix(moved(new, top.name, 9.0)))
    assert unseen is not None
    assert unseen.many
    assert unseen.share == pytest.approx(top.weight, abs=0.01)
    assert (unseen.feature, unseen.documents) == (top.name, 1.0)
    bare = dataclasses.replace(model, provenance=type(model.provenance)())
    assert unseen_values(bare, model.matrix(new)) is None
