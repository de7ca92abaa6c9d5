"""Random streams, each with a name: whatever is drawn at random says what it decides.

Two draws that begin with the same seed must not share their numbers, or what looks like two accidents is one: label
noise that follows the order of ties, initial weights that follow the choice of features. So a draw is a method of a
``Stream``, which mixes the name of the stream into every number before the seed, and a purpose has a stream of its own.

A draw by hash (``words``, ``uniform``) depends on its parts alone: a seed, the number of a tree, query ids. It serves
wherever the order of the queries, the threads or an interruption must not matter. ``generator`` is for numbers that
are drawn one after the other.
"""

from __future__ import annotations

import enum
import hashlib
from typing import Any

import numpy as np

from rankforce.data.hashing import combine


class Stream(enum.Enum):
    """What a random draw decides. A member that is renamed draws other numbers: models change with it."""

    # data
    ARTIFICIAL_DATA = "features, noise and clicks of make_artificial"
    ARTIFICIAL_FUNCTION = "the truth of make_artificial"
    WEB_LIKE_DATA = "features and noise of make_web_like"
    WEB_LIKE_FUNCTION = "what the features of make_web_like show"
    SESSION_RANKER = "which of several rankings a simulated session sees"
    SESSION_ORDER = "which places of a simulated list are exchanged"
    SIMULATED_CLICKS = "what the users of simulate_clicks look at and click"
    PROPENSITY_SAMPLES = "the queries of a bootstrap sample of a click log"
    EXPERIMENT_CLICKS = "documents and clicks of the experiments with two label sources"
    EXPERIMENT_GAPS = "which click labels an experiment leaves out"
    EXPERIMENT_LISTS = "lists of grades whose swaps an experiment looks at"
    LABEL_NOISE = "which grades confuse_labels changes"
    SPLIT = "the part that a query goes to"
    FOLDS = "the fold that a query goes to"
    # training
    TIES = "the order of equal scores in training"
    PAIR_SAMPLE = "which partners a document is paired with"
    FORCE_ROUNDING = "which way small forces are rounded"
    BINNING_SAMPLE = "the queries whose quantiles make the bins"
    TREE_QUERIES = "the queries that a tree sees"
    TREE_FEATURES = "the features that a tree sees"
    GRAPH_FEATURES = "the features that a graph of XRank sees"
    NET_WEIGHTS = "the first weights of a net"
    QUERY_ORDER = "the order of the queries in an epoch of a net"
    NET_PACE = "when a net learns more slowly"
    DOCUMENT_ORDER = "the order of the documents in an epoch of PRank"
    SHOWN_DOCUMENTS = "the documents that a member of PRank sees"
    BAGGED_QUERIES = "the queries that a bagged ranker sees"
    BAGGED_SEEDS = "the seeds of bagged rankers"
    KNOWN_QUERIES = "the queries whose distribution a model keeps"
    # searches
    PERTURBATIONS = "the signs of SPSA"
    TRIALS = "the settings that tune tries"
    OPTUNA = "the seed of Optuna's sampler"
    COMBINATION_STARTS = "where combine starts and in which turn it goes on"
    # evaluation and diagnostics
    TIE_ORDERS = "the orders of ties whose values are averaged"
    BOOTSTRAP = "the queries of a bootstrap sample"
    RESAMPLED_VIEWS = "the sessions or queries of a bootstrap sample of a log"
    SIGN_FLIPS = "the exchanges of the randomisation test"
    DIRECTIONS = "the directions of local_optimality"
    SMOOTHNESS_SAMPLE = "the queries that smoothness looks at"
    FORCE_POINTS = "the scores that check_forces looks at"
    MEASURE_CHECK = "the lists on which methods of a user's measure are compared"
    LEAK_SAMPLE = "the documents that are searched for leaks"
    BACKGROUND = "the documents that explanations compare with"
    PERMUTED_VALUES = "which document gets whose value of a feature, for its importance"
    STRENGTH_PAIRS = "the pairs that tell the strength of a feature"
    EXPORT_ROWS = "rows that an exported file is checked on"
    REPORT_QUERIES = "the queries that a report looks into"

    word: np.uint64  # what the stream begins with

    def __init__(self, purpose: str) -> None:
        self.purpose = purpose
        self.word = np.uint64(int.from_bytes(hashlib.blake2b(self.name.encode(), digest_size=8).digest(), "little"))

    def words(self, *parts: Any) -> np.ndarray:
        """A random 64-bit word for every combination of parts (numbers or arrays, broadcast), order mattering."""
        return combine(self.word, *parts)

    def uniform(self, *parts: Any) -> np.ndarray:
        """Such words as numbers in [0, 1), with 53 bits."""
        return (self.words(*parts) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def generator(self, *parts: int) -> np.random.Generator:
        """NumPy's generator, begun with such words."""
        return np.random.default_rng([int(word) for word in self.words(*parts, np.arange(4))])
