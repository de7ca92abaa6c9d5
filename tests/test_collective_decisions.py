"""What one member alone sees (documents, labels, its cache of kernels) decides nothing for it alone."""

from __future__ import annotations

import numpy as np
import pytest
from tests.crowd import Crowd
from tests.test_collective import DATA, PLAIN, file_of, learned

import rankforce as rf
from rankforce.collective import collective, is_first
from rankforce.forces.forces import Forces, RunningOrder
from rankforce.objectives.objective import Objective, Pairs
from rankforce.trees.grower import Grower


def shares_by_length(members):
    return np.array_split(np.argsort(-DATA.query_sizes, kind="stable"), members)


def clicked_lists():
    """Clicks of single lists, 0 or 1; the longest query was shown to the end, others only their first documents."""
    places = PLAIN.by_row(np.concatenate([np.arange(size) for size in PLAIN.query_sizes]))
    clicks = (PLAIN.label("grades") + (places < 3) > 3).astype(float)
    clicks[PLAIN.row_queries == 5] = 0.0
    unseen = places >= np.where(PLAIN.row_queries == 3, 90, 12)
    labels = {"clicks": np.where(unseen, np.nan, clicks), "position": np.where(unseen, np.nan, places + 1.0)}
    return PLAIN.replace(labels={"grades": PLAIN.label("grades")} | labels)


@pytest.mark.parametrize("bias", ["joint", [0.9**place for place in range(90)]], ids=["joint", "inverse"])
@pytest.mark.parametrize("settings", [{}, {"pairs": ("top", 5)}, {"learning_rate": 400.0}], ids=str)
def test_bias_of_positions_is_that_of_all_lists(bias, settings, tmp_path):
    """Ratios of positions are sums over all pairs; scores that are far apart take another loop, at one member alone."""
    data = clicked_lists()

    def ranker():
        objective = rf.Term("NDCG:clicks", bias=bias)
        return rf.LambdaMART(objective=objective, n_trees=3, growth="leafwise", min_documents=2, **settings)

    expected = file_of(learned(ranker(), data, None), tmp_path, "alone")
    shares = [*shares_by_length(2), np.empty(0, dtype=int)]

    def train(rank):
        return file_of(learned(ranker(), data.take_queries(shares[rank]), None), tmp_path, f"member {rank}")

    assert set(Crowd(3).run(train)) == {expected}


def test_documents_that_a_measure_leaves_out_at_one_member_alone():
    """The forces of a later term are added up apart where documents are left out, be it at another member."""
    clicks = DATA.label("clicks")
    labels = {"grades": DATA.label("grades"), "clicks": np.where(DATA.row_queries == 3, clicks, np.nan_to_num(clicks))}
    data = DATA.replace(labels=labels)
    terms = tuple(rf.Term(name, pairs=Pairs.read(("top", 5))) for name in ("NDCG", "NDCG:clicks"))

    def forces(data, scores):
        found = Forces(data, Objective(terms), seed=3)
        return [part.copy() for part in found.at(scores, RunningOrder(data, 3).update(scores))]

    scores = np.random.default_rng(4).normal(size=DATA.n_documents)
    whole = forces(data, scores)
    shares = shares_by_length(3)
    rows = [np.flatnonzero(np.isin(DATA.row_queries, share)) for share in shares]
    found = Crowd(3).run(lambda rank: forces(data.take_queries(shares[rank]), scores[rows[rank]]))
    for here, parts in zip(rows, found, strict=True):
        for mine, everybodys in zip(parts, whole, strict=True):
            assert mine.tobytes() == everybodys[here].tobytes()


def test_a_member_that_waits_for_its_compiler_asks_nobody(monkeypatch, tmp_path):
    """Kernels that follow are called meanwhile, by members whose cache is cold: others know nothing of it."""

    def ranker():
        return rf.LambdaMART(n_trees=2, growth="leafwise", threads=2)

    expected = file_of(learned(ranker(), PLAIN, None), tmp_path, "alone")
    meanwhile, waited = {}, []
    split_leaves = Grower.split_leaves

    def expect(*arguments, before_waiting):
        if is_first():
            meanwhile[collective()] = before_waiting

    def wait_and_split(self, *arguments):
        before_waiting = meanwhile.pop(collective(), None)
        if before_waiting is not None:
            before_waiting()
            waited.append(collective().rank)
        return split_leaves(self, *arguments)

    monkeypatch.setattr("rankforce.trees.first_tree.compile_meanwhile", expect)
    monkeypatch.setattr(Grower, "split_leaves", wait_and_split)

    def train(rank):
        share = PLAIN.take_queries(np.arange(rank, PLAIN.n_queries, 2))
        return file_of(learned(ranker(), share, None), tmp_path, f"member {rank}")

    assert set(Crowd(2).run(train)) == {expected}
    assert waited == [0]
