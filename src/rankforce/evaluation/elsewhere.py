"""What other tools would say of the same ranking: their means where these are other numbers, and why they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rankforce.console import tables
from rankforce.displayed_text import displayed

MOST_NAMED = 3  # of so many rankings the means are said one by one; of more, that they differ
ASKED = ("trec", "lightgbm", "xgboost", "ranklib")  # conventions whose numbers papers and dashboards quote


class MeanElsewhere(NamedTuple):
    """The mean of a measure under the convention of a tool, and what makes it another number."""

    convention: str
    mean: float
    reasons: tuple[str, ...]


def reasons(
    here: Mapping[str, str],
    there: Mapping[str, str],
    *,
    blank: tuple[str, str] | None,
    ties: tuple[str, str] | None,
    worth: bool,
    weights: tuple[bool, bool],
) -> tuple[str, ...]:
    """What differs, in words.

    here, there : the settings of the measure
    blank, ties : the policies here and there; None where no query is blank, or no two scores are equal
    worth : whether a label is worth something else there
    weights : whether queries are weighed, here and there
    """
    words = [
        f"{name} {value}"
        for name, value in there.items()
        if here.get(name) != value and (worth or name not in ("gain", "relevant", "max_grade"))
    ]
    if blank is not None and blank[0] != blank[1]:
        words.append("blank queries " + {"skip": "left out", "zero": "0", "one": "1"}.get(blank[1], blank[1]))
    if ties is not None and ties[0] != ties[1]:
        words.append("ties " + {"document ids": "by document id", "stable": "in row order"}.get(ties[1], ties[1]))
    if weights[0] and not weights[1]:
        words.append("no query weights")
    return tuple(words) or ("scores in single precision",)


def sentences(of_rankings: Mapping[str, Mapping[str, Sequence[MeanElsewhere]]]) -> list[str]:
    """A line per measure: what other conventions would give.

    of_rankings : by the name of a ranking ("" if it is the only one), by measure: means elsewhere
    """
    lines = []
    for measure in next(iter(of_rankings.values()), {}):
        conventions: dict[str, tuple[str, ...]] = {}  # with the first reasons found, in the order of the table
        for means in of_rankings.values():
            conventions |= {one.convention: one.reasons for one in means[measure] if one.convention not in conventions}
        values = {convention: _values(of_rankings, measure, convention) for convention in conventions}
        groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for convention, why in conventions.items():
            groups.setdefault((values[convention], why), []).append(convention)
        parts = [f"{value} by {' and '.join(names)} ({', '.join(why)})" for (value, why), names in groups.items()]
        if parts:
            lines.append(f"elsewhere: {measure} is {'; '.join(parts)}")
    return lines


def _values(of_rankings: Mapping[str, Mapping[str, Sequence[MeanElsewhere]]], measure: str, convention: str) -> str:
    """The means of all rankings; a ranking for which the convention gives the same number is left out."""
    found = {
        ranking: one.mean
        for ranking, means in of_rankings.items()
        for one in means[measure]
        if one.convention == convention
    }
    if len(of_rankings) > MOST_NAMED:
        return "another number" if len(found) == len(of_rankings) else f"another number for {len(found)} rankings"
    return ", ".join(tables.number(mean) + (f" for {displayed(name)}" if name else "") for name, mean in found.items())
