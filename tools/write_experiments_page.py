"""Write docs/experiments.md and its figures from runs that ``rankforce reproduce all --quick`` left in a folder.

    python tools/write_experiments_page.py reproduced

Nothing is run here, and nothing is written by hand but the sentences on why results differ: a part that is missing, or
that other code made, is an error.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter
from pathlib import Path

from PIL import Image
from tools.experiment_remarks import MISSING, WHY

from rankforce.reproducing.catalogue import all_experiments
from rankforce.reproducing.drawing import figure_of, save_figure
from rankforce.reproducing.pages import page
from rankforce.reproducing.rules import Verdict
from rankforce.reproducing.running import ReproducedRun, earlier_verdict, run_experiment

DOCS = Path(__file__).parents[1] / "docs"
PICTURES = DOCS / "images" / "experiments"
LARGEST = 60_000  # bytes of a picture
SIZE = "quick"

HEAD = """# Experiments

Tables and figures of five papers, run again. Every number below comes from `rankforce reproduce all --quick`; this page
is written by `tools/write_experiments_page.py`. Quick means minutes on two cores: the sizes stand beside the papers',
and what cannot be told at this size is said to be so. `--full` is the papers' size as far as two cores and 24 GB allow.

<!-- not run: it takes minutes -->
```sh
rankforce reproduce                                   # what there is, how long it takes, what was found here
rankforce reproduce label-noise --out reproduced      # one of them; stopped, it goes on where it was
rankforce reproduce label-noise --full --seeds 5
make experiments-quick                                # all of them
```

A verdict is decided by a rule that is code, not by hand. Rules and settings were written before the first run; where
one was changed after results had been seen, [that is told](#changed-after-a-first-run), with what was found before.

*Agrees*: all claims do. *Differs*: at least one does, significantly or for every seed. Claims about one ranking being
better than another are tested by the paired t-test over the test queries of all seeds together, at 5 %, and need the
same sign for four fifths of the seeds; "p of seeds" beside it is a paired t-test over the means of the seeds, which are
few. No correction is made for the number of claims: of a hundred that chance alone decides, five would look
significant.

The papers' largest size (108,000 queries of 150 to 200 documents with 860 features, 1,000 trees) is a matter of speed
and memory: [benchmarks](benchmarks.md).
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the --out of rankforce reproduce")
    given = parser.parse_args()
    found = {name: kept(name, given.folder) for name in all_experiments()}
    runs = [run for run in found.values() if run is not None]
    PICTURES.mkdir(parents=True, exist_ok=True)
    for old in PICTURES.glob("*.*"):
        old.unlink()
    pictures = {run.experiment.name: picture(run) for run in runs}
    text = "\n".join([HEAD, overview(found), differing(runs), revised(runs), *sections(runs, pictures), ending(runs)])
    (DOCS / "experiments.md").write_text(re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n", encoding="utf-8")
    print(f"{len(runs)} experiments, {Counter(str(run.verdict) for run in runs)}")


def kept(name: str, folder: Path) -> ReproducedRun | None:
    """A finished run; None if there is none. One that other code made is an error."""
    place = folder / name / SIZE
    earlier = earlier_verdict(place)
    if earlier is None:
        return None
    seeds = int(earlier["seeds"])
    return run_experiment(all_experiments()[name], SIZE, place, seeds=seeds, progress=False, kept_only=True)


def picture(run: ReproducedRun) -> str:
    """The figure as SVG if that is small, else as PNG, small enough; its path from the page."""
    figure = figure_of(run.experiment, run.rows)
    with tempfile.TemporaryDirectory() as folder:
        drawn = Path(folder) / "figure.svg"
        save_figure(figure, drawn)
        if drawn.stat().st_size <= LARGEST:
            (PICTURES / f"{run.experiment.name}.svg").write_bytes(drawn.read_bytes())
            return f"images/experiments/{run.experiment.name}.svg"
    path = PICTURES / f"{run.experiment.name}.png"
    for dots in range(110, 40, -10):
        figure.savefig(path, dpi=dots)
        with Image.open(path) as drawn_picture:
            few = drawn_picture.convert("RGB").quantize(64)
        few.save(path, optimize=True)
        if path.stat().st_size <= LARGEST:
            break
    return f"images/experiments/{path.name}"


def overview(found: dict[str, ReproducedRun | None]) -> str:
    lines = ["## Verdicts", "", "| experiment | paper | place | claims that agree | verdict |", "|---|---|---|---|---|"]
    for name, run in found.items():
        one = all_experiments()[name]
        if run is None:
            lines.append(f"| {name} | {one.paper.title} | {one.place} | – | not run yet |")
            continue
        agreeing = sum(outcome.verdict is Verdict.AGREES for _, outcome in run.outcomes)
        lines.append(
            f"| [{one.name}](#{one.name}) | {one.paper.title} | {one.place} | {agreeing} of {len(run.outcomes)} "
            f"| {run.verdict} |"
        )
    counts = Counter(run.verdict for run in found.values() if run is not None)
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict)
    return "\n".join([*lines, "", f"Of {counts.total()} experiments that were run: {told}.", ""])


def differing(runs: list[ReproducedRun]) -> str:
    """What differs, and why as far as we know."""
    lines = ["## What differs, and why", ""]
    for run in runs:
        others = [claim.statement for claim, outcome in run.outcomes if outcome.verdict is Verdict.DIFFERS]
        if others:
            why = WHY.get(run.experiment.name, "not yet understood.")
            lines.append(f"- **[{run.experiment.name}](#{run.experiment.name})** ({'; '.join(others)}): {why}")
    return "\n".join([*lines, "", *(["Not there yet:", "", *(f"- {one}" for one in MISSING), ""] if MISSING else [])])


def revised(runs: list[ReproducedRun]) -> str:
    """What was changed when results were known: whoever reads a verdict must know."""
    lines = [
        "## Changed after a first run", "",
        "These verdicts are weaker evidence than the others: somebody had seen numbers when they were settled.", "",
    ]  # fmt: skip
    for run in runs:
        one = run.experiment
        if one.revised:
            lines.append(f"- **[{one.name}](#{one.name})** (now: {run.verdict}): {one.revised}")
    return "\n".join([*lines, ""])


def sections(runs: list[ReproducedRun], pictures: dict[str, str]) -> list[str]:
    written, last = [], None
    for run in runs:
        one = run.experiment
        if one.paper is not last:
            last = one.paper
            written.append(f"\n## {one.paper.title}\n\n{one.paper.authors}, {one.paper.published}.\n")
        text = page(run, pictures[one.name], heading="###", below=f"{run.seconds:.0f} seconds.")
        written.append(text.replace(f"### {one.title}", f"### {one.name}\n\n{one.title}.", 1))
    return written


def ending(runs: list[ReproducedRun]) -> str:
    machines = ", ".join(dict.fromkeys(run.machine for run in runs))
    total = sum(run.seconds for run in runs)
    return f"\n## The machine\n\n{machines}; other programs ran beside. All together {total / 60:.0f} minutes.\n"


if __name__ == "__main__":
    main()
