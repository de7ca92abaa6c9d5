"""Are trained LambdaRank nets at a local optimum of what they were trained for? The certificate of 459 directions.

    python experiments/local_optimality.py                          # some minutes
    python experiments/local_optimality.py --queries 10000 --features 300 --epochs 100

Artificial data (cubic polynomials, 50 documents per query). For NDCG, NDCG@10, MAP and MRR, nets of one and of two
layers are trained, and tested on their training data: no direction may ascend. Random weights, tested likewise, must
fail. The test is also made with smaller steps (--scales): near enough to any weights a measure is a step function, and
there some step up is always found.
"""

from __future__ import annotations

import argparse
import time

import rankforce as rf

# Half of the documents have a grade above 0, so that nearly every query begins with one: MRR of grades from 3 on is
# the one that there is something to learn for.
MEASURES = ("NDCG", "NDCG@10", "MAP", "MRR(relevant=3)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=5000)
    parser.add_argument("--documents", type=int, default=50)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--hidden", type=int, nargs="+", default=[0, 10])
    parser.add_argument("--epochs", type=int, default=20, help="of updates per query")
    parser.add_argument("--batches", type=int, default=300, help="further epochs, of one update each")
    parser.add_argument("--rate", type=float, default=0.003)
    parser.add_argument("--measures", nargs="+", default=list(MEASURES))
    parser.add_argument("--scales", type=float, nargs="+", default=[1.0])
    parser.add_argument("--epsilon", type=float, default=0.01)
    parser.add_argument("--delta", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    data = rf.make_artificial(asked.queries, asked.documents, asked.features, seed=asked.seed)
    heads = ("measure", "layers", "weights", "scale", "value", "ascending", "flat", "nearest", "seconds")
    print(f"{asked.queries:,} queries of {asked.documents} documents, {asked.features} features")
    print("{:15} {:>6} {:>8} {:>6} {:>8} {:>10} {:>5} {:>10} {:>8}".format(*heads))
    for hidden in asked.hidden:
        for measure in asked.measures:
            trained = trained_net(data, measure, hidden, asked)
            random = trained.with_weights(trained.layout.start(asked.seed + 1000))
            for name, model in (("trained", trained), ("random", random)):
                for scale in asked.scales:
                    began = time.perf_counter()
                    found = rf.diagnostics.local_optimality(
                        model,
                        data,
                        measure,
                        epsilon=asked.epsilon,
                        delta=asked.delta,
                        scale=scale,
                        seed=asked.seed,
                        progress=False,
                    )
                    lines = found.directions
                    ascending = f"{len(lines.ascending)}/{len(lines)}"
                    print(
                        f"{measure:15} {1 if hidden == 0 else 2:>6} {name:>8} {scale:>6g} {found.value:>8.4f} "
                        f"{ascending:>10} {len(lines.flat):>5} {lines.steepest()[2]:>+10.5f} "
                        f"{time.perf_counter() - began:>8.1f}",
                        flush=True,
                    )


def trained_net(data: rf.Dataset, measure: str, hidden: int, asked: argparse.Namespace) -> rf.Model:
    """A net trained by queries, then by full batches, whose steps all queries share: it comes to rest."""
    common = {"hidden": hidden, "seed": asked.seed, "progress": False}
    rough = rf.LambdaRank(measure, epochs=asked.epochs, learning_rate=asked.rate, **common).fit(data)
    fine = rf.LambdaRank(
        measure, epochs=asked.batches, learning_rate=asked.rate / 3, update="batch", base_model=rough, **common
    )
    return fine.fit(data).model_


if __name__ == "__main__":
    main()
