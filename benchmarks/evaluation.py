"""Evaluating a ranking: NDCG@10, MAP and MRR of 2,000 queries × 100 documents, against pytrec_eval and ranx.

The peers' data structures are built beforehand and not timed; ranx has run once before, so that its kernels are
compiled. Of rankforce the whole of ``rf.evaluate`` is timed, sorting included, from a data set and an array of
scores: the first time on a data set (labels are judged and remembered), and again (as early stopping does).
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np

import rankforce as rf

QUERIES, DOCUMENTS = 2000, 100
MEASURES = ["NDCG@10(gain=linear)", "MAP", "MRR"]


def seconds(work: Callable[[], object], repeats: int) -> float:
    """The median time of some calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    generator = np.random.default_rng(0)
    n = QUERIES * DOCUMENTS
    labels = generator.choice(5, n, p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(np.float64)
    scores = generator.normal(size=n) + 0.3 * labels
    names = [f"d{place}" for place in range(DOCUMENTS)]

    def new_data() -> rf.Dataset:
        return rf.Dataset(np.zeros((n, 1), dtype=np.float32), labels, group=[DOCUMENTS] * QUERIES)

    data = new_data()
    ours = rf.evaluate(scores, data, MEASURES, blank="zero")
    fresh = iter([new_data() for _ in range(15)])
    rows = [
        ("rankforce, again", seconds(lambda: dict(rf.evaluate(scores, data, MEASURES, blank="zero").mean), 31)),
        ("rankforce, first", seconds(lambda: dict(rf.evaluate(scores, next(fresh), MEASURES, blank="zero").mean), 15)),
    ]

    per_query = list(zip(labels.reshape(QUERIES, -1), scores.reshape(QUERIES, -1), strict=True))
    judgments = {str(q): dict(zip(names, map(int, of_query), strict=True)) for q, (of_query, _) in enumerate(per_query)}
    run = {str(q): dict(zip(names, map(float, of_query), strict=True)) for q, (_, of_query) in enumerate(per_query)}

    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(judgments, {"ndcg_cut.10", "map", "recip_rank"})
    theirs = evaluator.evaluate(run)
    for ours_name, name in zip(MEASURES, ("ndcg_cut_10", "map", "recip_rank"), strict=True):
        mean = statistics.fmean(values[name] for values in theirs.values())
        assert abs(ours.mean[ours_name] - mean) < 1e-9, f"{ours_name}: {ours.mean[ours_name]} is not {mean}"
    rows.append(("pytrec_eval", seconds(lambda: evaluator.evaluate(run), 9)))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ranx's own dependencies warn on import and compilation
        import ranx

        qrels = ranx.Qrels(judgments)
        ranking = ranx.Run(run)

        def evaluate_with_ranx() -> object:
            return ranx.evaluate(qrels, ranking, ["ndcg@10", "map", "mrr"])

        evaluate_with_ranx()
        rows.append(("ranx", seconds(evaluate_with_ranx, 9)))

    print(f"{', '.join(MEASURES)}; {QUERIES:,} queries × {DOCUMENTS} documents; same values to 1e-9")
    print(f"{'':18}{'ms':>9}{'× again':>10}{'× first':>10}")
    for name, taken in rows:
        print(f"{name:18}{1e3 * taken:9.2f}{taken / rows[0][1]:10.1f}{taken / rows[1][1]:10.1f}")


if __name__ == "__main__":
    main()
