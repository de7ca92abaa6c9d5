"""A number of leaves for every tree: the trees, the files, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from tests.test_collective import DATA, HELD_OUT, learned

import rankforce as rf
from rankforce.boosting.leaf_counts import LEAF_COUNTS, LeafCounts
from rankforce.errors import SettingsError
from rankforce.models.storage import to_bytes

COUNTS = [3, 11, 2, 6]


def lambdamart(n_leaves, **settings):
    return rf.LambdaMART(**({"n_trees": 6, "n_leaves": n_leaves, "min_documents": 3, "progress": False} | settings))


def mart(n_leaves, **settings):
    return rf.MART("ordinal", n_trees=3, n_leaves=n_leaves, min_documents=3, progress=False, **settings)


def of_tree(number):
    return COUNTS[min(number, 3)]


@pytest.mark.parametrize(
    ("given", "counts", "written"),
    [
        (7, (7,), 7),
        (np.int64(7), (7,), 7),
        ([7, 7, 7], (7,), 7),
        ([3, 7, 7], (3, 7), [3, 7]),
        ((3, 7, 3), (3, 7, 3), [3, 7, 3]),
        (np.array([3, 7]), (3, 7), [3, 7]),
        ([3, 7, 7, 7, 7, 9], (3, 7), [3, 7]),  # there is no sixth tree
        (lambda number: 2 + number, (2, 3, 4, 5, 6), [2, 3, 4, 5, 6]),
        (lambda number: np.int32(9 if number < 2 else 4), (9, 9, 4), [9, 9, 4]),
        (lambda number: 9 if number < 50 else 4, (9,), 9),
    ],
)
def test_what_may_be_given(given, counts, written):
    found = LeafCounts.of(given, 5)
    assert found.counts == counts
    assert found.most == max(counts)
    assert found.written() == written
    assert [found(number) for number in range(7)] == [*counts, *[counts[-1]] * 7][:7]


def test_a_function_is_asked_once_for_every_tree_in_their_order():
    asked = []

    def leaves(number):
        asked.append(number)
        return 2 + len(asked) % 3

    model = lambdamart(leaves, growth="leafwise").fit(DATA).model_
    assert asked == list(range(6))
    assert model.provenance.settings["n_leaves"] == [3, 4, 2, 3, 4, 2]
    assert [tree.n_leaves for tree in model.trees] == [3, 4, 2, 3, 4, 2]


@pytest.mark.parametrize("kind", [rf.LambdaMART, rf.MART])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (1, r"n_leaves must be a whole number of at least 2, not 1"),
        ([5, 1], r"n_leaves\[1\], of tree 2, must be a whole number of at least 2, not 1"),
        ([5] * 40 + ["many"], r"n_leaves\[40\], of tree 41, must be a whole number of at least 2, not 'many'"),
        (lambda number: 4 - number, r"n_leaves\(3\), of tree 4, must be a whole number of at least 2, not 1"),
        (lambda number: 4.0, r"n_leaves\(0\), of tree 1, must be a whole number of at least 2, not 4.0"),
        ([], "n_leaves must be a whole number of at least 2, a list of such numbers .* or a function .*; not \\[\\]"),
        (lambda: 4, "n_leaves must be a whole number of at least 2, a list"),
        ("many", "n_leaves must be .*; not 'many'"),
        (None, "n_leaves must be .*; not None"),
    ],
)
def test_what_is_refused_before_the_data_is_looked_at(kind, given, message):
    with pytest.raises(SettingsError, match=message):
        kind(n_leaves=given, n_trees=9).fit("no data at all")


def test_every_tree_has_as_many_leaves_as_it_may():
    trees = lambdamart(COUNTS, growth="leafwise").fit(DATA).model_.trees
    assert [tree.n_leaves for tree in trees] == [3, 11, 2, 6, 6, 6]


def test_every_symmetric_tree_has_levels_for_its_leaves():
    """⌈log₂ leaves⌉ of them; of a last level that would make too many, only some leaves are split."""
    trees = lambdamart(COUNTS, growth="symmetric").fit(DATA).model_.trees
    for tree, most in zip(trees, [3, 11, 2, 6, 6, 6], strict=True):
        level = np.ones(tree.n_nodes, dtype=int)
        for node in range(tree.n_nodes):
            for child in (tree.left[node], tree.right[node]):
                if child >= 0:
                    level[child] = level[node] + 1
        assert 2 <= tree.n_leaves <= most
        assert level.max() == (most - 1).bit_length()


@pytest.mark.parametrize("growth", ["leafwise", "symmetric"])
@pytest.mark.parametrize("make", [lambdamart, mart])
def test_a_list_of_one_number_is_that_number(make, growth):
    files = [to_bytes(learned(make(n_leaves, growth=growth), DATA, None)) for n_leaves in (5, [5], (5, 5, 5, 5))]
    assert len(set(files)) == 1


def test_outputs_of_a_round_have_the_same_number():
    members = learned(mart([2, 9, 3]), DATA, None).members
    assert [[tree.n_leaves for tree in member.trees] for member in members] == [[2, 9, 3]] * len(members)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "data.bins"
    rf.bin(DATA, path)
    return rf.read(path)


@pytest.mark.parametrize("growth", ["leafwise", "symmetric"])
@pytest.mark.parametrize("make", [lambdamart, mart])
def test_threads_memory_stores_and_functions_change_no_byte(make, growth, store):
    expected = to_bytes(learned(make(COUNTS, growth=growth, threads=1), DATA, HELD_OUT))
    for data, n_leaves, settings in (
        (DATA, of_tree, {"threads": 2}),
        (DATA, tuple(COUNTS), {"memory": "low"}),
        (store, COUNTS, {"memory": "mapped", "threads": 2}),
    ):
        assert to_bytes(learned(make(n_leaves, growth=growth, **settings), data, HELD_OUT)) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [("31", 31), (" 7 ", 7), ("7,15,31", [7, 15, 31]), ("[7, 15]", [7, 15]), ("(7, 15)", (7, 15)), ("[7]", [7])],
)
def test_from_text(text, value):
    assert LEAF_COUNTS.read_checked(text, "n_leaves", f"--leaves {text}") == value


@pytest.mark.parametrize("text", ["7,", "many", "7,1", "7;8", "[7", ""])
def test_texts_that_are_refused(text):
    with pytest.raises(SettingsError, match=r"--leaves .*n_leaves"):
        LEAF_COUNTS.read_checked(text, "n_leaves", f"--leaves {text}")


def test_copies_and_parameters_of_other_libraries():
    ranker = lambdamart(COUNTS)
    assert clone(ranker).n_leaves == ranker.get_params()["n_leaves"] == COUNTS
    assert clone(lambdamart(of_tree)).n_leaves is of_tree
    assert "n_leaves=[3, 11, 2, 6]" in repr(ranker)
    assert rf.LambdaMART.from_lightgbm({"num_leaves": 63}, n_leaves=COUNTS).n_leaves == COUNTS
    card = rf.model_card(ranker.fit(DATA))
    assert card.settings["n_leaves"] == COUNTS
    assert "n_leaves = [3, 11, 2, 6]" in str(card)


def test_tuning_among_lists():
    found = rf.tune(
        lambdamart(4, n_trees=3), DATA, {"n_leaves": [4, [2, 9]]}, method="grid", validation=HELD_OUT, progress=False
    )
    assert [trial.settings["n_leaves"] for trial in found.trials] == [4, [2, 9]]
    assert all(trial.state == "done" for trial in found.trials)
