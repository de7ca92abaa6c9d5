"""Measures that are written alike and are not the same: nothing is kept under a name that two would share."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import rankforce as rf
from rankforce.errors import MeasureError, RankforceError, SettingsError
from rankforce.measures.judged import judged
from rankforce.written_forms import name_of


def with_power(power):
    """A gain function; all of them have one name."""

    def gain(labels):
        return labels**power

    return gain


def own_measure(depth):
    """A measure class; all of them have one name."""

    class Hits(rf.Measure):
        def normaliser(self, ideal):
            return 1.0 if ideal.shape[0] > 0 and ideal[0] > 0.0 else 0.0

        def value(self, ranked, normaliser):
            total = 0.0
            for r in range(min(ranked.shape[0], depth)):
                total += ranked[r]
            return total

    return Hits


def own_lambda_function(factor):
    class Own(rf.lambdas.PairwiseLambdaFunction):
        def pair_of_gap(self, gap, change, normaliser):
            return factor * change, factor * change

    return Own


FLAT, STEEP = rf.NDCG(gain=with_power(1)), rf.NDCG(gain=with_power(4))
STEEP_AGAIN = rf.NDCG(gain=with_power(4))
ALIKE = {
    "gain functions": (FLAT, STEEP),
    "classes": (own_measure(1)(), own_measure(3)()),
    "callable objects": tuple(rf.NDCG(gain=np.vectorize(with_power(power))) for power in (1, 4)),
}


@pytest.fixture(scope="module")
def data():
    return rf.make_artificial(queries=30, documents=10, features=4, seed=1)


@pytest.fixture(scope="module")
def scores(data):
    return np.random.default_rng(0).random(data.n_documents)


@pytest.mark.parametrize("kind", ALIKE)
def test_they_are_refused_together(data, scores, kind):
    first, second = ALIKE[kind]
    assert str(first) == str(second)
    ranker = rf.LambdaMART(n_trees=2, progress=False)
    for call in (
        lambda both: rf.evaluate(scores, data, both),
        lambda both: rf.compare(scores, -scores, data, both),
        lambda both: rf.cross_validate(ranker, data, both, folds=2, progress=False),
        lambda both: rf.diagnostics.effective_pairs(data, scores, both),
        lambda both: rf.Graded(both),
        lambda both: rf.LambdaMART(objective=both, n_trees=2, progress=False).fit(data),
        lambda both: rf.LambdaMART(validation_measure=both, n_trees=2, progress=False).fit(data, validation=data),
        lambda both: rf.tune(ranker, data, {"measure": both}, measure="MAP", folds=2, trials=2, progress=False),
    ):
        with pytest.raises(RankforceError, match=r"both written .* they differ in .* names"):
            call([first, second])
        with pytest.raises(RankforceError, match="both written"):
            call([second, "ERR", first])


def test_cross_validation_refuses_them_before_the_first_fold(data):
    class Never(rf.LambdaMART):
        def fit(self, *arguments, **options):
            raise AssertionError("it was fitted")

    with pytest.raises(MeasureError, match="both written"):
        rf.cross_validate(Never(), data, [FLAT, STEEP], folds=2, progress=False)


def test_the_same_code_is_the_same_measure(data, scores):
    alone = rf.evaluate(scores, data, STEEP).mean[STEEP]
    both = rf.evaluate(scores, data, [STEEP, STEEP_AGAIN])
    assert both.measures == (str(STEEP),)
    assert both.mean[STEEP] == both.mean[STEEP_AGAIN] == both.mean[str(STEEP)] == alone
    assert rf.evaluate(scores, data, [own_measure(3)(), own_measure(3)()]).measures == ("Hits",)


def test_a_result_is_not_handed_out_for_another_measure(data, scores):
    flat, steep = rf.evaluate(scores, data, FLAT), rf.evaluate(scores, data, STEEP)
    assert flat.mean[FLAT] != steep.mean[STEEP]
    for asked in (lambda: flat.mean[STEEP], lambda: flat.explain(data.query_ids[0], STEEP)):
        with pytest.raises(KeyError, match=r"another .* was evaluated: they differ in power"):
            asked()
    assert flat.mean[str(STEEP)] == flat.mean[FLAT]  # as text it is the one that is there
    with pytest.raises(SettingsError, match="different measures that are both written"):
        rf.compare(flat, steep)
    comparison = rf.compare(steep, rf.evaluate(-scores, data, STEEP_AGAIN))
    assert comparison.difference[STEEP] == comparison.difference[STEEP_AGAIN]
    with pytest.raises(KeyError, match="another"):
        comparison.t_test[FLAT]


POWER = 1.0


def global_gain(labels):
    return labels**POWER


def test_what_a_function_reads_may_change(data, scores, monkeypatch):
    measure = rf.NDCG(gain=global_gain)
    first = rf.evaluate(scores, data, measure)
    assert judged(data, measure) is judged(data, measure)
    monkeypatch.setitem(globals(), "POWER", 4.0)
    assert rf.evaluate(scores, data, measure).mean[measure] == rf.evaluate(scores, data, STEEP).mean[STEEP]
    monkeypatch.undo()
    assert rf.evaluate(scores, data, measure).mean[measure] == first.mean[measure]


def test_what_cannot_be_compared_is_computed_anew(data, scores):
    def reading(labels, stream=iter([1, 4])):  # noqa: B008  # a state that nobody can see
        return labels ** next(stream)

    measure = rf.NDCG(gain=reading)
    first, second = (rf.evaluate(scores, data, measure).mean[measure] for _ in range(2))
    assert first == rf.evaluate(scores, data, FLAT).mean[FLAT]
    assert second == rf.evaluate(scores, data, STEEP).mean[STEEP]


def test_lambda_functions_written_alike(data, scores):
    with pytest.raises(SettingsError, match="both written Own"):
        rf.diagnostics.effective_pairs(
            data, scores, "NDCG", lambda_function=[own_lambda_function(1.0)(), own_lambda_function(2.0)()]
        )


def test_one_measure_in_several_terms_keeps_its_numbers(data):
    data = data.with_label("clicks", data.labels["grades"][::-1].copy())
    graded = rf.Graded(["NDCG", rf.Term("NDCG:clicks"), rf.Term("NDCG:clicks", lambda_function="Step", rule="all")])
    agreement = rf.diagnostics.ForceAgreement(graded)
    rf.LambdaMART(n_trees=2, min_documents=3, progress=False).fit(data, instruments=[agreement])
    assert list(agreement.columns)[1:] == [
        "NDCG:clicks", "NDCG:clicks, all pairs", "NDCG:clicks (term 3)", "NDCG:clicks (term 3), all pairs",
    ]  # fmt: skip


class Plain:
    def __call__(self, labels):
        return labels


class Shown(Plain):
    def __repr__(self):
        return "Shown()"


def test_names_hold_no_addresses():
    assert name_of(Plain()) == "Plain"
    assert name_of(Shown()) == "Shown()"
    assert name_of(np.log1p) == "log1p"
    assert name_of(functools.partial(with_power, 2, power=Plain())) == "partial(with_power, 2, power=Plain)"
    assert name_of(Plain().__call__) == "Plain.__call__"
    assert " at 0x" not in name_of(np.vectorize(with_power(1)))
    assert str(rf.NDCG(gain=Plain())) == "NDCG(gain=Plain)"
    assert rf.evaluate([1.0], rf.Dataset([[1.0]], [1], [1]), rf.NDCG(gain=Plain())).to_dict()["measures"]


def named_as_built_in(base, name):
    """A user's class with the name of a built-in measure: what the document on top is worth."""

    def normaliser(self, ideal):
        return 1.0 if ideal.shape[0] > 0 and ideal[0] > 0.0 else 0.0

    def value(self, ranked, normaliser):
        return ranked[0]

    return type(name, (base,), {"__module__": __name__, "normaliser": normaliser, "value": value})


