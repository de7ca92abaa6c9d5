"""What commands print: tables for people, plain aligned text for files and pipes, JSON for programs."""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rankforce.console.plain_values import as_json
from rankforce.console.tables import text_table
from rankforce.console.terminals import terminal
from rankforce.console.wording import counted
from rankforce.displayed_text import displayed, displayed_lines, displayed_path

if TYPE_CHECKING:
    from rankforce.console.result_tables import StyledLine, Tabular
    from rankforce.data.dataset import Dataset


# Cyan and magenta, not green and red: most colour-blind readers tell them apart, and the marks say it to all.
STYLES = {"heading": "bold", "note": "dim", "best": "bold", "better": "bright_cyan", "worse": "bright_magenta"}


@dataclasses.dataclass(frozen=True)
class Table:
    """Rows of text under headings; every column but the first ``left`` ones is aligned to the right."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1
    title: str | None = None

    def __str__(self) -> str:
        """Plain aligned text, two spaces between columns."""
        text = text_table(self.headings, self.rows, left=self.left, rule=False)
        return text if self.title is None else f"{displayed(self.title)}\n{text}"


def on_terminal() -> bool:
    """Whether a person is likely to be reading standard output."""
    return sys.stdout.isatty()


def show(*parts: Table | str) -> None:
    """Print tables and paragraphs: drawn on a terminal, plain elsewhere."""
    if not on_terminal():
        for part in parts:
            write_line(str(part))
        return
    from rich import box
    from rich.table import Table as Drawn

    console = terminal(highlight=False, markup=False, emoji=False)  # a name such as [red] or :boom: is a name
    for part in parts:
        if isinstance(part, str):
            console.print(displayed_lines(part), soft_wrap=True)
            continue
        grid = Drawn(
            box=box.SIMPLE_HEAD, title=part.title and displayed(part.title), title_justify="left", pad_edge=False
        )
        for index, heading in enumerate(part.headings):
            grid.add_column(
                displayed(heading), justify="left" if index < part.left else "right", no_wrap=index < part.left
            )
        for row in part.rows:
            grid.add_row(*map(displayed, row))
        console.print(grid)


def show_result(result: Tabular, form: str = "text") -> None:
    """Print a result as a table; text fits the terminal, if it is one."""
    if form == "text":
        if on_terminal():
            _draw(result.to_styled(shutil.get_terminal_size().columns))
        else:
            write_line(result.to_text())
        return
    written = {"markdown": result.to_markdown, "latex": result.to_latex, "csv": result.to_csv}[form]()
    write_line(written.rstrip("\n"))


def _draw(lines: Sequence[StyledLine]) -> None:
    """Lines with their styles; on a dumb terminal, and with NO_COLOR, without."""
    from rich.text import Text

    console = terminal(highlight=False, markup=False, emoji=False)
    for line in lines:
        shown = displayed_lines(line.text)
        text = Text(shown)
        if shown == line.text:  # escapes would move the places
            for first, behind, role in line.stretches:
                text.stylize(STYLES[role], first, behind)
        console.print(text, soft_wrap=True)


def write_line(text: str) -> None:
    """Text and a line feed to standard output, without a character that a terminal would obey.

    If it cannot be written (a full disk), the error says where to.
    """
    try:
        typer.echo(displayed_lines(text))
    except BrokenPipeError:
        raise  # the reader has seen enough
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from None


def show_written(path: Path, data: Dataset, labels: Sequence[str], json: bool) -> None:
    """Say what was written where."""
    if json:
        show_json(_written(path, data, labels))
    else:
        show(_written_in_words(path, data, labels))


def show_all_written(written: Sequence[tuple[Path, Dataset, Sequence[str]]], json: bool) -> None:
    """Say what was written where, of several files; as JSON in a list."""
    if json:
        show_json([_written(*one) for one in written])
    else:
        show(*(_written_in_words(*one) for one in written))


def _written(path: Path, data: Dataset, labels: Sequence[str]) -> dict[str, Any]:
    return {
        "file": str(path),
        "documents": data.n_documents,
        "queries": data.n_queries,
        "features": data.n_features,
        "labels": list(labels),
    }


def _written_in_words(path: Path, data: Dataset, labels: Sequence[str]) -> str:
    return (
        f"{displayed_path(path)}: {counted(data.n_documents, 'document')}, {counted(data.n_queries, 'query')}, "
        f"{counted(data.n_features, 'feature')}, labels: {', '.join(map(displayed, labels)) or 'none'}"
    )


def note(message: str) -> None:
    """A remark on standard error, where it disturbs no output."""
    typer.echo(displayed_lines(f"rankforce: {message}"), err=True)


def show_json(value: Any) -> None:
    """Print a value as JSON on standard output. What is not a number (NaN, infinity) becomes null."""
    text = json.dumps(as_json(value), indent=2, ensure_ascii=False, allow_nan=False)
    write_line("\n".join(map(_escaped_json, text.split("\n"))))


def _escaped_json(line: str) -> str:
    """A line of JSON that says the same with everything escaped, as JSON does it, that is not visible."""
    return line if line.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)
