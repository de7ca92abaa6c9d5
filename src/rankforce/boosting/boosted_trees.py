"""What MART and LambdaMART share: the settings of trees and of boosting."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from rankforce import text_values
from rankforce.boosting.course import BoostedTraining, BoostingCourse
from rankforce.boosting.leaf_counts import LEAF_COUNTS
from rankforce.boosting.monotone import check_directions
from rankforce.collective import total
from rankforce.data.dataset import Dataset
from rankforce.errors import SettingsError
from rankforce.kinds import Understood
from rankforce.remedies import Setting, ValidationData
from rankforce.training.base_models import checked_base
from rankforce.training.iterative import Iterative
from rankforce.training.refitting import unrepeatable
from rankforce.training.settings import choice, number, setting, whole, with_settings
from rankforce.trees.category_splits import CATEGORY_SMOOTHING

FEW_DOCUMENTS = 20_000  # below, trees that fit less noise are worth more than trees that fit more detail


@with_settings
class BoostedTrees(Iterative):
    """Base of MART and LambdaMART: a subclass gives the learners, which pull at documents and value the leaves."""

    @property
    def learns_together(self) -> bool:
        return True

    @property
    def learns_categories(self) -> bool:
        return True

    @property
    def learns_from_values(self) -> bool:
        """Whether a training asks for the values of features: bins are enough for trees, not for a base model."""
        return self.base_model is not None

    n_trees: int = whole(1000, least=1)
    n_leaves: int | Sequence[int] | Callable[[int], int] = setting(31, LEAF_COUNTS)
    learning_rate: float = number(0.1, above=0.0)
    min_documents: int = whole(20, least=1)
    l2: float = number(0.0, least=0.0)
    min_gain: float = number(0.0, least=0.0)
    max_depth: int | None = whole(None, least=1)
    growth: Literal["auto", "leafwise", "symmetric"] = choice("auto")
    max_bins: int = whole(255, least=2, most=255)
    feature_fraction: float = number(1.0, above=0.0, most=1.0)
    query_fraction: float = number(1.0, above=0.0, most=1.0)
    monotone: Any = setting(None, Understood(check_directions, text_values.python_value))
    category_smoothing: float = number(CATEGORY_SMOOTHING, least=0.0)
    base_model: Any = setting(None, Understood(checked_base))
    line_search: int | None = whole(None, least=1, after="early_stopping")
    line_search_on: Literal["train", "validation"] = choice("train")
    memory: Literal["auto", "fast", "low", "mapped"] = choice("auto")

    model_: Any = dataclasses.field(init=False)  # a TreeEnsemble, or an ExpectedGrade of several

    def predict(self, X: Any, n_trees: int | None = None) -> np.ndarray:
        """Scores, float64, in the order of the rows; of the first ``n_trees`` trees only, if given."""
        self._fitted()
        return self.model_.predict(X, n_trees=n_trees)

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of the total gain that each feature brought."""
        self._fitted()
        gains = np.array(list(self.model_.feature_importance("gain").values()))
        return gains / gains.sum() if gains.sum() > 0 else gains

    def _usual_growth(self, data: Dataset) -> str:
        return "symmetric" if total(data.n_documents) < FEW_DOCUMENTS else "leafwise"

    def _steps_name(self) -> str:
        return "n_trees"

    def _found_on_validation(self) -> dict[str, Any]:
        if self.line_search is not None and self.line_search_on == "validation":
            raise unrepeatable(Setting("line_search_on", "validation"), "every tree is weighed on it")
        return super()._found_on_validation() | {"growth": self.settled_["growth"]}

    def _course(self, training: BoostedTraining) -> BoostingCourse:
        return BoostingCourse(self, training)

    def _chosen_settings(self, course: BoostingCourse) -> dict[str, Any]:
        return {"growth": course.training.settled.growth} | dict(course.learners[0].settled)

    def _check_settings(self, data: Dataset, held_out: Dataset | None) -> None:
        super()._check_settings(data, held_out)
        if self.line_search is not None and self.line_search_on == "validation" and held_out is None:
            raise SettingsError(Setting("line_search_on", "validation"), " needs validation data: ", ValidationData())
