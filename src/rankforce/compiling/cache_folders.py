"""Where compiled kernels are kept: folders that nobody else can write to.

A compiled kernel is code that will be run. It is read only from a folder of this user's that no one else can write to,
or from beside the package's sources, whose owner is trusted anyway.
"""

from __future__ import annotations

import functools
import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[1]

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Folders(NamedTuple):
    """Where compiled kernels are looked for, in this order, and where new ones are written (None: nowhere)."""

    reading: tuple[Path, ...]
    writing: Path | None
    refused: tuple[str, ...]  # why folders that exist are not used
    tried: tuple[Path, ...]


def kernel_folders() -> Folders:
    """``NUMBA_CACHE_DIR``, beside the sources, the user's cache, the temporary folder: the first that can be written.

    Those before it are read, too: after ``rankforce warmup`` by an administrator, every user has what it compiled.
    """
    wanted = os.environ.get("NUMBA_CACHE_DIR")
    parents = [Path(wanted)] if wanted else []
    with suppress(RuntimeError):  # no home
        parents.append(_user_cache())
    with suppress(OSError):  # no temporary folder
        parents.append(Path(tempfile.gettempdir()))
    return find_folders(PACKAGE, tuple(parents), bool(wanted))


@functools.cache
def find_folders(package: Path, parents: tuple[Path, ...], first_is_wanted: bool) -> Folders:
    """Of the folder beside the package's sources and private ones in ``parents``: which can be used.

    The folder beside the sources comes first, or after the first parent where that is what the user asked for.
    """
    candidates: list[Callable[[], Path]] = [functools.partial(_private_folder, parent, package) for parent in parents]
    candidates.insert(int(first_is_wanted), functools.partial(_folder_beside, package))
    reading, untrusted_folders, unwritable = [], [], []
    writing = None
    for candidate in candidates:
        try:
            folder = candidate()
        except _Untrusted as untrusted:
            untrusted_folders.append(str(untrusted))
            continue
        except OSError as error:
            unwritable.append(Path(error.filename or ""))
            continue
        reading.append(folder)
        if os.access(folder, os.W_OK | os.X_OK):
            writing = folder
            break
        unwritable.append(folder)
    return Folders(tuple(reading), writing, tuple(untrusted_folders), tuple(unwritable))


class _Untrusted(Exception):
    """A folder to which others can write."""


def _private_folder(parent: Path, package: Path) -> Path:
    """A folder in ``parent`` that only this user can use, made if need be; each installation has its own in it."""
    folder = parent / (f"rankforce-{os.geteuid()}" if hasattr(os, "geteuid") else "rankforce")
    parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    if hasattr(os, "geteuid"):  # elsewhere caches and temporary folders are the user's own
        around = parent.stat().st_mode
        if around & stat.S_IWOTH and not around & stat.S_ISVTX:
            raise _Untrusted(f"anyone can write to {parent} and rename what is in it (chmod o-w {parent})")
        _require(folder, {os.geteuid()}, _OTHERS_WRITE)
    installation = folder / hashlib.sha256(str(package).encode()).hexdigest()[:12]
    installation.mkdir(mode=0o700, exist_ok=True)
    return installation


def _folder_beside(package: Path) -> Path:
    """A folder beside the sources. Whoever can write to these could as well write what is compiled."""
    folder = package / "__pycache__" / "kernels"
    folder.mkdir(parents=True, exist_ok=True)
    if hasattr(os, "geteuid"):
        owner = (package / "__init__.py").stat().st_uid
        others_write = stat.S_IWOTH if package.stat().st_mode & stat.S_IWGRP else _OTHERS_WRITE
        for place in (folder.parent, folder):
            _require(place, {0, os.geteuid(), owner}, others_write)
    return folder


def _require(folder: Path, owners: set[int], forbidden: int) -> None:
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise _Untrusted(f"{folder} is not a folder (remove it)")
    if found.st_uid not in owners:
        raise _Untrusted(f"{folder} belongs to another user (remove it, or set NUMBA_CACHE_DIR)")
    if found.st_mode & forbidden:
        raise _Untrusted(f"others can write to {folder} (chmod go-w {folder})")


def _user_cache() -> Path:
    """Where programs of this user keep what they can make again."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home())
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
