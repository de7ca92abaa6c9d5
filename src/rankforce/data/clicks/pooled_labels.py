"""Click labels pooled over similar queries: what was clicked for queries that ask for nearly the same.

Of a query q and a document d, c(q', d) and n(q', d) being clicks and impressions of d under a query q',

    label = Σ w(q, q')·c(q', d) / Σ w(q, q')·n(q', d),  over q itself with weight 1 and its neighbours q'.

A document that q itself never showed has a label if a neighbour did.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankforce.cached_properties import cached_property
from rankforce.console import html_parts
from rankforce.console.result_tables import ResultTable, Tabular
from rankforce.console.tables import load_pandas, number
from rankforce.console.wording import counted as count_of
from rankforce.data.clicks.rates import RATES, ClickSettings, CountedPairs, looks_of, rates_of, values_at
from rankforce.data.clicks.similar_queries import Pairs, SimilarQueries
from rankforce.data.dataset import Dataset
from rankforce.data.files import table_path
from rankforce.data.tables.written_columns import write_columns
from rankforce.displayed_text import displayed
from rankforce.kinds import Text

_ENTRIES_AT_ONCE = 1 << 22  # of the pairs of neighbours that are added up together


class Neighbour(NamedTuple):
    """A query whose clicks are counted for another, and what it has."""

    query: str
    similarity: float
    weight: float
    impressions: int
    clicks: int
    documents: int
    new_documents: int  # that the other query never showed


class QueryNeighbours(Tabular, Sequence[Neighbour]):
    """The similar queries of a query, the most similar first; a sequence of ``Neighbour``."""

    def __init__(self, query: str, rule: SimilarQueries, neighbours: Sequence[Neighbour]) -> None:
        self.query = query
        self._rule = rule
        self._neighbours = tuple(neighbours)

    def __len__(self) -> int:
        return len(self._neighbours)

    def __getitem__(self, place: Any) -> Any:
        return self._neighbours[place]

    def __repr__(self) -> str:
        return f"<{count_of(len(self), 'query')} similar to {displayed(self.query)!r}>"

    def to_dict(self) -> dict[str, Any]:
        """The neighbours as JSON can hold them."""
        return {"query": self.query, "neighbours": [one._asdict() for one in self._neighbours]}

    def _result_table(self) -> ResultTable:
        header = ["query", "similarity", "weight", "impressions", "clicks", "documents", "new documents"]
        rows = [
            [one.query, number(one.similarity), number(one.weight), *(f"{count:,}" for count in one[3:])]
            for one in self._neighbours
        ]
        title = f"similar to {displayed(self.query)!r}: {count_of(len(self), 'query')}"
        return ResultTable(title, header, rows, [_rule_in_words(self._rule)])


class SimilarClickLabels:
    """Labels of queries together with the queries that are similar to them.

    One entry per query and document that the query or a neighbour showed, both in the order of their texts:
    ``queries``, ``documents``, and float64 arrays ``impressions``, ``clicks``, ``last_clicks`` (weighted sums) and
    ``values``, the label, smoothed, NaN below the minimum of (weighted) impressions.
    """

    def __init__(self, counted: CountedPairs, settings: ClickSettings, rule: SimilarQueries) -> None:
        self.settings = settings
        self.rule = rule
        self._counted = counted
        self._index = rule.among(sorted(counted.query_codes))
        self._names = sorted(counted.document_codes)
        codes = [counted.document_codes[name] for name in self._names]
        self._document_ranks = np.argsort(codes)  # by number of the document: its place in the order of texts
        self._nearest = self._index.nearest(self._index.queries)

    @cached_property
    def _table(self) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        return self._pooled(self._index.queries, self._nearest)

    @property
    def queries(self) -> np.ndarray:
        return np.array(self._index.queries, dtype=object)[self._table[0] >> 32]

    @property
    def documents(self) -> np.ndarray:
        return np.array(self._names, dtype=object)[self._table[0] & 0xFFFFFFFF]

    @property
    def impressions(self) -> np.ndarray:
        return self._table[1]["impressions"]

    @property
    def clicks(self) -> np.ndarray:
        return self._table[1]["clicks"]

    @property
    def last_clicks(self) -> np.ndarray:
        return self._table[1]["last_clicks"]

    @cached_property
    def values(self) -> np.ndarray:
        return self._rates(*self._table)[self.settings.rate]

    def __len__(self) -> int:
        return len(self._table[0])

    def for_data(self, data: Dataset) -> np.ndarray:
        """The label of each row of a data set; also for queries that the log has not, if it has similar ones."""
        keys = self._counted.keys_of(data)
        pairs, counts = self._pooled(keys, self._index.nearest(keys))
        documents = self._counted.documents_of(data)
        wanted = np.where(documents < 0, -1, (data.row_queries << 32) | self._document_ranks[documents])
        if not np.isin(wanted, pairs).any():
            self._counted.refuse_strangers(data)
        return values_at(wanted, pairs, self._rates(pairs, counts)[self.settings.rate])

    def neighbours(self, query: str) -> QueryNeighbours:
        """The similar queries of a query, in the log or not: how similar, and what they bring."""
        Text("the text of a query").check("query", query)
        key = self._counted.keys.of(query)
        own = self._documents_under(key)
        found = []
        _, queries, similarities = self._index.nearest([key])
        weights = self._weights(similarities)
        for number_of, similarity, weight in zip(
            queries.tolist(), similarities.tolist(), weights.tolist(), strict=True
        ):
            name = self._index.queries[number_of]
            first, last = self._range(name)
            seen, clicks = (int(self._counted.counts[kind][first:last].sum()) for kind in ("impressions", "clicks"))
            documents = self._documents_under(name)
            found.append(Neighbour(name, similarity, weight, seen, clicks, len(documents), len(documents - own)))
        return QueryNeighbours(query, self.rule, found)

    def columns(self) -> dict[str, np.ndarray]:
        """The table: query, document, weighted counts and the rate."""
        table = {"query": self.queries, "document": self.documents}
        table |= {name: values for name, values in self._table[1].items() if not name.endswith("_units")}
        if "look_units" in self._table[1]:
            table["looks"] = looks_of(self._table[1])
        return table | {
            f"{name}_rate" if name != "dwell" else name: one for name, one in self._rates(*self._table).items()
        }

    def write(self, path: str | Path) -> None:
        """Write the table as Parquet (``.parquet``, ``.pq``) or delimited text, whole or not at all."""
        write_columns(table_path(path), self.columns())

    def to_pandas(self) -> Any:
        """The table as a pandas data frame."""
        return load_pandas().DataFrame(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """What was pooled, in total."""
        return {
            **self.rule.to_dict(),
            "labels": int((~np.isnan(self.values)).sum()),
            "zero_labels": int((self.values == 0.0).sum()),
            "never_shown_by_the_query": len(self) - len(self._counted.pairs),
            "queries_with_neighbours": len(np.unique(self._nearest[0])),
            "pairs_of_queries": len(self._nearest[0]),
        }

    def __str__(self) -> str:
        summary = self.to_dict()
        return (
            f"{count_of(summary['labels'], 'label')} ({RATES[self.settings.rate]}) over similar queries, "
            f"{summary['zero_labels']:,} of them 0; {summary['never_shown_by_the_query']:,} entries are of documents "
            f"that only similar queries showed; {summary['queries_with_neighbours']:,} of "
            f"{count_of(len(self._index.queries), 'query')} have similar ones; {_rule_in_words(self.rule)}"
        )

    def _repr_html_(self) -> str:
        """What notebooks show: the printed words."""
        return html_parts.block(html_parts.small(*str(self).split("\n")))

    def __repr__(self) -> str:
        return f"<SimilarClickLabels of {count_of(len(self._index.queries), 'query')} by {self.rule.words}>"

    # ------------------------------------------------------------------------------------------------------- internals

    def _rates(self, pairs: np.ndarray, counts: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return rates_of(counts, self.settings, pairs >> 32, self._counted.counts)

    def _weights(self, similarities: np.ndarray) -> np.ndarray:
        return similarities ** float(self.rule.power)

    def _range(self, query: str) -> tuple[int, int]:
        """Where the pairs of a query of the log stand."""
        code = self._counted.query_codes[query]
        first, last = np.searchsorted(self._counted.pairs, [code << 32, (code + 1) << 32])
        return int(first), int(last)

    def _documents_under(self, query: str) -> set[int]:
        if query not in self._counted.query_codes:
            return set()
        first, last = self._range(query)
        return set((self._counted.pairs[first:last] & 0xFFFFFFFF).tolist())

    def _pooled(self, texts: Sequence[str], nearest: Pairs) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Number of the text << 32 | place of the document, ascending, and the weighted counts of each."""
        rows, queries, similarities = nearest
        numbers = np.array([self._index.numbers.get(text, -1) for text in texts], dtype=np.int64)
        known = np.flatnonzero(numbers >= 0)
        rows = np.concatenate([rows, known])
        queries = np.concatenate([queries, numbers[known]])
        weights = np.concatenate([self._weights(similarities), np.ones(len(known))])
        order = np.lexsort((queries, rows))  # sums in the order of texts: no order of the log can change them
        parts = [(np.empty(0, np.int64), np.empty((len(self._counted.counts), 0)))]
        parts += [self._sums(rows[some], queries[some], weights[some]) for some in self._blocks(rows, queries, order)]
        pairs = np.concatenate([one for one, _ in parts])
        sums = np.concatenate([one for _, one in parts], axis=1)
        return pairs, dict(zip(self._counted.counts, sums, strict=True))

    @cached_property
    def _ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the pairs of each query begin and end, queries in the order of their texts."""
        codes = np.array([self._counted.query_codes[query] for query in self._index.queries], dtype=np.int64)
        return tuple(np.searchsorted(self._counted.pairs, edge << 32) for edge in (codes, codes + 1))  # type: ignore[return-value]

    def _blocks(self, rows: np.ndarray, queries: np.ndarray, order: np.ndarray) -> Iterator[np.ndarray]:
        """Parts of an order that is ascending in rows: whole rows whose pairs are few enough to be expanded at once."""
        starts, ends = self._ranges
        before = np.concatenate([[0], np.cumsum((ends - starts)[queries[order]])])
        heads = np.flatnonzero(np.diff(rows[order], prepend=-1))
        limits = [*heads.tolist(), len(order)]
        first = 0
        for limit, following in zip(limits, [*limits[1:], None], strict=True):
            last = following is None
            if last or before[following] - before[first] > _ENTRIES_AT_ONCE:
                if limit > first:
                    yield order[first:limit]
                first = limit

    def _sums(self, rows: np.ndarray, queries: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        starts, ends = self._ranges
        sizes = (ends - starts)[queries]
        total = int(sizes.sum())
        places = np.arange(total) + np.repeat(starts[queries] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
        pairs = (np.repeat(rows, sizes) << 32) | self._document_ranks[self._counted.pairs[places] & 0xFFFFFFFF]
        weight = np.repeat(weights, sizes)
        order = np.argsort(pairs, kind="stable")
        heads = np.flatnonzero(np.diff(pairs[order], prepend=-1))
        counts = np.stack([(values[places] * weight)[order] for values in self._counted.counts.values()])
        return pairs[order][heads], np.add.reduceat(counts, heads, axis=1)


def _rule_in_words(rule: SimilarQueries) -> str:
    weight = {0.0: "each weighing 1", 1.0: "weighing as much as they are similar"}.get(
        float(rule.power), f"weighing their similarity to the power of {rule.power:g}"
    )
    return f"similar by {rule.words}: {rule.threshold:g} or more, at most {rule.neighbours:,} queries, {weight}"
