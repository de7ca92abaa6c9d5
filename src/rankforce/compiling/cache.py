"""Compiled kernels on disk: which files there are, what they were made from, and what to do without them.

A file is a digest and what it is the digest of: what was cut off, emptied, altered or renamed is compiled anew. Where
nothing can be written, or no more, kernels are compiled in memory, and the user is told once.
"""

from __future__ import annotations

import functools
import glob
import hashlib
import os
import pickle
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from rankforce.compiling import waits
from rankforce.compiling.cache_folders import PACKAGE, kernel_folders
from rankforce.compiling.turns import TURN

# Where compiled code may stand (a test holds this): kernels, what they call, and how they are compiled.
COMPILED_SOURCES = ("compiling", "kernels", "measures", "lambdas")

DIGEST_SIZE = hashlib.sha256().digest_size


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


class KernelCache:
    """The compiled forms of one kernel on disk, as Numba's dispatcher asks for them.

    A file per signature, named by a digest of all it was made from. Numba's own cache numbers the files and keeps an
    index: two processes that start cold may then give one number to two signatures and run each other's code, and a
    damaged index or file is an error in every process.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.finish: Callable[[], None] | None = None  # wait for another process that is about to write some
        self._name_of_all = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
        self._began = 0.0  # when it was last asked for what it did not have
        self._kernel = f"{self._name_of_all}-{function.__code__.co_firstlineno}."
        self._version = f"{self._kernel}{package_fingerprint()[:12]}."
        self._folders = kernel_folders()

    @property
    def is_kept(self) -> bool:
        return self._folders.writing is not None

    @property
    def cache_path(self) -> str | None:
        return str(self._folders.writing) if self._folders.writing else None

    def has_some(self) -> bool:
        return any(any(folder.glob(f"{glob.escape(self._version)}*.nbc")) for folder in self._folders.reading)

    @property
    def marks(self) -> int:
        """Bytes of a file that grows by one with every mark, whichever process makes it."""
        count = 0
        for folder in self._folders.reading:
            with suppress(OSError):
                count += (folder / f"{self._version}marks").stat().st_size
        return count

    def add_mark(self) -> None:
        if self._folders.writing is not None:
            with suppress(OSError), (self._folders.writing / f"{self._version}marks").open("ab") as file:
                file.write(b".")

    def load_overload(self, signature: Any, target: Any) -> Any:
        """What was compiled for the signature, or None. Numba compiles after None: the user is told so."""
        target.refresh()
        name = self._name(signature, target.codegen())
        found = self._read(name, target)
        if found is None:
            announce_compilation(self._name_of_all)
            if self.finish is not None:
                self.finish()
                self.finish = None
                found = self._read(name, target)
            if found is None and self._folders.writing is not None:
                TURN.take(self._folders.writing / name)
                found = self._read(name, target)
                if found is not None:
                    TURN.give_up()
            self._began = time.perf_counter()
        return found

    def save_overload(self, signature: Any, compiled: Any) -> None:
        waits.SPEED.learn(self._name_of_all, time.perf_counter() - self._began)
        try:
            self._save(signature, compiled)
        finally:
            TURN.give_up()

    def _save(self, signature: Any, compiled: Any) -> None:
        folder = self._folders.writing
        if folder is None or compiled.library.has_dynamic_globals:  # addresses of this process
            return
        from numba.core import serialize

        content = serialize.dumps(compiled._reduce())
        try:
            for file in folder.glob(f"{glob.escape(self._kernel)}*.nbc"):
                if not file.name.startswith(self._version):  # of sources that are no more
                    file.unlink(missing_ok=True)
            for file in folder.glob(f"{glob.escape(self._kernel)}*.marks"):  # which nobody needs any more
                file.unlink(missing_ok=True)
            name = self._name(signature, compiled.codegen)
            _write(folder / name, _digest(name, content) + content)
        except OSError as error:
            say_once(f"compiled kernels cannot be kept in {folder}: {error.strerror}; the next process compiles again")

    def _read(self, name: str, target: Any) -> Any:
        for folder in self._folders.reading:
            try:
                file = (folder / name).read_bytes()
            except OSError:
                continue
            digest, content = file[:DIGEST_SIZE], file[DIGEST_SIZE:]
            if _digest(name, content) == digest:
                from numba.core.compiler import CompileResult

                return CompileResult._rebuild(target, *pickle.loads(content))
        return None

    def _name(self, signature: Any, codegen: Any) -> str:
        import numba

        made_from = (numba.__version__, sys.implementation.cache_tag, signature, codegen.magic_tuple())
        return f"{self._version}{hashlib.sha256(repr(made_from).encode()).hexdigest()[:24]}.nbc"


def _digest(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + content).digest()


def _write(path: Path, content: bytes) -> None:
    """Write a file as a whole or not at all; an empty folder in its place gives way."""
    beside = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}.tmp")
    try:
        beside.write_bytes(content)
        if path.is_dir():
            path.rmdir()
        os.replace(beside, path)
    except OSError:
        with suppress(OSError):
            beside.unlink()
        raise


_said: set[str] = set()


def announce_compilation(kernel: str) -> None:
    """Say what is being compiled, and about how long it takes: a silent wait looks like a hang.

    Once per process for each purpose; where nothing can be kept, once.
    """
    folders = kernel_folders()
    for reason in folders.refused:
        say_once(f"compiled kernels are not kept there: {reason}")
    if folders.writing is None:
        say_once(
            "compiling kernels, in memory: none of the folders for them can be written "
            f"({', '.join(map(str, folders.tried)) or 'see above'}); every process compiles again, unless "
            "NUMBA_CACHE_DIR names a folder of yours"
        )
        return
    purpose = waits.purpose_of(kernel)
    words = "that are not yet in the cache" if purpose is None else f"for {purpose.words}"
    if words not in _announced:
        _announced.add(words)
        seconds = 0.0 if purpose is None else waits.seconds_for(purpose, folders.reading, package_fingerprint()[:12])
        say_once(f"compiling kernels {words}, once{f': about {seconds:.0f} s' if seconds >= 1.0 else ''} ...")


_announced: set[str] = set()


def say_once(message: str) -> None:
    """Print a line on standard error, once per process; nothing with ``RANKFORCE_QUIET``."""
    if message not in _said and not os.environ.get("RANKFORCE_QUIET"):
        _said.add(message)
        print(f"rankforce: {message}", file=sys.stderr, flush=True)
