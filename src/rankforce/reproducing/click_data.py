"""Artificial queries with two label sources: grades of judges, and clicks that know what grades do not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankforce.data.artificial.artificial import WEB_SHARES, Cubic, grades_by_quantile
from rankforce.data.dataset import Dataset
from rankforce.data.random_streams import Stream
from rankforce.reproducing.data_sets import Parts, in_parts

RELEVANCE, TASTE = 16, 6  # features
SOURCES = {"equal queries": "equal", "similar queries": "similar"}  # titles of the paper's two click labels


def clicked_queries(
    queries: Sequence[int], documents: int, seed: int, *, taste: float = 1.0, detail: float = 0.4,
    shares: Sequence[float] = WEB_SHARES,
) -> Parts:  # fmt: skip
    """A document has 16 features of relevance and 6 of taste; relevance r and taste t are random cubic functions of
    their own features. The grade is r with a judge's noise, cut into the shares of web data. Users are drawn by
    0.5 × grade + 0.4 × r + ``taste`` × t + noise: within a grade clicks still tell of relevance, and they tell of a
    taste that grades know nothing of.

    Label ``equal`` is the clicked share of 50 impressions of a query, half of whose documents were never shown (0);
    ``similar`` adds the users of similar queries: 250 impressions, a quarter never shown, and intents that scatter.
    ``fresh`` is a coin that one feature tells with noise.
    """
    random = Stream.EXPERIMENT_CLICKS.generator(seed)
    total = sum(queries)
    n = total * documents
    features = random.uniform(-1.0, 1.0, (n, RELEVANCE + TASTE)).astype(np.float32)
    relevance = standardised(Cubic.draw(RELEVANCE, 2 * seed)(features[:, :RELEVANCE]))
    liking = standardised(Cubic.draw(TASTE, 2 * seed + 1)(features[:, RELEVANCE:]))
    grades = grades_by_quantile(relevance + 0.5 * random.standard_normal(n), shares)
    drawn = standardised(
        (0.9 - detail) * grades + detail * relevance + taste * liking + 0.3 * random.standard_normal(n)
    )
    equal = random.binomial(50, _chance(drawn)) / 50
    equal[random.random(n) < 0.5] = 0.0
    scattered = standardised(drawn + 0.5 * random.standard_normal(n))
    similar = random.binomial(250, _chance(scattered)) / 250
    similar[random.random(n) < 0.25] = 0.0
    fresh = random.integers(0, 2, n).astype(float)
    features = np.column_stack([features, fresh + 0.5 * random.standard_normal(n)])
    ids = np.repeat(np.arange(1, total + 1), documents)
    data = Dataset(features, grades, ids, labels={"equal": equal, "similar": similar, "fresh": fresh})
    return in_parts(data, queries)


def standardised(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std()


def _chance(attraction: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(0.8 - 1.2 * attraction))
