"""Consoles of rich: with NO_COLOR in the environment without any style, bold and dim included."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def styles_are_wanted() -> bool:
    """Whether NO_COLOR (https://no-color.org) is not set, or empty."""
    return not os.environ.get("NO_COLOR")


def terminal(**options: Any) -> Console:
    """A console. rich itself leaves out colours alone for NO_COLOR, and keeps bold and dim."""
    from rich.console import Console

    return Console(**options) if styles_are_wanted() else Console(**options, color_system=None)
