"""Simulated clicks: the log follows the click model, the lists follow the policy, and the truth beside it is true."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import rankforce as rf
from rankforce.click_models import Behaviour
from rankforce.data.random_streams import Stream

MODELS = {
    "position": rf.click_models.PositionBased(0.7),
    "table": rf.click_models.PositionBased(examination=[0.9, 0.5, 0.5, 0.1, 0.0]),
    "trust": rf.click_models.TrustBias(1.2, trust=0.4),
    "cascade": rf.click_models.Cascade(),
    "impatient": rf.click_models.Cascade(stop=0.6, persistence=0.8),
}


@pytest.fixture(scope="module")
def data():
    return rf.make_artificial(queries=7, documents=(1, 9), features=4, seed=3)


def sessions_one_by_one(data, rankings, counts, model, width, noise, exchange, exchanged, seed):
    """The log by its definition: a loop over sessions and places, with no arrays over them."""
    grades = data.label()
    attracts = [noise + (1 - noise) * (2**grade - 1) / (2 ** max(grades) - 1) for grade in grades]
    log = []
    session = 0
    for query, rows in enumerate(data.each_query()):
        word = data.query_hashes[query]
        for number in range(counts[query]):
            chosen = int(Stream.SESSION_RANKER.uniform(seed, word, number) * len(rankings))
            shown = sorted(rows, key=lambda row: -rankings[chosen][row])[:width]
            n = len(shown)
            draws = [float(Stream.SESSION_ORDER.uniform(seed, word, number, part)) for part in range(width + 2)]
            if exchange is not None and draws[0] < exchanged and n >= 2:
                if exchange == "shuffle":
                    shown = [row for _, row in sorted(zip(draws[1 : n + 1], shown, strict=True))]
                else:
                    first = int(draws[1] * (n - 1 if exchange == "adjacent" else n))
                    others = [place for place in range(n) if place != first]
                    second = first + 1 if exchange == "adjacent" else others[int(draws[2] * (n - 1))]
                    shown[first], shown[second] = shown[second], shown[first]
            gone = False
            for place, row in enumerate(shown):
                draw = [
                    float(Stream.SIMULATED_CLICKS.uniform(seed, word, number, part, place)) for part in range(4)
                ]  # fmt: skip
                if isinstance(model, rf.click_models.Cascade):
                    examined = not gone
                    clicked = examined and draw[1] < attracts[row]
                    gone = gone or (clicked and draw[2] < model.stop) or draw[3] >= model.persistence
                else:
                    looks = model.examination[place] if model.examination else 1 / (place + 1) ** model.strength
                    trust = getattr(model, "trust", 0.0) / (place + 1)
                    examined = draw[0] < looks
                    clicked = examined and draw[1] < attracts[row] + (1 - attracts[row]) * trust
                log.append((session, int(row), place + 1, examined, clicked))
            session += 1
    return log


@pytest.mark.parametrize("exchange", [None, "swap", "adjacent", "shuffle"])
@pytest.mark.parametrize("name", MODELS)
def test_the_log_is_that_of_a_loop_over_sessions(data, name, exchange):
    rankings = [data.features[:, 0], data.features[:, 1]]
    counts = [3, 0, 2, 4, 1, 2, 5]
    log = rf.simulate_clicks(
        data, rankings, counts, MODELS[name], positions=5, noise=0.2, exchange=exchange, exchanged=0.7, seed=11
    )
    slow = sessions_one_by_one(data, rankings, counts, MODELS[name], 5, 0.2, exchange, 0.7, 11)
    columns = (log.session, log.row, log.position, log.examined, log.clicked)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == slow


@pytest.mark.parametrize("name", MODELS)
def test_the_examination_that_is_told_is_the_share_that_looks(name):
    attractiveness = np.tile([0.5, 0.2, 0.9, 0.0, 0.4], (20_000, 1))
    random = np.random.default_rng(0)
    behaviour = MODELS[name].behave(attractiveness, lambda part: random.random(attractiveness.shape))
    assert isinstance(behaviour, Behaviour)
    shares = behaviour.examined.mean(axis=0)
    assert shares == pytest.approx(behaviour.examination[0], abs=4 / math.sqrt(20_000))
    assert not (behaviour.clicked & ~behaviour.examined).any()


def test_clicks_on_what_is_seen_come_at_the_rate_of_the_model():
    attractiveness = np.full((40_000, 3), 0.3)
    random = np.random.default_rng(1)
    behaviour = rf.click_models.TrustBias(0.5, trust=0.6).behave(
        attractiveness, lambda part: random.random(attractiveness.shape)
    )
    for place in range(3):
        seen = behaviour.examined[:, place]
        expected = 0.3 + 0.7 * 0.6 / (place + 1)
        assert behaviour.clicked[seen, place].mean() == pytest.approx(expected, abs=4 / math.sqrt(seen.sum()))


@pytest.mark.parametrize("exchange", [None, "swap", "adjacent", "shuffle"])
def test_the_placement_that_is_told_is_the_share_of_sessions(exchange):
    data = rf.make_artificial(queries=1, documents=6, features=3, seed=2)
    scores = [data.features[:, 0].astype(float), data.features[:, 1].astype(float)]
    scores[0][2] = -np.inf  # never shown by the first
    count = 20_000
    log = rf.simulate_clicks(data, scores, count, positions=4, exchange=exchange, exchanged=0.6, seed=5)
    told = {}
    for row, position, probability in zip(log.row, log.position, log.placement, strict=True):
        assert told.setdefault((row, position), probability) == probability
    for (row, position), probability in told.items():
        share = np.mean((log.row == row) & (log.position == position)) * len(log) / count
        assert share == pytest.approx(probability, abs=4 / math.sqrt(count))
    for position in range(1, 5):
        assert sum(p for (_, at), p in told.items() if at == position) == pytest.approx(1.0)


def test_the_sessions_of_a_query_do_not_depend_on_other_queries(data):
    chosen = [4, 1, 5]
    part = data.take_queries(chosen)
    settings = {"sessions": 6, "exchange": "swap", "attractiveness": None, "seed": 2, "positions": 4}
    grades = data.label()
    a = 0.1 + 0.2 * grades
    settings["attractiveness"] = a
    whole = rf.simulate_clicks(data, "1", **settings)
    settings["attractiveness"] = a[np.isin(data.qid, part.query_ids)]
    some = rf.simulate_clicks(part, "1", **settings)
    kept = np.isin(whole.click_log["query"], part.query_ids)
    assert some.clicked.tolist() == whole.clicked[kept].tolist()
    assert some.position.tolist() == whole.position[kept].tolist()
    assert part.features[some.row].tolist() == data.features[whole.row[kept]].tolist()


def test_the_log_is_what_click_labels_read(data, tmp_path):
    log = rf.simulate_clicks(data, "1", 20, seed=1)
    labels = rf.click_labels(log, "click")
    assert labels.impressions.sum() == len(log)
    assert labels.clicks.sum() == log.clicked.sum()
    for ending in ("csv", "parquet", "tsv.gz"):
        path = tmp_path / f"log.{ending}"
        log.write(path, truth=True)
        assert rf.click_labels(path, "click").to_pandas().equals(labels.to_pandas())
    assert rf.click_labels(log.to_pandas(), "click").to_pandas().equals(labels.to_pandas())
    rates = labels.for_data(log.data)
    for row in range(data.n_documents):
        mine = log.clicked[log.row == row]
        assert rates[row] == pytest.approx(mine.mean() if len(mine) else math.nan, nan_ok=True)


def test_documents_keep_their_ids(data):
    named = data.replace(document_ids=[f"d{row}" for row in range(data.n_documents)])
    log = rf.simulate_clicks(named, "1", 2)
    assert log.data is named
    assert log.click_log["document"][0] == f"d{log.row[0]}"
    assert set(log.to_pandas(truth=True)) == {
        *("session", "query", "document", "position", "clicked"),
        *("attractiveness", "examination", "examined", "placement"),
    }


def test_equal_scores_are_shown_in_an_order_that_the_file_does_not_decide():
    data = rf.Dataset(np.zeros((400, 1)), [1, 0] * 200, np.arange(400) // 2)
    log = rf.simulate_clicks(data, "1", 1, positions=1)
    assert 60 < (log.row % 2).sum() < 140


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sessions": 0}, "sessions is a whole number"),
        ({"sessions": [1, 2]}, "one for each query"),
        ({"sessions": [0] * 7}, "not for all"),
        ({"click_model": "browsing"}, "object of click_models"),
        ({"click_model": rf.click_models.PositionBased(examination=[1.0])}, "one for each"),
        ({"positions": 0}, "positions must be"),
        ({"noise": 1.5}, "noise must be"),
        ({"label": "clicks"}, "no label source"),
        ({"attractiveness": [1.0]}, "one entry per document"),
        ({"attractiveness": np.full(1000, 2.0)}, "one entry|probabilities"),
        ({"exchange": "all"}, "exchange must be"),
        ({"exchanged": 2}, "exchanged must be"),
        ({"ranking": []}, "no ranking"),
        ({"ranking": "BM25"}, "no feature 'BM25'"),
        ({"sessions": 2**31 - 1}, "more than"),
    ],
)
def test_what_cannot_be_simulated_is_refused(data, change, words):
    with pytest.raises(rf.RankforceError, match=words):
        rf.simulate_clicks(**({"data": data, "ranking": "1"} | change))


def test_grades_that_say_no_attractiveness_are_refused(data):
    for values, words in ((np.nan, "has no label"), (-1.0, "from 0 to 100")):
        labels = np.array(data.label())
        labels[3] = values
        with pytest.raises(rf.DataError, match=words):
            rf.simulate_clicks(data.with_label("grades", labels), "1")
    with pytest.raises(rf.DataError, match="nothing is shown"):
        rf.simulate_clicks(data, np.full(data.n_documents, -np.inf))


def test_click_models_check_what_they_are_given():
    for make in (
        lambda: rf.click_models.PositionBased(-1.0),
        lambda: rf.click_models.PositionBased(examination=[]),
        lambda: rf.click_models.PositionBased(examination=[2.0]),
        lambda: rf.click_models.TrustBias(trust=1.1),
        lambda: rf.click_models.Cascade(stop=-0.1),
        lambda: rf.click_models.Cascade(persistence=1.1),
    ):
        with pytest.raises(rf.SettingsError):
            make()
    pairs = itertools.pairwise(rf.click_models.PositionBased(2.0).at_positions(5))
    assert all(lower < upper for upper, lower in pairs)
