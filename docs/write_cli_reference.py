"""Write cli.md from the commands themselves.

    python docs/write_cli_reference.py

A test compares the file with what this would write: run it after changing a command.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from rankforce.cli.application import build

INTRODUCTION = """\
# The command line

One verb per job. `rankforce --help` lists the commands, `rankforce COMMAND --help` explains one; this page is written
by `python docs/write_cli_reference.py`.

**What ranks.** Where a command takes a ranking, it can be a file of scores (one number per line, in the order of the
rows; or `.npy`), the name of a feature, a model file, or a TREC run. What it is, is found out from the file or the
word; `scores:FILE`, `feature:NAME`, `model:FILE` and `run:FILE` say it. In the same places data can be TREC judgments
(`qrels:FILE`, or found out), which go with a TREC run.

**Data files** are LETOR text, Parquet or CSV, by the ending of the name; `-` is LETOR text from standard input. A
folder of them, or a pattern in quotes, is read as one file ([several files](data.md#several-files)).
`--read NAME=VALUE` gives an option of `rankforce.read`, `--write NAME=VALUE` one of writing: `--read absent=missing`,
`--read 'delimiter=;'`, `--write label=clicks`. Errors name such options as they are typed. Queries, labels and
documents of a table are found by the usual names of columns, and which column became what is said on standard error;
a column called `weight` is a feature until `--read weight=weight` says otherwise.

**Values** are read as what the setting or option is: `--set large_margin=false` is false, `--set early_stopping=none`
is none, `--set preset=2006` a word. Several are written with commas, `--set learning_rate=0.1,0.01`; lists and mappings
as Python writes them, `--set 'monotone={"1": 1}'`. What is impossible is refused before any data is read.

**Measures** are written `NAME[@cutoff][(parameter=value,...)][:label]`: `NDCG@10`, `ERR@10(max_grade=4)`,
`NDCG@10:clicks`. `--import my_measures.py` runs a Python file; the measures defined in it are then known by
name. So are **λ-functions**, written `NAME[(parameter=value,...)]`: `LocalCost(k=3)`.

**Completion.** `rankforce --install-completion`, typed once in bash, zsh or fish, lets the shell complete commands,
options, measures (`NDC`, `NDCG@`), rankers, settings (`--set`), conventions, formats and files;
`--show-completion` prints what it would write.

**Output** is text: on a terminal with colours (`NO_COLOR` leaves them out), bold for the best number and ▲ ▼ for what
is significantly better or worse, broken to its width; plain and aligned in a file or a pipe. `--json` prints one JSON
value on standard output; what is not a number is `null`. Remarks and errors go to standard error.

**Exit codes**: 0 done; 1 the answer is no (`inspect --strict` or `--fail-on`; `--require` of `compare`, `off-policy`
and `optimality`; `export --check`); 2 bad usage or bad input, with a message that says where and what to do; 70 a
defect of rankforce; 130 interrupted by Ctrl-C (`train` and `tune` have then written what they had learned, and say so;
`"interrupted": true` with `--json`). `RANKFORCE_DEBUG=1` shows tracebacks, `RANKFORCE_QUIET=1` silences the
lines about compiling kernels, `NUMBA_CACHE_DIR` says where they are kept: in a folder `rankforce-UID` that only you can
use (else beside the package, in your cache, or in the temporary folder). Files that would fill the memory are refused;
`RANKFORCE_LONGEST_ID` (characters of an id or a name), `RANKFORCE_LONGEST_LINE` (bytes) and `RANKFORCE_MOST_EXPANSION`
(bytes per compressed byte) raise the limits. Names and ids are shown with control characters escaped; JSON and files
hold them as they are.
"""


def reference() -> str:
    """The whole page."""
    group: Any = typer.main.get_command(build())
    return INTRODUCTION + "".join(section(name, group.commands[name]) for name in sorted(group.commands))


def section(name: str, command: Any) -> str:
    """One command: usage, what it does, its arguments and options."""
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option"]
    usage = " ".join([f"rankforce {name}", *(placeholder(one) for one in arguments), "[OPTIONS]"])
    paragraphs = [" ".join(part.split()) for part in command.help.split("\n\n")]
    rows = [f"| `{placeholder(one)}` | {one.help} |" for one in arguments]
    rows += [f"| {spelling(one)} | {meaning(one)} |" for one in options]
    return "\n".join(
        [
            "",
            f"## {name}",
            "",
            "```text",
            usage,
            "```",
            "",
            "\n\n".join(paragraphs),
            "",
            "| | |",
            "|---|---|",
            *rows,
            "",
        ]
    )


def placeholder(argument: Any) -> str:
    return (argument.metavar or argument.name.upper()) + ("..." if argument.nargs == -1 else "")


def spelling(option: Any) -> str:
    names = ", ".join(f"`{one}`" for one in sorted(option.opts, key=len))
    if option.is_flag:
        return names
    return f"{names} `{option.metavar}`".replace("|", "\\|")  # a bar would end the cell


def meaning(option: Any) -> str:
    text = " ".join(option.help.split())
    if isinstance(option.show_default, str):
        return f"{text} Default: {option.show_default}."
    if option.is_flag or option.default is None:
        return text
    return f"{text} Default: {option.default}."


if __name__ == "__main__":
    Path(__file__).with_name("cli.md").write_text(reference(), encoding="utf-8")
