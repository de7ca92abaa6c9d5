"""Do the methods of a measure agree? What its swaps and its expected value say, against its ``value``."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from rankforce.compiling.kernel_values import NO_CUTOFF
from rankforce.console.wording import counted
from rankforce.data.dataset import Dataset
from rankforce.data.dataset_columns import MAIN_LABEL
from rankforce.errors import DataError
from rankforce.kinds import shown
from rankforce.measures.catalogue import measure as read_measure
from rankforce.measures.judged import JudgedMeasure
from rankforce.measures.measure import Measure
from rankforce.measures.method_check import KnownLists, compare_expected_values, compare_swaps
from rankforce.remedies import NAME_ALONE, Argument

GRADES = (0.0, 1.0, 2.0, 3.0, 4.0)
RATES = (0.0, 0.1, 0.3, 0.6, 1.0)  # of label sources beside the grades


@dataclasses.dataclass(frozen=True)
class MeasureCheck:
    """What ``check_measure`` compared, and found to agree.

    swaps : changes under a swap, beside differences of values; 0 for a measure whose value alone tells them
    expected_values : beside means over all orders of tied documents; None for a measure that gives none, 0 for one
        whose definition with ties is no mean
    """

    measure: str
    swaps: int
    expected_values: int | None

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, ready for JSON."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        swaps = f"{counted(self.swaps, 'swap')} agree with value" if self.swaps else "swaps are found from value"
        if self.expected_values is None:
            means = "means over ties are sampled"
        elif self.expected_values == 0:
            means = "its value with ties is no mean by definition"
        else:
            means = f"{counted(self.expected_values, 'expected value')} over ties agree with it"
        return f"{self.measure}: {swaps}; {means}"


def check_measure(measure: str | Measure, *, labels: Any = None) -> MeasureCheck:
    """Compare the swaps of a measure, and its expected values over ties, with its value on some lists.

    Parameters
    ----------
    measure : written or as an object
    labels : the labels that its data may have; default: grades 0 to 4, or rates from 0 to 1 of another label source

    A method that does not agree is a ``MeasureError`` with the list, the ranks and both numbers. Training and
    evaluation compare likewise when they first use a measure of your own, with the worths and lengths of their data.
    """
    asked = read_measure(measure)
    known = (GRADES if asked.label == MAIN_LABEL else RATES) if labels is None else labels
    try:
        values = np.asarray(known, dtype=np.float64)
    except Exception:  # also an error of an object's own
        values = np.empty(())
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise DataError(Argument("labels", NAME_ALONE), f" must be some finite numbers, not {shown(labels)}")
    features = np.zeros((len(values), 1), dtype=np.float32)
    judged = JudgedMeasure(Dataset(features, group=[len(values)], labels={asked.label: values}), asked)
    lists = KnownLists.of(judged)._replace(shortest=1, longest=NO_CUTOFF)
    swaps = 0
    if asked.swap_kind != "brute" and judged.column_count >= 0:
        swaps = compare_swaps(asked, lists, signed=True)
        if not swaps:
            raise DataError(
                f"{asked} cannot tell a swap with the labels {shown(labels)}: give ",
                Argument("labels", NAME_ALONE),
                " of which some are relevant and some are not",
            )
    expected = compare_expected_values(asked, lists) if hasattr(asked.Kernel, "expected_value") else None
    return MeasureCheck(str(asked), swaps, expected)
