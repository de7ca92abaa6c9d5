"""Schedules by hand-written arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankforce as rf
from rankforce.schedules import Values, as_schedule


def test_linear():
    schedule = rf.schedules.Linear(0.1, 0.25)
    assert [schedule(m) for m in range(5)] == pytest.approx([0.1, 0.35, 0.6, 0.85, 1.0])
    assert rf.schedules.Linear(0.5, -0.2)(4) == 0.0


def test_exponential():
    schedule = rf.schedules.Exponential(0.1, 2.0)
    first = 0.1 + math.exp(-2.0)
    assert [schedule(m) for m in range(4)] == pytest.approx([0.1, first, first + math.exp(-1.0), 1.0])
    slow = rf.schedules.Exponential(0.1, 100.0)
    wanted = 0.1 + sum(math.exp(-100.0 / m) for m in range(1, 31))
    assert slow(30) == pytest.approx(wanted)
    assert slow(1000) == 1.0


def test_any_function_is_kept_by_its_values():
    objective = rf.Scheduled("NDCG", "NDCG@3", lambda m: np.float32(0.5 * (m % 2)))
    assert [objective.shares(m) for m in range(2)] == [(1.0, 0.0), (0.5, 0.5)]
    settled = objective.settled(4)
    assert settled.schedule == Values((0.0, 0.5, 0.0, 0.5))
    assert settled.written()["schedule"] == {"kind": "values", "values": [0.0, 0.5, 0.0, 0.5]}
    assert settled.shares(100) == (0.5, 0.5)  # the last value serves for what comes after


@pytest.mark.parametrize(
    "schedule", [rf.schedules.Linear(0.1, 0.01), rf.schedules.Exponential(0.25, 100.0), Values((0.0, 1.0))]
)
def test_the_written_form_is_read_back(schedule):
    assert as_schedule(schedule.written()) == schedule


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: rf.schedules.Linear(1.5, 0.1), "from 0 to 1"),
        (lambda: rf.schedules.Linear(0.5, math.nan), "rate"),
        *(
            (lambda rate=rate: rf.schedules.Linear(0.1, rate), "rate of a schedule")
            for rate in ("a", None, True, 10**400)
        ),
        *(
            (lambda rate=rate: rf.schedules.Exponential(0.1, rate), "at least 0")
            for rate in ("a", None, True, math.inf)
        ),
        (lambda: rf.schedules.Linear("a", 0.1), "from 0 to 1"),
        (lambda: rf.schedules.Linear(10**400, 0.1), "from 0 to 1"),
        (lambda: as_schedule({"values": 3}), "list of shares"),
        (lambda: as_schedule({"values": "ab"}), "list of shares"),
        (lambda: as_schedule(np.array(0.5)), "list of shares"),
        (lambda: rf.schedules.Exponential(0.5, -1.0), "at least 0"),
        (lambda: as_schedule([0.1, 1.1]), "not 1.1 in iteration 1"),
        (lambda: as_schedule([]), "at least one"),
        (lambda: as_schedule(0.5), "a schedule is"),
        (lambda: as_schedule("linear"), "a schedule is"),
        (lambda: as_schedule({"kind": "linear", "start": 0.1}), "with start and rate"),
        (lambda: as_schedule({"kind": "linear", "start": 0.1, "rate": "fast"}), "numbers"),
        (lambda: rf.Scheduled("NDCG", "MAP", lambda m: 2.0 * m).settled(3), "not 2.0 in iteration 1"),
        (lambda: rf.Scheduled("NDCG", "MAP", lambda m: None).settled(3), "not None in iteration 0"),
        (
            lambda: rf.Scheduled("NDCG", rf.lambdas.SigmoidCost(), [0.5]),
            r'rf\.Term\("NDCG", rf\.lambdas\.SigmoidCost\(\)\)',
        ),
        (lambda: rf.Graded(["NDCG", rf.lambdas.Step()]), r"rf\.Term\(measure, lambda_function\)"),
    ],
)
def test_impossible_schedules_are_refused(make, words):
    with pytest.raises(rf.SettingsError, match=words):
        make()
