"""Every place where a training asks its collective is needed: with a local answer instead, some file is another one."""

from __future__ import annotations

import ast
import contextlib
import functools
import itertools
import math
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from tests.crowd import Crowd
from tests.test_collective import DATA, HELD_OUT, SHARES, TRAININGS, file_of, learned
from tests.test_collective_decisions import clicked_lists

import rankforce
import rankforce as rf
from rankforce.collective import ALONE
from rankforce.data import distributions

LOCAL = {
    "total": int,
    "totals": lambda *counts: list(map(int, counts)),
    "highest": lambda *values: list(map(int, values)),
    "anybody": bool,
    "everybody": bool,
    "exact_total": lambda values: math.fsum(values.tolist()),
    "union": np.unique,
    "gathered": lambda values: values,
    "collective": lambda: ALONE,
    "alone": lambda: True,
    "first_says": lambda answer: answer(),
    "is_first": lambda: True,
}

# What a local answer would change shows in no model: said here why.
HARMLESS = {
    ("boosting.course", "total"): "the text of a warning",
    ("boosting.lambda_learner", "total"): "whether anything can be learned at all: test_collective_quantities",
    **{
        (module, "alone"): "a refusal: test_collective_quantities"
        for module in (
            "boosting.document_costs",
            "data.dataset",
            "data.preferences",
            "rankers.mart",
            "training.settings",
        )
    },
    **{
        (module, "is_first"): "who writes and shows: training/test_members"
        for module in ("training.checkpoint", "training.loop", "training.maximising", "training.weight_search")
    },
    **{
        ("diagnostics.instruments", name): "tables, no models: test_collective_quantities"
        for name in ("anybody", "exact_total", "total", "totals", "union")
    },
    ("evaluation.agreement", "total"): "a printed number of pairs",
    ("evaluation.significance", "anybody"): "which test decides: evaluation/test_same_difference_everywhere",
    (
        "evaluation.significance",
        "gathered",
    ): "whose queries decide: evaluation/test_same_difference_everywhere",
    **{
        ("measures.method_check", name): "a refusal: measures/test_method_check"
        for name in ("anybody", "highest", "union")
    },
    ("measures.judged", "collective"): "what is remembered: test_collective_quantities",
    ("rankers.bagging", "anybody"): "what becomes of a model that Ctrl-C cuts short",
    ("rankers.mart", "anybody"): "a refusal: test_collective_quantities",
    ("training.checkpoint", "collective"): "a refusal: training/test_members",
    ("training.checkpoint", "alone"): "whether a model is read from a file twice",
    ("training.checkpoint", "first_says"): "where the file is: training/test_members",
    ("training.members_alike", "alone"): "a refusal: training/test_members_alike",
    ("training.members_alike", "collective"): "a refusal: training/test_members_alike",
    ("training.iterative", "is_first"): "who warns: training/test_members",
    ("training.validation_leaks", "alone"): "a warning, which several do not give",
    ("training.iterative", "alone"): "what is handed over when a member is lost: training/test_members",
    ("training.loop", "anybody"): "when all stop: training/test_members",
    ("training.weight_search", "anybody"): "when all stop, as training.loop has it",
    ("training.inputs", "anybody"): "a refusal: test_collective_quantities",
    ("sweeping.sweep", "exact_total"): "units and rooms, at the edge of what fits: sweeping/test_members",
    ("sweeping.sweep", "highest"): "units, and windows of many changes: sweeping/test_members",
    ("training.monitoring", "anybody"): "which of two refusals",
    ("trees.quantised", "total"): "a unit, at the edge of what fits: test_collective_quantities",
    ("trees.grower", "highest"): "which histograms are given up: test_collective_quantities",
    ("binning.category_bins", "totals"): "whether a constant feature has bins: test_collective_quantities",
    ("forces.no_forces", "highest"): "the text of a warning",
    ("forces.forces", "highest"): "the last bits of forces: test_collective_quantities",
    ("measures.concordance", "highest"): "which loop runs, with more than 64 grades: test_collective_quantities",
    ("measures.concordance", "union"): "which loop runs, with more than 64 grades: test_collective_quantities",
    ("measures.mean", "total"): "means without weights: test_collective_quantities",
}


