"""Training a net: microseconds per query of an epoch of per-query updates, against a plain PyTorch loop.

Same data, net, λ-function and updates: NDCG's λ (all pairs of different grades), one gradient step per query. The
PyTorch loop is what one would write: forward, ranks by sorting, the matrix of pair weights, backward through the
scores, step.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import rankforce as rf
from rankforce.models.net_layout import Layout
from rankforce.models.net_scaling import Scaling
from rankforce.nets.updates import Learning, Source, updates_of
from rankforce.objectives.objective import Objective, Term
from rankforce.threads import default_threads


class TorchLoop:
    """The same training in PyTorch, float64."""

    def __init__(self, layout: Layout, weights: np.ndarray, inputs: np.ndarray, data: Any, rate: float) -> None:
        import torch

        self.torch = torch
        hidden = torch.nn.Linear(layout.features, layout.hidden, dtype=torch.float64)
        output = torch.nn.Linear(layout.hidden, 1, dtype=torch.float64)
        with torch.no_grad():
            hidden.weight.copy_(torch.tensor(layout.hidden_weights(weights)))
            hidden.bias.copy_(torch.tensor(layout.hidden_biases(weights)))
            output.weight.copy_(torch.tensor(layout.output_weights(weights))[None])
            output.bias.copy_(torch.tensor(weights[-1:]))
        self.net = torch.nn.Sequential(hidden, torch.nn.Tanh(), output)
        self.optimiser = torch.optim.SGD(self.net.parameters(), lr=rate)
        grades = data.labels["grades"]
        self.queries = []
        for first, last in zip(data.query_starts[:-1], data.query_starts[1:], strict=True):
            x = torch.tensor(inputs[first:last].astype(np.float64))
            gain = torch.tensor(2.0 ** grades[first:last] - 1.0)
            discounts = 1.0 / torch.log2(torch.arange(last - first, dtype=torch.float64) + 2.0)
            best = (torch.sort(gain, descending=True).values * discounts).sum()
            self.queries.append((x, gain, discounts, best))

    def epoch(self, sequence: np.ndarray) -> None:
        torch = self.torch
        for q in sequence:
            x, gain, discounts, best = self.queries[q]
            if best == 0:
                continue
            self.optimiser.zero_grad()
            scores = self.net(x).squeeze(1)
            with torch.no_grad():
                ranks = torch.empty(len(scores), dtype=torch.long)
                ranks[torch.argsort(scores, descending=True)] = torch.arange(len(scores))
                discount = discounts[ranks]
                change = (gain[:, None] - gain[None, :]) * (discount[:, None] - discount[None, :])
                weight = torch.where(gain[:, None] > gain[None, :], change.abs() / best, 0.0)
            gaps = scores[:, None] - scores[None, :]
            (weight * torch.nn.functional.softplus(-gaps)).sum().backward()
            self.optimiser.step()

    def weights(self) -> np.ndarray:
        return np.concatenate([part.detach().numpy().ravel() for part in self.net.parameters()])


def benchmark(queries: int, documents: int, features: int, hidden: int, repeats: int) -> None:
    import torch

    data = rf.make_artificial(queries=queries, documents=documents, features=features, seed=0)
    inputs = Scaling.of(data, "standard").of_data(data)
    layout = Layout(features, hidden)
    rate = 0.01
    print(f"{queries} queries of {documents} documents, {features} features, {hidden} hidden units")
    for name, term in (("NDCG", Term(rf.NDCG())), ("NDCG@10", Term(rf.NDCG(10))), ("MAP", Term(rf.MAP()))):
        for optimiser in ("gradient", "adam"):
            updates = updates_of("query", data, inputs, layout, Source(Objective((term,)), 0), adam=optimiser == "adam")
            learning = Learning.starting(layout.start(0), data.n_documents)
            updates.epoch(learning, rate, 0)  # compiles
            first = learning.weights.copy()
            seconds = []
            for number in range(1, repeats + 1):
                start = time.perf_counter()
                updates.epoch(learning, rate, number)
                seconds.append(time.perf_counter() - start)
            ours = 1e6 * min(seconds) / queries
            print(f"  rankforce, {name}, {optimiser:<10}{ours:>10.1f} µs per query")
            if name == "NDCG" and optimiser == "gradient":
                reference, ours_after = ours, first
    for threads in sorted({1, default_threads()}):
        torch.set_num_threads(threads)
        loop = TorchLoop(layout, layout.start(0), inputs, data, rate)
        loop.epoch(updates._sequence(0))
        difference = float(np.abs(loop.weights() - ours_after).max())
        start = time.perf_counter()
        loop.epoch(updates._sequence(1))
        theirs = 1e6 * (time.perf_counter() - start) / queries
        print(f"  PyTorch {torch.__version__}, NDCG, {threads} thread{'s' * (threads > 1)}{theirs:>10.1f} µs per query")
        print(f"    rankforce is {theirs / reference:.1f}x as fast; weights after an epoch differ by {difference:.1g}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--documents", type=int, default=50)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--hidden", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    benchmark(arguments.queries, arguments.documents, arguments.features, arguments.hidden, arguments.repeats)


if __name__ == "__main__":
    main()
