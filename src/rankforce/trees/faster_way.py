"""Which of two ways to do the same is the faster one here: processors differ, and only trying tells."""

from __future__ import annotations

TRIALS = 3  # of each way
_ORDER = (0, 0, 1, 1, 0, 0, 1)  # the first one only touches memory; then in turns, so that what drifts hits both


class FasterWay:
    """Two ways, 0 and 1, that give the same result. Some calls try both, all others take the one that was faster.

    ``now`` is the way to go; whoever has gone it tells how many seconds it ``took``. Where it is not worth the trials,
    it is always 0.
    """

    def __init__(self, tried: bool) -> None:
        self.now = 0
        self._trials: list[float] | None = [] if tried else None

    def took(self, seconds: float) -> None:
        if self._trials is None:
            return
        self._trials.append(seconds)
        if len(self._trials) < len(_ORDER):
            self.now = _ORDER[len(self._trials)]
            return
        counted = list(zip(_ORDER, self._trials, strict=True))[1:]
        self.now = int(min(s for way, s in counted if way == 1) < min(s for way, s in counted if way == 0))
        self._trials = None
