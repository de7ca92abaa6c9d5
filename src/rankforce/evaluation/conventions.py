"""How other tools compute the measures they share names with: one table, so that our number is the tool's number.

A convention fixes everything: parameters of the measure, ties, blank queries, query weights and oddities. Measures
that the tool does not have are refused. Each row is held by a test against the tool itself (``tests/agreement``),
those of RankLib and of the LETOR and MSLR scripts by a test against a port of what they do.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping
from typing import Any, Literal

import numpy as np

from rankforce.data.dataset_columns import MAIN_LABEL
from rankforce.errors import MeasureError, SettingsError
from rankforce.evaluation.ties import BY_DOCUMENT_ID
from rankforce.kinds import shown
from rankforce.measures.catalogue import measure_classes
from rankforce.measures.measure import Measure
from rankforce.remedies import NAME_ALONE, Argument


@dataclasses.dataclass(frozen=True)
class Rule:
    """How a tool computes one measure."""

    blank: Literal["skip", "zero", "one"]
    fixed: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # parameters of the measure
    # Parameters that the user may choose, and among what (None: anything): the tool has an option for them.
    free: Mapping[str, tuple[Any, ...] | None] = dataclasses.field(default_factory=dict)
    cutoff: Literal["any", "needed", "none"] = "any"
    short_list_is_zero: bool = False  # a list shorter than the cut-off scores 0
    binary_labels: bool = False  # the tool refuses labels other than 0 and 1
    whole_labels: bool = False  # the tool cuts labels to whole numbers
    ignores_weights: bool = False  # though the tool has query weights
    blank_weighs_one: bool = False  # a blank query adds its value once, whatever its weight, but divides by its weight


@dataclasses.dataclass(frozen=True)
class Convention:
    """How a tool ranks and averages, and the measures it has."""

    name: str
    tool: str
    ties: str
    rules: Mapping[str, Rule]  # by the name of a measure of this package
    single_precision: bool = False  # scores are compared as float32
    query_weights: bool = False  # the tool has them

    def rule(self, measure: Measure) -> Rule:
        """The row of a measure, or an error that says which measures the tool has.

        A user's class is none of them, whatever its name: its formula is not the tool's.
        """
        name = type(measure).__name__
        ours = measure_classes().get(name) is type(measure)
        if name not in self.rules or not ours:
            own = "" if ours or name not in measure_classes() else f", a class of your own and not rf.{name}"
            raise SettingsError(
                f"convention {self.name!r} does not say how {self.tool} computes {measure}{own} "
                f"(it has: {', '.join(self.rules)}); leave the convention out, or give ",
                Argument("ties", NAME_ALONE),
                " and ",
                Argument("blank", NAME_ALONE),
                " instead",
            )
        rule = self.rules[name]
        if rule.cutoff == "needed" and measure.cut is None:
            raise SettingsError(f"convention {self.name!r}: {self.tool} has {name} with a cut-off only, as {name}@10")
        if rule.cutoff == "none" and measure.cut is not None:
            raise SettingsError(f"convention {self.name!r}: {self.tool} has {name} without a cut-off only")
        return rule

    def applied(self, measure: Measure, spelt_out: Collection[str] = ()) -> Measure:
        """The measure with the parameters that this convention fixes.

        A parameter is asked for if it is not the measure's default, or stands in its written form (``spelt_out``).
        """
        rule = self.rule(measure)
        changes = dict(rule.fixed)
        for field in dataclasses.fields(measure):
            name, value = field.name, getattr(measure, field.name)
            is_asked = value != field.default or name in spelt_out
            if not field.init or name in ("cutoff", "label") or not is_asked:
                continue
            if name in rule.free and ((options := rule.free[name]) is None or value in options):
                changes[name] = value
            elif value != changes.get(name, field.default):
                raise SettingsError(
                    f"convention {self.name!r} fixes {name} of {type(measure).__name__}, and {measure} asks for "
                    f"{name}={value}; leave the parameter or the convention out"
                )
        if measure.label != MAIN_LABEL:
            changes["judged_only"] = False  # these tools know no unlabelled documents but not relevant ones
        return dataclasses.replace(measure, **changes)

    def check_labels(self, measure: Measure, labels: np.ndarray) -> None:
        """Raise where the tool would."""
        if self.rule(measure).whole_labels:
            broken = labels[(labels != np.floor(labels)) & ~np.isnan(labels)]
            if len(broken):
                raise MeasureError(
                    f"convention {self.name!r}: {self.tool} reads labels as whole numbers, and a label is "
                    f"{broken[0]:g}; make a label source of whole grades first"
                )
        if self.rule(measure).binary_labels:
            other = labels[(labels != 0.0) & (labels != 1.0) & ~np.isnan(labels)]
            if len(other):
                raise MeasureError(
                    f"convention {self.name!r}: {self.tool} computes {measure} from labels 0 and 1 only, "
                    f"and a label is {other[0]:g}; make a binary label source first"
                )


ABOVE_HALF = math.nextafter(0.5, 1.0)  # relevant means label > 0.5

_LINEAR = {"gain": "linear"}
_RELEVANT: dict[str, Any] = {"relevant": None}
_GAIN: dict[str, Any] = {"gain": None}
_CATBOOST_OPTIONS: dict[str, Any] = {"gain": ("linear", "exponential"), "discount": None}

_TREC = Convention(
    name="trec",
    tool="trec_eval",
    ties=BY_DOCUMENT_ID,
    single_precision=True,
    rules={
        "NDCG": Rule("zero", _LINEAR, free=_GAIN),
        "MAP": Rule("zero", free=_RELEVANT),
        "MRR": Rule("zero", free=_RELEVANT, cutoff="none"),
        "Precision": Rule("zero", free=_RELEVANT, cutoff="needed"),
        "Recall": Rule("zero", free=_RELEVANT, cutoff="needed"),
        "RPrecision": Rule("zero", free=_RELEVANT),
        "BPref": Rule("zero", free=_RELEVANT),
        "Success": Rule("zero", free=_RELEVANT, cutoff="needed"),
    },
)

_GDEVAL = Convention(
    name="gdeval",
    tool="gdeval.pl",
    ties=BY_DOCUMENT_ID,
    rules={
        "NDCG": Rule("skip", cutoff="needed"),
        "ERR": Rule("skip", {"max_grade": 4.0}, cutoff="needed"),
    },
)


def _letor_script(name: str, tool: str, gain: tuple[float, ...], relevant: float) -> Convention:
    return Convention(
        name=name,
        tool=tool,
        ties="stable",
        rules={
            "NDCG": Rule("zero", {"gain": gain, "discount": "letor"}, cutoff="needed", short_list_is_zero=True),
            "MAP": Rule("zero", {"relevant": relevant}, cutoff="none"),
            "Precision": Rule("zero", {"relevant": relevant}, cutoff="needed"),
        },
    )


_LIGHTGBM = Convention(
    name="lightgbm",
    tool="LightGBM",
    ties="stable",
    query_weights=True,
    rules={
        "NDCG": Rule("one", free=_GAIN, cutoff="needed", blank_weighs_one=True),
        "MAP": Rule("one", {"relevant": ABOVE_HALF, "divisor": "cutoff"}, cutoff="needed"),
    },
)


def _xgboost(name: str, blank: Literal["zero", "one"]) -> Convention:
    return Convention(
        name=name,
        tool="XGBoost",
        ties="stable",
        single_precision=True,
        query_weights=True,
        rules={
            "NDCG": Rule(blank, free=_GAIN, blank_weighs_one=True),
            "MAP": Rule(blank, {"divisor": "cutoff"}, binary_labels=True),
            "Precision": Rule("zero", {"divisor": "list"}, cutoff="needed", binary_labels=True),
        },
    )


_SKLEARN = Convention(
    name="sklearn",
    tool="scikit-learn",
    ties="expected",
    rules={"NDCG": Rule("zero", _LINEAR), "DCG": Rule("zero", _LINEAR)},
)

_CATBOOST = Convention(
    name="catboost",
    tool="CatBoost",
    ties="pessimistic",
    query_weights=True,
    rules={
        "NDCG": Rule("one", _LINEAR, free=_CATBOOST_OPTIONS),
        "DCG": Rule("zero", _LINEAR, free=_CATBOOST_OPTIONS),
        "MAP": Rule("zero", {"relevant": ABOVE_HALF, "divisor": "cutoff"}, ignores_weights=True),
        "MRR": Rule("zero", {"relevant": ABOVE_HALF}),
        "Precision": Rule("zero", {"relevant": ABOVE_HALF, "divisor": "list"}, cutoff="needed", ignores_weights=True),
        "Recall": Rule("one", {"relevant": ABOVE_HALF}, cutoff="needed", ignores_weights=True),
    },
)

_RANKLIB = Convention(
    name="ranklib",
    tool="RankLib",
    ties="stable",
    rules={
        "NDCG": Rule("zero", cutoff="needed", whole_labels=True),
        "DCG": Rule("zero", cutoff="needed", whole_labels=True),
        "ERR": Rule("zero", {"max_grade": 4.0}, cutoff="needed", whole_labels=True),
        "MAP": Rule("zero", cutoff="none", whole_labels=True),
        "MRR": Rule("zero", cutoff="needed", whole_labels=True),
        "Precision": Rule("zero", {"divisor": "list"}, cutoff="needed", whole_labels=True),
    },
)

CONVENTIONS: dict[str, Convention] = {
    convention.name: convention
    for convention in (
        _TREC,
        _letor_script("letor4", "the LETOR 4.0 script", gain=(0.0, 1.0, 3.0), relevant=1.0),
        _letor_script("mslr", "the MSLR script", gain=(0.0, 1.0, 3.0, 7.0, 15.0), relevant=2.0),
        _GDEVAL,
        _LIGHTGBM,
        _xgboost("xgboost", "one"),
        _xgboost("xgboost-", "zero"),
        _SKLEARN,
        _CATBOOST,
        _RANKLIB,
    )
}


def convention_named(name: str) -> Convention:
    """A convention, or an error that says which there are."""
    if not isinstance(name, str) or name not in CONVENTIONS:
        raise SettingsError(f"unknown convention {shown(name)}: one of {', '.join(CONVENTIONS)}")
    return CONVENTIONS[name]
