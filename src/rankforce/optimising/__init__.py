"""Optimisers of any function of a vector, from its values alone."""

from __future__ import annotations

from rankforce.public_names import loaded_on_first_use

_HOME = {
    "finite_differences": "rankforce.optimising.differences",
    "spsa": "rankforce.optimising.perturbations",
}

__all__ = [*_HOME]
__getattr__, __dir__ = loaded_on_first_use(__name__, _HOME)
