"""The examples of the README are run as they stand there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import rankforce as rf
from rankforce.cli.application import build

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.parametrize("code", blocks("python"), ids=["evaluate", "own_measure"])
def test_python_examples(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})


def test_shell_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("rankforce ")]
    assert len(lines) >= 8
    for line in lines:
        with pytest.raises(SystemExit) as stopped:
            build()(shlex.split(line)[1:], prog_name="rankforce")
        # a comparison with --require may answer no; every other line succeeds
        assert stopped.value.code in ((0, 1) if "--require" in line else (0,)), line


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if "://" not in target:
            assert (Path(__file__).parents[1] / target).exists(), target


@pytest.mark.parametrize("name", ["README.md", "docs/defaults.md"])
def test_running_text_is_wrapped(name: str) -> None:
    text = (Path(__file__).parents[1] / name).read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL).splitlines()
    assert [line for line in prose if len(line) > 120 and not line.lstrip().startswith("|")] == []


def test_the_gain_that_is_shown_is_over_the_best_single_feature(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "readme"}
    exec(compile(blocks("python")[0], "README.md", "exec"), names)
    alone = {
        name: rf.evaluate(name, names["train"], "NDCG@10").mean["NDCG@10"] for name in names["train"].feature_names
    }
    assert f'rf.compare("{max(alone, key=alone.__getitem__)}", trees' in README
    data = rf.make_artificial(queries=200, documents=30, features=10)  # as the shell example generates it
    alone = {name: rf.evaluate(name, data, "NDCG@10").mean["NDCG@10"] for name in data.feature_names}
    assert f"feature:{max(alone, key=alone.__getitem__)} trees.json" in README
