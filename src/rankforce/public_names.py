"""Public names of a subpackage, loaded on first use: importing it imports neither Numba nor scikit-learn."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def _no_classes() -> Mapping[str, type]:
    return {}


def loaded_on_first_use(
    package: str, homes: Mapping[str, str], classes: Callable[[], Mapping[str, type]] = _no_classes
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package whose public names are defined in modules of their own.

    Parameters
    ----------
    package : its full name
    homes : name -> module that defines it
    classes : further names, of classes that are found by their files
    """

    def load(name: str) -> Any:
        if name in homes:
            value = getattr(importlib.import_module(homes[name]), name)
        elif name[0].isupper() and name in classes():
            value = classes()[name]
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*homes, *classes()})

    return load, names
