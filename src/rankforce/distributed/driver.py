"""A training on a cluster, as the client drives it: pieces dealt and loaded, members called together, losses made good.

One pinned task per worker. What counts is the trees, which all members have, and the pieces, which can be read again:
where a worker is lost, its pieces go to those that are left and the training goes on after the last tree that is
complete. Nothing depends on who takes part, so the model is the same.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankforce.console.wording import counted, listed
from rankforce.distributed.connections import RUN_SIZE
from rankforce.distributed.placing import check_room, place_pieces
from rankforce.distributed.reporting import Listening
from rankforce.distributed.taking_part import Assignment, Introduction, MemberOutcome, Share, introduce, take_part
from rankforce.distributed.tasks import ClusterError, Patience, alive_workers, settled, throw_out, wait_for_workers
from rankforce.errors import SettingsError
from rankforce.training.monitoring import Callback
from rankforce.training.unfinished import Unfinished

LOCK = "rankforce training"
LEAST_PATIENCE = 30.0  # seconds that members have to tell of a loss that another one has told of
FRUITLESS_RUNS = 3  # without a new tree, after which training ends


class Driver:
    """One call of ``fit``.

    timeout : seconds until all members must have connected, and until there must be a worker
    silence : seconds after which a member that sends nothing is lost
    losses : what happened in runs that did not end with a model
    statistics : of the run that did: calls, bytes_sent, seconds, members
    """

    def __init__(
        self,
        client: Any,
        ranker: Any,
        train: Any,
        held_out: Any,
        inputs: Mapping[str, Any],
        *,
        timeout: float,
        silence: float,
        port: int,
        callbacks: Sequence[Callback] = (),
        checkpoint: Path | None = None,
        checkpoint_every: int = 50,
        resume: str = "auto",
    ) -> None:
        self.client, self.ranker, self.train, self.held_out, self.inputs = client, ranker, train, held_out, inputs
        self.callbacks, self.checkpoint = callbacks, checkpoint
        self._keeping = None if checkpoint is None else (checkpoint.name, checkpoint_every, resume)
        self._topic = f"rankforce-{os.urandom(8).hex()}"
        self.timeout, self.silence, self.port = timeout, silence, port
        self.losses: list[str] = []
        self.statistics: dict[str, Any] = {}
        self._kept = None if checkpoint is None or resume == "never" else _written(checkpoint)
        self._silent: set[str] = set()  # workers that hang

    def fit(self) -> dict[str, Any]:
        """What a fitted ranker has."""
        listening = Listening(self.client, self._topic, self.ranker, self.callbacks, self.checkpoint)
        self._listening = listening
        with _lock(self.client), listening:
            fruitless = 0
            while fruitless < FRUITLESS_RUNS:
                trees = _trees(self._kept)
                fitted = self._run()
                if listening.error is not None:
                    raise listening.error
                if fitted is not None:
                    return fitted
                listening.say(f"{self.losses[-1]}; going on after {counted(_trees(self._kept), 'tree')}")
                fruitless = 0 if _trees(self._kept) > trees else fruitless + 1
        raise ClusterError(
            f"{FRUITLESS_RUNS} runs in turn ended without a new tree, after {_trees(self._kept)} trees:\n"
            + "\n".join(f"  {number}. {reason}" for number, reason in enumerate(self.losses, start=1))
        )

    # ----------------------------------------------------------------------------------------------------------- a run

    def _run(self) -> dict[str, Any] | None:
        """One attempt: what the ranker has learned, or None if a member was lost."""
        workers = self._workers()
        sets = [one for one in (self.train, self.held_out) if one is not None]
        for data in sets:
            check_room(self.ranker, place_pieces(data, workers), data)
            lost = data.load()
            if lost:
                self.losses.append(f"lost while it loaded: {', '.join(lost)}")
                return None
        members = sorted({worker for data in sets for worker in data.owners.values()})
        run = os.urandom(RUN_SIZE)
        introductions, lost = settled(
            self.client,
            {worker: self.client.submit(introduce, run, self.port, **_pinned(worker)) for worker in members},
        )
        if lost:
            self.losses.append(f"lost before they met: {', '.join(lost)}")
            return None
        present = [introductions[worker] for worker in members]
        check_alike(present)
        outcomes = self._together(run, present)
        return self._concluded(outcomes, members)

    def _workers(self) -> dict[str, Any]:
        """The workers that can take part; waits for one."""
        return wait_for_workers(self.client, self.timeout, self._silent)

    def _together(self, run: bytes, present: Sequence[Introduction]) -> dict[str, MemberOutcome]:
        """What the members return, by worker; those that are lost or hang return nothing."""
        addresses = [one.address for one in present]
        futures = {}
        for rank, member in enumerate(present):
            ranker = self.ranker.unfitted(progress=False, threads=self.ranker.threads or member.threads)
            assignment = Assignment(
                run,
                rank,
                addresses,
                self._share(self.train, member.worker),
                None if self.held_out is None else self._share(self.held_out, member.worker),
                ranker,
                self.inputs,
                self._kept,
                self._topic,
                bool(self.callbacks),
                self._keeping,
                self.timeout,
                self.silence,
            )
            futures[member.worker] = self.client.submit(take_part, assignment, **_pinned(member.worker))
        ranks = [member.worker for member in present]

        def given_up(results: Mapping[str, MemberOutcome]) -> list[str]:
            """Who is known to hang: whoever waited for it in vain has said so."""
            return [ranks[one.silent] for one in results.values() if one.silent is not None]

        patience = Patience(max(self.silence, LEAST_PATIENCE), lambda outcome: outcome.ending != "done", given_up)
        outcomes, lost = settled(self.client, futures, patience, self._listening.pass_on_interruption)
        alive = alive_workers(self.client)
        hanging = [worker for worker in lost if worker in alive]
        self._silent.update(hanging)
        for worker in hanging:
            throw_out(self.client, worker)
        for worker in lost:
            self.losses.append(f"{worker} {'hangs' if worker in hanging else 'is gone'}")
        return outcomes

    def _share(self, data: Any, worker: str) -> Share:
        return Share(data.plan, tuple(sorted(n for n, one in data.owners.items() if one == worker)), data.facts)

    def _concluded(self, outcomes: Mapping[str, MemberOutcome], members: Sequence[str]) -> dict[str, Any] | None:
        for worker in members:  # of an error of all, that of the first
            outcome = outcomes.get(worker)
            if outcome is not None and outcome.error is not None:
                raise outcome.error
        done = next((outcomes[worker] for worker in members if worker in outcomes and outcomes[worker].fitted), None)
        if done is not None:  # who is done has what all have
            self.statistics = {
                "members": len(members), "calls": done.calls, "bytes_sent": done.bytes_sent, "seconds": done.seconds
            }  # fmt: skip
            content = next((one.checkpoint for one in outcomes.values() if one.checkpoint), None)
            if content is not None:
                self._listening.write(content)
            return done.fitted
        for worker, outcome in outcomes.items():
            if outcome.lacking:
                for data in filter(None, (self.train, self.held_out)):
                    data.misplaced(worker)
        self.losses += sorted({outcome.reason for outcome in outcomes.values()})
        kept = [outcome.kept for outcome in outcomes.values()]
        self._kept = max([self._kept, *kept], key=_trees)
        return None


def _written(path: Path) -> Unfinished | None:
    """What is in a checkpoint of the client's, if there is one; whoever goes on from it looks whose it is."""
    return Unfinished(0, path.read_bytes()) if path.exists() else None


