"""XRank in all its forms, single and boosted, against boosted trees."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.evaluation.evaluate import evaluate
from rankforce.rankers.lambdamart import LambdaMART
from rankforce.rankers.mart import MART
from rankforce.rankers.xrank import XRank
from rankforce.reproducing.data_sets import Parts, artificial, queries_in_words, real_folder
from rankforce.reproducing.drawing import bars, panel
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.measuring import differences_of, means_of
from rankforce.reproducing.papers import WEB_SEARCH
from rankforce.reproducing.real_data import MQ2008, folds_at_hand
from rankforce.reproducing.rows import Row, Rows
from rankforce.reproducing.rules import Claim, each_seed, significant

ORDER = 7
MEASURES = ("NDCG", "NDCG@10")
SINGLE = ("XRank, simple", "XRank, full", "XRank, rebalancing", "XRank, martingale", "XRank, max NDCG")


class XRankForms(Experiment):
    name = "xrank-forms"
    paper = WEB_SEARCH
    place = "slides XRank"
    title = "Forms of XRank, single and boosted"
    found = (
        "Splits that directly raise NDCG do not learn to completion, for queries are fragmented; forces with splits, "
        "merges and swaps do. Graphs boost well. No numbers."
    )
    data = "artificial with noise; and MQ2008, its five folds, where it is"
    paper_size = {"queries": "not said"}
    remarks = "the data, the settings and the number of steps are ours. Values are expected over ties."
    figsize = (7.0, 4.2)
    sizes = {
        "tiny": Size(seeds=1, minutes=0.1, queries=(20, 15, 20), documents=8, features=4, steps=6, graphs=2, inner=4,
                     trees=4, least=4, real=False),
        "quick": Size(seeds=2, minutes=0.21, queries=(150, 80, 600), documents=25, features=15, steps=30, graphs=6,
                      inner=8, trees=150, least=30, real=False),
        "full": Size(seeds=3, minutes=40, queries=(400, 200, 600), documents=30, features=20, steps=100, graphs=30,
                     inner=20, trees=500, least=30, real=True),
    }  # fmt: skip

    def parts(self, size: Size) -> Sequence[str]:
        return ("artificial", MQ2008) if size.real and real_folder("mq2008") else ("artificial",)

    def run(self, part: str, seed: int, size: Size) -> list[Row]:
        folds = folds_at_hand(MQ2008) if part == MQ2008 else [drawn(seed, size)]
        values: dict[str, dict[str, list[np.ndarray]]] = {}
        training: dict[str, list[float]] = {}
        for fold in folds:
            for name, ranker in rankers(size).items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # a form that stalls says so
                    fitted = ranker.fit(fold.train, validation=fold.valid)
                found = evaluate(fitted, fold.test, list(MEASURES), ties="expected").per_query
                for measure in MEASURES:
                    values.setdefault(name, {}).setdefault(measure, []).append(found[measure])
                if name in SINGLE:
                    training.setdefault(name, []).append(max(fitted.expected_))
        whole = {name: {one: np.concatenate(parts) for one, parts in found.items()} for name, found in values.items()}
        pairs = [(name, "LambdaMART") for name in whole if name != "LambdaMART"]
        pairs += [("XRank, full, boosted", "XRank, full"), ("XRank, full", "XRank, simple")]
        pairs += [("XRank, rebalancing", "XRank, full")]
        rows = means_of(whole, MEASURES) + differences_of(whole, MEASURES, pairs)
        return rows + [
            {"kind": "training", "arm": name, "value": float(np.mean(one))} for name, one in training.items()
        ]

    def claims(self) -> Sequence[Claim]:
        return [
            each_seed("max-NDCG splits stall: they end below forces on the training queries", stalled,
                      what="training NDCG of the simple form less that of max-NDCG splits", least=1e-9, form="+.4f"),
            significant("graphs boost well", "XRank, full, boosted", "XRank, full", ["NDCG"]),
            significant("merges help: the full form is better than the simple", "XRank, full", "XRank, simple",
                        ["NDCG"]),
        ]  # fmt: skip

    def draw(self, rows: Rows, figure: Any) -> None:
        parts = rows.distinct("part")
        for axes, part in zip(figure.subplots(1, len(parts), squeeze=False)[0], parts, strict=True):
            mine = rows.where(kind="mean", part=part, measure="NDCG")
            arms = mine.distinct("arm")
            heights = [mine.mean(arm=arm) for arm in arms]
            bars(panel(axes, part, "test NDCG"), arms, heights, [mine.mean("error", arm=arm) for arm in arms])
            axes.set_xlim(min(heights) - 0.05, max(heights) + 0.02)

    def size_in_words(self, size: Size) -> Mapping[str, str]:
        return {
            "queries": f"{queries_in_words(size.queries)} for training, validation and test",
            "documents per query": str(size.documents), "features": str(size.features),
            "steps": f"{size.steps}; boosted {size.graphs} graphs of {size.inner}",
        }  # fmt: skip

    def tables(self, rows: Rows) -> Sequence[tuple[str, Rows]]:
        return [(part, rows.where(kind="mean", part=part)) for part in rows.distinct("part")]


def drawn(seed: int, size: Size) -> Parts:
    return artificial(size.queries, size.documents, size.features, seed, noise=0.3)


def rankers(size: Size) -> dict[str, Any]:
    """One setting of each for all data."""
    quiet: dict[str, Any] = {"early_stopping": 30, "progress": False}
    trees = {"n_trees": size.trees, "n_leaves": 15, "growth": "leafwise", "min_documents": size.least, **quiet}
    single: dict[str, Any] = {"n_steps": size.steps, "min_documents": size.least, **quiet}
    boosted = single | {"n_graphs": size.graphs, "n_steps": size.inner, "early_stopping": 10}
    return {
        "LambdaMART": LambdaMART("NDCG", **trees),
        "MART, expected grade": MART("multiclass", **trees),
        **{
            f"XRank, {form}": XRank("NDCG", form=form, **single)
            for form in ("simple", "full", "rebalancing", "martingale")
        },
        "XRank, max NDCG": XRank("NDCG", split="max_ndcg", **single),
        **{
            f"XRank, {form}, boosted": XRank("NDCG", form=form, **boosted)
            for form in ("full", "rebalancing", "martingale")
        },
    }  # fmt: skip


def stalled(rows: Rows) -> float:
    training = rows.where(kind="training", part="artificial")
    return training.mean(arm="XRank, simple") - training.mean(arm="XRank, max NDCG")
