"""PRank and XRank as scikit-learn sees them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import rankforce as rf

WORDING = "refused, in words of our own"
EXPECTED_FAILURES = {
    "check_complex_data": WORDING,
    "check_dtype_object": "a cell that is no number is a DataError, hence a ValueError; the check wants a TypeError",
    "check_fit2d_predict1d": WORDING,
    "check_n_features_in_after_fitting": WORDING,
    "check_requires_y_none": WORDING,
}


def one_query(X):
    rows = X if hasattr(X, "shape") else np.asarray(X)
    return np.zeros(rows.shape[0] if rows.ndim else 1, dtype=int)


class OneQueryPRank(rf.PRank):
    """All documents belong to one query: scikit-learn's checks know none."""

    def fit(self, X, y=None):
        return super().fit(X, y, qid=one_query(X))

    def score(self, X, y=None):
        return super().score(X, y, qid=one_query(X))


class OneQueryXRank(rf.XRank):
    """Likewise."""

    def fit(self, X, y=None):
        return super().fit(X, y, qid=one_query(X))

    def score(self, X, y=None):
        return super().score(X, y, qid=one_query(X))


def expected_failures(estimator):
    one_sample = {"check_fit2d_1sample": WORDING} if isinstance(estimator, rf.PRank) else {}
    return EXPECTED_FAILURES | one_sample


@pytest.mark.compiled_only
@parametrize_with_checks(
    [
        OneQueryPRank(validation_measure="DCG", epochs=2, progress=False),
        OneQueryXRank("DCG", n_steps=3, min_documents=1, progress=False),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore")  # the checks warn about what they try
def test_estimator_checks(estimator, check):
    check(estimator)
