"""Files in each other's places: a model where data is expected, or data where a model is."""

from __future__ import annotations

import os
import re
import zlib
from pathlib import Path
from typing import Any

from rankforce.displayed_text import displayed_path
from rankforce.errors import RankforceError, SettingsError
from rankforce.files.decompression import opened
from rankforce.remedies import Remedy

_LETOR = re.compile(rb"^[^\s#]+[ \t]+qid:", re.MULTILINE)


class Usage(Remedy):
    """The arguments of the command, in their order."""

    def python(self) -> str:
        return "data and models in the order of the command"


def check_is_data(path: str | os.PathLike[str]) -> None:
    """Raise for a model file in the place of data."""
    from rankforce.data.file_formats import is_table
    from rankforce.importing.recognising import looks_like_model

    if not is_table(os.fspath(path)) and looks_like_model(os.fspath(path)):
        raise SettingsError(f"{displayed_path(path)} is a model file, and stands where data is expected: ", Usage())


def load_model(path: str | os.PathLike[str]) -> Any:
    """The model of a file; raise for a data file in its place."""
    import rankforce as rf

    check_is_no_data(path, "a model")
    return rf.load(path)


def check_is_no_data(path: str | os.PathLike[str], expected: str) -> None:
    """Raise for a data file in the place of a model or a ranking."""
    if _holds_data(Path(path)):
        raise SettingsError(
            f"{displayed_path(path)} is a data file, and stands where {expected} is expected: ", Usage()
        )


def _holds_data(path: Path) -> bool:
    """Whether a file is a table by its name, or begins as LETOR text."""
    from rankforce.data.file_formats import is_table

    if not path.is_file():
        return False
    if is_table(path.name):
        return True
    try:
        with opened(path) as stream:
            return _LETOR.search(bytes(stream.read(4096))) is not None
    except (OSError, EOFError, zlib.error, RankforceError):
        return False  # what is wrong with it is told by who reads it
