"""A transformer over whole lists against a net on single documents, both trained for NDCG@10 through forces.

    python examples/torch_lists.py                  # about a minute on two cores
    python examples/torch_lists.py --epochs 2 --queries 100

The score of a document may depend on its rivals: attention over the list lets it. Needs the extra ``torch``.
"""

from __future__ import annotations

import argparse

import torch
from torch import nn

import rankforce as rf
import rankforce.torch as rft


class DocumentScorer(nn.Module):
    """A small net on the features of each document alone."""

    def __init__(self, features: int, width: int = 64) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(features, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
        )

    def forward(self, features: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.layers(features).squeeze(-1)


class ListScorer(nn.Module):
    """Documents attend to each other before they are scored; no positions, so their order does not matter."""

    def __init__(self, features: int, width: int = 64, heads: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.embed = nn.Linear(features, width)
        block = nn.TransformerEncoderLayer(width, heads, 2 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.attend = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)
        self.score = nn.Linear(width, 1)

    def forward(self, features: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.score(self.attend(self.embed(features), src_key_padding_mask=~mask)).squeeze(-1)


def padded(data: rf.Dataset) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(lists, documents, features), (lists, documents) labels and mask: short lists are filled up."""
    lists = list(data.each_query())
    shape = (len(lists), max(map(len, lists)))
    features = torch.zeros((*shape, data.n_features))
    labels = torch.zeros(shape)
    mask = torch.zeros(shape, dtype=torch.bool)
    for q, rows in enumerate(lists):
        features[q, : len(rows)] = torch.from_numpy(data.features[rows])
        labels[q, : len(rows)] = torch.from_numpy(data.labels["grades"][rows])
        mask[q, : len(rows)] = True
    return features, labels, mask


def train(model: nn.Module, data: rf.Dataset, held_out: rf.Dataset, epochs: int, batch: int = 32) -> float:
    """Train for NDCG@10; the NDCG@10 on the held-out data."""
    features, labels, mask = padded(data)
    loss = rft.RankingLoss("NDCG@10", "RankNetWeightPairs")
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        shown = []
        for chosen in torch.randperm(len(features)).split(batch):
            optimiser.zero_grad()
            value = loss(model(features[chosen], mask[chosen]), labels[chosen], mask[chosen])
            value.backward()
            optimiser.step()
            shown.append(-value.item())
        print(f"  epoch {epoch + 1:2d}: NDCG@10 {sum(shown) / len(shown):.4f} while training")
    features, labels, mask = padded(held_out)
    with torch.no_grad():
        scores = model(features, mask)[mask]
    return rf.evaluate(scores.numpy(), held_out, "NDCG@10").mean["NDCG@10"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--epochs", type=int, default=10)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    whole = rf.make_artificial(queries=arguments.queries + 300, documents=30, features=20, seed=0)
    data, held_out = whole.split(arguments.queries / (arguments.queries + 300), 300 / (arguments.queries + 300))
    for name, model in {"single documents": DocumentScorer(20), "whole lists": ListScorer(20)}.items():
        print(f"{name}: {sum(p.numel() for p in model.parameters()):,} weights")
        print(f"{name}: NDCG@10 {train(model, data, held_out, arguments.epochs):.4f} on held-out queries")


if __name__ == "__main__":
    main()
