"""Kinds of values: what a setting or an argument may be. A kind checks values, and reads them from text.

Messages say what is possible. Values are never changed by a check.
"""

from __future__ import annotations

import abc
import dataclasses
import inspect
import math
import types
import typing
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from rankforce import text_values
from rankforce.errors import RankforceError, SettingsError

MOST = 2**31 - 1  # of whole numbers that count something
_LONGEST = 100  # characters of a value in a message


def shown(value: Any) -> str:
    """A value as a message can hold it: shortened, and safe against objects that cannot be shown."""
    try:
        text = repr(value)
    except Exception:  # a number of more digits than Python writes, or an object of the user's
        return f"a value of the type {type(value).__name__}"
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


class Kind(abc.ABC):
    """What a value may be."""

    EXPLAINS: ClassVar[bool] = False  # whether its ``check`` has words of its own

    @property
    @abc.abstractmethod
    def wanted(self) -> str:
        """The kind in words, behind "must be"."""

    @abc.abstractmethod
    def holds(self, value: Any) -> bool:
        """Whether a value is of this kind."""

    @abc.abstractmethod
    def read(self, text: str) -> Any:
        """The value that a text says, of this kind or not; a ValueError where it says none."""

    def wanted_for(self, value: Any) -> str:
        """The kind in words, to someone who has given this value."""
        return self.wanted

    def check(self, name: str, value: Any) -> None:
        """Raise unless the value is of this kind; ``name`` is what it was given as."""
        if not self.holds(value):
            raise SettingsError(f"{name} must be {self.wanted_for(value)}, not {shown(value)}")

    def read_checked(self, text: str, name: str, typed: str) -> Any:
        """The value ``name`` out of a text; ``typed`` is all that was typed, for the error."""
        try:
            value = self.read(text)
        except ValueError:
            value = text
        try:
            self.check(name, value)
        except RankforceError as error:
            raise SettingsError(f"{typed}: {error}") from None
        return value


@dataclasses.dataclass(frozen=True)
class Number(Kind):
    """A finite number in [least, most]; with ``above`` in (least, most]."""

    least: float = -math.inf
    most: float = math.inf
    above: bool = False

    @property
    def noun(self) -> str:
        """What it is, without its bounds."""
        return "a number"

    @property
    def wanted(self) -> str:
        words = self.noun
        if self.least > -math.inf:
            words += f" {'above' if self.above else 'of at least'} {self.least:g}"
        if self.most < math.inf:
            words += f" {'and' if self.least > -math.inf else 'of'} at most {_digits(self.most)}"
        return words

    def is_one(self, value: Any) -> bool:
        """Whether a value is a number at all."""
        return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)

    def holds(self, value: Any) -> bool:
        if not self.is_one(value):
            return False
        try:
            finite = math.isfinite(value)
        except OverflowError:  # a whole number beyond all floats
            return False
        return finite and (self.least < value if self.above else self.least <= value) and bool(value <= self.most)

    def read(self, text: str) -> Any:
        return text_values.number(text_values.unquoted(text))


@dataclasses.dataclass(frozen=True)
class Whole(Number):
    """A whole number from ``least`` to ``most``."""

    least: int = 0
    most: int = MOST

    @property
    def noun(self) -> str:
        return "a whole number"

    @property
    def wanted(self) -> str:
        if self.most == MOST:
            return f"{self.noun} of at least {_digits(self.least)}"
        return super().wanted

    def is_one(self, value: Any) -> bool:
        return isinstance(value, (int, np.integer)) and not isinstance(value, bool)

    def wanted_for(self, value: Any) -> str:
        beyond = self.most == MOST and self.is_one(value) and value > MOST
        return f"{self.wanted} and at most {MOST}" if beyond else self.wanted


def _digits(bound: float) -> str:
    return str(bound) if isinstance(bound, int) else f"{bound:g}"


@dataclasses.dataclass(frozen=True)
class Switch(Kind):
    """True or false."""

    @property
    def wanted(self) -> str:
        return "True or False"

    def holds(self, value: Any) -> bool:
        return isinstance(value, (bool, np.bool_))

    def read(self, text: str) -> Any:
        return text_values.truth(text_values.unquoted(text))


@dataclasses.dataclass(frozen=True)
class Text(Kind):
    """A text that is not empty."""

    what: str = "a text"

    @property
    def wanted(self) -> str:
        return self.what

    def holds(self, value: Any) -> bool:
        return isinstance(value, str) and value != ""

    def read(self, text: str) -> Any:
        return text_values.unquoted(text)


