"""Where a model comes from: kept with every model, changing no score."""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.collective import collective, gathered, total
from rankforce.data.dataset import Dataset
from rankforce.data.distributions import KnownData, known_data
from rankforce.errors import SettingsError
from rankforce.objectives.objective import Objective, Term
from rankforce.threads import over_ranges
from rankforce.written_forms import name_of

# What decides how fast or how talkative a training is, never what it yields: the same model has the same bytes.
NOT_KEPT = frozenset({"threads", "progress", "memory"})
INTERRUPTED = "interrupted"  # among the settings of a training that Ctrl-C cut short: "after 285 of 5,000 trees"
COLUMNS = "columns"  # among the settings: what became of the columns of the table that was learned from
ROWS_AT_A_TIME = 1024  # of features that are looked at: they stay in the cache


@dataclasses.dataclass(frozen=True)
class Provenance:
    """Settings, data and versions of a training.

    settings : name -> number, text, truth value, None, or lists and mappings of these
    objective : the measure or objective that was trained for, in its written form
    history : name -> value after each iteration
    watched : name in the history -> the measure (or "preference agreement") that it is a value of
    ties : how equal scores are ordered in the history: a policy of ``evaluate``
    data_fingerprint : ``Dataset.fingerprint`` of the training data
    feature_lows, feature_highs, missing_shares : per feature, on the training data; NaN where all values are missing
    versions : package -> version
    cpu_target : the processor that kernels were compiled for
    seed : what random choices were made from
    known_data : the distribution of the training data, which drift is measured against; None in older files
    """

    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    objective: str = ""
    history: Mapping[str, Sequence[float]] = dataclasses.field(default_factory=dict)
    watched: Mapping[str, str] = dataclasses.field(default_factory=dict)
    ties: str = ""
    data_fingerprint: str = ""
    feature_lows: tuple[float, ...] = ()
    feature_highs: tuple[float, ...] = ()
    missing_shares: tuple[float, ...] = ()
    versions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    cpu_target: str = ""
    seed: int | None = None
    known_data: KnownData | None = None

    def __post_init__(self) -> None:
        settings = {name: plain(value) for name, value in sorted(self.settings.items()) if name not in NOT_KEPT}
        history = {name: [float(value) for value in values] for name, values in sorted(self.history.items())}
        for name in ("feature_lows", "feature_highs", "missing_shares"):
            object.__setattr__(self, name, tuple(float(value) for value in getattr(self, name)))
        object.__setattr__(self, "settings", settings)
        object.__setattr__(self, "history", history)
        object.__setattr__(self, "watched", {str(name): str(of) for name, of in sorted(self.watched.items())})
        object.__setattr__(self, "versions", {str(k): str(v) for k, v in sorted(self.versions.items())})
        object.__setattr__(self, "seed", None if self.seed is None else int(self.seed))

    @property
    def interrupted(self) -> str:
        """How far a training came that Ctrl-C cut short: "after 285 of 5,000 trees"; empty of a whole one."""
        return str(self.settings.get(INTERRUPTED, ""))

    @classmethod
    def of_training(
        cls,
        data: Dataset,
        *,
        settings: Mapping[str, Any],
        objective: str,
        seed: int | None,
        history: Mapping[str, Sequence[float]] | None = None,
        watched: Mapping[str, str] | None = None,
        ties: str = "",
    ) -> Provenance:
        """The provenance of a training on ``data`` in this process."""
        from rankforce.compiling import jit

        stored: Any = data  # knows them, if it has bins in place of features
        lows, highs, missing = feature_ranges(data.features) if data.bins is None else stored.feature_ranges()
        return cls(
            settings=settings,
            objective=objective,
            history=history or {},
            watched=watched or {},
            ties=ties,
            data_fingerprint=data.fingerprint,
            feature_lows=lows,
            feature_highs=highs,
            missing_shares=missing,
            versions=versions(),
            cpu_target=jit.cpu_target(),
            seed=seed,
            known_data=known_data(data) if data.bins is None else stored.known_data(),
        )

    def of_features(self, places: Sequence[int] | None) -> Provenance:
        """The same for a model that reads only the features at these places of the data, in this order (None: all)."""
        if places is None:
            return self

        def taken(values: Sequence[Any]) -> tuple[Any, ...]:
            return tuple(values[place] for place in places)

        known = self.known_data
        return dataclasses.replace(
            self,
            feature_lows=taken(self.feature_lows),
            feature_highs=taken(self.feature_highs),
            missing_shares=taken(self.missing_shares),
            known_data=None if known is None else dataclasses.replace(known, features=taken(known.features)),
        )


def feature_ranges(features: np.ndarray) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
    """Per feature: lowest and highest value, and the share of missing values."""
    unseen = np.full(features.shape[1], np.nan, dtype=features.dtype)
    parts = [(unseen, unseen, np.zeros(features.shape[1], dtype=np.int64))]

    def look(first: int, last: int) -> None:
        for begin in range(first, last, ROWS_AT_A_TIME):
            rows = features[begin : min(begin + ROWS_AT_A_TIME, last)]
            missing = np.count_nonzero(np.isnan(rows), axis=0)
            parts.append((np.fmin.reduce(rows, axis=0), np.fmax.reduce(rows, axis=0), missing))

    over_ranges(len(features), look)
    lows, highs, missing = (np.array(part) for part in zip(*parts, strict=True))
    ends = gathered(np.stack([np.fmin.reduce(lows, axis=0), np.fmax.reduce(highs, axis=0)])[None])
    shares = collective().add(missing.sum(axis=0)) / total(len(features))
    return (
        tuple((np.fmin.reduce(ends[:, 0], axis=0) + 0.0).tolist()),  # a zero without a sign: either may be met first
        tuple((np.fmax.reduce(ends[:, 1], axis=0) + 0.0).tolist()),
        tuple(shares.tolist()),
    )


def versions() -> dict[str, str]:
    """The versions that decide what a training yields."""
    import rankforce
    from rankforce.compiling import jit

    found = {"rankforce": rankforce.__version__, "numpy": np.__version__, "python": platform.python_version()}
    if not jit.PLAIN:
        found["numba"] = jit.compiler().__version__
    return found


def plain(value: Any) -> Any:
    """A setting as a file can hold it: numbers, text, lists, mappings; anything else by its written form."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        wrong = [key for key in value if not isinstance(key, (str, int))]
        if wrong:
            raise SettingsError(f"a setting cannot be a mapping with the key {wrong[0]!r}: use text")
        return {str(key): plain(item) for key, item in sorted(value.items(), key=lambda pair: str(pair[0]))}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (Objective, Term)):  # their text rounds weights, and leaves the values of a schedule out
        return plain(value.written())
    return str(value) if type(value).__str__ is not object.__str__ else name_of(value)
