"""Forces that are no numbers: on which query, and whose fault it may be."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.displayed_text import displayed
from rankforce.errors import DataError
from rankforce.trees.quantised import NegativeCurvatureError

SUSPICIOUS = 1e6  # a setting or weight above this may be why forces leave float64


@contextlib.contextmanager
def explaining(
    settings: Any, objective: str, data: Dataset, forces: np.ndarray, curvatures: np.ndarray, when: str
) -> Iterator[None]:
    """If the block refuses its data, and these forces or curvatures of an objective are the reason, say so."""
    try:
        yield
    except DataError as error:
        check_finite(settings, objective, data, forces, curvatures, when)
        if isinstance(error, NegativeCurvatureError):
            where = f" on query {_query(data, curvatures >= 0.0)}" if (curvatures < 0.0).any() else ""
            raise NegativeCurvatureError(
                f"{objective}: curvatures{where} are negative {when}, and Newton's step divides by them; check the "
                "curvature, the second number, that your λ-function or cost returns there"
            ) from None
        raise


def check_finite(
    settings: Any, objective: str, data: Dataset, forces: np.ndarray, curvatures: np.ndarray, when: str
) -> None:
    """Refuse forces or curvatures (``by_query`` order) that are no numbers."""
    fine = np.isfinite(forces) & np.isfinite(curvatures)
    if fine.all():
        return
    large = [f"{name} = {value:g}" for name, value in _suspects(settings, data).items() if value > SUSPICIOUS]
    raise DataError(
        f"{objective}: forces on query {_query(data, fine)} are not finite {when}; "
        + (f"too large: {', '.join(large)}" if large else "check what your measure or λ-function returns there")
    ) from None


def _query(data: Dataset, fine: np.ndarray) -> str:
    """The query of the first document that is not fine."""
    place = np.searchsorted(data.query_starts, int(np.argmin(fine)), side="right") - 1
    return displayed(data.query_ids[place])


def _suspects(settings: Any, data: Dataset) -> dict[str, float]:
    set_to = {name: getattr(settings, name, None) for name in ("learning_rate", "sigma", "max_step", "anchor")}
    weights = {"the largest weight": data.weights, "the largest query weight": data.query_weights}
    return {name: value for name, value in set_to.items() if value is not None} | {
        name: float(values.max()) for name, values in weights.items() if values is not None
    }
