"""Junk for every argument of every public callable, one at a time: it is taken, or refused by a RankforceError."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import fractions
import inspect
import random
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import rankforce as rf
from rankforce.lambdas.catalogue import lambda_function_classes
from rankforce.measures.catalogue import measure_classes
from rankforce.rankers.catalogue import ranker_classes


class Unequal:
    """Cannot be compared."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("hostile __eq__")


class Truthless:
    """Is neither true nor false."""

    def __bool__(self) -> bool:
        raise RuntimeError("hostile __bool__")


class NoArray:
    """Promises to be an array."""

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        raise RuntimeError("hostile __array__")


class Endless:
    """Says that it is longer than it is."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, place: Any) -> Any:
        raise RuntimeError("hostile __getitem__")


def junk(data: rf.Dataset) -> dict[str, Any]:
    """Values by name."""
    holed = np.array([1.0, None, "x"], dtype=object)
    plain = {
        repr(value)[:40]: value
        for value in (
            *(None, True, False, 0, -1, 1, 3, 2.5, -0.5, 5e-324, 1e308, float("nan"), float("inf"), -float("inf")),
            *(2**63, 10**30, -(10**30), 10**400, 1j, "", "junk", "no\0file", "nan", "NDCG@", "é" * 300, b"bytes"),
            *([], [None], [1, 2], [0.5, float("nan")], ["a", "b"], [[1], [2, 3]], (), ("top", 0), (1, 2, 3)),
            *({}, {"a": 1}, {1: 2}, {"1": "up"}, set(), {1.5}, range(3), slice(2), ..., int, np.float32(0.5)),
            *(np.int8(-1), np.uint64(2**64 - 1), np.True_, np.str_("junk"), np.datetime64("NaT")),
            *(decimal.Decimal("0.5"), fractions.Fraction(1, 2), datetime.date(2020, 1, 1), Path("nowhere/at/all")),
        )
    }
    arrays = {
        "array()": np.array(0.5),
        "empty array": np.empty(0),
        "cube": np.zeros((2, 2, 2)),
        "holed array": holed,
        "array of words": np.array(["a", "b"]),
        "array of times": np.array(["2020-01-01"], dtype="datetime64[D]"),
        "array of records": np.zeros(2, dtype=[("a", int), ("b", float)]),
        "complex array": np.ones(data.n_documents, dtype=complex),
        "NaN per row": np.full(data.n_documents, np.nan),
        "huge per row": np.full(data.n_documents, 1e308),
        "one short": np.ones(data.n_documents - 1),
        "negative per row": -np.ones(data.n_documents),
    }
    objects = {
        "object": object(),
        "unequal": Unequal(),
        "truthless": Truthless(),
        "no array": NoArray(),
        "endless": Endless(),
        "function of nothing": lambda: None,
        "function of anything": lambda *arguments, **options: None,
        "generator": (number for number in range(3)),
        "data": data,
        "ranker": rf.LambdaMART(),
        "measure": rf.MAP(),
        "λ-function": rf.lambdas.Step(),
        "module": np,
    }
    return plain | arrays | objects


@dataclasses.dataclass(frozen=True)
class Target:
    """A callable with arguments that it takes; ``use`` puts to use what it gives, where mistakes might show late."""

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any] = dataclasses.field(default_factory=dict)
    use: Callable[[Any], Any] = lambda given: given
    names: tuple[str, ...] | None = None  # of the arguments to try; None: all

    def call(self, **junk: Any) -> Any:
        return self.use(self.function(**(self.arguments | junk)))

    def parameters(self) -> list[str]:
        if self.names is not None:
            return list(self.names)
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        return [one.name for one in inspect.signature(self.function).parameters.values() if one.kind in kinds]


@dataclasses.dataclass(frozen=True)
class Failure:
    """An exception that is no RankforceError."""

    target: str
    argument: str
    junk: str
    error: BaseException

    def __str__(self) -> str:
        error = f"{type(self.error).__name__}: {self.error}"
        return f"{self.target}({self.argument}={self.junk}): {error}"[:300]


def failures(targets: list[Target], values: dict[str, Any], sample: float, seed: int) -> tuple[int, list[Failure]]:
    """(how many calls were made, those that ended in a foreign exception); a random ``sample`` of all calls."""
    drawn = random.Random(seed)
    count, wrong = 0, []
    for target in targets:
        for argument in target.parameters():
            for name, value in values.items():
                if drawn.random() >= sample:
                    continue
                count += 1
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        target.call(**{argument: value})
                except rf.RankforceError:
                    continue
                except Exception as error:
                    wrong.append(Failure(target.name, argument, name, error))
    return count, wrong


# ----------------------------------------------------------------------------------------- what can be called at all

SMALL: dict[str, dict[str, Any]] = {
    "LambdaMART": {"n_trees": 2, "n_leaves": 3, "min_documents": 2},
    "MART": {"n_trees": 2, "n_leaves": 3, "min_documents": 2},
    "LambdaRank": {"epochs": 1, "hidden": 2},
    "RankNet": {"epochs": 1, "hidden": 2},
    "SPSA": {"epochs": 1, "steps": 1},
    "PRank": {"epochs": 1, "n_members": 2},
    "XRank": {"n_steps": 3, "min_documents": 2},
    "Bagging": {"ranker": rf.LambdaMART(n_trees=1, min_documents=2, progress=False), "n_models": 2},
}
MORE: dict[str, list[dict[str, Any]]] = {  # settings that bring others to life
    "MART": [{"cost": cost} for cost in ("binary", "multiclass", "ordinal")],
    "LambdaMART": [{"step": "gradient", "normalise": "none"}, {"line_search": 1, "early_stopping": 1}],
    "PRank": [{"large_margin": True}],
    "XRank": [{"n_graphs": 2}, {"form": "martingale"}],
}


def all_targets(data: rf.Dataset, folder: Path) -> list[Target]:
    """Every public callable."""
    return [
        *ranker_targets(data, folder),
        *measure_targets(data),
        *objective_targets(data),
        *data_targets(data, folder),
        *function_targets(data, folder),
        *cluster_targets(data),
        *method_targets(data, folder),
    ]


def cluster_targets(data: rf.Dataset) -> Iterator[Target]:
    """What needs a cluster: one of a thread of this process, which ends with it."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0")
    yield Target("shared", rf.shared, {"data": data, "client": Client(cluster), "timeout": 5.0})


