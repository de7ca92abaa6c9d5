"""A model of every form that can be exported, with features that are called as Vespa wants it."""

from __future__ import annotations

import functools

import numpy as np

import rankforce as rf
from rankforce.export.adversarial_rows import mixed_rows
from rankforce.export.model_forms import form_of
from rankforce.models.combination import Combination
from rankforce.models.model import Model
from rankforce.models.provenance import Provenance
from rankforce.models.stacked import Stacked
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.trees.tree import Tree

NAMES = ("bm25(title)", "attribute(price)", "fieldMatch(title).proximity", "age", "query(boost)")
STARTED_FROM = "query(boost)"  # never missing: scores that start from a feature need it
LARGEST = np.finfo(np.float32).max
# zeros, the ends of float32, powers of two (neighbours at different distances), odd and even last bits
HARD = np.float32(
    [0.0, -0.0, 1e-20, 0.1, 0.5, -0.5, 1.0, np.nextafter(np.float32(1), np.float32(2)), -7.25, 2.0**24,
     -1e20, 1e30, LARGEST]
)  # fmt: skip
TINY = np.float32([0.0, -0.0, 1e-45, -1e-45, 1.2e-38, -3e-39, 1.0])  # LightGBM takes what is smaller than 1e-35 for 0


@functools.cache
def data(holes: bool) -> rf.Dataset:
    made = rf.make_artificial(20, 12, len(NAMES), seed=3)
    features = made.features.copy()
    if holes:
        features[np.random.default_rng(0).random(features.shape) < 0.1] = np.nan
        features[:, NAMES.index(STARTED_FROM)] = made.features[:, NAMES.index(STARTED_FROM)]
    return made.replace(features=features, feature_names=NAMES)


def hard_trees(
    holes: bool, base_score: float = 0.0, names: tuple[str, ...] = NAMES, thresholds: np.ndarray = HARD
) -> TreeEnsemble:
    """Trees on hard thresholds, balanced, each feature at each level; one is a single leaf."""
    drawn = np.random.default_rng(5)
    trees = []
    for number in range(8):
        nodes = 7 if number else 0
        trees.append(
            Tree(
                feature=drawn.integers(0, len(NAMES), nodes).astype(np.int32),
                threshold=drawn.choice(thresholds, nodes),
                missing_left=drawn.random(nodes) < 0.5,
                left=np.array([1, 3, 5, ~0, ~2, ~4, ~6][:nodes], dtype=np.int32),
                right=np.array([2, 4, 6, ~1, ~3, ~5, ~7][:nodes], dtype=np.int32),
                gain=np.ones(nodes),
                leaf_value=drawn.normal(size=nodes + 1).astype(np.float32),
                leaf_documents=np.arange(nodes + 1),  # one leaf saw no document
            )
        )
    shares = (0.2 if holes else 0.0,) * len(NAMES)
    return TreeEnsemble.from_trees(trees, names, base_score=base_score, provenance=Provenance(missing_shares=shares))


@functools.cache
def model(kind: str, holes: bool = True) -> Model:
    """A model by its kind: ``TREES`` are sums of trees, ``OTHERS`` are not."""
    given = data(holes)
    quick = {"progress": False}
    makers = {
        "hard": lambda: hard_trees(holes),
        "based": lambda: hard_trees(holes, base_score=-2.625),
        "tiny": lambda: hard_trees(holes, thresholds=TINY),
        "symmetric": lambda: rf.LambdaMART(n_trees=8, growth="symmetric", **quick).fit(given).model_,
        "leafwise": lambda: rf.LambdaMART(n_trees=8, growth="leafwise", min_documents=5, **quick).fit(given).model_,
        "mart": lambda: rf.MART(n_trees=4, min_documents=5, **quick).fit(given).model_,
        "graph": lambda: rf.XRank(n_steps=5, **quick).fit(given).model_,
        "weighted": lambda: Combination.of([model("hard", holes), model("mart", holes)], [0.3, 0.7]),
        "softmax": lambda: rf.MART("multiclass", n_trees=3, min_documents=5, **quick).fit(given).model_,
        "ordinal": lambda: rf.MART("ordinal", n_trees=3, min_documents=5, **quick).fit(given).model_,
        "linear": lambda: rf.LambdaRank(hidden=0, scaling="standard", epochs=2, **quick).fit(given).model_,
        "net": lambda: rf.LambdaRank(hidden=3, scaling="standard", epochs=2, **quick).fit(given).model_,
        "log net": lambda: rf.RankNet(hidden=3, scaling="log1p", epochs=2, **quick).fit(given).model_,
        "quadratic": lambda: rf.PRank(kernel="quadratic", epochs=2, n_members=1, **quick).fit(given).model_,
        "from a feature": lambda: (
            rf.LambdaMART(n_trees=3, min_documents=5, base_model=STARTED_FROM, **quick).fit(given).model_
        ),
        "mixed": lambda: Combination.of([model("mart", holes), model("net", holes)], [0.25, 0.75]),
        "stacked": lambda: _stacked(holes),
    }
    return makers[kind]()


TREES = ("hard", "based", "symmetric", "leafwise", "mart", "graph", "weighted")
OTHERS = ("softmax", "ordinal", "linear", "net", "log net", "quadratic", "from a feature", "mixed", "stacked")


def _stacked(holes: bool) -> Stacked:
    given, parts = data(holes), [model("mart", holes), model("linear", holes)]
    scores = np.column_stack([part.predict(given) for part in parts])
    inner = rf.Dataset(scores, given.labels["grades"], given.qid)
    return Stacked.of(parts, rf.LambdaRank(hidden=2, epochs=1, progress=False).fit(inner).model_)


def rows(kind: str, holes: bool, count: int = 400) -> np.ndarray:
    """Float32 rows on and beside thresholds, zeros, far out; missing ones if the model knows them; and real ones."""
    made = mixed_rows(form_of(model(kind, holes)), len(NAMES), count)
    if not holes:
        made = np.nan_to_num(made)
    if kind == "from a feature":
        made[:, NAMES.index(STARTED_FROM)] = np.nan_to_num(made[:, NAMES.index(STARTED_FROM)])
    return np.concatenate([made, data(holes).features])


def between(made: np.ndarray) -> np.ndarray:
    """Doubles that lie around the float32 rows: the last that rounds to them from either side."""
    drawn = np.random.default_rng(2)
    with np.errstate(over="ignore", invalid="ignore"):
        beside = np.nextafter(made, np.where(drawn.random(made.shape) < 0.5, -np.inf, np.inf).astype(np.float32))
    middle = made.astype(np.float64) + (np.where(np.isfinite(beside), beside, made).astype(np.float64) - made) / 2.0
    shifted = np.nextafter(middle, np.where(drawn.random(made.shape) < 0.5, -np.inf, np.inf))
    return np.where(drawn.random(made.shape) < 0.3, middle, shifted)
