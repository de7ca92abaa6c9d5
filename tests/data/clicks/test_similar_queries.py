"""Similar queries against scikit-learn's vectors and a slow twin of the pooling."""

from __future__ import annotations

import functools
import itertools
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf
from rankforce.data.clicks import query_vectors
from rankforce.data.clicks.query_texts import character_terms, word_terms, words_of
from rankforce.errors import DataError, SettingsError

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

TERMS = {"words": functools.partial(word_terms, n=1), "characters": functools.partial(character_terms, n=3)}


def some_queries(count: int = 60, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    vocabulary = ["shoes", "red", "blue", "Running", "women", "men", "nike", "air", "size", "café", "c++", "x"]
    shares = 1.0 / np.arange(1, len(vocabulary) + 1)
    return sorted(
        {" ".join(rng.choice(vocabulary, rng.integers(1, 5), p=shares / shares.sum())) for _ in range(count)} | {"?!"}
    )


def slow_similarities(queries: list[str], terms: Any) -> np.ndarray:
    """All cosines, of scikit-learn's vectors."""
    text = pytest.importorskip("sklearn.feature_extraction.text")
    vectors = text.TfidfVectorizer(analyzer=terms).fit_transform(queries)
    return (vectors @ vectors.T).toarray()


def log_of(queries: list[str], seed: int = 0, sessions: int = 200) -> Any:
    rng = np.random.default_rng(seed)
    rows = []
    for session in range(sessions):
        query = str(rng.choice(queries))
        for position, document in enumerate(rng.choice(12, 4, replace=False), 1):
            rows.append((f"s{session}", query, f"d{document}", position, int(rng.random() < 0.4)))
    return pd.DataFrame(rows, columns=["session", "query", "document", "position", "clicked"])


def slow_pooled(frame: Any, similarity: Any, threshold: float, most: int) -> dict[tuple[str, str], tuple[float, float]]:
    """(query, document) → (weighted impressions, weighted clicks)."""
    own: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in frame.itertuples():
        own[row.query, row.document][0] += 1
        own[row.query, row.document][1] += row.clicked
    queries = sorted({query for query, _ in own})
    pooled: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for query in queries:
        others = [(-similarity(query, other), other) for other in queries if other != query]
        others = sorted(one for one in others if -one[0] >= threshold)[:most]
        for minus, other in [(-1.0, query), *others]:
            for (asked, document), counts in own.items():
                if asked == other:
                    for kind in (0, 1):
                        pooled[query, document][kind] += -minus * counts[kind]
    return {pair: (counts[0], counts[1]) for pair, counts in pooled.items()}


def pooled_counts(labels: rf.ClickLabels) -> dict[tuple[str, str], tuple[float, float]]:
    similar = labels.similar
    assert similar is not None
    keys = zip(similar.queries, similar.documents, strict=True)
    return dict(zip(keys, zip(similar.impressions, similar.clicks, strict=True), strict=True))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Red  SHOES,", ["red", "shoes"]),
        ("ｒｅｄ　shoes", ["red", "shoes"]),  # full-width letters and an ideographic space
        ("STRASSE straße", ["strasse", "strasse"]),
        ("cafe\u0301 café", ["café", "café"]),
        ("c++ c# at&t", ["c++", "c#", "at&t"]),
        ("हिन्दी", ["हिन्दी"]),  # vowel signs belong to their word
        ("mid-size_tv", ["mid", "size", "tv"]),
        (" ?! ", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_terms() -> None:
    assert word_terms("a b c", 2) == ["a", "b", "c", "a b", "b c"]
    assert character_terms("red c", 3) == [" re", "red", "ed ", " c "]
    assert character_terms("c", 9) == [" c "]


@pytest.mark.parametrize("by", ["words", "characters"])
@pytest.mark.parametrize("threshold", [0.05, 0.5, 0.7, 0.9, 1.0])
def test_neighbours_are_those_of_all_pairs(by: str, threshold: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_vectors, "ENTRIES_AT_ONCE", 64)  # many blocks
    queries = some_queries()
    expected = np.minimum(np.round(slow_similarities(queries, TERMS[by]), 12), 1.0)
    np.fill_diagonal(expected, 0.0)
    rows, found, similarities = rf.SimilarQueries(by, threshold=threshold, neighbours=7).among(queries).nearest(queries)
    for row in range(len(queries)):
        wanted = sorted((-expected[row, other], other) for other in range(len(queries)))
        wanted = [one for one in wanted if -one[0] >= threshold][:7]
        assert found[rows == row].tolist() == [other for _, other in wanted]
        np.testing.assert_allclose(similarities[rows == row], [-minus for minus, _ in wanted], atol=2e-12)


def test_texts_that_the_log_has_not_are_compared_with_all_of_their_words() -> None:
    index = rf.SimilarQueries("words", threshold=0.01).among(["blue", "red", "red shoes"])
    _, found, similarities = index.nearest(["red zebra"])
    assert [index.queries[one] for one in found] == ["red", "red shoes"]
    idf_red, idf_new = np.log(4 / 3) + 1, np.log(4) + 1
    assert similarities[0] == pytest.approx(idf_red / np.hypot(idf_red, idf_new))
    assert index.nearest(["zebra", "?!", "RED"])[0].tolist() == [2, 2]


@pytest.mark.parametrize("by", ["words", "characters"])
def test_pooled_counts_are_those_of_the_slow_twin(by: str) -> None:
    queries = some_queries(30)
    frame = log_of(queries)
    labels = rf.click_labels(frame, "click", similar=rf.SimilarQueries(by, threshold=0.4, neighbours=3))
    asked = sorted(set(frame["query"]))
    cosines = np.minimum(np.round(slow_similarities(asked, TERMS[by]), 12), 1.0)
    expected = slow_pooled(frame, lambda a, b: cosines[asked.index(a), asked.index(b)], 0.4, 3)
    found = pooled_counts(labels)
    assert set(found) == set(expected)
    for pair, counts in expected.items():
        assert found[pair] == pytest.approx(counts, rel=1e-11)
    similar = labels.similar
    assert similar is not None
    enough = similar.impressions >= 1.0  # one impression of a neighbour alone weighs less
    assert 0 < enough.sum() < len(enough) or by == "characters"
    np.testing.assert_allclose(similar.values, np.where(enough, similar.clicks / similar.impressions, np.nan))
    assert len(similar) > len(labels)


def test_the_order_of_the_log_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = log_of(some_queries())
    settings: dict[str, Any] = {"similar": rf.SimilarQueries("characters", threshold=0.3), "smoothing": 3.0}
    wanted = rf.click_labels(frame, "click", **settings)
    monkeypatch.setattr("rankforce.data.clicks.pooled_labels._ENTRIES_AT_ONCE", 20)
    shuffled = frame.sample(frac=1.0, random_state=1).reset_index(drop=True)
    found = rf.click_labels(shuffled, "click", **settings)
    assert wanted.similar is not None
    assert found.similar is not None
    for name, values in wanted.similar.columns().items():
        assert values.tobytes() == found.similar.columns()[name].tobytes() or values.tolist() == (
            found.similar.columns()[name].tolist()
        ), name


def test_functions_mappings_frames_and_files_say_the_same(tmp_path: Path) -> None:
    frame = log_of(["red shoes", "shoes", "boots", "hats"], sessions=40)
    pairs = {("shoes", "red shoes"): 0.8, ("boots", "shoes"): 0.5, ("hats", "nowhere"): 0.9, ("boots", "hats"): 0.1}

    def function(a: str, b: str) -> float:
        assert a < b
        return pairs.get((a, b), pairs.get((b, a), 0.0))

    table = pd.DataFrame([(*pair, one) for pair, one in pairs.items()], columns=["query", "similar", "similarity"])
    table.to_csv(tmp_path / "pairs.csv", index=False)
    expected = slow_pooled(frame, lambda a, b: function(*sorted((a, b))), 0.3, 20)
    for by in (function, pairs, table, tmp_path / "pairs.csv", str(tmp_path / "pairs.csv")):
        labels = rf.click_labels(frame, "click", similar=rf.SimilarQueries(by, threshold=0.3))
        assert pooled_counts(labels) == expected
        data = rf.Dataset(np.zeros((2, 1)), qid=["nowhere", "hats"], document_ids=["d1", "d1"])
        assert labels.similar is not None
        if by is not function:  # the pairs say that hats is like a query that the log has not
            first, second = labels.similar.for_data(data)
            assert first == second
    assert rf.click_labels(frame, similar=pairs).similar.to_dict()["pairs_of_queries"] == 2  # type: ignore[union-attr]


def test_labels_of_data_are_those_of_the_table_and_reach_unseen_queries() -> None:
    frame = log_of(["red shoes", "blue shoes", "hats"], sessions=60)
    labels = rf.click_labels(frame, "click", similar="words", min_impressions=3)
    assert labels.similar is not None
    ids = list(itertools.product(["red shoes", "SHOES RED", "hats", "unheard"], [f"d{n}" for n in range(13)]))
    data = rf.Dataset(np.zeros((len(ids), 1)), qid=[q for q, _ in ids], document_ids=[d for _, d in ids])
    values = labels.similar.for_data(data)
    keys = zip(labels.similar.queries, labels.similar.documents, strict=True)
    table = dict(zip(keys, labels.similar.values, strict=True))
    for (query, document), value in zip(ids, values.tolist(), strict=True):
        known = table.get(("red shoes" if query == "SHOES RED" else query, document), np.nan)
        assert value == pytest.approx(known, rel=1e-6, nan_ok=True)  # labels are float32 or wider
    assert np.isnan(values[-13:]).all()
    own = labels.for_data(data)
    assert np.isnan(own[13:26]).all()
    with pytest.raises(DataError, match="no document of the data is in the log"):
        labels.similar.for_data(rf.Dataset(np.zeros((1, 1)), qid=["red shoes"], document_ids=["elsewhere"]))


def test_neighbours_are_shown_with_what_they_bring() -> None:
    rows = [("s1", "red shoes", "a", 1, 1), ("s1", "red shoes", "b", 2, 0), ("s2", "Red shoes", "b", 1, 1)]
    rows += [("s2", "Red shoes", "c", 2, 0), ("s3", "hats", "a", 1, 1)]
    frame = pd.DataFrame(rows, columns=["session", "query", "document", "position", "clicked"])
    labels = rf.click_labels(frame, similar="words")
    (only,) = labels.neighbours("red shoes")
    assert only == ("Red shoes", 1.0, 1.0, 2, 1, 2, 1)
    assert "Red shoes" in str(labels.neighbours("red shoes"))
    assert labels.neighbours("shoes, red")[1].query == "red shoes"
    assert len(labels.neighbours("coats")) == 0
    assert "1 query similar" not in repr(labels.neighbours("coats"))
    assert json.dumps(labels.to_dict()["similar"])
    assert "similar by words: 0.7 or more" in str(labels)
    with pytest.raises(SettingsError, match="no similar queries were looked for: similar='words'"):
        rf.click_labels(frame).neighbours("red shoes")
    with pytest.raises(SettingsError, match="query must be the text"):
        labels.neighbours(3)  # type: ignore[arg-type]


def test_weights_by_a_power() -> None:
    frame = log_of(["a b", "a c"], sessions=20)
    cosine = rf.click_labels(frame, similar=rf.SimilarQueries(threshold=0.1)).neighbours("a b")[0].similarity
    for power, weight in ((0.0, 1.0), (1, cosine), (2.0, cosine**2)):
        labels = rf.click_labels(frame, similar=rf.SimilarQueries(threshold=0.1, power=power))
        assert labels.neighbours("a b")[0].weight == pytest.approx(weight)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"by": "sounds"}, "'words', 'characters'"),
        ({"by": 7}, "a function of two queries, or pairs"),
        ({"by": lambda a: 1.0}, "a function of two queries"),
        ({"by": {}, "n": 2}, "n is about texts"),
        ({"threshold": 0.0}, "threshold must be a number above 0"),
        ({"threshold": 1.5}, "threshold"),
        ({"neighbours": 0}, "neighbours"),
        ({"power": -1}, "power"),
        ({"n": 0}, "n must be"),
        ({"by": rf.SimilarQueries()}, "by says what makes"),
    ],
)
def test_impossible_settings(given: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        rf.SimilarQueries(**given)


def test_impossible_similarities(tmp_path: Path) -> None:
    frame = log_of(["a", "b"], sessions=10)
    for wrong in (2.0, None, "x", np.nan):
        with pytest.raises(DataError, match=r"similarity.* must be a number from 0 to 1|is a number from 0 to 1"):
            rf.click_labels(frame, similar=lambda a, b, wrong=wrong: wrong)
        with pytest.raises(DataError, match="a similarity is a number from 0 to 1"):
            rf.click_labels(frame, similar={("a", "b"): wrong})
    with pytest.raises(DataError, match=r"two similarities, 0\.5 and 0\.7"):
        rf.click_labels(frame, similar={("a", "b"): 0.5, ("b", "a"): 0.7})
    with pytest.raises(DataError, match=r"given as \{\(query, query\): similarity\}"):
        rf.click_labels(frame, similar={"a": 0.5})
    with pytest.raises(DataError, match="need the columns query, similar, similarity"):
        rf.click_labels(frame, similar=pd.DataFrame({"query": ["a"]}))
    path = tmp_path / "pairs.csv"
    path.write_text("query,similar,similarity\na,b,much\n")
    with pytest.raises(DataError, match=r"pairs.csv, line 2: a similarity is a number from 0 to 1, not 'much'"):
        rf.click_labels(frame, similar=path)
    path.write_text("query,other\na,b\n")
    with pytest.raises(DataError, match="a column is missing"):
        rf.click_labels(frame, similar=path)


def test_functions_are_not_asked_about_millions_of_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankforce.data.clicks.similar_queries.MOST_ASKED", 3)
    with pytest.raises(SettingsError, match="more than 3 pairs"):
        rf.click_labels(log_of(list("abcdef")), similar=lambda a, b: 0.0)
