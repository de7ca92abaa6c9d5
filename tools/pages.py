"""Pages of documentation as programs: their blocks, what runs of them, and what it prints.

Of a page of ``docs/`` the blocks run from top to bottom, in one folder and one namespace:

- ``python`` blocks are executed, lines of ``sh`` blocks are run; both stop the page if they fail,
- a ``text`` block that directly follows one of them is its output, and has to be what it prints,
- ``<!-- file: tiers.toml -->`` above a block of any kind writes it to that file,
- ``<!-- not run: because -->`` above a block leaves it alone,
- ``<!-- output not shown: because -->`` above a block lets it print what is not on the page,
- ``<!-- run before`` opens a comment with Python for what a reader has and a test has not: files of logs, say.

In outputs ``…`` stands for anything within a line, and a line of ``…`` alone for any lines. Numbers with decimals
may be a little off: on another processor sums differ in their last bits.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
DOCS = REPOSITORY / "docs"
RUN = ("python", "sh")
SHOWN = ("text", "toml", "json")  # what a block may be besides

_FENCE = re.compile(r"^( *)```(\S*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
_BEFORE = re.compile(r"^<!-- run before\n(.*?)^-->$", re.DOTALL | re.MULTILINE)
_MARK = re.compile(r"<!-- (file|not run|output not shown): (.+?) -->\s*\Z")
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")
ELSEWHERE = "…"


class PageError(AssertionError):
    """What is wrong on a page, with its line."""


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block, or a comment that is run.

    Attributes
    ----------
    language : what stands behind the fence; "before" for a comment that is run
    body : what is between the fences, without their indentation
    line : of the opening fence, from 1
    start, end : where it stands in the text of the page
    marks : what comments directly above it say
    output : the text block that follows it, if it is its output
    """

    language: str
    body: str
    line: int
    start: int
    end: int
    marks: dict[str, str] = dataclasses.field(default_factory=dict)
    output: Block | None = None

    @property
    def runs(self) -> bool:
        return self.language == "before" or (self.language in RUN and "not run" not in self.marks)


def blocks_of(text: str) -> list[Block]:
    """Every block of a page in order; outputs belong to the block before them and are not listed again."""
    found: list[Block] = []
    matches = [*_FENCE.finditer(text), *_BEFORE.finditer(text)]
    for match in sorted(matches, key=lambda one: one.start()):
        line = text.count("\n", 0, match.start()) + 1
        if match.re is _BEFORE:
            found.append(Block("before", match[1], line, match.start(), match.end()))
            continue
        block = Block(
            match[2], textwrap.dedent(match[3]), line, match.start(), match.end(), _marks(text[: match.start()])
        )
        if found and _is_output(block, found[-1], text):
            found[-1] = dataclasses.replace(found[-1], output=block)
        else:
            found.append(block)
    return found


def _is_output(block: Block, previous: Block, text: str) -> bool:
    """Whether a block shows what the one before it prints: nothing stands between them."""
    shows = block.language == "text" and not block.marks and previous.runs and previous.output is None
    return shows and not text[previous.end : block.start].strip()


def _marks(above: str) -> dict[str, str]:
    """What the comments directly above a block say."""
    marks = {}
    while match := _MARK.search(above):
        marks[match[1]] = match[2]
        above = above[: match.start()]
    return marks


# ------------------------------------------------------------------------------------------------------------ running


@dataclasses.dataclass
class PageRun:
    """One run of a page in the current folder."""

    name: str
    names: dict[str, object] = dataclasses.field(default_factory=lambda: {"__name__": "__main__"})

    def run(self, block: Block) -> str:
        """Run a block, or write its file; what it printed on standard output."""
        if "file" in block.marks:
            path = Path(block.marks["file"])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.body, encoding="utf-8")
        if not block.runs:
            return ""
        try:
            return self._python(block) if block.language in ("python", "before") else self._shell(block)
        except PageError:
            raise
        except Exception as error:
            raise PageError(f"{self.name}, line {block.line}: {type(error).__name__}: {error}") from error

    def _python(self, block: Block) -> str:
        # Lines of tracebacks are those of the page.
        code = compile("\n" * block.line + block.body, str(DOCS / self.name), "exec")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, self.names)
        return printed.getvalue()

    def _shell(self, block: Block) -> str:
        printed = []
        for line in block.body.replace("\\\n", " ").splitlines():
            command = line.strip()
            if command and not command.startswith("#"):
                printed.append(self._command(command, block))
        return "".join(printed)

    def _command(self, command: str, block: Block) -> str:
        words = shlex.split(command, comments=True)
        quick = words[0] == "rankforce" and not re.search(r"[|<>;$`]|&&", re.sub(r"'[^']*'|\"[^\"]*\"", "", command))
        code, printed, said = _in_process(words[1:]) if quick else _in_shell(command)
        if code != 0:
            raise PageError(f"{self.name}, line {block.line}: `{command}` left with {code}\n{printed}\n{said}")
        return printed


