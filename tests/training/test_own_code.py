"""Checkpoints and journals notice that a user's code has changed, and tell where; and that it has not."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap

import pytest

import rankforce as rf
from rankforce.errors import RankforceWarning, SettingsError
from rankforce.models.storage import to_bytes

TREES = {"n_trees": 6, "n_leaves": 4, "min_documents": 3, "progress": False}

# what makes a ranker: (its code, an edit of it, what the error names)
CASES = {
    "gain function": (
        """
        def gain(labels): return labels ** 2
        def made(**more): return rf.LambdaMART(rf.NDCG(gain=gain), **TREES, **more)
        """,
        ("** 2", "** 3"),
        "the code of measure has changed (gain)",
    ),
    "global of a gain function": (
        """
        POWER = 2
        def gain(labels): return labels ** POWER
        def made(**more): return rf.LambdaMART(rf.NDCG(gain=gain), **TREES, **more)
        """,
        ("= 2", "= 3"),
        "the code of measure has changed (POWER of gain)",
    ),
    "own measure": (
        """
        class FirstHits(rf.Measure):
            def normaliser(self, ideal): return 1.0 if ideal.shape[0] > 0 and ideal[0] > 0.0 else 0.0
            def value(self, ranked, normaliser): return ranked[0] * 0.5
        def made(**more): return rf.LambdaMART(FirstHits(), **TREES, **more)
        """,
        ("* 0.5", "* 0.25"),
        "the code of measure has changed (value of FirstHits)",
    ),
    "own measure by its name": (
        """
        class NamedHits(rf.Measure):
            def normaliser(self, ideal): return 1.0 if ideal.shape[0] > 0 and ideal[0] > 0.0 else 0.0
            def value(self, ranked, normaliser): return ranked[0] * 0.5
        def made(**more): return rf.LambdaMART("NamedHits", **TREES, **more)
        """,
        ("* 0.5", "* 0.25"),
        "the code of measure has changed (value of NamedHits)",
    ),
    "own cost of documents": (
        """
        def pull(scores, labels, data): return 2.0 * labels - scores
        def made(**more): return rf.MART(pull, **TREES, **more)
        """,
        ("2.0 *", "3.0 *"),
        "the code of cost has changed (cost)",
    ),
    "own cost as an object": (
        """
        class Pull:
            def __init__(self, factor): self.factor = factor
            def pull(self, scores, labels, data): return self.factor * labels - scores
        def made(**more): return rf.MART(Pull(2.0), **TREES, **more)
        """,
        ("Pull(2.0)", "Pull(3.0)"),
        "the code of cost has changed (cost)",
    ),
    "target": (
        """
        def helper(labels): return labels + 1
        def target(labels): return helper(labels) ** 2
        def made(**more): return rf.MART(target=target, **TREES, **more)
        """,
        ("+ 1", "+ 2"),
        "the code of target has changed (helper of target)",
    ),
    "values of grades": (
        """
        def made(**more): return rf.MART("multiclass", values=lambda grades: grades ** 2, **TREES, **more)
        """,
        ("** 2", "** 3"),
        "the code of values has changed (values)",
    ),
    "λ-function": (
        """
        class OwnPull(rf.lambdas.PairwiseLambdaFunction):
            def pair_of_gap(self, gap, change, normaliser): return change, 2.0 * change
        def made(**more): return rf.LambdaMART(lambda_function=OwnPull(), **TREES, **more)
        """,
        ("2.0 *", "4.0 *"),
        "the code of lambda_function has changed (pair_of_gap of OwnPull)",
    ),
    "λ-function by its name": (
        """
        class NamedPull(rf.lambdas.PairwiseLambdaFunction):
            def pair_of_gap(self, gap, change, normaliser): return change, 2.0 * change
        def made(**more): return rf.LambdaMART(lambda_function="NamedPull", **TREES, **more)
        """,
        ("2.0 *", "4.0 *"),
        "the code of lambda_function has changed (pair_of_gap of NamedPull)",
    ),
    "objective": (
        """
        def gain(labels): return labels ** 2
        def made(**more):
            return rf.LambdaMART(objective=["MAP", rf.NDCG(gain=gain)], **TREES, **more)
        """,
        ("** 2", "** 3"),
        "the code of objective has changed (gain)",
    ),
    "schedule": (
        """
        def share(m): return 0.01 * m
        def made(**more): return rf.LambdaMART(objective=rf.Scheduled("MAP", "NDCG", share), **TREES, **more)
        """,
        ("0.01 *", "0.02 *"),
        "the code of objective has changed (function)",
    ),
    "leaves by tree": (
        """
        def leaves(tree): return 2 + tree % 3
        def made(**more): return rf.MART(**TREES | {"n_leaves": leaves}, **more)
        """,
        ("% 3", "% 4"),
        "the code of n_leaves has changed (n_leaves)",
    ),
    "validation measures": (
        """
        def gain(labels): return labels ** 2
        def made(**more):
            return rf.LambdaMART("MAP", validation_measure=["MAP", rf.NDCG(gain=gain)], **TREES, **more)
        """,
        ("** 2", "** 3"),
        "the code of validation_measure has changed (gain)",
    ),
    "ranker": (
        """
        class Own(rf.LambdaMART):
            def _shrunk(self, step): return super()._shrunk(step) * 0.5
        def made(**more): return Own(**TREES, **more)
        """,
        ("* 0.5", "* 0.25"),
        "the code of Own._shrunk has changed (Own._shrunk)",
    ),
    "net": (
        """
        def gain(labels): return labels ** 2
        def made(**more): return rf.LambdaRank(rf.NDCG(gain=gain), epochs=6, progress=False, **more)
        """,
        ("** 2", "** 3"),
        "the code of measure has changed (gain)",
    ),
    "SPSA": (
        """
        def gain(labels): return labels ** 2
        def made(**more): return rf.SPSA(rf.NDCG(gain=gain), epochs=6, progress=False, **more)
        """,
        ("** 2", "** 3"),
        "the code of measure has changed (gain)",
    ),
}


@pytest.fixture(scope="module")
def data():
    return rf.make_artificial(queries=25, documents=12, features=5, seed=1)


class PowerCut(Exception):
    pass


def cut(iteration):
    if iteration.number == 4:
        raise PowerCut


MODULES = []  # as long as a user's session: a class is known by its name while somebody holds it


def made_by(source):
    module = {"__name__": "user", "rf": rf, "TREES": TREES}
    MODULES.append(module)
    exec(compile(textwrap.dedent(source), "<user>", "exec"), module)
    return module["made"]


# They compile for ten seconds each, and go the way of others: of nets, and of names in place of objects.
SLOW = {"net", "own measure by its name", "λ-function by its name"}


def slow_ones_apart(kinds):
    return [pytest.param(kind, marks=pytest.mark.soak) if kind in SLOW else kind for kind in kinds]


@pytest.mark.compiled_only
@pytest.mark.filterwarnings("ignore::rankforce.forces.forces.SlowMeasureWarning")
@pytest.mark.parametrize("kind", slow_ones_apart(CASES))
def test_a_checkpoint_of_other_code_is_refused(data, tmp_path, kind):
    source, (old, new), named = CASES[kind]
    assert source.count(old) == 1
    kept = {"checkpoint": tmp_path / "checkpoint", "checkpoint_every": 2}
    with pytest.raises(PowerCut):
        made_by(source)().fit(data, validation=data, callbacks=[cut], **kept)
    with pytest.raises(SettingsError, match=re.escape(named)):
        made_by(source.replace(old, new))().fit(data, validation=data, **kept)
    made = made_by("\n\n        # a comment" + source)
    resumed = made().fit(data, validation=data, resume="always", **kept)
    whole = made().fit(data, validation=data)
    assert to_bytes(resumed.model_) == to_bytes(whole.model_)


@pytest.mark.compiled_only
@pytest.mark.filterwarnings("ignore::rankforce.forces.forces.SlowMeasureWarning")
@pytest.mark.parametrize(
    "kind", slow_ones_apart(["gain function", "own measure by its name", "target", "schedule", "leaves by tree"])
)
def test_a_journal_of_other_code_is_refused(data, tmp_path, kind):
    source, (old, new), named = CASES[kind]
    options = {"validation": data, "measure": "NDCG", "method": "grid", "refit": False, "progress": False}
    space = {"n_trees": [2, 3]}
    path = tmp_path / "journal"
    first = rf.tune(made_by(source)(), data, space, journal=path, trials=1, **options)
    with pytest.raises(SettingsError, match=re.escape(named)):
        rf.tune(made_by(source.replace(old, new))(), data, space, journal=path, **options)
    again = rf.tune(made_by(source)(), data, space, journal=path, **options)
    assert again.trials[0].seconds == first.trials[0].seconds  # it was not tried again
    assert len(again.trials) == 2


@pytest.mark.compiled_only
def test_a_journal_knows_the_code_of_what_decides_and_of_what_is_tried(data, tmp_path):
    def measure(power):
        def gain(labels):
            return labels**power

        return rf.NDCG(gain=gain)

    ranker = rf.LambdaMART(**TREES)
    options = {"validation": data, "method": "grid", "refit": False, "progress": False}
    for number, (space, decides, named) in enumerate(
        [
            (lambda power: {"n_trees": [2]}, measure, r"the code of what decides has changed \(power of gain\)"),
            (
                lambda power: {"measure": ["MAP", measure(power)]},
                lambda power: "MAP",
                r"measure has changed \(power of",
            ),
        ]
    ):
        path = tmp_path / str(number)
        for _ in range(2):
            rf.tune(ranker, data, space(2), measure=decides(2), journal=path, **options)
        with pytest.raises(SettingsError, match=named):
            rf.tune(ranker, data, space(3), measure=decides(3), journal=path, **options)


@pytest.mark.compiled_only
def test_functions_as_choices_are_the_same_in_every_process(data, tmp_path):
    """Their written form was once an address."""
    script = """
    import sys
    import rankforce as rf
    def first(labels): return labels
    def second(labels): return labels ** 2
    data = rf.make_artificial(queries=25, documents=12, features=5, seed=1)
    ranker = rf.MART(n_trees=2, n_leaves=4, min_documents=3, progress=False)
    found = rf.tune(ranker, data, {"target": [first, second]}, validation=data, measure="NDCG", method="grid",
                    journal=sys.argv[1], refit=False, progress=False)
    print([trial.seconds for trial in found.trials])
    """
    run = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / "journal")]
    outputs = [subprocess.run(run, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert outputs[0] == outputs[1]
    assert "0x" not in (tmp_path / "journal").read_text()


def test_base_models_that_look_alike_are_told_apart(data, tmp_path):
    bases = [rf.LambdaMART(**TREES, seed=seed, query_fraction=0.5).fit(data).model_ for seed in (1, 2)]
    options = {"validation": data, "measure": "NDCG", "method": "grid", "refit": False, "progress": False}
    with pytest.raises(SettingsError, match=r"base_model: two different choices .* as Paths"):
        rf.tune(rf.LambdaMART(**TREES), data, {"base_model": bases}, **options)
    path = tmp_path / "journal"
    for _ in range(2):
        rf.tune(rf.LambdaMART(**TREES, base_model=bases[0]), data, {"l2": [1.0]}, journal=path, **options)
    with pytest.raises(SettingsError, match="belongs to another search"):
        rf.tune(rf.LambdaMART(**TREES, base_model=bases[1]), data, {"l2": [1.0]}, journal=path, **options)


def test_callbacks_do_not_matter(data, tmp_path):
    kept = {"checkpoint": tmp_path / "checkpoint", "checkpoint_every": 2}
    with pytest.raises(PowerCut):
        rf.LambdaMART(**TREES).fit(data, callbacks=[cut], **kept)
    rf.LambdaMART(**TREES).fit(data, callbacks=[print], resume="always", **kept)


def test_a_checkpoint_that_does_not_say_its_code_is_refused(data, tmp_path):
    path = tmp_path / "checkpoint"
    rf.LambdaMART(**TREES).fit(data, checkpoint=path)
    model = rf.load(path)
    assert model.provenance.settings["checkpoint"].pop("code") == {}
    model.save(path)
    with pytest.raises(SettingsError, match="does not say which code of yours"):
        rf.LambdaMART(**TREES).fit(data, checkpoint=path)


def unseen(scores, labels, data, stream=iter(())):  # noqa: B008  # nobody can see what it holds
    next(stream, None)
    return labels - scores


@pytest.mark.compiled_only
def test_code_that_cannot_be_compared_is_not_gone_on_with(data, tmp_path):
    path = tmp_path / "checkpoint"
    reason = "the default stream of cost cannot be compared between processes"
    unseen.__defaults__ = ((n for n in range(0)),)
    with pytest.warns(RankforceWarning, match=f"nothing can go on from .*{reason}.*code_version = 1"):
        rf.MART(unseen, **TREES).fit(data, checkpoint=path)
    with (
        pytest.warns(RankforceWarning, match="nothing can go on"),
        pytest.raises(SettingsError, match=f"cannot be told: .*{reason}.*resume='never'"),
    ):
        rf.MART(unseen, **TREES).fit(data, checkpoint=path)
    with pytest.warns(RankforceWarning, match="nothing can go on"):
        rf.MART(unseen, **TREES).fit(data, checkpoint=path, resume="never")
    rf.MART(unseen, **TREES).fit(data)  # without a checkpoint nobody asks
    journal = tmp_path / "journal"
    options = {"validation": data, "measure": "NDCG", "method": "grid", "refit": False, "progress": False}
    with pytest.warns(RankforceWarning, match=reason):
        rf.tune(rf.MART(unseen, **TREES), data, {"l2": [0.0]}, journal=journal, **options)
    with pytest.warns(RankforceWarning, match=reason), pytest.raises(SettingsError, match=reason):
        rf.tune(rf.MART(unseen, **TREES), data, {"l2": [0.0]}, journal=journal, **options)

    unseen.code_version = 1
    try:
        rf.MART(unseen, **TREES).fit(data, checkpoint=path, resume="never")
        rf.MART(unseen, **TREES).fit(data, checkpoint=path, resume="always")
        unseen.code_version = 2
        with pytest.raises(SettingsError, match=r"the code of cost has changed \(cost\)"):
            rf.MART(unseen, **TREES).fit(data, checkpoint=path)
    finally:
        del unseen.code_version


MODELS = """
import functools, sys
import rankforce as rf

