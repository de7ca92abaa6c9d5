"""The shape of the package: who may import whom, and where the compiler is known.

Imports are read from the source with ``ast``; nothing is imported.
"""

from __future__ import annotations

import ast
import collections
import importlib
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.conftest import LONG

import rankforce
from rankforce.compiling.cache import COMPILED_SOURCES

PACKAGE = Path(rankforce.__file__).parent

# Each package knows those before it, and no other: the list is one order for all of them.
ORDER = (
    "public_names", "dtypes", "exact_sums", "cached_properties", "text_values", "displayed_text", "remedies", "errors",
    "collective", "kinds", "memory", "processors", "files", "console", "compiling", "threads", "kernels",
    "user_code", "written_forms", "data", "click_models", "measures", "lambdas", "schedules", "objectives", "binning",
    "stores", "trees", "models", "importing", "forces", "evaluation", "simulating", "inspection", "explaining",
    "drifting", "migration", "training", "sweeping", "boosting", "nets", "xrank", "optimising", "tuning", "rankers",
    "combining", "diagnostics", "export", "plot", "reporting", "reproducing", "distributed", "torch", "serving", "cli",
    "__main__",
)  # fmt: skip
HEIGHT = {package: height for height, package in enumerate(ORDER)}

# Above data and measures, an exporter sees models and nothing else.
SEEN_BY_EXPORT = {*ORDER[: HEIGHT["measures"] + 1], "models", "export"}

KNOW_NUMBA = tuple(
    f"compiling/{name}.py" for name in ("compilers", "jit", "cache", "kernel_values", "intrinsics", "vector_intrinsics")
)

FORBIDDEN_NAMES = ("util", "helper", "common", "misc")

MOST_LINES_OF_A_FILE = 400
LONGER_FILES: set[str] = set()
MOST_LINES_OF_A_FUNCTION = 60  # of its body: neither the signature nor the docstring counts
# Loops over arrays, and the instructions that are built for them, are long where calls would cost time.
LONG_FUNCTIONS = ("kernels/", "compiling/intrinsics.py", "compiling/vector_intrinsics.py")


class Import(NamedTuple):
    file: str  # relative to the package
    line: int
    module: str  # in full
    lazy: bool  # inside a function
    for_types_only: bool  # under ``if TYPE_CHECKING``


def sources():
    return sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)


def relative(path):
    return path.relative_to(PACKAGE).as_posix()


def imports_of(path):
    """Every import of a file; names imported from the package itself are resolved to its modules."""
    found = []

    def visit(node, lazy, for_types_only):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            lazy = True
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for_types_only = True
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{relative(path)}:{node.lineno}: write the import in full"
            modules = [node.module]
            if node.module == "rankforce":
                modules = [f"rankforce.{alias.name}" for alias in node.names]
        found.extend(Import(relative(path), node.lineno, module, lazy, for_types_only) for module in modules)
        for child in ast.iter_child_nodes(node):
            visit(child, lazy, for_types_only)

    visit(ast.parse(path.read_text()), False, False)
    return found


IMPORTS = [one for path in sources() for one in imports_of(path)]


def package_of(name):
    """The part of rankforce that a file or a module belongs to: ``data``, ``jit``; "" for rankforce itself."""
    if name.endswith(".py"):
        return name.removesuffix(".py").partition("/")[0].removesuffix("__init__")
    return [*name.split("."), ""][1]


def test_imports_were_found():
    assert len(IMPORTS) > 100
    assert any(one.lazy for one in IMPORTS)
    assert {"numba", "numpy", "rankforce.compiling.jit", "rankforce.errors"} <= {one.module for one in IMPORTS}


def test_every_package_has_a_place():
    packages = {package_of(relative(path)) for path in sources()} - {""}
    assert packages <= set(HEIGHT), f"say in ORDER where {packages - set(HEIGHT)} belongs"


@pytest.mark.parametrize("package", ORDER)
def test_imports_point_down(package):
    wrong = []
    for one in IMPORTS:
        if package_of(one.file) != package or one.module.partition(".")[0] != "rankforce":
            continue
        target = package_of(one.module)
        if target == "":  # ``import rankforce``: the public names, which are loaded lazily
            upwards = not one.lazy
        else:
            upwards = HEIGHT[target] > HEIGHT[package]
        if upwards:
            wrong.append(f"{one.file}:{one.line} imports {one.module}")
    assert not wrong


def test_export_sees_models_only():
    wrong = [
        f"{one.file}:{one.line} imports {one.module}"
        for one in IMPORTS
        if package_of(one.file) == "export" and one.module.startswith("rankforce.")
        if package_of(one.module) not in SEEN_BY_EXPORT
    ]
    assert not wrong


def test_importing_rankforce_imports_nothing_of_it():
    wrong = [one for one in IMPORTS if one.file == "__init__.py" and not one.lazy and "rankforce" in one.module]
    assert not wrong


def test_only_these_files_know_the_compiler():
    wrong = [
        f"{one.file}:{one.line}"
        for one in IMPORTS
        if one.module.partition(".")[0] in ("numba", "llvmlite") and one.file not in KNOW_NUMBA
    ]
    assert not wrong


def test_the_compiler_is_loaded_inside_functions():
    assert all(one.lazy for one in IMPORTS if one.module.partition(".")[0] in ("numba", "llvmlite"))


def test_compiled_functions_stand_where_the_cache_looks_for_edits():
    wrong = []
    for path in sources():
        if relative(path).partition("/")[0] in COMPILED_SOURCES:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                names = {
                    ast.unparse(decorator).partition("(")[0].rpartition(".")[2] for decorator in node.decorator_list
                }
                if names & {"kernel", "subroutine", "uncounted_subroutine", "vector_subroutine", "chosen_by_class"}:
                    wrong.append(f"{relative(path)}:{node.lineno} {node.name}")
    assert not wrong, f"compiled functions belong into one of {COMPILED_SOURCES}"


