"""The code in the guides runs."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
ALONE = ("evaluation.md",)  # every block brings what it needs
GUIDES = (
    "nets.md",
    "tuning.md",
    "migration.md",
    "clicks.md",
    "large_data.md",
    "cluster.md",
    "off_policy.md",
    "unbiased.md",
    "feature_logs.md",
    "columns.md",
    "categories.md",
    "tutorial.md",
    "optimality.md",
    "xrank.md",
    "combining.md",
    "lambdas.md",
    "objectives.md",
    "export.md",
    "explaining.md",
    "drift.md",
    "plots.md",
)


def blocks_of(name):
    return re.findall(r"```python\n(.*?)```", (DOCS / name).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.compiled_only
@pytest.mark.parametrize("name", GUIDES)
def test_the_code_of_a_guide_runs(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of(name)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, name, "exec"), names)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")  # it warns of many that stay open


@pytest.mark.compiled_only
@pytest.mark.parametrize("name", ALONE)
def test_every_block_of_these_pages_runs_alone(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of(name)
    assert blocks
    for block in blocks:
        exec(compile(block, name, "exec"), {"__name__": name})


def test_every_page_with_code_is_run():
    elsewhere = {"measures.md", "rankers.md", "serving.md"}  # tests/measures, tests/rankers, tests/serving
    with_code = {path.name for path in DOCS.glob("*.md") if blocks_of(path.name)}
    assert with_code == {*ALONE, *GUIDES, *elsewhere}
