"""The code in the guides runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
GUIDES = (
    "nets.md",
    "tuning.md",
    "migration.md",
    "clicks.md",
    "optimality.md",
    "xrank.md",
    "combining.md",
    "lambdas.md",
    "objectives.md",
)


@pytest.mark.compiled_only
@pytest.mark.parametrize("name", GUIDES)
def test_the_code_of_a_guide_runs(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / name).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, name, "exec"), names)
