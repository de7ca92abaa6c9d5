"""What a model remembers of its data, against slow counterparts."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

import rankforce as rf
from rankforce.models.provenance import ROWS_AT_A_TIME, feature_ranges
from rankforce.threads import using_threads


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("rows", [1, 700, 3 * ROWS_AT_A_TIME + 5])
def test_ranges_of_features(rows, threads):
    rng = np.random.default_rng(rows)
    X = rng.normal(size=(rows, 4)).astype(np.float32)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:, 2] = np.nan
    with using_threads(threads):
        lows, highs, missing = feature_ranges(X)
    for j in range(4):
        present = X[~np.isnan(X[:, j]), j]
        np.testing.assert_equal(lows[j], float(present.min()) if len(present) else np.nan)
        np.testing.assert_equal(highs[j], float(present.max()) if len(present) else np.nan)
        assert missing[j] == (rows - len(present)) / rows


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shuffled", [False, True])
def test_a_fingerprint_by_hand(shuffled, threads):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 3)).astype(np.float32), rng.integers(0, 3, 3000).astype(float)
    qid, weights = np.arange(3000) // 30, rng.random(3000)
    rows = rng.permutation(3000) if shuffled else np.arange(3000)
    data = rf.Dataset(X[rows], y[rows], qid=qid[rows], weights=weights[rows])
    digests = []
    for q in range(100):
        mine = rows[qid[rows] == q]
        name = str(q).encode()
        content = b"%d %d " % (len(name), 30) + name + X[mine].tobytes() + y[mine].tobytes() + weights[mine].tobytes()
        digests.append(hashlib.blake2b(content, digest_size=16).digest())
    header = repr((["grades"], data.feature_names, True, False)).encode()
    with using_threads(threads):
        assert data.fingerprint == hashlib.blake2b(header + b"".join(sorted(digests)), digest_size=16).hexdigest()
