"""The sets of categories of an ensemble as the kernels read them: equal tests once, by feature and category."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankforce.cached_properties import cached_property
from rankforce.data.category_sets import BITS
from rankforce.models.model import frozen

if TYPE_CHECKING:
    from rankforce.kernels.trees.set_tests import SetRows, SetTable
    from rankforce.models.tree_ensemble import TreeEnsemble

LARGEST_TABLE = 1 << 28  # bytes; ensembles that would need more are walked
_NO_SET = -1


class SetPlaces:
    """A place for every different test of a set: of one feature, for one set, with one side for missing values.

    The places of a feature begin with a new word of 64: some stand for no test. ``of_nodes`` int32: the place of each
    node's test, -1 for those that ask for no set.
    """

    def __init__(self, ensemble: TreeEnsemble) -> None:
        from rankforce.kernels.trees.set_tests import PLACES

        self._ensemble = ensemble
        nodes = np.flatnonzero(ensemble.subset >= 0)
        starts, words = ensemble.subset_starts, ensemble.subset_words
        tests: dict[tuple[int, bool, bytes], int] = {}
        features, missing = ensemble.feature[nodes].tolist(), ensemble.missing_left[nodes].tolist()
        number_of = np.empty(len(nodes), dtype=np.int64)
        first_sets: list[int] = []  # of each different test
        for number, (feature, left) in enumerate(zip(features, missing, strict=True)):
            key = feature, left, words[starts[number] : starts[number + 1]].tobytes()
            number_of[number] = tests.setdefault(key, len(tests))
            if number_of[number] == len(first_sets):
                first_sets.append(number)
        first = np.array(first_sets, dtype=np.int64)
        asked = ensemble.feature[nodes[first]]
        self.features, of_test, counts = np.unique(asked, return_inverse=True, return_counts=True)
        self.word_starts = np.append(0, np.cumsum(-(-counts // PLACES)))
        order = np.argsort(of_test, kind="stable")
        rank = np.empty(len(first), dtype=np.int64)  # of a test among those of its feature
        rank[order] = np.arange(len(first)) - np.repeat(np.append(0, np.cumsum(counts)[:-1]), counts)
        place = PLACES * self.word_starts[of_test] + rank
        self.count = int(PLACES * self.word_starts[-1])
        self.sets = np.full(self.count, _NO_SET)
        self.sets[place] = first
        self.of_nodes = np.full(len(ensemble.feature), -1, dtype=np.int32)
        self.of_nodes[nodes] = place[number_of]

    @cached_property
    def rows(self) -> SetRows:
        """What is asked at each place; at those that stand for no test, something that there is."""
        from rankforce.kernels.trees.set_tests import SetBits, SetRows

        ensemble = self._ensemble
        nodes = np.flatnonzero(ensemble.subset >= 0)[np.maximum(self.sets, 0)]
        return SetRows(
            frozen(ensemble.feature[nodes], np.int32),
            frozen(np.maximum(self.sets, 0), np.int32),
            frozen(ensemble.missing_left[nodes], np.bool_),
            SetBits(ensemble.subset_starts, ensemble.subset_words),
        )

    @cached_property
    def table(self) -> SetTable | None:
        """None if it would be too large."""
        from rankforce.kernels.trees.set_tests import MISSING, PLACES, SetTable

        sets, codes = self._listed()
        place_of = np.flatnonzero(self.sets >= 0)
        by_set = np.full(len(self._ensemble.subset_starts) - 1, -1)
        by_set[self.sets[place_of]] = place_of
        places, codes = by_set[sets], codes[by_set[sets] >= 0]
        places = places[places >= 0]
        feature_of = np.searchsorted(self.word_starts, places // PLACES, side="right") - 1
        code_starts, table_starts, code_rows, tables, size = [0], [], [], [], 0
        for f in range(len(self.features)):
            mine = feature_of == f
            listed, row = np.unique(codes[mine], return_inverse=True)
            width = int(self.word_starts[f + 1] - self.word_starts[f])
            table_starts.append(size)
            size += (2 + len(listed)) * width
            if 8 * size > LARGEST_TABLE:
                return None
            table = np.full((2 + len(listed), width), ~np.uint64(0))
            local = places[mine] - PLACES * self.word_starts[f]
            np.bitwise_and.at(table, (2 + row, local // PLACES), ~_bits(local))
            table[MISSING] &= ~self._missing_left(f, width)
            tables.append(table.ravel())
            rows = np.zeros(int(listed[-1]) + 1 if len(listed) else 0, dtype=np.int32)
            rows[listed] = 2 + np.arange(len(listed))
            code_rows.append(rows)
            code_starts.append(code_starts[-1] + len(rows))
        return SetTable(
            frozen(self.features, np.int32),
            frozen(np.array(code_starts), np.int64),
            frozen(np.concatenate(code_rows), np.int32),
            frozen(np.array(table_starts), np.int64),
            frozen(self.word_starts, np.int64),
            frozen(np.concatenate(tables), np.uint64),
        )

    def _listed(self) -> tuple[np.ndarray, np.ndarray]:
        """(sets, categories): every category of every set."""
        ensemble = self._ensemble
        used = np.flatnonzero(ensemble.subset_words)
        words = np.ascontiguousarray(ensemble.subset_words[used], dtype="<u4")
        bits = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
        bits = BITS * used[bits // BITS] + bits % BITS
        # sets without words begin where the next one does: the last of those that begin there has the words
        sets = np.searchsorted(ensemble.subset_starts, bits // BITS, side="right") - 1
        return sets, bits - BITS * ensemble.subset_starts[sets]

    def _missing_left(self, f: int, width: int) -> np.ndarray:
        """The places of a feature whose tests a missing value passes, as words."""
        from rankforce.kernels.trees.set_tests import PLACES

        places = np.arange(PLACES * self.word_starts[f], PLACES * self.word_starts[f + 1])
        passes = self.rows.missing_left[places] & (self.sets[places] >= 0)
        words = np.zeros(width, dtype=np.uint64)
        np.bitwise_or.at(words, np.flatnonzero(passes) // PLACES, _bits(np.flatnonzero(passes)))
        return words


def _bits(places: np.ndarray) -> np.ndarray:
    """The bit of each place in its word of 64."""
    return np.uint64(1) << (places % 64).astype(np.uint64)
