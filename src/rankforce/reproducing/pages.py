"""What a run leaves: a page, a table of all rows, a figure, and a file for programs."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankforce.files.atomic_writes import atomic_write
from rankforce.reproducing.drawing import figure_of, save_figure
from rankforce.reproducing.real_data import REAL
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, Outcome, pooled
from rankforce.reproducing.running import ReproducedRun, Spent


def write_results(run: ReproducedRun, folder: Path) -> list[Path]:
    """page.md, rows.csv, figure.svg, figure.png and result.json, each whole or not at all."""
    figure = figure_of(run.experiment, run.rows)
    for name in ("figure.svg", "figure.png"):
        save_figure(figure, folder / name)
    written = {
        "rows.csv": rows_as_csv(all_rows(run)),
        "page.md": page(run, "figure.svg"),
        "result.json": json.dumps(run.to_dict(), indent=2, ensure_ascii=False) + "\n",
    }
    for name, text in written.items():
        with atomic_write(folder / name) as file:
            file.write(text.encode())
    return [folder / name for name in ("page.md", "figure.svg", "figure.png", "rows.csv", "result.json")]


def all_rows(run: ReproducedRun) -> Rows:
    """With those of real data, which say so in a column."""
    if not run.real:
        return run.rows
    found = [("", run.rows), *run.real.items()]
    return Rows({"data": name, **row} for name, rows in found for row in rows)


def rows_as_csv(rows: Rows) -> str:
    lines = io.StringIO()
    writer = csv.DictWriter(lines, rows.columns(), lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows({name: "" if _is_nan(value) else value for name, value in row.items()} for row in rows)
    return lines.getvalue()


def page(run: ReproducedRun, figure: str, *, heading: str = "#", below: str = "") -> str:
    """Markdown: what the paper found, what is found here, on which data, sizes side by side, tests and the verdict."""
    experiment = run.experiment
    blocks = [
        f"{heading} {experiment.title}",
        f"`rankforce reproduce {experiment.name} --{run.size_name}` · {experiment.paper}, {experiment.place}",
        f"**The paper:** {experiment.found}",
        f"**Verdict: {run.verdict}.**",
        _claims(run.outcomes),
        f"![{experiment.title}]({figure})",
        *_value_tables(experiment.tables(run.rows), experiment.published),
        *_difference_table(run.rows),
        f"**Data:** {experiment.data}",
        _sizes(run),
        *_real_data(run),
        *([f"**Done otherwise:** {experiment.remarks}"] if experiment.remarks else []),
        *([f"**Changed after a first run:** {experiment.revised}"] if experiment.revised else []),
        "Rules, which are code: "
        + " ".join(f"({number}) {claim.rule}." for number, (claim, _) in enumerate(run.outcomes, start=1)),
        below or f"{in_seconds(run.spent)}; {run.machine}.",
    ]
    return "\n\n".join(block for block in blocks if block.strip()) + "\n"


def _sizes(run: ReproducedRun) -> str:
    paper, here = run.experiment.paper_size, run.experiment.size_in_words(run.size)
    names = dict.fromkeys([*paper, *here])
    rows = [(name, paper.get(name, "–"), here.get(name, "–")) for name in names]
    return _markdown(("size", "paper", "here"), [*rows, ("seeds", "1", str(run.seeds))])


def in_seconds(spent: Spent) -> str:
    return f"{spent.clock:.0f} seconds, {spent.processor:.0f} of the processor"


def _claims(outcomes: Sequence[tuple[Claim, Outcome]]) -> str:
    rows = [(claim.statement, str(outcome.verdict), outcome.evidence) for claim, outcome in outcomes]
    return _markdown(("claim", "verdict", "evidence"), rows)


def _real_data(run: ReproducedRun) -> list[str]:
    """Every set of real data with a verdict of its own, and what was not at hand."""
    blocks = []
    for name, rows in run.real.items():
        tables = [(title or name, one) for title, one in run.experiment.tables_of_real_data(rows)]
        blocks += [
            f"**On real data, {name}: {run.verdict_of(name)}.** {REAL[name].description}.",
            _claims(run.outcomes_of(name)),
            *_value_tables(tables, over="folds"),
        ]
    if run.absent:
        blocks.append(f"**Real data that was not at hand:** {', '.join(run.absent)}. Nothing stands in for it.")
    return blocks


def _value_tables(
    tables: Sequence[tuple[str, Rows]], published: Sequence[Row] = (), *, over: str = "seeds"
) -> list[str]:
    """Arms by measures: the mean over seeds, and where the paper has a number, that number beside it."""
    blocks = []
    for title, rows in tables:
        arms, measures = rows.distinct("arm"), rows.distinct("measure")
        if not arms:
            continue
        lines = [[arm, *(_number(rows.mean(arm=arm, measure=measure)) for measure in measures)] for arm in arms]
        known = Rows(published)
        for arm in known.distinct("arm") if not title else ():
            values = [known.mean(arm=arm, measure=measure) for measure in measures]
            if not all(map(math.isnan, values)):
                lines.append([f"*paper: {arm}*", *map(_number, values)])
        table = _markdown((f"mean over {over}", *measures), lines)
        blocks.append(f"*{title}*\n\n{table}" if title else table)
    return blocks


def _difference_table(rows: Rows) -> list[str]:
    """Paired differences of all measures; those of several kinds of nets or data are told apart by ``part``."""
    differences = rows.where(kind="difference")
    measures = differences.distinct("measure")
    if not measures:
        return []
    lines = []
    for part in differences.distinct("part"):
        mine = differences.where(part=part)
        for new, old in dict.fromkeys((row["arm"], row["against"]) for row in mine):
            found = [pooled(mine.where(arm=new, against=old, measure=measure)) for measure in measures]
            name = f"{new} − {old}" + (f", {part}" if part != "all" else "")
            lines.append([name, *(_tested(one.mean, one.p_value) for one in found)])
    note = "Paired differences, the queries of all seeds together; \\* p < .05, \\*\\* p < .001."
    return [f"{_markdown(('difference', *measures), lines)}\n\n{note}"]


def _tested(mean: float, p_value: float) -> str:
    if math.isnan(mean):
        return "–"
    return f"{mean:+.4f}" + ("\\*\\*" if p_value < 0.001 else "\\*" if p_value < 0.05 else "")


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def _number(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.4f}" if abs(value) < 10 else f"{value:,.1f}"


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
