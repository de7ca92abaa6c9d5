"""Which worker has which pieces, and whether they fit."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from rankforce.boosting.leaf_counts import LeafCounts
from rankforce.boosting.memory_choice import BYTES_PER_DOCUMENT
from rankforce.errors import SettingsError
from rankforce.memory import written_size

BEGIN_AGAIN = 10.0  # seconds that a run takes to begin, beside loading: members meet and score the trees so far
HISTOGRAM_ENTRIES = 264  # of a byte of a row, 8 bytes each


def dealt(
    documents: Mapping[int, int], owners: Mapping[int, str], workers: Collection[str]
) -> tuple[dict[int, str], dict[str, int]]:
    """(worker by piece, documents by worker): who has a piece keeps it, others go to whoever has least.

    The largest go first. Then a worker that has nothing takes pieces from those that have most, as long as the larger
    of the two shares becomes smaller.
    """
    new = {piece: worker for piece, worker in owners.items() if worker in workers and piece in documents}
    load = dict.fromkeys(sorted(workers), 0)
    for piece, worker in new.items():
        load[worker] += documents[piece]

    def give(piece: int, worker: str) -> None:
        if piece in new:
            load[new[piece]] -= documents[piece]
        new[piece] = worker
        load[worker] += documents[piece]

    for piece in sorted(documents.keys() - new.keys(), key=lambda number: (-documents[number], number)):
        give(piece, min(load, key=lambda one: (load[one], one)))
    for worker in [worker for worker, count in load.items() if count == 0]:
        while True:
            richest = max(load, key=lambda one: (load[one], one))
            movable = [n for n, one in new.items() if one == richest and load[worker] + documents[n] < load[richest]]
            if worker == richest or not movable:
                break
            give(max(movable, key=lambda number: (documents[number], -number)), worker)
    return new, load


def place_pieces(data: Any, workers: Mapping[str, Any]) -> dict[str, int]:
    """Deal the pieces of loaded data to these workers. Documents by worker."""
    owners, load = dealt(data.documents_of_pieces(), data.owners, workers)
    data.owners.clear()
    data.owners.update(owners)
    data.limits = {worker: int(one.get("memory_limit") or 0) for worker, one in workers.items()}
    return load


def joining_pays(largest: int, then: int, trees: int, seconds_per_tree: float, seconds_of_loading: float) -> bool:
    """Whether a training is interrupted for workers that have joined.

    Trees take as long as the largest share needs: with one of ``then`` documents in place of ``largest``, the trees
    that are left take less time by the difference. Loading and beginning again may not cost more than half of that.
    """
    gain = trees * seconds_per_tree * (1.0 - then / max(largest, 1))
    return gain > 2.0 * (seconds_of_loading + BEGIN_AGAIN)


def check_room(ranker: Any, documents: Mapping[str, int], data: Any) -> None:
    """Raise, with the arithmetic, where a worker's documents are more than its memory."""
    per_document = data.plan.bytes_per_document
    width = data.plan.width if data.plan.form == "bins" else len(data.plan.layout.feature_names)
    histograms = 8 * HISTOGRAM_ENTRIES * width * LeafCounts.of(ranker.n_leaves, ranker.n_trees).most
    for worker, count in documents.items():
        limit = data.limits.get(worker, 0)
        need = count * (per_document + BYTES_PER_DOCUMENT) + min(histograms, 2**30)
        if limit and need > limit:
            raise SettingsError(
                f"worker {worker} would need {written_size(need)}: {count:,} documents × ({per_document:,} bytes of "
                f"{data.plan.form} + {BYTES_PER_DOCUMENT} for scores, forces and labels) + "
                f"{written_size(min(histograms, 2**30))} of histograms, and its memory limit is {written_size(limit)}: "
                "use more workers, or larger ones"
            )
