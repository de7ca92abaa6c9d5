"""Completion in the shell: what may follow, by the name of a parameter; and the script that asks for it.

Names are found as the commands find them, but without importing what is slow to import: rankers and their settings
are read from the sources. Where nothing is listed here, the shell completes the names of files.
"""

from __future__ import annotations

import ast
import functools
import importlib
import os
import pkgutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import typer

from rankforce.displayed_text import displayed
from rankforce.errors import SettingsError

PACKAGE = Path(__file__).parents[1]
SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_RANKFORCE_COMPLETE"  # what a script sets so that the command answers instead of running
TIES = ("stable", "expected", "pessimistic", "optimistic", "hashed")
BLANK = ("skip", "zero", "one", "raise")
CONVENTIONS = (
    "trec", "letor4", "mslr", "gdeval", "lightgbm", "xgboost", "xgboost-", "sklearn", "catboost", "ranklib",
)  # fmt: skip
COSTS = ("regression", "binary", "balanced", "multiclass", "ordinal")
SCALINGS = ("auto", "standard", "log1p", "query", "none")
PRESETS = ("2006", "2009", "2010", "2011")
RANKING_KINDS = ("scores:", "feature:", "model:", "run:", "qrels:")

# bash cuts words at @, ( and :, which stand in measures: words are cut anew, at white space, and what stands before
# the last cut of bash is taken off the answers, for bash keeps it. Words with quotes are left to files.
BASH = """\
_rankforce_completion() {
    local IFS=$' \\t\\n' line="${COMP_LINE:0:$COMP_POINT}" words number word kept
    read -ra words <<< "$line"
    [[ "$line" == *[[:space:]] ]] && words+=("")
    number=$((${#words[@]} - 1))
    word="${words[number]}"
    kept="${word%"${word##*[$COMP_WORDBREAKS]}"}"
    IFS=$'\\n'
    COMPREPLY=($(env COMP_WORDS="$(IFS=' '; echo "${words[*]}")" COMP_CWORD=$number \\
        _RANKFORCE_COMPLETE=complete_bash "$1"))
    COMPREPLY=("${COMPREPLY[@]#"$kept"}")
    [[ "${COMPREPLY[*]}" == *[=:\\(] ]] && compopt -o nospace
    return 0
}

complete -o default -F _rankforce_completion rankforce
"""


def shell() -> str:
    """The shell that the command is typed in, or an error that says which can complete."""
    try:
        detecting: Any = importlib.import_module("shellingham")
        name = str(detecting.detect_shell()[0])
    except (ImportError, OSError):  # a failed detection is an OSError
        name = Path(os.environ.get("SHELL", "")).name  # in containers and cron the process tree says nothing
    if name not in SHELLS:
        raise SettingsError(
            f"the shell here is {displayed(name) or 'not known'}, and completion is for {', '.join(SHELLS)}: run the "
            "command in one of these, or set SHELL to it"
        )
    return name


def prepare() -> None:
    """Let the application answer the shells, if one asks."""
    if VARIABLE in os.environ:
        completing: Any = importlib.import_module("typer.completion")
        completing.completion_init()


def script(shell: str) -> str:
    """The text that a shell reads to complete ``rankforce``."""
    if shell == "bash":
        return BASH
    completing: Any = importlib.import_module("typer.completion")
    return str(completing.get_completion_script(prog_name="rankforce", complete_var=VARIABLE, shell=shell)) + "\n"


def install(shell: str) -> Path:
    """Write the script where the shell finds it, and a line that reads it into its settings; the script's path."""
    completing: Any = importlib.import_module("typer.completion")
    _, path = completing.install(shell=shell, prog_name="rankforce", complete_var=VARIABLE)
    if shell == "bash":
        path.write_text(BASH)
    return Path(path)


def measures(incomplete: str) -> list[str]:
    """Measures by name, and at the usual cut-offs; after ``@`` other cut-offs."""
    from dataclasses import fields

    from rankforce.measures.catalogue import measure_classes

    names = []
    for name, kind in measure_classes().items():
        cuts: tuple[str, ...] = ("", "@5", "@10") if any(field.name == "cutoff" for field in fields(kind)) else ("",)
        if "@" in incomplete and len(cuts) > 1:
            cuts = ("@1", "@3", "@5", "@10", "@20", "@50", "@100")
        names += [name + cut for cut in cuts]
    return names