@pytest.mark.parametrize("name", ["MAP", "NDCG", "Precision"])
def test_a_class_named_as_a_built_in_one_is_evaluated_as_what_it_is(data, name):
    own = named_as_built_in(rf.Measure, name)()
    result = rf.evaluate("1", data, own)
    assert dict(result.mean) == {name: rf.evaluate("1", data, own_measure(1)()).mean["Hits"]}
    assert "elsewhere" not in str(result)  # other tools know no such measure
    assert "elsewhere" not in str(rf.compare({"a": "1", "b": "2"}, data, own))


@pytest.mark.parametrize("name", ["RPrecision", "NDCG"])
def test_no_convention_computes_a_class_named_as_a_built_in_one(data, name):
    own = named_as_built_in(rf.BinaryMeasure, name)()
    with_ids = data.replace(document_ids=[f"d{row}" for row in range(data.n_documents)])
    with pytest.raises(SettingsError, match=f"trec_eval computes {name}, a class of your own and not rf.{name} "):
        rf.evaluate("1", with_ids, own, convention="trec")


def test_a_clash_with_a_built_in_measure_says_whose_class_it_is(data):
    own = named_as_built_in(rf.Measure, "NDCG")()
    for measures in ([own, "NDCG"], ["NDCG", own]):
        with pytest.raises(
            MeasureError, match=r"NDCG is asked for twice, .* class of your own .* another name"
        ) as told:
            rf.evaluate("1", data, measures)
        assert "__" not in str(told.value)
