"""One exception family: everything rankforce raises on purpose is a RankforceError.

A message says what is wrong, where, and what to do about it.
"""

from __future__ import annotations

from rankforce.displayed_text import displayed_lines, displayed_path


class RankforceError(ValueError):
    """Base of all errors that rankforce raises on purpose. Its text is safe to print, whatever names it repeats."""

    def __str__(self) -> str:
        return displayed_lines(super().__str__())


class DataError(RankforceError):
    """The data given cannot be what the user meant."""


class FileFormatError(DataError):
    """A file cannot be read: names the file, the place in it, the offending text and the remedy."""

    def __init__(
        self,
        problem: str,
        *,
        path: object,
        line: int | None = None,
        column: int | None = None,
        text: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.problem = problem
        self.path = str(path)
        self.line = line
        self.column = column
        self.text = text
        self.remedy = remedy
        super().__init__(str(self))

    def __str__(self) -> str:
        where = displayed_path(self.path)
        if self.line is not None:
            where += f", line {self.line}"
        if self.column is not None:
            where += f", column {self.column}"
        message = f"{where}: {self.problem}"
        if self.text is not None:
            shown = self.text if len(self.text) <= 80 else self.text[:77] + "..."
            message += f": {shown!r}"
        if self.remedy is not None:
            message += f"\n  {self.remedy}"
        return displayed_lines(message)

    def __reduce__(self) -> tuple[object, ...]:
        place = (self.problem, self.path, self.line, self.column, self.text, self.remedy)
        return _rebuild_file_format_error, place


def _rebuild_file_format_error(
    problem: str,
    path: str,
    line: int | None,
    column: int | None,
    text: str | None,
    remedy: str | None,
) -> FileFormatError:
    return FileFormatError(problem, path=path, line=line, column=column, text=text, remedy=remedy)


class MeasureError(RankforceError):
    """A measure is unknown, has impossible parameters, or does not fit the labels."""


class SettingsError(RankforceError):
    """A setting of a ranker, an objective or a command is impossible or contradicts another."""


class ModelFileError(RankforceError):
    """A model file is damaged, foreign, or newer than this version."""


class NotFittedError(RankforceError, AttributeError):
    """A ranker was asked for something that only exists after ``fit``."""


class MissingDependencyError(RankforceError, ImportError):
    """An optional package is needed: the message says which one and how to install it."""


class RankforceWarning(UserWarning):
    """Base of all warnings that rankforce gives. Its text is safe to print, too."""

    def __str__(self) -> str:
        return displayed_lines(super().__str__())


def missing_dependency(package: str, extra: str, purpose: str) -> MissingDependencyError:
    """The error for an optional package that is not installed."""
    return MissingDependencyError(
        f"{purpose} needs {package}, which is not installed: "
        f"pip install 'rankforce[{extra}]' (or: pip install {package})"
    )
