"""Settings of LambdaMART from its whole constructor."""

from __future__ import annotations

import rankforce as rf


def random_settings(random):
    """Settings that go together, for few trees on few documents with grades and clicks."""

    def any_of(*values):
        return values[int(random.integers(len(values)))]

    step = any_of("newton", "newton", "gradient")
    objective = any_of(None, None, rf.Graded(["NDCG", "CNDCG:clicks"], [0.8, 0.2]))
    settings = {
        "n_trees": int(random.integers(2, 6)),
        "n_leaves": any_of(int(random.integers(2, 12)), random.integers(2, 12, 3).tolist()),
        "learning_rate": float(random.uniform(0.05, 0.8)),
        "min_documents": int(random.integers(1, 30)),
        "max_depth": any_of(None, 2, 3),
        "l2": any_of(0.0, 0.5),
        "min_gain": any_of(0.0, 0.01),
        "growth": any_of("auto", "leafwise", "symmetric"),
        "step": step,
        "sigma": any_of(0.5, 1.0, 2.0),
        "pairs": any_of("all", ("top", 7), ("sample", 3)),
        "feature_fraction": any_of(0.4, 1.0),
        "query_fraction": any_of(0.3, 1.0),
        "monotone": any_of(None, {1: 1}, {1: -1, 2: 1}),
        "early_stopping": any_of(None, 2),
        "memory": any_of("auto", "low"),
        "seed": int(random.integers(1000)),
        "objective": objective,
    }
    if objective is None:
        settings["measure"] = any_of("NDCG", "NDCG@5", "MAP", "ERR", "PairwiseAccuracy")
        settings["lambda_function"] = any_of(None, "RankNetWeightPairs")
    return settings
