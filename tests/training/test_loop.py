"""One loop for all rankers: cut anywhere and resumed, every kind of training ends with the same bytes."""

import dataclasses
import functools
import re
import signal

import numpy as np
import pytest

import rankforce as rf
from rankforce.errors import ModelFileError, SettingsError
from rankforce.models.storage import save, to_bytes
from rankforce.training.monitoring import TrainingWarning

TRAININGS = {
    "LambdaMART": functools.partial(rf.LambdaMART, n_trees=5, n_leaves=4, query_fraction=0.7, feature_fraction=0.7),
    "MART of grades": functools.partial(rf.MART, "ordinal", n_trees=4, n_leaves=4),
    "RankNet": functools.partial(rf.RankNet, hidden=3, epochs=5),
    "LambdaRank, two rates": functools.partial(rf.LambdaRank, hidden=0, epochs=5, learning_rate=[0.01, 0.003]),
    "SPSA": functools.partial(rf.SPSA, epochs=4, steps=3),
    "PRank": functools.partial(rf.PRank, epochs=5),
    "PRank, large margin": functools.partial(rf.PRank, "quadratic", large_margin=True, n_members=4, epochs=5),
    "XRank simple": functools.partial(rf.XRank, n_steps=6, min_documents=2),
    "XRank full": functools.partial(rf.XRank, form="full", n_steps=8, min_documents=2),
    "XRank martingale": functools.partial(rf.XRank, form="martingale", n_steps=5, min_documents=2),
    "XRank max_ndcg": functools.partial(rf.XRank, split="max_ndcg", n_steps=5, min_documents=2),
    "XRank, boosted": functools.partial(rf.XRank, n_graphs=4, n_steps=5, min_documents=2),
    "Bagging": functools.partial(rf.Bagging, rf.LambdaMART(n_trees=3, n_leaves=4), n_models=4),
    "Bagging of nets": functools.partial(rf.Bagging, rf.RankNet(hidden=0, epochs=2), n_models=3, sample="folds"),
}


@pytest.fixture(scope="module")
def data():
    return rf.make_artificial(queries=40, documents=10, features=6, seed=1)


@pytest.fixture(scope="module")
def other():
    return rf.make_artificial(queries=20, documents=10, features=6, seed=2)


def ranker(name, **settings):
    return TRAININGS[name](progress=False, **settings)


@functools.cache
def uninterrupted(name, validated):
    data = rf.make_artificial(queries=40, documents=10, features=6, seed=1)
    validation = rf.make_artificial(queries=20, documents=10, features=6, seed=2) if validated else None
    return ranker(name).fit(data, validation=validation)


@pytest.mark.parametrize("validated", [False, True], ids=["train", "validated"])
@pytest.mark.parametrize("name", TRAININGS)
def test_cut_after_every_step_it_ends_with_the_same_bytes(name, validated, data, other, tmp_path):
    if name == "LambdaRank, two rates" and not validated:
        pytest.skip("a choice of learning rates needs validation data")
    whole = uninterrupted(name, validated)
    steps = len(whole.history_["train"])
    assert steps >= 3
    options = {"validation": other if validated else None, "checkpoint": tmp_path / "c.json", "checkpoint_every": 1}
    cut = 0
    for _ in range(steps + 1):
        learned = []

        def stop(iteration, learned=learned):
            learned.append(iteration.number)
            iteration.stop()

        fitted = ranker(name).fit(data, callbacks=[stop], **options)
        assert len(learned) <= 1
        cut += len(learned)
        assert fitted.history_ == {key: values[:cut] for key, values in whole.history_.items()}
        rf.load(tmp_path / "c.json").predict(data)  # a checkpoint is a model
    assert cut == steps
    assert to_bytes(fitted.model_) == to_bytes(whole.model_)
    assert fitted.best_iteration_ == whole.best_iteration_
    assert fitted.watched_measure_ == whole.watched_measure_


@pytest.mark.parametrize("name", TRAININGS)
def test_ctrl_c_ends_after_the_step_and_the_next_call_goes_on(name, data, other, tmp_path):
    whole = uninterrupted(name, True)

    def interrupt(iteration):
        if iteration.number == 2:
            signal.raise_signal(signal.SIGINT)

    path = tmp_path / "c.json"
    cut = ranker(name)
    how_far = rf"after 2 of {cut._steps()} (trees|epochs|steps|graphs|models)"
    with pytest.warns(TrainingWarning, match=f"^interrupted {how_far}: the model is what was learned until then$"):
        cut.fit(data, validation=other, callbacks=[interrupt], checkpoint=path)
    assert len(cut.history_["train"]) == 2
    assert cut.interrupted_
    save(cut.model_, tmp_path / "m.json")
    read = rf.load(tmp_path / "m.json")
    assert re.fullmatch(how_far, read.provenance.interrupted)
    assert f"The training was interrupted {read.provenance.interrupted}." in str(rf.model_card(read))
    again = ranker(name).fit(data, validation=other, checkpoint=path)
    assert not again.interrupted_
    assert to_bytes(again.model_) == to_bytes(whole.model_)


