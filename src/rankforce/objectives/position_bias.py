"""How a term that learns from clicks makes up for where documents stood.

The labels of such a term are clicks of one list: 1 or 0. Its pairs have a clicked and an unclicked document, and a pair
counts as much as the product of what the two count, so that one weight per document says all:

``InversePropensities``
    A click at position k counts 1/p_k: as often as it would have happened, had everyone looked there.
``JointRatios``
    A click counts 1/t⁺_k, an unclicked document 1/t⁻_k; both are estimated while learning.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.data.clicks.propensities import Propensities, as_propensities
from rankforce.errors import DataError, SettingsError
from rankforce.kinds import Number, Text, shown
from rankforce.remedies import Phrase

SESSIONS = Phrase("rf.click_sessions", "rankforce sessions")
POSITION = "position"  # the label source that says where documents stood


@dataclasses.dataclass(frozen=True)
class PositionBias(abc.ABC):
    """What is done about the bias of positions."""

    @property
    @abc.abstractmethod
    def position(self) -> str:
        """The label source that says at which position (from 1) a document stood."""

    @abc.abstractmethod
    def written(self) -> dict[str, Any]:
        """As a file holds it; ``as_position_bias`` is the inverse."""


@dataclasses.dataclass(frozen=True)
class InversePropensities(PositionBias):
    """Every pair counts 1/max(p, clip), p being the propensity of the position of its clicked document.

    propensities : Propensities, or numbers above 0, the first that of position 1
    clip : what a smaller propensity is raised to. A rare click far down would outweigh all others: a little bias is
        taken for much less variance
    position : the label source that says where documents stood
    """

    propensities: tuple[float, ...]
    clip: float = 0.02
    position: str = POSITION

    def __post_init__(self) -> None:
        given: Any = self.propensities
        known = as_propensities(given)
        object.__setattr__(self, "propensities", tuple(known.at(np.arange(1, len(known) + 1)).tolist()))
        Number(0.0, 1.0).check("clip", self.clip)
        Text("the name of a label source").check("position", self.position)
        object.__setattr__(self, "clip", float(self.clip))

    def click_weights(self) -> np.ndarray:
        """What a click at each position counts."""
        return 1.0 / np.maximum(np.array(self.propensities), self.clip)

    def written(self) -> dict[str, Any]:
        return {"propensities": list(self.propensities), "clip": self.clip} | _unless(self.position)

    def __str__(self) -> str:
        return f"inverse propensities of {len(self.propensities)} positions, clipped at {self.clip:g}"


@dataclasses.dataclass(frozen=True)
class JointRatios(PositionBias):
    """Unbiased LambdaMART (Hu et al. 2019): a pair counts 1/(t⁺_k t⁻_l), clicked at k and not clicked at l.

    At the scores of every iteration, with C_kl the cost Σ |ΔZ| log(1 + e^{−σ·gap}) of all such pairs,

        t⁺_k = (Σ_l C_kl/t⁻_l / Σ_l C_1l/t⁻_l)^{1/(1 + norm)},  t⁻_l = (Σ_k C_kl/t⁺_k / Σ_k C_k1/t⁺_k)^{1/(1 + norm)}

    starting from ones and alternating until nothing changes. No propensities are needed, nor documents that were shown
    at several positions: the model that is learned tells relevance from position.

    norm : exponent of the regularisation; 0: ratios as they are estimated, ∞: all ones
    clip : what a smaller ratio is raised to
    position : the label source that says where documents stood
    """

    norm: float = 1.0
    clip: float = 0.02
    position: str = POSITION

    def __post_init__(self) -> None:
        Number(0.0).check("norm", self.norm)
        Number(0.0, 1.0, above=True).check("clip", self.clip)
        Text("the name of a label source").check("position", self.position)

    def ratios(self, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(t⁺, t⁻) of every position, from costs (position of the click, position of the other); 1 where none are."""
        clicked, unclicked = np.ones(len(costs)), np.ones(len(costs))
        for _ in range(1000):
            before = clicked, unclicked
            clicked = self._ratio((costs / unclicked).sum(axis=1))
            unclicked = self._ratio((costs / clicked[:, None]).sum(axis=0))
            if max(np.abs(clicked - before[0]).max(), np.abs(unclicked - before[1]).max()) < 1e-12:
                break
        return clicked, unclicked

    def _ratio(self, sums: np.ndarray) -> np.ndarray:
        """To the first position that has any cost, regularised."""
        present = np.flatnonzero(sums > 0.0)
        if not len(present):
            return np.ones(len(sums))
        ratio = np.where(sums > 0.0, sums / sums[present[0]], 1.0) ** (1.0 / (1.0 + self.norm))
        return np.maximum(ratio, self.clip)

    def written(self) -> dict[str, Any]:
        return {"joint": True, "norm": self.norm, "clip": self.clip} | _unless(self.position)

    def __str__(self) -> str:
        return f"joint ratios of positions, norm {self.norm:g}"


