"""A result as a table, and its forms: text that fits a width, Markdown, LaTeX, CSV, HTML."""

from __future__ import annotations

import abc
import csv
import dataclasses
import html
import io
from collections.abc import Iterator, Sequence
from typing import Literal

from rankforce.displayed_text import displayed, escaped

MARGIN = "  "  # between two columns of text


@dataclasses.dataclass(frozen=True)
class Cell:
    """What stands in one place of a table.

    best : whether nothing in its column is better: shown in bold
    marks : letters behind it, such as those of the rankings that it is significantly better than
    significant : "better" or "worse" for a difference that is hardly chance: on a terminal it has a colour and a mark
    values : the numbers that the text stands for, with all their digits, for programs: one, or the two of an interval
    """

    text: str
    best: bool = False
    marks: str = ""
    significant: Literal["", "better", "worse"] = ""
    values: tuple[float, ...] = ()


SIGNIFICANT = {"": "", "better": "▲", "worse": "▼"}
SIGNIFICANT_COLOURS = {"better": "#1C7FC0", "worse": "#C75A10"}  # in notebooks, on light pages and on dark ones


@dataclasses.dataclass(frozen=True)
class StyledLine:
    """A line of a table on a terminal, and the stretches of it that are drawn otherwise: (first, behind last, role).

    Roles are heading, note, best, better and worse; what they look like is the terminal's.
    """

    text: str
    stretches: tuple[tuple[int, int, str], ...] = ()


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

    def styled(self, width: int | None = None) -> Iterator[StyledLine]:
        """The lines of ``text`` for a terminal: with marks for what is significant, and with roles to be coloured."""
        if self.title:
            yield StyledLine(self.title, ((0, len(self.title), "heading"),))
        rows = [[_marked(_cell(entry)) for entry in row] for row in self.rows]
        columns = _text_columns(self.header, rows, self.left)
        for number, part in enumerate(_parts(columns, self.left, width)):
            if number:
                yield StyledLine("")
            lines = _joined(part)
            yield StyledLine(lines[0], ((0, len(lines[0]), "heading"),))
            yield StyledLine(_rule(part))
            for row, line in enumerate(lines[1:], start=1):
                yield StyledLine(line, tuple(_stretches(part, row, len(line))))
        legend = self._legend(rows)
        yield from (StyledLine(note, ((0, len(note), "note"),)) for note in (*legend, *self.notes))

    def _legend(self, rows: Sequence[Sequence[Cell]]) -> list[str]:
        cells = [cell for row in rows for cell in row]
        words = []
        if any(cell.significant for cell in cells):
            words.append("▲ significantly better, ▼ significantly worse")
        if any(cell.best for cell in cells):
            words.append("bold: the best")
        return ["; ".join(words)] if words else []

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
        """The cells alone, numbers with all their digits; marks and ends of intervals in columns of their own."""
        columns: list[list[str]] = []
        for name, *entries in zip(self.header, *self.rows, strict=True):
            cells = [_cell(entry) for entry in entries]
            width = max((len(cell.values) for cell in cells), default=1)
            ends = [f"{name} low", f"{name} high"] if width == 2 else [str(name)]
            columns += [
                list(column) for column in zip(ends, *(_in_full(cell, len(ends)) for cell in cells), strict=True)
            ]
            if any(cell.marks for cell in cells):
                columns.append([f"{name}: better than", *(cell.marks for cell in cells)])
        lines = io.StringIO()
        csv.writer(lines, lineterminator="\n").writerows(zip(*columns, strict=True))
        return lines.getvalue()

    def html(self) -> str:
        """A table for notebooks, its title above and its notes below."""
        heads = "".join(self._html_cell("th", place, Cell(name)) for place, name in enumerate(self.header))
        body = "".join(
            "<tr>" + "".join(self._html_cell("td", place, _cell(entry)) for place, entry in enumerate(row)) + "</tr>"
            for row in self.rows
        )
        legend = self._legend([[_cell(entry) for entry in row] for row in self.rows])
        below = "".join(f"<div>{html.escape(escaped(note))}</div>" for note in (*legend, *self.notes))
        return (
            f'<div style="overflow-x:auto"><strong>{html.escape(escaped(self.title))}</strong>'
            f'<table style="font-variant-numeric:tabular-nums"><thead><tr>{heads}</tr></thead>'
            f'<tbody>{body}</tbody></table><div style="font-size:85%">{below}</div></div>'
        )

    def _html_cell(self, tag: str, place: int, cell: Cell) -> str:
        text = html.escape(escaped(cell.text))
        text = f"<strong>{text}</strong>" if cell.best else text
        if cell.significant:
            text += (
                f' <span style="color:{SIGNIFICANT_COLOURS[cell.significant]}">{SIGNIFICANT[cell.significant]}</span>'
            )
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

    def to_styled(self, width: int | None = None) -> list[StyledLine]:
        """The lines of the table for a terminal: marks for what is significant, and what is to be coloured."""
        return list(self._result_table().styled(width))

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
    parts = []
    for part in _parts(_text_columns(header, rows, left), left, width):
        lines = _joined(part)
        if rule:
            lines.insert(1, _rule(part))
        parts.append("\n".join(lines))
    return parts


def _text_columns(header: Sequence[str], rows: Sequence[Sequence[str | Cell]], left: int) -> list[_TextColumn]:
    entries = zip(header, *rows, strict=True)
    return [_TextColumn.of(column, place < left) for place, column in enumerate(entries)]


def _joined(columns: Sequence[_TextColumn]) -> list[str]:
    return [MARGIN.join(cells).rstrip() for cells in zip(*(column.cells for column in columns), strict=True)]


def _rule(columns: Sequence[_TextColumn]) -> str:
    return "─" * (sum(column.width for column in columns) + len(MARGIN) * (len(columns) - 1))


def _stretches(columns: Sequence[_TextColumn], row: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Where the cells of a row stand in its line that are best or significant."""
    place = 0
    for column in columns:
        cell = column.entries[row]
        for role in ("best" if cell.best else "", cell.significant):
            if role:
                yield place, min(place + column.width, end), role
        place += column.width + len(MARGIN)


def _marked(cell: Cell) -> Cell:
    """A cell with a mark behind it that says without colours what is significant."""
    return dataclasses.replace(cell, marks=cell.marks + SIGNIFICANT[cell.significant])


@dataclasses.dataclass(frozen=True)
class _TextColumn:
    """A column of text: all its cells are equally wide."""

    cells: list[str]
    width: int
    entries: list[Cell]

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
        return cls(aligned, width, cells)


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


def _in_full(cell: Cell, columns: int) -> list[str]:
    """A cell for programs, in one column or several: numbers as Python writes them, nothing where there is none."""
    if not cell.values:
        return [cell.text] * columns
    return ["" if value != value else repr(value) for value in cell.values]


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
