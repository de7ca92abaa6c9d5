"""Which settings to try: lists and ranges, drawn by hash or enumerated."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from rankforce.data.hashing import hash_ids
from rankforce.data.random_streams import Stream
from rankforce.errors import SettingsError
from rankforce.models.provenance import plain
from rankforce.remedies import Argument
from rankforce.training.other_names import unknown_setting
from rankforce.written_forms import how_different

_DRAWS_WITHOUT_NEWS = 1000  # so many repeated draws in a row, and everything there is has been drawn


@dataclasses.dataclass(frozen=True)
class Choices:
    """One of several values."""

    values: tuple[Any, ...]

    def at(self, share: float) -> Any:
        """The value at a place in [0, 1)."""
        return self.values[int(share * len(self.values))]

    def written(self) -> Any:
        return [plain(value) for value in self.values]


@dataclasses.dataclass(frozen=True)
class Range:
    """A number between two, both included; whole if both ends are; even in its logarithm if ``log``."""

    low: float
    high: float
    log: bool = False

    @property
    def whole(self) -> bool:
        return isinstance(self.low, int) and isinstance(self.high, int)

    def at(self, share: float) -> float:
        """The number at a place in [0, 1)."""
        low, high = (self.low - 0.5, self.high + 0.5) if self.whole else (self.low, self.high)
        if self.log:
            number = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
        else:
            number = low + share * (high - low)
        if self.whole:
            return min(max(math.floor(number + 0.5), int(self.low)), int(self.high))
        return min(max(number, self.low), self.high)

    def written(self) -> Any:
        return {"low": self.low, "high": self.high, "log": self.log}


class Space:
    """Settings by name, each with the values it may take.

    A list holds choices; ``(low, high)`` is a range, of whole numbers if both are; ``(low, high, "log")`` one that is
    even in the logarithm.
    """

    def __init__(self, given: Mapping[str, Any], ranker: Any) -> None:
        if not isinstance(given, Mapping) or not given:
            raise SettingsError('say what to try: space={"n_leaves": [8, 16, 32], "learning_rate": (0.01, 0.3, "log")}')
        known = ranker.get_params(deep=True)
        for name in given:
            if name not in known:
                raise unknown_setting(type(ranker).__name__, str(name), known)
        self.parts: dict[str, Choices | Range] = {name: _part(name, values) for name, values in given.items()}

    def written(self) -> dict[str, Any]:
        """The space as a file holds it."""
        return {name: part.written() for name, part in self.parts.items()}

    def grid(self) -> Iterator[dict[str, Any]]:
        """All combinations; the last setting changes fastest."""
        ranges = [name for name, part in self.parts.items() if isinstance(part, Range)]
        if ranges:
            raise SettingsError(
                f"a grid needs lists, {ranges[0]} has a range: list the values to try, or use ",
                Argument("method", "random"),
            )
        lists = [part.values for part in self.parts.values() if isinstance(part, Choices)]
        return _distinct(dict(zip(self.parts, values, strict=True)) for values in itertools.product(*lists))

    def random(self, seed: int) -> Iterator[dict[str, Any]]:
        """Independent draws, each combination once: the n-th depends on the seed and n only."""
        names = hash_ids(np.array(list(self.parts), dtype=object))
        draws = (Stream.TRIALS.uniform(seed, number, names) for number in itertools.count())
        return _distinct(
            {name: part.at(float(share)) for (name, part), share in zip(self.parts.items(), shares, strict=True)}
            for shares in draws
        )


def key_of(settings: Mapping[str, Any]) -> str:
    """Settings as text: equal for equal settings."""
    return json.dumps(plain(dict(settings)), sort_keys=True)


def _distinct(settings: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    repeated = 0
    for one in settings:
        key = key_of(one)
        repeated = repeated + 1 if key in seen else 0
        if repeated > _DRAWS_WITHOUT_NEWS:
            return
        if repeated == 0:
            seen.add(key)
            yield one


def _part(name: str, given: Any) -> Choices | Range:
    if isinstance(given, (Choices, Range)):
        return given
    if isinstance(given, tuple):
        return _range(name, given)
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if isinstance(given, (list, range)):
        if not len(given):
            raise SettingsError(f"{name}: the list of values to try is empty")
        _check_told_apart(name, given)
        return Choices(tuple(given))
    raise SettingsError(
        f"{name}: what to try is a list of values, (low, high) or (low, high, 'log'), not {given!r}; "
        "one value alone belongs into the ranker"
    )


def _check_told_apart(name: str, values: Any) -> None:
    """Raise if two choices are written alike and are not the same: trials are kept by what is written."""
    first: dict[str, Any] = {}
    for value in values:
        written = key_of({name: value})
        difference = how_different(first.setdefault(written, value), value)
        if difference:
            raise SettingsError(
                f"{name}: two different choices are both written {plain(value)}: {difference}. Give functions and "
                "classes of your own different names, and models as Paths"
            )


def _range(name: str, given: tuple[Any, ...]) -> Range:
    numbers = [
        one.item() if isinstance(one, np.generic) else one
        for one in given[:2]
        if isinstance(one, (int, float, np.number)) and not isinstance(one, bool)
    ]
    if len(given) not in (2, 3) or len(numbers) < 2 or (len(given) == 3 and given[2] != "log"):
        raise SettingsError(f"{name}: a range is (low, high) or (low, high, 'log'), not {given!r}; choices are a list")
    low, high = numbers
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise SettingsError(f"{name}: the low end of a range must be below the high one, not {given!r}")
    if len(given) == 3 and low <= 0:
        raise SettingsError(f"{name}: a range that is even in the logarithm must be above 0, not {given!r}")
    return Range(low, high, len(given) == 3)
