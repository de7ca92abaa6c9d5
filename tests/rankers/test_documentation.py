"""The examples of docs/rankers.md run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

import rankforce as rf

PAGE = (Path(__file__).parents[2] / "docs" / "rankers.md").read_text(encoding="utf-8")


def test_the_examples_of_the_page():
    names: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(compile(code, "rankers.md", "exec"), names)
    test = names["test"]
    assert isinstance(test, rf.Dataset)
    assert len(np.asarray(names["scores"])) == len(test)
    for ranker in ("ranker", "own", "judged", "both"):
        value = rf.evaluate(names[ranker], test, ["NDCG"]).mean["NDCG"]
        assert value > rf.evaluate(np.zeros(len(test)), test, ["NDCG"], ties="expected").mean["NDCG"] + 0.05


def test_every_setting_of_the_page_exists():
    table = PAGE.partition("## Settings that trees share")[2]
    named = {name for row in re.findall(r"^\| (`.*?) \|", table, flags=re.M) for name in re.findall(r"`(\w+)`", row)}
    assert len(named) > 15
    for ranker in (rf.LambdaMART, rf.MART):
        assert named <= set(ranker().get_params())
