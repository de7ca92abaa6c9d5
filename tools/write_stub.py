"""Write the stubs of public names with their types, for editors and type checkers.

    python tools/write_stub.py

``rankforce`` and some of its subpackages load their names on first use, which no type checker follows. A stub, the
``__init__.pyi`` beside the ``__init__.py``, says where each name is defined. A test holds that all are current.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import rankforce as rf
from rankforce.lambdas.catalogue import lambda_function_classes
from rankforce.measures.catalogue import measure_classes

# Classes that are public because their files are there.
DISCOVERED = {"rankforce": measure_classes, "rankforce.lambdas": lambda_function_classes}


def lazy_packages() -> list[str]:
    """Every package whose public names are loaded on first use."""
    packages = ["rankforce", *(f"rankforce.{name}" for name in rf.SUBPACKAGES)]
    return [package for package in packages if hasattr(importlib.import_module(package), "_HOME")]


def stub_path(package: str) -> Path:
    """Where the stub of a package is."""
    return Path(str(importlib.import_module(package).__file__)).with_suffix(".pyi")


def stub(package: str) -> str:
    """The text of a package's stub."""
    homes = dict(importlib.import_module(package)._HOME)
    if package in DISCOVERED:
        homes |= {name: kind.__module__ for name, kind in DISCOVERED[package]().items()}
    for name, module in homes.items():
        assert hasattr(importlib.import_module(module), name), f"{module} has no {name}"
    imports = sorted(f"from {module} import {name} as {name}" for name, module in homes.items())
    names = [*homes]
    constants = ""
    if package == "rankforce":
        imports = sorted([*imports, *(f"from rankforce import {name} as {name}" for name in rf.SUBPACKAGES)])
        names += ["__version__", *rf.SUBPACKAGES]
        constants = "\n\n__version__: str"
    listed = "\n".join(f'    "{name}",' for name in sorted(names))
    head = f'"""Public names of {package}; written by tools/write_stub.py."""'
    return f"{head}\n\n" + "\n".join(imports) + f"{constants}\n\n__all__ = [\n{listed}\n]\n"


if __name__ == "__main__":
    for lazy_package in lazy_packages():
        path = stub_path(lazy_package)
        path.write_text(stub(lazy_package), encoding="utf-8")
        print(f"wrote {path}")