@dataclasses.dataclass(frozen=True)
class Choice(Kind):
    """One of several words."""

    words: tuple[str, ...]

    @property
    def wanted(self) -> str:
        return f"{'one of ' if len(self.words) > 1 else ''}{', '.join(map(repr, self.words))}"

    def holds(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.words

    def read(self, text: str) -> Any:
        return text_values.unquoted(text)


@dataclasses.dataclass(frozen=True)
class Several(Kind):
    """A list of values of one kind, at least one."""

    kind: Kind
    what: str | None = None

    @property
    def wanted(self) -> str:
        return f"a list in which everything is {self.kind.wanted}" if self.what is None else self.what

    def holds(self, value: Any) -> bool:
        return _is_list(value) and len(value) > 0 and all(self.kind.holds(part) for part in value)

    def read(self, text: str) -> Any:
        if text.lstrip().startswith(("[", "(")):
            return text_values.python_value(text)
        return [self.kind.read(part) for part in text_values.parts(text)]


def _listed(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _is_list(value: Any) -> bool:
    """A list, a tuple, or an array of one dimension."""
    return isinstance(value, (list, tuple)) or (getattr(value, "ndim", None) == 1 and hasattr(value, "tolist"))


@dataclasses.dataclass(frozen=True)
class Either(Kind):
    """Of one kind or another; a text is read as the first that it fits."""

    kinds: tuple[Kind, ...]

    @property
    def wanted(self) -> str:
        return _listed([kind.wanted for kind in self.kinds])

    def holds(self, value: Any) -> bool:
        return any(kind.holds(value) for kind in self.kinds)

    def read(self, text: str) -> Any:
        for kind in self.kinds:
            try:
                value = kind.read(text)
            except ValueError:
                continue
            if kind.holds(value):
                return value
        raise ValueError(f"{text!r} is not {self.wanted}")


@dataclasses.dataclass(frozen=True)
class OrNone(Kind):
    """Of a kind, or None."""

    kind: Kind

    @property
    def wanted(self) -> str:
        return self.wanted_for(None)

    def holds(self, value: Any) -> bool:
        return value is None or self.kind.holds(value)

    def read(self, text: str) -> Any:
        if text_values.is_none(text) and not (isinstance(self.kind, Choice) and text in self.kind.words):
            return None
        return self.kind.read(text)

    def wanted_for(self, value: Any) -> str:
        if isinstance(self.kind, Either):
            return _listed([*(kind.wanted for kind in self.kind.kinds), "None"])
        return f"{self.kind.wanted_for(value)} or None"

    def check(self, name: str, value: Any) -> None:
        if value is not None and self.kind.EXPLAINS:
            self.kind.check(name, value)
        super().check(name, value)


@dataclasses.dataclass(frozen=True)
class Understood(Kind):
    """What a function of this package understands, which raises its own error: a measure, a λ-function, pairs."""

    EXPLAINS: ClassVar[bool] = True

    function: Callable[[Any], Any]
    reader: Callable[[str], Any] = text_values.unquoted

    @property
    def wanted(self) -> str:
        return "understood"

    def holds(self, value: Any) -> bool:
        try:
            self.function(value)
        except ValueError:
            return False
        return True

    def check(self, name: str, value: Any) -> None:
        self.function(value)

    def read(self, text: str) -> Any:
        return self.reader(text)


@dataclasses.dataclass(frozen=True)
class FunctionOf(Kind):
    """A function that can be called with so many arguments; a class is none."""

    arguments: int
    what: str = "a function"

    @property
    def wanted(self) -> str:
        return f"{self.what} of {'one argument' if self.arguments == 1 else f'{self.arguments} arguments'}"

    def holds(self, value: Any) -> bool:
        if not callable(value) or isinstance(value, type):
            return False
        try:
            inspect.signature(value).bind(*range(self.arguments))
        except TypeError:
            return False
        except ValueError:  # a function of an extension, which does not say
            return True
        return True

    def read(self, text: str) -> Any:
        raise ValueError("a function cannot be written as text")


@dataclasses.dataclass(frozen=True)
class Anything(Kind):
    """A value that is checked where it is used; a text is read as Python writes values, else it stays a text."""

    what: str = "a value"

    @property
    def wanted(self) -> str:
        return self.what

    def holds(self, value: Any) -> bool:
        return True

    def read(self, text: str) -> Any:
        return text_values.plain_value(text)


def kind_of(annotation: Any) -> Kind:
    """The kind that a type annotation declares: numbers, truth values, words, texts, lists of texts, perhaps None."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return Choice(tuple(map(str, arguments)))
    if origin in (typing.Union, types.UnionType):
        rest = [kind_of(one) for one in arguments if one is not type(None)]
        some = rest[0] if len(rest) == 1 else Either(tuple(sorted(rest, key=_last_resort)))
        return OrNone(some) if type(None) in arguments else some
    if annotation is bool:
        return Switch()
    if annotation is int:
        return Whole(-MOST)
    if annotation is float:
        return Number()
    if annotation is str:
        return Text()
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return Several(Text())
    return Anything()


def _last_resort(kind: Kind) -> int:
    """Every text is a text: it is tried after all that is more."""
    return 2 if isinstance(kind, Anything) else int(isinstance(kind, (Text, Several)))


def check_number(
    name: str,
    value: Any,
    lowest: float,
    highest: float = math.inf,
    *,
    whole: bool = False,
    above: bool = False,
    optional: bool = False,
) -> None:
    """Raise unless ``value`` is a number in [lowest, highest] (with ``above``: in (lowest, highest])."""
    kind: Kind = Number(lowest, highest, above)
    if whole:
        kind = Whole(int(lowest), MOST if highest == math.inf else int(highest), above)
    (OrNone(kind) if optional else kind).check(name, value)


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Raise unless ``value`` is one of the choices."""
    Choice(tuple(choices)).check(name, value)


def check_switches(**values: Any) -> None:
    """Raise unless every value is True or False."""
    for name, value in values.items():
        Switch().check(name, value)
