"""Checkpoints: killed at any moment, a training goes on and ends with the same bytes."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import rankforce as rf
from rankforce.compiling import jit
from rankforce.training.checkpoint import Checkpoint, Identity
from rankforce.training.monitoring import TrainingWarning
from rankforce.training.own_code import OwnCode

TRAINING = """
import sys
import numpy as np
import rankforce as rf

def data(seed):
    made = rf.make_artificial(queries=40, documents=(3, 25), features=8, seed=seed)
    X = np.round(made.features, 1)  # ties
    X[np.random.default_rng(seed).random(X.shape) < 0.1] = np.nan
    X[:, 2] = made.features[:, 2]  # the base
    return made.replace(features=X)

checkpoint, out, begun = sys.argv[1:]
train, valid = data(1), data(2)
ranker = rf.LambdaMART("NDCG@5", n_trees=150, n_leaves=8, min_documents=3, learning_rate=0.1, query_fraction=0.6,
                       feature_fraction=0.6, early_stopping=60, seed=4, progress=False, base_model="3")
open(begun, "w").close()
if checkpoint == "none":
    ranker.fit(train, validation=valid)
else:
    ranker.fit(train, validation=valid, checkpoint=checkpoint, checkpoint_every=3)
ranker.save(out)
"""


def run_training(checkpoint, out, begun):
    return subprocess.Popen([sys.executable, "-c", TRAINING, str(checkpoint), str(out), str(begun)])


def kill_until_done(folder, kills, rng):
    """Kill the training ``kills`` times and then let it end; returns the trees of the checkpoint after each kill.

    It is killed a random moment after it began, or after it wrote a checkpoint of its own.
    """
    checkpoint, out, begun = folder / "training.checkpoint", folder / "model.json", folder / "begun"
    grown = []

    def written():
        return checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0

    for kill in range(kills):
        begun.unlink(missing_ok=True)
        before = written()
        process = run_training(checkpoint, out, begun)
        while process.poll() is None and not (begun.exists() and (kill % 2 or written() > before)):
            time.sleep(0.002)
        time.sleep(rng.uniform(0.0, 0.2 if kill % 2 else 0.02))  # a hundred trees take a tenth of a second
        process.send_signal(signal.SIGKILL)
        process.wait()
        grown.append(rf.load(checkpoint).n_trees if checkpoint.exists() else 0)
    last = run_training(checkpoint, out, begun)
    assert last.wait(timeout=120) == 0
    return grown, out.read_bytes()


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uninterrupted")
    process = run_training("none", folder / "model.json", folder / "begun")
    assert process.wait(timeout=120) == 0
    return (folder / "model.json").read_bytes()


@pytest.mark.compiled_only
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_killed_twice_it_ends_with_the_same_bytes(tmp_path, uninterrupted):
    grown, model = kill_until_done(tmp_path, 2, random.Random(0))
    assert model == uninterrupted
    assert 0 < grown[0] <= grown[-1]  # on a busy machine it may be done before it is killed
    assert grown == sorted(grown)  # no checkpoint was lost
    assert not list(tmp_path.glob(".*.partial"))


@pytest.mark.soak
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_killed_two_hundred_times(tmp_path, uninterrupted):
    rng = random.Random(1)
    for attempt in range(40):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        _, model = kill_until_done(folder, 5, rng)
        assert model == uninterrupted


@pytest.fixture(scope="module")
def data():
    return rf.make_artificial(queries=25, documents=12, features=5, seed=1)


@pytest.fixture(scope="module")
def other():
    return rf.make_artificial(queries=25, documents=12, features=5, seed=2)


SETTINGS = {"n_trees": 12, "n_leaves": 5, "min_documents": 3, "query_fraction": 0.8, "progress": False}


def ranker(**settings):
    return rf.LambdaMART(**(SETTINGS | settings))


class PowerCut(Exception):
    pass


def cut_at(number):
    def callback(iteration):
        if iteration.number == number:
            raise PowerCut

    return callback


def interrupted(data, path, number=8, validation=None, every=3, **settings):
    """A training that ended unexpectedly in a tree; its checkpoint remains."""
    with pytest.raises(PowerCut):
        ranker(**settings).fit(
            data, validation=validation, callbacks=[cut_at(number)], checkpoint=path, checkpoint_every=every
        )


def files_equal(a, b, folder):
    a.save(folder / "a.json")
    b.save(folder / "b.json")
    return (folder / "a.json").read_bytes() == (folder / "b.json").read_bytes()


def test_a_checkpoint_is_a_model(data, tmp_path):
    path = tmp_path / "checkpoint"
    interrupted(data, path)
    model = rf.load(path)
    assert model.n_trees == 6
    np.testing.assert_array_equal(model.predict(data), ranker(n_trees=6).fit(data).predict(data))


def test_only_the_missing_trees_are_grown(data, other, tmp_path):
    path = tmp_path / "checkpoint"
    interrupted(data, path, validation=other)
    seen = []
    again = ranker().fit(
        data, validation=other, checkpoint=path, callbacks=[lambda iteration: seen.append(iteration.number)]
    )
    assert seen == list(range(7, 13))
    assert files_equal(again, ranker().fit(data, validation=other), tmp_path)
    assert len(again.history_["validation"]) == 12


def test_a_finished_training_grows_nothing_more(data, other, tmp_path):
    path = tmp_path / "checkpoint"
    settings = {"n_trees": 200, "early_stopping": 4, "learning_rate": 0.5}
    first = ranker(**settings).fit(data, validation=other, checkpoint=path)
    assert len(first.history_["train"]) < 200
    seen = []
    again = ranker(**settings).fit(data, validation=other, checkpoint=path, callbacks=[seen.append])
    assert not seen
    assert files_equal(first, again, tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_after_ctrl_c_it_goes_on_too(data, tmp_path):
    def interrupt(iteration):
        if iteration.number == 5:
            os.kill(os.getpid(), signal.SIGINT)

    path = tmp_path / "checkpoint"
    with pytest.warns(TrainingWarning, match="interrupted after 5 of"):
        assert ranker().fit(data, checkpoint=path, callbacks=[interrupt]).model_.n_trees == 5
    assert files_equal(ranker().fit(data, checkpoint=path), ranker().fit(data), tmp_path)


@pytest.mark.parametrize("n_trees", [4, 9, 12, 20])
def test_the_number_of_trees_may_change(data, tmp_path, n_trees):
    path = tmp_path / "checkpoint"
    ranker().fit(data, checkpoint=path)
    again = ranker(n_trees=n_trees).fit(data, checkpoint=path)
    assert files_equal(again, ranker(n_trees=n_trees).fit(data), tmp_path)


@pytest.mark.parametrize("resume", ["auto", "never", "always"])
def test_a_file_that_is_no_checkpoint_is_not_overwritten(data, tmp_path, resume):
    path = tmp_path / "notes.txt"
    path.write_text("not to be lost")
    with pytest.raises(rf.SettingsError, match="is no checkpoint and would be overwritten"):
        ranker().fit(data, checkpoint=path, resume=resume)
    assert path.read_text() == "not to be lost"


def test_resume_never_and_always(data, tmp_path):
    path = tmp_path / "checkpoint"
    with pytest.raises(rf.SettingsError, match="there is no checkpoint"):
        ranker().fit(data, checkpoint=path, resume="always")
    interrupted(data, path)
    seen = []
    ranker(seed=7).fit(data, checkpoint=path, resume="never", callbacks=[lambda one: seen.append(one.number)])
    assert seen[0] == 1
    ranker(seed=7).fit(data, checkpoint=path, resume="always")
    with pytest.raises(rf.SettingsError, match="resume must be one of"):
        ranker().fit(data, checkpoint=path, resume="sometimes")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"learning_rate": 0.2}, "learning_rate was 0.1 and is 0.2"),
        ({"measure": "MAP"}, "measure was 'NDCG' and is 'MAP'"),
        ({"seed": 3}, "seed was 0 and is 3"),
        ({"monotone": {"1": 1}}, "monotone was None and is"),
        ({"base_model": "2"}, "base_model was None and is '2'"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_another_training_is_refused_with_the_reason(data, tmp_path, changed, reason):
    path = tmp_path / "checkpoint"
    interrupted(data, path)
    before = path.read_bytes()
    with pytest.raises(rf.SettingsError, match="belongs to another training: " + reason):
        ranker(**changed).fit(data, checkpoint=path)
    assert path.read_bytes() == before


# Before with so many trees, afterwards with so many; whether a training with the second list goes on from the first.
LISTS = {
    "the same": (([2, 9], 6), ([2, 9], 6), True),
    "one more, another number": (([2, 9], 6), ([2, 9, 3], 6), False),
    "one fewer, another number": (([2, 9, 3], 6), ([2, 9], 6), False),
    "the last once more": (([2, 9], 6), ([2, 9, 9], 6), True),
    "another number after the end": (([2, 9], 6), ([2, 9, 9, 9, 9, 9, 3], 6), True),
    "more trees": (([2, 9], 6), ([2, 9], 8), True),
    "more trees, which have other numbers": (([2, 9], 4), ([2, 9, 9, 9, 3, 5], 6), True),
    "more trees, and one of before": (([2, 9], 4), ([2, 9, 9, 3, 3, 5], 6), False),
    "fewer trees": (([2, 9, 9, 3], 6), ([2, 9], 3), True),
    "fewer trees, and one of them": (([2, 9, 3], 6), ([2, 9], 3), False),
    "one number": (([5, 5], 6), ([5], 6), True),
    "another number": (([5], 6), ([4], 6), False),
}


def scheduled(numbers, n_trees):
    """Shares of a second objective."""
    return ranker(n_trees=n_trees, objective=rf.Scheduled("NDCG", "MAP", [number / 10 for number in numbers]))


def scheduled_function(numbers, n_trees):
    """Two functions with the same code: their values are what differs."""
    shares = iter([number / 10 for number in [*numbers, *numbers[-1:] * 10]])

    def share(iteration, shares=shares):
        return next(shares)

    share.code_version = "1"
    return ranker(n_trees=n_trees, objective=rf.Scheduled("NDCG", "MAP", share))


def leaves_by_tree(numbers, n_trees):
    return ranker(n_trees=n_trees, n_leaves=numbers if len(numbers) > 1 else numbers[0])


@pytest.mark.parametrize("make", [scheduled, scheduled_function, leaves_by_tree])
@pytest.mark.parametrize("case", LISTS)
def test_what_is_said_step_by_step_counts_for_the_steps_of_both(data, tmp_path, make, case):
    before, after, same = LISTS[case]
    path = tmp_path / "checkpoint"
    with pytest.raises(PowerCut):
        make(*before).fit(data, callbacks=[cut_at(4)], checkpoint=path, checkpoint_every=3)
    if same:
        resumed = make(*after).fit(data, checkpoint=path, resume="always")
        assert files_equal(resumed, make(*after).fit(data), tmp_path)
    else:
        with pytest.raises(rf.SettingsError, match=r"belongs to another training: (objective|n_leaves) was"):
            make(*after).fit(data, checkpoint=path)


def test_a_net_knows_the_values_of_a_schedule(data, tmp_path):
    def net(shares, epochs):
        objective = rf.Scheduled("NDCG", "MAP", shares)
        return rf.LambdaRank(objective=objective, epochs=epochs, hidden=2, progress=False)

    path = tmp_path / "checkpoint"
    net([0.2, 0.9], 2).fit(data, checkpoint=path)
    with pytest.raises(rf.SettingsError, match="belongs to another training: objective was"):
        net([0.2, 0.8, 0.9], 3).fit(data, checkpoint=path)
    resumed = net([0.2, 0.9, 0.3], 3).fit(data, checkpoint=path, resume="always")
    assert files_equal(resumed, net([0.2, 0.9, 0.3], 3).fit(data), tmp_path)
    with pytest.raises(rf.SettingsError, match="belongs to another training: objective was"):
        net([0.2, 0.9], 4).fit(data, checkpoint=path)


def test_a_bag_knows_the_values_of_a_schedule(data, tmp_path):
    def bag(numbers):
        return rf.Bagging(scheduled(numbers, 3), n_models=2, progress=False)

    path = tmp_path / "checkpoint"
    first = bag([2, 9]).fit(data, checkpoint=path)
    with pytest.raises(rf.SettingsError, match="belongs to another training: ranker__objective was"):
        bag([2, 9, 3]).fit(data, checkpoint=path)
    again = bag([2, 9, 9]).fit(data, checkpoint=path)
    np.testing.assert_array_equal(again.predict(data), first.predict(data))


def test_what_does_not_matter_may_change(data, tmp_path):
    path = tmp_path / "checkpoint"
    interrupted(data, path)
    again = ranker(threads=1, memory="low").fit(data, checkpoint=path)
    assert files_equal(again, ranker().fit(data), tmp_path)


def test_other_data_are_refused(data, other, tmp_path):
    path = tmp_path / "checkpoint"
    interrupted(data, path, validation=other)
    with pytest.raises(rf.SettingsError, match="the training data is not the same"):
        ranker().fit(other, validation=other, checkpoint=path)
    with pytest.raises(rf.SettingsError, match="the validation data is not the same"):
        ranker().fit(data, validation=data, checkpoint=path)
    with pytest.raises(rf.SettingsError, match="the validation data is not the same"):
        ranker().fit(data, checkpoint=path)


def test_another_base_model_of_the_same_size_is_refused(data, other, tmp_path):
    path = tmp_path / "checkpoint"
    one, two = (ranker(n_trees=2, seed=seed).fit(data) for seed in (1, 2))
    interrupted(data, path, base_model=one)
    with pytest.raises(rf.SettingsError, match="base_model was"):
        ranker(base_model=two).fit(data, checkpoint=path)
    again = ranker(base_model=one.model_).fit(data, checkpoint=path)  # the same model, given otherwise
    assert files_equal(again, ranker(base_model=one).fit(data), tmp_path)


def test_a_base_that_is_missing_is_refused(data):
    X = np.array(data.features)
    X[3, 1] = np.nan
    with pytest.raises(rf.DataError, match="feature '2' of row 3 is missing"):
        ranker(base_model="2").fit(data.replace(features=X))


def test_where_a_base_model_lay_is_not_kept(data, tmp_path):
    ranker(n_trees=2).fit(data).save(tmp_path / "base.json")
    boosted = ranker(base_model=tmp_path / "base.json").fit(data)
    assert "base.json" not in str(boosted.model_.provenance.settings)
    assert files_equal(boosted, ranker(base_model=rf.load(tmp_path / "base.json")).fit(data), tmp_path)


def test_another_processor_is_refused(data, tmp_path, monkeypatch):
    path = tmp_path / "checkpoint"
    interrupted(data, path)
    monkeypatch.setattr(jit, "cpu_target", lambda: "another")
    with pytest.raises(rf.SettingsError, match="the processor is not the same"):
        ranker().fit(data, checkpoint=path)


def test_another_version_is_refused(data, tmp_path, monkeypatch):
    path = tmp_path / "checkpoint"
    interrupted(data, path)
    monkeypatch.setattr(np, "__version__", "9.9")
    with pytest.raises(rf.SettingsError, match=r"numpy was '.*' and is '9\.9'"):
        ranker().fit(data, checkpoint=path)


def test_files_that_are_no_checkpoint(data, tmp_path):
    path = tmp_path / "model.json"
    ranker().fit(data).save(path)
    with pytest.raises(rf.SettingsError, match="is a model, but no checkpoint"):
        ranker().fit(data, checkpoint=path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(rf.ModelFileError, match="truncated"):
        ranker().fit(data, checkpoint=path)
    with pytest.raises(rf.SettingsError, match="there is no folder"):
        ranker().fit(data, checkpoint=tmp_path / "no" / "checkpoint")
    with pytest.raises(rf.SettingsError, match="checkpoint_every"):
        ranker().fit(data, checkpoint=tmp_path / "a", checkpoint_every=0)


def test_a_full_disk_leaves_the_last_good_checkpoint(data, tmp_path, monkeypatch):
    path = tmp_path / "checkpoint"
    real = os.fsync
    calls = []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) == 3:  # file, folder, file
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(rf.ModelFileError, match="cannot be written: No space left"):
        ranker().fit(data, checkpoint=path, checkpoint_every=3)
    monkeypatch.undo()
    assert rf.load(path).n_trees == 3
    assert os.listdir(tmp_path) == ["checkpoint"]
    assert files_equal(ranker().fit(data, checkpoint=path), ranker().fit(data), tmp_path)


def whole_models(path):
    """How many whole models and appended records a checkpoint is made of."""
    lines = path.read_bytes().split(b"\n")
    return sum(line.startswith(b'"sha256"') for line in lines), sum(line.startswith(b'{"trees"') for line in lines)


def test_rounds_are_appended_and_written_whole_at_the_end(data, other, tmp_path):
    path = tmp_path / "checkpoint"
    seen = []

    def look(iteration):
        if iteration.number > 2:
            seen.append((rf.load(path).n_trees, *whole_models(path)))

    ranker().fit(data, validation=other, checkpoint=path, checkpoint_every=2, callbacks=[look])
    assert seen == [(2 * k, 1, k - 1) for k in range(1, 6) for _ in range(2)]
    assert whole_models(path) == (1, 0)
    end = path.read_bytes()
    path.unlink()
    ranker().fit(data, validation=other, checkpoint=path, checkpoint_every=20)
    assert path.read_bytes() == end


def test_what_is_written_grows_with_the_trees_not_with_their_square(data, tmp_path, monkeypatch):
    path = tmp_path / "checkpoint"
    written = []
    real = os.write
    monkeypatch.setattr(os, "write", lambda *given: written.append(real(*given)) or written[-1])
    ranker(n_trees=60).fit(data, checkpoint=path, checkpoint_every=2)
    assert len(written) == 28  # all but the first, which is whole, and the last
    assert sum(written) < 1.5 * path.stat().st_size  # of whole models, fifteen times that


@pytest.fixture(scope="module")
def appended(data, tmp_path_factory):
    """The bytes of a checkpoint of a whole model of 2 trees and two records of 2 trees each, and where these begin."""
    path = tmp_path_factory.mktemp("appended") / "checkpoint"
    interrupted(data, path, number=7, every=2)
    content = path.read_bytes()
    starts = [place + 1 for place in range(len(content)) if content.startswith(b'\n{"trees"', place)]
    assert len(starts) == 2
    return content, starts


def test_a_torn_record_does_not_count(appended, tmp_path):
    content, (first, second) = appended
    path = tmp_path / "checkpoint"
    for length in range(first, len(content)):
        path.write_bytes(content[:length])
        assert rf.load(path).n_trees == (2 if length < second else 4), length
    for torn in (content[:second] + bytes(500), content[:-9] + b"\0" * 9, content[:second] + b"\r\r"):
        path.write_bytes(torn)
        assert rf.load(path).n_trees == 4


def test_a_damaged_record_before_others_is_refused(appended, tmp_path):
    content, (first, second) = appended
    path = tmp_path / "checkpoint"
    for wrong in (
        content[:first] + content[second:] + b"x",  # the first record is missing
        content[: first + 20] + b"7" + content[first + 21 :],
        content[:second] + content[first:],  # the first record once more
    ):
        path.write_bytes(wrong)
        with pytest.raises(rf.ModelFileError, match=r"record \d was damaged or edited, and others follow it"):
            rf.load(path)


def test_records_follow_checkpoints_only(data, appended, tmp_path):
    content, (first, _) = appended
    path = tmp_path / "model.json"
    ranker().fit(data).save(path)
    path.write_bytes(path.read_bytes() + content[first:])
    with pytest.raises(rf.ModelFileError, match="does not end with its digest"):
        rf.load(path)


@pytest.mark.parametrize("torn", [0, 1, 50])
def test_a_torn_checkpoint_goes_on(data, appended, tmp_path, torn):
    path = tmp_path / "checkpoint"
    content = appended[0]
    path.write_bytes(content[: len(content) - torn])
    seen = []
    again = ranker().fit(data, checkpoint=path, callbacks=[lambda iteration: seen.append(iteration.number)])
    assert seen[0] == (7 if torn == 0 else 5)
    assert files_equal(again, ranker().fit(data), tmp_path)


@pytest.mark.parametrize("change", ["removed", "replaced", "written to"])
def test_a_checkpoint_that_somebody_touches_is_written_whole(data, tmp_path, change):
    path = tmp_path / "checkpoint"

    def touch(iteration):
        if iteration.number == 5:
            content = path.read_bytes()
            if change == "written to":
                path.write_bytes(content + b"x")
            else:
                path.unlink()
            if change == "replaced":
                path.write_bytes(content)

    interrupted_by = [touch, cut_at(7)]
    with pytest.raises(PowerCut):
        ranker().fit(data, callbacks=interrupted_by, checkpoint=path, checkpoint_every=2)
    assert rf.load(path).n_trees == 6
    assert whole_models(path) == (1, 0) or (change, whole_models(path)) == ("replaced", (1, 2))  # an inode used again


def test_several_outputs_are_appended(data, tmp_path):
    path = tmp_path / "checkpoint"

    def mart():
        return rf.MART("ordinal", n_trees=9, n_leaves=4, min_documents=3, progress=False)

    with pytest.raises(PowerCut):
        mart().fit(data, callbacks=[cut_at(7)], checkpoint=path, checkpoint_every=2)
    assert whole_models(path) == (1, 2)
    assert rf.load(path).n_trees == 6
    again = mart().fit(data, checkpoint=path)
    assert files_equal(again, mart().fit(data), tmp_path)


def test_a_compressed_checkpoint_is_written_whole(data, tmp_path):
    path = tmp_path / "checkpoint.gz"
    interrupted(data, path)
    assert rf.load(path).n_trees == 6
    assert files_equal(ranker().fit(data, checkpoint=path), ranker().fit(data), tmp_path)


LIMITED = """
import resource, sys
import rankforce as rf
data = rf.make_artificial(queries=25, documents=12, features=5, seed=1)
path, size = sys.argv[1], int(sys.argv[2])
def limit(iteration):
    if iteration.number == 4:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
