"""Compiled kernels on disk: which files there are, and what they were made from."""

from __future__ import annotations

import functools
import glob
import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent

# Where compiled code may stand (a test holds this): kernels, and what they call.
COMPILED_SOURCES = ("jit.py", "kernel_values.py", "intrinsics.py", "kernels", "measures", "lambdas")


@functools.cache
def package_fingerprint() -> str:
    """A digest of every source file that holds compiled code: the stamp of all cached kernels."""
    digest = hashlib.sha256()
    for place in COMPILED_SOURCES:
        paths = [PACKAGE / place] if place.endswith(".py") else sorted((PACKAGE / place).rglob("*.py"))
        for path in paths:
            digest.update(path.relative_to(PACKAGE).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


class CacheFiles:
    """The compiled forms of one kernel on disk: a file per signature, named by a digest of all it was made from.

    Numba numbers the files and keeps an index. Two processes that start cold may then give one number to two
    signatures and run each other's code, a killed one may leave an index that points to an older file, and the index
    cannot be read at all once a class named in it is gone.
    """

    def __init__(self, numbas: Any) -> None:
        self._numbas = numbas  # knows the folder, and writes a file as a whole or not at all
        self._kernel = f"{numbas._index_name.removesuffix('.nbi')}."
        self._version = f"{self._kernel}{package_fingerprint()[:12]}."
        self.finish: Callable[[], None] | None = None  # wait for another process that is about to write some

    def load(self, key: Any) -> Any:
        found = self._read(key)
        if found is None and self.finish is not None:
            self.finish()
            self.finish = None
            found = self._read(key)
        return found

    def has_some(self) -> bool:
        return any(Path(self._numbas._cache_path).glob(f"{glob.escape(self._version)}*.nbc"))

    def _read(self, key: Any) -> Any:
        try:
            return self._numbas._load_data(self._name(key))
        except OSError:
            return None

    def save(self, key: Any, data: Any) -> None:
        for file in Path(self._numbas._cache_path).glob(f"{glob.escape(self._kernel)}*.nbc"):
            if not file.name.startswith(self._version):  # of sources that are no more
                file.unlink(missing_ok=True)
        self._numbas._save_data(self._name(key), data)

    def _name(self, key: Any) -> str:
        made_from = repr((self._numbas._version, key))  # version of Numba; signature, processor, bytecode
        return f"{self._version}{hashlib.sha256(made_from.encode()).hexdigest()[:24]}.nbc"


_announced = False


def announce_compilation(dispatcher: Any) -> None:
    """Say once, on standard error, that kernels are being compiled: a silent wait looks like a hang."""
    save = dispatcher._cache.save_overload

    def announcing_save(signature: Any, data: Any) -> None:
        global _announced
        if not _announced and not os.environ.get("RANKFORCE_QUIET"):
            _announced = True
            print("rankforce: compiling kernels (once per installation) ...", file=sys.stderr, flush=True)
        save(signature, data)

    dispatcher._cache.save_overload = announcing_save
