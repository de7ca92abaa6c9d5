"""What ``base_model`` can be, and what is said of what it cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf

DATA = rf.make_artificial(queries=12, documents=6, features=3, seed=2)


def boosted(base: Any) -> Any:
    return rf.LambdaMART(n_trees=3, min_documents=2, base_model=base, progress=False).fit(DATA)


def test_a_name_that_ends_as_model_files_do_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    base = boosted(None).model_
    expected = boosted(base).predict(DATA)
    for name in ("m.json", "m.json.gz"):
        base.save(name)
        np.testing.assert_array_equal(boosted(name).predict(DATA), expected)
        np.testing.assert_array_equal(boosted(Path(name)).predict(DATA), expected)
        combined, by_object = (rf.combine([one, "1"], DATA, "NDCG") for one in (name, base))
        np.testing.assert_array_equal(combined.weights, by_object.weights)
    with pytest.raises(rf.RankforceError, match=r"absent\.json"):
        boosted("absent.json")


@pytest.mark.parametrize(
    ("base", "message"),
    [
        (np.arange(72.0), "not ndarray: it is kept inside the model.* put the scores into the data as a feature"),
        (lambda features: features[:, 0], "not function"),
        (3, "not int"),
        ("bm25", "the data has no feature 'bm25' to start from, and the name of a model file ends in .json"),
    ],
)
def test_what_is_no_base_is_named_in_few_words(base: Any, message: str) -> None:
    with pytest.raises(rf.SettingsError, match=message) as caught:
        boosted(base)
    assert len(str(caught.value)) < 300
    if not isinstance(base, str):
        with pytest.raises(rf.SettingsError, match=message):
            rf.LambdaRank(base_model=base, epochs=1, progress=False).fit(DATA)
