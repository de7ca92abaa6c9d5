"""docs/experiments.md as text, from the records of runs in experiments/results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from tools.experiment_remarks import MISSING, WHY, WHY_FULL, WHY_REAL

from rankforce.reproducing.catalogue import all_experiments
from rankforce.reproducing.pages import in_seconds, page
from rankforce.reproducing.real_data import REAL
from rankforce.reproducing.records import run_of
from rankforce.reproducing.rules import Claim, Outcome, Verdict
from rankforce.reproducing.running import ReproducedRun, Spent

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "experiments" / "results"
PICTURES = "images/experiments"
Runs = Mapping[str, ReproducedRun]

HEAD = """# Experiments

Tables and figures of five papers, run again. All numbers but those of [runs in full](#run-in-full) come from
`rankforce reproduce all --quick`; this page is written by `tools/write_experiments_page.py` from the records of runs in
`experiments/results`. Quick means minutes on two cores: the sizes stand beside the papers', and what cannot be told at
this size is said to be so. `--full` is the papers' size as far as two cores and 24 GB allow.

<!-- not run: it takes minutes -->
```sh
rankforce reproduce                                   # what there is, how long it takes, what was found here
rankforce reproduce label-noise --out reproduced      # one of them; stopped, it goes on where it was
rankforce reproduce label-noise --full --seeds 5
make experiments-quick                                # all of them
```

A verdict is decided by a rule that is code, not by hand. Rules and settings were written before the first run; where
one was changed after results had been seen, [that is told](#changed-after-a-first-run), with what was found before. A
record has the rules of its day and a stamp of the code that made its rows: a test sees what was edited since.

*Agrees*: all claims do. *Differs*: at least one does. What makes a claim differ stands in its rule: the contrary is
significant; a difference is measured so closely that a third of the paper's is excluded; a number lies outside its
range for every seed; the interval of its mean over seeds lies on the other side; more random trials succeed than the
paper leaves open, by the exact bound of their share; or, where the paper speaks of bare means, most means lie the other
way. All else cannot be told. Claims about one ranking being better than another are tested by the paired t-test over
the test queries of all seeds together, at 5 %, and need the same sign for four fifths of the seeds; "p of seeds" beside
it is a paired t-test over the means of the seeds, which are few. No correction is made for the number of claims: of a
hundred that chance alone decides, five would look significant.

The papers' largest size (108,000 queries of 150 to 200 documents with 860 features, 1,000 trees) is a matter of speed
and memory: [benchmarks](benchmarks.md).
"""
REAL_HEAD = """## Real data

The papers' data was never published. Where the environment variable `RANKFORCE_DATA` names a folder with the folders
below, some experiments are also run on them, by the same rules or by those of their claims that make sense there; where
it does not, they say so and run without. Rules and settings were committed before the first run on this data; those of
late-learning, train-test-measures and graded-clicks were [changed since](#changed-after-a-first-run), and
mart-classification has one claim more, whose rule was committed before what it compares was run. A query is tested
once, in one of five folds, trained on three, validated on one; in the rules folds take the place of seeds. The training
queries of folds overlap, so their signs are not independent. Queries without a relevant document have no value of a
measure and are not counted. There are few queries: most of what the papers found cannot be told with them.
"""


def recorded(size: str) -> dict[str, ReproducedRun]:
    """By name, in the order of the catalogue, what has a record of this size."""
    paths = {name: RESULTS / f"{name}-{size}.json.gz" for name in all_experiments()}
    return {name: run_of(path.read_bytes()) for name, path in paths.items() if path.exists()}


def page_of(quick: Runs, full: Runs) -> str:
    runs = list(quick.values())
    blocks = [
        HEAD, overview(quick), differing(runs), real_data(runs), in_full(quick, full), revised(runs), *sections(runs),
        ending(runs),
    ]  # fmt: skip
    return re.sub(r"\n{3,}", "\n\n", "\n".join(blocks)).rstrip() + "\n"


def picture_path(name: str) -> str:
    """From the page."""
    (found,) = (ROOT / "docs" / PICTURES).glob(f"{name}.*")
    return f"{PICTURES}/{found.name}"


def overview(quick: Runs) -> str:
    lines = ["## Verdicts", "", "| experiment | paper | place | claims that agree | verdict |", "|---|---|---|---|---|"]
    for name, one in all_experiments().items():
        run = quick.get(name)
        if run is None:
            lines.append(f"| {name} | {one.paper.title} | {one.place} | – | not run yet |")
            continue
        lines.append(
            f"| {link(name)} | {one.paper.title} | {one.place} | {agreeing(run.outcomes)} of {len(run.outcomes)} "
            f"| {run.verdict} |"
        )
    counts = Counter(run.verdict for run in quick.values())
    return "\n".join([*lines, "", f"Of {counts.total()} experiments that were run {in_words(counts)}.", ""])


def differing(runs: list[ReproducedRun]) -> str:
    """What differs, and why as far as we know."""
    lines = ["## What differs, and why", ""]
    for run in runs:
        name = run.experiment.name
        others = differing_claims(run.outcomes)
        if others:
            lines.append(f"- **{link(name)}** ({'; '.join(others)}): {WHY[name]}")
    return "\n".join([*lines, "", *(["Not there yet:", "", *(f"- {one}" for one in MISSING), ""] if MISSING else [])])


def real_data(runs: list[ReproducedRun]) -> str:
    lines = [REAL_HEAD, "| data | folder | what |", "|---|---|---|"]
    lines += [f"| {name} | `{one.folder}` | {one.description} |" for name, one in REAL.items()]
    lines += ["", "| experiment | data | claims that agree | verdict | on generated data |", "|---|---|---|---|---|"]
    remarks = []
    for run in runs:
        name = run.experiment.name
        for data in run.real:
            outcomes = run.outcomes_of(data)
            lines.append(
                f"| {link(name)} | {data} | {agreeing(outcomes)} of {len(outcomes)} | {run.verdict_of(data)} "
                f"| {run.verdict} |"
            )
            others = differing_claims(outcomes)
            if others:
                remarks.append(f"- **{link(name)}**, {data} ({'; '.join(others)}): {WHY_REAL[name]}")
        lines += [f"| {link(name)} | {data} | – | not at hand | {run.verdict} |" for data in run.absent]
    found = Counter(run.verdict_of(data) for run in runs for data in run.real)
    differ = ["", "What differs there:", "", *remarks] if remarks else []
    return "\n".join([*lines, "", f"Of {found.total()} runs on real data {in_words(found)}.", *differ, ""])


def in_full(quick: Runs, full: Runs) -> str:
    """Which were run in the papers' size, beside the quick ones."""
    lines = [
        "## Run in full", "", "| experiment | full: claims that agree | full | quick | seeds | time |",
        "|---|---|---|---|---|---|",
    ]  # fmt: skip
    notes = []
    for name, run in full.items():
        other = str(quick[name].verdict) if name in quick else "not run"
        agree = f"{agreeing(run.outcomes)} of {len(run.outcomes)}"
        lines.append(f"| {link(name)} | {agree} | {run.verdict} | {other} | {run.seeds} | {in_seconds(run.spent)} |")
        evidence = " · ".join(
            f"{claim.statement}: {outcome.verdict} ({outcome.evidence})" for claim, outcome in run.outcomes
        )
        sizes = ", ".join(f"{what} {value}" for what, value in run.experiment.size_in_words(run.size).items())
        why = f". What differs: {WHY_FULL[name]}" if differing_claims(run.outcomes) and name not in WHY else ""
        notes.append(f"- **{link(name)}**, {sizes}: {evidence}{why}")
    others = f"The other {len(all_experiments()) - len(full)} were not run in full."
    return "\n".join([*lines, "", *notes, "", others, ""])


def revised(runs: list[ReproducedRun]) -> str:
    """What was changed when results were known: whoever reads a verdict must know."""
    lines = [
        "## Changed after a first run", "",
        "These verdicts are weaker evidence than the others: somebody had seen numbers when they were settled.", "",
    ]  # fmt: skip
    for run in runs:
        one = run.experiment
        if one.revised:
            changed = run.rules_changed()
            later = f" Judged anew since its rows were recorded: {'; '.join(changed)}." if changed else ""
            lines.append(f"- **{link(one.name)}** (now: {run.verdict}): {one.revised}{later}")
    return "\n".join([*lines, ""])


def sections(runs: list[ReproducedRun]) -> list[str]:
    written, last = [], None
    for run in runs:
        one = run.experiment
        if one.paper is not last:
            last = one.paper
            written.append(f"\n## {one.paper.title}\n\n{one.paper.authors}, {one.paper.published}.\n")
        text = page(run, picture_path(one.name), heading="###", below=f"{in_seconds(run.spent)}.")
        written.append(text.replace(f"### {one.title}", f"### {one.name}\n\n{one.title}.", 1))
    return written


def ending(runs: list[ReproducedRun]) -> str:
    machines = ", ".join(dict.fromkeys(run.machine for run in runs))
    total = Spent(sum(run.spent.clock for run in runs), sum(run.spent.processor for run in runs))
    return (
        f"\n## The machine\n\n{machines}. Many other programs ran beside, so that the clock tells little. All parts of "
        f"all quick runs add up to {total.clock / 60:.0f} minutes by the clock and to {total.processor / 60:.0f} "
        "minutes of the processor.\n"
    )


def in_words(counts: Mapping[Verdict, int]) -> str:
    """18 agree, 1 differs and 9 cannot be told at this size."""
    agree, differ, unknown = (counts[verdict] for verdict in Verdict)
    return (
        f"{agree or 'none'} {'agrees' if agree in (0, 1) else 'agree'}, "
        f"{differ or 'none'} {'differs' if differ in (0, 1) else 'differ'} and {unknown or 'none'} {Verdict.OPEN}"
    )


def link(name: str) -> str:
    return f"[{name}](#{name})"


def agreeing(outcomes: list[tuple[Claim, Outcome]]) -> int:
    return sum(outcome.verdict is Verdict.AGREES for _, outcome in outcomes)


def differing_claims(outcomes: list[tuple[Claim, Outcome]]) -> list[str]:
    return [claim.statement for claim, outcome in outcomes if outcome.verdict is Verdict.DIFFERS]
