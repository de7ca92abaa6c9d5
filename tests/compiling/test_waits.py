"""What a user who waits for the compiler is told: what for, and about how long."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import pytest

import rankforce.kernels
from rankforce.compiling import cache, waits
from rankforce.compiling.cache_folders import Folders
from rankforce.compiling.jit import KERNELS


def test_kernels_that_are_named_are_there() -> None:
    for module in pkgutil.walk_packages(rankforce.kernels.__path__, "rankforce.kernels."):
        importlib.import_module(module.name)
    known = {f"{kernel.py_func.__module__.rpartition('.')[2]}.{kernel.name}" for kernel in KERNELS}
    named = [kernel for purpose in waits.PURPOSES for kernel in purpose.kernels]
    assert set(named) <= known
    assert len(named) == len(set(named)), "a kernel has one purpose"


def test_seconds_are_those_of_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "SPEED", waits.CompilerSpeed())
    purpose = waits.Purpose("it", {"a.one": 2.0, "a.two": 3.0})
    assert waits.seconds_for(purpose, [tmp_path], "v") == 5.0
    (tmp_path / "a.one-12.w.0.nbc").touch()
    assert waits.seconds_for(purpose, [tmp_path], "v") == 5.0, "of other sources"
    (tmp_path / "a.one-12.v.0.nbc").touch()
    assert waits.seconds_for(purpose, [tmp_path / "none", tmp_path], "v") == 3.0


@pytest.mark.parametrize(("processors", "seconds"), [(1, 13.0), (2, 8.0)])
def test_a_second_processor_compiles_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processors: int, seconds: float
) -> None:
    monkeypatch.setattr(waits, "SPEED", waits.CompilerSpeed())
    monkeypatch.setattr(waits, "usable_processors", lambda: processors)
    purpose = waits.Purpose("it", {"a.one": 5.0}, meanwhile={"a.big": 8.0, "a.other": 7.0})
    assert waits.seconds_for(purpose, [tmp_path], "v") == seconds
    (tmp_path / "a.other-1.v.0.nbc").touch()
    assert waits.seconds_for(purpose, [tmp_path], "v") == 5.0, "a training needs one of them"


def test_a_slow_machine_is_told_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    speed = waits.CompilerSpeed()
    monkeypatch.setattr(waits, "SPEED", speed)
    table = waits.purpose_of("letor.parse_lines")
    assert table is not None
    speed.learn("somebody.else", 100.0)
    assert speed.factor == 1.0
    speed.learn("letor.parse_lines", 3.0 * table.kernels["letor.parse_lines"])
    assert speed.factor == pytest.approx(3.0)


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("_said", "_announced"):
        monkeypatch.setattr(cache, name, set())
    monkeypatch.setattr(waits, "SPEED", waits.CompilerSpeed())
    monkeypatch.delenv("RANKFORCE_QUIET", raising=False)
    monkeypatch.setattr(cache, "kernel_folders", lambda: Folders((tmp_path,), tmp_path, (), ()))
    return tmp_path


def test_every_purpose_is_said_once(fresh: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kernel in ("letor.count_lines", "letor.parse_lines", "sweep.sweep_queries", "edges.pair_edges"):
        cache.announce_compilation(kernel)
    assert capsys.readouterr().err.splitlines() == [
        "rankforce: compiling kernels for reading text, once: about 3 s ...",
        "rankforce: compiling kernels that are not yet in the cache, once ...",
    ]


def test_where_nothing_can_be_kept_that_is_said_once(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = "/tmp/rankforce-0 belongs to another user"
    monkeypatch.setattr(cache, "kernel_folders", lambda: Folders((), None, (hostile,), (Path("/usr"),)))
    for kernel in ("letor.count_lines", "values.query_values"):
        cache.announce_compilation(kernel)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert hostile in said[0]
    assert "in memory: none of the folders for them can be written (/usr); every process compiles again" in said[1]