class Hits(rf.Measure):
    depth: int = 3
    def normaliser(self, ideal): return 1.0 if ideal.shape[0] > 0 and ideal[0] > 0.0 else 0.0
    def value(self, ranked, normaliser): return ranked[0]

class Gain:
    def __call__(self, labels): return labels

class Pull:
    def pull(self, scores, labels, data): return labels - scores

def powered(labels, power): return labels ** power

data = rf.make_artificial(queries=25, documents=12, features=5, seed=1)
trees = {"n_trees": 3, "n_leaves": 4, "min_documents": 3, "progress": False}
rankers = {
    "class": rf.LambdaMART(Hits(2), **trees),
    "given as a class": rf.LambdaMART(Hits, **trees),
    "object": rf.LambdaMART(rf.NDCG(gain=Gain()), **trees),
    "partial": rf.LambdaMART(rf.NDCG(gain=functools.partial(powered, power=2)), **trees),
    "cost": rf.MART(Pull(), **trees),
    "bagged": rf.Bagging(rf.MART(Pull(), validation_measure=Hits(), **trees), 2, progress=False),
    "graded": rf.LambdaMART(objective=rf.Graded([Hits(), rf.NDCG(gain=Gain())]), **trees),
}
for name, ranker in rankers.items():
    ranker.fit(data).save(f"{sys.argv[1]}/{name}.json")
