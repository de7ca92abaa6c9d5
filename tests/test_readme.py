"""The examples of the README are run as they stand there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import rankforce as rf
from rankforce.cli.application import build

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def assert_alike(printed: str, shown: str) -> None:
    """The same words, and numbers that are near: on another processor sums differ in their last bit."""
    number = r"\d+\.\d+"
    assert re.sub(number, "0", printed) == re.sub(number, "0", shown)
    found, expected = (np.array(re.findall(number, text), dtype=float) for text in (printed, shown))
    np.testing.assert_allclose(found, expected, atol=0.005)


def test_it_fits_on_a_screen() -> None:
    assert len(README.splitlines()) <= 80
    assert 3 <= README.count("\n- **") <= 6, "reasons"
    assert len(re.findall(r"^\| (?!what|-)", README, flags=re.MULTILINE)) == 5, "rows of benchmarks"
    assert README.count("![") == 1
    assert [len(blocks(kind)) for kind in ("python", "text", "sh")] == [1, 2, 2]
    assert len([line for line in blocks("python")[0].splitlines() if line]) <= 6


def test_what_python_prints_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(blocks("python")[0], "README.md", "exec"), {"__name__": "readme"})
    assert_alike(capsys.readouterr().out, blocks("text")[0])


def test_shell_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("rankforce ")]
    assert len(lines) == 4
    for line in lines:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            build()(shlex.split(line)[1:], prog_name="rankforce")
        assert stopped.value.code == 0, line
    shown = blocks("text")[1].splitlines(keepends=True)
    assert_alike("".join(capsys.readouterr().out.splitlines(keepends=True)[: len(shown)]), "".join(shown))


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if "://" not in target:
            assert (Path(__file__).parents[1] / target).exists(), target


@pytest.mark.parametrize("name", ["README.md", "docs/defaults.md"])
def test_running_text_is_wrapped(name: str) -> None:
    text = (Path(__file__).parents[1] / name).read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL).splitlines()
    assert [line for line in prose if len(line) > 120 and not line.lstrip().startswith("|")] == []


def test_the_gain_that_is_shown_is_over_the_best_single_feature() -> None:
    data = rf.make_artificial(queries=400, documents=30, features=10)  # as the shell example generates it
    train, _, test = data.split(0.6, 0.2, 0.2)
    for part in (train, test):  # found where one may look for it, and no better one is hidden where it is compared
        alone = {name: rf.evaluate(name, part, "NDCG@10").mean["NDCG@10"] for name in part.feature_names}
        assert f"feature:{max(alone, key=alone.__getitem__)} trees.json" in README
