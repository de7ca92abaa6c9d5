"""Runs as small files that can be kept with the sources: pages are written from them, and rules judge them again.

A record holds the size that was run, a stamp of the code that made its rows, and every claim with the rule and the
verdict of the day on which it was written: what was edited since is seen.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from typing import Any

from rankforce.reproducing.catalogue import experiment_named
from rankforce.reproducing.experiment import Size
from rankforce.reproducing.rows import Rows
from rankforce.reproducing.running import JudgedClaim, ReproducedRun, Spent


def record_of(run: ReproducedRun) -> bytes:
    """JSON with a line for every row, by gzip; the same run gives the same bytes."""
    head = {
        "experiment": run.experiment.name, "size": run.size_name, "seeds": run.seeds,
        "seconds": round(run.spent.clock, 1), "processor": round(run.spent.processor, 1), "machine": run.machine,
        "absent": list(run.absent), "stamp": run.stamp, "numbers": dict(run.size.numbers), "judged": run.judged(),
    }  # fmt: skip
    tables = ",\n".join(f"{_json(name)}: {_table(rows)}" for name, rows in {"": run.rows, **run.real}.items())
    text = f'{_json(head)[:-1]},\n"rows": {{\n{tables}\n}}}}\n'
    return gzip.compress(text.encode(), mtime=0)


def run_of(record: bytes) -> ReproducedRun:
    """The run that a record tells of."""
    found = json.loads(gzip.decompress(record))
    experiment = experiment_named(found["experiment"])
    rows = {name: _rows(table) for name, table in found["rows"].items()}
    numbers = {name: _tuples(value) for name, value in found["numbers"].items()}
    return ReproducedRun(
        experiment=experiment,
        size_name=found["size"],
        size=Size(seeds=found["seeds"], minutes=experiment.sizes[found["size"]].minutes, **numbers),
        seeds=found["seeds"],
        rows=rows.pop(""),
        real=rows,
        absent=tuple(found["absent"]),
        spent=Spent(found["seconds"], found["processor"]),
        machine=found["machine"],
        stamp=found["stamp"],
        first_judged={data: [JudgedClaim(*one) for one in claims] for data, claims in found["judged"].items()},
    )


def _table(rows: Rows) -> str:
    columns = rows.columns()
    lines = ",\n".join(_json([row.get(name) for name in columns]) for row in rows)
    return f'{{"columns": {_json(columns)}, "rows": [\n{lines}\n]}}'


def _rows(table: Mapping[str, Any]) -> Rows:
    """A column that a row lacked is None in the file, and is left out again."""
    return Rows(
        {name: value for name, value in zip(table["columns"], row, strict=True) if value is not None}
        for row in table["rows"]
    )


def _tuples(value: Any) -> Any:
    """Numbers of sizes are tuples in code and lists in files."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