def ranker_targets(data: rf.Dataset, folder: Path) -> Iterator[Target]:
    """Constructors, by what ``fit`` makes of them, and ``fit`` itself."""
    for name, kind in ranker_classes().items():
        usual = SMALL[name] | {"progress": False}

        def fit(ranker: Any) -> Any:
            return ranker.fit(data, validation=data)

        yield Target(name, kind, usual, fit)
        for more in MORE.get(name, []):
            yield Target(f"{name} {more}", kind, usual | more, fit)
        inputs: dict[str, Any] = {"X": data.features, "y": data.labels["grades"], "qid": data.qid}
        fits = {"X": data}, inputs, {"X": data, "checkpoint": folder / f"{name}.checkpoint"}
        for number, arguments in enumerate(fits):
            ranker: Any = kind(**usual)
            if "checkpoint" in arguments and "checkpoint" not in inspect.signature(ranker.fit).parameters:
                continue
            yield Target(f"{name}.fit {number}", ranker.fit, arguments)
        yield Target(f"{name}.set_params", kind(**usual).set_params, {}, fit, tuple(usual))
        if name in ("LambdaMART", "LambdaRank"):
            fitted: Any = fit(kind(**usual))
            yield Target(
                f"{name}.refit",
                lambda part, scaled=False, fitted=fitted: fitted.refit(data, part, scaled=scaled),
                {"part": data},
                names=("part", "scaled"),
            )
        for method in ("predict", "rank", "score"):
            yield Target(f"{name}.{method}", getattr(fit(kind(**usual)), method), {"X": data})


def measure_targets(data: rf.Dataset) -> Iterator[Target]:
    scores = np.arange(data.n_documents) % 7
    for name, kind in measure_classes().items():
        usual = {"label": "clicks"} if name == "CNDCG" else {}
        yield Target(name, kind, usual, lambda measure: rf.evaluate(scores, data, measure, ties="expected"))
    yield Target("measure", rf.measure, {"written": "NDCG"})
    yield Target("lambda_function", rf.lambdas.lambda_function, {"written": "Step"})


