"""``--import file.py``: measures and λ-functions that the user wrote, known by name from then on."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import CodeType

from rankforce.errors import SettingsError
from rankforce.written_forms import how_different


def import_measures(paths: Sequence[Path]) -> None:
    """Run Python files; their measures can then be named with ``-m``, their λ-functions with ``--lambda-function``."""
    known: dict[str, tuple[Path, type]] = {}
    for path in paths:
        for member in _import_file(path):
            first, other = known.setdefault(member.__name__, (path, member))
            difference = how_different(other, member)
            if difference:
                raise SettingsError(
                    f"--import {path}: {member.__name__} is in {first}, too, and is not the same ({difference}): the "
                    "name would mean either; give one of them another"
                )


class _SourceLoader(importlib.machinery.SourceFileLoader):
    """Compiles the file as it is now.

    Python's own loader takes byte code kept beside the file if time (in whole seconds) and size agree: an edit of one
    digit within a second would go unseen, and two measures that differ would count as one.
    """

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _import_file(path: Path) -> list[type]:
    """The measures and λ-functions of a file."""
    from rankforce.compiling.kernel_values import is_complete
    from rankforce.lambdas import catalogue as lambdas
    from rankforce.lambdas.base import LambdaFunction
    from rankforce.measures import catalogue as measures
    from rankforce.measures.measure import Measure

    if not path.is_file():
        raise SettingsError(f"--import {path}: there is no such file")
    # A name of its own: a user's file called numpy.py must not become numpy.
    name = f"imported_by_rankforce_{path.stem}"
    if path.suffix != ".py":
        raise SettingsError(f"--import {path}: not a Python file (its name must end in .py)")
    loader = _SourceLoader(name, str(path))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise SettingsError(f"--import {path}{_place(error, path)}: {type(error).__name__}: {error}") from error
    classes = [member for member in vars(module).values() if isinstance(member, type) and member.__module__ == name]
    own_measures = [m for m in classes if issubclass(m, Measure) and is_complete(m)]
    own_lambdas = [m for m in classes if issubclass(m, LambdaFunction) and is_complete(m)]
    if not own_measures and not own_lambdas:
        raise SettingsError(
            f"--import {path}: no measure in it, and no λ-function; a measure is a class derived from "
            "rankforce.Measure with the methods normaliser and value, a λ-function is derived from "
            "rankforce.lambdas.PairwiseLambdaFunction with the method pair_of_gap or from "
            "rankforce.lambdas.ListwiseLambdaFunction with the method forces"
        )
    for kind, own_classes, ours in (
        ("measure", own_measures, measures.measure_classes()),
        ("λ-function", own_lambdas, lambdas.lambda_function_classes()),
    ):
        for member in own_classes:
            if member.__name__ in ours:
                raise SettingsError(
                    f"--import {path}: {member.__name__} is a {kind} of rankforce already; give yours another name"
                )
    return [*own_measures, *own_lambdas]


def _place(error: Exception, path: Path) -> str:
    """`` line n`` of the user's file where an error came from."""
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == path]
    return f", line {lines[-1]}" if lines else ""
