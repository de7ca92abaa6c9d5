"""An experiment run seed by seed, part by part; what is done is kept in files and not done again."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import platform
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rankforce.console.interruption import interrupting_at_once
from rankforce.console.progress import Progress
from rankforce.errors import FileFormatError, SettingsError
from rankforce.files.atomic_writes import atomic_write
from rankforce.processors import usable_processors
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.real_data import FOLDS, at_hand, folds_at_hand
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, Outcome, Verdict, together
from rankforce.reproducing.used_code import used_code

FORM = 3  # of the files of parts
TINY = "tiny"  # the size of tests, which has no real data


class Spent(NamedTuple):
    """Seconds of all parts, also of those that an earlier call ran."""

    clock: float
    processor: float


class JudgedClaim(NamedTuple):
    """A claim with the rule and the verdict of a certain day."""

    statement: str
    rule: str
    verdict: str


@dataclasses.dataclass(frozen=True)
class ReproducedRun:
    """What one run of an experiment found."""

    experiment: Experiment
    size_name: str
    size: Size
    seeds: int
    rows: Rows
    real: Mapping[str, Rows]  # by the name of the data
    absent: tuple[str, ...]  # real data that was not at hand
    spent: Spent
    machine: str
    stamp: str  # of the code and the size that made the rows
    first_judged: Mapping[str, Sequence[JudgedClaim]] = dataclasses.field(
        default_factory=dict
    )  # of a record: when written

    @property
    def outcomes(self) -> list[tuple[Claim, Outcome]]:
        return [(claim, claim.judge(self.rows)) for claim in self.experiment.claims()]

    @property
    def verdict(self) -> Verdict:
        return together([outcome.verdict for _, outcome in self.outcomes])

    def outcomes_of(self, data: str) -> list[tuple[Claim, Outcome]]:
        """On real data; its folds take the place of seeds."""
        return [(claim, claim.judge(self.real[data])) for claim in self.experiment.claims_of_real_data()]

    def verdict_of(self, data: str) -> Verdict:
        return together([outcome.verdict for _, outcome in self.outcomes_of(data)])

    def judged(self) -> dict[str, list[JudgedClaim]]:
        """Claims as the rules of today judge them, by the name of the data; that of generated data is empty."""
        found = {"": self.outcomes, **{data: self.outcomes_of(data) for data in self.real}}
        return {
            data: [JudgedClaim(claim.statement, claim.rule, str(outcome.verdict)) for claim, outcome in outcomes]
            for data, outcomes in found.items()
        }

    def rules_changed(self) -> list[str]:
        """The claims whose rule, or whose verdict, is not what it was when the record was written."""
        known = {data: set(claims) for data, claims in self.first_judged.items()}
        changed = [
            one.statement
            for data, claims in self.judged().items()
            for one in claims
            if self.first_judged and one not in known.get(data, set())
        ]
        return list(dict.fromkeys(changed))

    def to_dict(self) -> dict[str, Any]:
        experiment = self.experiment
        return {
            "name": experiment.name,
            "paper": str(experiment.paper),
            "place": experiment.place,
            "size": self.size_name,
            "seeds": self.seeds,
            "verdict": str(self.verdict),
            "claims": _as_dicts(self.outcomes),
            "real_data": [
                {"data": data, "verdict": str(self.verdict_of(data)), "claims": _as_dicts(self.outcomes_of(data))}
                for data in self.real
            ],
            "absent_data": list(self.absent),
            "sizes": {"paper": dict(experiment.paper_size), "here": dict(experiment.size_in_words(self.size))},
            "seconds": self.spent.clock,
            "processor_seconds": self.spent.processor,
            "machine": self.machine,
        }


def _as_dicts(outcomes: list[tuple[Claim, Outcome]]) -> list[dict[str, str]]:
    return [
        {"statement": claim.statement, "rule": claim.rule, "verdict": str(found.verdict), "evidence": found.evidence}
        for claim, found in outcomes
    ]


class Part(NamedTuple):
    """Work that is run, and kept, by itself: of a seed, or of a fold of real data."""

    name: str
    number: int  # of the seed or the fold
    real: bool

    @property
    def file_name(self) -> str:
        return f"{'fold' if self.real else 'seed'}-{self.number}-{_slug(self.name)}.json"

    def __str__(self) -> str:
        return f"{self.name} of {'fold' if self.real else 'seed'} {self.number}"

    def work(self, experiment: Experiment, size: Size) -> list[Row]:
        if self.real:
            return experiment.run_fold(folds_at_hand(self.name)[self.number], self.number, size)
        return experiment.run(self.name, self.number, size)


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

    Real data is run fold by fold; what is neither at hand nor in files is left out. With ``kept_only`` nothing is run:
    what is missing is an error.
    """
    size = experiment.sizes[size_name]
    count = size.seeds if seeds is None else seeds
    kept = folder / "rows"
    kept.mkdir(parents=True, exist_ok=True)
    stamp = stamp_of(experiment, size)
    present: list[str] = []
    absent: list[str] = []
    for name in experiment.real if size_name != TINY else ():
        folds = [Part(name, number, real=True) for number in range(FOLDS)]
        here = all(_kept(kept / one.file_name, stamp) for one in folds) or (not kept_only and at_hand(name))
        (present if here else absent).append(name)
    todo = [Part(name, seed, real=False) for seed in range(count) for name in experiment.parts(size)]
    todo += [Part(name, number, real=True) for name in present for number in range(FOLDS)]
    rows: dict[str, list[Row]] = {"": [], **{name: [] for name in present}}
    spent = Spent(0.0, 0.0)
    with Progress(experiment.name, len(todo), "parts", progress) as shown:
        shown.in_words = lambda values: ", ".join(f"{name} {value:.0f}" for name, value in values.items())
        for number, part in enumerate(todo):
            found = _kept(kept / part.file_name, stamp)
            if found is None:
                if kept_only:
                    raise SettingsError(f"{experiment.name}: {part} has not been run, or not with this code")
                found = _run(experiment, size, part, kept / part.file_name, stamp)
            rows[part.name if part.real else ""] += [
                {"seed": part.number, "part": part.name, **row} for row in found["rows"]
            ]
            spent = Spent(spent.clock + found["seconds"], spent.processor + found["processor"])
            shown.advance(number + 1, {"seconds": spent.clock})
    real = {name: Rows(rows[name]) for name in present}
    found_rows = Rows(rows[""])
    return ReproducedRun(experiment, size_name, size, count, found_rows, real, tuple(absent), spent, machine(), stamp)


