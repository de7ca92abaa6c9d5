"""Settings of rankers as data: declared once, checked by ``fit``, described, and kept as they are given."""

from __future__ import annotations

import inspect
import re
import warnings

import pytest
from sklearn.base import clone

import rankforce as rf
from rankforce.errors import UnknownArgumentError
from rankforce.kinds import OrNone, Switch
from rankforce.rankers.catalogue import ranker_classes
from rankforce.training.settings import kinds_of

RANKERS = ranker_classes()
SETTINGS = [(name, setting) for name, kind in RANKERS.items() for setting in kinds_of(kind)]
SWITCHES = [(name, setting) for name, setting in SETTINGS if isinstance(kinds_of(RANKERS[name])[setting], Switch)]
NAMED = {
    "validation_measure": "measure",
    "cost": "cost must be",
    "lambda_function": "λ-function",
    "target": "target|measure",
}
POSITIONAL = {
    "Bagging": ["ranker", "n_models", "query_fraction"],
    "MART": ["cost"],
    "PRank": ["kernel"],
    "RankNet": ["hidden"],
}


@pytest.fixture(scope="module")
def data():
    return rf.make_artificial(queries=20, documents=8, features=4, seed=1)


@pytest.mark.parametrize("name", RANKERS)
def test_signatures_have_the_first_settings_by_position_and_all_in_a_fixed_order(name):
    parameters = list(inspect.signature(RANKERS[name]).parameters.values())
    positional = [one.name for one in parameters if one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    assert positional == POSITIONAL.get(name, ["measure"])
    assert [one.name for one in parameters] == list(kinds_of(RANKERS[name]))
    last = ["seed", "threads", "progress"]
    assert [one.name for one in parameters][-len(last) :] == last


def test_the_order_of_lambdamarts_settings():
    assert " ".join(kinds_of(rf.LambdaMART)) == (
        "measure n_trees n_leaves learning_rate min_documents preset split step sigma max_step anchor l2 min_gain "
        "max_depth growth max_bins normalise pairs feature_fraction query_fraction monotone lambda_function objective "
        "category_smoothing base_model early_stopping line_search line_search_on validation_measure memory "
        "seed threads progress"
    )


@pytest.mark.parametrize(("name", "setting"), SETTINGS)
def test_every_setting_is_described(name, setting):
    described = RANKERS[name].__doc__.partition("Parameters\n")[2]
    heads = re.findall(r"^    (\w[^:\n]*)", described, flags=re.M)  # what it says of them is indented further
    assert setting in {word for head in heads for word in re.split(r"[,\s]+", head)}


@pytest.mark.parametrize(("name", "setting"), SETTINGS)
def test_every_setting_is_checked_before_any_work(name, setting):
    kind = RANKERS[name]
    with pytest.raises(rf.RankforceError, match=NAMED.get(setting, setting)):
        kind(**{setting: object()}).fit(None)  # None is no data, but nobody has looked at it yet
    if not isinstance(kinds_of(kind)[setting], OrNone):
        with pytest.raises(rf.RankforceError, match="None"):
            kind(**{setting: None}).fit(None)
    with pytest.raises(rf.DataError):
        kind().fit(None)


def test_there_are_switches_and_words_are_none():
    assert {"large_margin", "equal_grades", "keep_weights", "progress"} == {setting for _, setting in SWITCHES}


@pytest.mark.parametrize(("name", "setting"), SWITCHES)
@pytest.mark.parametrize("value", ["false", "False", 0, 1, None, [], 0.0])
def test_switches_are_true_or_false(data, name, setting, value):
    with pytest.raises(rf.SettingsError, match=f"{setting} must be True or False, not {re.escape(repr(value))}"):
        RANKERS[name](**{setting: value}).fit(data)


@pytest.mark.parametrize("huge", [10**30, 10**400])
def test_numbers_that_are_too_large_say_so(data, huge):
    with pytest.raises(rf.SettingsError, match="n_trees must be a whole number of at least 1 and at most 2147483647"):
        rf.LambdaMART(n_trees=huge).fit(data)


def test_settings_are_kept_as_they_are_given():
    measure, monotone = rf.NDCG(5), [1, 0]
    ranker = rf.LambdaMART(measure, monotone=monotone, n_trees="many")
    assert (ranker.measure, ranker.monotone, ranker.n_trees) == (measure, monotone, "many")
    assert ranker.monotone is monotone
    assert clone(rf.LambdaMART("MAP", n_leaves=3)).get_params() == rf.LambdaMART("MAP", n_leaves=3).get_params()
    assert repr(rf.PRank(epochs=3)) == "PRank(epochs=3)"
    assert "PRank" in rf.PRank(epochs=3)._repr_html_()
    assert rf.LambdaMART() != rf.LambdaMART()


class Louder(rf.LambdaMART):
    """A ranker of the user's, with a constructor as scikit-learn wants it."""

    def __init__(self, loudness=1, n_trees=2):
        super().__init__(n_trees=n_trees, min_documents=2, progress=False)
        self.loudness = loudness


def test_rankers_of_users_may_have_their_own_constructor(data):
    assert clone(Louder(3)).fit(data).get_params() == {"loudness": 3, "n_trees": 2}
    with pytest.raises(rf.SettingsError, match="n_trees must be"):
        Louder(n_trees=0).fit(data)


@pytest.mark.parametrize(
    ("name", "theirs", "ours"),
    [
        ("LambdaMART", "n_estimators", "that is n_trees here"),
        ("LambdaMART", "num_boost_round", "that is n_trees here"),
        ("LambdaMART", "iterations", "that is n_trees here"),
        ("LambdaMART", "eval_at", "that is validation_measure here"),
        ("LambdaMART", "label_gain", "that is measure here"),
        ("LambdaMART", "num_leaves", "that is n_leaves here"),
        ("LambdaMART", "lambda_l2", "that is l2 here"),
        ("LambdaMART", "reg_lambda", "that is l2 here"),
        ("LambdaMART", "max_bin", "that is max_bins here"),
        ("LambdaMART", "metric", "that is validation_measure here"),
        ("LambdaMART", "random_state", "that is seed here"),
        ("LambdaMART", "n_jobs", "that is threads here"),
        ("LambdaMART", "verbose", "that is progress here"),
        ("LambdaMART", "min_child_samples", "that is min_documents here"),
        ("LambdaMART", "eval_set", "give it to fit, as validation="),
        ("MART", "objective", "that is cost here"),
        ("LambdaMART", "cost", "that is lambda_function here"),
        ("LambdaRank", "cost", "that is lambda_function here"),
        ("RankNet", "n_estimators", "that is epochs here"),
        ("Bagging", "estimator", "that is ranker here"),
        ("PRank", "larg_margin", "did you mean large_margin?"),
        ("PRank", "zzz", "has no setting 'zzz'. It has: "),
    ],
)
def test_other_libraries_names_are_understood_well_enough_to_name_ours(name, theirs, ours):
    with pytest.raises(UnknownArgumentError, match=re.escape(ours)) as caught:
        RANKERS[name](**{theirs: 1})
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, rf.SettingsError)
    with pytest.raises(rf.SettingsError, match=re.escape(ours)):
        RANKERS[name]().set_params(**{theirs: 1})


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("eval_set", "that is validation here"),
        ("sample_weight", "that is weights here"),
        ("early_stopping_rounds", "it is a setting of rankers, early_stopping=, not of fit"),
        ("valdation", "did you mean validation?"),
    ],
)
def test_keywords_of_fit(data, theirs, ours):
    for kind in (rf.LambdaMART, rf.MART, rf.RankNet, rf.XRank, rf.Bagging):
        with pytest.raises(UnknownArgumentError, match=re.escape(ours)):
            kind().fit(data, **{theirs: None})


def test_missing_arguments_are_pythons_business():
    with pytest.raises(TypeError, match="positional argument"):
        rf.LambdaMART("NDCG", 3)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        rf.LambdaMART().fit()


def test_warnings_of_fit_name_the_line_that_called_it(data):
    constant = rf.Dataset(data.features * 0, data.labels["grades"], data.qid)
    for ranker in (rf.LambdaMART(progress=False), rf.LambdaRank(epochs=1, progress=False), rf.XRank(progress=False)):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            ranker.fit(constant)
        assert {warning.filename for warning in told} == {__file__}
