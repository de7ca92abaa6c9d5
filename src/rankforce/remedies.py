"""Remedies as data: what to write, spelt as Python here and as it is typed in a shell by the command line.

A message is made of words and remedies in the order in which they are read::

    SettingsError("no curvature to divide by: use ", Setting("step", "gradient"))

``str(error)`` reads "... use step='gradient'"; ``rankforce train`` prints "... use --set step=gradient". What is
written alike in both is words: ``NDCG(gain=linear)``.
"""

from __future__ import annotations

import abc
import dataclasses
import enum
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias


class NoValue(enum.Enum):
    """In place of a value: the name alone is meant, as in "leave ties= out"."""

    NAME_ALONE = enum.auto()


NAME_ALONE: Final = NoValue.NAME_ALONE


class Remedy(abc.ABC):
    """Something that the user can write to put it right."""

    @abc.abstractmethod
    def python(self) -> str:
        """It as Python."""


@dataclasses.dataclass(frozen=True)
class _Named(Remedy):
    """A name and its value: ``name='value'``; with ``...`` some value, with NAME_ALONE none."""

    name: str
    value: Any = ...

    def python(self) -> str:
        if self.value is NAME_ALONE:
            return f"{self.name}="
        if self.value is ...:
            return f"{self.name}=..."
        value = self.value.item() if hasattr(self.value, "item") else self.value  # NumPy's scalars say their type
        return f"{self.name}={value!r}"


class Argument(_Named):
    """A keyword argument of the function that was called."""


class Setting(_Named):
    """A setting of the ranker."""


class ReadOption(_Named):
    """An option of ``rf.read``."""


class WriteOption(_Named):
    """An option of ``data.write``."""


class LogColumn(_Named):
    """The column of a session log for a role."""


@dataclasses.dataclass(frozen=True)
class Phrase(Remedy):
    """Words for Python, and others for a shell, where what is written differs in more than its spelling."""

    in_python: str
    in_shell: str

    def python(self) -> str:
        return self.in_python


MAKE_STORE = Phrase("rf.bin(data, path)", "rankforce bin DATA -o STORE")


@dataclasses.dataclass(frozen=True)
class ValidationData(Remedy):
    """Validation data for ``fit``."""

    def python(self) -> str:
        return "fit(train, validation=...)"


DOCUMENT_IDS: Final = Phrase(
    "data.replace(document_ids=...)",
    "write '#docid = ID' at the end of each line, or name the column: --read document=...",
)

Words: TypeAlias = "str | Remedy | Iterable[str | Remedy]"
"""A message or a part of one: words, a remedy, or several of them in the order in which they are read."""


def parts_of(words: Words) -> tuple[str | Remedy, ...]:
    """The parts of a message."""
    return (words,) if isinstance(words, (str, Remedy)) else tuple(words)


def in_python(remedy: Remedy) -> str:
    """A remedy as Python."""
    return remedy.python()


def spelled(words: Words, spelling: Callable[[Remedy], str] = in_python) -> str:
    """A message as text, each remedy in its spelling: Python's, unless another is given."""
    return "".join(spelling(part) if isinstance(part, Remedy) else str(part) for part in parts_of(words))
