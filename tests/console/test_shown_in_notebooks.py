"""Every object that prints more than a line has a form for notebooks, on light pages and on dark ones; ids are text."""

from __future__ import annotations

import enum
import importlib
import inspect
import pkgutil
import re
from html.parser import HTMLParser
from typing import Any

import pytest

import rankforce
import rankforce as rf
from rankforce.console import html_parts, result_tables
from rankforce.data.feature_logs.joining import FeatureLog
from rankforce.diagnostics.measure_check import MeasureCheck
from rankforce.distributed.connections import Address
from rankforce.distributed.tasks import Lost
from rankforce.drifting.drift_result import Drift
from rankforce.drifting.unseen_values import UnseenValues
from rankforce.evaluation.agreement import Agreement
from rankforce.evaluation.graded import GradedVerdict
from rankforce.evaluation.off_policy_result import OffPolicyEvaluation
from rankforce.export.engines import Reader
from rankforce.forces.left_out import LeftOut
from rankforce.forces.trained_forces import TrainedForces
from rankforce.inspection.findings import Finding
from rankforce.inspection.leaks import Leak
from rankforce.inspection.model_card import ModelCard
from rankforce.lambdas.base import LambdaFunction
from rankforce.measures.measure import Measure
from rankforce.objectives.objective import Objective, Pairs, Term
from rankforce.objectives.position_bias import InversePropensities, JointRatios
from rankforce.reproducing.papers import Paper
from rankforce.reproducing.running import Part
from rankforce.stores.binned_dataset import BinnedDataset
from rankforce.tuning.tuning_result import Tuning

# Printed as one line: a notebook shows that as well.
ONE_LINE: tuple[type, ...] = (
    Measure, LambdaFunction, Objective, Term, Pairs, InversePropensities, JointRatios, Agreement, Address, Reader,
    UnseenValues, GradedVerdict, LeftOut, TrainedForces, Finding, Leak, Paper, Lost, Part,
    MeasureCheck,
)  # fmt: skip


def printed_classes() -> list[type]:
    """Every class of the package with a printed form of its own; errors and choices print their words."""
    found = {}
    for module in pkgutil.walk_packages(rankforce.__path__, "rankforce."):
        if module.name in ("rankforce.__main__", "rankforce.torch") or module.name.startswith("rankforce.cli"):
            continue
        for name, one in vars(importlib.import_module(module.name)).items():
            if not inspect.isclass(one) or one.__module__ != module.name or issubclass(one, (BaseException, enum.Enum)):
                continue
            home = next(base for base in one.__mro__ if "__str__" in vars(base))
            if home.__module__.startswith("rankforce."):
                found[f"{module.name}.{name}"] = one
    return list(found.values())


def test_whatever_prints_a_table_is_shown_as_one() -> None:
    printed = printed_classes()
    assert {rf.Evaluation, ModelCard, Drift, OffPolicyEvaluation, Tuning, FeatureLog} <= set(printed)
    missing = [one for one in printed if not issubclass(one, ONE_LINE) and not hasattr(one, "_repr_html_")]
    assert not missing, f"{missing} print more than a line, and notebooks show the bare text"
    for one in (rf.Dataset, rf.Model, rf.LambdaMART, rf.RankNet, BinnedDataset):
        assert hasattr(one, "_repr_html_")


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_colours_are_seen_on_light_pages_and_on_dark_ones() -> None:
    used = {*html_parts.COLOURS, *result_tables.SIGNIFICANT_COLOURS.values()}
    for page in ("#ffffff", "#111111", "#1e1e1e"):  # Jupyter, its dark theme, that of Visual Studio Code
        for colour in used:
            lower, higher = sorted((luminance(colour), luminance(page)))
            assert (higher + 0.05) / (lower + 0.05) > 3.8, f"{colour} on {page}"


HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m\u202e'
SMALL: dict[str, Any] = {"n_trees": 2, "n_leaves": 3, "min_documents": 2, "progress": False}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    data = rf.make_artificial(queries=24, documents=6, features=4, seed=1)
    data = rf.Dataset(
        data.features,
        data.label(),
        [f"{HOSTILE}{query}" for query in data.row_queries],
        feature_names=[f"{HOSTILE}{number}" for number in range(4)],
        document_ids=[f"{HOSTILE}{row}" for row in range(data.n_documents)],
    )
    ranker = rf.LambdaMART("NDCG@5", **SMALL).fit(data, validation=data)
    query, names = data.query_ids[0], data.feature_names
    evaluation = rf.evaluate(ranker, data)
    log = rf.simulate_clicks(data, data.features[:, 0], sessions=8, exchange="swap", exchanged=0.5, seed=1)
    theta = rf.click_models.PositionBased().at_positions(6)
    folder = tmp_path_factory.mktemp("store")
    response = {"hits": {"hits": [{"_id": HOSTILE, "fields": {"_ltrlog": [{"m": [{"name": HOSTILE, "value": 1.0}]}]}}]}}
    changes = rf.diagnostics.RankChanges()
    rf.LambdaMART("NDCG@5", **SMALL).fit(data, instruments=[changes])
    return {
        "ranker": ranker,
        "model": ranker.model_,
        "card": rf.model_card(ranker),
        "ranking": ranker.rank(data),
        "evaluation": evaluation,
        "explained": evaluation.explain(query),
        "comparison": rf.compare(names[0], ranker, data, names=(HOSTILE, "b")),
        "leaderboard": rf.compare({HOSTILE: names[0], "b": names[1]}, data),
        "combination": rf.combine([names[0], names[1]], data),
        "importance": rf.importance(ranker, data, permutations=1, progress=False),
        "contributions": rf.explain(ranker, data, query),
        "document": rf.explain(ranker, data, query, document=data.document_ids[0]),
        "pair": rf.explain(ranker, data, query, pair=tuple(data.document_ids[:2])),
        "forces": rf.forces_at(data, ranker),
        "inspection": rf.inspect(data),
        "drift": rf.drift(data, data),
        "off-policy": rf.off_policy(log, {HOSTILE: data.features[:, 0]}, data, theta, resamples=20),
        "clicks": log,
        "instrument": changes,
        "feature log": rf.read_feature_log({HOSTILE: response}, {HOSTILE: {HOSTILE: 1, "other": 0}}),
        "store": rf.bin(data, folder / "data.bins"),
        "data": data,
    }


class Page(HTMLParser):
    """Tags that are open, and what they are allowed to be."""

    ALLOWED = frozenset(
        ["div", "strong", "table", "thead", "tbody", "tr", "th", "td", "sup", "span", "details", "summary", "svg"]
    ) | {"rect", "polyline", "progress"}

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        assert tag in self.ALLOWED, tag
        assert not [name for name, _ in attributes if name.startswith("on")]
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("rect", "polyline"):
            return
        while self.open[-1] in ("rect", "polyline"):
            self.open.pop()
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attributes: Any) -> None:
        assert tag in self.ALLOWED, tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.compiled_only
def test_ids_and_names_of_others_are_text(results: dict[str, Any]) -> None:
    seen = 0
    for name, result in results.items():
        page = Page()
        page.feed(result._repr_html_())
        assert page.open == [], name
        assert not re.search("[\x1b\u202e]", page.text), name
        seen += "<script>" in page.text
    assert seen > 12, "most of them show a name"


@pytest.mark.compiled_only
def test_what_a_notebook_shows_is_not_much(results: dict[str, Any]) -> None:
    for name, result in results.items():
        assert len(result._repr_html_()) < 60_000, name
