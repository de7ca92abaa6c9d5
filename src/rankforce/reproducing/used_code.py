"""The code of this package that decides an experiment's rows: rules, drawings and words may change, and rows stay."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
from collections.abc import Iterator

PACKAGE = __package__
WORK = ("run", "run_fold", "parts")  # methods that decide rows
Definition = tuple[str, ast.stmt]  # and the module that it stands in


def used_code(experiment: type) -> dict[str, str]:
    """Every definition that the work of an experiment needs, directly or through others, in whatever module of this
    package it stands; by module and name. Of a class of experiments the methods and attributes that work uses, its base
    classes' with them. Of other modules the names alone. Docstrings and annotations count for nothing.
    """
    classes = [one for one in experiment.__mro__ if _is_ours(one.__module__)]
    members: dict[str, dict[str, Definition]] = {}
    for one in classes:
        for name, member in _named(_class_in(one)).items():
            members.setdefault(name, {})[f"{one.__module__}.{one.__name__}.{name}"] = (one.__module__, member)
    used: dict[str, str] = {}
    todo = [found for name in WORK for found in members.get(name, {}).items()]
    while todo:
        key, (module, statement) = todo.pop()
        if key in used:
            continue
        used[key] = ast.dump(statement)
        for name, of_self in _names(statement):
            if of_self:
                todo += members.get(name, {}).items()
            elif name not in {one.__name__ for one in classes}:
                todo += _resolved(module, name).items()
    return dict(sorted(used.items()))


def _resolved(module: str, name: str) -> dict[str, Definition]:
    """What a name of a module stands for: a definition there, or, imported from this package, the one elsewhere."""
    statement = definitions_of(module).get(name)
    if statement is None:
        return {}
    if isinstance(statement, ast.ImportFrom):
        (alias,) = (one for one in statement.names if (one.asname or one.name) == name)
        if statement.module is not None and _is_ours(statement.module):
            return _resolved(statement.module, alias.name)
        return {f"{statement.module}.{alias.name}": (module, ast.ImportFrom(statement.module, [alias], 0))}
    return {f"{module}.{name}": (module, statement)}


def _names(statement: ast.stmt) -> Iterator[tuple[str, bool]]:
    """The names that a statement reads, and whether they are members of ``self``."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            yield node.attr, True
        elif isinstance(node, ast.Name):
            yield node.id, False


@functools.cache
def definitions_of(module: str) -> dict[str, ast.stmt]:
    return _named(_bare(ast.parse(_text_of(module))))


def _text_of(module: str) -> str:
    return inspect.getsource(importlib.import_module(module))


def _class_in(one: type) -> ast.ClassDef:
    found = definitions_of(one.__module__)[one.__name__]
    assert isinstance(found, ast.ClassDef)
    return found


def _named(body: ast.Module | ast.ClassDef) -> dict[str, ast.stmt]:
    """Statements by the names that they define."""
    named: dict[str, ast.stmt] = {}
    for statement in body.body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            named[statement.name] = statement
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            named |= {alias.asname or alias.name: statement for alias in statement.names}
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names = [one for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
            named |= {one.id: statement for one in names}
    return named


def _bare(tree: ast.Module) -> ast.Module:
    """Without docstrings and annotations of functions."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            told = node.body[0]
            if isinstance(told, ast.Expr) and isinstance(told.value, ast.Constant):
                node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
    return tree


def _is_ours(module: str) -> bool:
    return module == PACKAGE or module.startswith(f"{PACKAGE}.")
