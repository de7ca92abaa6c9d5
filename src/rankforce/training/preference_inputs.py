"""Preferences given to ``fit``, in place of labels, beside them, or as validation data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rankforce.data.category_codes import recoded
from rankforce.data.dataset import Dataset
from rankforce.data.preferences import Preferences
from rankforce.errors import DataError, SettingsError
from rankforce.kinds import check_number
from rankforce.measures.measure import Measure
from rankforce.objectives.objective import ALL_PAIRS, Pairs
from rankforce.remedies import NAME_ALONE, Argument, Phrase, Setting
from rankforce.training.inputs import as_validation, validation_places
from rankforce.training.monitoring import WatchedPreferences


@dataclass(frozen=True)
class PreferenceInputs:
    """What ``fit(data, preferences=, preference_share=, validation=)`` was given, checked."""

    preferences: Preferences | None
    share: float
    validation: Any
    held_out: Dataset | None

    @classmethod
    def of(cls, data: Dataset, preferences: Any, share: float, validation: Any) -> PreferenceInputs:
        check_number("preference_share", share, 0.0, 1.0, above=True)
        if preferences is None and share != 1.0:
            raise SettingsError(
                Argument("preference_share", NAME_ALONE), " goes with ", Argument("preferences", NAME_ALONE)
            )
        if preferences is not None and (not isinstance(preferences, Preferences) or preferences.data is not data):
            raise DataError(
                "preferences must be a Preferences object made for the very Dataset that is given to fit: "
                "fit(data, preferences=Preferences(data, better, worse))"
            )
        if not isinstance(validation, Preferences):
            return cls(preferences, share, validation, as_validation(validation, data))
        held_out = validation.data
        if validation_places(held_out, data) is not None:
            raise DataError(
                "the data of the validation preferences has its features in another order than the training data: "
                "make them for data.take_features(training.feature_names)"
            )
        if recoded(held_out, data, what="the validation data", of="the training data") is not held_out:
            raise DataError(
                "the data of the validation preferences has other lists of categories than the training data: ",
                Phrase("make them for rf.read(path, like=training)", "leave these features out"),
            )
        return cls(preferences, share, validation, held_out)

    def check_pairs(self, pairs: Any) -> None:
        """Raise if pairs are to be chosen where listed ones alone pull; ``pairs`` is the setting of a ranker."""
        if self.preferences is not None and self.share == 1.0 and Pairs.read(pairs) != ALL_PAIRS:
            raise SettingsError(
                Setting("pairs", NAME_ALONE),
                " chooses among pairs of different labels, and here the listed preferences alone pull: leave it out, "
                "or give a ",
                Argument("preference_share", NAME_ALONE),
                " below 1",
            )

    def watched(self, data: Dataset, measure: Measure) -> WatchedPreferences | None:
        """What is watched on data that has preferences: if they are its validation, or for want of the labels."""
        listed = [given for given in (self.preferences, self.validation) if isinstance(given, Preferences)]
        mine = next((given for given in listed if given.data is data), None)
        if mine is not None and (mine is self.validation or measure.label not in data.labels):
            return WatchedPreferences(mine)
        return None

    def in_words(self, graded: str, listed: str) -> str:
        """What is learned: preferences, ``graded``, or a mixture."""
        if self.preferences is None:
            return graded
        rest = 1 - self.share
        return listed if rest == 0 else f"{self.share:g} × {listed} + {rest:g} × ({graded})"

    def written(self) -> dict[str, Any]:
        """As files keep it, beside settings and data."""
        kept: dict[str, Any] = {}
        if self.preferences is not None:
            kept |= {"preferences": self.preferences.fingerprint, "preference_share": self.share}
        if isinstance(self.validation, Preferences):
            kept["validation_preferences"] = self.validation.fingerprint
        return kept
