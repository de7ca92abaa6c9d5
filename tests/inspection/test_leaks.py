"""Features that encode a label are found, whatever the label source and the code; others are not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import rankforce as rf
from rankforce.inspection.leaks import LeakWarning, explained_shares, leaks, warn_of_leaks


def made(queries: int = 60, documents: int = 20, seed: int = 0) -> rf.Dataset:
    """Grades and clicks that agree somewhat, and honest features of both."""
    rng = np.random.default_rng(seed)
    n = queries * documents
    grades = rng.choice(4, n, p=[0.5, 0.3, 0.15, 0.05]).astype(float)
    clicks = np.clip(0.15 * grades + 0.4 * rng.random(n), 0.0, 1.0)
    X = rng.normal(size=(n, 5))
    X[:, 0] += grades
    X[:, 1] += 4.0 * clicks
    data = rf.Dataset(X, grades, np.repeat(np.arange(queries), documents), feature_names=list("abcde"))
    return data.with_label("clicks", clicks)


def with_feature(data: rf.Dataset, values: np.ndarray) -> rf.Dataset:
    features = np.column_stack([data.features, values])
    return data.replace(features=features, feature_names=[*data.feature_names, "leak"])


def test_honest_features_are_no_leaks() -> None:
    for seed in range(5):
        assert leaks(made(seed=seed)) == []
        assert leaks(made(queries=4, documents=10, seed=seed)) == []
        assert leaks(made(seed=seed), quick=True) == []


@pytest.mark.parametrize("quick", [False, True])
def test_every_encoding_of_every_source_is_found(quick: bool) -> None:
    data = made()
    rng = np.random.default_rng(1)
    grades, clicks = data.label(), data.label("clicks")
    codes = np.array([2.0, 0.0, 3.0, 1.0])  # grades in another order
    nearly = clicks + rng.normal(scale=0.0005, size=len(clicks))
    cases = [
        (grades, {("grades", "orders")}),
        (-3.0 * clicks, {("clicks", "orders")}),
        (np.exp(5.0 * clicks), {("clicks", "orders")}),
        (nearly, {("clicks", "orders")}),
        (codes[grades.astype(int)], {("grades", "determines")}),
        (np.abs(clicks - 0.3) * np.where(clicks > 0.3, 1.0, 3.0) + 10.0 * (clicks > 0.3), {("clicks", "determines")}),
    ]
    for values, expected in cases:
        found = leaks(with_feature(data, values), quick=quick)
        assert {leak.feature for leak in found} == {"leak"}
        assert {(leak.label, leak.how) for leak in found} == expected


def test_explained_shares_are_those_of_the_groups() -> None:
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 4, 400)
    labels = groups + rng.normal(size=400)
    values = np.where(groups == 3, np.nan, groups.astype(float))
    data = rf.Dataset(values[:, None], labels, np.zeros(400, dtype=int))
    within = sum(((labels[groups == g] - labels[groups == g].mean()) ** 2).sum() for g in range(4))
    expected = 1.0 - within / ((labels - labels.mean()) ** 2).sum()
    assert explained_shares(data, labels, 10_000)[0] == pytest.approx(expected)
    noise = rf.Dataset(rng.normal(size=(400, 3)), labels, np.zeros(400, dtype=int))
    assert explained_shares(noise, labels, 10_000).max() < 0.1
    assert explained_shares(noise, np.full(400, 2.0), 10_000).tolist() == [0.0] * 3
    assert explained_shares(noise, np.full(400, np.nan), 10_000).tolist() == [0.0] * 3


def test_inspect_reports_leaks_of_every_source() -> None:
    data = made()
    report = rf.inspect(with_feature(data, data.label("clicks")))
    (finding,) = [one for one in report.findings if one.kind == "feature_gives_answer"]
    assert "Feature leak alone orders 100.00% of the pairs it decides" in finding.what
    assert "as clicks does, highest first" in finding.what
    assert report.to_dict()["leaks"][0]["label"] == "clicks"
    assert report.answering_features == ()


def test_a_warning_names_feature_and_label() -> None:
    data = made()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_leaks(data, ["grades", "clicks"])
    leaking = with_feature(data, data.label("clicks"))
    with pytest.warns(LeakWarning, match=r"encode a label, exactly or nearly so: leak \(clicks\); leave them out"):
        warn_of_leaks(leaking, ["grades", "clicks"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_leaks(leaking, ["clicks", "clicks"])  # one source only


@pytest.mark.compiled_only
def test_training_on_several_sources_warns() -> None:
    data = made()
    leaking = with_feature(data, data.label("clicks"))
    objective = rf.Graded(["NDCG", "CNDCG:clicks"], weights=[0.7, 0.3])
    for ranker in (
        rf.LambdaMART(objective=objective, n_trees=2, min_documents=5, progress=False),
        rf.LambdaRank(objective=objective, epochs=1, hidden=0, progress=False),
    ):
        with pytest.warns(LeakWarning, match=r"leak \(clicks\)") as told:
            ranker.fit(leaking)
        assert told[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ranker.fit(data)
            type(ranker)(progress=False, **({"n_trees": 2} if "MART" in str(ranker) else {"epochs": 1})).fit(leaking)
