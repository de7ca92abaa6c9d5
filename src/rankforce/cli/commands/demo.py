"""``rankforce demo``: the main job on data that needs no download."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankforce.cli import options, output

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset
    from rankforce.evaluation.comparison import Comparison

MEASURES = ["NDCG@10", "MAP", "MRR", "ERR@10"]


def demo(seed: options.Seed = 0, json: options.Json = False) -> None:
    """Train LambdaMART on artificial data and measure it.

    Makes 1,000 queries, trains for NDCG@10 with early stopping, and tests on held-out queries whether the ranker beats
    the best single feature by more than chance.
    """
    import rankforce as rf
    from rankforce.console.interruption import interrupting_at_once

    data = rf.make_artificial(queries=1000, documents=40, features=20, noise=0.3, seed=seed)
    train, validation, test = data.split(0.5, 0.2, 0.3, seed=seed)
    best_name = best_feature(train)
    ranker = rf.LambdaMART("NDCG@10", n_trees=300, n_leaves=15, early_stopping=30, seed=seed)
    with interrupting_at_once():  # what is shown below is of a whole training
        ranker.fit(train, validation=validation)
    rankings = {"feature " + best_name: best_name, "LambdaMART": ranker}
    results = {name: rf.evaluate(ranking, test, MEASURES) for name, ranking in rankings.items()}
    feature, trees = results
    verdict = rf.compare(results[feature], results[trees], names=(feature, trees))
    if json:
        means = {name: dict(result.mean) for name, result in results.items()}
        output.show_json({"means": means, "trees": ranker.best_iteration_, "comparison": verdict.to_dict()})
        return
    output.show(
        f"Artificial data: {train.n_queries} queries to learn from, {validation.n_queries} to stop by, "
        f"{test.n_queries} held out ({test.n_documents:,} documents, {test.n_features} features, grades 0 to 4).\n"
        f"LambdaMART for NDCG@10: {ranker.best_iteration_} trees "
        f"(validation {max(ranker.history_['validation']):.4f}, {len(ranker.history_['validation'])} tried).\n",
        output.Table(
            ["held-out queries", *MEASURES],
            [[name, *(f"{result.mean[m]:.4f}" for m in MEASURES)] for name, result in results.items()],
        ),
        "; ".join(results["LambdaMART"].policies.sentences()) + "\n",
        in_words(verdict),
        "\nMore in a shell:\n"
        "  rankforce generate data.txt --queries 500 --documents 40 --features 20\n"
        "  rankforce inspect data.txt\n"
        "  rankforce train data.txt -o model.json -m NDCG@10 --trees 100\n"
        f"  rankforce compare data.txt feature:{best_name} model.json -m NDCG@10",
    )


def in_words(verdict: Comparison) -> str:
    """The answer to the question that a comparison asks, for its first measure."""
    name = verdict.measures[0]
    low, high = verdict.interval[name]
    counts, chance = verdict.counts[name], verdict.p_value[name]
    test = {"t-test": "paired t-test", "randomisation": "randomisation test"}[verdict.deciding_test(name)]
    significant = "more than chance explains" if chance < 0.05 else "no more than chance explains"
    return (
        f"{verdict.names[1]} against {verdict.names[0]}: {name} {verdict.difference[name]:+.4f}, {significant}\n"
        f"  {test}: p {'< 0.0001' if chance < 0.0001 else f'= {chance:.4f}'}, 95 % interval of the difference "
        f"[{low:+.4f}, {high:+.4f}]\n"
        f"  better on {counts.wins:,} queries, equal on {counts.ties:,}, worse on {counts.losses:,}"
    )


def best_feature(train: Dataset) -> str:
    """The feature that ranks best alone, highest value first."""
    import rankforce as rf

    values = {name: rf.evaluate(name, train, "NDCG@10").mean["NDCG@10"] for name in train.feature_names}
    return max(values, key=values.__getitem__)
