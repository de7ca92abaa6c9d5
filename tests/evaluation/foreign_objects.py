"""Objects that someone might take for a ranking, for tests that hand them to all that takes one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import rankforce as rf
from rankforce.errors import RankforceError

LONGEST_MESSAGE = 1000


class Odd:
    """A model that answers what it is told to."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def predict(self, features: np.ndarray) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def foreign_objects(random: np.random.Generator, n: int) -> Iterator[Any]:
    """Objects that someone might take for a ranking, most of them wrong in some way."""
    arrays = [
        random.normal(size=n),
        random.normal(size=(n, 1)),
        random.normal(size=(n, random.integers(2, 4))),
        random.normal(size=max(0, n + int(random.integers(-3, 4)))),
        random.integers(-5, 5, n),
        random.integers(0, 2, n).astype(bool),
        np.full(n, np.nan),
        np.where(random.random(n) < 0.2, np.inf, 0.0),
        np.where(random.random(n) < 0.2, -np.inf, 0.0),
        np.array(["1"] * n),
        random.normal(size=n).astype(object),
        np.zeros(n, dtype="datetime64[s]"),
        random.normal(size=n).astype(np.float16),
        random.integers(2**60, 2**62, n),
        np.ma.masked_array(random.normal(size=n), random.random(n) < 0.5),
    ]
    answer: Any = arrays[random.integers(len(arrays))]
    answer = [answer, answer.tolist(), iter(answer.tolist()), {"scores": answer}, None, "1", b"1", ValueError("odd")][
        random.integers(8) if random.random() < 0.5 else 0
    ]
    yield answer
    yield Odd(answer)
    yield lambda features: answer
    yield Odd
    yield object()


def uses_of(foreign: Any, judged: rf.Dataset) -> Iterator[Any]:
    """Everything that takes a ranking."""
    yield lambda: rf.evaluate(foreign, judged, "NDCG")
    yield lambda: rf.compare("1", foreign, judged, "NDCG", blank="one")
    yield lambda: rf.combine([foreign, "1"], judged, "NDCG", blank="one")
    yield lambda: rf.LambdaMART(n_trees=1, base_model=foreign, progress=False).fit(judged)


def feed_foreign_objects(cases: int, seed: int = 0) -> int:
    """Hand random objects to all that takes a ranking; returns how many were refused.

    Each is measured, or refused by a RankforceError in few words: any other exception is the failure looked for.
    """
    random = np.random.default_rng(seed)
    refused = 0
    for _ in range(cases):
        sizes = random.integers(1, 5, random.integers(1, 5))
        n = int(sizes.sum())
        qid = np.repeat(np.arange(len(sizes)), sizes)
        judged = rf.Dataset(random.normal(size=(n, 2)), random.integers(0, 3, n), qid)
        for foreign in foreign_objects(random, n):
            for use in uses_of(foreign, judged):
                message = ""
                try:
                    use()
                except RankforceError as error:
                    message = str(error)
                refused += bool(message)
                assert len(message) < LONGEST_MESSAGE
    return refused