def objective_targets(data: rf.Dataset) -> Iterator[Target]:
    def learn(**settings: Any) -> Any:
        ranker = rf.LambdaMART(n_trees=2, n_leaves=3, min_documents=2, step="gradient", progress=False, **settings)
        return ranker.fit(data)

    for name, kind in lambda_function_classes().items():
        yield Target(name, kind, {}, lambda function: learn(lambda_function=function))
    yield Target("Term", rf.Term, {"measure": "NDCG"}, lambda term: learn(objective=term))
    for name, arguments in {"InversePropensities": {"propensities": [1.0, 0.5]}, "JointRatios": {}}.items():
        yield Target(name, getattr(rf, name), arguments, lambda bias: rf.Term("NDCG:clicks", bias=bias))
    yield Target("Graded", rf.Graded, {"tiers": ["NDCG", "CNDCG:clicks"]}, lambda graded: learn(objective=graded))
    parts: dict[str, Any] = {"first": "NDCG", "second": "MAP", "schedule": rf.schedules.Linear(0.1, 0.1)}
    yield Target("Scheduled", rf.Scheduled, parts, lambda scheduled: learn(objective=scheduled))
    for name in ("Linear", "Exponential"):
        yield Target(
            name,
            getattr(rf.schedules, name),
            {"start": 0.1, "rate": 0.1},
            lambda schedule: learn(objective=rf.Scheduled("NDCG", "MAP", schedule)),
        )
    yield Target("read_objective", rf.read_objective, {"source": {"measure": "NDCG"}})


