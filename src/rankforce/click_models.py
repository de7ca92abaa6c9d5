"""How users of a ranking click: what they look at, and what they click of it."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankforce.errors import SettingsError
from rankforce.kinds import Number, OrNone, Several, shown

__all__ = ["Cascade", "ClickModel", "PositionBased", "TrustBias"]

Draw = Callable[[int], np.ndarray]
"""Random numbers in [0, 1), one for each place of each session; other ones for every part of what is decided."""

_LOOKS, _CLICKS, _STOPS, _LEAVES = range(4)  # parts


def __dir__() -> list[str]:
    return __all__


class Behaviour(NamedTuple):
    """What users did, (sessions, places)."""

    examination: np.ndarray  # float64: the probability that the user looks at the place, given the list shown
    examined: np.ndarray  # bool
    clicked: np.ndarray  # bool


class ClickModel(abc.ABC):
    """A user who is shown a list."""

    @abc.abstractmethod
    def behave(self, attractiveness: np.ndarray, draw: Draw) -> Behaviour:
        """What users do with lists of documents.

        ``attractiveness`` (sessions, places), the top first, is the probability that a document is clicked by someone
        who looks at it. Places beyond the end of a list are never clicked, whatever this says of them.
        """


@dataclasses.dataclass(frozen=True)
class PositionBased(ClickModel):
    """Whether a place is looked at depends on the place alone: P(click) = θ_k · attractiveness.

    strength : η in θ_k = 1/k^η for k = 1, 2, ...; 0: no bias
    examination : θ_1, θ_2, ... themselves, from 0 to 1, in place of a strength
    """

    strength: float = 1.0
    examination: Sequence[float] | None = None

    def __post_init__(self) -> None:
        Number(0.0).check("strength", self.strength)
        table = Several(Number(0.0, 1.0), "a list of probabilities, the first that of the top")
        OrNone(table).check("examination", self.examination)
        if self.examination is not None:
            object.__setattr__(self, "examination", tuple(map(float, self.examination)))

    def at_positions(self, positions: int) -> np.ndarray:
        """θ of the first positions."""
        if self.examination is None:
            return np.arange(1.0, positions + 1.0) ** -float(self.strength)
        if len(self.examination) < positions:
            raise SettingsError(
                f"examination has {len(self.examination)} entries, but lists have {positions} positions: "
                "give one for each"
            )
        return np.array(self.examination[:positions])

    def behave(self, attractiveness: np.ndarray, draw: Draw) -> Behaviour:
        examination = np.broadcast_to(self.at_positions(attractiveness.shape[1]), attractiveness.shape)
        examined = draw(_LOOKS) < examination
        return Behaviour(examination, examined, examined & (draw(_CLICKS) < self.clicked_if_seen(attractiveness)))

    def clicked_if_seen(self, attractiveness: np.ndarray) -> np.ndarray:
        """The probability of a click on what is looked at."""
        return attractiveness


@dataclasses.dataclass(frozen=True)
class TrustBias(PositionBased):
    """Users who trust the ranking also click what does not attract them, the more so the higher it stands.

    P(click) = θ_k · (a + (1 − a) · trust/k) for attractiveness a: what dividing by θ_k cannot put right.

    strength, examination : as in ``PositionBased``
    trust : from 0 to 1
    """

    trust: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        Number(0.0, 1.0).check("trust", self.trust)

    def clicked_if_seen(self, attractiveness: np.ndarray) -> np.ndarray:
        misled = self.trust / np.arange(1.0, attractiveness.shape[1] + 1.0)
        return attractiveness + (1.0 - attractiveness) * misled


@dataclasses.dataclass(frozen=True)
class Cascade(ClickModel):
    """Users read downwards and stop: whether a place is looked at depends on the documents above it.

    stop : the probability of stopping after a click; 1: at most one click
    persistence : the probability of going on from a place to the next, where the user has not stopped
    """

    stop: float = 1.0
    persistence: float = 1.0

    def __post_init__(self) -> None:
        for name in ("stop", "persistence"):
            Number(0.0, 1.0).check(name, getattr(self, name))

    def behave(self, attractiveness: np.ndarray, draw: Draw) -> Behaviour:
        would_click = draw(_CLICKS) < attractiveness
        goes_on = ~(would_click & (draw(_STOPS) < self.stop)) & (draw(_LEAVES) < self.persistence)
        examined = _so_far(goes_on.astype(np.float64)) > 0.0
        examination = _so_far(self.persistence * (1.0 - self.stop * attractiveness))
        return Behaviour(examination, examined, examined & would_click)


def _so_far(factors: np.ndarray) -> np.ndarray:
    """The product of all factors before each place."""
    products = np.ones_like(factors)
    np.cumprod(factors[:, :-1], axis=1, out=products[:, 1:])
    return products


NAMES = {"position": PositionBased, "trust": TrustBias, "cascade": Cascade}


def as_click_model(given: Any) -> ClickModel:
    """A click model, from one or from its name."""
    if isinstance(given, ClickModel):
        return given
    if isinstance(given, str) and given in NAMES:
        return NAMES[given]()
    raise SettingsError(
        f"a click model is one of {', '.join(map(repr, NAMES))}, or an object of click_models, not {shown(given)}"
    )
