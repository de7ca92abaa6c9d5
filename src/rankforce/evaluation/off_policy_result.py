"""What an off-policy evaluation yields: clicks per view by several estimators, their errors, and what they rest on."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankforce.console import tables
from rankforce.console.numeric_cells import interval_cell, number_cell
from rankforce.console.result_tables import Cell, ResultTable, Tabular
from rankforce.console.wording import counted
from rankforce.data.clicks.propensities import Propensities
from rankforce.displayed_text import displayed
from rankforce.errors import SettingsError
from rankforce.evaluation.off_policy_weights import COLUMNS, Evidence, Support
from rankforce.evaluation.resampled_ratios import MOST_UNITS, Estimate, Ratio, Resampled, without_errors

PRODUCTION = "production"
ESTIMATORS = {
    "ips": "every click weighted",
    "snips": "weighted clicks per accounted look",
    "clipped": "weights cut off",
    "dr": "doubly robust: a model, and what it gets wrong weighted",
    "model": "the model alone",
}
_ABOVE = {"ips": ("ips",), "snips": ("ips", "examination"), "clipped": ("clipped",), "dr": ("dr",), "model": ("model",)}


@dataclasses.dataclass(frozen=True)
class OffPolicySettings:
    """As ``rf.off_policy`` was asked."""

    clip: float
    smoothing: float
    resample: str
    resamples: int
    level: float
    max_unsupported: float
    ties: str
    seed: int


class OffPolicyEvaluation(Tabular):
    """The result of ``rf.off_policy``: clicks per view.

    names : of the rankings
    production : an ``Estimate`` of the clicks that the log has
    estimates : mapping of name and estimator ("ips", "snips", "clipped", "dr", "model") to an ``Estimate``
    differences : the same, minus production
    lifts : the same, over production, minus 1
    support : mapping of name to a ``Support``
    propensities : as they were given
    n_views, n_sessions, n_queries, n_impressions : of the log, where it is about queries of the data

    An ``Estimate`` has ``value``, ``interval`` (percentile bootstrap), ``standard_error`` and ``normal_interval``; of
    "model" the value alone, since no draw of sessions shows how far a model is wrong.
    """

    def __init__(
        self,
        columns: Mapping[str, np.ndarray],
        supports: Mapping[str, Support],
        evidence: Evidence,
        settings: OffPolicySettings,
        propensities: Propensities,
        left_out: int,
        modelled: bool,
    ) -> None:
        self.settings = settings
        self.propensities = propensities
        self.names = tuple(columns)
        self.support = dict(supports)
        self.cutoff = evidence.cutoff
        self._positions = len(evidence.examination)
        self.n_views = int(evidence.views.sum())
        self.n_queries = int((evidence.views > 0).sum())
        self.n_sessions = evidence.logged.n_sessions
        self.n_impressions = len(evidence.logged.row)
        self.left_out = left_out
        self.other_rows = evidence.logged.other_rows
        self._modelled = modelled
        stacked = np.concatenate(list(columns.values()), axis=1)
        stacked = stacked[stacked[:, COLUMNS.index("views")] > 0.0]  # queries that the log has not are no units
        self.n_units = len(stacked)
        self._resampled = Resampled(stacked, settings.resamples, settings.level, settings.seed)
        production = self._production
        estimate, lift = self._resampled.estimate, self._resampled.lift
        ratios = {(name, one): self._ratio(name, one) for name in self.names for one in ESTIMATORS}
        self.production: Estimate = estimate(production)
        self.estimates = _errors_of_models_are_unknown({key: estimate(one) for key, one in ratios.items()})
        differences = {key: estimate(one, production) for key, one in ratios.items()}
        self.differences = _errors_of_models_are_unknown(differences)
        self.lifts = _errors_of_models_are_unknown({key: lift(one, production) for key, one in ratios.items()})

    def estimate(self, name: str | None = None, estimator: str = "dr") -> Estimate:
        """The clicks per view of a ranking, of the only one if there is no name."""
        return self.estimates[self._key(name, estimator)]

    def difference(self, a: str, b: str, estimator: str = "dr") -> Estimate:
        """Ranking b minus ranking a, of which each may be "production"."""
        first, second = (
            self._production if name == PRODUCTION else self._ratio(*self._key(name, estimator)) for name in (a, b)
        )
        found = self._resampled.estimate(second, first)
        return without_errors(found) if estimator == "model" else found

    # -------------------------------------------------------------------------------------------------------- display

    def __repr__(self) -> str:
        words = ", ".join(f"{displayed(name)} {tables.number(self.estimates[name, 'dr'].value)}" for name in self.names)
        return f"<OffPolicyEvaluation: {words}; {PRODUCTION} {tables.number(self.production.value)}>"

    def to_dict(self) -> dict[str, Any]:
        """Everything as numbers, text, lists and dictionaries that JSON can hold; None where there is no number."""
        return {
            "production": _json(self.production),
            "rankings": {
                name: {
                    "support": {key: _number(value) for key, value in dataclasses.asdict(self.support[name]).items()},
                    "estimators": {
                        one: {
                            **_json(self.estimates[name, one]),
                            "difference": _json(self.differences[name, one]),
                            "lift": _json(self.lifts[name, one]),
                        }
                        for one in ESTIMATORS
                    },
                }
                for name in self.names
            },
            "cutoff": self.cutoff,
            "views": self.n_views,
            "sessions": self.n_sessions,
            "queries": self.n_queries,
            "impressions": self.n_impressions,
            "impressions_without_propensity": self.left_out,
            "rows_of_other_queries": self.other_rows,
            "propensities": self.propensities.values.tolist(),
            "settings": {key: _number(value) for key, value in dataclasses.asdict(self.settings).items()},
        }

    def to_pandas(self) -> Any:
        """A data frame of one row per ranking and estimator."""
        pandas = tables.load_pandas()
        rows = [
            {
                "ranking": name,
                "estimator": one,
                "value": estimate.value,
                "low": estimate.interval.low,
                "high": estimate.interval.high,
                "difference": self.differences[name, one].value,
                "difference_low": self.differences[name, one].interval.low,
                "difference_high": self.differences[name, one].interval.high,
                "lift": self.lifts[name, one].value,
            }
            for (name, one), estimate in self.estimates.items()
        ]
        return pandas.DataFrame(rows)

    def _result_table(self) -> ResultTable:
        level = tables.level_name(self.settings.level)
        header = ["ranking", "estimator", "clicks per view", f"{level} interval", "more than production"]
        header += [f"{level} interval", "lift"]
        own = self.production
        means = (number_cell(own.value), interval_cell(*own.interval))
        rows: list[list[str | Cell]] = [[PRODUCTION, "its clicks", *means, "", "", ""]]
        for (name, one), estimate in self.estimates.items():
            difference = self.differences[name, one]
            rows.append(
                [
                    name,
                    one,
                    number_cell(estimate.value),
                    interval_cell(*estimate.interval),
                    number_cell(difference.value, sign=True),
                    interval_cell(*difference.interval, sign=True),
                    Cell(_signed_per_cent(self.lifts[name, one].value), values=(float(self.lifts[name, one].value),)),
                ]
            )
        title = (
            f"clicks per view in the first {self.cutoff} places: {counted(self.n_views, 'view')} of "
            f"{counted(self.n_queries, 'query')} in {counted(self.n_sessions, 'session')}"
        )
        return ResultTable(title, header, rows, self._notes, left=2)

    @property
    def _notes(self) -> list[str]:
        settings = self.settings
        notes = [self._support_in_words(name) for name in self.names]
        bundled = f", in {MOST_UNITS:,} bundles" if self.n_units > MOST_UNITS else ""
        units = counted(self.n_units, settings.resample)
        notes.append(
            f"intervals: percentile bootstrap over {units}{bundled} ({settings.resamples:,} draws); propensities "
            f"({self.propensities.verdict}) count as known"
        )
        rates = f"the log's rates, drawn to their query's by {settings.smoothing:g} looks, and these to the whole log's"
        model = rates if self._modelled else "given"
        clip = "none" if math.isinf(settings.clip) else f"at {settings.clip:g}"
        notes.append(f"weights clipped (clipped, dr): {clip}; model (dr, model): {model}; ties: {settings.ties}")
        if self.left_out:
            below = counted(self.left_out, "impression")
            notes.append(f"left out: {below} below position {self._positions}, which have no propensity")
        if self.other_rows:
            notes.append(f"left out: {counted(self.other_rows, 'row')} of queries that the data does not have")
        return notes

    def _support_in_words(self, name: str) -> str:
        support = self.support[name]
        words = (
            f"{displayed(name)}: worth {support.effective:,.0f} of {counted(support.impressions, 'impression')}; "
            f"largest weight {support.largest_weight:.3g}; clipping takes {tables.per_cent(support.clipped)} of looks"
        )
        if support.unsupported_places:
            words += (
                f"; {tables.per_cent(support.unsupported_places)} of its places, "
                f"{tables.per_cent(support.unsupported)} of its looks, have documents that the log never showed for "
                "their query: ips and clipped count them as never clicked, snips as like the others, dr and model as "
                "the model says"
            )
        if support.unknown:
            words += f"; the data lacks the documents of {tables.per_cent(support.unknown)} of the impressions"
        return words

    # ------------------------------------------------------------------------------------------------------- internals

    @property
    def _production(self) -> Ratio:
        return Ratio((COLUMNS.index("clicks"),), (COLUMNS.index("views"),))

    def _ratio(self, name: str, estimator: str) -> Ratio:
        first = self.names.index(name) * len(COLUMNS)
        above = tuple(first + COLUMNS.index(one) for one in _ABOVE[estimator])
        below = (COLUMNS.index("views"), *([first + COLUMNS.index("accounted")] if estimator == "snips" else []))
        return Ratio(above, below)

    def _key(self, name: str | None, estimator: str) -> tuple[str, str]:
        if estimator not in ESTIMATORS:
            raise SettingsError(f"there is no estimator {estimator!r} (there are: {', '.join(ESTIMATORS)})")
        if name is None and len(self.names) == 1:
            name = self.names[0]
        if name is None or name not in self.names:
            raise SettingsError(f"there is no ranking {name!r} (there are: {', '.join(map(repr, self.names))})")
        return name, estimator


def _errors_of_models_are_unknown(
    estimates: Mapping[tuple[str, str], Estimate],
) -> dict[tuple[str, str], Estimate]:
    return {key: without_errors(one) if key[1] == "model" else one for key, one in estimates.items()}


def _signed_per_cent(share: float) -> str:
    return "–" if math.isnan(share) else f"{100.0 * share:+.1f} %"


def _number(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _json(estimate: Estimate) -> dict[str, Any]:
    return {
        "value": _number(estimate.value),
        "interval": [_number(end) for end in estimate.interval],
        "standard_error": _number(estimate.standard_error),
        "normal_interval": [_number(end) for end in estimate.normal_interval],
    }
