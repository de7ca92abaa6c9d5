"""The parser kernels on a few lines, with and without the compiler."""

from __future__ import annotations

import numpy as np
import pytest

from rankforce.kernels import letor

TEXT = b"""# head
2 qid:7 1:0.5 3:-2e1 # a
 1.25\tqid:x 2:NULL 4:1

nan 1:3
"""


def parse(text: bytes, width: int, hard_words: int = 4) -> dict[str, np.ndarray]:
    buffer = np.frombuffer(bytearray(text), dtype=np.uint8)
    outcome = np.zeros(letor.OUTCOME_SIZE, dtype=np.int64)
    letor.count_lines(buffer, 0, len(buffer), outcome)
    documents = int(outcome[letor.DOCUMENTS])
    found = {
        "features": np.full((documents, width), 9, dtype=np.float32),
        "labels": np.full(documents, 9.0),
        "queries": np.full(documents, 9),
        "query_at": np.full(documents, 9),
        "comment_at": np.full(documents, 9),
        "hard": np.zeros(hard_words * letor.HARD_ENTRIES, dtype=np.int64),
    }
    lines = int(outcome[letor.LINES])
    *rows, hard = found.values()
    form = letor.LineFormat(1, 100, np.float32(0))
    letor.parse_lines(buffer, 0, len(buffer), 0, form, letor.ParsedRows(*rows), hard, outcome)
    return found | {"outcome": outcome, "lines": np.array(lines)}


def test_lines_are_parsed() -> None:
    found = parse(TEXT, 4)
    assert found["lines"] == 5
    assert found["outcome"][letor.STATUS] == letor.OK
    assert found["outcome"][letor.DOCUMENTS] == 3
    np.testing.assert_array_equal(
        found["features"], np.array([[0.5, 0, -20, 0], [0, np.nan, 0, 1], [3, 0, 0, 0]], dtype=np.float32)
    )
    np.testing.assert_array_equal(found["labels"], [2, 1.25, np.nan])
    assert found["queries"][0] == 7
    assert found["query_at"].tolist() == [letor.NUMBER, TEXT.index(b"qid:x") + 4, letor.NOWHERE]
    assert found["comment_at"].tolist() == [TEXT.index(b"# a"), letor.NOWHERE, letor.NOWHERE]
    # a label that is no number is left to Python: row 2, no column, its place
    assert found["outcome"][letor.HARDS] == letor.HARD_ENTRIES
    assert found["hard"][: letor.HARD_ENTRIES].tolist() == [2, letor.LABEL_COLUMN, TEXT.index(b"nan 1")]


def test_a_wider_line_is_reported_and_not_written() -> None:
    found = parse(b"1 qid:1 1:2 9:3\n0 qid:1 2:5 7:1\n", 2)
    np.testing.assert_array_equal(found["features"], [[2, 0], [0, 5]])
    assert found["outcome"][letor.WIDEST] == 8
    assert found["outcome"][letor.WIDEST_AT] == 12


def test_a_full_list_of_hard_words_stops_before_its_line() -> None:
    text = b"1 qid:1 1:x\n1 qid:1 1:y 2:z\n1 qid:1 1:1\n"
    found = parse(text, 2, hard_words=2)
    assert found["outcome"][letor.STATUS] == letor.HARD_FULL
    assert found["outcome"][letor.AT] == text.index(b"1 qid:1 1:y")
    assert found["outcome"][letor.DOCUMENTS] == 1
    assert found["outcome"][letor.HARDS] == letor.HARD_ENTRIES


@pytest.mark.parametrize(
    ("line", "status", "word"),
    [
        (b"1 qid:1 0:1\n", letor.INDEX_SMALL, b"0:1"),
        (b"1 qid:1 a:1\n", letor.INDEX_MALFORMED, b"a:1"),
        (b"1 qid:1 1:1 1:2\n", letor.INDEX_REPEATED, b"1:2"),
        (b"1 qid:1 3:1 1:2\n", letor.INDEX_DECREASING, b"1:2"),
        (b"1 qid:1 101:1\n", letor.INDEX_LARGE, b"101:1"),
        (b"1 qid:1 1:1\r1\n", letor.INDEX_MALFORMED, b"\r1"),
        (b"#a\rb\n", letor.STRAY_RETURN, b"\rb"),
    ],
)
def test_offences_have_a_place(line: bytes, status: int, word: bytes) -> None:
    found = parse(line, 3)
    assert found["outcome"][letor.STATUS] == status
    assert found["outcome"][letor.AT] == line.index(word)
