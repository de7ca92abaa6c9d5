"""Columns that were hardly meant as features, against slow twins; categories in a report."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rankforce as rf
from rankforce.inspection.column_guards import suspect_columns


def table(queries=20, documents=12, seed=0, **columns):
    rng = np.random.default_rng(seed)
    n = queries * documents
    grades = np.concatenate([rng.permutation(np.arange(documents) % 3) for _ in range(queries)])
    plain = {"qid": np.repeat(np.arange(queries), documents), "label": grades, "x": rng.normal(size=n)}
    return pd.DataFrame(plain | {name: make(rng, queries, documents) for name, make in columns.items()})


def kinds(frame):
    return [(finding.kind, finding.what.split("'")[1]) for finding in suspect_columns(rf.Dataset(frame))]


SUSPECTS = {
    "ids": ("id_features", lambda rng, q, d: rng.permutation(q * d) + 1000),
    "row numbers": ("id_features", lambda rng, q, d: np.arange(q * d)),
    "ids that other queries have too": (
        "id_features",
        lambda rng, q, d: np.concatenate([rng.permutation(5000)[:d] for _ in range(q)]),
    ),
    "positions from 1": (
        "position_features",
        lambda rng, q, d: np.concatenate([rng.permutation(d) + 1 for _ in range(q)]),
    ),
    "positions from 0": ("position_features", lambda rng, q, d: np.tile(np.arange(d), q)),
    "large ids": ("rounded_features", lambda rng, q, d: rng.integers(2**30, 2**31, q * d)),
    "seconds": ("rounded_features", lambda rng, q, d: 1_700_000_000 + rng.integers(0, 10**6, q * d)),
}
INNOCENT = {
    "counts": lambda rng, q, d: rng.integers(0, 200, q * d),
    "prices": lambda rng, q, d: rng.gamma(2, 10, q * d),
    "flags": lambda rng, q, d: rng.integers(0, 2, q * d),
    "one value": lambda rng, q, d: np.full(q * d, 5),
    "positions with gaps": lambda rng, q, d: np.where(rng.random(q * d) < 0.1, np.nan, np.tile(np.arange(d), q)),
    "dates": lambda rng, q, d: [
        str(day) for _ in range(q) for day in np.datetime64("2024-01-01") + rng.permutation(300)[:d]
    ],
    "large numbers that are not whole": lambda rng, q, d: rng.normal(size=q * d) * 1e5 + 0.5,
}


@pytest.mark.parametrize("name", SUSPECTS)
def test_what_is_suspect(name):
    kind, make = SUSPECTS[name]
    assert kinds(table(column=make)) == [(kind, "column")]


@pytest.mark.parametrize("name", INNOCENT)
def test_what_is_not(name):
    assert kinds(table(column=INNOCENT[name])) == []


def test_little_data_proves_nothing():
    assert kinds(table(queries=3, documents=10, column=lambda rng, q, d: np.arange(q * d))) == []
    data = rf.make_artificial(queries=30, documents=20, features=5, seed=1)
    assert list(suspect_columns(data)) == []


def test_ids_within_queries_equal_a_slow_twin():
    rng = np.random.default_rng(5)
    for trial in range(30):
        most = int(rng.choice([300, 3000, 30000, 10**6]))
        frame = table(seed=trial, column=lambda rng, q, d, most=most: rng.integers(0, most, q * d))
        frame = frame.sample(frac=1.0, random_state=int(rng.integers(1000)))
        alone = all(part["column"].is_unique for _, part in frame.groupby("qid"))
        assert (kinds(frame) == [("id_features", "column")]) == alone


def test_reports_say_what_became_of_columns():
    frame = table(
        brand=lambda rng, q, d: rng.choice(["acme", "omni"], q * d),
        shop=lambda rng, q, d: rng.integers(0, 400, q * d),
        title=lambda rng, q, d: [f"title {row}" for row in range(q * d)],
        sku=lambda rng, q, d: rng.permutation(q * d),
    )
    data = rf.Dataset(frame, ignore=["title"], categorical=["shop"])
    report = rf.inspect(data)
    values = report.to_dict()
    assert values["roles"] == dict(data.roles)
    assert values["categories"] == {"brand": 2, "shop": len(set(frame["shop"]))}
    assert "'title' (as asked)" in str(report)
    assert "categories: 'brand', 'shop'" in str(report)
    assert {finding.kind for finding in report.findings} == {"id_features"}
    assert not {strength.feature for strength in report.strongest_features} & {"brand", "shop"}


def test_one_category_throughout_is_constant_and_not_never_seen():
    frame = table(brand=lambda rng, q, d: ["acme"] * (q * d))
    report = rf.inspect(rf.Dataset(frame))
    assert report.never_seen_features == ()
    assert list(report.constant_features) == ["brand"]


def test_many_categories_are_told():
    frame = table(shop=lambda rng, q, d: rng.permutation(q * d * 2)[: q * d] + 0, queries=30)
    report = rf.inspect(rf.Dataset(frame, categorical=["shop"]))
    assert "many_categories" in {finding.kind for finding in report.findings}
