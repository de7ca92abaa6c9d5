"""Off-policy evaluation: a slow twin, expectations by enumerating all clicks, and intervals against simulated truth."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf
from rankforce.errors import DataError, SettingsError
from rankforce.evaluation import resampled_ratios
from rankforce.evaluation.resampled_ratios import Ratio, Resampled

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

THETA = [1.0, 0.6, 0.4, 0.3]
ESTIMATORS = ("ips", "snips", "clipped", "dr", "model")


def data_of(pairs: list[tuple[str, str]], scores: list[float] | None = None) -> rf.Dataset:
    """A data set of queries and documents, with one feature."""
    column = np.zeros(len(pairs)) if scores is None else np.array(scores)
    return rf.Dataset(
        column[:, None], np.zeros(len(pairs)), qid=[q for q, _ in pairs], document_ids=[d for _, d in pairs]
    )


def random_log(rng: np.random.Generator, sessions: int = 40) -> Any:
    """Lists of different lengths and orders, some shown twice, some with deep positions or unknown documents."""
    rows = []
    for session in range(sessions):
        for query in rng.choice(["a", "b", "c", "elsewhere"], rng.integers(1, 3), replace=False):
            for _ in range(1 + (rng.random() < 0.2)):
                shown = rng.permutation(6)[: rng.integers(2, 6)]
                for position, document in enumerate(shown, 1):
                    rows.append((f"s{session}", query, f"d{document}", position, int(rng.random() < 0.5 / position)))
    return pd.DataFrame(rows, columns=["session", "query", "document", "position", "clicked"])


def slow_twin(
    frame: Any, data: rf.Dataset, scores: np.ndarray, theta: list[float], clip: float, smoothing: float
) -> dict[str, float]:
    """The estimators as their definitions are written, with dictionaries."""
    queries = set(map(str, data.query_ids))
    frame = frame[frame["query"].isin(queries)]
    repeats = Counter((row.session, row.query, row.document) for row in frame.itertuples())
    views: dict[str, int] = Counter()
    for session, query in {(session, query) for session, query, _ in repeats}:
        views[query] += max(count for (s, q, _), count in repeats.items() if (s, q) == (session, query))
    looks: dict[Any, float] = defaultdict(float)
    clicks: dict[Any, float] = defaultdict(float)
    production = 0
    for row in frame.itertuples():
        if row.position <= len(theta):
            production += row.clicked
            looks[row.query, row.document] += theta[row.position - 1]
            clicks[row.query, row.document] += row.clicked
    known = {(str(q), str(d)) for q, d in zip(data.qid, data.document_ids, strict=True)}
    mean_of_all = sum(clicks[pair] for pair in known) / sum(looks[pair] for pair in known)
    totals = dict.fromkeys(["ips", "clipped", "dr", "model", "accounted", "examination"], 0.0)
    for query in queries:
        pairs = [pair for pair in known if pair[0] == query]
        mean = (sum(clicks[pair] for pair in pairs) + smoothing * mean_of_all) / (
            sum(looks[pair] for pair in pairs) + smoothing
        )
        rows = [row for row in range(data.n_documents) if str(data.qid[row]) == query]
        ranked = sorted(rows, key=lambda row: (-scores[row], row))[: len(theta)]
        for place, row in enumerate(ranked):
            pair, n = (query, str(data.document_ids[row])), views[query]
            gamma = (clicks[pair] + smoothing * mean) / (looks[pair] + smoothing)
            totals["examination"] += n * theta[place]
            totals["model"] += n * theta[place] * gamma
            totals["dr"] += n * theta[place] * gamma
            if looks[pair]:
                weight = theta[place] / (looks[pair] / n)
                totals["ips"] += weight * clicks[pair]
                totals["clipped"] += min(weight, clip) * clicks[pair]
                totals["accounted"] += weight * looks[pair]
                totals["dr"] += min(weight, clip) * (clicks[pair] - looks[pair] * gamma)
    total = sum(views.values())
    found = {name: totals[name] / total for name in ("ips", "clipped", "dr", "model")}
    found["snips"] = totals["examination"] / total * totals["ips"] / totals["accounted"]
    found["production"] = production / total
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("unit", ["session", "query"])
def test_estimators_are_those_of_the_slow_twin(seed: int, unit: str) -> None:
    rng = np.random.default_rng(seed)
    frame = random_log(rng)
    data = data_of([(q, f"d{n}") for q in "abc" for n in (*range(5), 7)])  # no d5, and d7 was never shown
    scores = rng.normal(size=data.n_documents)
    found = rf.off_policy(
        frame, scores, data, THETA, clip=1.2, smoothing=3.0, resample=unit, resamples=5, max_unsupported=1.0
    )
    wanted = slow_twin(frame, data, scores, THETA, 1.2, 3.0)
    assert found.production.value == pytest.approx(wanted["production"], rel=1e-12)
    for name in ESTIMATORS:
        assert found.estimate(estimator=name).value == pytest.approx(wanted[name], rel=1e-12), name
    assert found.left_out == (frame[frame["query"] != "elsewhere"]["position"] > 4).sum()
    assert found.other_rows == (frame["query"] == "elsewhere").sum()
    assert found.support["ranking"].unsupported > 0.0
    assert found.support["ranking"].unknown > 0.0


def expectation(
    rows: list[tuple[str, str, str, int]], gamma: dict[tuple[str, str], float], **asked: Any
) -> dict[str, float]:
    """The mean of every estimator over all patterns of clicks, each with its probability under THETA and gamma."""
    means: dict[str, float] = defaultdict(float)
    frame = pd.DataFrame(rows, columns=["session", "query", "document", "position"])
    chances = [THETA[position - 1] * gamma[query, document] for _, query, document, position in rows]
    for pattern in itertools.product(*((0,) if chance == 0.0 else (0, 1) for chance in chances)):
        share = math.prod(chance if click else 1.0 - chance for click, chance in zip(pattern, chances, strict=True))
        found = rf.off_policy(frame.assign(clicked=pattern), resamples=1, **asked)
        for name in ESTIMATORS:
            means[name] += share * found.estimate(estimator=name).value
        means["production"] += share * found.production.value
    return means


ROWS = [
    ("s1", "a", "x", 1), ("s1", "a", "y", 2), ("s1", "a", "z", 3), ("s2", "a", "y", 1), ("s2", "a", "x", 2),
    ("s2", "a", "z", 4), ("s3", "b", "x", 1), ("s3", "b", "w", 2),
]  # fmt: skip
GAMMA = {("a", "x"): 0.3, ("a", "y"): 0.8, ("a", "z"): 0.9, ("b", "x"): 0.5, ("b", "w"): 0.0}
PAIRS = list(GAMMA)
NEW = [1.0, 2.0, 3.0, 1.0, 2.0]  # z, y, x; w, x
TRUTH = (2 * (0.9 + 0.6 * 0.8 + 0.4 * 0.3) + (0.0 + 0.6 * 0.5)) / 3


def test_with_true_propensities_the_mean_over_all_clicks_is_the_truth() -> None:
    asked: dict[str, Any] = {"ranking": NEW, "data": data_of(PAIRS), "propensities": THETA}
    means = expectation(ROWS, GAMMA, clip=None, **asked)
    for name in ("ips", "snips", "clipped", "dr"):
        assert means[name] == pytest.approx(TRUTH, rel=1e-12), name
    assert means["production"] == pytest.approx(
        sum(THETA[position - 1] * GAMMA[query, document] for _, query, document, position in ROWS) / 3
    )
    assert abs(means["model"] - TRUTH) > 0.05  # rates that are drawn to a mean are wrong


def test_doubly_robust_is_right_if_either_the_weights_or_the_model_are() -> None:
    data = data_of(PAIRS)
    asked: dict[str, Any] = {"ranking": NEW, "data": data, "propensities": THETA}
    right = [GAMMA[pair] for pair in PAIRS]
    clipped = expectation(ROWS, GAMMA, clip=0.7, relevance=right, **asked)
    assert (clipped["dr"], clipped["model"]) == pytest.approx((TRUTH, TRUTH), rel=1e-12)
    assert clipped["clipped"] < TRUTH - 0.2
    wrong_model = expectation(ROWS, GAMMA, clip=None, relevance=[0.5] * 5, **asked)
    assert wrong_model["dr"] == pytest.approx(TRUTH, rel=1e-12)
    assert abs(wrong_model["model"] - TRUTH) > 0.05


def test_wrong_propensities_are_wrong_by_what_the_formula_says() -> None:
    asked: dict[str, Any] = {"ranking": NEW, "data": data_of(PAIRS), "propensities": [1.0, 1.0, 1.0, 1.0]}
    means = expectation(ROWS, GAMMA, clip=None, **asked)
    # Without a bias of positions every click counts as it is, whatever the new ranking.
    assert means["ips"] == pytest.approx(means["production"], rel=1e-12)
    assert means["ips"] < TRUTH - 0.1


def test_documents_that_were_never_shown() -> None:
    pairs = [*PAIRS, ("b", "new")]
    gamma = GAMMA | {("b", "new"): 1.0}
    scores = [*NEW, 9.0]  # b: new, w, x
    truth = (2 * (0.9 + 0.6 * 0.8 + 0.4 * 0.3) + (1.0 + 0.4 * 0.5)) / 3
    asked: dict[str, Any] = {"ranking": scores, "data": data_of(pairs), "propensities": THETA, "max_unsupported": 1.0}
    relevance = [gamma[pair] for pair in pairs]
    means = expectation(ROWS, gamma, clip=None, relevance=relevance, **asked)
    assert means["ips"] == pytest.approx(truth - 1.0 / 3)  # as if nobody would ever click it
    assert means["dr"] == pytest.approx(truth)  # the model knows better
    with pytest.raises(DataError, match=r"ranking: 16\.7 %\), more than 10\.0 %\n.*max_unsupported=0\.17"):
        rf.off_policy(
            pd.DataFrame(ROWS, columns=["session", "query", "document", "position"]).assign(clicked=[1] + [0] * 7),
            scores,
            data_of(pairs),
            THETA,
        )


@pytest.fixture(scope="module")
def market() -> dict[str, Any]:
    """Queries, what attracts, a production ranking and a better one, with the true clicks of the latter per query."""
    rng = np.random.default_rng(5)
    queries, documents = 200, 8
    attractive = rng.beta(1.0, 3.0, size=queries * documents)
    pairs = [(f"q{query}", f"d{one}") for query in range(queries) for one in range(documents)]
    old = attractive + rng.normal(scale=0.4, size=len(pairs))
    new = attractive + rng.normal(scale=0.1, size=len(pairs))
    theta = 1.0 / np.arange(1, documents + 1)
    ranked = np.argsort(-new.reshape(queries, documents), axis=1)
    truth = (np.take_along_axis(attractive.reshape(queries, documents), ranked, axis=1) * theta).sum(axis=1)
    return {"data": data_of(pairs), "attractive": attractive, "old": old, "new": new, "theta": theta, "truth": truth}


def simulated(market: dict[str, Any], sessions: np.ndarray, seed: int) -> Any:
    return rf.simulate_clicks(
        market["data"], market["old"], sessions, positions=8, attractiveness=market["attractive"], exchange="swap",
        exchanged=0.5, seed=seed,
    )  # fmt: skip


@pytest.mark.compiled_only
@pytest.mark.parametrize("unit", ["session", "query"])
def test_intervals_cover_the_truth_of_simulated_logs(market: dict[str, Any], unit: str) -> None:
    rng = np.random.default_rng(1)
    covered: Counter[str] = Counter()
    errors: dict[str, list[float]] = defaultdict(list)
    logs = 120
    for number in range(logs):
        if unit == "session":  # other sessions of 20 queries
            sessions = np.zeros(200, dtype=np.int64)
            sessions[:20] = rng.multinomial(300, np.full(20, 1 / 20))
            truth = market["truth"][:20].mean()
        else:  # other queries, each asked 10 times
            sessions = np.bincount(rng.integers(0, 200, size=60), minlength=200) * 10
            truth = market["truth"].mean()
        found = rf.off_policy(
            simulated(market, sessions, number), market["new"], market["data"], market["theta"], resample=unit,
            resamples=200, seed=number,
        )  # fmt: skip
        for name in ("ips", "snips", "dr"):
            estimate = found.estimate(estimator=name)
            covered[name] += estimate.interval.low <= truth <= estimate.interval.high
            covered[f"{name} normal"] += estimate.normal_interval.low <= truth <= estimate.normal_interval.high
            errors[name].append((estimate.value - truth) / estimate.standard_error)
    for name, count in covered.items():
        assert 0.89 <= count / logs <= 0.995, f"{name}: {count} of {logs}"
    for name, values in errors.items():
        assert abs(np.mean(values)) < 3.5 / math.sqrt(logs), name  # unbiased
        assert 0.8 < np.std(values) < 1.25, name


@pytest.mark.compiled_only
def test_estimated_propensities_and_what_is_to_be_said_of_them(market: dict[str, Any]) -> None:
    log = simulated(market, np.full(200, 20), 6)
    estimated = rf.estimate_propensities(log, "em", resamples=5)
    found = rf.off_policy(log, market["new"], market["data"], estimated, resamples=20)
    known = rf.off_policy(log, market["new"], market["data"], market["theta"], resamples=20)
    assert found.estimate().value == pytest.approx(known.estimate().value, rel=0.1)
    assert f"propensities ({estimated.verdict}) count as known" in str(found)
    assert "drawn to their query's by 10 looks, and these to the whole log's" in str(found)


@pytest.mark.compiled_only
def test_wrong_propensities_are_seen_in_simulated_logs(market: dict[str, Any]) -> None:
    log = simulated(market, np.full(200, 20), 3)
    truth = market["truth"].mean()
    values = {
        strength: rf.off_policy(log, market["new"], market["data"], market["theta"] ** strength).estimate()
        for strength in (0.0, 1.0, 2.0)
    }
    assert values[0.0].interval.high < truth
    assert values[1.0].interval.low < truth < values[1.0].interval.high
    assert values[2.0].interval.low > truth


@pytest.mark.compiled_only
def test_several_rankings_share_their_draws(market: dict[str, Any]) -> None:
    log = simulated(market, np.full(200, 20), 4)
    rankings = {"new": market["new"], "old": market["old"], "new again": market["new"]}
    found = rf.off_policy(log, rankings, market["data"], market["theta"], resamples=300)
    alone = rf.off_policy(log, market["new"], market["data"], market["theta"], resamples=300)
    assert found.estimate("new") == found.estimate("new again") == alone.estimate()
    assert found.difference("new", "new again").interval == (0.0, 0.0)
    difference = found.difference("old", "new", "ips")
    assert difference.interval.low > 0.0
    assert difference.value == pytest.approx(found.estimate("new", "ips").value - found.estimate("old", "ips").value)
    assert found.differences["new", "dr"] == found.difference("production", "new")
    lift = found.lifts["new", "dr"]
    assert lift.value == pytest.approx(found.estimate("new").value / found.production.value - 1.0)
    assert lift.interval.low < lift.value < lift.interval.high
    assert np.isnan(found.difference("old", "new", "model").standard_error)
    for wrong in ({"name": "none"}, {"name": None}, {"name": "new", "estimator": "magic"}):
        with pytest.raises(SettingsError, match="there is no"):
            found.estimate(**wrong)


@pytest.mark.compiled_only
def test_what_users_saw_has_the_clicks_that_it_had(market: dict[str, Any]) -> None:
    data = market["data"]
    log = rf.simulate_clicks(data, market["old"], 5, positions=8, attractiveness=market["attractive"])
    found = rf.off_policy(log, market["old"], data, market["theta"], resamples=50)
    for name in ("ips", "snips", "clipped", "dr"):
        assert found.estimate(estimator=name).value == pytest.approx(found.production.value, rel=1e-12)
        assert found.differences["ranking", name].interval == pytest.approx((0.0, 0.0), abs=1e-12)
    support = found.support["ranking"]
    assert (support.effective, support.largest_weight) == pytest.approx((support.impressions, 1.0))
    assert (support.clipped, support.unsupported, support.unknown) == (0.0, 0.0, 0.0)


def test_neither_the_order_of_the_log_nor_its_parts_matter(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = random_log(rng)
    data = data_of([(q, f"d{n}") for q in "abc" for n in range(6)])
    scores = rng.normal(size=18)
    wanted = rf.off_policy(frame, scores, data, THETA, resamples=50).to_dict()
    shuffled = frame.sample(frac=1.0, random_state=1)
    shuffled[:70].to_csv(tmp_path / "first.csv", index=False)
    shuffled[70:].to_parquet(tmp_path / "second.parquet")
    assert rf.off_policy(shuffled, scores, data, THETA, resamples=50).to_dict() == wanted
    parts = [tmp_path / "second.parquet", tmp_path / "first.csv"]
    assert rf.off_policy(parts, scores, data, THETA, resamples=50).to_dict() == wanted
    other = rf.off_policy(frame, scores, data, THETA, resamples=50, seed=1).to_dict()
    assert (
        other["rankings"]["ranking"]["estimators"]["ips"]["value"]
        == (wanted["rankings"]["ranking"]["estimators"]["ips"]["value"])
    )
    assert other != wanted


def test_cutoffs_ties_and_documents_that_are_not_retrieved() -> None:
    frame = pd.DataFrame(ROWS, columns=["session", "query", "document", "position"]).assign(clicked=[0, 1] * 4)
    data = data_of(PAIRS, NEW)
    found = rf.off_policy(frame, "1", data, THETA, cutoff=2, resamples=5)
    assert found.cutoff == 2
    assert found.left_out == 0  # what stood below still says how attractive it is
    assert found.production.value == pytest.approx(3 / 3)  # of four clicks one is at position 4
    assert found.estimate(estimator="ips").value == pytest.approx(
        (2 * (1.0 / (0.4 + 0.3) + 0.6 * 2.0 / (0.6 + 1.0)) + 1.0 / 0.6) / 3  # z, y; w, x: y twice, z, w clicked
    )
    assert rf.off_policy(frame, "1", data, THETA[:2], resamples=5, max_unsupported=0.5).left_out == 2
    hidden = rf.off_policy(frame, [1.0, -np.inf, 3.0, 1.0, 2.0], data, THETA, resamples=5)
    assert (
        hidden.estimate(estimator="ips").value < rf.off_policy(frame, NEW, data, THETA).estimate(estimator="ips").value
    )
    run = {"a": {"x": 1.0, "z": 3.0}, "b": {"x": 1.0, "w": 2.0}, "other": {"x": 1.0}}
    assert rf.off_policy(frame, run, data, THETA, resamples=5).to_dict() == hidden.to_dict()
    assert rf.off_policy(frame, {"run": run}, data, THETA, resamples=5).names == ("run",)
    for wrong, message in (({"a": {"k": 1.0}}, "ranks document 'k'"), ({"a": {"x": None}}, "no number: None")):
        with pytest.raises(DataError, match=message):
            rf.off_policy(frame, wrong, data, THETA)
    tied = [rf.off_policy(frame, np.zeros(5), data, THETA, ties="hashed", seed=s, resamples=1) for s in range(8)]
    assert len({one.estimate(estimator="ips").value for one in tied}) > 1
    with pytest.raises(DataError, match="shows no document of the queries that the log has"):
        rf.off_policy(frame, np.full(5, -np.inf), data, THETA)


def test_query_keys_and_names_of_columns() -> None:
    frame = pd.DataFrame(ROWS, columns=["session", "query", "document", "position"]).assign(clicked=[0, 1] * 4)
    data = data_of(PAIRS)
    wanted = rf.off_policy(frame, NEW, data, THETA, resamples=5).to_dict()
    other = frame.assign(query=frame["query"].str.upper()).rename(columns={"position": "place", "session": "user"})
    for key in (str.upper, {"A": "a", "B": "b"}):
        found = rf.off_policy(other, NEW, data, THETA, resamples=5, query_key=key, position="place", session="user")
        assert found.to_dict() == wanted
    keyed = other.assign(key=frame["query"])
    named: dict[str, Any] = {"position": "place", "session": "user", "resamples": 5}
    assert rf.off_policy(keyed, NEW, data, THETA, query_key="key", **named).to_dict() == wanted


def test_the_result_is_a_table() -> None:
    frame = pd.DataFrame(ROWS, columns=["session", "query", "document", "position"]).assign(clicked=[0, 1] * 4)
    found = rf.off_policy(frame, {"ours": NEW}, data_of(PAIRS), rf.Propensities(THETA), resamples=20)
    text = str(found)
    assert "clicks per view in the first 4 places: 3 views of 2 queries in 3 sessions" in text
    assert "ours: worth" in text
    assert "propensities (given, not estimated) count as known" in text
    assert json.dumps(found.to_dict(), allow_nan=False)
    assert found.to_pandas()["estimator"].tolist() == list(ESTIMATORS)
    assert found.to_markdown().count("| ours |") == 5
    assert repr(found).startswith("<OffPolicyEvaluation: ours 2.0079; production 1.3333")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"propensities": []}, "propensities are a list"),
        ({"propensities": [1.0, 0.0]}, "propensity of position 2 is 0"),
        ({"propensities": [1.0, math.nan]}, "propensity of position 2 is not known"),
        ({"cutoff": 9}, "propensities of 4 positions only"),
        ({"cutoff": 0}, "cutoff"),
        ({"clip": 0}, "clip must be"),
        ({"smoothing": -1}, "smoothing must be"),
        ({"resample": "day"}, "resample must be"),
        ({"resamples": 0}, "resamples must be"),
        ({"level": 2}, "level"),
        ({"max_unsupported": 3}, "max_unsupported must be"),
        ({"ties": "expected"}, "ties must be"),
        ({"relevance": [2.0] * 5}, "relevance is a probability"),
        ({"relevance": "nothing"}, "no feature 'nothing'"),
        ({"ranking": {}}, "there is no ranking"),
        ({"ranking": {"production": NEW}}, "a ranking needs a name"),
        ({"data": 3}, "Dataset"),
        ({"data": rf.Dataset(np.zeros((5, 1)), qid=list("aaabb"))}, "no document ids"),
        (
            {"data": rf.Dataset(np.zeros((5, 1)), qid=list("aaabb"), document_ids=list("xxyzw"))},
            "'x' of query 'a' twice",
        ),
        ({"data": data_of([("k", str(n)) for n in range(5)])}, "no row with a query of the data"),
        ({"query_key": lambda query: "same"}, "several queries that count as one"),
    ],
)
def test_what_is_impossible_is_refused(wrong: dict[str, Any], message: str) -> None:
    frame = pd.DataFrame(ROWS, columns=["session", "query", "document", "position"]).assign(clicked=[0, 1] * 4)
    asked: dict[str, Any] = {"ranking": NEW, "data": data_of(PAIRS), "propensities": THETA}
    with pytest.raises((DataError, SettingsError), match=message):
        rf.off_policy(frame, **(asked | wrong))


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("position", [0, *[1] * 7], r"row 0 \(from 0\): 0 is no position"),
        ("position", [1.5, *[1] * 7], "is no position"),
        ("position", [None, *[1] * 7], "the position is missing"),
        ("clicked", [1] * 8, "every row of the log is a click"),
    ],
)
def test_logs_that_do_not_say_enough(column: str, values: list[Any], message: str) -> None:
    frame = pd.DataFrame(ROWS, columns=["session", "query", "document", "position"]).assign(clicked=[0, 1] * 4)
    with pytest.raises(DataError, match=message):
        rf.off_policy(frame.assign(**{column: values}), NEW, data_of(PAIRS), THETA)
    with pytest.raises(DataError, match="does not say at which position"):
        rf.off_policy(frame.drop(columns="position"), NEW, data_of(PAIRS), THETA)


def test_slopes_are_derivatives() -> None:
    rng = np.random.default_rng(0)
    sums = rng.random(5) + 1.0
    for ratio in (Ratio((0,), (1,)), Ratio((0, 2), (1, 3)), Ratio((0, 2, 1), (1, 3, 4))):
        slopes = ratio.slopes(sums)
        for column in range(5):
            moved = np.stack([sums, sums])
            moved[:, column] += [1e-6, -1e-6]
            up, down = ratio.values(moved)
            assert slopes[column] == pytest.approx((up - down) / 2e-6, abs=1e-6)


def test_many_units_are_drawn_in_bundles(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = np.random.default_rng(0).gamma(1.0, size=(4000, 2))
    ratio = Ratio((0,), (1,))
    each = Resampled(columns, 2000, 0.95, 0).estimate(ratio)
    monkeypatch.setattr(resampled_ratios, "MOST_UNITS", 400)
    bundled = Resampled(columns, 2000, 0.95, 0).estimate(ratio)
    assert bundled.value == each.value
    assert bundled.normal_interval == each.normal_interval
    for one in (each, bundled):
        width = one.interval.high - one.interval.low
        assert width == pytest.approx(one.normal_interval.high - one.normal_interval.low, rel=0.15)


def test_without_clicks_or_with_one_session() -> None:
    frame = pd.DataFrame(ROWS, columns=["session", "query", "document", "position"])
    found = rf.off_policy(frame.assign(clicked=0), NEW, data_of(PAIRS), THETA, resamples=10)
    assert found.production.value == found.estimate(estimator="ips").value == 0.0
    assert found.estimate(estimator="ips").interval == (0.0, 0.0)
    assert math.isnan(found.lifts["ranking", "ips"].value)
    assert found.to_dict()["rankings"]["ranking"]["estimators"]["ips"]["lift"]["value"] is None
    alone = frame[:3].assign(clicked=[1, 0, 0])
    found = rf.off_policy(alone, NEW, data_of(PAIRS), THETA, resamples=10)
    assert math.isnan(found.estimate().interval.low)
    assert math.isnan(found.estimate().standard_error)
