"""Sentences of docs/experiments.md that no run can write: why results differ, as far as we know; what is missing."""

from __future__ import annotations

WHY: dict[str, str] = {}
MISSING: tuple[str, ...] = ()