def data_targets(data: rf.Dataset, folder: Path) -> Iterator[Target]:
    rows: dict[str, Any] = {"X": data.features, "y": data.labels["grades"], "qid": data.qid}
    yield Target("Dataset", rf.Dataset, rows, lambda made: rf.evaluate(made.features[:, 0], made))
    sizes: dict[str, Any] = {"X": data.features, "y": data.labels["grades"], "group": data.query_sizes}
    yield Target("Dataset of groups", rf.Dataset, sizes, rf.inspect)
    small = {"queries": 3, "documents": 4, "features": 3}
    yield Target("make_artificial", rf.make_artificial, small)
    yield Target("make_artificial with clicks", rf.make_artificial, small | {"clicks": True, "drift": 0.1})
    yield Target("make_web_like", rf.make_web_like, small | {"features": 20})
    clicked: dict[str, Any] = {"data": data, "ranking": "1", "sessions": 2, "positions": 3}
    yield Target("simulate_clicks", rf.simulate_clicks, clicked, lambda log: rf.click_labels(log))
    for name in ("PositionBased", "TrustBias", "Cascade"):
        yield Target(name, getattr(rf.click_models, name), {}, lambda model: rf.simulate_clicks(data, "1", 2, model))
    yield Target("confuse_labels", rf.confuse_labels, {"data": data, "matrix": np.eye(5)})
    grades = data.labels["grades"]
    yield Target("confusion_from_repeats", rf.confusion_from_repeats, {"first": grades, "second": grades})
    yield Target("consistent_posteriors", rf.consistent_posteriors, {"adjacent": [0.7, 0.6]})
    pairs: dict[str, Any] = {"data": data, "better": [0, 1], "worse": [2, 3]}
    yield Target("Preferences", rf.Preferences, pairs, lambda listed: rf.RankNet(2, epochs=1, progress=False).fit(
        data, preferences=listed
    ))  # fmt: skip
    log = folder / "log.csv"
    log.write_text("session,query,document,position,clicked\ns,q,a,1,0\ns,q,b,2,1\n")
    yield Target("click_labels", rf.click_labels, {"log": log, "progress": False})
    yield Target("SimilarQueries", rf.SimilarQueries, {}, lambda rule: rf.click_labels(log, similar=rule))
    shown: dict[str, Any] = {"log": log, "resamples": 2, "progress": False}
    yield Target("estimate_propensities", rf.estimate_propensities, shown, str)
    yield Target("Propensities", rf.Propensities, {"values": [1.0, 0.5]}, str, ("values",))
    clicked_documents = rf.Dataset([[1.0], [2.0]], qid=["q", "q"], document_ids=["a", "b"])
    listed: dict[str, Any] = {"log": log, "data": clicked_documents, "progress": False}
    yield Target("click_sessions", rf.click_sessions, listed)
    views: dict[str, Any] = {"log": log, "ranking": [1.0, 2.0], "data": clicked_documents, "propensities": [1.0, 0.5]}
    yield Target("off_policy", rf.off_policy, views | {"resamples": 3, "progress": False})
    hits = [{"_id": name, "fields": {"_ltrlog": [{"main": [{"name": "bm25", "value": 1.5}]}]}} for name in "ab"]
    logged: dict[str, Any] = {"source": {"q": {"hits": {"hits": hits}}}, "judgments": {"q": {"a": 1, "b": 0}}}
    yield Target("read_feature_log", rf.read_feature_log, logged)
    data.write(folder / "data.txt", label="grades")
    data.write(folder / "data.csv")
    for ending, names in (
        ("txt", ("path", "absent", "unlabelled", "n_features", "first_index", "group", "allow_wide", "progress")),
        ("csv", ("path", "qid", "label", "labels", "document", "weight", "features", "ignore", "delimiter")),
    ):
        yield Target(f"read {ending}", rf.read, {"path": folder / f"data.{ending}"}, names=names)
    yield Target("read_letor", rf.read_letor, {"path": folder / "data.txt"})
    yield Target("read_table", rf.read_table, {"path": folder / "data.csv"})
    (folder / "preferences.csv").write_text("qid,better,worse\n")
    preferred: dict[str, Any] = {"path": folder / "preferences.csv", "data": data}
    yield Target("read_preferences", rf.read_preferences, preferred)
    (folder / "qrels").write_text("1 0 a 1\n1 0 b 0\n")
    (folder / "run").write_text("1 Q0 a 1 2.0 tag\n1 Q0 b 2 1.0 tag\n")
    yield Target("read_qrels", rf.read_qrels, {"path": folder / "qrels"})
    yield Target("read_run", rf.read_run, {"path": folder / "run"})
    judged: dict[str, Any] = {"qrels": rf.read_qrels(folder / "qrels"), "run": rf.read_run(folder / "run")}
    yield Target("judged_run", rf.judged_run, judged, lambda run: rf.evaluate(run.scores, run.data))
    for number in (1, 2):
        for part in ("train", "vali", "test"):
            path = folder / f"Fold{number}" / f"{part}.txt"
            path.parent.mkdir(exist_ok=True)
            data.write(path, label="grades")
    yield Target("read_folds", rf.read_folds, {"folder": folder}, list)
    named = data.replace(document_ids=[f"d{row}" for row in range(data.n_documents)])
    written: dict[str, Any] = {"data": named, "scores": data.features[:, 0], "path": folder / "out.run"}
    yield Target("write_run", rf.write_run, written)


