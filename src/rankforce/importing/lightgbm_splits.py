"""LightGBM's splits, whose missing values are of three types, as ours.

With z = 1e-35 (float32), a value x and a float64 threshold t:

====  ===================================================================================================
None  a missing value is 0: it goes where 0 goes
NaN   a missing value goes by ``default_left``
Zero  a missing value, and every x of [-z, z], goes by ``default_left``
====  ===================================================================================================

All else goes left if x <= t. Before that, whatever lies in [-z, z] is made 0: LightGBM hands its trees no smaller
number, so that a threshold within is one at the end of the interval. What type Zero does is one threshold of ours
where the side of [-z, z] touches the other values of its side, and else three, with copies of what is below: the scores
are exact, the leaves have other numbers.

A categorical split has a set: what is in it goes left, all else right, missing values, negative numbers and unknown
categories, too, whatever its missing type.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from rankforce.errors import ModelFileError
from rankforce.importing.foreign_trees import ForeignSplit, at_most

NONE, ZERO, NAN = 0, 1, 2
CATEGORICAL, DEFAULT_LEFT, MISSING_SHIFT = 1, 2, 2  # what the bits of a decision_type say
MISSING_TYPES = {"None": NONE, "Zero": ZERO, "NaN": NAN}
ZERO_ABOVE = np.float32(1e-35)
BELOW_ZERO = np.nextafter(-ZERO_ABOVE, np.float32(-np.inf))  # the largest value below [-z, z]


@dataclasses.dataclass(frozen=True)
class Within:
    """A place inside what one split of type Zero has become."""

    split: LightGBMSplit
    stage: str  # values below [-z, z] are "negative"; the "other" ones are zero, missing, or above: "positive"


@dataclasses.dataclass(frozen=True)
class LightGBMSplit:
    """A numerical split as LightGBM has it."""

    feature: int
    threshold: float
    missing_type: int
    default_left: bool
    left: Any
    right: Any
    gain: float
    where: str

    @property
    def _cut(self) -> np.float32:
        """The threshold in float32, where [-z, z] is one value."""
        if abs(self.threshold) <= float(ZERO_ABOVE):
            return ZERO_ABOVE if self.threshold >= 0 else BELOW_ZERO
        return at_most(self.threshold, self.where)

    @property
    def copies(self) -> bool:
        """Whether what is below it is needed twice."""
        if self.missing_type != ZERO:
            return False
        cut = self._cut
        return bool(cut < BELOW_ZERO) if self.default_left else bool(cut > ZERO_ABOVE)

    def as_ours(self) -> ForeignSplit:
        cut = self._cut
        if self.missing_type == NONE:
            return self._split(cut, bool(self.threshold >= 0.0), self.left, self.right)
        if self.missing_type == NAN:
            return self._split(cut, self.default_left, self.left, self.right)
        if self.missing_type != ZERO:
            raise ModelFileError(f"{self.where}: there is no missing type {self.missing_type}")
        if self.copies:
            negative = Within(self, "negative") if self.default_left else self.left  # they are all below t
            return self._split(BELOW_ZERO, False, negative, Within(self, "other"))
        joined = max(cut, ZERO_ABOVE) if self.default_left else min(cut, BELOW_ZERO)
        return self._split(joined, self.default_left, self.left, self.right)

    def inside(self, stage: str) -> ForeignSplit:
        """A further split of one that has become three."""
        if stage == "other":  # zero and missing values go by default; what is above z may be on either side of t
            zero, positive = (self.left, self.right) if self.default_left else (self.right, Within(self, "positive"))
            return self._split(ZERO_ABOVE, True, zero, positive, gain=0.0)
        return self._split(self._cut, False, self.left, self.right, gain=0.0)

    def _split(
        self, threshold: np.float32, missing_left: bool, left: Any, right: Any, gain: float | None = None
    ) -> ForeignSplit:
        return ForeignSplit(self.feature, threshold, missing_left, left, right, self.gain if gain is None else gain)


@dataclasses.dataclass(frozen=True, eq=False)
class LightGBMSetSplit:
    """A categorical split as LightGBM has it."""

    feature: int
    words: np.ndarray
    left: Any
    right: Any
    gain: float

    copies = False

    def as_ours(self) -> ForeignSplit:
        return ForeignSplit(self.feature, np.float32(0), False, self.left, self.right, self.gain, self.words)
