"""A net on the scores of other models."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from rankforce import dtypes
from rankforce.errors import SettingsError
from rankforce.models.net import Net
from rankforce.models.of_models import ModelOfModels, fields_around
from rankforce.models.provenance import Provenance


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Stacked(ModelOfModels):
    """score = net(s_0, s_1, ...): the net reads the scores of the models, rounded to float32, as its features."""

    KIND: ClassVar[str] = "stacked"
    WHOLE: ClassVar[str] = "a stack"

    net: Net

    @classmethod
    def of(cls, models: Any, net: Net, *, provenance: Provenance | None = None) -> Stacked:
        """A net on models. Its features are those of the first model, then those that only later ones read."""
        return cls(**fields_around(models, provenance), net=net)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.net, Net) or self.net.needs_queries or self.net.n_features != len(self.models):
            raise SettingsError(
                f"scores of {len(self.models)} models are stacked by a net with as many features that scores documents "
                f"one by one, not by {self.net!r}"
            )

    def _scores(self, matrix: np.ndarray) -> np.ndarray:
        return stacked_scores(self.net, list(self.scores_of_members(matrix)))

    def contents(self) -> dict[str, Any]:
        from rankforce.models.storage import document_of

        return {"net": document_of(self.net), **super().contents()}

    @classmethod
    def from_contents(cls, contents: Any, feature_names: tuple[str, ...], provenance: Provenance) -> Stacked:
        net: Any = contents.optional_model("net")  # __post_init__ refuses what is no net
        return cls(
            feature_names=feature_names,
            provenance=provenance,
            categories=contents.categories,
            models=contents.models("models"),
            net=net,
        )

    def __repr__(self) -> str:
        return f"Stacked({len(self.models)} models under {self.net!r})"


def stacked_scores(net: Net, scores: Any) -> np.ndarray:
    """The net's scores of documents that models gave these scores."""
    return net.predict(np.column_stack(scores).astype(dtypes.FEATURE))
