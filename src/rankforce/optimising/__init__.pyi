"""Public names of rankforce.optimising; written by tools/write_stub.py."""

from rankforce.optimising.differences import finite_differences as finite_differences
from rankforce.optimising.perturbations import spsa as spsa

__all__ = [
    "finite_differences",
    "spsa",
]
