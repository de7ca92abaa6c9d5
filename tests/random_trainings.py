"""Trainings at random, from the whole constructor of every ranker that several members can train, and their data."""

from __future__ import annotations

import warnings

import numpy as np

import rankforce as rf
from rankforce.errors import RankforceError


def huber(scores, labels, data):
    error = labels - scores
    return np.clip(error, -1, 1), (np.abs(error) < 1).astype(float) + 0.1


def squares(labels):
    return labels**2


def drawn_data(random, queries):
    """A training and a validation set: missing values and labels, categories, weights, ties, blank queries."""
    n_features = int(random.integers(3, 9))
    names = [f"f{place}" for place in range(n_features)]
    categorical = bool(random.random() < 0.4)
    weighted, query_weighted = random.random(2) < 0.4

    def made(queries):
        sizes = random.integers(1, 25, queries)
        sizes[random.integers(queries)] += int(random.integers(0, 60))
        qid = np.repeat(random.permutation(10 * queries)[:queries], sizes)
        X = random.normal(size=(len(qid), n_features)).astype(np.float32)
        X[:, 1] = np.round(X[:, 1])
        X[random.random(len(qid)) < 0.15, -1] = np.nan
        if categorical:
            X[:, 0] = random.integers(-1, 6, len(qid))
        merit = X[:, 0] * X[:, 1] + random.normal(size=len(qid))
        grades = np.clip(np.round(merit + 1), 0, 4)
        grades[np.isin(qid, np.unique(qid)[::7])] = 0.0  # blank queries
        clicks = np.clip(0.2 * grades + 0.3 * random.random(len(qid)), 0, 1)
        clicks[random.random(len(qid)) < 0.2] = np.nan
        return rf.Dataset(
            X,
            qid=qid,
            labels={"grades": grades, "clicks": clicks},
            feature_names=names,
            categories={"f0": list("abcdef")} if categorical else None,
            weights=random.integers(0, 4, len(qid)) / 2.0 if weighted else None,
            query_weights=random.integers(0, 5, queries) / 4.0 if query_weighted else None,
        )

    return made(queries), made(max(5, queries // 2))


def _maybe(random, chance, **settings):
    return settings if random.random() < chance else {}


def _one(random, *values):
    return values[int(random.integers(len(values)))]


def _of_trees(random, data):
    """Settings that LambdaMART and MART share."""
    numeric = [name for name in data.feature_names[:-1] if name not in data.categories]  # the last has missing values
    return {
        "n_trees": int(random.integers(1, 6)),
        "n_leaves": _one(random, int(random.integers(2, 12)), random.integers(2, 12, 3).tolist()),
        "learning_rate": float(_one(random, 0.1, 0.5, 1.0)),
        "min_documents": int(random.integers(1, 25)),
        "seed": int(random.integers(5)),
        "progress": False,
        **_maybe(random, 0.3, l2=float(_one(random, 0.5, 3.0))),
        **_maybe(random, 0.2, min_gain=float(_one(random, 0.001, 0.1))),
        **_maybe(random, 0.3, max_depth=int(random.integers(1, 5))),
        **_maybe(random, 0.7, growth=_one(random, "leafwise", "symmetric")),
        **_maybe(random, 0.4, max_bins=int(_one(random, 2, 7, 40))),
        **_maybe(random, 0.3, feature_fraction=float(_one(random, 0.3, 0.8))),
        **_maybe(random, 0.3, query_fraction=float(_one(random, 0.02, 0.3, 0.8))),
        **_maybe(random, 0.3, monotone={numeric[0]: _one(random, 1, -1)}),
        **_maybe(random, 0.3, category_smoothing=float(_one(random, 0.0, 30.0))),
        **_maybe(random, 0.2, base_model=numeric[0]),
        **_maybe(random, 0.3, early_stopping=int(random.integers(1, 4))),
        **_maybe(
            random,
            0.35,
            line_search=int(random.integers(1, 3)),
            line_search_on=_one(random, "train", "validation"),
        ),
        **_maybe(random, 0.5, memory=_one(random, "fast", "low")),
        **_maybe(random, 0.5, threads=int(random.integers(1, 3))),
    }


def _lambdamart(random, data):
    tiers = _one(random, ["NDCG@5", "CNDCG:clicks"], ["MAP", "NDCG:clicks", "NDCG"])
    objective = _one(
        random,
        rf.Graded(tiers, [1 / len(tiers)] * len(tiers)),
        rf.Scheduled("NDCG@3", "NDCG:clicks", rf.schedules.Linear(0.1, 0.3)),
        rf.Scheduled(rf.Graded(tiers, [1 / len(tiers)] * len(tiers)), "MAP", [0.2, 0.9]),
    )
    measures = ("NDCG", "NDCG@3", "MAP", "ERR", "KendallTau", "PairwiseAccuracy", "MRR", "NDCG:clicks")
    return rf.LambdaMART(
        **_of_trees(random, data),
        **({"objective": objective} if random.random() < 0.3 else {"measure": _one(random, *measures)}),
        **_maybe(random, 0.2, preset=_one(random, "2010", "2011")),
        **_maybe(random, 0.2, split=_one(random, "newton", "least_squares")),
        **_maybe(random, 0.2, step=_one(random, "newton", "gradient")),
        **_maybe(random, 0.2, sigma=float(_one(random, 0.3, 2.0))),
        **_maybe(random, 0.2, max_step=float(_one(random, 0.5, 5.0))),
        **_maybe(random, 0.3, anchor=float(_one(random, 0.0, 0.7))),
        **_maybe(random, 0.3, normalise=_one(random, "none", "log", "deviation")),
        **_maybe(random, 0.4, pairs=_one(random, ("top", 5), ("sample", 3))),
        **_maybe(random, 0.2, lambda_function=_one(random, "RankNetWeightPairs", "LocalCost(k=3)", "Spring(delta=2)")),
        **_maybe(random, 0.3, validation_measure=_one(random, "MAP", ["NDCG", "CNDCG:clicks"], "KendallTau")),
    )


def _mart(random, data):
    cost = _one(random, "regression", "binary", "balanced", "multiclass", "ordinal", huber)
    return rf.MART(
        cost,
        **_of_trees(random, data),
        **(_maybe(random, 0.5, target=_one(random, "gains", "ERR", squares)) if cost == "regression" else {}),
        **(_maybe(random, 0.5, values="gains") if cost in ("multiclass", "ordinal") else {}),
        **_maybe(random, 0.2, relevant=2.0),
        **_maybe(random, 0.2, label="clicks"),
        **_maybe(random, 0.2, sigma=float(_one(random, 0.3, 2.0))),
        **_maybe(random, 0.2, max_step=float(_one(random, 0.5, 5.0))),
        **_maybe(random, 0.3, split=_one(random, "newton", "least_squares")),
        **_maybe(random, 0.3, validation_measure=_one(random, "MAP", "NDCG@2:clicks")),
    )


def drawn_ranker(random, data):
    """A function that makes the ranker: settings from the whole constructor, which may contradict each other."""
    seed = int(random.integers(2**31))

    def make():
        again = np.random.default_rng(seed)
        kind = again.random()
        if kind < 0.08:
            inner = _one(again, _lambdamart, _mart)(again, data)
            inner.set_params(line_search_on="train")
            return rf.Bagging(
                inner,
                int(again.integers(2, 4)),
                query_fraction=float(_one(again, 0.3, 0.7, 1.0)),
                sample=_one(again, "queries", "folds"),
                seed=3,
                progress=False,
            )
        return (_lambdamart if kind < 0.6 else _mart)(again, data)

    return make


def drawn_shares(random, n_queries, members):
    """Queries of each member, rising; some may have none."""
    kind = random.integers(3)
    if kind == 0:
        cuts = np.sort(random.integers(0, n_queries + 1, members - 1))
    else:
        cuts = np.linspace(0, n_queries, members + 1).astype(int)[1:-1]
    return [np.sort(one) for one in np.split(random.permutation(n_queries), cuts)]


def drawn_preferences(random, data):
    """Pairs of rows of one query each, by their places in it: (query id, place, place, probability, weight)."""
    pairs = []
    for query in range(data.n_queries):
        size = int(data.query_sizes[query])
        for _ in range(int(random.integers(0, 4)) if size > 1 else 0):
            first, second = random.choice(size, 2, replace=False).tolist()
            pairs.append((data.query_id(query), first, second, float(random.random()), float(random.integers(0, 3))))
    return pairs


def preferences_of(data, pairs):
    """The pairs that are about the queries of this data."""
    rows = {data.query_id(query): of for query, of in enumerate(data.each_query())}
    mine = [pair for pair in pairs if pair[0] in rows]
    better, worse = ([int(rows[pair[0]][pair[place]]) for pair in mine] for place in (1, 2))
    return rf.Preferences(data, better, worse, [pair[3] for pair in mine], [pair[4] for pair in mine])


def outcome(ranker, data, held_out, **inputs):
    """The bytes of the model, or the kind of the error."""
    from rankforce.models.storage import to_bytes

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return to_bytes(ranker.fit(data, validation=held_out, **inputs).model_)
        except RankforceError as error:
            return type(error).__name__, str(error)
