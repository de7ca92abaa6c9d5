"""RankNet against LambdaRank on the papers' artificial data: random cubic polynomials, 50 features, 50 documents.

Linear nets and nets with 10 hidden units, both rankers with their learning rate and their epoch chosen on validation
NDCG@10. Prints test NDCG@1 … 10 with 95 % intervals, and paired tests of LambdaRank (b) against RankNet (a) on the same
queries.
The paper (10,000 / 5,000 / 10,000 queries) finds LambdaRank clearly ahead.

    python experiments/ranknet_lambdarank.py --queries 2000 1000 2000 --epochs 100
"""

from __future__ import annotations

import argparse
import time

import rankforce as rf

MEASURES = [f"NDCG@{k}" for k in range(1, 11)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, nargs=3, default=[2000, 1000, 2000], metavar=("TRAIN", "VALID", "TEST"))
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--rates", type=float, nargs="+", default=[0.0003, 0.001, 0.003])
    parser.add_argument("--measure", default="NDCG@10", help="what LambdaRank maximises")
    parser.add_argument("--preset", choices=["2006", "2009"], help="train as in a paper instead of by Adam")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    total = sum(arguments.queries)
    data = rf.make_artificial(queries=total, documents=50, features=50, seed=arguments.seed)
    train, valid, test = data.split(*(count / total for count in arguments.queries), seed=arguments.seed)
    print(f"{train.n_queries} training, {valid.n_queries} validation and {test.n_queries} test queries")
    settings = {
        "validation_measure": "NDCG@10",
        "epochs": arguments.epochs,
        "learning_rate": None if arguments.preset else arguments.rates,
        "preset": arguments.preset,
        "seed": arguments.seed,
        "progress": False,
    }
    for hidden in (0, 10):
        print(f"\n{'linear' if hidden == 0 else f'two layers, {hidden} hidden units'}")
        fitted = {}
        for name, ranker in (
            ("RankNet", rf.RankNet(hidden=hidden, **settings)),
            ("LambdaRank", rf.LambdaRank(arguments.measure, hidden=hidden, **settings)),
        ):
            began = time.perf_counter()
            fitted[name] = ranker.fit(train, validation=valid)
            seconds = time.perf_counter() - began
            best = max(ranker.history_["validation"])
            print(
                f"  {name:<11} rate {ranker.learning_rate_:g}, epoch {ranker.best_iteration_}, "
                f"validation NDCG@10 {best:.4f}, {seconds:.0f} s"
            )
        for name, ranker in fitted.items():
            print(f"\n{name}\n{rf.evaluate(ranker, test, MEASURES)}")
        print(rf.compare(fitted["RankNet"], fitted["LambdaRank"], test, MEASURES))


if __name__ == "__main__":
    main()
