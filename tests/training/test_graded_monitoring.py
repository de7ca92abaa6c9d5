"""Early stopping by several measures: the rule on numbers, and in training."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf
from rankforce.models.storage import to_bytes
from rankforce.training.graded_monitoring import GradedWatch, tiers_of
from rankforce.training.monitoring import TrainingWarning


class Part:
    """A tier whose queries count the same."""

    def mean_of(self, values):
        return float(np.mean(values))

    def error_of(self, differences):
        return float(np.std(differences, ddof=1) / np.sqrt(len(differences)))


class Tiers:
    def __init__(self, count):
        self.parts = [Part() for _ in range(count)]
        self.latest = []


def choices(*iterations, patience=None):
    """The chosen iteration after each of some, given as values per tier and query; and when it stopped."""
    watch = GradedWatch(patience, tiers=Tiers(len(iterations[0])))
    chosen = []
    for number, values in enumerate(iterations, start=1):
        watch.tiers.latest = [np.array(one, dtype=float) for one in values]
        stop = watch.record(number, {"validation": float(np.mean(values[0]))})
        chosen.append(watch.best_iteration)
        if stop:
            break
    return chosen


def test_the_second_tier_decides_within_one_standard_error():
    high = [1.0, 1.0, 0.0, 1.0]  # against the next, the difference is ¼ and its standard error ¼
    near = [1.0, 1.0, 0.0, 0.0]
    assert choices((high, [0.1] * 4), (near, [0.2] * 4), (near, [0.15] * 4)) == [1, 2, 2]
    assert choices((high, [0.2] * 4), (near, [0.1] * 4)) == [1, 1]


def test_the_first_tier_decides_beyond_it():
    high, low = [1.0, 0.9, 0.8, 1.0], [0.5, 0.4, 0.3, 0.5]
    assert choices((high, [0.1] * 4), (low, [0.9] * 4)) == [1, 1]
    assert choices((low, [0.9] * 4), (high, [0.1] * 4)) == [1, 2]  # the first is ruled out


def test_three_tiers():
    same = [0.5, 0.4, 0.3, 0.6]
    better = [0.9, 0.8, 0.8, 0.9]
    assert choices((same, same, [0.1] * 4), (same, better, [0.0] * 4), (same, same, [0.9] * 4)) == [1, 2, 2]
    assert choices((same, same, [0.1] * 4), (same, same, [0.2] * 4)) == [1, 2]
    assert choices((same, better, [0.1] * 4), (better, same, [0.0] * 4)) == [1, 2]


def test_patience_counts_from_the_last_progress_of_the_first_tier_or_of_the_choice():
    slow = [([0.5 + 0.001 * m, 0.5, 0.5, 0.4], [0.5 - 0.1 * m] * 4) for m in range(3)]  # rises, within the error
    flat = [([0.4, 0.5, 0.5, 0.4], [0.0] * 4)] * 5
    assert len(choices(*slow, *flat, patience=2)) == 5


def test_what_is_watched():
    assert tiers_of("NDCG@5") == (rf.NDCG(5),)
    assert tiers_of(["NDCG@5", rf.CNDCG("clicks")]) == (rf.NDCG(5), rf.CNDCG("clicks"))
    assert tiers_of(rf.Graded(["NDCG", "CNDCG:clicks"])) == (rf.NDCG(), rf.CNDCG("clicks"))
    with pytest.raises(rf.SettingsError, match="no measure"):
        tiers_of([])


@pytest.fixture(scope="module")
def parts():
    made = rf.make_artificial(160, documents=15, features=6, seed=0, clicks=True, click_agreement=0.6)
    return made.split(0.5, 0.5, seed=1)


OBJECTIVE = rf.Graded(["NDCG", "CNDCG:clicks"], [0.7, 0.3])


def trees(**settings):
    small = {"n_leaves": 6, "min_documents": 5, "learning_rate": 0.3, "progress": False, "n_trees": 40}
    return rf.LambdaMART(objective=OBJECTIVE, **(small | {"early_stopping": 10} | settings))


def net(**settings):
    small = {"hidden": 3, "learning_rate": 0.1, "progress": False, "epochs": 40}
    return rf.LambdaRank(objective=OBJECTIVE, **(small | {"early_stopping": 8} | settings))


@pytest.fixture(params=[trees, net])
def ranker(request):
    return request.param


def test_training_keeps_both_histories_and_resumes_with_the_same_choice(parts, ranker, tmp_path):
    train, held_out = parts
    held_out = held_out.with_label("clicks", np.where(held_out.qid == held_out.qid[0], 0.0, held_out.labels["clicks"]))
    whole = ranker().fit(train, validation=held_out)
    assert set(whole.history_) == {"train", "validation", "validation CNDCG:clicks"}
    assert 0 < whole.best_iteration_ < len(whole.history_["train"])
    whole.save(tmp_path / "whole.json")
    kept = {"checkpoint": tmp_path / "checkpoint", "checkpoint_every": 1, "validation": held_out}

    def interrupted(told):
        if told.number == whole.best_iteration_ + 2:
            told.stop()

    ranker().fit(train, callbacks=[interrupted], **kept)
    resumed = ranker().fit(train, **kept)
    resumed.save(tmp_path / "resumed.json")
    assert (tmp_path / "whole.json").read_bytes() == (tmp_path / "resumed.json").read_bytes()


def test_tiers_asked_for_and_tiers_that_validation_data_lacks(parts, ranker):
    train, held_out = parts
    grades_only = rf.Dataset(held_out.features, held_out.labels["grades"], held_out.qid)
    with pytest.warns(TrainingWarning, match=r"CNDCG:clicks is not watched: .* no label source 'clicks'"):
        without = ranker().fit(train, validation=grades_only)
    assert set(without.history_) == {"train", "validation"}
    asked = ranker(validation_measure=["NDCG@3", "CNDCG@3:clicks"]).fit(train, validation=held_out)
    assert set(asked.history_) == {"train", "validation", "validation CNDCG@3:clicks"}
    assert asked.watched_measure_ == rf.NDCG(3)
    with pytest.raises(rf.MeasureError, match="clicks"):
        ranker(validation_measure=["NDCG@3", "CNDCG@3:clicks"]).fit(train, validation=grades_only)


def test_of_several_learning_rates_the_best_by_tiers_is_kept(parts, tmp_path):
    train, held_out = parts
    rates = [1e-4, 0.01, 0.1]
    several = net(learning_rate=rates, epochs=12, keep_weights=True).fit(train, validation=held_out)
    apart = [net(learning_rate=rate, epochs=12).fit(train, validation=held_out) for rate in rates]
    assert several.rates_ == {
        rate: one.history_["validation"][one.best_iteration_ - 1] for rate, one in zip(rates, apart, strict=True)
    }
    found = [rf.evaluate(one, held_out, ["NDCG", "CNDCG:clicks"]).per_query for one in apart]
    first = [values["NDCG"] for values in found]
    highest = max(first, key=np.mean)
    behind = [highest - values for values in first]
    within = [np.mean(gap) <= np.std(gap, ddof=1) / np.sqrt(len(gap)) for gap in behind]
    clicks = [np.mean(values["CNDCG:clicks"]) if near else -1.0 for values, near in zip(found, within, strict=True)]
    chosen = int(np.argmax(clicks))
    assert within != [True, True, True]
    assert several.learning_rate_ == rates[chosen]
    assert several.history_ == apart[chosen].history_
    np.testing.assert_array_equal(several.model_.weights, several.weights_[several.best_iteration_ - 1])
    path = {"checkpoint": tmp_path / "checkpoint"}
    net(learning_rate=rates, epochs=7, keep_weights=True).fit(train, validation=held_out, **path)
    again = net(learning_rate=rates, epochs=12, keep_weights=True).fit(train, validation=held_out, **path)
    assert again.rates_ == several.rates_
    assert to_bytes(again.model_) == to_bytes(several.model_)