def function_targets(data: rf.Dataset, folder: Path) -> Iterator[Target]:
    ranker = rf.LambdaMART(n_trees=2, n_leaves=3, min_documents=2, progress=False)
    scores = data.features[:, 0].astype(float)
    yield Target("evaluate", rf.evaluate, {"ranking": scores, "data": data})
    two = {"a": scores, "b": -scores}
    yield Target("compare", rf.compare, two | {"data": data})
    evaluations = {name: rf.evaluate(values, data) for name, values in two.items()}
    yield Target("compare evaluations", rf.compare, evaluations)
    yield Target("combine", rf.combine, {"rankers": ["1", "2"], "data": data})
    yield Target("combine three", rf.combine, {"rankers": ["1", "2", "3"], "data": data, "folds": 2})
    yield Target("cross_validate", rf.cross_validate, {"ranker": ranker, "data": data, "folds": 2, "progress": False})
    space: dict[str, Any] = {"ranker": ranker, "data": data, "space": {"n_leaves": [2, 3]}, "folds": 2, "trials": 1}
    yield Target("tune", rf.tune, space | {"progress": False})
    for name in ("spsa", "finite_differences"):
        bowl: dict[str, Any] = {"function": lambda x: float(np.sum(np.square(x))), "start": [1.0, 2.0], "steps": 3}
        yield Target(name, getattr(rf.optimising, name), bowl)
    graded = rf.LambdaMART(
        objective=rf.Graded(["NDCG", "CNDCG:clicks"], "search"), n_trees=1, min_documents=2, progress=False
    )
    searched: dict[str, Any] = {"ranker": graded, "data": data, "validation": data, "shares": [0.1]}
    yield Target("search_weights", rf.search_weights, searched)
    net = rf.LambdaRank(hidden=0, epochs=1, progress=False).fit(data)
    yield Target("inspect", rf.inspect, {"data": data})
    explained: dict[str, Any] = {"model": net, "data": data, "query": 1, "threads": 1}
    yield Target("explain", rf.explain, explained | {"background": 2}, str)
    yield Target("explain a pair", rf.explain, explained | {"pair": tuple(data.rows[:2].tolist())}, str)
    lost: dict[str, Any] = {"model": net, "data": data, "permutations": 1, "progress": False}
    yield Target("importance", rf.importance, lost, str)
    told: dict[str, Any] = {"model": net, "data": data, "path": None, "baselines": "1", "queries": 1, "sample": 20}
    yield Target("report", rf.report, told | {"permutations": 1, "progress": False}, str)
    drifting: dict[str, Any] = {"model": net, "new": data}
    yield Target("drift", rf.drift, drifting, str)
    yield Target("drift of data", rf.drift, {"model": data, "new": data}, str, ("model", "new", "alpha"))
    yield Target("check_forces", rf.diagnostics.check_forces, {"lambda_function": "RankNetWeightPairs", "samples": 2})
    yield Target("check_measure", rf.diagnostics.check_measure, {"measure": "NDCG@3", "labels": [0, 1]}, str)
    yield Target("forces_at", rf.forces_at, {"data": data, "scores": scores})
    yield Target("effective_pairs", rf.diagnostics.effective_pairs, {"data": data, "scores": scores})
    looked: dict[str, Any] = {"model": net, "data": data}
    yield Target(
        "local_optimality", rf.diagnostics.local_optimality, looked | {"epsilon": 0.2, "delta": 0.2, "progress": False}
    )
    yield Target("smoothness", rf.diagnostics.smoothness, looked | {"queries": (5,), "points": 3})
    net.save(folder / "model.json")
    yield Target("load", rf.load, {"path": folder / "model.json"})
    yield Target("model_card", rf.model_card, {"model": net.model_})
    boosted = rf.LambdaMART(n_trees=2, n_leaves=3, min_documents=2, progress=False).fit(data)
    for name in ("ranklib", "ltr-xgboost", "solr", "xgboost", "lightgbm-json"):
        written: dict[str, Any] = {"model": boosted, "path": folder / "exported.json", "format": name, "check": data}
        yield Target(f"export_model {name}", rf.export_model, written)
    bundled: dict[str, Any] = {"model": boosted, "folder": folder / "bundle", "format": "ltr-xgboost", "check": data}
    yield Target("export_bundle", rf.export_bundle, bundled, lambda made: shutil.rmtree(made.folder))
    yield from plot_targets(data, net)
    instruments: dict[str, dict[str, Any]] = {
        "ContributionsByGrade": {},
        "ForceAgreement": {"objective": rf.Graded(["NDCG", "CNDCG:clicks"])},
        "GradesInTop": {},
        "RankChanges": {},
    }
    for name, arguments in instruments.items():
        yield Target(
            name,
            getattr(rf.diagnostics, name),
            arguments,
            lambda instrument: ranker.fit(data, instruments=[instrument]),
        )


