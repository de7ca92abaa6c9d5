"""Searching for settings: the best is found, nothing is tried twice, a journal is gone on with."""

from __future__ import annotations

import json
import math
import os
import signal

import numpy as np
import pytest

import rankforce as rf
from rankforce.training.monitoring import TrainingWarning


def ranker(**settings):
    return rf.LambdaMART(**({"n_trees": 6, "min_documents": 3, "progress": False} | settings))


@pytest.fixture(scope="module")
def data():
    return rf.make_artificial(queries=25, documents=10, features=4, seed=1)


@pytest.fixture(scope="module")
def valid():
    return rf.make_artificial(queries=25, documents=10, features=4, seed=2)


SPACE = {"n_leaves": [2, 4, 8], "learning_rate": [0.02, 0.3]}


def tune(data, valid, space=SPACE, **options):
    return rf.tune(ranker(), data, space, **({"validation": valid, "progress": False} | options))


def test_the_best_is_fitted_again_on_all(data, valid):
    result = tune(data, valid, {"n_leaves": [4]}, method="grid")
    final = result.refit(data, valid)
    assert final.model_.provenance.settings["refit"]["iterations"] == result.ranker.best_iteration_
    assert final.n_leaves == 4
    with pytest.raises(rf.SettingsError, match="tune with refit=True"):
        tune(data, valid, {"n_leaves": [4]}, method="grid", refit=False).refit(data, valid)


def test_a_grid_by_hand(data, valid):
    result = tune(data, valid, method="grid", measure="NDCG@5")
    assert len(result.trials) == 6
    for trial in result.trials:
        one = ranker(**trial.settings).fit(data, validation=valid)
        assert trial.value == rf.evaluate(one, valid, "NDCG@5").mean["NDCG@5"]
    best = max(result.trials, key=lambda trial: trial.value)
    assert result.settings == best.settings
    assert result.value == best.value
    assert result.ranker.get_params()["n_leaves"] == best.settings["n_leaves"]
    np.testing.assert_array_equal(
        result.ranker.predict(valid), ranker(**best.settings).fit(data, validation=valid).predict(valid)
    )


def test_folds_of_whole_queries_decide_where_there_is_no_validation_data(data):
    result = rf.tune(ranker(), data, SPACE, method="grid", folds=3, seed=4, progress=False)
    for trial in result.trials[:2]:
        by_hand = rf.cross_validate(ranker(**trial.settings), data, "NDCG", folds=3, seed=4, progress=False)
        assert trial.value == by_hand.mean["NDCG"]
    assert result.ranker.model_.provenance.data_fingerprint == data.fingerprint
    assert "over 3 folds" in str(result)


def test_early_stopping_within_folds(data):
    settings = {"early_stopping": 3, "n_trees": 30, "learning_rate": 0.5}
    result = rf.tune(
        ranker(**settings), data, {"n_leaves": [2, 8]}, method="grid", folds=2, validation_share=0.3, progress=False
    )
    assert "validation" in result.ranker.history_


def test_a_random_search_repeats_with_its_seed(data, valid):
    space = {"n_leaves": (2, 16), "learning_rate": (0.01, 0.5, "log")}
    one, two = (tune(data, valid, space, trials=4) for _ in range(2))
    assert [trial.settings for trial in one.trials] == [trial.settings for trial in two.trials]
    assert [trial.value for trial in one.trials] == [trial.value for trial in two.trials]
    assert len(one.trials) == 4
    other = tune(data, valid, space, trials=4, seed=1)
    assert other.trials[0].settings != one.trials[0].settings


def test_the_table(data, valid):
    result = tune(data, valid, method="grid", refit=False)
    assert result.ranker is None
    values = [row["NDCG"] for row in result.table]
    assert values == sorted(values, reverse=True)
    assert result.table[0]["n_leaves"] == result.settings["n_leaves"]
    assert {"trial", "n_leaves", "learning_rate", "NDCG", "iterations", "seconds", "state"} == set(result.table[0])
    assert "6 trials, chosen by NDCG on the validation data" in str(result)
    pytest.importorskip("pandas")
    assert result.to_pandas()["NDCG"].tolist() == values


def test_objects_can_be_tried(data, valid):
    result = tune(data, valid, {"measure": [rf.NDCG(5), "MAP"]}, method="grid", measure="ERR@5")
    assert {str(trial.settings["measure"]) for trial in result.trials} == {"NDCG@5", "MAP"}
    with pytest.raises(rf.SettingsError, match="say which measure decides"):
        tune(data, valid, {"measure": ["NDCG", "MAP"]}, method="grid")


