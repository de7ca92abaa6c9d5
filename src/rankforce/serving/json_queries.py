"""A query in JSON: a matrix of its documents.

Three forms, all by the names of features; null is a missing value::

    {"columns": {"bm25": [7.1, 3.5], "age": [null, 2]}}
    {"rows": [{"bm25": 7.1, "age": null}, {"bm25": 3.5, "age": 2}]}
    {"features": ["bm25", "age"], "rows": [[7.1, null], [3.5, 2]]}

true and false are 1 and 0, as in data that is read: a model does not know which of its features were truth values. Of a
feature with categories, the values are categories: texts or numbers.

A number is the float64 nearest to what is written, as in JavaScript and Python; the model rounds it to float32, as
``predict`` does with a float64 matrix.
"""

from __future__ import annotations

import itertools
import json
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import orjson

from rankforce.displayed_text import displayed
from rankforce.kinds import shown
from rankforce.serving.category_values import CategoryTables, codes_of_values
from rankforce.serving.named_columns import check_names, check_rows
from rankforce.serving.refusals import RequestRefusal

_NUMBERS = frozenset({int, float, bool, type(None)})
_CATEGORIES = frozenset({str, int, float, type(None)})  # a category is not called true
_KINDS = {bool: "a truth value", str: "text", list: "a list", dict: "an object"}
_FORMS = (
    'send {"columns": {name: [number, ...]}}, {"rows": [{name: number}, ...]}, '
    'or {"features": [name, ...], "rows": [[number, ...], ...]}'
)


