"""Relevant documents counted, for measures whose worth is 0 or 1."""

from __future__ import annotations

from rankforce.compiling.jit import subroutine
from rankforce.dtypes import Array, Number


@subroutine
def any_hit(ideal: Array) -> Number:
    """1 if anything is worth something, else 0."""
    return 1.0 if ideal.shape[0] > 0 and ideal[0] > 0.0 else 0.0


@subroutine
def all_hits(ideal: Array) -> Number:
    """How many documents are relevant."""
    relevant = 0.0
    for r in range(ideal.shape[0]):
        relevant += ideal[r]
    return relevant


@subroutine
def write_hits_above(ranked: Array, running: Array) -> None:
    """``running[r]``: how many relevant documents stand above rank r."""
    hits_above = 0.0
    for r in range(ranked.shape[0]):
        running[r] = hits_above
        hits_above += ranked[r]