try:
    rf.LambdaMART(n_trees=12, n_leaves=5, min_documents=3, query_fraction=0.8, progress=False).fit(
        data, checkpoint=path, checkpoint_every=3, callbacks=[limit])
except rf.ModelFileError as error:
    sys.exit(str(error))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="RLIMIT_FSIZE")
def test_a_file_that_may_not_grow_leaves_the_last_good_checkpoint(data, tmp_path):
    path = tmp_path / "checkpoint"
    done = subprocess.run([sys.executable, "-c", LIMITED, str(path), "2000"], capture_output=True, text=True)
    assert "cannot be written: File too large" in done.stderr
    assert rf.load(path).n_trees == 3
    assert os.listdir(tmp_path) == ["checkpoint"]


def test_what_a_killed_writer_left_is_removed(data, tmp_path):
    path = tmp_path / "checkpoint"
    left = tmp_path / f".checkpoint.{'0' * 32}.partial"
    foreign = tmp_path / ".checkpoint.mine.partial"
    for one in (left, foreign):
        one.write_text("x")
    Checkpoint(path, 1, "auto", Identity.of({}, OwnCode({}), data, None))
    assert not left.exists()
    assert foreign.exists()


def test_from_the_shell(data, tmp_path):
    from typer.testing import CliRunner

    from rankforce.cli.application import build

    train, path, out = tmp_path / "train.txt", tmp_path / "checkpoint", tmp_path / "model.json"
    data.write(train)
    command = ["train", str(train), "-o", str(out), "--trees", "4", "--set", "min_documents=3", "-q"]
    saving = ["--checkpoint", str(path), "--checkpoint-every", "2"]
    assert CliRunner().invoke(build(), [*command, *saving]).exit_code == 0
    assert rf.load(path).n_trees == 4
    first = out.read_bytes()
    assert CliRunner().invoke(build(), [*command, *saving, "--resume", "always"]).exit_code == 0
    assert out.read_bytes() == first
    assert CliRunner().invoke(build(), [*command, "--resume", "always"]).exit_code == 2