def test_an_impossible_trial_does_not_end_the_search(data, valid):
    result = tune(data, valid, {"step": ["newton", "gradient"], "split": ["newton", "least_squares"]}, method="grid")
    failed = [trial for trial in result.trials if trial.state == "failed"]
    assert [trial.settings for trial in failed] == [{"step": "gradient", "split": "newton"}]
    assert math.isnan(failed[0].value)
    assert "gradient step" in failed[0].reason
    assert result.table[-1]["state"] == "failed"
    with pytest.raises(rf.SettingsError, match=r"no trial could be finished.*n_leaves"):
        tune(data, valid, {"n_leaves": [0, 1]}, method="grid")


class Counted(rf.LambdaMART):
    """Counts its fits, and stops the world at one of them."""

    fits = 0
    stop_at = -1

    def fit(self, *arguments, **options):
        type(self).fits += 1
        if type(self).fits == type(self).stop_at:
            raise MemoryError
        return super().fit(*arguments, **options)


@pytest.fixture
def counted():
    Counted.fits, Counted.stop_at = 0, -1
    return Counted(n_trees=4, min_documents=3, progress=False)


@pytest.mark.parametrize("method", ["grid", "random", "optuna"])
def test_a_search_goes_on_after_a_crash(counted, data, valid, tmp_path, method):
    if method == "optuna":
        pytest.importorskip("optuna")
    space = SPACE if method == "grid" else SPACE | {"l2": (0.0, 9.0)}  # nothing is proposed twice
    path = tmp_path / "journal"
    options = {"validation": valid, "method": method, "trials": 6, "refit": False, "progress": False, "journal": path}
    Counted.stop_at = 4
    with pytest.raises(MemoryError):
        rf.tune(counted, data, space, **options)
    assert len(path.read_text().splitlines()) == 4  # what is searched, and three trials
    with open(path, "a") as file:
        file.write('{"number": 4, "settings": {"n_lea')  # a line that was cut short
    result = rf.tune(counted, data, space, **options)
    assert Counted.fits == 7  # 3 + the one that crashed + 3
    assert len(result.trials) == 6
    if method != "optuna":
        whole = rf.tune(counted, data, space, **(options | {"journal": None}))
        assert [trial.value for trial in whole.trials] == [trial.value for trial in result.trials]
        assert whole.settings == result.settings
    before = Counted.fits
    again = rf.tune(counted, data, space, **options)
    assert Counted.fits == before
    assert [trial.value for trial in again.trials] == [trial.value for trial in result.trials]
    assert all(json.loads(line) for line in path.read_text().splitlines())


def test_what_optuna_proposes_twice_is_trained_once_and_written_down(counted, data, valid, tmp_path):
    pytest.importorskip("optuna")
    path = tmp_path / "journal"
    options = {"validation": valid, "method": "optuna", "refit": False, "progress": False, "journal": path}
    result = rf.tune(counted, data, {"n_leaves": [3, 6]}, trials=6, **options)
    assert Counted.fits <= 2
    assert len(path.read_text().splitlines()) == 7  # what is searched, and six trials
    again = rf.tune(counted, data, {"n_leaves": [3, 6]}, trials=6, **options)
    assert [trial.settings for trial in again.trials] == [trial.settings for trial in result.trials]
    assert [trial.value for trial in again.trials] == [trial.value for trial in result.trials]


def test_more_trials_can_be_asked_for_later(data, valid, tmp_path):
    space = {"l2": (0.0, 9.0)}
    tune(data, valid, space, trials=2, journal=tmp_path / "journal", refit=False)
    result = tune(data, valid, space, trials=4, journal=tmp_path / "journal", refit=False)
    assert [trial.settings for trial in result.trials] == [
        trial.settings for trial in tune(data, valid, space, trials=4, refit=False).trials
    ]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"space": {"n_leaves": [2]}}, "space: .* then, .* now"),
        ({"seed": 3}, "seed: 0 then, 3 now"),
        ({"measure": "MAP"}, 'measure: "NDCG" then, "MAP" now'),
        ({"validation": None}, "validation: "),
        ({"method": "random"}, "method: "),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_the_journal_of_another_search_is_refused(data, valid, tmp_path, change, reason):
    path = tmp_path / "journal"
    options = {"space": {"n_leaves": [2, 3]}, "method": "grid", "journal": path, "refit": False}
    tune(data, valid, **options)
    before = path.read_bytes()
    with pytest.raises(rf.SettingsError, match="belongs to another search .*" + reason):
        tune(data, valid, **(options | change))
    assert path.read_bytes() == before


@pytest.mark.parametrize("line", ['{"settings": {}}', "[1]", "x", '{"settings": 1, "value": 2}'])
def test_a_damaged_line_is_named(data, valid, tmp_path, line):
    path = tmp_path / "journal"
    tune(data, valid, {"n_leaves": [2]}, method="grid", journal=path, refit=False)
    with open(path, "a") as file:
        file.write(line + "\n")
    with pytest.raises(rf.DataError, match="line 3: this is not a journal"):
        tune(data, valid, {"n_leaves": [2]}, method="grid", journal=path, refit=False)