def places():
    """(module, name) of every use of the seam."""
    root = Path(rankforce.__file__).parent
    for path in sorted(root.rglob("*.py")):
        module = path.relative_to(root).with_suffix("").as_posix().replace("/", ".")
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "rankforce.collective":
                for alias in node.names:
                    if alias.name in LOCAL:
                        yield module, alias.name


# Where to look first, for speed.
NOTICED_BY = {
    "binning.binning": "bins of a sample, grown by all documents",
    "binning.category_bins": "many features, one of categories",
    "data.distributions": "many features, one of categories",
    "boosting.boosted_trees": "bins of a sample, grown by all documents",
    "boosting.document_costs": "weights of one member alone",
    "boosting.lambda_learner": "a query without weight",
    "boosting.sampling": "hardly a query",
    "data.preferences": "preferences",
    "data.splits": "bags of folds",
    "evaluation.agreement": "preferences",
    "rankers.bagging": "bags of queries",
    "sweeping.sweep": "line search",
    "evaluation.significance": "graded",
    "forces.anchor": "a grade of one member alone",
    "forces.left_out": "graded",
    "forces.position_weights": "joint ratios of positions",
    "measures.judged": "gains that fall at one member alone",
    "rankers.mart": "ordinal",
    "training.usual_measure": "a watched measure that fits",
}
PLACES = [place for place in places() if place not in HARMLESS]


def relabelled(labels, weights=None):
    return rf.Dataset(DATA.features, labels, qid=DATA.query_ids[DATA.row_queries], weights=weights)


LONGEST = DATA.row_queries == 3  # one query alone has ninety documents
GRADES = DATA.label("grades").astype(int)
GAPS = np.where(LONGEST & (DATA.label("grades") == 2), 2.0, np.where(DATA.label("grades") > 1, 3.0, 0.0))


def with_categories():
    """A feature with categories, of which some are at one member alone; more features than are looked at at a time."""
    random = np.random.default_rng(3)
    codes = np.where(LONGEST, random.integers(0, 5, len(LONGEST)), random.integers(0, 3, len(LONGEST)))
    further = random.normal(size=(len(LONGEST), 20))
    return rf.Dataset(
        np.column_stack([codes, further, DATA.features]).astype(np.float32),
        np.clip(DATA.label("grades") + (codes == 1), 0, 4),
        qid=DATA.query_ids[DATA.row_queries],
        categories={"1": ["a", "b", "c", "d", "e"]},
    )


def weighing(data, weight):
    """One query, the longest, has this weight, and the others 1."""
    weights = np.ones(data.n_queries)
    weights[3] = weight
    return rf.Dataset(
        data.features, qid=data.query_ids[data.row_queries], labels=dict(data.labels), query_weights=weights
    )