def tiers(incomplete: str) -> list[str]:
    """Measures with the sign that their share follows."""
    return [f"{name}=" for name in measures(incomplete)]


def rankers(incomplete: str) -> list[str]:
    """Rankers, by their files; what bags others is an option."""
    folder = PACKAGE / "rankers"
    return sorted(one.name for one in pkgutil.iter_modules([str(folder)]) if one.name not in ("catalogue", "bagging"))


def settings(ranker: str) -> list[str]:
    """The settings of a ranker, each with the sign that its value follows; read from its source."""
    file = PACKAGE / "rankers" / f"{ranker.lower()}.py"
    classes = _classes(file) if ranker.isidentifier() and file.is_file() else {}
    own = [name for name in classes if name.lower() == ranker.lower()]
    return sorted(f"{name}=" for name in _fields(file, own[0])) if own else []


def _fields(file: Path, name: str) -> set[str]:
    """The fields that a class and its bases set by a call (``whole(100)``), without those that are no settings."""
    classes = _classes(file)
    if name not in classes:
        return set()
    found: set[str] = set()
    for base in classes[name].bases:
        if isinstance(base, ast.Name):
            found |= _fields(_source_of(file, base.id), base.id)
    for line in classes[name].body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and isinstance(line.value, ast.Call):
            hidden = any(one.arg == "init" for one in line.value.keywords)
            (found.discard if hidden else found.add)(line.target.id)
    return found


@functools.cache
def _source(file: Path) -> list[ast.stmt]:
    return ast.parse(file.read_text(encoding="utf-8")).body if file.is_file() else []


def _classes(file: Path) -> dict[str, ast.ClassDef]:
    return {node.name: node for node in _source(file) if isinstance(node, ast.ClassDef)}


def _source_of(file: Path, name: str) -> Path:
    """The file that a name is imported from, or the file itself."""
    for node in _source(file):
        if isinstance(node, ast.ImportFrom) and node.module and any(one.name == name for one in node.names):
            return PACKAGE.parent / Path(*node.module.split(".")).with_suffix(".py")
    return file


def lambda_functions(incomplete: str) -> list[str]:
    from rankforce.lambdas.catalogue import lambda_function_classes

    return list(lambda_function_classes())


def formats(incomplete: str) -> list[str]:
    """Formats of export, by their files."""
    folder = PACKAGE / "export" / "formats"
    return sorted(one.name.replace("_", "-") for one in pkgutil.iter_modules([str(folder)]))


def rankings(incomplete: str) -> list[str]:
    """What says the kind of a ranking, and behind that the names of files; alone, the shell completes these."""
    kind, colon, path = incomplete.partition(":")
    if colon and f"{kind}:" in RANKING_KINDS and kind != "feature":
        folder = os.path.dirname(path)
        try:
            entries = sorted(os.scandir(folder or "."), key=lambda entry: entry.name)
        except OSError:
            return []
        return [
            f"{kind}:{os.path.join(folder, entry.name)}{os.sep if entry.is_dir() else ''}"
            for entry in entries
            if not entry.name.startswith(".")
        ]
    return [one for one in RANKING_KINDS if incomplete and one.startswith(incomplete)]


def _words(*choices: str) -> Callable[[str], Iterable[str]]:
    return lambda incomplete: choices


# By the name of the parameter, the same in all commands.
COMPLETED: dict[str, Callable[[str], Iterable[str]]] = {
    "measure": measures,
    "tier": tiers,
    "ranker": rankers,
    "lambda_function": lambda_functions,
    "forces": lambda_functions,
    "ties": _words(*TIES),
    "blank": _words(*BLANK),
    "convention": _words(*CONVENTIONS),
    "cost": _words(*COSTS),
    "scaling": _words(*SCALINGS),
    "preset": _words(*PRESETS),
    "to": formats,
    "ranking": rankings,
    "rankings": rankings,
    "baseline": rankings,
}


def completer(parameter: str) -> Callable[..., list[str]] | None:
    """What the application asks for the values of a parameter; None where the shell knows best."""
    if parameter in ("settings", "tried"):

        def complete_settings(ctx: typer.Context, incomplete: str) -> list[str]:
            return _beginning(incomplete, settings(str(ctx.params.get("ranker") or "lambdamart")))

        return complete_settings
    found = COMPLETED.get(parameter)
    if found is None:
        return None

    def complete(incomplete: str) -> list[str]:
        return _beginning(incomplete, found(incomplete))

    return complete


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
