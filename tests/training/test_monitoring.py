"""What a history holds is named wherever it is shown, and ``evaluate`` gives the same numbers."""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest

import rankforce as rf
from rankforce.console.progress import Progress
from rankforce.evaluation.agreement import AGREEMENT
from rankforce.models.storage import from_bytes, model_of, to_bytes
from rankforce.training.monitoring import in_words

QUIET = {"progress": False}
TREES = {"n_trees": 4, "n_leaves": 4, "min_documents": 5, **QUIET}
RANKERS = {
    "LambdaMART": rf.LambdaMART("NDCG@5", **TREES),
    "MART": rf.MART(**TREES),
    "multiclass": rf.MART("multiclass", **TREES),
    "LambdaRank": rf.LambdaRank("NDCG@5", epochs=3, hidden=2, **QUIET),
    "RankNet": rf.RankNet(epochs=3, hidden=2, **QUIET),
    "SPSA": rf.SPSA(epochs=2, steps=5, **QUIET),
    "PRank": rf.PRank(epochs=2, **QUIET),
    "XRank": rf.XRank(n_steps=3, **QUIET),
    "Bagging": rf.Bagging(rf.LambdaMART("NDCG@5", **TREES), n_models=2, **QUIET),
}


@pytest.fixture(scope="module")
def data():
    """Few values of few features, and files in the order of the grades: many documents are tied."""
    whole = rf.make_artificial(60, documents=20, features=3, seed=0)
    coarse = whole.replace(features=np.round(whole.features))
    order = np.lexsort((-coarse.label(), coarse.qid))
    return rf.Dataset(coarse.features[order], coarse.label()[order], coarse.qid[order])


@pytest.fixture
def preferred(data):
    """Preferences on data that has no grades."""
    listed = rf.Preferences.from_grades(data)
    bare = rf.Dataset(data.features, qid=data.qid)
    return rf.Preferences(bare, listed.better[::7], listed.worse[::7], 0.9)


@pytest.mark.parametrize("name", RANKERS)
def test_a_history_is_what_evaluate_gives_with_hashed_ties(data, name):
    train, held_out = data.split(0.6, 0.4, seed=1)
    ranker = RANKERS[name].unfitted(seed=3).fit(train, validation=held_out)
    kept, measure = ranker.best_iteration_, ranker.watched_measure_
    known = ranker.model_.provenance
    assert known.watched == {"train": str(measure), "validation": str(measure)}
    assert known.ties == "hashed"
    for part, on in (("train", train), ("validation", held_out)):
        value = ranker.history_[part][kept - 1]
        assert rf.evaluate(ranker, on, measure, ties=known.ties, seed=3).mean[measure] == pytest.approx(
            value, abs=1e-12
        )
        if name == "LambdaMART":  # the file is sorted by grade: the order of its rows flatters
            assert rf.evaluate(ranker, on, measure).mean[measure] > value + 0.005


@pytest.mark.parametrize("name", ["LambdaMART", "RankNet"])
def test_training_on_preferences_says_that_it_watches_them(preferred, name):
    data = preferred.data
    ranker = RANKERS[name].unfitted().fit(data, preferences=preferred)
    assert ranker.watched_measure_ == AGREEMENT
    known = (
        rf.from_bytes(rf.to_bytes(ranker.model_)).provenance if hasattr(rf, "from_bytes") else ranker.model_.provenance
    )
    assert known.watched == {"train": "preference agreement"}
    found = rf.evaluate(ranker, preferred, ties="hashed")
    assert found.mean[AGREEMENT] == pytest.approx(ranker.history_["train"][ranker.best_iteration_ - 1], abs=1e-12)
    assert ranker.score(preferred) == rf.evaluate(ranker, preferred).mean["preference agreement"]
    card = str(rf.model_card(ranker.model_))
    assert "history of preference agreement; ties: hashed" in card
    with pytest.raises(rf.DataError, match=r"score\(preferences\)"):
        ranker.score(data)


def test_labels_and_preferences_are_named_apart(data, preferred):
    listed = rf.Preferences(data.replace(), preferred.better, preferred.worse)
    half = rf.LambdaMART("NDCG@5", early_stopping=3, **TREES).fit(data, validation=listed)
    assert half.model_.provenance.watched == {"train": "NDCG@5", "validation": "preference agreement"}
    assert half.watched_measure_ == AGREEMENT
    assert half.score(data) == rf.evaluate(half, data, "NDCG@5").mean["NDCG@5"]
    card = str(rf.model_card(half.model_))
    assert "history of NDCG@5 (train), preference agreement (validation)" in card
    other = rf.LambdaMART("NDCG@5", **TREES).fit(preferred.data, preferences=preferred, validation=data)
    assert other.model_.provenance.watched == {"train": "preference agreement", "validation": "NDCG@5"}
    assert str(other.watched_measure_) == "NDCG@5"
    assert other.score(data) == rf.evaluate(other, data, "NDCG@5").mean["NDCG@5"]


def test_every_tier_is_named(data):
    train = rf.make_artificial(40, documents=12, features=4, seed=0, clicks=True)
    graded = rf.Graded(["NDCG", "CNDCG:clicks"], [0.8, 0.2])
    ranker = rf.LambdaMART(objective=graded, early_stopping=3, **TREES).fit(train, validation=train)
    assert ranker.model_.provenance.watched == {
        "train": "NDCG",
        "validation": "NDCG",
        "validation CNDCG:clicks": "CNDCG:clicks",
    }


@pytest.mark.parametrize(
    ("watched", "told"),
    [
        ({"train": "NDCG", "validation": "NDCG"}, "NDCG (ties hashed): train 0.5000, validation 0.2500"),
        (
            {"train": "NDCG", "validation": "preference agreement"},
            "train NDCG 0.5000, validation preference agreement 0.2500 (ties hashed)",
        ),
    ],
)
def test_progress_says_what_it_shows(monkeypatch, capsys, watched, told):
    monkeypatch.setattr("rankforce.console.progress.SECONDS_BETWEEN_LINES", 0.0)
    with Progress("LambdaMART", 3, "trees") as bar:
        bar.in_words = functools.partial(in_words, watched=watched)
        for done in (1, 2):
            bar.advance(done, {"train": 0.5, "validation": 0.25})
    assert f"LambdaMART: 2/3 trees; {told}; about" in capsys.readouterr().err


def test_files_that_do_not_say_what_they_watched_are_read(data):
    model = rf.LambdaMART("NDCG@5", **TREES).fit(data).model_
    document = json.loads(to_bytes(model))
    for name in ("watched", "ties"):
        del document["provenance"][name]
    del document["sha256"]
    old = model_of(document, "old")
    assert (old.provenance.watched, old.provenance.ties) == ({}, "")
    assert "history of" not in str(rf.model_card(old))
    assert from_bytes(to_bytes(old)).provenance.history == model.provenance.history
