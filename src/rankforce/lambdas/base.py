"""What a λ-function is: how hard the documents of a query are pulled up or down, at given scores.

One of the pairwise kind (``pairwise.py``) sees two documents, one of the listwise kind (``listwise.py``) the whole
ranking of a query.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from rankforce.compiling.kernel_values import KernelValue, python_only
from rankforce.errors import SettingsError
from rankforce.kinds import Number
from rankforce.written_forms import name_of


class LambdaFunction(KernelValue):
    """Base of all λ-functions.

    ``diagonal`` is the α of an optional term that holds every score back: λ_j − α·s_j, curvature + α. With it the
    forces of a query no longer sum to zero: that is its purpose, the scores as a whole are pulled to 0 and the Hessian
    gets α on its diagonal. It counts share × query weight × document weight, on every document that the measure sees.
    """

    PYTHON_SIDE: ClassVar[frozenset[str]] = frozenset({"check", "kernel_tuple", "written_form", "require"})
    ALIASES: ClassVar[tuple[str, ...]] = ()  # other names under which ``rf.lambdas.lambda_function`` reads it
    HAS_CURVATURE: ClassVar[bool] = True  # without a positive curvature there is no Newton step

    diagonal: float = python_only(0.0)

    def check(self) -> None:
        Number(0.0).check(f"{type(self).__name__}: diagonal", self.diagonal)

    def require(self, name: str) -> None:
        """Raise unless the field ``name`` is positive and finite."""
        value = getattr(self, name)
        if not 0 < value < np.inf:
            raise SettingsError(f"{type(self).__name__}: {name} must be positive, not {value!r}")

    def written_form(self) -> str:
        """``NAME(parameter=value,...)``, the inverse of ``rf.lambdas.lambda_function``.

        ``diagonal`` is written if it is not 0.
        """
        shown = [
            f"{field.name}={_written(getattr(self, field.name))}"
            for field in dataclasses.fields(self)
            if field.repr and not (field.name == "diagonal" and self.diagonal == 0)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __repr__(self) -> str:
        return self.written_form()

    def __str__(self) -> str:
        return self.written_form()


def _written(value: Any) -> str:
    return name_of(value) if callable(value) else repr(value)
