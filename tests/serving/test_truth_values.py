"""Truth values in JSON are 1 and 0, as in data that is read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rankforce.serving.json_queries import matrix_from_json
from rankforce.serving.refusals import RequestRefusal

FORMS: list[Any] = [
    {"columns": {"price": [2.5, 3], "in_stock": [True, False]}},
    {"rows": [{"price": 2.5, "in_stock": True}, {"price": 3, "in_stock": False}]},
    {"features": ["in_stock", "price"], "rows": [[True, 2.5], [False, 3]]},
]


@pytest.mark.parametrize("form", FORMS, ids=["columns", "objects", "lists"])
def test_truth_values_are_numbers(form: Any) -> None:
    matrix = matrix_from_json(json.dumps(form).encode(), ("price", "in_stock"), 100, False, {})
    assert matrix.tolist() == [[2.5, 1.0], [3.0, 0.0]]


def test_texts_are_none() -> None:
    body = json.dumps({"columns": {"in_stock": ["true"]}}).encode()
    with pytest.raises(RequestRefusal, match="not a number"):
        matrix_from_json(body, ("in_stock",), 100, False, {})
