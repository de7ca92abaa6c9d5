"""Why nets trained for MRR by Eq. 11 of the local optimality paper do not learn: the swaps, or the optimiser?

    python experiments/mrr_swaps.py --draws 3

By Eq. 11 a pair pulls only if its swap raises MRR (``swaps=upward``). That is compared with all swaps that change MRR,
and with training for NDCG, by Adam and by the paper's way (preset "2009", with rates up to ten times its highest), on
artificial data and on web-like data as large as that of ``rankforce reproduce lambda-functions --quick``. The epoch and
the rate are chosen by validation MRR. Printed are test and training MRR of every draw.
"""

from __future__ import annotations

import argparse
from typing import Any

from rankforce.evaluation.evaluate import evaluate
from rankforce.rankers.lambdarank import LambdaRank
from rankforce.reproducing.data_sets import artificial, web_like

MRR = "MRR(relevant=2,swaps=upward)"
MEASURES = {"NDCG": "NDCG", "MRR, swaps that raise it": MRR, "MRR, all swaps": "MRR(relevant=2)"}
OPTIMISERS: dict[str, dict[str, Any]] = {
    "Adam": {"epochs": 25, "learning_rate": [0.001, 0.003, 0.01]},
    "2009": {"epochs": 200, "learning_rate": [1e-4, 1e-3, 1e-2], "preset": "2009"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=3)
    draws = range(1, parser.parse_args().draws + 1)
    kinds = {
        "artificial": [artificial((600, 300, 1000), 30, 15, seed) for seed in draws],
        "web-like": [web_like((300, 300, 1500), (20, 60), 40, seed) for seed in draws],
    }
    for kind, made in kinds.items():
        for name, measure in MEASURES.items():
            for optimiser, settings in OPTIMISERS.items():
                tests, trains = [], []
                for seed, data in zip(draws, made, strict=True):
                    ranker = LambdaRank(
                        measure, hidden=10, seed=seed, validation_measure=MRR, progress=False, **settings
                    ).fit(data.train, validation=data.valid)
                    tests.append(f"{evaluate(ranker, data.test, MRR).mean[MRR]:.3f}")
                    trains.append(f"{evaluate(ranker, data.train, MRR).mean[MRR]:.3f}")
                found = f"test {' '.join(tests)}, training {' '.join(trains)}"
                print(f"{kind:10} {name:25} {optimiser:4} {found}", flush=True)


if __name__ == "__main__":
    main()
