"""Click labels: counts of a log, and the rates made of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from rankforce import dtypes
from rankforce.console import html_parts
from rankforce.console.tables import load_pandas
from rankforce.console.wording import counted
from rankforce.data.clicks.dwell import DWELL_COUNTS, UNIT, DwellSettings
from rankforce.data.clicks.keys import QueryKeys
from rankforce.data.dataset import Dataset, check_dataset
from rankforce.data.files import table_path
from rankforce.data.tables.written_columns import write_columns
from rankforce.errors import DataError, SettingsError
from rankforce.kinds import MOST, Choice, Either, Number, check_choice, check_number, check_switches, shown
from rankforce.remedies import DOCUMENT_IDS, NAME_ALONE, Argument

if TYPE_CHECKING:
    from rankforce.data.clicks.pooled_labels import QueryNeighbours, SimilarClickLabels

COUNTS = ("impressions", "clicks", "last_clicks")
RATES = {
    "last_click": "last-click rate",
    "click": "click-through rate",
    "satisfied_click": "rate of satisfied clicks",
    "dwell": "mean dwell",
    "median_dwell": "median dwell",
}
DWELL_RATES = ("satisfied_click", "dwell", "median_dwell")
LOOK_UNIT = 2.0**-32  # looks are counted in whole numbers of it: their sums do not depend on the order of the rows


@dataclasses.dataclass(frozen=True)
class ClickSettings:
    """How counts become labels; see ``click_labels``."""

    rate: str = "last_click"
    last_of: str = "query"
    smoothing: float = 0.0
    prior: str | float = "query"
    smooth_zeros: bool = False
    min_impressions: int = 1
    propensities: tuple[float, ...] | None = None
    dwell: DwellSettings = dataclasses.field(default_factory=DwellSettings)

    def __post_init__(self) -> None:
        for name, value, known in (("rate", self.rate, tuple(RATES)), ("last_of", self.last_of, ("query", "session"))):
            check_choice(name, value, known)
        if not Number(0.0).holds(self.smoothing):
            raise SettingsError(f"smoothing is a number of impressions, at least 0, not {shown(self.smoothing)}")
        object.__setattr__(self, "smoothing", float(self.smoothing))
        if self.smoothing and self.rate == "median_dwell":
            raise SettingsError("medians are not smoothed: leave ", Argument("smoothing", NAME_ALONE), " out")
        if not Either((Number(0.0, 1.0), Choice(("query", "global")))).holds(self.prior):
            raise SettingsError(f"prior must be 'query', 'global' or a rate from 0 to 1, not {shown(self.prior)}")
        check_switches(smooth_zeros=self.smooth_zeros)
        if self.propensities is not None and self.rate != "click":
            raise SettingsError(
                "propensities say how often users looked, and clicks are counted against that: ",
                Argument("rate", "click"),
            )
        check_number("min_impressions", self.min_impressions, -MOST, whole=True)
        object.__setattr__(self, "min_impressions", int(self.min_impressions))
        if self.min_impressions < 1:
            raise SettingsError("min_impressions must be at least 1: a document never shown has no label")

    def rates(
        self, rate: str, counts: Mapping[str, np.ndarray], query: np.ndarray, whole_log: Mapping[str, np.ndarray]
    ) -> np.ndarray:
        """(c + s·m)/(n + s) of each pair, at most 1, c of n being what the rate counts; ``query`` numbers the queries.

        ``whole_log`` has the counts whose mean is the prior "global".
        """
        clicks, chances = self._counted(rate, counts)
        with np.errstate(invalid="ignore"):  # nothing of nothing: no label
            mean: Any = self.prior
            if self.prior == "query":
                mean = (np.bincount(query, clicks) / np.bincount(query, chances))[query]
            elif self.prior == "global":
                mean = np.divide(*(part.sum() for part in self._counted(rate, whole_log)))
            added = self.smoothing * np.minimum(mean, 1.0) if self.smoothing else 0.0
            result = np.divide(clicks + added, chances + self.smoothing)
        if not self.smooth_zeros:
            result[(counts["clicks"] == 0) | ((clicks == 0) & (chances > 0) & (rate != "dwell"))] = 0.0
        result[counts["impressions"] < self.min_impressions] = np.nan
        return np.minimum(result, 1.0)

    def _counted(self, rate: str, counts: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """What a rate counts, and of how much."""
        if rate == "dwell":
            return counts["dwell_units"] * UNIT, counts["timed_clicks"]
        if rate == "satisfied_click":
            left_out = counts["unknown_dwells"] if self.dwell.unknown_dwell == "leave_out" else 0
            return counts["satisfied_clicks"], counts["impressions"] - left_out
        return counts["clicks" if rate == "click" else "last_clicks"], looks_of(counts)


@dataclasses.dataclass(frozen=True)
class CountedPairs:
    """What was counted of every query and document that was shown together.

    pairs : number of the query << 32 | number of the document, ascending
    counts : arrays of one entry per pair, by ``COUNTS`` and, if asked for, ``look_units`` and ``DWELL_COUNTS``
    query_codes, document_codes : the numbers of the texts
    keys : what a query of the data is called here
    """

    pairs: np.ndarray
    counts: Mapping[str, np.ndarray]
    query_codes: Mapping[str, int]
    document_codes: Mapping[str, int]
    keys: QueryKeys

    def keys_of(self, data: Dataset) -> list[str]:
        """The key of every query of a data set."""
        check_dataset(data)
        if data.document_ids is None:
            raise DataError("the data has no document ids, which the labels are joined by: ", DOCUMENT_IDS)
        return [self.keys.of(str(name)) for name in data.query_ids.tolist()]

    def documents_of(self, data: Dataset) -> np.ndarray:
        """The number of the document of every row of a data set; −1: the log has none of that name."""
        assert data.document_ids is not None
        names = data.document_ids.tolist()
        return np.fromiter((self.document_codes.get(str(name), -1) for name in names), np.int64, data.n_documents)

    def refuse_strangers(self, data: Dataset) -> NoReturn:
        """The log and the data have nothing in common."""
        first = int(self.pairs[0])
        query, document = list(self.query_codes)[first >> 32], list(self.document_codes)[first & 0xFFFFFFFF]
        assert data.document_ids is not None
        raise DataError(
            "no document of the data is in the log: ids are compared as text, and the log has query "
            f"{query!r} with document {document!r}, the data query {str(data.qid[0])!r} with "
            f"document {str(data.document_ids[0])!r}; ",
            Argument("query_key"),
            " can bring queries together",
        )


class ClickLabels:
    """What was counted in a log, and the labels made of it.

    One entry per query (or query key) and document that was shown, queries and their documents in order of first
    appearance: ``queries`` and ``documents`` (text), ``impressions``, ``clicks``, ``last_clicks`` (int64), and
    ``click_rate`` and ``last_click_rate`` (float64), smoothed, NaN below the minimum of impressions. With a rate of
    dwell times also ``satisfied_clicks``, ``unknown_dwells``, ``timed_clicks``, ``satisfied_click_rate``, ``dwell`` and
    ``median_dwell`` where it is the label; they are None otherwise. ``values`` is the one that is the label. ``looks``
    are the impressions that users looked at, as the propensities say, and without any all impressions. ``similar`` has
    the labels that are pooled over similar queries, or is None. ``log_columns`` says which columns of the log each role
    was read from.
    """

    def __init__(
        self, counted: CountedPairs, settings: ClickSettings, log_columns: Mapping[str, list[str]],
        medians: np.ndarray | None = None, similar: SimilarClickLabels | None = None,
    ) -> None:  # fmt: skip
        self.settings = settings
        self.log_columns = log_columns
        self.similar = similar
        self._counted = counted
        query = counted.pairs >> 32
        self.queries = np.array(list(counted.query_codes), dtype=object)[query]
        self.documents = np.array(list(counted.document_codes), dtype=object)[counted.pairs & 0xFFFFFFFF]
        self.impressions, self.clicks, self.last_clicks = (counted.counts[name] for name in COUNTS)
        self.looks = looks_of(counted.counts)
        self.satisfied_clicks, self.unknown_dwells, self.timed_clicks, _ = map(counted.counts.get, DWELL_COUNTS)
        rates = rates_of(counted.counts, settings, query, counted.counts)
        self.click_rate, self.last_click_rate = rates["click"], rates["last_click"]
        self.satisfied_click_rate, self.dwell = rates.get("satisfied_click"), rates.get("dwell")
        self.median_dwell = medians
        if medians is not None:
            medians[self.clicks == 0] = 0.0
            medians[self.impressions < settings.min_impressions] = np.nan
        self.values: np.ndarray = medians if medians is not None else rates[settings.rate]

    def __len__(self) -> int:
        return len(self._counted.pairs)

    def for_data(self, data: Dataset) -> np.ndarray:
        """The label of each row of a data set, by its query id and document id; NaN where there is none."""
        counted = self._counted
        codes = [counted.query_codes.get(key, -1) for key in counted.keys_of(data)]
        queries, documents = np.array(codes, dtype=np.int64)[data.row_queries], counted.documents_of(data)
        pairs = np.where((queries < 0) | (documents < 0), -1, (queries << 32) | documents)
        labels = values_at(pairs, counted.pairs, self.values)
        if not np.isin(pairs, counted.pairs).any():
            counted.refuse_strangers(data)
        return labels

    def neighbours(self, query: str) -> QueryNeighbours:
        """The similar queries that a query is pooled with: how similar, and what they bring."""
        if self.similar is None:
            raise SettingsError("no similar queries were looked for: ", Argument("similar", "words"))
        return self.similar.neighbours(query)

    def columns(self) -> dict[str, np.ndarray]:
        """The table: query, document, counts and rates."""
        looks = () if self.settings.propensities is None else ("looks",)
        names = (*COUNTS, *looks, *DWELL_COUNTS[:-1], "click_rate", "last_click_rate", *_DWELL_COLUMNS)
        asked = {name: getattr(self, name) for name in names}
        table = {"query": self.queries, "document": self.documents} | asked
        return {name: values for name, values in table.items() if values is not None}

    def write(self, path: str | Path) -> None:
        """Write the table as Parquet (``.parquet``, ``.pq``) or delimited text, whole or not at all.

        Delimited text is ``.csv`` or ``.tsv``, compressed with ``.gz`` after it.
        """
        write_columns(table_path(path), self.columns())

    def to_pandas(self) -> Any:
        """The table as a pandas data frame."""
        return load_pandas().DataFrame(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """What was counted, in total, and the settings."""
        counted_dwells = {} if self.unknown_dwells is None else _totals(self._counted.counts, DWELL_COUNTS[:-1])
        similar = {} if self.similar is None else {"similar": self.similar.to_dict()}
        return {
            "labels": int((~np.isnan(self.values)).sum()),
            "zero_labels": int((self.values == 0.0).sum()),
            "below_min_impressions": int((self.impressions < self.settings.min_impressions).sum()),
            "queries": len(self._counted.query_codes),
            "documents": len(self._counted.document_codes),
            **_totals(self._counted.counts, COUNTS),
            **counted_dwells,
            "columns": dict(self.log_columns),
            "settings": dataclasses.asdict(self.settings) | {"query_key": self._counted.keys.words},
            **similar,
        }

    def __str__(self) -> str:
        summary, settings = self.to_dict(), self.settings
        words = [
            f"{counted(summary['labels'], 'label')} ({RATES[settings.rate]}) of "
            f"{counted(summary['queries'], 'query')}, {summary['zero_labels']:,} of them 0",
            f"from {counted(summary['impressions'], 'impression')}, {counted(summary['clicks'], 'click')}, "
            f"{summary['last_clicks']:,} of them the last of their {settings.last_of}",
        ]
        if self.unknown_dwells is not None:
            unknown = "satisfied" if settings.dwell.unknown_dwell == "satisfied" else "left out"
            satisfied = counted(summary["satisfied_clicks"], "satisfied click")
            words.append(
                f"{satisfied} ({settings.dwell.satisfied_after:g} s or more; "
                f"the dwell time of {summary['unknown_dwells']:,} is unknown: {unknown})"
            )
        if summary["below_min_impressions"]:
            below = f"{summary['below_min_impressions']:,}"
            words.append(f"unlabelled, with fewer than {settings.min_impressions} impressions: {below}")
        if settings.smoothing:
            mean = (
                f"of {settings.prior:g}" if Number().is_one(settings.prior) else f"mean of the {_MEANS[settings.prior]}"
            )
            zeros = "" if settings.smooth_zeros else "; what was never clicked stays 0"
            chances = "clicks" if settings.rate == "dwell" else "impressions"
            words.append(f"smoothed by {settings.smoothing:g} {chances} at the {mean}{zeros}")
        if settings.propensities is not None:
            words.append(f"clicks per look, of which {self.looks.sum():,.0f} are expected by the propensities")
        if self._counted.keys.words:
            words.append(f"queries pooled by {self._counted.keys.words}")
        if self.similar is not None:
            words.append(str(self.similar))
        columns = (f"{role} {' or '.join(map(repr, names))}" for role, names in self.log_columns.items())
        return "\n".join([*words, f"columns of the log: {', '.join(columns)}"])

    def _repr_html_(self) -> str:
        """What notebooks show: the printed words."""
        return html_parts.block(html_parts.small(*str(self).split("\n")))

    def __repr__(self) -> str:
        queries = counted(len(self._counted.query_codes), "query")
        return f"<ClickLabels of {queries}: {counted(len(self), 'document')} shown>"


def looks_of(counts: Mapping[str, np.ndarray]) -> np.ndarray:
    """How many impressions users looked at, as the propensities say; without any all of them."""
    return counts["look_units"] * LOOK_UNIT if "look_units" in counts else counts["impressions"]


def rates_of(
    counts: Mapping[str, np.ndarray], settings: ClickSettings, query: np.ndarray, whole_log: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """All rates that the counts allow."""
    names = ["click", "last_click", *(["satisfied_click", "dwell"] if "timed_clicks" in counts else [])]
    return {name: settings.rates(name, counts, query, whole_log) for name in names}


def values_at(wanted: np.ndarray, pairs: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The values of some pairs (``pairs`` ascending) as labels; NaN for those that there are not."""
    places = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
    return np.where(pairs[places] == wanted, values[places], np.nan).astype(dtypes.LABEL)


def _totals(counts: Mapping[str, np.ndarray], names: Iterable[str]) -> dict[str, int]:
    return {name: int(counts[name].sum()) for name in names}


_DWELL_COLUMNS = ("satisfied_click_rate", "dwell", "median_dwell")
_MEANS: dict[Any, str] = {"query": "query", "global": "log"}
