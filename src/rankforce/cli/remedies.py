"""Remedies as they are typed: an error says ``unlabelled="allow"`` in Python, ``--read unlabelled=allow`` in a shell.

The library words its errors for Python. What a keyword argument is called on the command line depends on who takes it:
an option of the command, ``--set`` for the ranker, ``--read`` and ``--write`` for files, ``--column`` for logs.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rankforce.errors import FileFormatError, RankforceError

# By keyword: what is typed before its value. After "=" the value follows at once, else after a space.
Spellings = Mapping[str, str]

_KEYWORD = re.compile(
    r"(?<![\w./'-])(?<!'s )(?<!--set )(?<!--read )(?<!--write )(?<!--column )"
    r"(?P<name>[a-z]\w*)="
    r"(?P<value>'[^']*'|\"[^\"]*\"|\['[^']*'\]|\[\.\.\.\]|\.\.\.|-?\d+(?:\.\d+)?(?:e-?\d+)?|True|False|None|)"
    r"(?![\w/(\[{'\"=])"
)

# Whole phrases, and what has no keyword of the same name.
_DOCUMENT_IDS = "write '#docid = ID' at the end of each line, or name the column: --read document=..."
_PHRASES = {
    "fit(train, validation=...)": ("validation", "--validation FILE"),
    "say sorted_by_session=False": ("sorted_by_session", "leave --sorted-by-session out"),
    "relative=False": ("absolute", "--absolute"),
    "data.replace(document_ids=...), or Preferences(data, better, worse) with numbers of rows": ("read", _DOCUMENT_IDS),
    "data.replace(document_ids=...)": ("read", _DOCUMENT_IDS),
    "use gain='linear', a table, or a function": ("measure", "write NDCG(gain=linear), or a table: NDCG(gain=0/1/3)"),
}


def keywords_of(function: Callable[..., Any]) -> list[str]:
    """The names that can only be given as keywords."""
    parameters = inspect.signature(function).parameters.values()
    return [one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY]


@contextlib.contextmanager
def typed_remedies(spellings: Callable[[], Spellings]) -> Iterator[None]:
    """Errors that leave this block name their remedies as they are typed."""
    try:
        yield
    except RankforceError as error:
        reword(error, lambda text: as_typed(text, spellings()))
        raise


def reword(error: RankforceError, worded: Callable[[str], str]) -> None:
    """Change the words of an error; of one about a file those of its remedy, for the others may be the file's."""
    if not isinstance(error, FileFormatError):
        error.args = (worded(str(error)),)
    elif error.remedy is not None:
        error.remedy = worded(error.remedy)


def as_typed(message: str, spellings: Spellings) -> str:
    """A message with the keyword arguments that have a spelling replaced by it. What stands in brackets is left."""

    def spelled(match: re.Match[str]) -> str:
        spelling = spellings.get(match["name"])
        before = message[: match.start()]
        if spelling is None or before.count("(") > before.count(")"):
            return match[0]
        return _typed(spelling, match["value"])

    return _KEYWORD.sub(spelled, message).replace("set --set ", "--set ")


def command_remedies(message: str, command: Callable[..., Any], given: Mapping[str, Any]) -> str:
    """A message with its remedies as they are typed for a command, which was called with the options ``given``."""
    options = _options(command)
    for phrase, (needed, typed) in _PHRASES.items():
        if needed in options:
            message = message.replace(phrase, typed)
    if "validation" not in options and "validation_share" in options:
        message = message.replace("fit(train, validation=...)", "--validation-share 0.2")
    known = _reading(options) | _settings(options, given) | _columns(options) | options
    return as_typed(message, known | {"gain": "gain="})


def reading_spellings() -> dict[str, str]:
    """How options of ``rankforce.read`` are typed."""
    from rankforce.data.letor import read_letor
    from rankforce.data.tables import read_table

    return {name: f"--read {name}=" for name in (*keywords_of(read_letor), *keywords_of(read_table))}


def writing_spellings() -> dict[str, str]:
    """How options of writing data are typed."""
    from rankforce.data.letor_writing import write_letor
    from rankforce.data.tables import write_table

    return {name: f"--write {name}=" for name in (*keywords_of(write_letor), *keywords_of(write_table))}


def _typed(spelling: str, value: str) -> str:
    value = value.strip("[]").strip("'\"")
    if not spelling.endswith("="):
        return f"{spelling} {shlex.quote(value)}" if value else spelling
    option, space, name = spelling.rpartition(" ")
    if value in ("True", "False") and option != "--set":
        value = value.lower()
    pair = f"{name}{value or 'VALUE'}"
    return option + space + (pair if pair.endswith("...") else shlex.quote(pair))


def _options(command: Callable[..., Any]) -> dict[str, str]:
    """The options of a command by the name of the parameter; arguments are none."""
    import typing

    import typer

    found = {}
    for name, hint in typing.get_type_hints(command, include_extras=True).items():
        for one in getattr(hint, "__metadata__", ()):
            if isinstance(one, typer.models.OptionInfo):
                found[name] = max(one.param_decls or (), key=len, default="--" + name.replace("_", "-"))
    return found


def _reading(options: Mapping[str, str]) -> dict[str, str]:
    """Options of reading, where the command has them: folds are read one by one while it works."""
    return reading_spellings() if "read" in options else {}


def _settings(options: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, str]:
    """The settings of the ranker that the command was told to train, where it trains one."""
    if "settings" not in options:
        return {}
    from rankforce.rankers.catalogue import ranker_class

    try:
        ranker: Any = ranker_class(given["ranker"])
    except RankforceError:
        return {}
    return {name: f"--set {name}=" for name in ranker._get_param_names()}


def _columns(options: Mapping[str, str]) -> dict[str, str]:
    """The columns of a log, where the command reads one."""
    if "column" not in options:
        return {}
    from rankforce.data.session_logs import COLUMN_NAMES

    return {role: f"--column {role}=" for role in COLUMN_NAMES}