def test_the_journal_of_other_data_or_rankers_is_refused(data, valid, tmp_path):
    options = {"method": "grid", "journal": tmp_path / "journal", "refit": False, "progress": False}
    rf.tune(ranker(), data, {"n_leaves": [2]}, validation=valid, **options)
    with pytest.raises(rf.SettingsError, match=r"another search \(data: "):
        rf.tune(ranker(), valid, {"n_leaves": [2]}, validation=valid, **options)
    with pytest.raises(rf.SettingsError, match=r"another search \(settings: "):
        rf.tune(ranker(l2=1.0), data, {"n_leaves": [2]}, validation=valid, **options)


@pytest.mark.parametrize("content", ["1 qid:1 1:3\n", '{"a": 1}\n', "x"])
def test_a_file_that_is_no_journal_is_left_alone(data, valid, tmp_path, content):
    path = tmp_path / "train.txt"
    path.write_text(content)
    with pytest.raises(rf.DataError, match="not a journal"):
        tune(data, valid, journal=path)
    assert path.read_text() == content


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_the_search_after_a_whole_trial(data, valid, tmp_path):
    class Interrupting(Counted):
        fits = 0

        def fit(self, *arguments, **options):
            super().fit(*arguments, **options)
            if Interrupting.fits == 2:
                os.kill(os.getpid(), signal.SIGINT)
            return self

    base = Interrupting(n_trees=4, min_documents=3, progress=False)
    options = {"validation": valid, "method": "grid", "progress": False, "journal": tmp_path / "journal"}
    count = len(rf.tune(ranker(), data, SPACE, **options | {"journal": None, "refit": False}).trials)
    with pytest.warns(TrainingWarning, match=f"^interrupted after 2 of {count} trials: the best of these is taken$"):
        result = rf.tune(base, data, SPACE, refit=False, **options)
    assert len(result.trials) == 2
    assert result.interrupted == f"after 2 of {count} trials"
    assert f"2 trials (interrupted after 2 of {count} trials)" in str(result)
    assert len((tmp_path / "journal").read_text().splitlines()) == 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_during_a_trial_lets_it_be_finished(data, valid):
    """In the second of three folds of the first trial."""
    base, space = ranker(n_trees=6), {"n_leaves": [2, 4]}
    options = {"folds": 3, "method": "grid", "refit": False, "progress": False}
    whole = rf.tune(base, data, space, **options)
    assert not whole.interrupted
    fits = []

    class Interrupting(rf.LambdaMART):
        def fit(self, *arguments, **given):
            fits.append(self)
            if len(fits) == 2:
                given["callbacks"] = [lambda told: signal.raise_signal(signal.SIGINT) if told.number == 3 else None]
            return super().fit(*arguments, **given)

    with pytest.warns(TrainingWarning, match="interrupted after 1 of 2 trials"):
        cut = rf.tune(Interrupting(**base.get_params()), data, space, **options)
    assert [one.model_.n_trees for one in fits] == [6, 6, 6]
    assert cut.trials[0].value == whole.trials[0].value


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_before_any_trial_could_be_finished(data, valid):
    class Failing(rf.LambdaMART):
        def fit(self, *arguments, **given):
            signal.raise_signal(signal.SIGINT)
            raise rf.SettingsError("impossible")

    with pytest.raises(KeyboardInterrupt):
        rf.tune(Failing(progress=False), data, {"n_leaves": [2, 4]}, validation=valid, method="grid", progress=False)


def test_optuna_prunes_through_callbacks(data, valid):
    pytest.importorskip("optuna")
    space = {"learning_rate": (1e-6, 0.3, "log"), "measure": [rf.NDCG(5), rf.MAP()]}
    result = rf.tune(
        ranker(n_trees=40, n_leaves=8),
        data,
        space,
        validation=valid,
        measure="NDCG@5",
        method="optuna",
        trials=25,
        progress=False,
    )
    states = {trial.state for trial in result.trials}
    assert states == {"done", "pruned"}
    assert all(trial.iterations < 40 for trial in result.trials if trial.state == "pruned")
    assert result.best.state == "done"
    assert len(result.trials) == 25


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "guess"}, "method must be one of"),
        ({"trials": 0}, "trials"),
        ({"validation_share": 0.5}, "leave validation_share= out"),
        ({"seed": -1}, "seed"),
        ({"validation": "vali.txt"}, "validation must be a Dataset"),
    ],
)
def test_what_is_refused(data, valid, options, message):
    with pytest.raises(rf.RankforceError, match=message):
        tune(data, valid, **options)


def test_data_must_be_a_data_set(data, valid):
    with pytest.raises(rf.DataError, match="data must be a Dataset"):
        tune(data.features, valid)


def test_one_trial_is_one_trial(data, valid):
    result = tune(data, valid, {"n_leaves": [4]}, trials=1)
    assert str(result).startswith("1 trial, chosen by")
