"""Junk in every argument of every public callable: a result or a RankforceError, never anything else."""

from __future__ import annotations

import math
import os

import pytest
from tests.junk import all_targets, failures, junk, public_callables

import rankforce as rf

FACTOR = float(os.environ.get("RANKFORCE_SOAK", "1"))


@pytest.mark.soak
def test_every_argument_of_every_public_callable(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    count, wrong = 0, []
    for number in range(math.ceil(FACTOR)):
        data = rf.make_artificial(queries=6, documents=(6, 8), features=4, clicks=True, seed=number)
        targets = all_targets(data, tmp_path)
        tried = {target.name.partition(" ")[0].partition(".")[0] for target in targets}
        assert public_callables() <= tried, f"say in tests/junk.py how to call {public_callables() - tried}"
        calls, foreign = failures(targets, junk(data), sample=FACTOR - number, seed=number)
        count, wrong = count + calls, wrong + foreign
    with capsys.disabled():
        print(f"\n{count:,} calls with junk, {len(wrong)} foreign exceptions")
    assert not wrong, "\n".join(map(str, wrong))
