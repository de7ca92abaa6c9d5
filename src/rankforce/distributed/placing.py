"""Which worker has which pieces, and whether they fit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rankforce.boosting.leaf_counts import LeafCounts
from rankforce.boosting.memory_choice import BYTES_PER_DOCUMENT
from rankforce.errors import SettingsError
from rankforce.memory import written_size

BEGIN_AGAIN = 10.0  # seconds that a run takes to begin, beside loading: members meet and score the trees so far
PAUSED = 0.8  # of a worker's limit, from which on Dask lets it begin nothing, unless it was set up otherwise
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


def check_room(ranker: Any, placed: Sequence[tuple[Any, Mapping[str, int]]]) -> None:
    """Raise, with the arithmetic, where a worker's documents are more than its memory.

    placed : data sets (training, validation), and how many documents of each a worker has
    """
    train = placed[0][0]
    width = train.plan.width if train.plan.form == "bins" else len(train.plan.layout.feature_names)
    histograms = min(8 * HISTOGRAM_ENTRIES * width * LeafCounts.of(ranker.n_leaves, ranker.n_trees).most, 2**30)
    for worker, limit in train.limits.items():
        need, terms = histograms, []
        for (data, documents), kind in zip(placed, ("documents", "of validation"), strict=False):
            count, (per_document, said) = documents.get(worker, 0), _bytes_per_document(data.plan)
            need += count * per_document
            terms.append(f"{count:,} {kind} × ({said})")
        if limit and need > PAUSED * limit:
            raise SettingsError(
                f"worker {worker} would need {written_size(need)}: {' + '.join(terms)} + {written_size(histograms)} of "
                f"histograms; its memory limit is {written_size(limit)}, and Dask pauses it at {PAUSED:.0%} of that: "
                "use more workers, or larger ones"
            )


def _bytes_per_document(plan: Any) -> tuple[int, str]:
    """(bytes, of what): the matrix, the bins that are made of values, and what a training has beside it."""
    bins = 0 if plan.form == "bins" else plan.width
    said = f"{plan.bytes_per_document:,} bytes of {plan.form}" + (f" + {bins:,} of their bins" if bins else "")
    total = plan.bytes_per_document + bins + BYTES_PER_DOCUMENT
    return total, f"{said} + {BYTES_PER_DOCUMENT} for scores, forces and labels"
