"""Remedies as they are typed: an error says ``unlabelled='allow'`` in Python, ``--read unlabelled=allow`` in a shell.

Errors and warnings carry their remedies as data (``rankforce.remedies``); here each gets its spelling. In every command
settings are typed after ``--set``, options of files after ``--read`` and ``--write``, columns of a log after
``--column``.
An argument of a function is the option of the same name, if the command has it.
"""

from __future__ import annotations

import shlex
import typing
from collections.abc import Callable, Mapping
from typing import Any

import typer

from rankforce.cli.misplaced_files import Usage
from rankforce.displayed_text import escaped
from rankforce.errors import Worded
from rankforce.remedies import (
    NAME_ALONE,
    Argument,
    LogColumn,
    Phrase,
    ReadOption,
    Remedy,
    Setting,
    ValidationData,
    WriteOption,
)

_PAIRS: Mapping[type[Remedy], str] = {
    Setting: "--set",
    ReadOption: "--read",
    WriteOption: "--write",
    LogColumn: "--column",
}


def in_shell(message: Worded, command: Callable[..., Any]) -> str:
    """The message of an error or a warning, with its remedies as they are typed for a command."""
    options = options_of(command)
    return message.spelled(lambda remedy: usage_of(command) if isinstance(remedy, Usage) else typed(remedy, options))


def usage_of(command: Callable[..., Any]) -> str:
    """A command with its arguments in their order: ``rankforce evaluate DATA RANKING``."""
    words = ["rankforce", command.__name__.replace("_", "-")]
    for name, hint in typing.get_type_hints(command, include_extras=True).items():
        for declared in getattr(hint, "__metadata__", ()):
            if isinstance(declared, typer.models.ArgumentInfo):
                words.append(declared.metavar or name.upper())
    return " ".join(words)


def typed(remedy: Remedy, options: Mapping[str, str]) -> str:
    """A remedy as it is typed for a command with these options (by the name of the parameter)."""
    if isinstance(remedy, Phrase):
        return remedy.in_shell
    if isinstance(remedy, ValidationData):
        return _validation(remedy, options)
    if isinstance(remedy, Argument):
        return _argument(remedy, options)
    if isinstance(remedy, ReadOption) and remedy.name == "categorical" and "categorical" in options:
        return _argument(Argument(remedy.name, remedy.value), options)
    option = _PAIRS.get(type(remedy))
    if option is None:
        return remedy.python()
    return _pair(option, remedy)


def options_of(command: Callable[..., Any]) -> dict[str, str]:
    """The options of a command by the name of the parameter; arguments are none."""
    options = {}
    for name, hint in typing.get_type_hints(command, include_extras=True).items():
        for declared in getattr(hint, "__metadata__", ()):
            if isinstance(declared, typer.models.OptionInfo):
                # typer keeps the first spelling of an annotated option as its default
                spellings = [one for one in (declared.default, *(declared.param_decls or ())) if isinstance(one, str)]
                options[name] = max(spellings, key=len, default="--" + name.replace("_", "-"))
    return options


def _validation(remedy: ValidationData, options: Mapping[str, str]) -> str:
    if "validation" in options:
        return "--validation FILE"
    return "--validation-share 0.2" if "validation_share" in options else remedy.python()


def _argument(remedy: Argument, options: Mapping[str, str]) -> str:
    option = options.get(remedy.name)
    if option is None:  # the command decides it: there is nothing to type
        return remedy.python()
    if remedy.value is NAME_ALONE or remedy.value is True:
        return option
    return f"{option} ..." if remedy.value is ... else f"{option} {_quoted(_text(remedy.value))}"


def _pair(option: str, remedy: Any) -> str:
    """``--set name=value``, quoted where a shell asks for it."""
    if remedy.value is NAME_ALONE:
        return f"{option} {remedy.name}"
    if remedy.value is ...:
        return f"{option} {remedy.name}=..."
    # --set reads a value as Python writes it; the others know lists with commas, true and false
    value = str(remedy.value) if option == "--set" else _text(remedy.value)
    return f"{option} {_quoted(f'{remedy.name}={value}')}"


def _quoted(text: str) -> str:
    """One word of a shell; with signs that a terminal would obey written as their escapes, which shells read back."""
    if text.isprintable():
        return shlex.quote(text)
    return "$'" + escaped(text.replace("\\", r"\\").replace("'", r"\'")) + "'"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value == "\t":
        return r"\t"
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
