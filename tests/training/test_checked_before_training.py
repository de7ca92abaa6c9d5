"""What a long run would fail with at its end (measures, policies, labels that do not fit) is refused at its start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf
from rankforce.combining import combine as combining
from rankforce.rankers.catalogue import ranker_classes

STOP = "ERR@10(max_grade=3)"  # the grades below go up to 4


def made(seed: int = 0, top: float = 4.0, **parts: Any) -> rf.Dataset:
    """Eight queries of four documents; the last one has the top grade, the first none that is relevant."""
    random = np.random.default_rng(seed)
    grades = random.integers(0, 4, 32).astype(float)
    grades[:4], grades[-1] = 0.0, top
    return rf.Dataset(random.normal(size=(32, 2)), grades, np.repeat(np.arange(8) + 100 * seed, 4), **parts)


@pytest.fixture
def never_fitted(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A ranker whose fit is a failure of the test."""

    def fit(self: Any, X: Any, *, validation: Any = None, callbacks: Any = ()) -> Any:
        raise AssertionError("a training began")

    monkeypatch.setattr(rf.LambdaMART, "fit", fit)
    return rf.LambdaMART(progress=False)


UNFIT: list[tuple[dict[str, Any], str]] = [
    ({"measures": "NDCGG"}, "unknown measure"),
    ({"measures": []}, "at least one measure"),
    ({"measures": STOP}, "label 4 is above max_grade=3"),
    ({"measures": "NDCG:clicks"}, "reads the label source 'clicks'"),
    ({"ties": "random"}, "ties must be one of"),
    ({"blank": "ignore"}, "blank must be one of"),
    ({"blank": "raise"}, "1 of 8 queries are blank"),
    ({"convention": "terrier"}, "unknown convention"),
    ({"convention": "lightgbm", "ties": "stable"}, "fixes ties"),
    ({"convention": "lightgbm", "measures": "RBP"}, "does not say how"),
    ({"convention": "mslr", "measures": "NDCG@5", "top": 5.0}, "has no entry in the gain table"),
    ({"convention": "trec", "measures": "NDCG@5"}, "the data has none"),
    ({"level": 95}, "level must lie between 0 and 1"),
    ({"threads": 0}, "threads must be"),
]


@pytest.mark.parametrize(("options", "message"), UNFIT)
def test_cross_validation_checks_what_it_measures_first(
    never_fitted: Any, options: dict[str, Any], message: str
) -> None:
    asked = {"measures": "NDCG", "folds": 2, "progress": False} | options
    data = made(top=asked.pop("top", 4.0))
    with pytest.raises(rf.RankforceError, match=message):
        rf.cross_validate(never_fitted, data, **asked)


def test_folds_are_all_checked_first(never_fitted: Any, tmp_path: Path) -> None:
    fine, odd = made(1, top=3.0), made(2)
    folds = [(odd, fine), (fine, odd)]
    with pytest.raises(rf.MeasureError, match="above max_grade"):
        rf.cross_validate(never_fitted, folds, STOP, progress=False)
    with pytest.raises(rf.DataError, match="in the test parts of two folds"):
        rf.cross_validate(never_fitted, [(odd, fine), (odd, fine)], "NDCG", progress=False)
    for number, (train, test) in enumerate(folds, start=1):
        folder = tmp_path / f"Fold{number}"
        folder.mkdir()
        train.write(folder / "train.txt")
        test.write(folder / "test.txt")
    with pytest.raises(rf.MeasureError, match="above max_grade"):
        rf.cross_validate(never_fitted, rf.read_folds(tmp_path), STOP, progress=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "NDCGG"}, "unknown measure"),
        ({"measure": STOP}, "above max_grade"),
        ({"measure": STOP, "validation": made(1)}, "above max_grade"),
        ({"measure": "NDCG:clicks", "validation": made(1)}, "label source 'clicks'"),
        ({"folds": 9}, "9 folds need at least as many queries"),
        ({"validation_share": 2.0}, "validation_share must be"),
        ({"early": 3}, "early_stopping needs validation data"),
    ],
)
def test_a_search_checks_what_decides_first(never_fitted: Any, options: dict[str, Any], message: str) -> None:
    options = dict(options)
    ranker = never_fitted.set_params(early_stopping=options.pop("early", None))
    with pytest.raises(rf.RankforceError, match=message) as caught:
        rf.tune(ranker, made(), {"n_leaves": [4, 8]}, progress=False, **options)
    assert "no trial could be finished" not in str(caught.value)


def test_bagging_checks_what_is_watched_on_all_queries(never_fitted: Any) -> None:
    ranker = never_fitted.set_params(validation_measure=STOP)
    for given in ({"validation": made(1)}, {}):
        data = made(top=3.0) if given else made()
        with pytest.raises(rf.MeasureError, match="above max_grade"):
            rf.Bagging(ranker, n_models=2, progress=False).fit(data, **given)


def test_a_search_for_weights_checks_every_tier_first(never_fitted: Any) -> None:
    data = made().with_label("clicks", np.linspace(0.0, 1.0, 32))
    ranker = never_fitted.set_params(objective=rf.Graded(["NDCG", "CNDCG:clicks"], "search"))
    with pytest.raises(rf.MeasureError, match="label source 'clicks'"):
        rf.search_weights(ranker, data, made(1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": STOP}, "above max_grade"),
        ({"validation": made(1), "measure": "ERR(max_grade=3)", "top": 3.0}, "above max_grade"),
        ({"validation": made(1), "blank": "raise", "dull": False}, "1 of 8 queries are blank"),
        ({"folds": 9}, "9 folds need at least as many queries"),
        ({"validation": "file"}, "validation must be a Dataset"),
        ({"validation": made(1), "rankers": [np.arange(32.0), "1"]}, "was given as scores"),
    ],
)
def test_combine_checks_what_it_tests_on_first(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], message: str
) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("the search began")

    monkeypatch.setattr(combining, "best_weights", never)
    options = dict(options)
    data = made(top=options.pop("top", 4.0))
    if not options.pop("dull", True):
        data = data.take_queries(np.arange(1, 8))
    with pytest.raises(rf.RankforceError, match=message):
        rf.combine(options.pop("rankers", ["1", "2"]), data, options.pop("measure", "NDCG"), **options)


@pytest.mark.parametrize("name", sorted(set(ranker_classes()) - {"Bagging"}))
def test_rankers_check_what_they_watch_before_they_learn(name: str) -> None:
    kind: Any = ranker_classes()[name]
    begun: list[int] = []
    with pytest.raises(rf.MeasureError, match="above max_grade"):
        kind(validation_measure=STOP, progress=False).fit(
            made(top=3.0), validation=made(1), callbacks=[lambda iteration: begun.append(iteration.number)]
        )
    assert begun == []
