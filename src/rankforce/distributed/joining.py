"""Workers that join while a training runs: whether it is worth while to begin a new run with them.

Looked at twice a second, by the client. A worker counts once it has said that models of its are those of the others.
"""

from __future__ import annotations

import concurrent.futures
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from rankforce.distributed.placing import dealt, joining_pays
from rankforce.distributed.tasks import cancelled, fetched, is_able, pinned
from rankforce.distributed.traits import traits


class Prospect(NamedTuple):
    """The largest share now and with more workers, in documents; and seconds that one of these would have to load."""

    now: int
    then: int
    loading: float


class Joining:
    """Of one run.

    sets : the data, as it is loaded
    known : workers that are no news
    alike : what those that take part have in common

    ``ready`` are those that have joined and could take part.
    """

    def __init__(
        self, client: Any, sets: Sequence[Any], known: Collection[str], alike: Mapping[str, str], n_trees: int
    ) -> None:
        self._client, self._sets, self._known, self._alike = client, sets, set(known), alike
        self._n_trees = n_trees
        self._members = {worker for data in sets for worker in data.owners.values()}
        self._tasks: dict[str, Any] = {}
        self._answers: dict[str, Any] = {}
        self._prospects: dict[frozenset[str], Prospect] = {}
        self._decided = False
        self.ready: frozenset[str] = frozenset()

    def pays(self, alive: Mapping[str, Any], pace: tuple[int, float] | None) -> bool:
        """Whether to begin a new run now: said once. ``pace``: the last tree, and seconds per tree."""
        if self._decided or pace is None:
            return False
        self.ready = frozenset(self._alike_ones(alive))
        if not self.ready:
            return False
        number, seconds = pace
        one = self._prospect(self.ready)
        self._decided = joining_pays(one.now, one.then, self._n_trees - number, seconds, one.loading)
        return self._decided

    def close(self) -> None:
        """The run has ended: nobody waits for an answer."""
        cancelled(self._client, list(self._tasks.values()))

    def _alike_ones(self, alive: Mapping[str, Any]) -> list[str]:
        new = [name for name, one in alive.items() if name not in self._known and is_able(one)]
        for worker in new:
            if worker not in self._answers:
                self._tasks[worker] = self._client.submit(traits, **pinned(worker))
                self._answers[worker] = fetched(self._client, [self._tasks[worker]])
        return [worker for worker in new if self._said(worker) == [self._alike]]

    def _said(self, worker: str) -> Any:
        answer = self._answers[worker]
        try:
            return answer.result(timeout=0)
        except (Exception, concurrent.futures.CancelledError):  # none yet, or it is gone
            return None

    def _prospect(self, ready: frozenset[str]) -> Prospect:
        if ready not in self._prospects:
            now, then, loading = Counter[str](), Counter[str](), Counter[str]()
            for data in self._sets:
                documents = data.documents_of_pieces()
                owners, load = dealt(documents, data.owners, self._members | ready)
                then.update(load)
                for piece, count in documents.items():
                    now[data.owners[piece]] += count
                    if owners[piece] != data.owners[piece]:
                        loading[owners[piece]] += count * data.seconds_per_document
            self._prospects[ready] = Prospect(max(now.values()), max(then.values()), max(loading.values(), default=0.0))
        return self._prospects[ready]
