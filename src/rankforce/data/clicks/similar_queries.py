"""Which queries are similar to which: by their texts, by a function, or as a table says."""

from __future__ import annotations

import abc
import dataclasses
import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankforce.cached_properties import cached_property
from rankforce.data.clicks.log_values import number_or_nan
from rankforce.data.clicks.query_texts import character_terms, word_terms
from rankforce.data.clicks.query_vectors import QueryVectors
from rankforce.data.frames import as_vector, column_names, is_frame
from rankforce.data.tables.csv_reading import delimiter_of
from rankforce.data.tables.csv_rows import header_of
from rankforce.data.tables.csv_rows import rows as csv_rows
from rankforce.displayed_text import displayed
from rankforce.errors import DataError, FileFormatError, SettingsError
from rankforce.kinds import MOST, FunctionOf, Number, OrNone, Whole, shown

TEXTS = ("words", "characters")
PAIR_COLUMNS = ("query", "similar", "similarity")
MOST_ASKED = 5_000_000  # pairs that a function is asked about

Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Number of the text, number of the query of the log, similarity."""


@dataclasses.dataclass(frozen=True, eq=False)
class SimilarQueries:
    """What makes two queries similar, and how much clicks of a similar query weigh.

    by : "words", "characters", a function, or pairs
        "words": the cosine of tf·idf vectors of words, "characters": of runs of characters, which forgives
        misspellings and needs no spaces between words. A function of two queries gives a number from 0 to 1; it is
        asked once for every two, the one that comes first in the order of texts first. Pairs are a mapping
        ``{(query, query): similarity}``, a data frame or a CSV file with the columns query, similar and similarity; a
        pair counts in both directions.
    threshold : number above 0, at most 1
        Less similar queries are not pooled.
    neighbours : int
        At most so many similar queries, the most similar first, equally similar ones in the order of their texts.
    n : int, optional
        Words: all runs of up to n words are compared (1: the order of words does not matter). Characters: runs of n.
    power : number, at least 0
        Clicks of a query with similarity s weigh s to this power; with 0 all weigh 1, as the query's own do.

    Texts are compared in Unicode's NFKC form, case folded, cut into words at everything but letters, digits and + # &.
    """

    by: Any = "words"
    threshold: float = 0.7
    neighbours: int = 20
    n: int | None = None
    power: float = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.by, SimilarQueries):
            raise SettingsError("by says what makes queries similar, and is no SimilarQueries: give that itself")
        Number(0.0, 1.0, above=True).check("threshold", self.threshold)
        Whole(1, MOST).check("neighbours", self.neighbours)
        Number(0.0).check("power", self.power)
        OrNone(Whole(1, 100)).check("n", self.n)
        file = isinstance(self.by, os.PathLike) or (isinstance(self.by, str) and self.by not in TEXTS)
        if isinstance(self.by, str) and file and not self.by.endswith((".csv", ".tsv", ".csv.gz", ".tsv.gz")):
            raise SettingsError(
                f"similar queries are found by 'words', 'characters', a function or pairs (a .csv file), not "
                f"{shown(self.by)}"
            )
        known = self.by in TEXTS if isinstance(self.by, str) else False
        if not (known or file or isinstance(self.by, Mapping) or is_frame(self.by) or FunctionOf(2).holds(self.by)):
            raise SettingsError(
                "similar queries are found by 'words', 'characters', a function of two queries, or pairs of them, not "
                f"{shown(self.by)}"
            )
        if self.n is not None and not known:
            raise SettingsError("n is about texts that are compared by 'words' or 'characters': leave it out")

    @cached_property
    def pairs(self) -> dict[tuple[str, str], float] | None:
        """The similarities that were given, read once; None where texts are compared or a function is asked."""
        if isinstance(self.by, str) and self.by in TEXTS:
            return None
        listed = isinstance(self.by, (str, os.PathLike, Mapping)) or is_frame(self.by)
        return _read_pairs(self.by) if listed else None

    @property
    def words(self) -> str:
        """By what, in words."""
        if isinstance(self.by, str) and self.by in TEXTS:
            return self.by if self.n is None else f"{self.by} (n={self.n})"
        if isinstance(self.by, (str, os.PathLike)):
            return displayed(os.fspath(self.by))
        if isinstance(self.by, Mapping) or is_frame(self.by):
            return "pairs"
        return getattr(self.by, "__name__", "a function")

    def to_dict(self) -> dict[str, Any]:
        """The settings, as JSON can hold them."""
        return {
            "by": self.words,
            "threshold": float(self.threshold),
            "neighbours": int(self.neighbours),
            "power": float(self.power),
        }

    def among(self, queries: Sequence[str]) -> QueryIndex:
        """What finds the similar ones among these queries, which are in the order of their texts."""
        if self.pairs is not None:
            return _ByPairs(self, queries, self.pairs)
        if not isinstance(self.by, str):
            return _ByFunction(self, queries, self.by)
        terms, n = (word_terms, 1) if self.by == "words" else (character_terms, 3)
        return _ByText(self, queries, functools.partial(terms, n=self.n or n))


class QueryIndex(abc.ABC):
    """Finds for texts what is similar among the queries of a log (``queries``, in the order of their texts)."""

    def __init__(self, settings: SimilarQueries, queries: Sequence[str]) -> None:
        self._settings = settings
        self.queries = list(queries)
        self.numbers = {query: number for number, query in enumerate(queries)}

    def nearest(self, texts: Sequence[str]) -> Pairs:
        """The neighbours of every text, itself left out; texts in order, of each the most similar first."""
        blocks = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
        own = np.array([self.numbers.get(text, -1) for text in texts], dtype=np.int64)
        for rows, queries, similarities in self.similar(texts):
            other = (queries != own[rows]) & (similarities >= self._settings.threshold)
            blocks.append((rows[other], queries[other], similarities[other]))
            if sum(len(block[0]) for block in blocks) > 1 << 22:
                blocks = [self._best(blocks)]
        return self._best(blocks)

    def _best(self, blocks: list[Pairs]) -> Pairs:
        rows, queries, similarities = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        order = np.lexsort((queries, -similarities, rows))
        rows = rows[order]
        places = np.arange(len(rows)) - np.searchsorted(rows, rows, side="left")
        order = order[places < self._settings.neighbours]
        return rows[places < self._settings.neighbours], queries[order], similarities[order]

    @abc.abstractmethod
    def similar(self, texts: Sequence[str]) -> Iterator[Pairs]:
        """Pairs of a text and a query with their similarity, in blocks; those below the threshold may be left out."""


class _ByText(QueryIndex):
    def __init__(self, settings: SimilarQueries, queries: Sequence[str], terms: Callable[[str], list[str]]) -> None:
        super().__init__(settings, queries)
        self._vectors = QueryVectors(queries, terms)

    def similar(self, texts: Sequence[str]) -> Iterator[Pairs]:
        return self._vectors.above(texts, float(self._settings.threshold))


class _ByFunction(QueryIndex):
    def __init__(self, settings: SimilarQueries, queries: Sequence[str], function: Callable[[str, str], Any]) -> None:
        super().__init__(settings, queries)
        self._function = function
        self._known: dict[tuple[str, str], float] = {}

    def similar(self, texts: Sequence[str]) -> Iterator[Pairs]:
        if len(texts) * len(self.queries) > 2 * MOST_ASKED:
            raise SettingsError(
                f"a function would be asked about every two of {max(len(texts), len(self.queries)):,} queries, more "
                f"than {MOST_ASKED:,} pairs: compare by 'words' or 'characters', or give the pairs that are similar"
            )
        for row, text in enumerate(texts):
            values = [1.0 if other == text else self._asked(*sorted((text, other))) for other in self.queries]
            yield np.full(len(values), row), np.arange(len(values)), np.array(values)

    def _asked(self, first: str, second: str) -> float:
        if (first, second) not in self._known:
            given = self._function(first, second)
            if not Number(0.0, 1.0).holds(given):
                raise DataError(
                    f"the similarity of {first!r} and {second!r} must be a number from 0 to 1, not {shown(given)}"
                )
            self._known[first, second] = float(given)
        return self._known[first, second]


class _ByPairs(QueryIndex):
    def __init__(
        self, settings: SimilarQueries, queries: Sequence[str], pairs: Mapping[tuple[str, str], float]
    ) -> None:
        super().__init__(settings, queries)
        self._of: dict[str, list[tuple[str, float]]] = {}
        for (first, second), similarity in pairs.items():
            self._of.setdefault(first, []).append((second, similarity))
            self._of.setdefault(second, []).append((first, similarity))

    def similar(self, texts: Sequence[str]) -> Iterator[Pairs]:
        found = [
            (row, self.numbers[other], similarity)
            for row, text in enumerate(texts)
            for other, similarity in self._of.get(text, ())
            if other in self.numbers
        ]
        rows, queries, similarities = zip(*found, strict=True) if found else ((), (), ())
        yield np.array(rows, np.int64), np.array(queries, np.int64), np.array(similarities, np.float64)


def _read_pairs(given: Any) -> dict[tuple[str, str], float]:
    """Similarities of pairs, each once: (the text that comes first, the other) → similarity."""
    pairs: dict[tuple[str, str], float] = {}
    for where, first, second, similarity in _listed_pairs(given):
        number = number_or_nan(similarity)
        if not 0.0 <= number <= 1.0:
            raise DataError(f"{where}: a similarity is a number from 0 to 1, not {shown(similarity)}")
        if first == second:
            continue
        pair = (min(first, second), max(first, second))
        if pairs.setdefault(pair, number) != number:
            raise DataError(
                f"{where}: {pair[0]!r} and {pair[1]!r} have two similarities, {pairs[pair]:g} and {number:g}; a pair "
                "counts in both directions"
            )
    return pairs


def _listed_pairs(given: Any) -> Iterator[tuple[str, str, str, Any]]:
    """Where a pair stands, its two queries, and what is given as their similarity."""
    if isinstance(given, Mapping):
        for pair, similarity in given.items():
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise DataError(f"similar queries are given as {{(query, query): similarity}}, not with {shown(pair)}")
            yield f"pair {shown(pair)}", str(pair[0]), str(pair[1]), similarity
    elif is_frame(given):
        names = column_names(given)
        for name in PAIR_COLUMNS:
            if name not in names:
                raise DataError(f"pairs of similar queries need the columns {', '.join(PAIR_COLUMNS)}, not {names[:8]}")
        columns = [as_vector(given[name]).tolist() for name in PAIR_COLUMNS]
        for row, (first, second, similarity) in enumerate(zip(*columns, strict=True)):
            yield f"pairs of similar queries, row {row} (from 0)", str(first), str(second), similarity
    else:
        yield from _pairs_of_file(Path(given))


def _pairs_of_file(path: Path) -> Iterator[tuple[str, str, str, Any]]:
    delimiter = delimiter_of(path, None)
    line, names = header_of(path, delimiter, ",".join(PAIR_COLUMNS), lambda sign: f"put {delimiter!r} between cells")
    places = [names.index(name) if name in names else -1 for name in PAIR_COLUMNS]
    if min(places) < 0:
        remedy = f"the first line names the columns: {','.join(PAIR_COLUMNS)}"
        raise FileFormatError("a column is missing", path=path, line=line, text=delimiter.join(names), remedy=remedy)
    for row_line, cells in csv_rows(path, delimiter):
        if len(cells) != len(names):
            problem = f"{len(cells)} cells in a row, the header has {len(names)}"
            raise FileFormatError(problem, path=path, line=row_line, text=delimiter.join(cells))
        first, second, similarity = (cells[place] for place in places)
        yield f"{displayed(str(path))}, line {row_line}", first, second, similarity
