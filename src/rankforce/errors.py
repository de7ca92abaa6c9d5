"""One exception family: everything rankforce raises on purpose is a RankforceError.

A message says what is wrong, where, and what to do about it. What to do is data (``rankforce.remedies``).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

from rankforce.displayed_text import displayed_lines, displayed_path
from rankforce.remedies import Remedy, Words, in_python, parts_of, spelled


class Worded(Exception):
    """An exception whose arguments are its message: words and remedies, in the order in which they are read.

    Its text is safe to print, whatever names it repeats.
    """

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)

    def __str__(self) -> str:
        return self.spelled()

    def spelled(self, spelling: Callable[[Remedy], str] = in_python) -> str:
        """The message, each remedy in its spelling: Python's, unless another is given."""
        return displayed_lines(spelled(self.args, spelling))

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """What the user can write to put it right."""
        return tuple(part for part in self.args if isinstance(part, Remedy))


class RankforceError(Worded, ValueError):
    """Base of all errors that rankforce raises on purpose."""


class DataError(RankforceError):
    """The data given cannot be what the user meant."""


class FileFormatError(DataError):
    """A file cannot be read: names the file, the place in it, the offending text and the remedy."""

    def __init__(
        self,
        problem: Words,
        *,
        path: object,
        line: int | None = None,
        column: int | None = None,
        text: str | None = None,
        remedy: Words | None = None,
    ) -> None:
        self.problem = problem
        self.path = str(path)
        self.line = line
        self.column = column
        self.text = text
        self.remedy = remedy
        super().__init__(*self._message())

    def _message(self) -> list[str | Remedy]:
        where = displayed_path(self.path)
        if self.line is not None:
            where += f", line {self.line}"
        if self.column is not None:
            where += f", column {self.column}"
        message = [f"{where}: ", *parts_of(self.problem)]
        if self.text is not None:
            shown = self.text if len(self.text) <= 80 else self.text[:77] + "..."
            message.append(f": {shown!r}")
        if self.remedy is not None:
            message += ["\n  ", *parts_of(self.remedy)]
        return message

    def __reduce__(self) -> tuple[object, ...]:
        place = (self.problem, self.path, self.line, self.column, self.text, self.remedy)
        return _rebuild_file_format_error, place


def _rebuild_file_format_error(
    problem: Words,
    path: str,
    line: int | None,
    column: int | None,
    text: str | None,
    remedy: Words | None,
) -> FileFormatError:
    return FileFormatError(problem, path=path, line=line, column=column, text=text, remedy=remedy)


class MeasureError(RankforceError):
    """A measure is unknown, has impossible parameters, or does not fit the labels."""


class SettingsError(RankforceError):
    """A setting of a ranker, an objective or a command is impossible or contradicts another."""


class UnknownArgumentError(SettingsError, TypeError):
    """A keyword that there is not: Python's TypeError, with what was meant."""


class ModelFileError(RankforceError):
    """A model file is damaged, foreign, or newer than this version."""


class NotFittedError(RankforceError, AttributeError):
    """A ranker was asked for something that only exists after ``fit``."""


class PeerLostError(RankforceError):
    """Another member of a training is gone or silent; the training can go on with those that are left.

    ``unfinished`` is what had been learned by then (``rankforce.training.unfinished.Unfinished``); None if nothing was.
    """

    unfinished: Any = None
    silent: int | None = None  # the rank of a member that is there and says nothing


class ClusterError(RankforceError):
    """Work on a cluster could not go on: says what happened."""


class MissingDependencyError(RankforceError, ImportError):
    """An optional package is needed: the message says which one and how to install it."""


class RankforceWarning(Worded, UserWarning):
    """Base of all warnings that rankforce gives."""


def warn(message: str | RankforceWarning, category: type[RankforceWarning] = RankforceWarning) -> None:
    """Warn of the line outside this package that led here; a warning that is made already keeps its category."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "rankforce":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def missing_dependency(package: str, extra: str, purpose: str) -> MissingDependencyError:
    """The error for an optional package that is not installed."""
    return MissingDependencyError(
        f"{purpose} needs {package}, which is not installed: "
        f"pip install '.[{extra}]' in the folder of rankforce's repository (or: pip install {package})"
    )
