"""``rankforce demo``: the main job on data that needs no download."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankforce.cli import options, output

if TYPE_CHECKING:
    import numpy as np

    from rankforce.data.dataset import Dataset
    from rankforce.evaluation.compare import Comparison

MEASURES = ["NDCG@10", "MAP", "MRR", "ERR@10"]


def demo(seed: options.Seed = 0, json: options.Json = False) -> None:
    """Show what rankforce does, on artificial data.

    Makes 500 queries, ranks those held out at random, by the best single feature and by a linear combination, measures
    the rankings, and tests whether the best one is better by more than chance.
    """
    import numpy as np

    import rankforce as rf

    data = rf.make_artificial(queries=500, documents=40, features=20, noise=0.3, seed=seed)
    train, test = data.split(0.6, 0.4, seed=seed)
    best = best_feature(train)
    rankings = {
        "at random": np.random.default_rng(seed).random(test.n_documents),
        f"feature {best}": test.features[:, test.feature_names.index(best)],
        "linear": least_squares(train, test),
    }
    results = {name: rf.evaluate(scores, test, MEASURES) for name, scores in rankings.items()}
    verdict = rf.compare(results[f"feature {best}"], results["linear"], names=(f"feature {best}", "linear"))
    if json:
        means = {name: dict(result.mean) for name, result in results.items()}
        output.show_json({"means": means, "comparison": verdict.to_dict()})
        return
    output.show(
        f"Artificial data: {train.n_queries} queries to learn from, {test.n_queries} held out "
        f"({test.n_documents:,} documents, {test.n_features} features, grades 0 to 4).\n",
        output.Table(
            ["held-out queries", *MEASURES],
            [[name, *(f"{result.mean[m]:.4f}" for m in MEASURES)] for name, result in results.items()],
        ),
        "; ".join(results["linear"].policies.sentences()) + "\n",
        in_words(verdict),
        "\nMore in a shell:\n"
        f"  rankforce generate data.txt --queries 500 --documents 40 --features 20\n"
        f"  rankforce inspect data.txt\n"
        f"  rankforce evaluate data.txt feature:{best} -m NDCG@10 -m MAP\n"
        f"  rankforce compare data.txt feature:1 feature:{best} -m NDCG@10",
    )


def in_words(verdict: Comparison) -> str:
    """The answer to the question that a comparison asks, for its first measure."""
    name = verdict.measures[0]
    low, high = verdict.interval[name]
    counts, chance = verdict.counts[name], verdict.t_test[name].p_value
    significant = "more than chance explains" if chance < 0.05 else "no more than chance explains"
    return (
        f"{verdict.names[1]} against {verdict.names[0]}: {name} {verdict.difference[name]:+.4f}, {significant}\n"
        f"  paired t-test: p {'< 0.0001' if chance < 0.0001 else f'= {chance:.4f}'}, 95 % interval of the difference "
        f"[{low:+.4f}, {high:+.4f}]\n"
        f"  better on {counts.wins:,} queries, equal on {counts.ties:,}, worse on {counts.losses:,}"
    )


def best_feature(train: Dataset) -> str:
    """The feature that ranks best alone, highest value first."""
    import rankforce as rf

    values = {name: rf.evaluate(name, train, "NDCG@10").mean["NDCG@10"] for name in train.feature_names}
    return max(values, key=values.__getitem__)


def least_squares(train: Dataset, test: Dataset) -> np.ndarray:
    """Scores of the linear function that fits the grades best in the mean square."""
    import numpy as np

    matrix = np.column_stack([train.features, np.ones(train.n_documents)]).astype(np.float64)
    weights, *_ = np.linalg.lstsq(matrix, train.labels["grades"], rcond=None)
    return test.features @ weights[:-1]
