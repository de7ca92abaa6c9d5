"""What every measure must satisfy. Measures are discovered: a new file is tested at once, in several settings."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from pathlib import Path

import numpy as np
import pytest

import rankforce as rf
from rankforce.compiling.jit import PLAIN
from rankforce.kernels.ranking.ordering import order_documents
from rankforce.kernels.ranking.swaps import swap_changes
from rankforce.kernels.ranking.values import query_expected_values
from rankforce.measures.catalogue import measure_classes
from rankforce.measures.judged import JudgedMeasure

MORE_SETTINGS = (
    "NDCG@3(gain=linear,discount=letor)",
    "NDCG@4(gain=0/3/7/15/31)",
    "DCG@2(gain=linear)",
    "MAP@2(divisor=cutoff,relevant=2)",
    "Precision@4(divisor=list)",
    "ERR@3(max_grade=9)",
    "RBP@3(persistence=0.4)",
    "CNDCG@3(max_grade=2):clicks",
)


def settings_of(measure_class):
    """The default, a few cut-offs, every choice, another threshold: whatever the class has."""
    fields = {field.name: field for field in dataclasses.fields(measure_class)}
    required = {"label": "clicks"} if fields["label"].default is dataclasses.MISSING else {}
    variations = [{}]
    if "cutoff" in fields:
        variations += [{"cutoff": cutoff} for cutoff in (1, 2, 4)]
    if "relevant" in fields:
        variations.append({"relevant": 2.0})
    for name, field in fields.items():
        for option in field.metadata.get("choices", ())[1:]:
            variations.append({name: option})
            if "cutoff" in fields:
                variations.append({name: option, "cutoff": 3})
    return [measure_class(**required, **variation) for variation in variations]


ALL = [one for measure_class in measure_classes().values() for one in settings_of(measure_class)]
ALL += [rf.measure(written) for written in MORE_SETTINGS]
every_setting = pytest.mark.parametrize("measure", ALL, ids=str)
every_class = pytest.mark.parametrize("measure_class", measure_classes().values(), ids=measure_classes())


# Measures whose mean over the orders of tied documents has no closed form: evaluation samples it.
WITHOUT_CLOSED_FORM = ()


def gives_expected_value(measure):
    return hasattr(measure.Kernel, "expected_value")


def worth_of(measure, grades):
    """Worth of grades 0, 1, 2, ...; as rates for a measure that takes nothing above 1."""
    try:
        return measure.worth(grades)
    except rf.MeasureError:
        return measure.worth(grades / 4.0)


def normaliser_of(measure, worth):
    return float(measure.kernel_tuple().normaliser(np.sort(worth)[::-1].copy()))


def all_changes(measure, ranked, normaliser):
    """Every swap of one ranking, compiled."""
    columns = np.empty((max(1, measure.column_count(ranked)), len(ranked)))
    out = np.empty((len(ranked), len(ranked)))
    swap_changes(measure.kernel_tuple(), ranked, normaliser, columns, out)
    return out


@functools.cache
def patterns(length, grades):
    """Every list of grades of a length, as rows in lexicographic order."""
    return np.array(list(itertools.product(range(grades), repeat=length)), dtype=float)


LISTS = [(length, 3) for length in range(1, 5 if PLAIN else 7)] + [
    (length, 5) for length in range(2, 4 if PLAIN else 5)
]


@functools.cache
def value_table(measure, length, grades):
    """(worth, normaliser, value) of every list of grades, in plain Python; NaN for the value of blank ones."""
    worth = worth_of(measure, patterns(length, grades).ravel()).reshape(-1, length)
    kernel = measure.kernel_tuple()
    normalisers = np.array([normaliser_of(measure, row) for row in worth])
    values = [kernel.value(row, n) if n else np.nan for row, n in zip(worth, normalisers, strict=True)]
    return worth, normalisers, np.array(values)


def true_change(measure, change):
    """What the swap is meant to be: the change itself, but for MRR's one-sided option."""
    return np.maximum(change, 0.0) if getattr(measure, "swaps", "all") == "upward" else change


@every_setting
def test_swap_is_value_after_minus_before_on_every_short_list(measure):
    for length, grades in LISTS:
        worth, normalisers, values = value_table(measure, length, grades)
        scored = np.flatnonzero(normalisers)
        changes = [all_changes(measure, worth[number], normalisers[number]) for number in scored]
        # lists are numbers with one digit per rank: swapping a and b adds (digit_a − digit_b)(power_b − power_a)
        digits = patterns(length, grades)[scored].astype(int)
        power = grades ** np.arange(length - 1, -1, -1)
        added = (digits[:, :, None] - digits[:, None, :]) * (power[None, :] - power[:, None])
        before = values[scored][:, None, None]
        wanted = true_change(measure, values[scored[:, None, None] + added] - before)
        np.testing.assert_allclose(np.reshape(changes, wanted.shape), wanted, rtol=0, atol=2e-13)
    assert len(scored) > 5


