"""Graded and changing objectives in training: what they improve, what is kept, and going on from a checkpoint."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankforce as rf
from rankforce.training.monitoring import TrainingWarning

SMALL = {"growth": "leafwise", "n_leaves": 8, "min_documents": 5, "learning_rate": 0.2, "progress": False}


def data_with_clicks(queries=60, seed=0, **options):
    return rf.make_artificial(queries, documents=20, features=6, seed=seed, clicks=True, **options)


def ranker(objective, **settings):
    return rf.LambdaMART(objective=objective, **(SMALL | {"n_trees": 12} | settings))


def test_the_model_file_says_what_was_maximised(tmp_path):
    data = data_with_clicks()
    objective = rf.Graded(["NDCG", "CNDCG:clicks"], [0.8, 0.2])
    model = ranker(objective).fit(data).model_
    model.save(tmp_path / "model.json")
    provenance = rf.load(tmp_path / "model.json").provenance
    assert provenance.objective == (
        "0.8 × NDCG (NearPairs(sigma=1.0, margin=0.01)) + "
        "0.2 × CNDCG:clicks (NearPairs(sigma=1.0, margin=0.01); tied in grades; without zeros)"
    )
    assert rf.read_objective(provenance.settings["objective"]) == objective.settled(12, rf.lambdas.NearPairs(1.0))
    assert [source["measure"] for source in provenance.settings["label_sources"]] == ["NDCG", "CNDCG:clicks"]


def test_one_tier_with_all_the_weight_is_that_measure():
    data = data_with_clicks()
    alone = rf.LambdaMART("NDCG", n_trees=12, **SMALL).fit(data)
    graded = ranker(rf.Graded(["NDCG", "CNDCG:clicks"], [1, 0])).fit(data)
    assert np.array_equal(alone.predict(data), graded.predict(data))


def test_a_term_that_changes_into_itself_does_not_change():
    data = data_with_clicks()
    alone = rf.LambdaMART("NDCG", n_trees=12, **SMALL).fit(data)
    changing = ranker(rf.Scheduled("NDCG", "NDCG", [1.0, 0.0, 1.0])).fit(data)
    assert np.array_equal(alone.predict(data), changing.predict(data))


def test_the_change_happens_at_the_tree_it_is_meant_for():
    data = data_with_clicks()
    step = {"step": "gradient"}
    objective = rf.Scheduled("NDCG", rf.Term("NDCG@3", rf.lambdas.SigmoidCost()), lambda m: float(m >= 6))
    changing = ranker(objective, **step).fit(data)
    alone = rf.LambdaMART("NDCG", n_trees=12, **step, **SMALL).fit(data)
    assert np.array_equal(changing.predict(data, n_trees=6), alone.predict(data, n_trees=6))
    assert not np.array_equal(changing.predict(data, n_trees=7), alone.predict(data, n_trees=7))


def test_a_killed_training_with_a_function_schedule_ends_with_the_same_bytes(tmp_path):
    data, held_out = data_with_clicks(), data_with_clicks(seed=1)
    second = rf.Graded([rf.Term("NDCG", rf.lambdas.SigmoidCost(mu=1.0)), "CNDCG:clicks"], [0.7, 0.3])

    def changing(shape, **settings):
        return ranker(rf.Scheduled("NDCG", second, shape), step="gradient", **settings)

    def smooth(m):
        return min(1.0, 0.1 * m)

    changing(smooth).fit(data, validation=held_out).save(tmp_path / "whole.json")
    kept = {"checkpoint": tmp_path / "checkpoint", "checkpoint_every": 1, "validation": held_out}
    changing(smooth, n_trees=7).fit(data, **kept)
    resumed = changing(smooth).fit(data, **kept)
    resumed.save(tmp_path / "resumed.json")
    assert (tmp_path / "resumed.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    form = json.loads((tmp_path / "resumed.json").read_text())
    assert '"values"' in json.dumps(form)
    with pytest.raises(rf.SettingsError, match="belongs to another training: objective was"):
        changing(lambda m: min(1.0, 0.2 * m)).fit(data, **kept)


def net(objective, **settings):
    return rf.LambdaRank(objective=objective, **({"epochs": 3, "hidden": 0, "progress": False} | settings))


@pytest.mark.parametrize("ranker", [ranker, net])
def test_missing_labels_are_counted_and_kept(ranker, capsys):
    data = data_with_clicks()
    clicks = data.labels["clicks"].copy()
    clicks[np.random.default_rng(0).random(len(clicks)) < 0.7] = np.nan
    clicks[data.rows[: data.query_sizes[0]]] = np.nan
    objective = rf.Graded(["NDCG", "CNDCG:clicks"], [0.8, 0.2])
    trained = ranker(objective, progress=True).fit(data.with_label("clicks", clicks))
    missing = int(np.isnan(clicks).sum())
    assert trained.left_out_[1].unlabelled_documents == missing
    assert trained.left_out_[1].unlabelled_queries >= 1
    assert trained.model_.provenance.settings["label_sources"][1]["unlabelled_documents"] == missing
    assert f"{missing:,} of 1,200 documents" in capsys.readouterr().err


@pytest.mark.parametrize("ranker", [ranker, net])
def test_a_tier_without_pairs_is_said(ranker):
    data = data_with_clicks()
    two_values = data.with_label("clicks", np.where(np.arange(data.n_documents) % 2, 0.0, 0.5))
    with pytest.warns(TrainingWarning, match="CNDCG:clicks has no pairs"):
        ranker(rf.Graded(["NDCG", "CNDCG:clicks"], [0.8, 0.2])).fit(two_values)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"measure": "MAP"}, "leave measure= out"),
        (
            {"objective": [rf.Term("NDCG", rf.lambdas.NearPairs())], "lambda_function": rf.lambdas.RankNetCost()},
            "leave lambda_function= out",
        ),
        ({"objective": rf.Term("NDCG", pairs="all"), "pairs": "top 3"}, "leave pairs= out"),
        ({"objective": rf.Term("NDCG", rf.lambdas.SigmoidCost()), "step": "newton"}, "step='gradient'"),
        ({"objective": 3}, "an objective is"),
        ({"objective": rf.Graded(["NDCG", "CNDCG:likes"])}, "'likes'"),
    ],
)
def test_contradictions_are_refused(settings, words):
    with pytest.raises(rf.RankforceError, match=words):
        rf.LambdaMART(**({"objective": "NDCG", "n_trees": 2} | SMALL | settings)).fit(data_with_clicks(queries=5))


NONE = rf.Term("NDCG", share=0)
SILENT = {
    "a term": (NONE, 0),
    "a sum": ([NONE, rf.Term("MAP", share=0.0)], 0),
    "a tier": (rf.Graded([NONE, "CNDCG:clicks"], [1.0, 0.0]), 0),
    "at first": (rf.Scheduled(NONE, "MAP", [0.0, 0.5]), 0),
    "at last": (rf.Scheduled("NDCG", NONE, rf.schedules.Linear(0.0, 0.25)), 4),
    "now and then": (rf.Scheduled("NDCG", NONE, lambda m: float(m == 3)), 3),
}


@pytest.mark.parametrize("kind", [rf.LambdaMART, rf.LambdaRank])
@pytest.mark.parametrize("name", SILENT)
def test_an_objective_that_pulls_at_nothing_is_refused(kind, name):
    objective, iteration = SILENT[name]
    length = {"n_trees": 12} if kind is rf.LambdaMART else {"epochs": 12}
    with pytest.raises(rf.SettingsError, match=f"nothing pulls in iteration {iteration} "):
        kind(objective=objective, progress=False, **length).fit(data_with_clicks(queries=5))


def test_shares_of_0_beside_others_are_allowed():
    data = data_with_clicks(queries=20)
    first_tier_only = rf.Graded(["NDCG", "CNDCG:clicks"], [1, 0])
    for objective in ([NONE, "MAP"], first_tier_only, rf.Scheduled("MAP", NONE, [0.0, 0.9])):
        assert ranker(objective, n_trees=3).fit(data).model_.n_trees == 3


def test_a_schedule_does_not_hide_an_impossible_number_of_trees():
    for objective in (NONE, rf.Scheduled("NDCG", "MAP", lambda m: 0.5)):
        with pytest.raises(rf.SettingsError, match="n_trees must be"):
            ranker(objective, n_trees="a").fit(data_with_clicks(queries=5))


def test_terms_without_a_cost_take_the_rankers():
    data = data_with_clicks(queries=20)
    settings = {"lambda_function": "RankNetCost(sigma=2)", "pairs": "top 5"}
    model = ranker(rf.Graded(["NDCG", rf.Term("CNDCG:clicks", rf.lambdas.NearPairs())]), **settings).fit(data).model_
    tiers = model.provenance.settings["objective"]["tier"]
    assert [tier["lambda_function"] for tier in tiers] == [
        "RankNetCost(sigma=2.0)",
        "NearPairs(sigma=1.0, margin=0.01)",
    ]
    assert [tier["pairs"] for tier in tiers] == ["top 5", "top 5"]


def test_several_measures_grow_leafwise_trees():
    data = data_with_clicks(queries=20)
    for objective, growth in (("NDCG", "symmetric"), (rf.Graded(["NDCG", "CNDCG:clicks"], [0.8, 0.2]), "leafwise")):
        assert ranker(objective, growth="auto").fit(data).model_.provenance.settings["growth"] == growth


LARGER = {"n_trees": 100, "n_leaves": 8, "growth": "leafwise", "min_documents": 20, "progress": False}


@pytest.fixture(scope="module")
def conflicting():
    """Training and test queries whose clicks partly contradict the grades; freshness is a label of its own.

    Clicks follow relevance, also within a grade, and as much a taste that the grades do not know; some were not shown.
    """
    random = np.random.default_rng(1)
    queries, documents = 1900, 25
    features = random.uniform(-1.0, 1.0, (queries * documents, 8)).astype(np.float32)
    relevance = features[:, :4].sum(axis=1) + 2.0 * features[:, 0] * features[:, 1]
    taste = features[:, 4:6].sum(axis=1) + 2.0 * features[:, 6] * features[:, 7]
    noise = random.standard_normal((2, len(features)))
    grades = np.searchsorted([-0.5, 0.8], relevance + 0.5 * noise[0]).astype(float)
    clicks = 1.0 / (1.0 + np.exp(0.5 - 0.4 * grades - 0.2 * relevance - taste - 0.3 * noise[1]))
    clicks[random.random(len(clicks)) < 0.3] = 0.0
    fresh = np.clip(np.floor(2.0 * (features[:, 7] + 1.0) + random.standard_normal(len(features))), 0.0, 3.0)
    labels = {"clicks": np.round(clicks, 2), "fresh": fresh}
    data = rf.Dataset(features, grades, np.repeat(np.arange(queries), documents), labels=labels)
    return data.split(4 / 19, 15 / 19, seed=0)


@pytest.fixture(scope="module")
def against_ndcg_alone(conflicting):
    """Compares a training for some objective with one for NDCG."""
    train, test = conflicting
    alone = rf.LambdaMART("NDCG", **LARGER).fit(train)

    def compared(objective, train=train):
        other = rf.LambdaMART(objective=objective, **LARGER).fit(train)
        return rf.compare(alone, other, test, ["NDCG@5", "CNDCG@5:clicks", "NDCG@5:fresh"])

    return compared


@pytest.mark.compiled_only
def test_a_graded_objective_raises_the_second_measure_and_leaves_the_first_alone(against_ndcg_alone):
    """One seed, one cut-off; experiments/graded.py has the rest."""
    found = against_ndcg_alone(rf.Graded(["NDCG", "CNDCG:clicks"], [0.9, 0.1]))
    assert found.difference["CNDCG@5:clicks"] > 0.01
    assert found.t_test["CNDCG@5:clicks"].p_value < 1e-6
    assert not (found.t_test["NDCG@5"].p_value < 0.05 and found.difference["NDCG@5"] < 0)
    # Nor are the queries too few to tell: a loss of half a point would have been seen.
    assert found.interval["NDCG@5"].low > -0.005


@pytest.mark.compiled_only
def test_without_tiers_clicks_cost_the_first_measure(against_ndcg_alone):
    """The label sources do contradict each other: whoever learns from clicks alone pays in grades."""
    found = against_ndcg_alone("CNDCG:clicks")
    assert found.difference["CNDCG@5:clicks"] > 0.05
    assert found.interval["NDCG@5"].high < -0.05


@pytest.mark.compiled_only
def test_forces_of_tied_pairs_without_zero_clicks_agree_better_with_those_of_the_grades(conflicting):
    instrument = rf.diagnostics.ForceAgreement(rf.Graded(["NDCG", "CNDCG:clicks"], [0.5, 0.5]))
    rf.LambdaMART("NDCG", **LARGER | {"n_trees": 20}).fit(conflicting[0], instruments=[instrument])
    tied, everything = np.mean([list(row.values()) for row in instrument.rows[1:]], axis=0)
    assert tied > everything + 0.05


@pytest.mark.compiled_only
def test_three_tiers_work_with_most_clicks_missing(conflicting, against_ndcg_alone):
    train, _ = conflicting
    clicks = train.labels["clicks"].copy()
    clicks[np.random.default_rng(0).random(len(clicks)) < 0.7] = np.nan
    three = rf.Graded(["NDCG", "CNDCG:clicks", "NDCG:fresh"], [0.7, 0.25, 0.05])
    found = against_ndcg_alone(three, train.with_label("clicks", clicks))
    assert found.interval["NDCG@5"].low > -0.005
    for later in ("CNDCG@5:clicks", "NDCG@5:fresh"):
        assert found.difference[later] > 0
        assert found.t_test[later].p_value < 1e-4
