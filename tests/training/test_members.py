"""Checkpoints, callbacks and losses of a training by several members: what is kept ends with the bytes of one."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from tests.crowd import Crowd, GoneError
from tests.test_collective import DATA, HELD_OUT, file_of, learned

import rankforce as rf
from rankforce.errors import PeerLostError, RankforceError, SettingsError
from rankforce.training.monitoring import TrainingWarning

GRADED = rf.Graded(["NDCG", "CNDCG:clicks"], [0.7, 0.3])
TRAININGS = {
    "leafwise": lambda: rf.LambdaMART(
        n_trees=7, growth="leafwise", n_leaves=[5, 2, 8], query_fraction=0.7, progress=False
    ),
    "graded": lambda: rf.LambdaMART(objective=GRADED, n_trees=12, early_stopping=6, learning_rate=0.5, progress=False),
    "ordinal": lambda: rf.MART(n_trees=4, cost="ordinal", progress=False),
}


def dealt(data, members, seed=0):
    order = np.random.default_rng([seed, members]).permutation(data.n_queries)
    return [np.sort(one) for one in np.array_split(order, members)]


def train(name, members, folder, *, dies=None, **inputs):
    """What every member has in the end: the bytes of its model, or its error."""
    shares, watched = dealt(DATA, members), dealt(HELD_OUT, members)

    def fit(rank):
        data, held_out = DATA.take_queries(shares[rank]), HELD_OUT.take_queries(watched[rank])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ranker = TRAININGS[name]().fit(data, validation=held_out, **inputs)
        return file_of(ranker.model_, folder, f"member {rank}")

    crowd = Crowd(members, dies)
    return crowd.outcomes(fit), crowd.calls


def alone(name, folder):
    return file_of(learned(TRAININGS[name](), DATA, HELD_OUT), folder, "alone")


@pytest.mark.parametrize("name", TRAININGS)
@pytest.mark.parametrize(("before", "after"), [(3, 1), (3, 5), (1, 2)])
def test_a_checkpoint_of_some_is_gone_on_from_by_others(name, before, after, tmp_path):
    path = tmp_path / "checkpoint"
    stop = [lambda iteration: iteration.stop() if iteration.number == 2 else None]
    cut_short, _ = train(name, before, tmp_path, checkpoint=path, callbacks=stop)
    assert len(set(cut_short)) == 1
    assert len(rf.load(path).provenance.history["train"]) == 2
    found, _ = train(name, after, tmp_path, checkpoint=path, checkpoint_every=1, resume="always")
    assert set(found) == {alone(name, tmp_path)}


def lost_and_found(name, members, dies, folder):
    """Train until a member dies at its call ``dies[1]``, then go on without it: (steps that were kept, the files)."""
    outcomes, _ = train(name, members, folder, dies=dies)
    assert isinstance(outcomes[dies[0]], GoneError)
    errors = [one for rank, one in enumerate(outcomes) if rank != dies[0]]
    assert all(isinstance(one, PeerLostError) for one in errors), errors
    kept = [pickle.loads(pickle.dumps(error)).unfinished for error in errors]  # as a driver receives them
    longest = max(filter(None, kept), key=lambda one: one.steps, default=None)
    if longest is None:
        return 0, train(name, members - 1, folder)[0]
    path = folder / "unfinished"
    longest.save(path)
    found, _ = train(name, members - 1, folder, checkpoint=path, checkpoint_every=1000, resume="always")
    return longest.steps, found


@pytest.mark.parametrize("name", TRAININGS)
def test_a_lost_member_changes_nothing(name, tmp_path):
    expected = alone(name, tmp_path)
    _, calls = train(name, 3, tmp_path)
    random = np.random.default_rng(len(name))
    steps = []
    for share in (0.02, 0.4, 0.7, 0.999):  # of the calls: before the first tree, twice while it learns, and in the end
        dies = int(random.integers(3)), int(share * calls)
        kept, files = lost_and_found(name, 3, dies, tmp_path)
        assert set(files) == {expected}, dies
        steps.append(kept)
    assert steps == sorted(steps)
    assert steps[0] == 0 < steps[1]


def test_what_is_kept_belongs_to_its_training(tmp_path):
    outcomes, _ = train("leafwise", 2, tmp_path, dies=(1, 150))
    path = tmp_path / "unfinished"
    outcomes[0].unfinished.save(path)
    assert 0 < outcomes[0].unfinished.steps == len(rf.load(path).provenance.history["train"])
    refusals, _ = train("graded", 2, tmp_path, checkpoint=path)
    for error in refusals:  # everybody's, not only the first member's, who has the file
        assert isinstance(error, RankforceError)
        assert "belongs to another training" in str(error)


def test_only_the_first_member_has_the_file(tmp_path):
    shares = dealt(DATA, 2)
    folders = [tmp_path, tmp_path / "missing"]

    def fit(rank):
        data = DATA.take_queries(shares[rank])
        return rf.MART(n_trees=2, progress=False).fit(data, checkpoint=folders[rank] / "checkpoint")

    Crowd(2).run(fit)
    assert rf.load(tmp_path / "checkpoint").n_trees == 2
    assert not (tmp_path / "missing").exists()
    folders.reverse()
    for error in Crowd(2).outcomes(fit):
        assert "there is no folder" in str(error)


def test_callbacks_are_the_first_members_and_stop_all():
    shares, told = dealt(DATA, 3), []

    def fit(rank):
        def note(iteration):
            told.append((rank, iteration.number, iteration.values["train"]))
            if iteration.number == 3:
                iteration.stop()

        ranker = rf.MART(n_trees=9, progress=False).fit(DATA.take_queries(shares[rank]), callbacks=[note])
        return ranker.history_["train"]

    histories = Crowd(3).run(fit)
    assert [one[:2] for one in told] == [(0, 1), (0, 2), (0, 3)]
    assert histories == [[one[2] for one in told]] * 3


@pytest.mark.parametrize("rank", [0, 2])
def test_whoever_is_interrupted_stops_all(rank):
    """Ctrl-C reaches one member, during its second tree."""
    shares = dealt(DATA, 3)

    def fit(place):
        ranker = rf.MART(n_trees=9, progress=False)
        course = ranker._course

        def interrupted(training):
            made = course(training)
            step = made.step

            def taken(number):
                made.interruption.wanted |= place == rank and number == 1
                return step(number)

            made.step = taken
            return made

        ranker._course = interrupted
        fitted = ranker.fit(DATA.take_queries(shares[place]))
        return fitted.model_.n_trees, fitted.interrupted_, fitted.model_.provenance.interrupted

    with pytest.warns(TrainingWarning, match="interrupted after 2 of 9 trees") as told:
        assert Crowd(3).run(fit) == [(2, True, "after 2 of 9 trees")] * 3
    assert len(told) == 1


def test_progress_is_shown_by_the_first_alone(capsys, monkeypatch):
    monkeypatch.setattr("rankforce.console.progress.SECONDS_BETWEEN_LINES", 0.0)
    shares = dealt(DATA, 2)
    Crowd(2).run(lambda rank: rf.MART(n_trees=3).fit(DATA.take_queries(shares[rank])))
    lines = capsys.readouterr().err.splitlines()
    assert sum("MART: 3/3 trees" in line for line in lines) == 1


def test_data_is_fingerprinted_with_whoever_takes_part():
    """Members that go on with others keep their shares, and all that was computed for them."""
    whole = DATA.fingerprint
    shares = [DATA.take_queries(share) for share in dealt(DATA, 3)]
    assert shares[0].fingerprint != whole
    assert Crowd(3).run(lambda rank: shares[rank].fingerprint) == [whole] * 3
    others = [shares[2], rf.Dataset.concat([shares[0], shares[1]])]
    assert Crowd(2).run(lambda rank: others[rank].fingerprint) == [whole] * 2


@pytest.mark.parametrize(
    ("setting", "usual", "of_one", "said"),
    [
        ("seed", 0, 7, "seed was"),
        ("n_trees", 2, 3, "the number of steps was"),
        ("n_leaves", [4, 8], [4, 7], "n_leaves was"),
    ],
)
def test_members_must_be_told_the_same(setting, usual, of_one, said):
    shares = dealt(DATA, 3)

    def fit(rank):
        told = {"n_trees": 2, setting: of_one if rank == 2 else usual}
        return rf.MART(**told, progress=False, threads=1 + rank % 2).fit(DATA.take_queries(shares[rank]))

    for rank, error in enumerate(Crowd(3).outcomes(fit)):
        assert isinstance(error, SettingsError)
        assert f"of member {0 if rank == 2 else 2} and member {rank}: {said}" in str(error)


def test_a_lost_bag_keeps_its_finished_models(tmp_path):
    def ranker():
        return rf.Bagging(rf.MART(n_trees=3, n_leaves=4), 3, 0.7, progress=False)

    expected = file_of(learned(ranker(), DATA, None), tmp_path, "alone")
    shares = dealt(DATA, 3)

    def fit(rank, **inputs):
        return file_of(ranker().fit(DATA.take_queries(shares[rank]), **inputs).model_, tmp_path, f"member {rank}")

    whole = Crowd(3)
    whole.run(fit)
    outcomes = Crowd(3, (1, int(0.6 * whole.calls))).outcomes(fit)
    kept = outcomes[0].unfinished
    assert 0 < kept.steps < 3  # models, not trees
    path = tmp_path / "unfinished"
    kept.save(path)
    assert set(Crowd(3).run(lambda rank: fit(rank, checkpoint=path, resume="always"))) == {expected}
