"""Pictures: what is drawn is the data of the result, labels say the measure and the policies, files are written."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf

pytest.importorskip("matplotlib")
pytestmark = pytest.mark.compiled_only

from matplotlib import colors, pyplot  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402

from rankforce.plot.canvas import BETTER, PALETTE, WORSE  # noqa: E402
from rankforce.plot.trade_offs import undominated  # noqa: E402

TRAIN, VALIDATION = rf.make_artificial(queries=40, documents=8, features=5, clicks=True, seed=2).split(0.5, 0.5)
SMALL: dict[str, Any] = {"n_trees": 4, "n_leaves": 4, "min_documents": 3, "progress": False}


@pytest.fixture(scope="module")
def ranker() -> Any:
    return rf.LambdaMART("NDCG@5", **SMALL).fit(TRAIN, validation=VALIDATION)


@pytest.fixture(scope="module")
def compared() -> Any:
    return rf.compare("1", "2", VALIDATION, ["NDCG@5", "MAP"], names=("old", "new"))


@pytest.fixture(scope="module")
def searched() -> Any:
    graded = rf.LambdaMART(objective=rf.Graded(["NDCG@5", "CNDCG:clicks"], "search"), **SMALL | {"n_trees": 1})
    return rf.search_weights(graded, TRAIN, VALIDATION, shares=[0.2, 0.6])


@pytest.fixture(scope="module")
def tuned() -> Any:
    ranker = rf.LambdaMART("NDCG@5", **SMALL | {"n_trees": 1})
    return rf.tune(ranker, TRAIN, {"n_leaves": [2, 3, 4]}, method="grid", folds=2, refit=False, progress=False)


@pytest.fixture(autouse=True)
def no_figure_stays_open() -> Iterator[None]:
    yield
    pyplot.close("all")


def texts(axes: Any) -> str:
    small = [text.get_text() for text in axes.texts]
    return " | ".join([axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel(), *small])


def lines(axes: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in axes.lines}


def test_a_history_is_drawn_as_it_was_recorded(ranker: Any) -> None:
    axes = rf.plot.history(ranker)
    drawn = lines(axes)
    for part, values in ranker.history_.items():
        np.testing.assert_array_equal(drawn[part].get_xdata(), np.arange(1, 5))
        np.testing.assert_array_equal(drawn[part].get_ydata(), values)
    best = [line for line in axes.lines if line.get_marker() == "o"]
    peaks = [(1 + int(np.argmax(values)), max(values)) for values in ranker.history_.values()]
    assert sorted((line.get_xdata()[0], line.get_ydata()[0]) for line in best) == sorted(peaks)
    assert "NDCG@5" in axes.get_ylabel()
    assert "ties: hashed" in texts(axes)


def test_histories_of_several_are_told_apart(ranker: Any) -> None:
    axes = rf.plot.history({"one": ranker, "two": ranker.model_, "card": rf.model_card(ranker)})
    names = {label for label in lines(axes) if not label.startswith("_")}
    assert names == {f"{name}, {part}" for name in ("one", "two", "card") for part in ("train", "validation")}


def test_trainings_have_a_line_each_against_iterations_or_seconds(ranker: Any) -> None:
    other = rf.LambdaMART("NDCG@5", **SMALL, learning_rate=0.3).fit(TRAIN)
    axes = rf.plot.curves([ranker, other])
    drawn = lines(axes)
    names = ["LambdaMART", "LambdaMART(learning_rate=0.3), train"]
    assert [name for name in drawn if not name.startswith("_")] == names
    np.testing.assert_array_equal(drawn[names[0]].get_ydata(), ranker.history_["validation"])
    np.testing.assert_array_equal(drawn[names[1]].get_ydata(), other.history_["train"])
    np.testing.assert_array_equal(drawn[names[0]].get_xdata(), np.arange(1, 5))
    timed = lines(rf.plot.curves({"a": ranker, "b": other}, "seconds"))
    np.testing.assert_array_equal(timed["a"].get_xdata(), ranker.seconds_)
    assert np.all(np.diff(ranker.seconds_) > 0.0)
    twins = lines(rf.plot.curves([ranker, ranker]))
    assert [name for name in twins if not name.startswith("_")] == ["LambdaMART", "LambdaMART (2)"]
    many = lines(rf.plot.curves({str(number): ranker for number in range(len(PALETTE) + 1)}))
    assert (many["0"].get_color(), many["0"].get_linestyle()) != (many["7"].get_color(), many["7"].get_linestyle())
    with pytest.raises(rf.SettingsError, match="seconds are known of a ranker"):
        rf.plot.curves({"a": ranker.model_}, "seconds")
    for nothing in ([], {}, [ranker.model_]):
        with pytest.raises(rf.SettingsError, match="several fitted rankers"):
            rf.plot.curves(nothing)


def test_differences_have_their_intervals_and_what_is_significant_is_filled(compared: Any) -> None:
    axes = rf.plot.comparison(compared)
    for place, (name, container) in enumerate(zip(compared.measures, axes.containers, strict=True)):
        dot, _, (bars,) = container.lines
        assert dot.get_xdata()[0] == compared.difference[name]
        assert dot.get_ydata()[0] == place
        np.testing.assert_allclose(np.sort(bars.get_segments()[0][:, 0]), compared.interval[name])
        assert (dot.get_markerfacecolor() != "none") == (compared.holm[name] < 0.05)
    assert [label.get_text() for label in axes.get_yticklabels()] == list(compared.measures)
    assert "new − old" in axes.get_xlabel()
    assert "blank queries: skipped" in texts(axes)
    assert len(rf.plot.comparison(compared, "MAP").containers) == 1


def test_a_leaderboard_is_drawn_by_its_means() -> None:
    board = rf.compare({name: name for name in "123"}, VALIDATION, ["MAP", "NDCG@5"])
    axes = rf.plot.comparison(board, "NDCG@5")
    means = [container.lines[0].get_xdata()[0] for container in axes.containers]
    assert means == [board.evaluations[name].mean["NDCG@5"] for name in "123"]
    filled = [container.lines[0].get_markerfacecolor() != "none" for container in axes.containers]
    assert filled == [mean == max(means) for mean in means]


def test_queries_are_drawn_in_the_order_of_their_values(compared: Any) -> None:
    axes = rf.plot.per_query(compared, "MAP")
    differences = compared.b.per_query["MAP"] - compared.a.per_query["MAP"]
    expected = np.sort(differences[~np.isnan(differences)])
    bars = axes.patches
    np.testing.assert_array_equal([bar.get_height() for bar in bars], expected)
    signs = {colors.to_hex(bar.get_facecolor()).upper(): np.sign(bar.get_height()) for bar in bars}
    assert signs[BETTER] == 1.0
    assert signs[WORSE] == -1.0
    evaluation = compared.a
    axes = rf.plot.per_query(evaluation)
    values = evaluation.per_query["NDCG@5"]
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), np.sort(values[~np.isnan(values)]))
    assert axes.lines[1].get_ydata()[0] == evaluation.mean["NDCG@5"]


def test_importance_is_drawn_for_losses_contributions_and_gains(ranker: Any) -> None:
    losses = rf.importance(ranker, VALIDATION, "NDCG@5", permutations=1, progress=False)
    axes = rf.plot.importance(losses, most=3)
    permuted, removed = (container.lines[0] for container in axes.containers)
    np.testing.assert_array_equal(permuted.get_xdata(), [one.permuted for one in losses.losses[:3]])
    np.testing.assert_array_equal(removed.get_xdata(), [one.removed for one in losses.losses[:3]])
    ends = axes.containers[0].lines[2][0].get_segments()
    np.testing.assert_allclose(ends[0][:, 0], losses.losses[0].permuted_interval)
    assert "loss of NDCG@5" in axes.get_xlabel()
    contributions = rf.explain(ranker, VALIDATION)
    sizes = sorted(contributions.mean_absolute.values(), reverse=True)
    np.testing.assert_allclose([bar.get_width() for bar in rf.plot.importance(contributions).patches], sizes)
    gains = sorted((100.0 * one.gain for one in rf.model_card(ranker).features), reverse=True)
    for of in (ranker, ranker.model_, rf.model_card(ranker)):
        np.testing.assert_allclose([bar.get_width() for bar in rf.plot.importance(of).patches], gains)


def test_dependence_has_a_dot_per_document_and_missing_values_apart(ranker: Any) -> None:
    features = VALIDATION.features.copy()
    features[::7, 1] = np.nan
    table = rf.explain(ranker, VALIDATION.replace(features=features))
    axes = rf.plot.dependence(table, VALIDATION.feature_names[1])
    points = table.dependence(VALIDATION.feature_names[1])
    known = ~np.isnan(points.values)
    _, drawn, missing = axes.lines
    np.testing.assert_array_equal(drawn.get_xdata(), points.values[known])
    np.testing.assert_array_equal(drawn.get_ydata(), points.contributions[known])
    np.testing.assert_array_equal(missing.get_ydata(), points.contributions[~known])
    assert (missing.get_xdata() < points.values[known].min()).all()
    sizes = table.mean_absolute
    assert rf.plot.dependence(table).get_xlabel() == max(sizes, key=lambda name: sizes[name])


def test_trials_are_drawn_in_turn_or_against_a_setting(tuned: Any) -> None:
    values = [trial.value for trial in tuned.trials]
    drawn = lines(rf.plot.tuning(tuned))
    np.testing.assert_array_equal(drawn["trial"].get_ydata(), values)
    np.testing.assert_array_equal(drawn["best so far"].get_ydata(), np.maximum.accumulate(values))
    axes = rf.plot.tuning(tuned, "n_leaves")
    leaves = [trial.settings["n_leaves"] for trial in tuned.trials]
    np.testing.assert_array_equal(lines(axes)["trial"].get_xdata(), leaves)
    assert (lines(axes)["best"].get_xdata()[0], lines(axes)["best"].get_ydata()[0]) == (
        tuned.settings["n_leaves"],
        tuned.value,
    )
    assert axes.get_ylabel() == str(tuned.measure)
    with pytest.raises(rf.SettingsError, match=r"'depth' was not tried \(tried: n_leaves\)"):
        rf.plot.tuning(tuned, "depth")


def test_a_frontier_shows_all_that_was_tried_and_what_was_chosen(searched: Any) -> None:
    axes = rf.plot.frontier(searched)
    drawn = lines(axes)
    means = {one.means: one for one in searched.candidates}
    dots = {
        tuple(point): label
        for label in ("allowed", "an earlier tier is worse")
        if label in drawn
        for point in drawn[label].get_xydata().tolist()
    }
    assert set(dots) == set(means)
    assert all((dots[point] == "allowed") == one.allowed for point, one in means.items())
    (chosen,) = {one.means for one in searched.candidates if one.weights == searched.weights}
    assert tuple(drawn["chosen"].get_xydata()[0]) == chosen
    assert "NDCG@5" in axes.get_xlabel()
    assert "CNDCG:clicks" in axes.get_ylabel()


def test_points_that_none_beats_are_found_as_one_would_look_for_them() -> None:
    points = np.random.default_rng(0).integers(0, 5, (40, 2)).astype(float)
    expected = [not any((q >= p).all() and (q > p).any() for q in points) for p in points]
    np.testing.assert_array_equal(undominated(points), expected)


def test_forces_are_arrows_at_scores_and_ranks() -> None:
    found = rf.forces_at(TRAIN, "1", "NDCG@5")
    query = TRAIN.query_ids[3]
    axes = rf.plot.forces(found, query)
    (arrows,) = (one for one in axes.collections if hasattr(one, "U"))
    rows = TRAIN.rows[TRAIN.query_starts[3] : TRAIN.query_starts[4]]
    rows = rows[np.argsort(found.ranks[rows])]
    np.testing.assert_array_equal(arrows.XY[:, 0], found.scores[rows])
    np.testing.assert_array_equal(arrows.XY[:, 1], found.ranks[rows])
    np.testing.assert_allclose(arrows.U / np.abs(arrows.U).max(), found.forces[rows] / np.abs(found.forces[rows]).max())
    assert not np.any(arrows.V)
    assert axes.get_ylim()[0] > axes.get_ylim()[1], "rank 1 stands on top"
    assert f"query {found.data.query_ids[found.strongest_query]}" in texts(rf.plot.forces(found))
    with pytest.raises(rf.DataError, match="there is no query"):
        rf.plot.forces(found, "nowhere")


def test_a_sweep_is_the_curve_of_the_combination() -> None:
    combined = rf.combine(["1", "2"], TRAIN, "NDCG@5")
    axes = rf.plot.sweep(combined)
    curve = combined.curve
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), np.column_stack([curve.starts, curve.ends]).ravel())
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), np.repeat(curve.highs, 2))
    assert axes.lines[1].get_xdata()[0] == combined.place
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("NDCG@5", "α, share of 2")
    several = rf.combine(["1", "2", "3"], TRAIN, "NDCG@5", starts=1)
    assert rf.plot.sweep(several, 3).lines[1].get_xdata()[0] == several.places[2]
    with pytest.raises(rf.SettingsError, match="there are 3 curves"):
        rf.plot.sweep(several, 4)


def test_a_moved_weight_has_a_curve_per_number_of_queries(ranker: Any) -> None:
    found = rf.diagnostics.smoothness(ranker, TRAIN, "NDCG@5", queries=(5, 20), points=5)
    drawn = lines(rf.plot.smoothness(found))
    for count, curve in found.curves.items():
        np.testing.assert_array_equal(drawn[f"{count:,} queries"].get_ydata(), curve)


def test_an_instrument_is_drawn_column_by_column() -> None:
    changes = rf.diagnostics.RankChanges()
    rf.LambdaMART("NDCG@5", **SMALL).fit(TRAIN, instruments=[changes])
    axes = changes.plot()
    columns = dict(changes.columns)
    iteration = columns.pop("iteration")
    for name, values in columns.items():
        np.testing.assert_array_equal(lines(axes)[name].get_xydata(), np.column_stack([iteration, values]))


def test_calibration_is_the_mean_label_of_documents_of_like_score() -> None:
    grades = TRAIN.labels["grades"]
    scores = grades + np.linspace(-0.2, 0.2, len(grades))
    axes = rf.plot.calibration(scores, TRAIN, bins=4)
    parts = np.array_split(np.argsort(scores, kind="stable"), 4)
    dots = axes.containers[0].lines[0]
    np.testing.assert_allclose(dots.get_xdata(), [scores[part].mean() for part in parts])
    np.testing.assert_allclose(dots.get_ydata(), [grades[part].mean() for part in parts])
    assert "score = label" in lines(axes)
    assert "score = label" not in lines(rf.plot.calibration(100.0 * scores, TRAIN))


def test_scores_of_every_grade_are_a_distribution() -> None:
    axes = rf.plot.score_distribution("1", TRAIN, bins=7)
    grades, scores = TRAIN.labels["grades"], TRAIN.features[:, 0].astype(float)
    for value, patch in zip(np.unique(grades), axes.patches, strict=True):
        counts, edges = np.histogram(scores[grades == value], np.histogram_bin_edges(scores, 7))
        np.testing.assert_allclose(patch.get_data().values, counts / counts.sum())
        np.testing.assert_allclose(patch.get_data().edges, edges)
    many = TRAIN.replace(labels={"real": np.linspace(0, 1, TRAIN.n_documents)})
    assert len(rf.plot.score_distribution("1", many, "real").patches) == 4


def test_results_draw_themselves(
    ranker: Any, compared: Any, searched: Any, tuned: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folds = rf.cross_validate(rf.LambdaMART("NDCG@5", **SMALL), TRAIN, "NDCG@5", folds=2, progress=False)
    results = {
        "history": (ranker, rf.model_card(ranker)),
        "per_query": (compared.a, folds),
        "comparison": (compared, rf.compare({name: name for name in "12"}, VALIDATION, "NDCG@5")),
        "frontier": (searched,),
        "tuning": (tuned,),
        "importance": (rf.explain(ranker, VALIDATION),),
        "forces": (rf.forces_at(TRAIN, "1"),),
        "sweep": (rf.combine(["1", "2"], TRAIN),),
    }
    for name, several in results.items():
        for one in several:
            called = []
            monkeypatch.setattr(rf.plot, name, lambda of, *rest, called=called, **options: called.append((of, options)))
            one.plot(path="x.png")
            ((of, options),) = called
            assert of is one
            assert options == {"ax": None, "path": "x.png"}
    monkeypatch.undo()
    assert rf.explain(ranker, VALIDATION).plot("1").get_xlabel() == "1"


DRAWN: dict[str, Callable[[Any], dict[str, Any]]] = {
    "history": lambda made: {"of": made},
    "calibration": lambda made: {"ranking": made, "data": VALIDATION},
    "forces": lambda made: {"of": rf.forces_at(VALIDATION, made)},
}


@pytest.mark.parametrize("name", DRAWN)
def test_every_picture_goes_where_it_is_told(ranker: Any, tmp_path: Path, name: str) -> None:
    draw, arguments = getattr(rf.plot, name), DRAWN[name](ranker)
    _, given = pyplot.subplots()
    assert draw(**arguments, ax=given) is given
    open_figures = pyplot.get_fignums()
    axes = draw(**arguments, path=tmp_path / "picture.svg")
    assert isinstance(axes, Axes)
    assert pyplot.get_fignums() == open_figures, "what goes into a file is not shown, too"
    assert "</svg>" in (tmp_path / "picture.svg").read_text()
    with pytest.raises(rf.SettingsError, match="a picture is drawn as"):
        draw(**arguments, path=tmp_path / "picture.doc")
    with pytest.raises(rf.SettingsError, match="ax must be axes of matplotlib"):
        draw(**arguments, ax=3)


@pytest.mark.parametrize("name", sorted(rf.plot.__all__))
def test_what_is_no_result_is_refused(name: str) -> None:
    for junk in (None, 3, "NDCG", rf.LambdaMART, rf.LambdaMART()):
        arguments = (junk, VALIDATION) if name in ("calibration", "score_distribution") else (junk,)
        with pytest.raises(rf.RankforceError):
            getattr(rf.plot, name)(*arguments)


def test_without_matplotlib_the_error_says_what_to_install(ranker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    importing = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return importing(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(rf.RankforceError, match=r"pip install '\.\[plot\]'"):
        rf.plot.history(ranker)


def test_colours_differ_in_lightness_or_hue_for_the_colour_blind() -> None:
    """Every two colours stay apart when red and green cones are one: as deuteranopes see them (Viénot and others)."""
    to_lms = np.array([[17.8824, 43.5161, 4.11935], [3.45565, 27.1554, 3.86714], [0.0299566, 0.184309, 1.46709]])
    seen = []
    for colour in PALETTE:
        lms = to_lms @ (np.array(colors.to_rgb(colour)) ** 2.2)
        lms[1] = 0.494207 * lms[0] + 1.24827 * lms[2]
        seen.append(np.clip(np.linalg.inv(to_lms) @ lms, 0, 1) ** (1 / 2.2))
    distances = [np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]]
    assert min(distances) > 0.1


def test_a_name_is_no_formula() -> None:
    data = VALIDATION.replace(feature_names=["$x_1$", "a\x1b[31m", "c", "d", "e"])
    axes = rf.plot.importance(rf.LambdaMART("NDCG@5", **SMALL).fit(data))
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert all("\x1b" not in name for name in names)
    axes.figure.savefig(Path("/dev/null"), format="png")
