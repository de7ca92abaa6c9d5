"""What all rankers share: scikit-learn's conventions around a model."""

from __future__ import annotations

import abc
import copy
import dataclasses
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import sklearn.exceptions
from sklearn.base import clone

from rankforce import errors
from rankforce.console import html_parts
from rankforce.console.wording import listed
from rankforce.data.dataset import Dataset
from rankforce.data.preferences import Preferences
from rankforce.errors import DataError
from rankforce.evaluation.agreement import AGREEMENT, Agreement
from rankforce.evaluation.evaluate import evaluate
from rankforce.measures.measure import Measure
from rankforce.models.exported import Exported
from rankforce.models.model import Model
from rankforce.remedies import Phrase
from rankforce.training.inputs import as_dataset, names_queries
from rankforce.training.other_names import unknown_setting
from rankforce.training.settings import SEED, setting, switch, with_settings

if TYPE_CHECKING:

    class BaseEstimator:
        """scikit-learn's, which has no types: a base of unknown type would let every misspelt setting pass."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

        def set_params(self, **params: Any) -> Self: ...

        def __sklearn_tags__(self) -> Any: ...

        @classmethod
        def _get_param_names(cls) -> list[str]: ...

else:
    from sklearn.base import BaseEstimator


class RankerNotFittedError(errors.NotFittedError, sklearn.exceptions.NotFittedError):
    """A ranker was asked for something that only exists after ``fit``; scikit-learn knows it by its own name."""


@with_settings
class Ranker(BaseEstimator, abc.ABC):
    """Base of all rankers: settings as fields, learning in ``fit``, which leaves the model in ``model_``.

    ``history_`` has the value of ``watched_measure_`` after every tree or epoch, equal scores in the order of a hash of
    the seed: what ``evaluate`` gives with ``ties="hashed"`` and the same seed, and not with its default, row order.

    Ctrl-C ends ``fit`` after the current step and keeps what was learned; ``interrupted_`` is True then, a warning says
    how far it came, and so do the model's provenance and its file.

    With ``sklearn.set_config(enable_metadata_routing=True)`` scikit-learn's searches and cross-validations hand
    ``qid`` on to ``fit`` and ``score`` unasked.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True}

    WHY_ALONE: ClassVar[str] = "its steps see all queries"  # why several processes cannot train it together
    takes_dataset: ClassVar[bool] = True  # evaluations hand it the Dataset: features by name, and queries

    @property
    def learns_together(self) -> bool:
        """Whether several processes can train it, each on its own queries."""
        return False

    def _why_alone(self) -> str:
        return self.WHY_ALONE

    @property
    def learns_categories(self) -> bool:
        """Whether it tells categories from numbers."""
        return False

    seed: int = setting(0, SEED)
    progress: bool = switch(True)

    model_: Model = dataclasses.field(init=False)
    # What decided: on validation data, without any on the training data.
    watched_measure_: Measure | Agreement = dataclasses.field(init=False)
    interrupted_: bool = dataclasses.field(init=False)  # whether Ctrl-C cut the training short

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def _fitted(self) -> Model:
        if not hasattr(self, "model_"):
            raise RankerNotFittedError(f"this {type(self).__name__} has not learned anything yet: call fit first")
        return self.model_

    def set_params(self, **settings: Any) -> Any:
        """Change settings; a name that is none is an error that says what was meant."""
        known = self._get_param_names()
        for name in settings:
            if name.partition("__")[0] not in known:
                raise unknown_setting(type(self).__name__, name, known)
        return super().set_params(**settings)

    def _repr_html_(self) -> str:
        """What notebooks show: of a fitted ranker its model, its history as a curve, and the settings given."""
        given = [(name, repr(value)) for name, value in sorted(self._changed_settings().items())]
        if not hasattr(self, "model_"):
            return html_parts.block(html_parts.heading(f"{type(self).__name__}, not fitted"), html_parts.facts(given))
        provenance = self.model_.provenance
        watched = ", ".join(dict.fromkeys(provenance.watched.values()))
        ties = f"; ties: {provenance.ties}" if provenance.ties else ""
        return html_parts.block(
            html_parts.heading(f"{type(self).__name__}: {self.model_!r}"),
            html_parts.facts(
                [(name, text) for name in ("objective", "interrupted") if (text := getattr(provenance, name))]
            ),
            html_parts.curves(provenance.history, f"history of {watched}{ties}"),
            html_parts.unfolded("settings that were given", html_parts.facts(given)) if given else "",
        )

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """As ``_repr_html_``: scikit-learn's own would show a box with the name."""
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _changed_settings(self) -> dict[str, Any]:
        """The settings that are not the defaults."""
        defaults = {one.name: one.default for one in dataclasses.fields(self) if one.init}
        return {
            name: value
            for name, value in self.get_params(deep=False).items()
            if value is not defaults.get(name) and repr(value) != repr(defaults.get(name))
        }

    def __sklearn_clone__(self) -> Any:
        """As scikit-learn clones, but for a base model: where learning starts is what it was fitted to be."""
        settings = self.get_params(deep=False)
        copied = type(self)(
            **{name: value if name == "base_model" else clone(value, safe=False) for name, value in settings.items()}
        )
        requests = getattr(self, "_metadata_request", None)
        if requests is not None:
            vars(copied)["_metadata_request"] = copy.deepcopy(requests)
        return copied

    def unfitted(self, **settings: Any) -> Any:
        """A copy that has learned nothing, with some settings changed."""
        return clone(self).set_params(**settings)

    def silent(self, **settings: Any) -> Any:
        """As ``unfitted``, and without a progress bar: for work that shows its own."""
        quiet = {"progress": False} if "progress" in self.get_params(deep=False) else {}
        return self.unfitted(**(settings | quiet))

    def _notes(self) -> dict[str, Any]:
        """What is worth knowing of the data it learned from, as the model file keeps it."""
        return {}

    def predict(self, X: Any) -> np.ndarray:
        """Scores, float64, in the order of the rows: the higher, the nearer to the top."""
        return self._fitted().predict(X)

    def plot(self, *, ax: Any = None, path: Any = None) -> Any:
        """The history of the training as a picture: ``rf.plot.history``."""
        import rankforce

        return rankforce.plot.history(self, ax=ax, path=path)

    def rank(self, X: Any, k: int | None = None) -> Any:
        """The documents of each query by falling score, the best ``k`` of each (None: all)."""
        return self._fitted().rank(X, k)

    def score(self, X: Any, y: Any = None, qid: Any = None, *, sample_weight: Any = None) -> float:
        """The mean over the queries of the measure that training watched: ``evaluate``'s, with its default policies.

        Of ``Preferences``, the share that the ranking agrees with. On grades, a ranker that watched preferences alone
        is measured by what its settings name. ``sample_weight`` holds the weights of the queries, one per row and equal
        within a query.
        """
        self._fitted()
        if isinstance(X, Preferences):
            if y is not None or qid is not None or sample_weight is not None:
                raise DataError("preferences name their documents and weights: score(preferences)")
            return evaluate(self, X).mean[AGREEMENT]
        if not isinstance(X, Dataset) and qid is None and not names_queries(X):
            raise DataError(
                "score must know which documents belong to one query: score(X, y, qid=...), a column named 'qid', or "
                "score(Dataset(...)). In scikit-learn's searches, sklearn.set_config(enable_metadata_routing=True) "
                "makes qid reach score"
            )
        data = as_dataset(X, y, qid, query_weights=sample_weight)
        watched = self.watched_measure_
        if isinstance(watched, Agreement):
            watched = self._watched_measure()
            if watched.label not in data.labels:
                raise DataError(
                    f"training watched the agreement with preferences, and this data has no {watched.label!r} for "
                    f"{watched}: ",
                    Phrase("score(preferences), or rf.evaluate(ranker, preferences)", "give --preferences FILE"),
                )
        return evaluate(self, data, watched).mean[watched]

    @abc.abstractmethod
    def _watched_measure(self) -> Measure:
        """The measure of history and early stopping, where labels are watched."""

    def _watched_on(self, data: Dataset, held_out: Dataset | None) -> Measure:
        """The measure that is watched on these data."""
        return self._watched_measure()

    def take_over(self, model: Model, watched: Measure | Agreement) -> None:
        """Be as fitted as the ranker was that learned this model, which watched this measure."""
        self.model_ = model
        self.watched_measure_ = watched
        self.interrupted_ = bool(model.provenance.interrupted)
        self.history_ = {name: list(values) for name, values in model.provenance.history.items()}
        self.n_features_in_ = model.n_features
        self.feature_names_in_ = np.array(model.feature_names, dtype=object)

    def save(self, path: str | Path) -> None:
        """Write the model to a file that ``rankforce.load`` reads."""
        self._fitted().save(path)

    def export(
        self,
        path: str | Path | None,
        format: str,
        *,
        engine: str | None = None,
        missing: str | None = None,
        features: Any = None,
        name: str | None = None,
        shift: bool = False,
        check: Any = None,
    ) -> Exported:
        """Write the model for a search engine or another library: see ``rankforce.export_model``."""
        return self._fitted().export(
            path,
            format,
            engine=engine,
            missing=missing,
            features=features,
            name=name,
            shift=shift,
            check=check,
        )

    def _refuse_categories(self, data: Dataset) -> None:
        """Raise for categories that would be read as numbers."""
        if data.categories and not self.learns_categories:
            names = list(data.categories)
            raise DataError(
                f"{type(self).__name__} reads features as numbers, and the codes of categories have no order: "
                f"{listed(names, written=repr)}. Train LambdaMART or MART, make a column of 0 and 1 for each category, "
                "or leave them out: ",
                Phrase(f"data.without_features({names!r})", shlex.join(["--read", f"ignore={','.join(names)}"])),
            )

    def _note_features(self, data: Dataset) -> None:
        self.n_features_in_ = data.n_features
        self.feature_names_in_ = np.array(data.feature_names, dtype=object)