def _kept(path: Path, stamp: str) -> dict[str, Any] | None:
    """A part from its file. A file of other sizes, or of other code, does not count."""
    if not path.exists():
        return None
    try:
        found = dict(json.loads(path.read_text(encoding="utf-8")))
        return found if found["stamp"] == stamp else None
    except (ValueError, KeyError, TypeError):
        raise FileFormatError(
            "not rows of an experiment", path=path, remedy="remove it, and its part is run again"
        ) from None


def _run(experiment: Experiment, size: Size, part: Part, path: Path, stamp: str) -> dict[str, Any]:
    """A part, run and written."""
    clock, processor = time.perf_counter(), time.process_time()
    with interrupting_at_once():  # rows of a training that was cut short would be kept as those of a whole one
        rows = part.work(experiment, size)
    made = {
        "stamp": stamp, "part": str(part), "seconds": time.perf_counter() - clock,
        "processor": time.process_time() - processor, "rows": rows,
    }  # fmt: skip
    with atomic_write(path) as file:
        file.write(json.dumps(made, indent=0, allow_nan=True).encode())
    return made


def stamp_of(experiment: Experiment, size: Size) -> str:
    """What decides the rows of a part: the code of this package that its work uses; size and version."""
    import rankforce

    code = used_code(type(experiment))
    content = json.dumps([FORM, code, dict(size.numbers), rankforce.__version__], sort_keys=True, default=str)
    return hashlib.sha256(content.encode()).hexdigest()[:16]


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
