"""Which worker has which pieces, and whether they fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from rankforce.boosting.leaf_counts import LeafCounts
from rankforce.boosting.memory_choice import BYTES_PER_DOCUMENT
from rankforce.errors import SettingsError
from rankforce.memory import written_size

HISTOGRAM_ENTRIES = 264  # of a byte of a row, 8 bytes each


def place_pieces(data: Any, workers: Mapping[str, Any]) -> dict[str, int]:
    """Deal the pieces that no worker of these has: the largest first, to whoever has least. Documents by worker."""
    owners = {piece: worker for piece, worker in data.owners.items() if worker in workers}
    documents = data.documents_of_pieces()
    load = Counter(dict.fromkeys(workers, 0))
    for piece, worker in owners.items():
        load[worker] += documents[piece]
    for piece in sorted(documents.keys() - owners.keys(), key=lambda number: (-documents[number], number)):
        worker = min(load, key=lambda one: (load[one], one))
        owners[piece] = worker
        load[worker] += documents[piece]
    data.owners.clear()
    data.owners.update(owners)
    for worker in load:
        load[worker] = sum(documents[piece] for piece, owner in owners.items() if owner == worker)
    data.limits = {worker: int(one.get("memory_limit") or 0) for worker, one in workers.items()}
    return dict(load)


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
