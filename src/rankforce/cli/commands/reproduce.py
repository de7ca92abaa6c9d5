"""``rankforce reproduce``: tables and figures of papers, run again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankforce.cli import options, output

if TYPE_CHECKING:
    from rankforce.reproducing.experiment import Experiment

ALL = "all"


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="An experiment, or all; without it they are listed.", show_default=False),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small: about half a minute each. The default.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="The paper's size, as far as two cores and 24 GB allow: up to hours.")
    ] = False,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FOLDER", help="Where results go; what is done there is not done again."),
    ] = Path("reproduced"),
    seeds: Annotated[
        int | None, typer.Option(metavar="N", help="Draws of data and of first weights.", show_default="by size")
    ] = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Run a table or figure of a paper again, and compare.

    Each writes a figure, a table of all numbers, and a page: what the paper found, what is found here on which data,
    sizes side by side, paired tests, and a verdict by a rule that is part of the program. Stopped, it goes on where it
    was.
    """
    from rankforce.errors import SettingsError
    from rankforce.kinds import check_number
    from rankforce.reproducing.catalogue import all_experiments, experiment_named

    if quick and full:
        raise SettingsError("choose one size: --quick or --full")
    check_number("seeds", seeds, 1, whole=True, optional=True)
    size = "full" if full else "quick"
    if name is None:
        _list(list(all_experiments().values()), out, json)
        return
    chosen = list(all_experiments().values()) if name == ALL else [experiment_named(name)]
    results = [_run(one, size, out, seeds, quiet=quiet, json=json) for one in chosen]
    if json:
        output.show_json(results if name == ALL else results[0])


def _run(experiment: Experiment, size: str, out: Path, seeds: int | None, *, quiet: bool, json: bool) -> dict[str, Any]:
    from rankforce.displayed_text import displayed_path
    from rankforce.reproducing.data_sets import VARIABLE
    from rankforce.reproducing.pages import write_results
    from rankforce.reproducing.running import run_experiment

    folder = out / experiment.name / size
    if not quiet and not json:
        minutes = experiment.sizes[size].minutes
        output.note(f"{experiment.name}, {size}: about {_time(minutes)} on two cores")
    found = run_experiment(experiment, size, folder, seeds=seeds, progress=not quiet)
    files = write_results(found, folder)
    if not json:
        claims = [[claim.statement, str(outcome.verdict)] for claim, outcome in found.outcomes]
        output.show(
            f"\n{experiment.title}\n{experiment.paper}, {experiment.place}",
            output.Table(["claim", "verdict"], claims, left=2),
            *(f"  {outcome.evidence}" for _, outcome in found.outcomes),
            f"Verdict: {found.verdict}. {displayed_path(files[0])}",
            *(f"On real data, {name}: {found.verdict_of(name)}." for name in found.real),
        )
        if found.absent:
            output.note(f"left out, for {VARIABLE} names no folder that has it: {', '.join(found.absent)}")
    return found.to_dict() | {"folder": str(folder)}


def _list(experiments: list[Experiment], out: Path, json: bool) -> None:
    from rankforce.reproducing.running import earlier_verdict

    verdicts = {
        one.name: {size: (earlier_verdict(out / one.name / size) or {}).get("verdict") for size in ("quick", "full")}
        for one in experiments
    }
    if json:
        output.show_json(
            [
                {"name": one.name, "paper": str(one.paper), "place": one.place, "what": one.title}
                | {"minutes": {size: one.sizes[size].minutes for size in ("quick", "full")}}
                | {"verdicts": verdicts[one.name]}
                for one in experiments
            ]
        )
        return
    for paper in dict.fromkeys(one.paper for one in experiments):
        rows = [_line(one, verdicts[one.name]) for one in experiments if one.paper is paper]
        heads = ["name", "place", "what", "quick", "full", "status"]
        output.show(output.Table(heads, rows, left=3, title=str(paper)), "")


def _line(one: Experiment, verdicts: dict[str, str | None]) -> list[str]:
    times = [_time(one.sizes[size].minutes) for size in ("quick", "full")]
    return [one.name, one.place, one.title, *times, verdicts["full"] or verdicts["quick"] or "not run"]


def _time(minutes: float) -> str:
    if minutes < 1.0:
        return f"{60 * minutes:.0f} s"
    return f"{minutes:.0f} min" if minutes < 90.0 else f"{minutes / 60:.1f} h"
