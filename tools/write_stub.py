"""Write ``src/rankforce/__init__.pyi``: the public names with their types, for editors and type checkers.

    python tools/write_stub.py

``rankforce`` loads its names on first use, which no type checker follows. The stub says where each is defined. A test
holds that it is current.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import rankforce as rf
from rankforce.lambdas.catalogue import cost_classes
from rankforce.measures.catalogue import measure_classes


def stub() -> str:
    """The text of the stub."""
    homes = dict(rf._HOME)
    for name, found in (measure_classes() | cost_classes()).items():
        homes[name] = found.__module__
    for name, module in homes.items():
        assert hasattr(importlib.import_module(module), name), f"{module} has no {name}"
    imports = sorted(f"from {module} import {name} as {name}" for name, module in homes.items())
    names = sorted([*homes, "__version__"])
    listed = "\n".join(f'    "{name}",' for name in names)
    head = '"""Public names of rankforce; written by tools/write_stub.py."""'
    return f"{head}\n\n" + "\n".join(imports) + f"\n\n__version__: str\n\n__all__ = [\n{listed}\n]\n"


if __name__ == "__main__":
    path = Path(rf.__file__).with_suffix(".pyi")
    path.write_text(stub(), encoding="utf-8")
    print(f"wrote {path}")
