"""The trees of a model file, read column by column instead of number by number.

In a file, a tree is a line of lists, and nearly all of the file are trees. They are cut out of the text before it is
read as JSON, by a kernel where that is worth it (``tree_lines.py``), else all lists of a name together
(``number_lists.py``). What is not written as ``storage.py`` writes it stays where it is, and is read as JSON, which
finds what is wrong with it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.models import tree_lines
from rankforce.models.number_lists import can_be, numbers, whole_numbers
from rankforce.models.tree_sets import FILE_FIELDS, SetLists

_BEGIN = b'"trees": [\n'
_END = b"}]"
_LAST = b"]"
_BETWEEN = b",\n"
_ANY = b'"trees":'


class TreeColumns:
    """The arrays of all trees of an ensemble, one after the other, how many nodes each tree has, and its sets."""

    def __init__(self, columns: dict[str, np.ndarray], nodes: list[int], sets: SetLists) -> None:
        self.columns = columns
        self.nodes = nodes
        self.sets = sets


def cut_out(data: bytes, dtypes: Mapping[str, Any], leaf_fields: Mapping[str, Any]) -> tuple[bytes, list[TreeColumns]]:
    """The text with the number k in place of the k-th list of trees, and these; the text as it is, and none, if some
    list is written in another way."""
    compiled = tree_lines.worth_it(len(data))
    sections: list[TreeColumns] = []
    kept: list[bytes] = []
    place = 0
    while (start := data.find(_BEGIN, place)) >= 0:
        begin = start + len(_BEGIN)
        # Of the first list, the only one of most files, it is not asked where the next begins: it is all to search.
        limit = _first_of(_BEGIN, data, begin) if sections else len(data)
        read = _read_compiled(data, begin, limit, dtypes, leaf_fields) if compiled else None
        read = read or _read(data, begin, dtypes, leaf_fields)
        if read is None:
            return data, []
        section, end = read
        kept += [data[place:start], _ANY, f" {len(sections)}".encode()]
        sections.append(section)
        place = end
    text = b"".join([*kept, data[place:]])
    if text.count(_ANY) != len(sections):
        return data, []  # some list is not cut out: nothing else may look like one that is
    return text, sections


def put_back(one: dict[str, Any], sections: list[TreeColumns]) -> dict[str, Any]:
    """An object of the rest, with the trees that stood where ``cut_out`` has left a number."""
    number = one.get("trees")
    if type(number) is int and 0 <= number < len(sections):
        one["trees"] = sections[number]
    return one


def _first_of(what: bytes, data: bytes, start: int) -> int:
    """Where it first stands from ``start`` on, or else the end of the data."""
    found = data.find(what, start)
    return found if found >= 0 else len(data)


def _read_compiled(
    data: bytes, start: int, limit: int, dtypes: Mapping[str, Any], leaf_fields: Mapping[str, Any]
) -> tuple[TreeColumns, int] | None:
    """As ``_read``, by the kernel, which knows no sets of categories; the lines end before ``limit``."""
    read = tree_lines.read(data, start, limit, dtypes, leaf_fields)
    if read is None:
        return None
    columns, nodes, end = read
    if data[end : end + 1] != _LAST or not all(
        can_be(np.dtype(dtypes[name]), column) for name, column in columns.items()
    ):
        return None
    sets = _sets((b"",) * len(nodes))
    return None if sets is None else (TreeColumns(columns, nodes, sets), end + len(_LAST))


def _read(
    data: bytes, start: int, dtypes: Mapping[str, Any], leaf_fields: Mapping[str, Any]
) -> tuple[TreeColumns, int] | None:
    """The lines of trees from ``start`` to a bracket, and where that ends, if that is what they are."""
    end = data.rfind(_END, start, _first_of(_BEGIN, data, start))
    section = data[start : end + 1]
    pattern, written = _line(tuple(dtypes))
    lines = pattern.findall(section)
    lists = list(zip(*lines, strict=True))
    around = len(lines) * written + len(_BETWEEN) * (len(lines) - 1)
    whole = around + sum(len(part) for parts in lists for part in parts) == len(section)
    if not lines or not whole or section.count(b"}" + _BETWEEN + b"{") != len(lines) - 1:
        return None  # something stands between the lines
    sets = _sets(lists.pop())
    if sets is None:
        return None
    nodes: np.ndarray | None = None
    columns: dict[str, np.ndarray] = {}
    for (name, dtype), parts in zip(dtypes.items(), lists, strict=True):
        column = _column(b", ".join([part for part in parts if part]), np.dtype(dtype))
        if column is None:
            return None
        columns[name], commas = column
        counts = _counts(parts, commas)
        if nodes is None:
            nodes = counts
        if not np.array_equal(counts, nodes + (name in leaf_fields)):
            return None
    return None if nodes is None else (TreeColumns(columns, nodes.tolist(), sets), end + len(_END))


@functools.cache
def _line(names: tuple[str, ...]) -> tuple[re.Pattern[bytes], int]:
    """The line of a tree: what stands between the brackets of each name, and all that is said of sets of categories.

    With the number of bytes around these.
    """
    lists = _lists_of(names)
    sets = _lists_of(tuple(FILE_FIELDS)).replace("(", "").replace(")", "")
    around = lists.replace("([^]]*)", "").replace("\\", "")
    return re.compile(rf"\{{{lists}((?:, {sets})?)\}}".encode()), len(f"{{{around}}}")


def _lists_of(names: tuple[str, ...]) -> str:
    return ", ".join(rf'"{name}": \[([^]]*)\]' for name in names)


_SETS = re.compile(_lists_of(tuple(FILE_FIELDS)).encode())


def _sets(parts: Sequence[bytes]) -> SetLists | None:
    """The sets of categories of all trees, out of what each line says of them."""
    counts = np.zeros((len(parts), len(FILE_FIELDS)), dtype=np.int64)
    asking = [number for number, part in enumerate(parts) if part]
    lists = list(zip(*(_SETS.findall(parts[number])[0] for number in asking), strict=True))
    columns = []
    for place, dtype in enumerate(FILE_FIELDS.values()):
        column = _column(b", ".join([part for part in lists[place] if part]) if lists else b"", np.dtype(dtype))
        if column is None:
            return None
        columns.append(column[0].astype(dtype))
        if lists:
            counts[asking, place] = _counts(lists[place], column[1])
    nodes, sizes, words = columns
    return SetLists(nodes, sizes, words, counts)


def _counts(parts: Sequence[bytes], commas: np.ndarray) -> np.ndarray:
    """How many numbers each part has, by where commas stand in all parts together."""
    lengths = np.array([len(part) for part in parts])
    if not lengths.any():
        return np.zeros(len(parts), dtype=np.int64)
    ends = np.cumsum(lengths + 2 * (lengths > 0))  # each part that is not empty, with a comma and a blank
    return np.diff(np.searchsorted(np.append(commas, ends[-1] - 1), ends), prepend=0)


def _column(text: bytes, dtype: np.dtype[Any]) -> tuple[np.ndarray, np.ndarray] | None:
    """The numbers of a text, and where its commas stand; None unless they are of this dtype."""
    commas = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord(","))
    if dtype.kind == "b":
        if text.translate(None, b"truefals, "):
            return None
        text = text.replace(b"true", b"1").replace(b"false", b"0")
    values = numbers(text) if dtype.kind == "f" else whole_numbers(text)
    return None if values is None or not can_be(dtype, values) else (values, commas)