def plot_targets(data: rf.Dataset, net: Any) -> Iterator[Target]:
    graded = rf.LambdaMART(
        objective=rf.Graded(["NDCG", "CNDCG:clicks"], "search"), n_trees=1, min_documents=2, progress=False
    )
    changes = rf.diagnostics.RankChanges()
    ranker = rf.LambdaMART(n_trees=2, n_leaves=3, min_documents=2, progress=False)
    ranker.fit(data, instruments=[changes])
    drawn: dict[str, dict[str, Any]] = {
        "calibration": {"ranking": "1", "data": data},
        "comparison": {"of": rf.compare("1", "2", data)},
        "curves": {"of": [ranker]},
        "dependence": {"of": rf.explain(net, data)},
        "forces": {"of": rf.forces_at(data, "1")},
        "frontier": {"of": rf.search_weights(graded, data, data, shares=[0.1])},
        "history": {"of": ranker},
        "importance": {"of": ranker},
        "instrument": {"of": changes},
        "per_query": {"of": rf.evaluate("1", data)},
        "score_distribution": {"ranking": "1", "data": data},
        "smoothness": {"of": rf.diagnostics.smoothness(net, data, queries=(5,), points=3)},
        "sweep": {"of": rf.combine(["1", "2"], data)},
        "tuning": {"of": rf.tune(ranker, data, {"n_leaves": [2, 3]}, folds=2, trials=1, progress=False)},
    }
    for name, arguments in drawn.items():
        yield Target(name, getattr(rf.plot, name), arguments, closed)


def closed(axes: Any) -> Any:
    """Close the figure of axes: matplotlib warns of many that stay open."""
    from matplotlib import pyplot

    pyplot.close(axes.figure)
    return axes


def method_targets(data: rf.Dataset, folder: Path) -> Iterator[Target]:
    """Methods of data sets and models."""
    methods: dict[str, dict[str, Any]] = {
        "take_queries": {},
        "take_features": {},
        "with_label": {"name": "more", "values": np.zeros(data.n_documents)},
        "replace": {},
        "write": {"path": folder / "out.txt", "label": "grades"},
    }
    parts = ("features", "labels", "weights", "query_weights", "feature_names", "document_ids")
    for name, arguments in methods.items():
        yield Target(f"Dataset.{name}", getattr(data, name), arguments, names=parts if name == "replace" else None)
    later = data.replace(feature_names=data.feature_names)
    joined: dict[str, Any] = {"parts": [data, later], "same_query": "merge"}
    yield Target("Dataset.concat", rf.Dataset.concat, joined)
    yield Target("Dataset.folds", data.folds, {"count": 2}, list)
    yield Target("Dataset.split", lambda share, seed=0: data.split(0.5, share, seed=seed), {"share": 0.5})
    model = rf.LambdaMART(n_trees=2, min_documents=2, progress=False).fit(data).model_
    for name, arguments in {
        "predict": {"data": data},
        "rank": {"data": data},
        "truncate": {},
        "feature_importance": {},
        "save": {"path": folder / "saved.json"},
        "export": {"path": folder / "written.txt", "format": "ranklib"},
    }.items():
        yield Target(f"TreeEnsemble.{name}", getattr(model, name), arguments)


UNTRIED = {  # bases of users' classes, results, and what only kernels call
    *(
        "Measure",
        "BinaryMeasure",
        "LambdaFunction",
        "PairwiseLambdaFunction",
        "Schedule",
        "ListwiseLambdaFunction",
        "Model",
        "JudgedRun",
        "Exported",
        "ExportedBundle",
        "ExportCheck",
        "ClickLabels",
        "SimulatedClicks",
        "ClickModel",
        "FeatureLog",
        "Evaluation",
        "Comparison",
        "Contributions",
        "DocumentExplanation",
        "PairExplanation",
        "FeatureImportance",
        "Drift",
        "Report",
    ),
    "SharedDataset",  # made by shared
    *("value_if_moved", "change_if_swapped", "centre"),
}


def public_callables() -> set[str]:
    """All that a user may call by name."""
    doors: list[Any] = [rf, *(getattr(rf, name) for name in rf.SUBPACKAGES)]
    named = {name: getattr(door, name) for door in doors for name in dir(door) if name not in UNTRIED}
    return {
        name
        for name, value in named.items()
        if callable(value) and not (inspect.isclass(value) and issubclass(value, Exception))
    }
