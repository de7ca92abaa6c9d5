"""What is written, read by strict readers: no document changes its side, and sums are the engine's to the last bit."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.export import strict_readers
from tests.export.hard_models import MILDER, NAMES, chain, hard_rows, net, perceptron, sums_of_trees, trees

import rankforce as rf
from rankforce.export.engines import READERS
from rankforce.export.format import format_classes

SUMS = {"solr": sums_of_trees(MILDER)}
SUMS |= dict.fromkeys(("ranklib", "ltr-xgboost", "ltr-xgboost-raw"), sums_of_trees())
FEATURES = ["extra", *reversed(NAMES), "more"]  # the engine's order is another
ROWS = hard_rows()


def reading(name: str, contents: bytes, missing: str) -> list[strict_readers.Score]:
    """The engine's scoring, in every way that releases differ; ``missing``: what the release does."""
    if name == "ranklib":
        return [strict_readers.ranklib(contents, FEATURES)]
    if name == "ltr-xgboost":
        return [strict_readers.ltr_xgboost(contents, FEATURES, missing)]
    if name == "ltr-xgboost-raw":
        return [strict_readers.ltr_xgboost_raw(contents, FEATURES, missing, by_place) for by_place in (False, True)]
    assert name == "solr"
    return [strict_readers.solr(contents)]


def by_name(rows: np.ndarray) -> list[dict[str, float]]:
    return [dict(zip(NAMES, row, strict=True)) for row in rows.tolist()]


def float32_sum(model: Any, rows: np.ndarray) -> np.ndarray:
    """The sum of the trees that rows come to, in float32 and in order: what every one of these engines gives."""
    trees = model.base_model.trees if model.base_model is not None else []
    assert not trees
    leaves = model.leaf_indices(rows)
    total = np.zeros(len(rows), dtype=np.float32)
    for number, tree in enumerate(model.trees):
        total += tree.leaf_value[leaves[:, number]]
    return (total + np.float32(model.base_score)) if model.base_score else total


@pytest.mark.parametrize("meaning", ["zero", "nan"])
@pytest.mark.parametrize("name", ["ranklib", "ltr-xgboost", "ltr-xgboost-raw", "solr"])
@pytest.mark.parametrize("kind", SUMS["solr"])
def test_engines_score_as_the_model(name: str, kind: str, meaning: str) -> None:
    model = SUMS[name][kind]
    engines = {"zero": ("opensearch-3.1", "zero"), "nan": ("opensearch-3.8", "side")}
    engine, missing = engines[meaning] if name != "solr" else ("solr-9.10", "")
    if name == "ranklib" and meaning == "nan":
        if kind not in ("no trees",):
            with pytest.raises(rf.SettingsError, match="reads it as 0"):
                model.export(None, name, missing=meaning)
        return
    made = model.export(None, name, engine=engine, missing=meaning, features=FEATURES, check=ROWS)
    assert made.check.changed_leaves == 0
    assert made.check.passed
    meant = np.nan_to_num(ROWS, nan=0.0) if meaning == "zero" else ROWS
    expected = model.predict(meant)
    for score in reading(name, made.contents, missing):
        found = np.array([score(row) for row in by_name(ROWS)])
        assert np.abs(found - expected).max() <= made.check.tolerance
        if kind in ("trees", "with a base score", "chain"):
            assert np.array_equal(found.astype(np.float32), float32_sum(model, meant))


@pytest.mark.parametrize("release", ["opensearch-2.19", "opensearch-3.2", "opensearch-3.7", "opensearch-3.8",
                                     "elasticsearch-1.5.8", "elasticsearch-1.5.9"])  # fmt: skip
@pytest.mark.parametrize("meaning", ["zero", "nan"])
def test_a_release_is_right_or_refused(release: str, meaning: str) -> None:
    model = trees()
    behaviour = {"opensearch-2.19": "zero", "opensearch-3.2": "right", "opensearch-3.7": "right",
                 "elasticsearch-1.5.8": "zero"}.get(release, "side")  # fmt: skip
    if behaviour == "zero" and meaning == "nan":
        with pytest.raises(
            rf.SettingsError, match=r"reads it as 0: it is right in .*'ltr-xgboost' for opensearch from 3.8"
        ):
            model.export(None, "ltr-xgboost", engine=release, missing=meaning)
        return
    made = model.export(None, "ltr-xgboost", engine=release, missing=meaning, check=ROWS)
    assert made.check.passed
    score = strict_readers.ltr_xgboost(made.contents, list(NAMES), behaviour)
    found = np.array([score(row) for row in by_name(ROWS)])
    expected = model.predict(np.nan_to_num(ROWS, nan=0.0) if meaning == "zero" else ROWS)
    assert np.abs(found - expected).max() <= made.check.tolerance
    assert bool(made.notes) == (behaviour == "right")


