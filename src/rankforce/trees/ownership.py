"""Which columns each member of a training looks for splits on."""

from __future__ import annotations

import dataclasses

import numpy as np

from rankforce.collective import Collective
from rankforce.kernels.trees.growth_state import ColumnTable
from rankforce.trees.layout import by_share

NOT_OWNED = 2.0  # a share of the columns that no thread has


@dataclasses.dataclass(frozen=True, eq=False)
class Ownership:
    """Which bytes of a row each member owns: those from ``edges[rank]`` to ``edges[rank + 1]``.

    mine : bool (columns,)
    table : what kernels are told of the columns, so that they look at the own ones alone
    """

    members: Collective
    edges: np.ndarray
    mine: np.ndarray
    table: ColumnTable

    @staticmethod
    def edges_of(n_bytes: int, members: Collective) -> np.ndarray:
        """Where the bytes of each member begin, and the last ones end: int64 (members + 1,)."""
        return np.arange(members.size + 1) * n_bytes // members.size

    @classmethod
    def of(cls, columns: ColumnTable, n_bytes: int, members: Collective) -> Ownership:
        """Equally many bytes each; threads share those of a member by their work, as they would share all."""
        edges = cls.edges_of(n_bytes, members)
        owner = np.searchsorted(edges, columns.byte, side="right") - 1
        mine = owner == members.rank
        share = np.full(len(mine), NOT_OWNED)
        if mine.any():
            own = columns.share[mine]
            later = columns.share[columns.share > own.max()]
            first, last = own.min(), later.min() if len(later) else 1.0
            share[mine] = (own - first) / (last - first)  # the last of them below 1
        return cls(members, edges, mine, columns._replace(share=share, order=by_share(share)))
