from __future__ import annotations

import numpy as np
from tests.models.random_trees import categorical_ensemble, random_features, with_codes

import rankforce as rf

CATEGORIES = {"f1": tuple("abcde")}


def test_a_feature_and_a_model_of_data_with_categories_are_combined() -> None:
    model = categorical_ensemble(1, [8] * 3, {1: 5}, categories=CATEGORIES)
    matrix = with_codes(3, random_features(2, 60, missing=0.0), {1: 5})
    grades = (matrix[:, 0] + 0.3 * model.predict(matrix) > 0).astype(float)
    names = [f"f{k}" for k in range(7)]
    data = rf.Dataset(matrix, grades, qid=np.arange(60) // 10, feature_names=names, categories=CATEGORIES)
    combined = rf.combine([model, "f0"], data, measure=rf.NDCG(5))
    assert combined.model.categories == CATEGORIES
    np.testing.assert_array_equal(combined.model.predict(data), combined.model.predict(matrix))