def _trees(kept: Unfinished | None) -> int:
    return 0 if kept is None else kept.steps


def _pinned(worker: str) -> dict[str, Any]:
    return {"workers": [worker], "allow_other_workers": False, "pure": False, "retries": 0}


@contextlib.contextmanager
def _lock(client: Any) -> Iterator[None]:
    """One training at a time: two that share workers would wait for each other.

    A semaphore, not a lock: its lease ends by itself some time after a client is gone.
    """
    from distributed import Semaphore

    with client.as_current():
        lease = Semaphore(max_leases=1, name=LOCK)
    lease.acquire()
    try:
        yield
    finally:
        lease.release()


def check_alike(members: Sequence[Introduction]) -> None:
    """Refuse workers whose models would have other last bits, by their names."""
    for trait in members[0].traits:
        found = Counter(member.traits.get(trait, "none") for member in members)
        if len(found) == 1:
            continue
        usual = found.most_common(1)[0][0]
        odd = [
            f"{one.name} at {one.worker} ({one.traits.get(trait)})" for one in members if one.traits.get(trait) != usual
        ]
        raise SettingsError(
            f"workers differ in their {trait}, which decides the last bits of a model: {listed(odd, written=str)}; "
            f"the others have {usual}. Use the same image and the same kind of machine for all, or leave these out"
        )