@pytest.mark.parametrize("name", ["ltr-linear", "solr", "ranklib"])
@pytest.mark.parametrize("model", [perceptron(), net(0)], ids=repr)
def test_linear_functions(model: Any, name: str) -> None:
    rows = np.clip(hard_rows(), -1e4, 1e4)
    made = model.export(None, name, features=FEATURES, check=rows)
    assert made.check.passed
    readers: dict[str, Callable[[bytes], strict_readers.Score]] = {
        "ltr-linear": lambda text: strict_readers.ltr_linear(text, FEATURES),
        "solr": strict_readers.solr,
        "ranklib": lambda text: strict_readers.ranklib(text, FEATURES),
    }
    score = readers[name](made.contents)
    found = np.array([score(row) for row in by_name(rows)])
    gap = found - model.predict(np.nan_to_num(rows, nan=0.0))
    assert np.ptp(gap) <= made.check.tolerance * 2
    assert np.abs(gap).max() < (made.check.tolerance if name == "ranklib" else 100.0)


@pytest.mark.parametrize("name", ["solr", "ranklib"])
def test_nets(name: str) -> None:
    model = net(4)
    rows = np.clip(hard_rows(), -50, 50)
    made = model.export(None, name, features=FEATURES, check=rows)
    score = strict_readers.solr(made.contents) if name == "solr" else strict_readers.ranklib(made.contents, FEATURES)
    found = np.array([score(row) for row in by_name(rows)])
    expected = model.predict(np.nan_to_num(rows, nan=0.0))
    assert made.check.passed
    if name == "solr":
        assert np.abs(found - expected).max() < 1e-5
    else:
        assert ((found > 0) & (found <= 0.5)).all()
    order = np.argsort(expected, kind="stable")
    apart = np.diff(expected[order]) > 1e-5
    assert apart.any()
    assert (np.diff(found.astype(np.float32)[order])[apart] > 0).all()


def test_logarithms_are_not_folded() -> None:
    for name in ("solr", "ranklib"):
        with pytest.raises(rf.SettingsError, match="logarithms"):
            net(4, "log1p").export(None, name)


def test_every_number_is_written_with_all_its_digits() -> None:
    """Texts of floats are the shortest of the double: no parser can read another float32 out of them."""
    made = trees().export(None, "ltr-xgboost", engine="opensearch-3.8").contents.decode()
    numbers = [part.split(",")[0].split("}")[0] for part in made.split('"split_condition":')[1:]]
    assert all(repr(float(number)) == number and float(np.float32(number)) == float(number) for number in numbers)


def test_a_chain_deeper_than_json_parsers_go_is_refused() -> None:
    deep = chain(480)
    with pytest.raises(rf.SettingsError, match="levels deep"):
        deep.export(None, "ltr-xgboost", engine="opensearch-3.8")
    assert deep.export(None, "ltr-xgboost-raw", engine="opensearch-3.8", check=True).check.passed
    assert chain(1000).export(None, "ranklib", missing="zero", check=True).check.passed


def test_the_same_model_gives_the_same_bytes() -> None:
    for name in ("ranklib", "ltr-xgboost", "solr", "xgboost"):
        engine = "opensearch-3.8" if name == "ltr-xgboost" else None
        first, second = (trees().export(None, name, missing="zero", engine=engine).contents for _ in range(2))
        assert first == second


def test_formats_are_known_to_the_table_and_readers_to_formats() -> None:
    assert {reader.format for reader in READERS} >= set(format_classes())
    spans = itertools.groupby(
        sorted(READERS, key=lambda one: (one.format, one.engine)), lambda one: (one.format, one.engine)
    )
    for key, group in spans:
        readers = sorted(group, key=lambda one: one.since)
        for earlier, later in itertools.pairwise(readers):
            assert earlier.before == later.since, f"{key}: a release must be in one row"
        assert readers[-1].before is None
