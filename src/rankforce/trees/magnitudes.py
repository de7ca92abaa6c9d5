"""Floats whose bits were compared as integers."""

from __future__ import annotations

import math
import struct


def magnitude_of(bits: int) -> float:
    """The float64 with these bits, its sign bit not set; ∞ instead of NaN."""
    (value,) = struct.unpack("=d", struct.pack("=q", bits))
    return math.inf if math.isnan(value) else value