@every_setting
@pytest.mark.parametrize("length", [17, 41])
def test_swap_is_value_after_minus_before_on_longer_lists(measure, length):
    rng = np.random.default_rng(length)
    grades = rng.choice(5, size=length, p=[0.5, 0.2, 0.1, 0.1, 0.1]).astype(float)
    if not measure.leaves_out_unlabelled:
        grades[rng.random(length) < 0.2] = np.nan
    worth = worth_of(measure, grades)
    normaliser = normaliser_of(measure, worth)
    kernel = measure.kernel_tuple()
    before = kernel.value(worth, normaliser)
    change = all_changes(measure, worth, normaliser)
    for a, b in itertools.combinations(range(length), 2):
        swapped = worth.copy()
        swapped[[a, b]] = swapped[[b, a]]
        wanted = true_change(measure, kernel.value(swapped, normaliser) - before)
        assert change[a, b] == pytest.approx(wanted, abs=1e-13 * max(1.0, abs(before)))


@every_setting
def test_swap_delta_takes_the_two_documents_in_any_order(measure):
    if measure.swap_kind != "columns":
        pytest.skip("not given by columns")
    worth = worth_of(measure, np.array([0.0, 2.0, 1.0, 0.0, 3.0, 1.0, 0.0]))
    normaliser = normaliser_of(measure, worth)
    columns = np.empty((measure.COLUMNS, len(worth)))
    kernel = measure.kernel_tuple()
    kernel.prepare(worth, normaliser, columns)
    for a, b in itertools.combinations(range(len(worth)), 2):
        one, other = tuple(columns[:, a]), tuple(columns[:, b])
        assert kernel.swap_delta(one, other) == kernel.swap_delta(other, one)


@every_setting
def test_neighbours_that_swap_again_and_again_keep_the_value(measure):
    rng = np.random.default_rng(3)
    ranked = worth_of(measure, rng.choice(5, size=15, p=[0.4, 0.3, 0.1, 0.1, 0.1]).astype(float))
    normaliser = normaliser_of(measure, ranked)
    kernel = measure.kernel_tuple()
    running = np.zeros(len(ranked))
    kernel.prepare_neighbours(ranked, normaliser, running)
    for r in rng.integers(0, len(ranked) - 1, 200):
        if ranked[r] == ranked[r + 1]:
            continue
        before = kernel.value(ranked, normaliser)
        change = kernel.swap_neighbours(ranked, normaliser, running, r)
        ranked[[r, r + 1]] = ranked[[r + 1, r]]
        assert change == pytest.approx(kernel.value(ranked, normaliser) - before, abs=1e-13 * max(1.0, abs(before)))
        anew = np.zeros(len(ranked))
        kernel.prepare_neighbours(ranked, normaliser, anew)
        np.testing.assert_allclose(running, anew, rtol=1e-12, atol=0)


@every_setting
def test_the_ideal_order_is_best(measure):
    for length, grades in LISTS:
        worth, _, values = value_table(measure, length, grades)
        multisets = np.sort(patterns(length, grades), axis=1)[:, ::-1]
        ideal = multisets.astype(int) @ grades ** np.arange(length - 1, -1, -1)
        scored = ~np.isnan(values)
        assert (values[scored] <= values[ideal[scored]] + 1e-12).all()
        np.testing.assert_array_equal(np.sort(worth, axis=1), np.sort(worth[ideal], axis=1))


@every_setting
def test_values_stay_in_their_range(measure):
    for length, grades in LISTS:
        values = value_table(measure, length, grades)[2]
        values = values[~np.isnan(values)]
        assert (values >= measure.LOWEST - 1e-12).all()
        assert (values <= measure.HIGHEST + 1e-12).all()
        assert np.isfinite(values).all()


def some_data(seed):
    """Queries of several lengths, some blank, some documents unlabelled, and clicks."""
    rng = np.random.default_rng(seed)
    sizes = np.array([1, 2, 3, 5, 8, 13, 21])
    n = sizes.sum()
    grades = rng.choice(5, size=n, p=[0.4, 0.3, 0.1, 0.1, 0.1]).astype(float)
    grades[rng.random(n) < 0.15] = np.nan
    grades[3:6] = 0.0
    grades[1:3] = np.nan
    clicks = np.round(rng.random(n), 1)
    clicks[rng.random(n) < 0.15] = np.nan
    return rf.Dataset(rng.random((n, 1)), grades, group=sizes, labels={"clicks": clicks})