def _in_process(words: list[str]) -> tuple[int, str, str]:
    """``rankforce`` with these words, without the time that a new process takes."""
    from rankforce.cli.application import build

    code = 0
    with (
        contextlib.redirect_stdout(io.StringIO()) as printed,
        contextlib.redirect_stderr(io.StringIO()) as said,
    ):
        try:
            build()(words, prog_name="rankforce")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return code, printed.getvalue(), said.getvalue()


def _in_shell(command: str) -> tuple[int, str, str]:
    programs = str(Path(sys.executable).parent)
    modules = os.pathsep.join([str(REPOSITORY / "src"), str(REPOSITORY)])
    environment = os.environ | {"PATH": programs + os.pathsep + os.environ.get("PATH", ""), "PYTHONPATH": modules}
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=environment, check=False)
    return done.returncode, done.stdout, done.stderr


# ---------------------------------------------------------------------------------------------------------- comparing


def check(name: str, text: str) -> None:
    """Run a page in the current folder and compare what it shows with what it prints."""
    run = PageRun(name)
    for block in blocks_of(text):
        printed = run.run(block)
        if block.output is not None:
            compare(printed, block.output.body, f"{name}, line {block.output.line}")
        elif printed.strip() and "output not shown" not in block.marks and block.language != "before":
            raise PageError(f"{name}, line {block.line}: prints what the page does not show:\n{printed}")


def compare(printed: str, shown: str, where: str) -> None:
    """Raise a PageError unless a page shows what was printed."""
    numbers: list[float] = []
    match = re.fullmatch(_pattern(shown, numbers), _plain(printed))
    if match is None:
        raise PageError(f"{where}: the page shows\n{shown}\nand this was printed:\n{printed}")
    for group, expected in zip(match.groups(), numbers, strict=True):
        found = float(group.replace(",", ""))
        if abs(found - expected) > _tolerance(group, expected):
            raise PageError(f"{where}: the page shows {expected}, and {group} was printed:\n{printed}")


def _tolerance(text: str, expected: float) -> float:
    """Decimals are near; whole numbers are equal, and large ones nearly: counts of what a model does."""
    if "." in text:
        return 0.005 + 0.01 * abs(expected)
    return 0.02 * abs(expected) if abs(expected) > 50 else 0.0


def _plain(text: str) -> str:
    """Without what follows from the widths of numbers, and without heights of drawn curves: runs become one sign."""
    drawn = (re.sub(r"[▁▂▃▄▅▆▇█][▁▂▃▄▅▆▇█ ]*", "█", line) for line in text.splitlines())
    lines = (re.sub(r"─+", "─", re.sub(r" +", " ", line)).rstrip() for line in drawn)
    return "\n".join(lines).strip("\n")


def _pattern(shown: str, numbers: list[float]) -> str:
    """What a printed text has to match, with a group for every number."""
    lines = []
    for line in _plain(shown).split("\n"):
        if line.strip() == ELSEWHERE:
            lines.append(r"(?:.*\n)*?")
            continue
        parts = []
        for piece in re.split(f"({_NUMBER.pattern}|{ELSEWHERE})", line):
            if piece == ELSEWHERE:
                parts.append(".*?")
            elif _NUMBER.fullmatch(piece):
                numbers.append(float(piece.replace(",", "")))
                parts.append(f"({_NUMBER.pattern})")
            else:
                parts.append(re.escape(piece))
        lines.append("".join(parts) + r"\n")
    pattern = "".join(lines)
    return pattern.removesuffix(r"\n") if pattern.endswith(r"\n") else pattern + ".*"


# ------------------------------------------------------------------------------------------------------------ writing


def with_outputs(name: str, text: str, *, longest: int = 24) -> str:
    """The page with what its blocks print below them, where it does not show that yet or shows something else."""
    run = PageRun(name)
    changes: list[tuple[int, int, str]] = []
    for block in blocks_of(text):
        printed = run.run(block)
        if block.output is not None:
            try:
                compare(printed, block.output.body, name)
            except PageError:
                changes.append((block.output.start, block.output.end, fenced(printed, longest)))
        elif printed.strip() and "output not shown" not in block.marks and block.language != "before":
            changes.append((block.end, block.end, "\n\n" + fenced(printed, longest)))
    for start, end, new in reversed(changes):
        text = text[:start] + new + text[end:]
    return text


def fenced(printed: str, longest: int) -> str:
    lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
    if len(lines) > longest:
        lines = [*lines[:longest], ELSEWHERE]
    return "\n".join(["```text", *lines, "```"])


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in a folder, with ``examples/`` of the repository to be imported and run from there; 100 columns wide."""
    (folder / "examples").symlink_to(REPOSITORY / "examples", target_is_directory=True)
    before, columns = Path.cwd(), os.environ.get("COLUMNS")
    os.chdir(folder)
    os.environ["COLUMNS"] = "100"
    try:
        yield
    finally:
        os.chdir(before)
        del os.environ["COLUMNS"]
        if columns is not None:
            os.environ["COLUMNS"] = columns
