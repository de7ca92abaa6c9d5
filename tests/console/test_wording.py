"""One thing is one thing."""

from __future__ import annotations

import pytest

import rankforce as rf
from rankforce.console.wording import counted, listed


@pytest.mark.parametrize(
    ("number", "thing", "words"),
    [(1, "query", "1 query"), (0, "query", "0 queries"), (1000, "document", "1,000 documents"), (2, "leaf", "2 leaves"),
     (1, "judged query", "1 judged query"), (3, "judged query", "3 judged queries")],
)  # fmt: skip
def test_things_are_counted(number: int, thing: str, words: str) -> None:
    assert counted(number, thing) == words


def test_what_is_printed_counts() -> None:
    data = rf.Dataset([[1.0]], [1.0], qid=[1])
    assert repr(data) == "Dataset(1 document, 1 query, 1 feature, labels: grades)"
    assert str(rf.evaluate("1", data, "NDCG")).startswith("1 query, 1 document\n")


def test_names_are_listed_until_there_are_too_many() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed(["a", "b", "c"], 2, repr) == "'a', 'b' and 1 more"
    assert listed([str(k) for k in range(1208)]) == "0, 1, 2, 3, 4, 5, 6, 7 and 1,200 more"
