"""Kinds of values: what they hold, and what they read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest

import rankforce as rf
from rankforce import text_values
from rankforce.kinds import (
    MOST,
    Anything,
    Choice,
    Either,
    Number,
    OrNone,
    Several,
    Switch,
    Text,
    Understood,
    Whole,
    check_number,
    kind_of,
    shown,
)

RATE = Either((Number(0.0, above=True), Several(Number(0.0, above=True)), Choice(("auto",))))


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Switch(), "false", False),
        (Switch(), " True ", True),
        (Whole(1), "12", 12),
        (Whole(1), "'12'", 12),
        (Number(), "1e-3", 1e-3),
        (Number(), "3", 3),
        (OrNone(Whole(1)), "none", None),
        (OrNone(Whole(1)), "None", None),
        (OrNone(Whole(1)), "5", 5),
        (OrNone(Choice(("none", "log"))), "none", "none"),
        (Choice(("2006", "2009")), "2006", "2006"),
        (Text(), "2024", "2024"),
        (Text(), "'a b'", "a b"),
        (Text(), r"\t", "\t"),
        (Text(), " ", " "),
        (Several(Text()), "1,b c", ["1", "b c"]),
        (Several(Number()), "[1, 0.5]", [1, 0.5]),
        (RATE, "0.1", 0.1),
        (RATE, "0.1,0.2", [0.1, 0.2]),
        (RATE, "auto", "auto"),
        (Understood(rf.measure), "NDCG@5", "NDCG@5"),
        (Anything(), '{"a": 1}', {"a": 1}),
        (Anything(), "junk", "junk"),
    ],
)
def test_what_a_text_says(kind, text, value):
    read = kind.read_checked(text, "name", f"--set name={text}")
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (Switch(), "1", "--set x=1: x must be True or False, not '1'"),
        (Whole(1), "1.5", "--set x=1.5: x must be a whole number of at least 1, not 1.5"),
        (Whole(1), "0", "--set x=0: x must be a whole number of at least 1, not 0"),
        (Whole(2, 255), "256", "--set x=256: x must be a whole number of at least 2 and at most 255, not 256"),
        (Number(0.0, 1.0, above=True), "nan", "x must be a number above 0 and at most 1, not 'nan'"),
        (OrNone(Whole(1)), "ten", "x must be a whole number of at least 1 or None, not 'ten'"),
        (Choice(("a", "b")), "c", "--set x=c: x must be one of 'a', 'b', not 'c'"),
        (
            RATE,
            "0.1,fast",
            "x must be a number above 0, a list in which everything is a number above 0 or 'auto'",
        ),
        (OrNone(Understood(rf.measure)), "NDGC", "--set x=NDGC: unknown measure 'NDGC'; did you mean"),
    ],
)
def test_what_a_text_does_not_say(kind, text, message):
    with pytest.raises(rf.SettingsError) as caught:
        kind.read_checked(text, "x", f"--set x={text}")
    assert message in str(caught.value)


@pytest.mark.parametrize("value", [True, np.True_, "3", 3.0, None, np.nan, 10**400, [3], np.array(3), 3 + 0j])
def test_no_whole_number(value):
    with pytest.raises(rf.SettingsError, match="x must be a whole number of at least 0"):
        Whole(0).check("x", value)


@pytest.mark.parametrize("value", [0, 7, np.int8(3), np.uint64(5), MOST])
def test_whole_numbers(value):
    Whole(0).check("x", value)
    check_number("x", value, 0, whole=True)


@pytest.mark.parametrize("value", [np.array(["a"]), ["a"], {"a"}, 1, None, float("nan")])
def test_no_word(value):
    with pytest.raises(rf.SettingsError, match="x must be one of 'a', 'b', not"):
        Choice(("a", "b")).check("x", value)


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        (bool, Switch()),
        (int | None, OrNone(Whole(-MOST))),
        (float, Number()),
        (Literal["a", "b"], Choice(("a", "b"))),
        (Literal["a"] | None, OrNone(Choice(("a",)))),
        (str | bool, Either((Switch(), Text()))),
        (Sequence[str] | None, OrNone(Several(Text()))),
        (dict[str, str], Anything()),
    ],
)
def test_kinds_of_annotations(annotation, kind):
    assert kind_of(annotation) == kind


def test_what_cannot_be_shown_is_named():
    assert shown(10**5000) == "a value of the type int"
    assert len(shown("x" * 1000)) == 100
    assert "\n" not in shown(np.zeros((3, 3)))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("None", None),
        ("3", 3),
        ("0.5", 0.5),
        ("[1, 2]", [1, 2]),
        ("nan", "nan"),
        ("a b", "a b"),
        ("", ""),
    ],
)
def test_values_of_no_declared_kind(text, value):
    assert text_values.plain_value(text) == value


def test_parts_respect_brackets():
    assert text_values.parts('ERR@10(max_grade=4,label=x),{"a": 1, "b": 2},c') == [
        "ERR@10(max_grade=4,label=x)",
        '{"a": 1, "b": 2}',
        "c",
    ]
