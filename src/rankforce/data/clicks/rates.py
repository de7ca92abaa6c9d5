"""Click labels: counts of a log, and the rates made of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.console.tables import load_pandas
from rankforce.console.wording import counted
from rankforce.data.clicks.keys import QueryKeys
from rankforce.data.dataset import Dataset, check_dataset
from rankforce.data.files import table_path
from rankforce.data.tables.arrow import arrow
from rankforce.data.tables.csv_reading import delimiter_of
from rankforce.data.tables.parquet import is_parquet
from rankforce.errors import DataError, SettingsError
from rankforce.files.atomic_writes import atomic_write
from rankforce.kinds import MOST, Choice, Either, Number, check_choice, check_number, check_switches, shown
from rankforce.remedies import DOCUMENT_IDS, Argument

RATES = ("last_click", "click")


@dataclasses.dataclass(frozen=True)
class ClickSettings:
    """How counts become labels; see ``click_labels``."""

    rate: str = "last_click"
    last_of: str = "query"
    smoothing: float = 0.0
    prior: str | float = "query"
    smooth_zeros: bool = False
    min_impressions: int = 1

    def __post_init__(self) -> None:
        for name, value, known in (("rate", self.rate, RATES), ("last_of", self.last_of, ("query", "session"))):
            check_choice(name, value, known)
        if not Number(0.0).holds(self.smoothing):
            raise SettingsError(f"smoothing is a number of impressions, at least 0, not {shown(self.smoothing)}")
        object.__setattr__(self, "smoothing", float(self.smoothing))
        if not Either((Number(0.0, 1.0), Choice(("query", "global")))).holds(self.prior):
            raise SettingsError(f"prior must be 'query', 'global' or a rate from 0 to 1, not {shown(self.prior)}")
        check_switches(smooth_zeros=self.smooth_zeros)
        check_number("min_impressions", self.min_impressions, -MOST, whole=True)
        object.__setattr__(self, "min_impressions", int(self.min_impressions))
        if self.min_impressions < 1:
            raise SettingsError("min_impressions must be at least 1: a document never shown has no label")

    def rates(self, clicks: np.ndarray, impressions: np.ndarray, query: np.ndarray) -> np.ndarray:
        """(clicks + s·m)/(impressions + s); ``query`` numbers the queries from 0."""
        mean: Any = self.prior
        if self.prior == "query":
            mean = (np.bincount(query, clicks) / np.bincount(query, impressions))[query]
        elif self.prior == "global":
            mean = clicks.sum() / impressions.sum()
        result = (clicks + self.smoothing * mean) / (impressions + self.smoothing)
        if not self.smooth_zeros:
            result[clicks == 0] = 0.0
        result[impressions < self.min_impressions] = np.nan
        return result


class ClickLabels:
    """What was counted in a log, and the labels made of it.

    One entry per query (or query key) and document that was shown, queries and their documents in order of first
    appearance: ``queries`` and ``documents`` (text), ``impressions``, ``clicks``, ``last_clicks`` (int64), and
    ``click_rate`` and ``last_click_rate`` (float64), smoothed, NaN below the minimum of impressions. ``values`` is the
    one of the two that is the label. ``log_columns`` says which columns of the log each role was read from.
    """

    def __init__(
        self, pairs: np.ndarray, counts: np.ndarray, query_codes: dict[str, int], documents: dict[str, int],
        keys: QueryKeys, settings: ClickSettings, log_columns: Mapping[str, list[str]],
    ) -> None:  # fmt: skip
        self.settings = settings
        self.log_columns = log_columns
        self._pairs = pairs  # number of the query << 32 | number of the document, ascending
        self._query_codes = query_codes
        self._document_codes = documents
        self._keys = keys
        query = pairs >> 32
        self.queries = np.array(list(query_codes), dtype=object)[query]
        self.documents = np.array(list(documents), dtype=object)[pairs & 0xFFFFFFFF]
        self.impressions, self.clicks, self.last_clicks = counts
        self.click_rate = settings.rates(self.clicks, self.impressions, query)
        self.last_click_rate = settings.rates(self.last_clicks, self.impressions, query)

    @property
    def values(self) -> np.ndarray:
        return self.last_click_rate if self.settings.rate == "last_click" else self.click_rate

    def __len__(self) -> int:
        return len(self._pairs)

    def for_data(self, data: Dataset) -> np.ndarray:
        """The label of each row of a data set, by its query id and document id; NaN where there is none."""
        check_dataset(data)
        if data.document_ids is None:
            raise DataError("the data has no document ids, which the labels are joined by: ", DOCUMENT_IDS)
        keys = [self._query_codes.get(self._keys.of(str(name)), -1) for name in data.query_ids.tolist()]
        queries = np.array(keys, dtype=np.int64)[data.row_queries]
        documents = np.fromiter(
            (self._document_codes.get(str(name), -1) for name in data.document_ids.tolist()),
            dtype=np.int64,
            count=data.n_documents,
        )
        pairs = np.where((queries < 0) | (documents < 0), -1, (queries << 32) | documents)
        indices = np.minimum(np.searchsorted(self._pairs, pairs), len(self._pairs) - 1)
        has_rate = self._pairs[indices] == pairs
        if not has_rate.any():
            raise DataError(
                "no document of the data is in the log: ids are compared as text, and the log has query "
                f"{self.queries[0]!r} with document {self.documents[0]!r}, the data query {str(data.qid[0])!r} with "
                f"document {str(data.document_ids[0])!r}; ",
                Argument("query_key"),
                " can bring queries together",
            )
        return np.where(has_rate, self.values[indices], np.nan).astype(dtypes.LABEL)

    def columns(self) -> dict[str, np.ndarray]:
        """The table: query, document, counts and rates."""
        return {
            "query": self.queries,
            "document": self.documents,
            "impressions": self.impressions,
            "clicks": self.clicks,
            "last_clicks": self.last_clicks,
            "click_rate": self.click_rate,
            "last_click_rate": self.last_click_rate,
        }

    def write(self, path: str | Path) -> None:
        """Write the table as Parquet (``.parquet``, ``.pq``) or delimited text, whole or not at all.

        Delimited text is ``.csv`` or ``.tsv``, compressed with ``.gz`` after it.
        """
        path = table_path(path)
        pa = arrow(path)
        columns = {
            name: pa.array(values, type=pa.string() if values.dtype == object else None, from_pandas=True)
            for name, values in self.columns().items()
        }
        table = pa.table(columns)
        with atomic_write(path) as file:
            if is_parquet(path):
                import pyarrow.parquet as pq

                pq.write_table(table, file, write_page_checksum=True)
                return
            from pyarrow import csv as arrow_csv

            with pa.output_stream(file, compression="gzip" if path.suffix == ".gz" else None) as stream:
                options = arrow_csv.WriteOptions(delimiter=delimiter_of(path, None))
                arrow_csv.write_csv(table, stream, write_options=options)

    def to_pandas(self) -> Any:
        """The table as a pandas data frame."""
        return load_pandas().DataFrame(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """What was counted, in total, and the settings."""
        return {
            "labels": int((~np.isnan(self.values)).sum()),
            "zero_labels": int((self.values == 0.0).sum()),
            "below_min_impressions": int((self.impressions < self.settings.min_impressions).sum()),
            "queries": len(self._query_codes),
            "documents": len(self._document_codes),
            "impressions": int(self.impressions.sum()),
            "clicks": int(self.clicks.sum()),
            "last_clicks": int(self.last_clicks.sum()),
            "columns": dict(self.log_columns),
            "settings": dataclasses.asdict(self.settings) | {"query_key": self._keys.words},
        }

    def __str__(self) -> str:
        summary, settings = self.to_dict(), self.settings
        name = "last-click rate" if settings.rate == "last_click" else "click-through rate"
        words = [
            f"{counted(summary['labels'], 'label')} ({name}) of {counted(summary['queries'], 'query')}, "
            f"{summary['zero_labels']:,} of them 0",
            f"from {counted(summary['impressions'], 'impression')}, {counted(summary['clicks'], 'click')}, "
            f"{summary['last_clicks']:,} of them the last of their {settings.last_of}",
        ]
        if summary["below_min_impressions"]:
            below = f"{summary['below_min_impressions']:,}"
            words.append(f"unlabelled, with fewer than {settings.min_impressions} impressions: {below}")
        if settings.smoothing:
            mean = (
                f"of {settings.prior:g}" if Number().is_one(settings.prior) else f"mean of the {_MEANS[settings.prior]}"
            )
            zeros = "" if settings.smooth_zeros else "; what was never clicked stays 0"
            words.append(f"smoothed by {settings.smoothing:g} impressions at the {mean}{zeros}")
        if self._keys.words:
            words.append(f"queries pooled by {self._keys.words}")
        columns = (f"{role} {' or '.join(map(repr, names))}" for role, names in self.log_columns.items())
        return "\n".join([*words, f"columns of the log: {', '.join(columns)}"])

    def __repr__(self) -> str:
        return f"<ClickLabels of {counted(len(self._query_codes), 'query')}: {counted(len(self), 'document')} shown>"


_MEANS: dict[Any, str] = {"query": "query", "global": "log"}
