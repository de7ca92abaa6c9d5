"""Measures of all rankings, the comparison with the baselines, and both by segments of the queries."""

from __future__ import annotations

import dataclasses
from typing import Any

from rankforce.displayed_text import displayed
from rankforce.evaluation.compare import compare
from rankforce.evaluation.comparison import Comparison
from rankforce.evaluation.result import Evaluation
from rankforce.reporting.given import ReportedModel
from rankforce.reporting.parts import AbsentPart, ReportPart

UNLABELLED = "the data has no labels: nothing can be measured"
NO_BASELINE = "no baseline was given to compare with"


@dataclasses.dataclass(frozen=True)
class MeasuredRankings(ReportPart):
    """Means with intervals, and what decides them: ``Evaluation.to_dict`` of every ranking."""

    measures: list[str]
    level: float
    rankings: dict[str, dict[str, Any]]
    conventions: list[str]

    @classmethod
    def of(cls, given: ReportedModel) -> MeasuredRankings | AbsentPart:
        if not given.evaluations:
            return AbsentPart(UNLABELLED)
        own = given.evaluation
        rankings = {name: one.to_dict()["measures"] for name, one in given.evaluations.items()}
        return cls(list(own.measures), own.level, rankings, own._notes)


@dataclasses.dataclass(frozen=True)
class ComparedRankings(ReportPart):
    """The model against every baseline: ``Comparison.to_dict``; of several, also all pairs."""

    baselines: dict[str, dict[str, Any]]
    notes: list[str]
    pairs: list[dict[str, Any]]  # of a leaderboard; empty for one baseline

    @classmethod
    def of(cls, given: ReportedModel) -> ComparedRankings | AbsentPart:
        if not given.baselines:
            return AbsentPart(NO_BASELINE)
        if not given.evaluations:
            return AbsentPart(UNLABELLED)
        baselines = {name: one.to_dict() for name, one in given.comparisons.items()}
        pairs = compare(given.evaluations).to_dict()["pairs"] if len(baselines) > 1 else []
        first = next(iter(given.comparisons.values()))
        undefined = [
            f"against {displayed(name)}, {sentence}"
            for name, one in given.comparisons.items()
            for sentence in one._undefined_tests()
        ]
        return cls(baselines, [*first._notes[:1], *undefined], pairs)


@dataclasses.dataclass(frozen=True)
class MeasuredSegments(ReportPart):
    """By segment: queries, means with intervals of every ranking, and the differences from the baselines."""

    segments: list[dict[str, Any]]

    @classmethod
    def of(cls, given: ReportedModel) -> MeasuredSegments | AbsentPart:
        if given.options.segments is None:
            return AbsentPart("no segments of the queries were given")
        if not given.evaluations:
            return AbsentPart(UNLABELLED)
        return cls([_segment(given, name, part) for name, part in given.by_segment[given.name].by_segment.items()])


def _segment(given: ReportedModel, name: Any, part: Evaluation) -> dict[str, Any]:
    evaluations = {title: one.by_segment[name] for title, one in given.by_segment.items()}
    compared = {title: compare(evaluations[title], part, names=(title, given.name)) for title in given.baselines}
    return {
        "segment": str(name),
        "queries": part.n_queries,
        "rankings": {title: one.to_dict()["measures"] for title, one in evaluations.items()},
        "differences": {title: _differences(one) for title, one in compared.items()},
    }


def _differences(one: Comparison) -> dict[str, Any]:
    return {
        measure: {
            "difference": one.difference[measure],
            "interval": list(one.interval[measure]),
            "t_test_p": one.t_test[measure].p_value,
            "p": one.p_value[measure],
            **dataclasses.asdict(one.counts[measure]),
        }
        for measure in one.measures
    }
