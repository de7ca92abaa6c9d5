"""What every format is: a writer, and a strict reader that scores as the engine does.

A format is one file in ``formats/`` with one class; nothing else is to be registered but its readers (``engines.py``).
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import importlib
import inspect
import pkgutil
from typing import Any, ClassVar

import numpy as np

from rankforce.data.categories import Category
from rankforce.errors import SettingsError
from rankforce.export import formats
from rankforce.export.emulation import Emulated
from rankforce.export.engines import MissingAs, Reader
from rankforce.export.feature_sets import FeatureSet
from rankforce.export.forms import AdditiveTrees, Form, set_features
from rankforce.kinds import check_choice


@dataclasses.dataclass(frozen=True, eq=False)
class Prepared:
    """A model ready to be written.

    form : missing values, shift and constant are as they are to be written
    missing : "zero" or "nan"
    reader : the engine that it is for; None: any
    name : of the model in the engine
    offset : what the engine's scores have more than the model's
    categories : of the engine's features, by their place; None for a numeric one, empty where nobody listed them
    categorical : the model's features that are categories
    remarks : what the user should know of how it was prepared
    """

    form: Form
    features: FeatureSet
    missing: str
    reader: Reader | None
    name: str
    offset: float = 0.0
    remarks: tuple[str, ...] = ()
    categories: tuple[tuple[Category, ...] | None, ...] = ()
    categorical: tuple[int, ...] = ()

    @property
    def behaviour(self) -> MissingAs:
        """What the engine does with missing values; if none is named, as the newest do."""
        return MissingAs.SIDE if self.reader is None else self.reader.missing


class Format(abc.ABC):
    """A kind of file that engines read."""

    NAME: ClassVar[str]
    TITLE: ClassVar[str]  # what it is, for lists
    SUFFIX: ClassVar[str]  # of files
    FORMS: ClassVar[tuple[Any, ...]] = (AdditiveTrees,)  # what it can hold
    BINARY: ClassVar[bool] = False
    DOUBLE: ClassVar[bool] = False  # whether engines feed it doubles, not float32
    SETS: ClassVar[tuple[str, ...]] = ()  # engines to which it can say that a category is in a set

    def refuse(self, form: Form) -> None:
        """Raise if the format cannot hold a form. More than ``FORMS`` says: a net may be too deep."""
        if not isinstance(form, self.FORMS):
            able = [kind.NAME for kind in format_classes().values() if isinstance(form, kind.FORMS)]
            held = ", ".join(kind.CALLED for kind in self.FORMS)
            others = f"; it can be written as {', '.join(map(repr, able))}" if able else ""
            raise SettingsError(f"the model is {form.CALLED}, and {self.NAME!r} holds {held}{others}")
        if not self.SETS and len(set_features(form)):
            able = [kind.NAME for kind in format_classes().values() if kind.SETS and isinstance(form, kind.FORMS)]
            raise SettingsError(
                f"the model asks whether categories are in sets, and {self.NAME!r} can only compare numbers: write it "
                f"as {', '.join(map(repr, able))}, or train it on numbers, for example a column of 0 and 1 per category"
            )

    def suited(self, form: Form) -> tuple[Form, tuple[str, ...]]:
        """The form as the format can say it, where there are several ways to say a thing; and what to tell of it."""
        return form, ()

    def keeps_constant(self, form: Form) -> bool:
        """Whether the format has a place for the constant; if not, scores are those of the model less it."""
        return True

    def misreading(self, name: str, reader: Reader | None) -> str | None:
        """What the engine would make of a feature of this name that the model uses, if that is not right."""
        return None

    def suffix(self, path: str) -> str:
        """What the file is, where the ending of its name decides."""
        return self.SUFFIX

    @abc.abstractmethod
    def write(self, prepared: Prepared, suffix: str) -> bytes:
        """The file."""

    @abc.abstractmethod
    def read(self, written: bytes, prepared: Prepared, suffix: str) -> Emulated:
        """The file as the engine reads it: strictly, from its bytes alone (features by their names in the engine)."""

    def expected(self, scores: np.ndarray, prepared: Prepared) -> np.ndarray:
        """The engine's scores where the model has these, in exact arithmetic."""
        return scores + prepared.offset

    def notes(self, prepared: Prepared) -> list[str]:
        """What the user should know of this file."""
        return []


@functools.cache
def format_classes() -> dict[str, type[Format]]:
    """Every format by its name, found because its file is in ``formats/``."""
    found = {}
    for module in pkgutil.iter_modules(formats.__path__):
        imported = importlib.import_module(f"{formats.__name__}.{module.name}")
        for member in vars(imported).values():
            mine = inspect.isclass(member) and member.__module__ == imported.__name__
            if mine and issubclass(member, Format) and "NAME" in vars(member):
                found[member.NAME] = member
    return dict(sorted(found.items()))


def format_named(name: Any) -> Format:
    """A format by its name."""
    check_choice("format", name, tuple(format_classes()))
    return format_classes()[name]()
