"""Columns of files that hold no numbers: what their entries are as features, which all rows decide together.

Whether a column of text is truth values, dates or categories, and which categories, no piece can tell alone. So where a
survey meets such a column, every piece counts the entries of its own, as a store does while data passes by; the client
adds up the counts and settles all columns; and from then on the blocks of every piece have what was settled.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.collective import ALONE, using_collective
from rankforce.data.categories import Categories, Category
from rankforce.data.dataset import Dataset
from rankforce.data.feature_columns import Unsettled, Unusable
from rankforce.data.feature_options import UnusableColumnsError
from rankforce.data.seen_columns import NotNumbersError, SeenColumns
from rankforce.distributed.pieces import FilePiece, Piece
from rankforce.distributed.tasks import Limits, gathered_from, quietly
from rankforce.errors import FileFormatError
from rankforce.stores.category_tally import CategoryTally, SettledFeature, too_many
from rankforce.stores.survey import mixed, unlike

MOST_BYTES = 256 * 2**20  # that the entries of all columns may take


@dataclasses.dataclass(frozen=True)
class PieceTally:
    """What a piece has of columns that are settled by all.

    tallies : feature → entries and how many rows have each
    numbers : features that hold numbers
    seen : what the reader said of its columns; where it found texts among numbers, that alone
    """

    tallies: Mapping[str, CategoryTally]
    numbers: frozenset[str]
    seen: SeenColumns


@dataclasses.dataclass(frozen=True)
class SettledColumns:
    """What entries are, for all pieces alike: given to blocks of a file.

    texts : columns of delimited text that are not read as numbers
    categories : of the features that have some
    roles : column → what was made of it
    """

    texts: frozenset[str]
    tallies: Mapping[str, CategoryTally]
    features: Mapping[str, SettledFeature]
    categories: Categories
    roles: Mapping[str, str]

    def of(self, block: Dataset) -> Dataset:
        """A block with its own lists, with what they became."""
        features = block.features.copy()
        for name, feature in self.features.items():
            if name in block.categories:
                column = features[:, block.feature_names.index(name)]
                column[:] = self.tallies[name].numbers(column, block.categories[name], feature)
        settled = block.replace(features=features, categories=self.categories)
        return settled.with_origins(block.origins, {**block.roles, **self.roles})


def tally_piece(piece: FilePiece, texts: frozenset[str]) -> PieceTally:
    """On a worker: count the entries of all columns that are no numbers."""
    seen, numbers = SeenColumns(set(texts)), set[str]()
    tallies: dict[str, CategoryTally] = {}
    with using_collective(ALONE):
        try:
            for block in piece.blocks_as_read(seen):
                for place, name in enumerate(block.feature_names):
                    if name in block.categories:
                        tally = tallies.setdefault(name, CategoryTally(name))
                        tally.take(block.features[:, place], block.categories[name])
                    elif name not in numbers and not np.isnan(block.features[:, place]).all():
                        numbers.add(name)
                _refuse_large(tallies)
        except NotNumbersError as error:
            return PieceTally({}, frozenset(), SeenColumns(error.columns))
    return PieceTally(tallies, frozenset(numbers), seen)


def _refuse_large(tallies: Mapping[str, CategoryTally]) -> None:
    if sum(tally.bytes for tally in tallies.values()) > MOST_BYTES:
        largest = max(tallies.values(), key=lambda tally: tally.bytes)
        raise too_many(largest.name, f"{len(largest.categories):,} or more")


def settle_columns(client: Any, pieces: Sequence[Piece], like: Categories | None, within: Limits) -> SettledColumns:
    """Of all pieces, which are files; ``like``: the categories of the data that this shall be like."""
    files = [piece for piece in pieces if isinstance(piece, FilePiece)]
    texts: frozenset[str] = frozenset()
    while True:
        with quietly():
            tasks = [client.submit(tally_piece, piece, texts, pure=False) for piece in files]
        found = gathered_from(client, tasks, within)
        more = texts.union(*(one.seen.texts for one in found))
        if more == texts:
            break
        texts = more
    tallies: dict[str, CategoryTally] = {}
    seen = SeenColumns()
    for one in found:
        seen.take(one.seen.unsettled, one.seen.columns)
        for name, tally in one.tallies.items():
            tallies.setdefault(name, CategoryTally(name)).add(tally)
    for name in tallies:
        if any(name in one.numbers for one in found):
            raise mixed(name)
    _refuse_large(tallies)
    try:
        return _settled(tallies, seen, like, texts)
    except UnusableColumnsError as error:
        raise FileFormatError(error.problem, path=files[0].source.path, remedy=error.remedy) from None


def _settled(
    tallies: Mapping[str, CategoryTally], seen: SeenColumns, like: Categories | None, texts: frozenset[str]
) -> SettledColumns:
    features: dict[str, SettledFeature] = {}
    unusable: dict[str, Unusable] = {}
    for name, tally in tallies.items():
        listed = None if like is None else tuple(like.get(name, ()))
        found = tally.settled(_how(name, seen.unsettled.get(name), listed), listed)
        if isinstance(found, Unusable):
            unusable[seen.columns.get(name, name)] = found
        else:
            features[name] = found
    if unusable:
        raise UnusableColumnsError(unusable)
    categories = {name: feature.categories for name, feature in features.items() if feature.categories}
    roles = {seen.columns.get(name, name): feature.role for name, feature in features.items() if feature.role}
    return SettledColumns(texts, tallies, features, {**(like or {}), **categories}, roles)


def _how(name: str, how: Unsettled | None, listed: tuple[Category, ...] | None) -> Unsettled | None:
    """How a column is settled; what other data has as numbers may not become categories."""
    if listed is None or listed:
        return how
    if how is None or not how.texts:
        raise unlike(name, "categories", "numbers")
    return dataclasses.replace(how, find=False)
