"""Cross-validation: whole queries, pooled values, nothing seen twice."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

import rankforce as rf

SHARED = Path(os.environ.get("RANKFORCE_DATA", Path(__file__).parents[2].parent / "shared" / "data"))


def ranker(**settings):
    return rf.LambdaMART(**({"n_trees": 5, "n_leaves": 5, "min_documents": 3, "progress": False} | settings))


@pytest.fixture(scope="module")
def data():
    made = rf.make_artificial(queries=23, documents=(4, 12), features=4, seed=1)
    rows = np.random.default_rng(0).permutation(made.n_documents)  # queries are not contiguous
    return rf.Dataset(made.features[rows], made.labels["grades"][rows], qid=made.qid[rows])


def test_every_query_is_ranked_by_a_ranker_that_has_not_seen_it(data):
    result = rf.cross_validate(ranker(), data, ["NDCG@5", "MAP"], folds=4, seed=3, progress=False, keep_rankers=True)
    by_hand = {}
    for number, (train, test) in enumerate(data.folds(4, seed=3)):
        one = ranker().fit(train)
        alone = rf.evaluate(one, test, ["NDCG@5", "MAP"])
        by_hand |= dict(zip(test.query_ids.tolist(), alone.per_query["NDCG@5"], strict=True))
        assert result.fold_means["MAP"][number] == alone.mean["MAP"]
        np.testing.assert_array_equal(result.rankers[number].predict(test), one.predict(test))
        assert (result.fold_of[np.isin(data.query_ids, test.query_ids)] == number + 1).all()  # as they are printed
    assert result.evaluation.query_ids.tolist() == data.query_ids.tolist()
    np.testing.assert_array_equal(result.per_query["NDCG@5"], [by_hand[query] for query in data.query_ids.tolist()])
    assert result.mean["NDCG@5"] == pytest.approx(np.nanmean(list(by_hand.values())))
    assert len(result.folds) == 4


def test_the_ranker_given_is_not_changed(data):
    one = ranker()
    first = rf.cross_validate(one, data, folds=2, progress=False)
    assert not hasattr(one, "model_")
    assert first.rankers == ()
    again = rf.cross_validate(one, data, folds=2, progress=False)
    np.testing.assert_array_equal(first.scores, again.scores)
    other = rf.cross_validate(one, data, folds=2, seed=1, progress=False)
    assert (other.fold_of != first.fold_of).any()


def test_two_rankers_can_be_compared_over_all_queries(data):
    one, two = (rf.cross_validate(ranker(n_trees=n), data, folds=3, progress=False) for n in (1, 10))
    verdict = rf.compare(one.evaluation, two.evaluation)
    assert verdict.difference["NDCG@10"] == pytest.approx(two.mean["NDCG@10"] - one.mean["NDCG@10"])


def test_early_stopping_needs_validation_data(data):
    stopping = ranker(n_trees=50, early_stopping=3, learning_rate=0.5)
    with pytest.raises(rf.SettingsError, match=r"validation_share=0\.2"):
        rf.cross_validate(stopping, data, folds=3, progress=False)
    result = rf.cross_validate(stopping, data, folds=3, validation_share=0.25, progress=False, keep_rankers=True)
    assert all("validation" in one.history_ for one in result.rankers)
    assert any(one.model_.n_trees < 50 for one in result.rankers)


def test_folds_given(data):
    train, validation, test = data.split(0.5, 0.25, 0.25)
    result = rf.cross_validate(ranker(), [(train, validation, test), (train, test.take_queries([0]))][:1], "MAP")
    assert result.mean["MAP"] == rf.evaluate(ranker().fit(train), test, "MAP").mean["MAP"]
    with pytest.raises(rf.DataError, match="in the test parts of two folds"):
        rf.cross_validate(ranker(), [(train, test), (validation, test)], progress=False)


def test_policies_reach_the_evaluation(data):
    result = rf.cross_validate(ranker(n_trees=1), data, "NDCG@5", folds=2, convention="lightgbm", progress=False)
    assert result.evaluation.policies.convention == "lightgbm"


def test_it_prints_and_gives_frames(data):
    result = rf.cross_validate(ranker(), data, ["NDCG@5"], folds=2, progress=False)
    assert "fold 2" in str(result)
    assert sorted(set(result.fold_of.tolist())) == [1, 2]  # as they are printed
    assert "NDCG@5" in str(result)
    pytest.importorskip("pandas")
    assert result.to_pandas()["fold"].tolist() == result.fold_of.tolist()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("last", [False, True], ids=["during a fold", "in its last tree"])
@pytest.mark.parametrize("bagged", [False, True])
def test_ctrl_c_counts_no_fold_by_half(data, last, bagged, capsys):
    began = []

    def press(told):
        if told.number == (2 if last else 1):
            signal.raise_signal(signal.SIGINT)

    def callbacks(fold):
        began.append(fold)
        return [press] if fold == 2 else []

    tried = rf.Bagging(ranker(), n_models=2, progress=False) if bagged else ranker(n_trees=2)
    with pytest.raises(KeyboardInterrupt):
        rf.cross_validate(tried, data, folds=3, callbacks=callbacks, progress=False)
    assert began == [1, 2]
    assert "stopping after" not in capsys.readouterr().err
    assert ranker().fit(data).model_.n_trees == 5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda data: rf.cross_validate(rf.LambdaMART, data), "a ranker is needed"),
        (lambda data: rf.cross_validate(ranker(), data, folds=1), "at least 2"),
        (lambda data: rf.cross_validate(ranker(), []), "at least one fold"),
        (lambda data: rf.cross_validate(ranker(), [data]), "tuples"),
        (lambda data: rf.cross_validate(ranker(), data, validation_share=2), "validation_share"),
    ],
)
def test_what_is_refused(data, call, message):
    with pytest.raises(rf.RankforceError, match=message):
        call(data)


@pytest.mark.compiled_only
@pytest.mark.skipif(not (SHARED / "mq2008").is_dir(), reason="needs MQ2008")
def test_mq2008():
    folds = rf.read_folds(SHARED / "mq2008")
    settings = {"n_trees": 40, "n_leaves": 7, "early_stopping": 20, "progress": False}
    result = rf.cross_validate(rf.LambdaMART("NDCG@10", **settings), folds, ["NDCG@10", "MAP"], progress=False)
    assert len(folds) == 5
    assert result.evaluation.n_queries == 784
    assert result.mean["NDCG@10"] > 0.66  # blank queries left out
