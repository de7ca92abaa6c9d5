"""Numba's page of text in a few lines; whole failures are tested where users meet them."""

from __future__ import annotations

import rankforce as rf
from rankforce.compiling.type_failures import explained


class Misspelt(rf.Measure):
    class Kernel:
        ERROR = rf.SettingsError

        def value(self) -> float:
            return 1.0


PAGE = """Failed in nopython mode pipeline (step: nopython frontend)
No implementation of function Function(<function value>) found for signature:
>>> value({owner}())
- Resolution failure for literal arguments:
NameError: name 'normalizer' is not defined
"""


def test_colours_change_nothing() -> None:
    """Numba paints its messages where colorama is installed."""
    page = PAGE.format(owner=f"{Misspelt.Kernel.__module__}.{Misspelt.Kernel.__qualname__}")
    plain = explained(Exception(page), [Misspelt.Kernel])
    painted = "\n".join(f"\x1b[1m\x1b[31m{line}\x1b[0m" for line in page.splitlines())
    assert str(explained(Exception(painted), [Misspelt.Kernel])) == str(plain)
    assert "cannot be compiled: NameError: name 'normalizer' is not defined" in str(plain)
