"""What readers of blocks learn about columns of text, which are settled when all rows were seen."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from rankforce.data.feature_columns import Unsettled


class NotNumbersError(Exception):
    """Columns that were read as numbers hold other texts."""

    def __init__(self, columns: Iterable[str]) -> None:
        super().__init__(*columns)
        self.columns = set(columns)


@dataclasses.dataclass
class SeenColumns:
    """Shared by all blocks of some data.

    texts : columns of delimited text that are not numbers
    unsettled : feature → what its entries become
    columns : feature → its column, as users name it
    """

    texts: set[str] = dataclasses.field(default_factory=set)
    unsettled: dict[str, Unsettled] = dataclasses.field(default_factory=dict)
    columns: dict[str, str] = dataclasses.field(default_factory=dict)

    def take(self, unsettled: Mapping[str, Unsettled], columns: Mapping[str, str]) -> None:
        """What the reader of a block says."""
        self.unsettled.update(unsettled)
        self.columns.update({name: columns[name] for name in unsettled})
