"""A result as a table, and its forms: text that fits a width, Markdown, LaTeX, CSV, HTML."""

from __future__ import annotations

import abc
import csv
import dataclasses
import html
import io
from collections.abc import Sequence

from rankforce.displayed_text import displayed

MARGIN = "  "  # between two columns of text


@dataclasses.dataclass(frozen=True)
class Cell:
    """What stands in one place of a table.

    best : whether nothing in its column is better: shown in bold
    marks : letters behind it, such as those of the rankings that it is significantly better than
    """

    text: str
    best: bool = False
    marks: str = ""


@dataclasses.dataclass(frozen=True)
class ResultTable:
    """Cells under headings, with a title and with what decides the numbers (``notes``).

    left : how many columns are names, aligned to the left; they are repeated where a table is broken
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    notes: Sequence[str] = ()
    left: int = 1

    def text(self, width: int | None = None) -> str:
        """Aligned columns; what is wider than ``width`` is broken into several parts, one below the other."""
        parts = aligned(self.header, self.rows, left=self.left, width=width)
        return "\n".join([*([self.title] if self.title else []), "\n\n".join(parts), *self.notes])

    def markdown(self) -> str:
        """A table as GitHub, GitLab and most notebooks read it."""
        sides = [":--" if place < self.left else "--:" for place in range(len(self.header))]
        lines = [[_markdown(name) for name in self.header], sides]
        lines += [[_markdown_cell(_cell(entry)) for entry in row] for row in self.rows]
        table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        above = [f"**{_markdown(self.title)}**"] if self.title else []
        below = ["  \n".join(map(_markdown, self.notes))] if self.notes else []
        return "\n\n".join([*above, table, *below]) + "\n"

    def latex(self, *, label: str | None = None) -> str:
        """A floating table with the rules of ``booktabs``; the title and the notes are its caption."""
        caption = ". ".join(_latex(part).rstrip(".") for part in (self.title, *self.notes) if part)
        sides = "l" * self.left + "r" * (len(self.header) - self.left)
        lines = [" & ".join(map(_latex, self.header)), "\\midrule"]
        lines += [" & ".join(_latex_cell(_cell(entry)) for entry in row) for row in self.rows]
        body = "\n".join(line if line == "\\midrule" else f"{line} \\\\" for line in lines)
        tag = "" if label is None else f"\\label{{{label}}}\n"
        return (
            f"\\begin{{table}}\n\\centering\n\\caption{{{caption}.}}\n{tag}\\begin{{tabular}}{{{sides}}}\n\\toprule\n"
            f"{body}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
        )

    def csv(self) -> str:
        """The cells alone, with marks in columns of their own where there are any."""
        marked = [any(_cell(entry).marks for entry in column) for column in zip(*self.rows, strict=True)]
        marked = marked or [False] * len(self.header)
        lines = io.StringIO()
        writer = csv.writer(lines, lineterminator="\n")
        for number, row in enumerate((self.header, *self.rows)):
            line: list[str] = []
            for entry, with_marks in zip(row, marked, strict=True):
                cell = _cell(entry)
                line.append(cell.text)
                if with_marks:
                    line.append(f"{cell.text}: better than" if number == 0 else cell.marks)
            writer.writerow(line)
        return lines.getvalue()

    def html(self) -> str:
        """A table for notebooks, its title above and its notes below."""
        heads = "".join(self._html_cell("th", place, Cell(name)) for place, name in enumerate(self.header))
        body = "".join(
            "<tr>" + "".join(self._html_cell("td", place, _cell(entry)) for place, entry in enumerate(row)) + "</tr>"
            for row in self.rows
        )
        below = "".join(f"<div>{html.escape(note)}</div>" for note in self.notes)
        return (
            f"<div><strong>{html.escape(self.title)}</strong>"
            f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
            f'<div style="font-size:85%">{below}</div></div>'
        )

    def _html_cell(self, tag: str, place: int, cell: Cell) -> str:
        text = html.escape(cell.text)
        text = f"<strong>{text}</strong>" if cell.best else text
        text += f"<sup>{html.escape(cell.marks)}</sup>" if cell.marks else ""
        return f'<{tag} style="text-align:{"left" if place < self.left else "right"}">{text}</{tag}>'


class Tabular(abc.ABC):
    """A result that is shown as a table: printed, in notebooks, and written for papers and other programs."""

    @abc.abstractmethod
    def _result_table(self) -> ResultTable:
        """The table, its title and its notes."""

    def __str__(self) -> str:
        return self._result_table().text()

    def _repr_html_(self) -> str:
        return self._result_table().html()

    def to_text(self, width: int | None = None) -> str:
        """The table as ``print`` shows it, broken into parts of at most ``width`` characters a line."""
        return self._result_table().text(width)

    def to_markdown(self) -> str:
        """The table in Markdown, with what decides its numbers below."""
        return self._result_table().markdown()

    def to_latex(self, label: str | None = None) -> str:
        """The table in LaTeX (package ``booktabs``), with what decides its numbers in the caption."""
        return self._result_table().latex(label=label)

    def to_csv(self) -> str:
        """The cells of the table as comma-separated text."""
        return self._result_table().csv()


def aligned(
    header: Sequence[str],
    rows: Sequence[Sequence[str | Cell]],
    *,
    left: int = 1,
    width: int | None = None,
    rule: bool = True,
) -> list[str]:
    """Tables of text that are at most ``width`` wide, where a single column is: one, or the parts of one."""
    entries = zip(header, *rows, strict=True)
    columns = [_TextColumn.of(column, place < left) for place, column in enumerate(entries)]
    parts = []
    for part in _parts(columns, left, width):
        lines = [MARGIN.join(cells).rstrip() for cells in zip(*(column.cells for column in part), strict=True)]
        if rule:
            lines.insert(1, "─" * (sum(column.width for column in part) + len(MARGIN) * (len(part) - 1)))
        parts.append("\n".join(lines))
    return parts


@dataclasses.dataclass(frozen=True)
class _TextColumn:
    """A column of text: all its cells are equally wide."""

    cells: list[str]
    width: int

    @classmethod
    def of(cls, entries: Sequence[str | Cell], left: bool) -> _TextColumn:
        cells = [_cell(entry) for entry in entries]
        longest_marks = max(len(cell.marks) for cell in cells)
        texts = [displayed(cell.text) for cell in cells]
        width = max(map(len, texts))
        aligned = [text.ljust(width) if left else text.rjust(width) for text in texts]
        if longest_marks:  # behind the numbers, so that their digits stay below each other
            aligned = [f"{text} {cell.marks.ljust(longest_marks)}" for text, cell in zip(aligned, cells, strict=True)]
            width += 1 + longest_marks
        return cls(aligned, width)


def _parts(columns: Sequence[_TextColumn], left: int, width: int | None) -> list[list[_TextColumn]]:
    """The columns in groups that fit into a width, each with the columns of names before it."""
    names, numbers = list(columns[:left]), columns[left:]
    if width is None or not numbers:
        return [list(columns)]
    room = width - sum(column.width + len(MARGIN) for column in names)
    parts: list[list[_TextColumn]] = [[]]
    used = 0
    for column in numbers:
        if parts[-1] and used + column.width > room:
            parts.append([])
            used = 0
        parts[-1].append(column)
        used += column.width + len(MARGIN)
    return [names + part for part in parts]


def _cell(entry: str | Cell) -> Cell:
    return entry if isinstance(entry, Cell) else Cell(entry)


_MARKDOWN = str.maketrans({sign: "\\" + sign for sign in "\\`*_{}[]<>|#~$"})
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": "$<$",
        ">": "$>$",
        "−": "$-$",
        "≥": r"$\geq$",
        "≤": r"$\leq$",
        "±": r"$\pm$",
        "×": r"$\times$",
        "Δ": r"$\Delta$",
        "λ": r"$\lambda$",
        "σ": r"$\sigma$",
        "–": "--",
    }
    | {sign: "\\" + sign for sign in "&%$#_{}"}
)


def _markdown(text: str) -> str:
    return displayed(text).translate(_MARKDOWN)


def _markdown_cell(cell: Cell) -> str:
    text = f"**{_markdown(cell.text)}**" if cell.best else _markdown(cell.text)
    return f"{text} <sup>{_markdown(cell.marks)}</sup>" if cell.marks else text


def _latex(text: str) -> str:
    return displayed(text).translate(_LATEX)


def _latex_cell(cell: Cell) -> str:
    text = f"\\textbf{{{_latex(cell.text)}}}" if cell.best else _latex(cell.text)
    return f"{text}$^{{\\mathrm{{{_latex(cell.marks)}}}}}$" if cell.marks else text
