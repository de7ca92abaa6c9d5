"""An experiment run seed by seed, part by part; what is done is kept in files and not done again."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import inspect
import json
import platform
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankforce.console.progress import Progress
from rankforce.errors import FileFormatError, SettingsError
from rankforce.files.atomic_writes import atomic_write
from rankforce.processors import usable_processors
from rankforce.reproducing.data_sets import VARIABLE, real_folder
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, Outcome, Verdict, together


@dataclasses.dataclass(frozen=True)
class ReproducedRun:
    """What one run of an experiment found."""

    experiment: Experiment
    size_name: str
    size: Size
    seeds: int
    rows: Rows
    seconds: float  # of all parts, also of those that an earlier call ran
    machine: str

    @property
    def outcomes(self) -> list[tuple[Claim, Outcome]]:
        return [(claim, claim.judge(self.rows)) for claim in self.experiment.claims()]

    @property
    def verdict(self) -> Verdict:
        return together([outcome.verdict for _, outcome in self.outcomes])

    def to_dict(self) -> dict[str, Any]:
        experiment = self.experiment
        return {
            "name": experiment.name,
            "paper": str(experiment.paper),
            "place": experiment.place,
            "size": self.size_name,
            "seeds": self.seeds,
            "verdict": str(self.verdict),
            "claims": [
                {
                    "statement": claim.statement,
                    "rule": claim.rule,
                    "verdict": str(outcome.verdict),
                    "evidence": outcome.evidence,
                }
                for claim, outcome in self.outcomes
            ],
            "sizes": {"paper": dict(experiment.paper_size), "here": dict(experiment.size_in_words(self.size))},
            "seconds": self.seconds,
            "machine": self.machine,
        }


def run_experiment(
    experiment: Experiment,
    size_name: str,
    folder: Path,
    *,
    seeds: int | None = None,
    progress: bool = True,
    kept_only: bool = False,
) -> ReproducedRun:
    """Run what is missing of an experiment; rows go into ``folder/rows``, a file for every part of every seed.

    With ``kept_only`` nothing is run: what is missing is an error.
    """
    if experiment.needs_data and real_folder(experiment.needs_data) is None:
        raise SettingsError(
            f"{experiment.name} needs the folder {experiment.needs_data}: the variable {VARIABLE} names the folder "
            "that it lies in"
        )
    size = experiment.sizes[size_name]
    count = size.seeds if seeds is None else seeds
    kept = folder / "rows"
    kept.mkdir(parents=True, exist_ok=True)
    todo = [(seed, part) for seed in range(count) for part in experiment.parts(size)]
    rows: list[Row] = []
    seconds = 0.0
    stamp = _stamp(experiment, size)
    with Progress(experiment.name, len(todo), "parts", progress) as shown:
        shown.in_words = lambda values: ", ".join(f"{name} {value:.0f}" for name, value in values.items())
        for number, (seed, part) in enumerate(todo):
            found = _part(
                experiment, size, seed, part, kept / f"seed-{seed}-{_slug(part)}.json", stamp, kept_only=kept_only
            )
            rows += [{"seed": seed, "part": part, **row} for row in found["rows"]]
            seconds += found["seconds"]
            shown.advance(number + 1, {"seconds": seconds})
    return ReproducedRun(experiment, size_name, size, count, Rows(rows), seconds, machine())


def _part(
    experiment: Experiment, size: Size, seed: int, part: str, path: Path, stamp: str, *, kept_only: bool = False
) -> dict[str, Any]:
    """A part from its file, or run and written. A file of other sizes, or of other code, does not count."""
    if path.exists():
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["stamp"] == stamp:
                return dict(found)
        except (ValueError, KeyError, TypeError):
            raise FileFormatError(
                "not rows of an experiment", path=path, remedy="remove it, and its part is run again"
            ) from None
    if kept_only:
        raise SettingsError(f"{experiment.name}: {part} of seed {seed} has not been run, or not with this code")
    start = time.perf_counter()
    rows = experiment.run(part, seed, size)
    made = {"stamp": stamp, "seed": seed, "part": part, "seconds": time.perf_counter() - start, "rows": rows}
    with atomic_write(path) as file:
        file.write(json.dumps(made, indent=0, allow_nan=True).encode())
    return made


def _stamp(experiment: Experiment, size: Size) -> str:
    """What decides the rows of a part: the code that ``run`` and ``parts`` use in their file; size and version."""
    import rankforce

    source = inspect.getsource(inspect.getmodule(type(experiment)) or type(experiment))
    code = [ast.dump(one) for one in used_code(ast.parse(source), type(experiment).__name__)]
    content = json.dumps([code, dict(size.numbers), rankforce.__version__], sort_keys=True, default=str)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def used_code(module: ast.Module, experiment: str) -> list[ast.stmt]:
    """The statements of a file that its experiment's ``run`` and ``parts`` need, directly or through others: rules,
    drawings and words may change, and rows stay what they are. Docstrings count for nothing.
    """
    named: dict[str, ast.stmt] = {}
    for statement in _without_docstrings(module).body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            named[statement.name] = statement
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            named |= {alias.asname or alias.name: statement for alias in statement.names}
        elif isinstance(statement, ast.Assign):
            targets = [one for target in statement.targets for one in ast.walk(target)]
            named |= {one.id: statement for one in targets if isinstance(one, ast.Name)}
    whole = named[experiment]
    assert isinstance(whole, ast.ClassDef)
    methods = {one.name: one for one in whole.body if isinstance(one, ast.FunctionDef)}
    used: dict[str, ast.stmt] = {}
    todo: list[ast.stmt] = [methods[name] for name in ("run", "parts") if name in methods]
    used |= {f"{experiment}.{one.name}": one for one in todo if isinstance(one, ast.FunctionDef)}
    while todo:
        for node in ast.walk(todo.pop()):
            name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            for key, found in ((name, named.get(name)), (f"{experiment}.{name}", methods.get(name))):
                if found is not None and key not in used and key != experiment:
                    used[key] = found
                    todo.append(found)
    return [used[key] for key in sorted(used)]


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            told = node.body[0]
            if isinstance(told, ast.Expr) and isinstance(told.value, ast.Constant):
                node.body = node.body[1:] or [ast.Pass()]
    return tree


def _slug(part: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-")


def machine() -> str:
    """The processor, how many of it this process may use, and the versions that decide results."""
    import numpy

    import rankforce

    name = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        named = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        name = named[0] if named else name
    return (
        f"{name or 'unknown processor'}, {usable_processors()} cores, rankforce {rankforce.__version__}, "
        f"Python {platform.python_version()}, NumPy {numpy.__version__}"
    )


def earlier_verdict(folder: Path) -> Mapping[str, Any] | None:
    """What a finished run left in its folder: its ``result.json``."""
    try:
        return dict(json.loads((folder / "result.json").read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None