def matrix_from_json(
    body: bytes, features: Sequence[str], most_rows: int, ignore_unknown: bool, categories: CategoryTables
) -> np.ndarray:
    """The documents of a query, float64 (rows, features), features in the order of the model."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RequestRefusal(400, "malformed-json", f"the body is no JSON: {error}") from None
    if not isinstance(document, dict):
        raise _odd_form(f"the body is {_called(document)}")
    _refuse_repeated_names(body, document)
    if document.keys() == {"columns"}:
        return _from_columns(document["columns"], features, most_rows, ignore_unknown, categories)
    if document.keys() == {"rows"}:
        return _from_objects(document["rows"], features, most_rows, ignore_unknown, categories)
    if document.keys() == {"features", "rows"}:
        return _from_lists(document["features"], document["rows"], features, most_rows, ignore_unknown, categories)
    raise _odd_form(f"the body has the fields {', '.join(repr(displayed(name)) for name in document) or 'none'}")


def _from_columns(
    columns: Any, features: Sequence[str], most_rows: int, ignore_unknown: bool, categories: CategoryTables
) -> np.ndarray:
    if not isinstance(columns, dict):
        raise _odd_form(f"'columns' is {_called(columns)}")
    check_names(list(columns), features, ignore_unknown)
    chosen = [columns[name] for name in features]
    for name, values in zip(features, chosen, strict=True):
        if type(values) is not list:
            raise _odd_form(f"the column {displayed(name)!r} is {_called(values)}")
    lengths = {len(values) for values in chosen}
    if len(lengths) > 1:
        name, values = next((n, v) for n, v in zip(features, chosen, strict=True) if len(v) != len(chosen[0]))
        raise RequestRefusal(
            422,
            "uneven-columns",
            f"columns must be equally long: {displayed(features[0])!r} has {len(chosen[0]):,} values, "
            f"{displayed(name)!r} has {len(values):,}",
        )
    rows = len(chosen[0]) if chosen else 0
    check_rows(rows, most_rows)
    for place, name in enumerate(features):
        if name in categories:
            chosen[place] = _codes(name, chosen[place], categories)
    if not _are_numbers(itertools.chain.from_iterable(chosen)):
        name, row = next(
            (name, row)
            for name, values in zip(features, chosen, strict=True)
            for row, value in enumerate(values)
            if type(value) not in _NUMBERS
        )
        raise _no_number(name, row, columns[name][row])
    return np.array(chosen, dtype=np.float64).reshape(len(features), rows).T


def _from_objects(
    rows: Any, features: Sequence[str], most_rows: int, ignore_unknown: bool, categories: CategoryTables
) -> np.ndarray:
    _check_list(rows, most_rows)
    for number, row in enumerate(rows):
        if type(row) is not dict:
            raise _odd_form(f"row {number} (from 0) is {_called(row)}")
    names = rows[0].keys() if rows else ()
    if rows:
        check_names(list(names), features, ignore_unknown, "row 0")
    for number, row in enumerate(rows):
        if row.keys() != names:
            check_names(list(row), features, ignore_unknown, f"row {number} (from 0)")
    if len(features) < 2:  # an itemgetter of one name gives the value itself
        return _from_values([[row[name] for name in features] for row in rows], features, categories)
    return _from_values(list(map(operator.itemgetter(*features), rows)), features, categories)


def _from_lists(
    names: Any, rows: Any, features: Sequence[str], most_rows: int, ignore_unknown: bool, categories: CategoryTables
) -> np.ndarray:
    if type(names) is not list or not all(type(name) is str for name in names):
        raise _odd_form("'features' is no list of names")
    check_names(names, features, ignore_unknown)
    _check_list(rows, most_rows)
    for number, row in enumerate(rows):
        if type(row) is not list:
            raise _odd_form(f"row {number} (from 0) is {_called(row)}, and there are 'features'")
        if len(row) != len(names):
            message = f"row {number} (from 0) has {len(row):,} values for {len(names):,} features"
            raise RequestRefusal(422, "uneven-rows", message)
    matrix = _from_values(rows, names, categories)
    if tuple(names) == tuple(features):
        return matrix
    place_of = {name: place for place, name in enumerate(names)}
    return matrix[:, [place_of[name] for name in features]]


def _from_values(rows: Sequence[Sequence[Any]], names: Sequence[str], categories: CategoryTables) -> np.ndarray:
    for place, name in enumerate(names):
        if name in categories:
            codes = _codes(name, [row[place] for row in rows], categories)
            rows = [(*row[:place], code, *row[place + 1 :]) for row, code in zip(rows, codes, strict=True)]
    if not _are_numbers(itertools.chain.from_iterable(rows)):
        row, place = next(
            (row, place)
            for row, values in enumerate(rows)
            for place, value in enumerate(values)
            if type(value) not in _NUMBERS
        )
        raise _no_number(names[place], row, rows[row][place])
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(names))  # None becomes NaN


def _codes(name: str, values: Sequence[Any], categories: CategoryTables) -> list[float | None]:
    """The codes of the values of a feature with categories."""
    if not _CATEGORIES.issuperset(map(type, values)):
        row = next(row for row, value in enumerate(values) if type(value) not in _CATEGORIES)
        message = (
            f"feature {displayed(name)!r} of row {row} (from 0) is {_called(values[row])} "
            f"({displayed(shown(values[row]))}), not a category: text or a number; null is a missing value"
        )
        raise RequestRefusal(422, "not-a-category", message, feature=name, row=row)
    return codes_of_values(values, categories[name])


def _are_numbers(values: Iterable[Any]) -> bool:
    """Whether there are numbers, truth values and None only: NumPy alone would take "nan" for a number."""
    return _NUMBERS.issuperset(map(type, values))


def _check_list(rows: Any, most_rows: int) -> None:
    if type(rows) is not list:
        raise _odd_form(f"'rows' is {_called(rows)}")
    check_rows(len(rows), most_rows)


def _refuse_repeated_names(body: bytes, document: dict[str, Any]) -> None:
    """Raise if an object has a name twice, of which orjson keeps the last without a word.

    Every text has two quotes. If there is no escape, and no more quotes than the names that were kept need, then no
    name was dropped. Where that does not decide, the body is read once more, slowly.
    """
    if b"\\" in body or body.count(b'"') != 2 * _names_kept(document):
        refuse_repeated_names_slowly(body)


def _names_kept(document: dict[str, Any]) -> int:
    kept = len(document)
    columns, rows, names = document.get("columns"), document.get("rows"), document.get("features")
    if isinstance(columns, dict):
        kept += len(columns)
    if isinstance(rows, list):
        kept += sum(len(row) for row in rows if type(row) is dict)
    return kept + (len(names) if isinstance(names, list) else 0)


def refuse_repeated_names_slowly(body: bytes) -> None:
    """As ``_refuse_repeated_names``, by Python's own reader, which shows every pair."""
    try:
        json.loads(body.decode(), object_pairs_hook=_unrepeated)
    except RequestRefusal:
        raise
    except (ValueError, RecursionError) as error:  # deeper than Python reads; a number of thousands of digits
        raise RequestRefusal(400, "malformed-json", f"the body is no JSON that can be read: {error}") from None


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        check_names(names, [], ignore_unknown=True, where="an object of the body")
    return found


def _called(value: Any) -> str:
    return "null" if value is None else _KINDS.get(type(value), "a number")


def _odd_form(problem: str) -> RequestRefusal:
    return RequestRefusal(422, "odd-form", f"{problem}: {_FORMS}")


def _no_number(name: str, row: int, value: Any) -> RequestRefusal:
    message = (
        f"feature {displayed(name)!r} of row {row} (from 0) is {_called(value)} ({displayed(shown(value))}), not a "
        "number; null is a missing value"
    )
    return RequestRefusal(422, "not-a-number", message, feature=name, row=row)
