"""A matrix of trainings, and a digest of what each learns.

A digest is over the contents of the model (not its provenance, which names settings and versions), the history, and the
scores of other data. There is a record for each kind of processor and each version of what compiles:

    python -m tests.same_bytes.trainings

writes the one of this machine. Most digests are the same everywhere. Two things are not: the compiler sums by vectors,
and how many numbers one holds decides the order of the sums of a net (``NUMBA_CPU_NAME``, ``NUMBA_CPU_FEATURES``); and
NumPy has its own exponential function for processors with AVX-512, whose last bit is another one
(``NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL"`` does without). With both set as the processor of a record has them, a
machine that can do more learns what that record says: ``--as NAME`` writes the record of that name.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np

import rankforce as rf
from rankforce.compiling import jit
from rankforce.models.storage import document_of


@functools.cache
def data(seed: int, kind: str = "plain") -> rf.Dataset:
    made = rf.make_artificial(queries=60, documents=(3, 30), features=10, seed=seed, clicks=True)
    features = np.round(made.features, 1)  # ties among values
    features[:, 4] = made.features[:, 4]
    rng = np.random.default_rng(seed)
    if kind == "missing":
        features[rng.random(features.shape) < 0.15] = np.nan
    made = made.replace(features=features)
    if kind == "weighted":
        made = made.replace(weights=rng.integers(1, 4, made.n_documents) / 2)
    if kind == "query weights":
        made = made.replace(query_weights=rng.integers(1, 4, made.n_queries) / 2)
    if kind == "unlabelled":
        labels = made.label().copy()
        labels[rng.random(len(labels)) < 0.1] = np.nan
        made = made.replace(labels={**made.labels, "grades": labels})
    return made


def trees(kind: str = "plain", **settings: Any) -> Callable[[], Any]:
    return _fitted(rf.LambdaMART, kind, {"n_trees": 12, "n_leaves": 8, "min_documents": 3} | settings)


def mart(kind: str = "plain", **settings: Any) -> Callable[[], Any]:
    return _fitted(rf.MART, kind, {"n_trees": 8, "n_leaves": 6, "min_documents": 3} | settings)


def net(ranker: Any, kind: str = "plain", **settings: Any) -> Callable[[], Any]:
    return _fitted(ranker, kind, {"epochs": 4, "learning_rate": 0.01} | settings)


def other(kind_of_ranker: Any, kind: str = "plain", **settings: Any) -> Callable[[], Any]:
    return _fitted(kind_of_ranker, kind, settings)


def _fitted(ranker: Any, kind: str, settings: dict[str, Any]) -> Callable[[], Any]:
    def fitted() -> Any:
        made = ranker(**settings, progress=False)
        return made.fit(data(1, kind), validation=data(2, kind))

    return fitted


def _preferences(ranker: Any, **settings: Any) -> Callable[[], Any]:
    def fitted() -> Any:
        train = data(1)
        first = train.query_starts[:-1]
        preferences = rf.Preferences(train, train.rows[first], train.rows[first + 1], probability=0.8)
        made = ranker(**settings, progress=False)
        return made.fit(train, preferences=preferences, preference_share=0.5)

    return fitted


def _combination(**options: Any) -> Callable[[], Any]:
    return lambda: rf.combine(["1", "3", "5"], data(1), "NDCG@10", seed=2, **options)


TRAININGS: dict[str, Callable[[], Any]] = {
    "trees, defaults": trees(),
    "trees, leafwise": trees(growth="leafwise"),
    "trees, symmetric, no anchor": trees(growth="symmetric", anchor=0.0),
    "trees, leafwise, anchor": trees(growth="leafwise", anchor=1.0),
    "trees, least squares": trees(
        growth="leafwise", split="least_squares", normalise="none", lambda_function="RankNetWeightPairs"
    ),
    "trees, gradient step": trees(step="gradient"),
    "trees, missing, leafwise": trees("missing", growth="leafwise"),
    "trees, missing, symmetric": trees("missing", growth="symmetric"),
    "trees, weighted": trees("weighted"),
    "trees, monotone, leafwise": trees(growth="leafwise", monotone={"1": 1, "5": -1}),
    "trees, monotone, symmetric": trees(growth="symmetric", monotone={"1": 1, "5": -1}),
    "trees, fractions": trees(growth="leafwise", query_fraction=0.6, feature_fraction=0.5, seed=3),
    "trees, fractions, symmetric": trees(growth="symmetric", query_fraction=0.6, feature_fraction=0.5, seed=3),
    "trees, few bins, low memory": trees(max_bins=15, memory="low", l2=1.0, min_gain=1e-6, max_depth=3),
    "trees, MAP": trees(measure="MAP"),
    "trees, ERR@5": trees(measure="ERR@5"),
    "trees, KendallTau": trees(measure="KendallTau"),
    "trees, sampled pairs": trees(pairs=("sample", 5)),
    "trees, top pairs": trees(pairs=("top", 3)),
    "trees, Spring": trees(lambda_function="Spring", step="gradient"),
    "trees, LocalCost": trees(lambda_function="LocalCost(k=2)"),
    "trees, graded": trees(objective=rf.Graded(["NDCG@5", "NDCG:clicks"], [0.7, 0.3])),
    "trees, base feature": trees(base_model="5"),
    "trees, line search": trees(line_search=4),
    "trees, early stopping": trees(n_trees=40, early_stopping=3),
    "trees, three threads": trees(threads=3),
    "trees, preferences": _preferences(rf.LambdaMART, n_trees=6, n_leaves=4, min_documents=3),
    "trees, query weights": trees("query weights"),
    "trees, unlabelled": trees("unlabelled"),
    "trees, clicks": trees(measure="CNDCG:clicks"),
    "trees, scheduled": trees(
        objective=rf.Scheduled("NDCG", "MAP", rf.schedules.Linear(start=0.1, rate=0.05)), step="gradient"
    ),
    "trees, FiniteDifference": trees(lambda_function="FiniteDifference(k=2)", step="gradient"),
    "trees, 2011": trees(preset="2011"),
    "MART, regression": mart(),
    "MART, multiclass": mart(cost="multiclass"),
    "MART, ordinal": mart(cost="ordinal"),
    "MART, binary, missing": mart("missing", cost="binary"),
    "MART, balanced, leafwise": mart(cost="balanced", growth="leafwise"),
    "MART, weighted, monotone": mart("weighted", monotone={"1": 1}),
    "MART, fractions": mart(query_fraction=0.6, feature_fraction=0.5, seed=3),
    "RankNet, linear": net(rf.RankNet, hidden=0),
    "RankNet, two layers": net(rf.RankNet, hidden=4),
    "LambdaRank, linear": net(rf.LambdaRank, hidden=0),
    "LambdaRank, two layers": net(rf.LambdaRank, hidden=4),
    "LambdaRank, missing": net(rf.LambdaRank, "missing", hidden=3),
    "LambdaRank, MAP": net(rf.LambdaRank, measure="MAP", hidden=3),
    "LambdaRank, two rates": net(rf.LambdaRank, hidden=3, learning_rate=[0.01, 0.001]),
    "LambdaRank, weighted": net(rf.LambdaRank, "weighted", hidden=3),
    "LambdaRank, graded": net(rf.LambdaRank, hidden=3, objective=rf.Graded(["NDCG@5", "NDCG:clicks"], [0.7, 0.3])),
    "LambdaRank, batches": net(rf.LambdaRank, hidden=3, update="batch"),
    "LambdaRank, 2006": net(rf.LambdaRank, hidden=3, preset="2006"),
    "RankNet, by pairs": net(rf.RankNet, hidden=3, update="pair"),
    "RankNet, preferences": _preferences(rf.RankNet, epochs=3, hidden=3),
    "PRank": other(rf.PRank, epochs=3),
    "PRank, large margin, weighted": other(rf.PRank, "weighted", epochs=2, large_margin=True, n_members=5),
    "PRank, quadratic": other(rf.PRank, epochs=2, kernel="quadratic"),
    "XRank, simple": other(rf.XRank, n_steps=6),
    "XRank, full, boosted": other(rf.XRank, form="full", n_steps=4, n_graphs=2),
    "XRank, martingale": other(rf.XRank, form="martingale", n_steps=4),
    "SPSA": other(rf.SPSA, epochs=4),
    "Bagging": other(rf.Bagging, ranker=rf.MART(n_trees=3, n_leaves=4, min_documents=3), n_models=3),
    "Bagging, folds": other(rf.Bagging, ranker=rf.MART(n_trees=3, n_leaves=4), n_models=3, sample="folds"),
    "combination": _combination(),
    "combination by a net": _combination(method="net"),
}


def digest(name: str) -> str:
    """SHA-256 of what a training learns, as hexadecimal digits."""
    fitted = TRAININGS[name]()
    model = fitted.model if name.startswith("combination") else fitted.model_
    held_out = data(3, "missing" if "missing" in name else "plain")
    total = hashlib.sha256()
    for part in _parts(fitted, model):
        total.update(json.dumps(part, sort_keys=True, default=_plain).encode())
    total.update(np.ascontiguousarray(model.predict(held_out)).tobytes())
    return total.hexdigest()


def _parts(fitted: Any, model: Any) -> Iterator[Any]:
    yield _without_provenance(document_of(model))
    yield getattr(fitted, "history_", None)


def _without_provenance(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_provenance(inner) for key, inner in value.items() if key != "provenance"}
    if isinstance(value, (list, tuple)):
        return [_without_provenance(inner) for inner in value]
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no digest")


def record_path() -> Path:
    """The record of this processor and these versions; it need not be there."""
    name = f"{jit.cpu_target()}-numba{numba.__version__}-llvmlite{llvmlite.__version__}-numpy{np.__version__}.json"
    return Path(__file__).parent / "records" / name


def write_record(name: str | None = None) -> Path:
    """Write the record of this machine, or one of another name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        digests = {name: digest(name) for name in TRAININGS}
    path = record_path() if name is None else record_path().with_name(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(digests, indent=1) + "\n")
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Record what the matrix of trainings learns.")
    parser.add_argument("--as", dest="name", metavar="NAME", help="the file in records/; default: of this processor")
    print(f"wrote {write_record(parser.parse_args().name)}")