def test_models_need_neither_scikit_learn_nor_the_compiler():
    wrong = [
        f"{one.file}:{one.line} imports {one.module}"
        for one in IMPORTS
        if package_of(one.file) == "models"
        if one.module.partition(".")[0] in ("sklearn", "numba")
        or (not one.lazy and not one.for_types_only and package_of(one.module) == "kernels")
    ]
    assert not wrong


def test_heavy_packages_are_imported_where_they_are_used():
    heavy = {"sklearn", "pandas", "polars", "pyarrow", "matplotlib", "torch", "distributed", "optuna"}
    heavy |= {"fastapi", "starlette", "uvicorn", "prometheus_client", "orjson"}
    estimators = {"training"}  # the base of all rankers is an estimator
    wrong = [
        f"{one.file}:{one.line} imports {one.module}"
        for one in IMPORTS
        if one.module.partition(".")[0] in heavy and not one.lazy and not one.for_types_only
        if not (one.module.startswith("sklearn") and package_of(one.file) in estimators)
        if package_of(one.file) not in ("distributed", "torch", "serving") or "pyarrow" in one.module
    ]
    assert not wrong


def test_no_two_classes_share_a_name():
    files = collections.defaultdict(list)
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                files[node.name].append(relative(path))
    shared = {name: paths for name, paths in files.items() if len(paths) > 1}
    assert not shared, "a class is found by its name"


def test_no_module_hides_a_public_name_of_its_package():
    """Importing a module sets it as an attribute of its package: a function of that name would be gone."""
    for package in ("", *rankforce.SUBPACKAGES):
        modules = {path.stem for path in (PACKAGE / package).glob("*") if path.suffix in ("", ".py")}
        public = importlib.import_module(f"rankforce.{package}".rstrip("."))
        assert not {name for name in modules & set(dir(public)) if name not in rankforce.SUBPACKAGES}


def test_no_module_is_a_dump():
    wrong = [
        relative(path)
        for path in sources()
        if any(word in part for word in FORBIDDEN_NAMES for part in (path.stem, path.parent.name))
    ]
    assert not wrong, "a function belongs into the file of its noun"


def test_files_hold_one_idea():
    lengths = {relative(path): len(path.read_text().splitlines()) for path in sources()}
    assert lengths["data/dataset.py"] > 100
    wrong = {name: lines for name, lines in lengths.items() if lines > MOST_LINES_OF_A_FILE}
    assert wrong.keys() <= LONGER_FILES, f"split them by idea: at most {MOST_LINES_OF_A_FILE} lines"


def body_lines(function):
    """How many lines the body of a function has, from the first statement after the docstring on."""
    statements = function.body[1:] if ast.get_docstring(function) and len(function.body) > 1 else function.body
    return function.end_lineno - statements[0].lineno + 1


def test_functions_can_be_read_on_one_screen():
    lengths = {
        f"{relative(path)} {node.name}": body_lines(node)
        for path in sources()
        if not relative(path).startswith(LONG_FUNCTIONS)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    assert lengths["evaluation/evaluate.py evaluate"] > 10
    wrong = {name: lines for name, lines in lengths.items() if lines > MOST_LINES_OF_A_FUNCTION}
    assert not wrong, f"split them: at most {MOST_LINES_OF_A_FUNCTION} lines"


@pytest.mark.parametrize("path", sources(), ids=relative)
def test_every_module_says_what_it_is(path):
    text = path.read_text()
    if path.name == "__init__.py" and not text.strip():
        return
    assert ast.get_docstring(ast.parse(text)), f"{relative(path)} has no docstring"


def test_files_that_are_named_are_there():
    known = {relative(path) for path in sources()}
    wrong = []
    for path in sources():
        for name in re.findall(r"``((?:\w+/)*\w+\.py)``", path.read_text()):
            here = (path.parent / name).relative_to(PACKAGE).as_posix()
            anywhere = "/" not in name and any(one.endswith("/" + name) for one in known)
            if not {name, here} & known and not anywhere and not name.endswith("/x.py"):
                wrong.append(f"{relative(path)} names {name}")
    assert not wrong


def test_cached_properties_are_those_without_a_lock():
    wrong = [
        relative(path)
        for path in sources()
        if "cached_property" in path.read_text()
        and path.stem not in ("cached_properties", "compilers", "code_identity")
        if not any(one.file == relative(path) and one.module.endswith("cached_properties") for one in IMPORTS)
    ]
    assert not wrong, "functools.cached_property makes a forked child wait for ever on Python 3.11"


# What a training that several processes share decides from all queries must go through ``collective``. Here sums and
# sets are of what every member has, or of one process alone.
CROSSES_QUERIES = ("forces", "measures", "binning", "trees", "boosting")
LOCAL_SETS = {
    ("forces/pairs.py", "unique"),  # cuts of one query range; strata that only tell documents of a query apart
    ("trees/layout.py", "unique"),  # bytes of a row
}


def test_what_crosses_queries_goes_through_the_collective():
    found = {
        (relative(path), node.attr)
        for path in sources()
        if package_of(relative(path)) in CROSSES_QUERIES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in ("fsum", "unique")
    }
    assert found == LOCAL_SETS


def test_files_of_tests_that_are_begun_first_are_there():
    tests = Path(__file__).parent
    assert [name for name in LONG if not (tests / name).is_file()] == []