def _unless(position: str) -> dict[str, str]:
    return {} if position == POSITION else {"position": position}


def as_position_bias(given: Any) -> PositionBias:
    """What is done about position bias, from it, from propensities, from ``"joint"`` or from a written form."""
    if isinstance(given, PositionBias):
        return given
    if isinstance(given, str) and given == "joint":
        return JointRatios()
    if isinstance(given, Mapping):
        return _read(dict(given))
    if isinstance(given, (Propensities, Sequence, np.ndarray)) and not isinstance(given, (str, bytes)):
        return InversePropensities(given)  # type: ignore[arg-type]
    raise SettingsError(
        "what is done about position bias is propensities, 'joint', InversePropensities(propensities) or "
        f"JointRatios(), not {shown(given)}"
    )


def _read(form: dict[str, Any]) -> PositionBias:
    joint = form.pop("joint", False)
    file = form.pop("file", None)
    known = {"norm", "clip", "position"} if joint is True else {"propensities", "clip", "position"}
    if file is not None:
        if "propensities" in form or joint:
            raise SettingsError("position bias takes propensities from a file, or lists them, or finds joint ratios")
        form["propensities"] = Propensities.read(file)
    unknown = [str(key) for key in form if key not in known]
    if unknown or (joint is not True and "propensities" not in form):
        raise SettingsError(
            "position bias is written { propensities = [1, 0.6, ...] }, { file = 'propensities.json' } or "
            f"{{ joint = true }}, with clip, and with norm where it is joint; this one has {shown(sorted(form))}"
        )
    return JointRatios(**form) if joint is True else InversePropensities(**form)


def checked_positions(positions: np.ndarray, labels: np.ndarray, bias: PositionBias, source: str) -> np.ndarray:
    """Positions from 0 as int64, −1 where a document has no label; labels are clicks, 0 or 1.

    ``positions`` and ``labels`` are per document; a document that was not shown has no position and no click.
    """
    labelled = ~np.isnan(labels)
    if not ((labels == 0.0) | (labels == 1.0) | ~labelled).all():
        other = labels[labelled & (labels != 0.0) & (labels != 1.0)][0]
        raise DataError(
            f"the label {source!r} is {other:g} somewhere: position bias is weighed out of the clicks of single lists, "
            "0 or 1: ",
            SESSIONS,
            "; for rates, clicks are divided by propensities before: ",
            Phrase(
                "rf.click_labels(log, 'click', propensities=...)", "rankforce clicks --rate click --propensities FILE"
            ),
        )
    placed = labelled & ~np.isnan(positions)
    if (labelled & (labels == 1.0) & ~placed).any():
        raise DataError(f"a document was clicked ({source!r} is 1), but {bias.position!r} says no position")
    if not (placed <= ((positions >= 1.0) & (positions == np.floor(positions)) & (positions <= 2.0**31))).all():
        raise DataError(f"the label source {bias.position!r} must hold positions: whole numbers from 1")
    return np.where(placed, np.nan_to_num(positions, nan=0.0), 0.0).astype(np.int64) - 1
