"""Commands that train on a cluster: the same file, the same numbers; what a cluster cannot do is refused."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.distributed.clusters import cluster_of, within

import rankforce as rf

pytestmark = [pytest.mark.cluster, pytest.mark.compiled_only]


@pytest.fixture(scope="module")
def client():
    with cluster_of(2) as client:
        yield client


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    data = rf.make_artificial(queries=30, documents=10, features=4, seed=0)
    paths = [tmp_path / f"part{number}.parquet" for number in range(2)]
    for path, queries in zip(paths, np.array_split(np.arange(30), 2), strict=True):
        data.take_queries(queries).write(path)
    return paths


@pytest.fixture
def asked(client: Any, monkeypatch: Any) -> list[Any]:
    """Which clusters were asked for; there is one, in this process."""
    found = []

    @contextlib.contextmanager
    def here(address: str | None, workers: int | None, threads: int | None) -> Any:
        found.append((address, workers))
        yield client if workers else None

    monkeypatch.setattr("rankforce.cli.clusters.cluster_client", here)
    return found


def test_the_same_file(run: Any, asked: list[Any], files: list[Path], tmp_path: Path) -> None:
    rf.Dataset.concat([rf.read(path) for path in files]).write(tmp_path / "whole.parquet")
    options = ("--trees", 4, "--leaves", 4, "--early-stopping", 3, "--validation", files[1], "--quiet", "--json")
    with within(900):
        together = run("train", *files, "--out", tmp_path / "together.json", "--workers", 2, *options)
        alone = run("train", tmp_path / "whole.parquet", "--out", tmp_path / "alone.json", *options)
    assert together.code == alone.code == 0, together.err + alone.err
    assert asked == [(None, 2), (None, None)]
    assert "2 pieces" in together.err
    assert (tmp_path / "together.json").read_bytes() == (tmp_path / "alone.json").read_bytes()
    assert json.loads(together.out)["history"] == json.loads(alone.out)["history"]
    share = ("--trees", 4, "--leaves", 4, "--early-stopping", 3, "--validation-share", 0.3, "--quiet", "--json")
    with within(900):
        together = run("train", *files, "--out", tmp_path / "together.json", "--workers", 2, *share)
        alone = run("train", tmp_path / "whole.parquet", "--out", tmp_path / "alone.json", *share)
    assert together.code == alone.code == 0, together.err + alone.err
    assert (tmp_path / "together.json").read_bytes() == (tmp_path / "alone.json").read_bytes()
    assert json.loads(together.out)["history"] == json.loads(alone.out)["history"]
    for wrong in (("--refit",), ("--bag", 3)):
        refused = run("train", *files, "--out", tmp_path / "x.json", "--workers", 2, *options, *wrong)
        assert refused.code == 2, wrong
        assert wrong[0] in refused.err


@pytest.mark.soak  # compiles what members need for categories; tests/distributed/test_columns.py has it in Python
def test_declared_categories(run: Any, asked: list[Any], tmp_path: Path) -> None:
    data = rf.make_artificial(queries=20, documents=20, features=3, seed=5)
    shops = np.random.default_rng(5).integers(1, 6, data.n_documents)
    X = np.column_stack([data.features, shops]).astype(np.float32)
    whole = rf.Dataset(X, data.label("grades"), qid=data.qid, feature_names=["a", "b", "c", "shop"])
    whole.write(tmp_path / "whole.parquet")
    parts = [tmp_path / f"part{half}.parquet" for half in range(2)]
    for half, path in enumerate(parts):
        whole.take_queries(np.arange(10 * half, 10 * half + 10)).write(path)
    options = ("--trees", 3, "--leaves", 4, "--categorical", "shop", "--quiet")
    with within(900):
        together = run("train", *parts, "--out", tmp_path / "together.json", "--workers", 2, *options)
        alone = run("train", tmp_path / "whole.parquet", "--out", tmp_path / "alone.json", *options)
    assert together.code == alone.code == 0, together.err + alone.err
    assert (tmp_path / "together.json").read_bytes() == (tmp_path / "alone.json").read_bytes()
    assert rf.load(tmp_path / "alone.json").categories


def test_the_same_cross_validation(run: Any, asked: list[Any], files: list[Path], tmp_path: Path) -> None:
    rf.Dataset.concat([rf.read(path) for path in files]).write(tmp_path / "whole.parquet")
    options = ("--folds", 2, "--set", "n_trees=3", "--set", "n_leaves=4", "--set", "early_stopping=2")
    options += ("--validation-share", 0.3, "-m", "NDCG@5", "-m", "MAP", "--quiet", "--json")
    with within(900):
        together = run("cross-validate", *files, "--workers", 2, *options)
        alone = run("cross-validate", tmp_path / "whole.parquet", *options)
    assert together.code == alone.code == 0, together.err + alone.err
    assert json.loads(together.out) == json.loads(alone.out)
    assert asked == [(None, 2), (None, None)]
    refused = run("cross-validate", *files, "--workers", 2, "--ranker", "lambdarank")
    assert refused.code == 2
    assert "LambdaRank needs all documents in one process" in refused.err
    here = run("cross-validate", *files, *options)
    assert here.code == 0, here.err
    assert json.loads(here.out) == json.loads(alone.out)


def test_the_same_search(run: Any, asked: list[Any], files: list[Path], tmp_path: Path) -> None:
    rf.Dataset.concat([rf.read(path) for path in files]).write(tmp_path / "whole.parquet")
    options = ("--try", "n_leaves=2,5", "--method", "grid", "--set", "n_trees=3", "--quiet", "--json")
    options += ("--validation", files[1], "--out", tmp_path / "model.json")
    with within(900):
        together = run("tune", *files, "--workers", 2, "--journal", tmp_path / "there", *options)
        there = (tmp_path / "model.json").read_bytes()
        alone = run("tune", tmp_path / "whole.parquet", *options)
        again = run("tune", tmp_path / "whole.parquet", "--journal", tmp_path / "there", *options)
    assert together.code == alone.code == again.code == 0, together.err + alone.err + again.err
    assert (tmp_path / "model.json").read_bytes() == there
    assert json.loads(again.out) == json.loads(together.out)  # and its seconds: nothing was tried again
    first, second = ([trial["value"] for trial in json.loads(one.out)["trials"]] for one in (together, alone))
    assert first == second
    for wrong in ("--refit", "--processes=2"):
        refused = run("tune", *files, "--workers", 2, *options, wrong)
        assert refused.code == 2, wrong
        assert wrong.partition("=")[0] in refused.err


@pytest.mark.parametrize("started", [False, pytest.param(True, marks=pytest.mark.soak)])  # processes take their time
def test_clusters_themselves(started: bool, run: Any, client: Any, files: list[Path], tmp_path: Path) -> None:
    """Without a stand-in: a scheduler that is there, and workers that are started."""
    rf.Dataset.concat([rf.read(path) for path in files]).write(tmp_path / "whole.parquet")
    cluster = ("--workers", 2) if started else ("--cluster", client.scheduler.address)
    options = ("--trees", 2, "--leaves", 3, "--quiet")
    with within(900):
        together = run("train", *files, "--out", tmp_path / "together.json", *cluster, *options)
        alone = run("train", tmp_path / "whole.parquet", "--out", tmp_path / "alone.json", *options)
    assert together.code == alone.code == 0, together.err + alone.err
    assert (tmp_path / "together.json").read_bytes() == (tmp_path / "alone.json").read_bytes()
    assert len(client.scheduler_info(n_workers=-1)["workers"]) == 2  # it goes on without the command


def test_refusals_without_a_cluster(run: Any, files: list[Path], tmp_path: Path) -> None:
    out = ("--out", tmp_path / "model.json", "--quiet")
    for wanted, options in (
        ("give one of them", ("--workers", 2, "--cluster", "tcp://nowhere:1")),
        ("--workers must be a positive whole number", ("--workers", 0)),
        ("name the certificates in Dask's configuration", ("--cluster", "tls://127.0.0.1:9")),
        ("there is no scheduler", ("--cluster", "nonsense://127.0.0.1:9")),
    ):
        refused = run("train", *files, *out, *options)
        assert refused.code == 2, options
        assert wanted in refused.err
    assert not (tmp_path / "model.json").exists()