@every_setting
def test_compiled_equals_plain(measure):
    data = some_data(seed=1)
    judged = JudgedMeasure(data, measure)
    kernel = judged.kernel_tuple
    scores = np.round(np.random.default_rng(2).random(len(judged.worth)), 1)
    order = np.empty(len(scores), dtype=np.int32)
    no_ties = np.arange(len(scores), dtype=np.uint64)
    order_documents(scores, no_ties, judged.starts, 0, data.n_queries, order)
    values = judged.values(order)
    expected = np.full(data.n_queries, np.nan)
    if gives_expected_value(measure):
        query_expected_values(
            kernel, judged.worth, order, scores, judged.normalisers, judged.starts, 0, data.n_queries, expected
        )
    blank = 0
    for q in range(data.n_queries):
        documents = order[judged.starts[q] : judged.starts[q + 1]]
        labelled = judged.worth[documents][~np.isnan(judged.labels[documents])]
        normaliser = kernel.normaliser(np.sort(labelled)[::-1].copy())
        assert judged.normalisers[q] == pytest.approx(normaliser, rel=1e-14)
        if normaliser == 0:
            assert np.isnan(values[q])
            assert np.isnan(expected[q])
            blank += 1
            continue
        ranked = judged.worth[documents]
        assert values[q] == pytest.approx(kernel.value(ranked, normaliser), rel=1e-13)
        if gives_expected_value(measure):
            tie_ends = np.searchsorted(-scores[documents], -scores[documents], side="right")
            plain = kernel.expected_value(ranked, tie_ends, normaliser)
            assert expected[q] == pytest.approx(plain, rel=1e-12, abs=1e-14)
    assert blank < data.n_queries


@every_class
def test_measures_with_a_closed_form_give_it(measure_class):
    assert hasattr(measure_class, "expected_value") == (measure_class.__name__ not in WITHOUT_CLOSED_FORM)


@every_setting
def test_expected_value_is_the_mean_over_all_orders_of_ties(measure):
    if not gives_expected_value(measure):
        pytest.skip("no closed form: evaluation samples")
    if getattr(measure, "variant", "a") == "b":
        pytest.skip("τ_b with ties is defined otherwise: see test_kendall_tau.py")
    rng = np.random.default_rng(3)
    kernel = measure.kernel_tuple()
    for sizes in [(1,), (4,), (1, 3), (3, 1, 1), (2, 2, 1), (1, 5), (1, 1, 1)]:
        worth = worth_of(measure, rng.choice(4, size=sum(sizes)).astype(float))
        normaliser = normaliser_of(measure, worth)
        if normaliser == 0.0:
            continue
        ends = np.cumsum(sizes)
        blocks = [worth[end - size : end] for size, end in zip(sizes, ends, strict=True)]
        orders = itertools.product(*(itertools.permutations(block) for block in blocks))
        values = [kernel.value(np.concatenate(order), normaliser) for order in orders]
        tie_ends = np.repeat(ends, sizes)
        mean = kernel.expected_value(worth, tie_ends, normaliser)
        assert mean == pytest.approx(np.mean(values), rel=1e-12, abs=1e-14)


@every_setting
def test_written_form_is_read_back(measure):
    assert rf.measure(str(measure)) == measure
    assert hash(rf.measure(str(measure))) == hash(measure)
    assert repr(measure) == str(measure)
    assert len(str(measure)) < 60
    elsewhere = measure.with_label("other")
    assert rf.measure(str(elsewhere)) == elsewhere != measure


def test_settings_differ():
    assert len(set(ALL)) == len(ALL) == len(set(map(str, ALL)))


@every_class
def test_aliases_are_read(measure_class):
    suffix = ":clicks" if measure_class.__name__ == "CNDCG" else ""
    for alias in measure_class.ALIASES:
        assert type(rf.measure(alias + suffix)) is measure_class


@every_class
def test_is_documented(measure_class):
    assert len(measure_class.__doc__) > 60
    page = (Path(__file__).parents[2] / "docs" / "measures.md").read_text()
    section = page.partition(f"### {measure_class.__name__}\n")[2].partition("\n### ")[0]
    assert len(section) > 100, f"docs/measures.md has no section on {measure_class.__name__}"
    for alias in measure_class.ALIASES:
        assert f"`{alias}`" in section
    for field in dataclasses.fields(measure_class):
        if field.init and field.name not in ("label", "judged_only"):
            assert f"`{field.name}" in section, f"docs/measures.md does not explain {field.name}"


@every_class
def test_is_a_public_name(measure_class):
    assert getattr(rf, measure_class.__name__) is measure_class
    assert measure_class.__name__ in dir(rf)


@every_class
def test_cutoff_must_be_positive_and_whole(measure_class):
    if "cutoff" not in measure_class.__dataclass_fields__:
        with pytest.raises(rf.MeasureError, match="has no cut-off"):
            rf.measure(f"{measure_class.__name__}@3")
        return
    required = {"label": "clicks"} if measure_class.__name__ == "CNDCG" else {}
    for bad in (0, -1, 2.5, "ten"):
        with pytest.raises(rf.RankforceError, match=r"cut-off|cutoff"):
            measure_class(cutoff=bad, **required)


@every_class
def test_unknown_parameters_are_named(measure_class):
    with pytest.raises(rf.MeasureError, match="has no parameter 'persistance'"):
        rf.measure(f"{measure_class.__name__}(persistance=1)")


@every_setting
def test_no_documents_are_a_blank_query(measure):
    if type(measure) is not rf.Judged:  # which is about unlabelled documents
        assert measure.kernel_tuple().normaliser(np.empty(0)) == 0.0
