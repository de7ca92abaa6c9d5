"""Ctrl-C: what a command keeps, what it says, and that it leaves with 130."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import rankforce as rf
from rankforce.tuning import trial_processes

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

# The console script, with Ctrl-C after the third tree of the first training.
PRESSING = """
import functools, signal
import rankforce as rf

fit, begun = rf.LambdaMART.fit, []

@functools.wraps(fit)
def pressing(self, *given, callbacks=(), **more):
    begun.append(self)
    press = lambda told: signal.raise_signal(signal.SIGINT) if len(begun) == 1 and told.number == 3 else None
    return fit(self, *given, callbacks=[*callbacks, press], **more)

rf.LambdaMART.fit = pressing

from rankforce.cli.main import main
main()
"""


@pytest.fixture
def train(tmp_path):
    rf.make_artificial(queries=30, documents=8, features=3, seed=0).write(tmp_path / "train.txt")
    return tmp_path / "train.txt"


@pytest.fixture
def pressed(monkeypatch):
    """Presses Ctrl-C after the second tree of the n-th training; the number of trainings that were begun."""
    fit, begun = rf.LambdaMART.fit, []

    def press_in(number):
        @functools.wraps(fit)
        def pressing(self, *given, callbacks=(), **more):
            begun.append(self)
            if len(begun) == number:
                callbacks = [*callbacks, lambda told: signal.raise_signal(signal.SIGINT) if told.number == 2 else None]
            return fit(self, *given, callbacks=callbacks, **more)

        monkeypatch.setattr(rf.LambdaMART, "fit", pressing)
        return begun

    return press_in


def test_train_keeps_the_model_says_so_and_leaves_with_130(run, train, pressed, tmp_path):
    model = tmp_path / "model.json"
    pressed(1)
    outcome = run("train", train, "-o", model, "--trees", 9, "-q")
    assert outcome.code == 130
    assert "interrupted after 2 of 9 trees: the model is what was learned until then" in outcome.err
    assert outcome.out.rstrip().endswith("interrupted after 2 of 9 trees")
    assert rf.load(model).n_trees == 2
    assert "The training was interrupted after 2 of 9 trees." in run("inspect", model).out
    (card,) = json.loads(run("inspect", model, "--json").out)["models"].values()
    assert card["interrupted"] == "after 2 of 9 trees"


def test_a_process_that_is_interrupted(train, tmp_path):
    command = ["train", train, "-o", tmp_path / "model.json", "--trees", 9, "-q", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", PRESSING, *map(str, command)], capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 130, done.stderr
    assert json.loads(done.stdout)["interrupted"] is True
    assert json.loads(done.stdout)["iterations"] == 3


def test_a_training_that_was_not_interrupted_says_that(run, train, tmp_path):
    outcome = run("train", train, "-o", tmp_path / "model.json", "--trees", 3, "-q", "--json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["interrupted"] is False


def test_what_was_cut_short_is_not_fitted_again(run, train, pressed, tmp_path):
    begun = pressed(1)
    held_out = ["--validation-share", 0.3, "--early-stopping", 4, "--refit"]
    outcome = run("train", train, "-o", tmp_path / "model.json", "--trees", 9, "-q", *held_out)
    assert outcome.code == 130
    assert len(begun) == 1
    assert "fitted again" not in outcome.out


def test_cross_validate_shows_nothing_of_half_the_folds(run, train, pressed):
    begun = pressed(2)
    outcome = run("cross-validate", train, "--folds", 3, "--set", "n_trees=4", "-q")
    assert outcome.code == 130
    assert outcome.out == ""
    assert outcome.err.endswith("rankforce: interrupted\n")
    assert len(begun) == 2


def test_tune_writes_the_best_of_the_finished_trials(run, train, pressed, tmp_path):
    pressed(3)  # the first of two folds of the second trial
    model = tmp_path / "best.json"
    command = ["tune", train, "--try", "n_leaves=2,4,6", "--method", "grid", "--folds", 2, "-q", "-o", model]
    outcome = run(*command, "--set", "n_trees=4", "--json")
    assert outcome.code == 130
    found = json.loads(outcome.out)
    assert found["interrupted"] is True
    assert [trial["settings"]["n_leaves"] for trial in found["trials"]] == [2, 4]
    assert "interrupted after 2 of 3 trials: the best of these is taken" in outcome.err
    assert rf.load(model).n_trees == 4
    assert not rf.load(model).provenance.interrupted


def test_tune_says_if_its_last_training_was_cut_short(run, train, pressed, tmp_path):
    pressed(5)  # after two folds of two trials
    model = tmp_path / "best.json"
    command = ["tune", train, "--try", "n_leaves=2,4", "--method", "grid", "--folds", 2, "-q", "-o", model]
    outcome = run(*command, "--set", "n_trees=4")
    assert outcome.code == 130
    assert "with these settings, interrupted after 2 of 4 trees" in outcome.out
    assert rf.load(model).provenance.interrupted == "after 2 of 4 trees"


def test_ctrl_c_reaches_all_processes_of_a_search(train, tmp_path):
    """As a terminal sends it; who tunes decides, and trials that are counted are whole."""
    journal = tmp_path / "journal"
    command = ["tune", train, "--try", "learning_rate=0.01..0.3,log", "--trials", 400, "--processes", 2, "-q", "--json"]
    command += ["--folds", 2, "--set", "n_trees=20", "--journal", journal]
    process = subprocess.Popen(
        [sys.executable, "-m", "rankforce", *map(str, command)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + 300
    while process.poll() is None and time.monotonic() < until:
        if journal.exists() and len(journal.read_text().splitlines()) > 1:
            os.killpg(process.pid, signal.SIGINT)
            break
        time.sleep(0.05)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    found = json.loads(out)
    assert found["interrupted"] is True
    assert 1 <= len(found["trials"]) < 400
    assert {trial["state"] for trial in found["trials"]} == {"done"}
    assert len(journal.read_text().splitlines()) == 1 + len(found["trials"])


def test_processes_of_a_search_never_hear_of_ctrl_c():
    """Not even before they could ignore it, while they import."""
    looks = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    with trial_processes._deaf_to_ctrl_c():
        started = subprocess.run([sys.executable, "-c", looks], capture_output=True, text=True)
    assert started.stdout == "True\n"
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_the_demonstration_shows_whole_trainings(run, pressed):
    pressed(1)
    outcome = run("demo")
    assert (outcome.code, outcome.out) == (130, "")