class OfPreferences:
    """Learns from pairs of every query with two documents, and is watched by them: its data has no other labels."""

    def fit(self, data, validation=None):
        pairs = [(rows[place], rows[place - 1]) for rows in data.each_query() for place in (0, 1) if len(rows) > 1]
        better, worse = np.array(pairs, dtype=int).reshape(-1, 2).T
        weights = np.tile([1.0, 2.5], len(pairs) // 2)
        ranker = rf.LambdaMART(n_trees=2, progress=False)
        ranker.fit(data, preferences=rf.Preferences(data, better, worse, 0.8, weights))
        self.model_ = ranker.model_


FURTHER = {
    "preferences": (OfPreferences, DATA.replace(labels={"clicks": DATA.label("clicks")})),
    # nearly all forces of one query are far too small to be counted
    "tiny forces at one": (lambda: rf.LambdaMART(n_trees=3, n_leaves=4, min_documents=1), weighing(DATA, 1e-12)),
    "a query without weight": (lambda: rf.LambdaMART(n_trees=2, growth="leafwise"), weighing(DATA, 0.0)),
    "a watched measure that fits": (
        lambda: rf.MART(n_trees=2), relabelled(np.where(DATA.row_queries == 5, -1.0, DATA.label("grades")))
    ),
    "labels of one member alone": (
        lambda: rf.MART(n_trees=2, n_leaves=3, min_documents=2),
        relabelled(np.where(LONGEST, DATA.label("grades"), np.nan)),
    ),
    "a grade of one member alone": (
        lambda: rf.LambdaMART(n_trees=2, growth="symmetric", min_documents=3),
        relabelled(GAPS),
    ),
    "gains that fall at one member alone": (
        lambda: rf.LambdaMART("NDCG(gain=0/2/1/4)", n_trees=2, growth="symmetric", min_documents=3),
        relabelled(np.where(LONGEST, np.clip(DATA.label("grades"), 1, 2), np.array([0, 2, 2, 3, 3])[GRADES])),
    ),
    "weights of one member alone": (
        lambda: rf.MART(n_trees=2, split="least_squares"),
        relabelled(DATA.label("grades"), np.where(LONGEST, 0.5, 1.0)),
    ),
    "many features, one of categories": (lambda: rf.LambdaMART(n_trees=2, growth="leafwise"), with_categories()),
    "bins of a sample, grown by all documents": (lambda: rf.LambdaMART(n_trees=2), relabelled(DATA.label("grades"))),
    "joint ratios of positions": (
        lambda: rf.LambdaMART(objective=rf.Term("NDCG:clicks", bias="joint"), n_trees=2, growth="leafwise"),
        clicked_lists(),
    ),
}  # fmt: skip


# What is many documents is fewer than one member has, and what is too many for exact quantiles likewise.
PATCHES = {
    "bins of a sample, grown by all documents": {
        "rankforce.boosting.boosted_trees.FEW_DOCUMENTS": 430,
        "rankforce.binning.binning.EXACT_ROWS": 400,
    }
}


@contextlib.contextmanager
def patched(name):
    with contextlib.ExitStack() as stack:
        for place, value in PATCHES.get(name, {}).items():
            stack.enter_context(mock.patch(place, value))
        yield


CASES = FURTHER | {name: (training, DATA) for name, training in TRAININGS.items()}


@functools.cache
def alone(name):
    training, data = CASES[name]
    with tempfile.TemporaryDirectory() as folder, patched(name):
        return file_of(learned(training(), data, None if data is not DATA else HELD_OUT), Path(folder), "alone")


def together(name, share):
    training, data = CASES[name]
    members = 2 if share == "by grade" else 3
    shares = [np.sort(one) for one in SHARES[share](DATA, members)]
    watched = np.array_split(np.arange(HELD_OUT.n_queries), members)
    if "nothing" in share:
        watched = SHARES[share](HELD_OUT, members)

    def train(rank):
        held_out = None if data is not DATA else HELD_OUT.take_queries(watched[rank])
        return file_of(learned(training(), data.take_queries(shares[rank]), held_out), Path(folder), f"member {rank}")

    with tempfile.TemporaryDirectory() as folder, patched(name):
        return Crowd(members).run(train)


@pytest.mark.parametrize("name", FURTHER)
@pytest.mark.parametrize("share", SHARES)
def test_further_trainings_of_several_are_those_of_one(name, share):
    assert set(together(name, share)) == {alone(name)}


@pytest.mark.parametrize("place", PLACES, ids=".".join)
def test_a_local_answer_is_noticed(place, monkeypatch):
    monkeypatch.setattr(distributions, "FEW_ROWS", 0)  # several threads, as with much data: members must not have them
    module, name = place
    first = NOTICED_BY.get(module)
    cases = sorted(CASES, key=lambda case: case != first)
    for case, share in itertools.product(cases, SHARES):
        expected = alone(case)
        try:
            with mock.patch(f"rankforce.{module}.{name}", LOCAL[name]):
                found = together(case, share)
        except Exception:
            return
        if set(found) != {expected}:
            return
    pytest.fail(f"no training notices that {module} asks nobody else for its {name}")
