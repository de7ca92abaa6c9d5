"""Keywords that a data set does not have: the error says what they are called."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import rankforce as rf
from rankforce.data import other_words

COLUMNS = {"grade": [1.0, 0.0], "query_no": [7, 7], "bm25": [0.5, 0.25], "sku": ["a", "b"]}


def frame(kind: str) -> Any:
    library = pytest.importorskip(kind)
    return library.table(COLUMNS) if kind == "pyarrow" else library.DataFrame(COLUMNS)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_words_of_readers_are_told_with_what_to_write(kind: str) -> None:
    wanted = (
        r"takes no 'label' and no 'query' and no 'document': write y='grade', qid='query_no', document_ids='sku' \("
    )
    with pytest.raises(rf.SettingsError, match=wanted):
        rf.Dataset(frame(kind), label="grade", query="query_no", document="sku")  # type: ignore[call-arg]
    data = rf.Dataset(frame(kind), y="grade", qid="query_no", document_ids="sku")
    assert (data.label().tolist(), data.feature_names) == ([1.0, 0.0], ("bm25",))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"label": np.ones(2)}, r"no 'label': write y=\.\.\. \(an array, or the name"),
        ({"sample_weight": "w"}, "no 'sample_weight': write weights='w'"),
        ({"cat_features": ["a"]}, r"no 'cat_features': write categorical=\.\.\.\. It takes: X, y, qid, group"),
        ({"featur_names": ["a"]}, r"no 'featur_names': write feature_names="),
        ({"colour": 1}, r"takes no 'colour'\. It takes: X, y, qid"),
    ],
)
def test_words_of_other_libraries(given: dict[str, Any], message: str) -> None:
    with pytest.raises(rf.SettingsError, match=message):
        rf.Dataset(np.ones((2, 1)), qid=[1, 1], **given)


def test_it_is_the_error_that_python_raises() -> None:
    with pytest.raises(TypeError, match="takes no 'label'"):
        rf.Dataset(np.ones((2, 1)), label=[1, 0])  # type: ignore[call-arg]


def test_every_word_means_an_argument_and_is_none() -> None:
    arguments = list(inspect.signature(rf.Dataset).parameters)
    assert set(other_words._CALLED) <= set(arguments)
    assert not set(other_words._OURS) & set(arguments)
    assert len(other_words._OURS) == sum(map(len, other_words._CALLED.values()))
