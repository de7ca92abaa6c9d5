"""Training on categorical features, from data to model."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf
from rankforce.errors import SettingsError

COUNTS = {"brand": 60, "colour": 5, "seller": 400}
SMALL = {"n_trees": 12, "n_leaves": 8, "min_documents": 5, "progress": False}
RANKERS = {
    "LambdaMART, leafwise": lambda **more: rf.LambdaMART(**SMALL | {"growth": "leafwise"} | more),
    "LambdaMART, symmetric": lambda **more: rf.LambdaMART(**SMALL | {"growth": "symmetric"} | more),
    "MART, multiclass": lambda **more: rf.MART("multiclass", **SMALL | {"n_trees": 4} | more),
    "MART, binary, leafwise": lambda **more: rf.MART("binary", **SMALL | {"growth": "leafwise"} | more),
}


def products(seed, queries=60, known=1.0):
    """Products whose relevance is an effect of each category and of one number; some values are missing.

    ``known``: the share of each feature's categories that occur.
    """
    effects = {name: np.random.default_rng(9).normal(size=count) for name, count in COUNTS.items()}
    rng = np.random.default_rng(seed)
    n = queries * 15
    codes = np.column_stack([rng.integers(0, int(known * count), n) for count in COUNTS.values()])
    text = rng.normal(size=n)
    worth = sum(effects[name][codes[:, place]] for place, name in enumerate(COUNTS)) + text + rng.normal(size=n) * 0.5
    X = np.column_stack([codes, text]).astype(np.float32)
    X[rng.random(X.shape) < 0.03] = np.nan
    return rf.Dataset(
        X,
        np.digitize(worth, [0.5, 1.5, 2.5]),
        group=np.full(queries, 15),
        feature_names=[*COUNTS, "text"],
        categories={name: [f"{name} {code}" for code in range(count)] for name, count in COUNTS.items()},
    )


TRAIN, TEST = products(1, 120, known=0.8), products(2)


def bytes_of(ranker, path):
    ranker.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("name", RANKERS)
def test_what_was_watched_is_what_the_finished_model_scores(name):
    """Training and validation scores come from bins, the model's from sets: rare, unseen and missing ones included."""
    measure = "NDCG@5"
    watched = {"measure": measure} if name.startswith("Lambda") else {"validation_measure": measure}
    ranker = RANKERS[name](**watched).fit(TRAIN, validation=TEST)
    assert ranker.model_.categories == TRAIN.categories
    for data, which in ((TRAIN, "train"), (TEST, "validation")):
        value = rf.evaluate(ranker, data, [measure], ties="hashed").mean[measure]
        assert ranker.history_[which][-1] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("name", RANKERS)
def test_threads_and_the_order_of_rows_do_not_matter(name, tmp_path):
    made = [bytes_of(RANKERS[name](threads=threads).fit(TRAIN), tmp_path / "model.json") for threads in (1, 3)]
    assert made[0] == made[1]
    turned = TRAIN.take_queries(np.arange(TRAIN.n_queries)[::-1])
    assert (RANKERS[name]().fit(turned).predict(TEST) == RANKERS[name]().fit(TRAIN).predict(TEST)).all()


@pytest.mark.parametrize("growth", ["leafwise", "symmetric"])
def test_categories_are_worth_more_than_their_numbers(growth):
    settings = SMALL | {"n_trees": 40, "growth": growth}
    values = [
        rf.evaluate(
            rf.LambdaMART(**settings).fit(TRAIN.replace(categories=categories)),
            TEST.replace(categories=categories),
            ["NDCG@10"],
        ).mean["NDCG@10"]
        for categories in (TRAIN.categories, {})
    ]
    assert values[0] > values[1] + 0.02


@pytest.mark.parametrize("name", ["LambdaMART, leafwise", "MART, multiclass"])
def test_an_interrupted_training_goes_on_to_the_same_bytes(name, tmp_path):
    class Interrupted(Exception):
        pass

    def interrupt(iteration):
        if iteration.number == 3:
            raise Interrupted

    checkpoint = tmp_path / "model.ckpt"
    with pytest.raises(Interrupted):
        RANKERS[name]().fit(TRAIN, validation=TEST, checkpoint=checkpoint, checkpoint_every=1, callbacks=[interrupt])
    resumed = RANKERS[name]().fit(TRAIN, validation=TEST, checkpoint=checkpoint, checkpoint_every=1)
    whole = RANKERS[name]().fit(TRAIN, validation=TEST)
    assert (resumed.predict(TEST) == whole.predict(TEST)).all()
    assert resumed.history_ == whole.history_


def test_early_stopping_and_going_on_from_a_model(tmp_path):
    first = rf.LambdaMART(**SMALL | {"n_trees": 200, "early_stopping": 5, "growth": "leafwise"})
    first.fit(TRAIN, validation=TEST)
    assert 0 < first.model_.n_trees < 200
    again = rf.LambdaMART(**SMALL, base_model=first).fit(TRAIN)
    again.save(tmp_path / "model.json")
    loaded = rf.load(tmp_path / "model.json")
    assert (loaded.predict(TEST) == again.predict(TEST)).all()
    assert loaded.n_trees == SMALL["n_trees"]


def test_a_direction_for_categories_is_refused():
    with pytest.raises(SettingsError, match=r"monotone: feature 'colour' has categories, which have no order"):
        rf.LambdaMART(**SMALL, monotone={"colour": 1}).fit(TRAIN)
    rf.LambdaMART(**SMALL | {"n_trees": 2}, monotone={"colour": 0, "text": 1}).fit(TRAIN)


def test_scores_cannot_start_from_categories():
    with pytest.raises(SettingsError, match="'brand' has categories, which are no scores"):
        rf.LambdaMART(**SMALL, base_model="brand").fit(TRAIN)
