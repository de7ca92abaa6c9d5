"""Discounted cumulative gain."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from rankforce.measures.ndcg import NDCG


class DCG(NDCG):
    """Σ_{r≤T} gain / log2(1 + r), ranks from 1: NDCG without the division by the best possible value."""

    ALIASES: ClassVar[tuple[str, ...]] = ("dcg",)
    HIGHEST: ClassVar[float] = np.inf

    normalised: int = dataclasses.field(default=0, init=False, repr=False)