rf.LambdaMART(Hits(2), **trees).fit(data, checkpoint=f"{sys.argv[1]}/checkpoint.json")
"""


@pytest.mark.compiled_only
def test_models_hold_names_that_need_no_class_and_no_address(data, tmp_path):
    for folder, seed in (("a", "1"), ("b", "2")):
        (tmp_path / folder).mkdir()
        run = [sys.executable, "-c", MODELS, str(tmp_path / folder)]
        subprocess.run(run, check=True, env=os.environ | {"PYTHONHASHSEED": seed})
    files = sorted((tmp_path / "a").iterdir())
    assert len(files) == 8
    for file in files:
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()
        assert "0x" not in json.dumps(json.loads(file.read_bytes()).get("provenance", {}))
        model = rf.load(file)  # here, nobody knows these classes
        assert len(model.predict(data)) == data.n_documents
    assert rf.load(tmp_path / "a" / "class.json").provenance.settings["measure"] == "Hits(depth=2)"
    assert rf.load(tmp_path / "a" / "given as a class.json").provenance.settings["measure"] == "Hits"
    assert rf.load(tmp_path / "a" / "object.json").provenance.settings["measure"] == "NDCG(gain=Gain)"
    partial = rf.load(tmp_path / "a" / "partial.json").provenance
    assert partial.settings["measure"] == "NDCG(gain=partial(powered, power=2))"
    assert partial.settings["measure"] in partial.objective
