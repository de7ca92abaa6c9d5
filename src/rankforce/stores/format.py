"""What a store is: a folder of arrays, and a header that says what is in them.

``header.json`` is written last, and the folder gets its name when it is whole: what looks like a store is one. Arrays
are NumPy files, so that other programs can read them; the header has a digest of each, of ``rows`` one per 64 MB.
"""

from __future__ import annotations

import errno
import hashlib
import json
import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rankforce.errors import DataError, FileFormatError
from rankforce.remedies import MAKE_STORE, Words

FORMAT = "rankforce bins"
VERSION = 2  # 1: without categories
READ_VERSIONS = (1, 2)
HEADER = "header.json"
ROWS = "rows"
DIGEST_BYTES = 2**26  # of an array, per digest


def digests_of(array: np.ndarray) -> list[str]:
    """One digest for each 64 MB of the bytes of an array; of a mapped one, no more than that is in memory."""
    content = np.ascontiguousarray(array).reshape(-1).data.cast("B") if array.size else memoryview(b"")
    digests = []
    for first in range(0, max(len(content), 1), DIGEST_BYTES):
        digests.append(hashlib.blake2b(content[first : first + DIGEST_BYTES], digest_size=16).hexdigest())
        release_pages(array)
    return digests


def release_pages(array: np.ndarray) -> None:
    """Let go of the pages of a mapped file that were looked at or written: the system keeps them, not this process."""
    mapped = getattr(array, "_mmap", None)
    if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def take_room(file: Path) -> None:
    """Have the disk keep room for all of a file that is mapped: writing to a page without room kills the process."""
    if not hasattr(os, "posix_fallocate"):
        return
    with open(file, "r+b") as opened:
        try:
            os.posix_fallocate(opened.fileno(), 0, file.stat().st_size)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):  # not on every file system
                raise


def write_header(folder: Path, header: dict[str, Any]) -> None:
    version = VERSION if header.get("categories") else 1  # earlier programs read what they can
    text = json.dumps({"format": FORMAT, "version": version, **header}, indent=1)
    digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    (folder / HEADER).write_text(f"{text}\n{digest}\n", encoding="utf-8")


def read_header(folder: Path) -> dict[str, Any]:
    """The header, or an error that says what is wrong with the folder."""

    def refuse(problem: str, remedy: Words) -> FileFormatError:
        return FileFormatError(problem, path=folder, remedy=remedy)

    again = ("make it again from the data: ", MAKE_STORE)
    if not folder.is_dir():
        problem = "this is a file, and a store is a folder" if folder.exists() else "there is no such store"
        raise refuse(problem, ("a store is made from data by ", MAKE_STORE))
    try:
        text, digest = (folder / HEADER).read_text(encoding="utf-8").rstrip("\n").rsplit("\n", 1)
        if hashlib.blake2b(text.encode(), digest_size=16).hexdigest() != digest:
            raise ValueError
        header: dict[str, Any] = json.loads(text)
    except FileNotFoundError:
        raise refuse(f"the folder has no {HEADER}: it is no store, or was not finished", again) from None
    except (OSError, ValueError):
        raise refuse(f"its {HEADER} is damaged", again) from None
    if header.get("format") != FORMAT or header.get("version") not in READ_VERSIONS:
        found = f"{header.get('format')!r}, version {header.get('version')!r}"
        raise refuse(f"its format is {found}, and this program reads {FORMAT!r}, versions 1 to {VERSION}", again)
    return header


def identity(header: dict[str, Any]) -> str:
    """By which a store is known again: the same for the same data, binned in the same way."""
    told = json.dumps([header["fingerprint"], header["arrays"]], sort_keys=True)
    return hashlib.blake2b(told.encode(), digest_size=16).hexdigest()


def check_same_store(folder: Path, known: str, name: str | Path) -> None:
    """Raise unless the store in this folder is still the one of this identity."""
    if not (folder / HEADER).exists() or identity(read_header(folder)) != known:
        raise DataError(f"{name} was changed since it was opened: open it again")


def open_array(folder: Path, header: dict[str, Any], name: str, *, mapped: bool = False) -> np.ndarray:
    """An array of the store, as the header describes it; in memory, or mapped."""
    described = header["arrays"][name]
    problem = f"its array {name!r} is damaged"
    remedy = ("make the store again from the data: ", MAKE_STORE)
    try:
        # Mapped so that writing would copy: nobody writes, but kernels are compiled for arrays that can be written to.
        array = np.load(folder / f"{name}.npy", mmap_mode="c" if mapped else None, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        raise FileFormatError(problem, path=folder, remedy=remedy) from None
    if list(array.shape) != described["shape"] or array.dtype.str != described["dtype"]:
        raise FileFormatError(problem, path=folder, remedy=remedy)
    if not mapped and digests_of(array) != described["digests"]:
        raise FileFormatError(problem, path=folder, remedy=remedy)
    return array


def damaged_arrays(folder: Path, header: dict[str, Any]) -> Iterator[str]:
    """The arrays whose bytes are not those that were written: reads the whole store."""
    for name, described in header["arrays"].items():
        try:
            array = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
            whole = list(array.shape) == described["shape"] and digests_of(array) == described["digests"]
        except (OSError, ValueError, EOFError):
            whole = False
        if not whole:
            yield name
