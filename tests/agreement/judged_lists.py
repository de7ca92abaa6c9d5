"""Judged lists on which tools disagree: ties, blank queries, short lists, single documents."""

from __future__ import annotations

import dataclasses

import numpy as np

import rankforce as rf


@dataclasses.dataclass(frozen=True)
class JudgedLists:
    labels: np.ndarray
    scores: np.ndarray
    sizes: np.ndarray
    weights: np.ndarray  # per query

    @property
    def queries(self) -> np.ndarray:
        return np.repeat(np.arange(1, len(self.sizes) + 1), self.sizes)

    def data(self, weighted: bool = False) -> rf.Dataset:
        return rf.Dataset(
            np.zeros((len(self.labels), 1)),
            self.labels,
            self.queries,
            query_weights=self.weights if weighted else None,
            document_ids=[f"d{(7 * place) % 101}-{place}" for place in range(len(self.labels))],
        )


def judged_lists(grades: int = 5, seed: int = 0, least: int = 1, queries: int = 60) -> JudgedLists:
    """Queries of ``least`` to 25 documents, a fifth of them blank, with few distinct scores."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(least, 26, queries)
    sizes[:4] = [least, max(2, least), max(3, least), 25]
    labels = generator.choice(grades, sizes.sum(), p=_shares(grades)).astype(np.float64)
    blank = np.repeat(np.arange(queries) % 5 == 1, sizes)
    labels[blank] = 0.0
    scores = generator.integers(0, 8, sizes.sum()) / 8.0  # exact in float32
    return JudgedLists(labels, scores, sizes, generator.integers(1, 5, queries).astype(np.float64))


def _shares(grades: int) -> np.ndarray:
    shares = 0.5 ** np.arange(grades)
    return shares / shares.sum()
