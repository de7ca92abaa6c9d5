"""Code that the user did not write: of Python, of rankforce, of installed packages. It is known by name and version."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import sys
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

_RANKFORCE = Path(__file__).resolve().parents[1]
_INSTALLED = ("site-packages", "dist-packages")
_COMPARED_ANYWAY = ("numpy", "numba")  # by whoever keeps an identity, like the versions of Python and rankforce


class Library(NamedTuple):
    """The name of something in a library, and what says of which version it is."""

    name: str
    stamp: str


def library_of(value: Any) -> Library | None:
    """What a module, function, class or other object is to the library that has it under its name; else None."""
    if isinstance(value, ModuleType):
        stamp = library_stamp(value.__name__)
        return None if stamp is None else Library(value.__name__, stamp)
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    stamp = library_stamp(module)
    if stamp is None:
        return None
    reached: Any = sys.modules[module]
    for part in name.split("."):
        reached = getattr(reached, part, None)
    return Library(f"{module}.{name}", stamp) if reached is value else None


def library_stamp(module: str) -> str | None:
    """What says of which version the code of a module is; None if the module is the user's.

    Empty where whoever compares code compares versions anyway: Python, rankforce, NumPy, Numba.
    """
    loaded = sys.modules.get(module)
    if loaded is None:
        return None
    top = module.partition(".")[0]
    file = getattr(loaded, "__file__", None)
    if file is None:  # built in, frozen, or a folder without __init__.py
        return "" if top in sys.stdlib_module_names else None
    return _file_stamp(file, top)


@functools.cache
def _file_stamp(file: str, package: str) -> str | None:
    path = Path(file).resolve()
    if path.is_relative_to(_RANKFORCE):
        return ""
    if any(part in _INSTALLED for part in path.parts):
        return "" if package in _COMPARED_ANYWAY else _distribution_stamp(package)
    paths = (Path(sysconfig.get_path(kind)).resolve() for kind in ("stdlib", "platstdlib"))
    return "" if any(path.is_relative_to(folder) for folder in paths) else None


@functools.cache
def _distribution_stamp(package: str) -> str | None:
    """Version and digest of the files of the distribution that a package came with; None if there is none."""
    try:
        distribution = importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        names = importlib.metadata.packages_distributions().get(package)  # reads all that is installed: slow
        if not names:
            return None
        distribution = importlib.metadata.distribution(names[0])
    # Scripts and notes of the installer differ between places of installation.
    lines = sorted(line for line in (distribution.read_text("RECORD") or "").splitlines() if _is_code(line))
    digest = hashlib.blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()
    return f"{distribution.version} {digest}"


def _is_code(line: str) -> bool:
    return line.partition(",")[0].endswith((".py", ".so", ".pyd", ".dll", ".dylib"))