def test_ctrl_c_during_the_last_step_interrupts_nothing(data, capsys):
    ends = [lambda told: signal.raise_signal(signal.SIGINT) if told.number == 5 else None]
    fitted = ranker("LambdaMART").fit(data, callbacks=ends)
    assert "stopping after this step" in capsys.readouterr().err
    assert not fitted.interrupted_
    assert to_bytes(fitted.model_) == to_bytes(uninterrupted("LambdaMART", False).model_)


def test_a_callback_that_stops_interrupts_nothing(data):
    stopped = ranker("LambdaMART").fit(data, callbacks=[lambda told: told.stop()])
    assert not stopped.interrupted_
    assert "interrupted" not in stopped.model_.provenance.settings


def test_what_goes_on_from_a_cut_training_knows_of_it(data):
    """The number of trees of ``refit`` is one that nobody has chosen."""
    cut = ranker("LambdaMART")
    with pytest.warns(TrainingWarning, match="interrupted after 2 of 5 trees"):
        cut.fit(data, callbacks=[lambda told: signal.raise_signal(signal.SIGINT) if told.number == 2 else None])
    again = cut.refit(data)
    assert not again.interrupted_
    assert again.model_.provenance.settings["refit"]["interrupted"] == "after 2 of 5 trees"


@pytest.mark.parametrize("name", [name for name in TRAININGS if name != "MART of grades"])
def test_patience_ends_every_training(name, data, other):
    """Labels of the validation data turned around: what training gains, validation loses."""
    highest = max(labels.max() for labels in (data.labels["grades"], other.labels["grades"]))
    turned = rf.Dataset(other.features, highest - other.labels["grades"], other.qid)
    fitted = ranker(name, early_stopping=1).fit(data, validation=turned)
    values = fitted.history_["validation"]
    steps = len(values)
    best = int(np.argmax(values)) + 1
    assert steps <= len(uninterrupted(name, True).history_["validation"])
    assert fitted.best_iteration_ == best
    # the last step is the first without progress, unless training came to its end before
    falls = [number for number in range(2, steps + 1) if values[number - 1] <= max(values[: number - 1])]
    assert not falls or falls == [steps]


@pytest.mark.parametrize("name", ["PRank", "XRank simple", "XRank, boosted", "Bagging"])
def test_another_training_is_refused(name, data, other, tmp_path):
    path = tmp_path / "c.json"
    ranker(name).fit(data, checkpoint=path)
    with pytest.raises(SettingsError, match="seed was 0 and is 1"):
        ranker(name, seed=1).fit(data, checkpoint=path)
    with pytest.raises(SettingsError, match="training data is not the same"):
        ranker(name).fit(other, checkpoint=path)


def test_the_ranker_inside_a_bag_belongs_to_its_identity(data, tmp_path):
    path = tmp_path / "c.json"
    rf.Bagging(rf.LambdaMART(n_trees=2, n_leaves=4), n_models=2, progress=False).fit(data, checkpoint=path)
    with pytest.raises(SettingsError, match="ranker__n_leaves was 4 and is 5"):
        rf.Bagging(rf.LambdaMART(n_trees=2, n_leaves=5), n_models=2, progress=False).fit(data, checkpoint=path)


def test_there_is_no_way_back(data, tmp_path):
    path = tmp_path / "c.json"
    ranker("PRank").fit(data, checkpoint=path)
    with pytest.raises(SettingsError, match="no way back to 3"):
        rf.PRank(epochs=3, progress=False).fit(data, checkpoint=path)


@pytest.mark.parametrize(
    ("name", "part"), [("PRank", "weights"), ("XRank full", "changes"), ("XRank, boosted", "graphs")]
)
def test_an_impossible_state_is_refused(name, part, data, tmp_path):

    path = tmp_path / "c.json"
    ranker(name).fit(data, checkpoint=path)
    model = rf.load(path)
    for broken in ([[1]], "?", None):
        settings = {**model.provenance.settings}
        settings["state"] = {**settings["state"], "learner": {**settings["state"]["learner"], part: broken}}
        save(dataclasses.replace(model, provenance=dataclasses.replace(model.provenance, settings=settings)), path)
        with pytest.raises(ModelFileError):
            ranker(name).fit(data, checkpoint=path)


def test_early_stopping_keeps_the_best_number_of_models(data, other):
    fitted = ranker("Bagging", early_stopping=2).fit(data, validation=other)
    assert len(fitted.rankers_) == len(fitted.model_.models) == fitted.best_iteration_
    assert fitted.best_iteration_ == int(np.argmax(fitted.history_["validation"])) + 1
