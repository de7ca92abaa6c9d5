"""What a code object does, apart from where it stands.

File names, line numbers, docstrings, names of local variables and of the function itself are left out: a function that
moved, or whose comments were edited, has the same operations. Bytecode, not source, is read: it is what runs, also
where a file was edited since, or where there is none. It is that of one version of Python.
"""

from __future__ import annotations

import bisect
import dis
import inspect
import itertools
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

_KINDS = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ITERABLE_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)
_FILLING = frozenset({"NOP", "CACHE", "EXTENDED_ARG"})  # where they stand depends on line numbers and sizes
# What the body of a class stores under these names says where it stands, not what it does.
_PLACES = frozenset({"__doc__", "__qualname__", "__firstlineno__", "__static_attributes__"})
_GLOBALS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
_CLOSURES = frozenset({"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"})
_ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD"})


class Constant(NamedTuple):
    """The argument of an operation that loads a constant; a nested function is one, too."""

    value: Any


class Imported(NamedTuple):
    """An import within a function."""

    module: str
    level: int  # the dots of a relative import
    names: tuple[str, ...]  # of ``from module import names``; empty for the module itself


def signature(code: CodeType) -> tuple[Any, ...]:
    """How the code is called: numbers and names of parameters, and what kind of function it is."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    numbers = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & _KINDS)
    return (*numbers, *code.co_varnames[:count], "free", *code.co_freevars)


def operations(code: CodeType) -> Iterator[tuple[str, Any]]:
    """Every operation with its argument: a number, a name, a ``Constant``, or the number of the operation jumped to.

    The ranges that exceptions are caught in follow as operations of their own.
    """
    kept = _instructions(code)
    offsets = [instruction.offset for instruction in kept]
    jumps = {*dis.hasjrel, *dis.hasjabs}
    for index, instruction in enumerate(kept):
        argument: Any = instruction.arg
        if instruction.opcode in dis.hasconst:
            argument = None if _says_where(kept, index) else Constant(instruction.argval)
        elif instruction.opcode in jumps:
            argument = bisect.bisect_left(offsets, instruction.argval)
        elif instruction.opcode in dis.hasname:
            argument = f"{instruction.argval} {instruction.argrepr}"
        yield instruction.opname, argument
    for entry in dis.Bytecode(code).exception_entries:  # type: ignore[attr-defined]  # typeshed does not know them
        ends = [bisect.bisect_left(offsets, offset) for offset in (entry.start, entry.end, entry.target)]
        yield "CATCH", (*ends, entry.depth, entry.lasti)


def globals_read(code: CodeType) -> dict[str, set[tuple[str, ...]]]:
    """The globals that the code and its nested functions read, each with what follows it.

    ``np.linalg.norm(x)`` reads ``np`` followed by ``("linalg", "norm")``; ``f(np)`` reads ``np`` followed by ``()``.
    """
    return _names_read(code, _GLOBALS)


def closures_read(code: CodeType) -> dict[str, set[tuple[str, ...]]]:
    """The variables of enclosing functions that the code and its nested functions read; as ``globals_read``."""
    return _names_read(code, _CLOSURES)


def imports(code: CodeType) -> Iterator[Imported]:
    """The imports within the code and its nested functions."""
    kept = _instructions(code)
    for index, instruction in enumerate(kept):
        if instruction.opname == "IMPORT_NAME":
            level, names = kept[index - 2].argval, kept[index - 1].argval
            yield Imported(instruction.argval, level if isinstance(level, int) else 0, tuple(names or ()))
    for nested in _nested(code):
        yield from imports(nested)


def _names_read(code: CodeType, opnames: frozenset[str]) -> dict[str, set[tuple[str, ...]]]:
    names: dict[str, set[tuple[str, ...]]] = {}
    kept = _instructions(code)
    for index, instruction in enumerate(kept):
        if instruction.opname in opnames:
            following = itertools.takewhile(lambda one: one.opname in _ATTRIBUTES, kept[index + 1 :])
            names.setdefault(instruction.argval, set()).add(tuple(one.argval for one in following))
    for nested in _nested(code):
        for name, chains in _names_read(nested, opnames).items():
            names.setdefault(name, set()).update(chains)
    return names


def _instructions(code: CodeType) -> list[dis.Instruction]:
    return [instruction for instruction in dis.get_instructions(code) if instruction.opname not in _FILLING]


def _says_where(instructions: list[dis.Instruction], place: int) -> bool:
    following = instructions[place + 1] if place + 1 < len(instructions) else None
    return following is not None and following.opname == "STORE_NAME" and following.argval in _PLACES


def _nested(code: CodeType) -> Iterator[CodeType]:
    return (constant for constant in code.co_consts if isinstance(constant, CodeType))
