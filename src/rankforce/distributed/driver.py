"""A training on a cluster, as the client drives it: pieces dealt and loaded, members called together, losses made good.

One pinned task per worker. What counts is the trees, which all members have, and the pieces, which can be read again:
where a worker is lost, its pieces go to those that are left and the training goes on after the last tree that is
complete; where workers join and it pays, it goes on with them. Nothing depends on who takes part, so the model is the
same.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankforce.console.wording import counted, listed
from rankforce.distributed.connections import RUN_SIZE
from rankforce.distributed.joining import Joining
from rankforce.distributed.placing import check_room, place_pieces
from rankforce.distributed.reporting import Listening
from rankforce.distributed.taking_part import (
    Assignment,
    Introduction,
    MemberOutcome,
    Share,
    dismiss,
    introduce,
    take_part,
)
from rankforce.distributed.tasks import (
    Limits,
    Lost,
    Patience,
    asked,
    of_dask,
    pinned,
    settled,
    throw_out,
    wait_for_workers,
)
from rankforce.distributed.traits import refuse_unlike
from rankforce.errors import ClusterError
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
        *,
        timeout: float,
        silence: float,
        port: int,
        callbacks: Sequence[Callback] = (),
        checkpoint: Path | None = None,
        checkpoint_every: int = 50,
        resume: str = "auto",
    ) -> None:
        self.client, self.ranker, self.train, self.held_out = client, ranker, train, held_out
        self.callbacks, self.checkpoint = callbacks, checkpoint
        self._keeping = None if checkpoint is None else (checkpoint.name, checkpoint_every, resume)
        self._topic = f"rankforce-{os.urandom(8).hex()}"
        self.timeout, self.silence, self.port = timeout, silence, port
        self._limits = Limits(timeout, silence)
        self.losses: list[str] = []
        self.joined: list[str] = []
        self.statistics: dict[str, Any] = {}
        self._kept = None if checkpoint is None or resume == "never" else _written(checkpoint)
        self._left_out: set[str] = set()  # workers that hang, are paused, or are unlike those of the first run
        self._traits: dict[str, str] = {}  # of the first run
        self._listening = Listening(client, self._topic, ranker, callbacks, checkpoint, self._kept is not None)

    def fit(self) -> dict[str, Any]:
        """What a fitted ranker has."""
        try:
            with _lock(self.client), self._listening:
                fitted = self._runs()
        except Exception as error:
            if of_dask(error):
                raise ClusterError(f"the cluster could not be reached: {error}") from error
            raise
        if self._listening.error is not None:  # of the last checkpoint
            raise self._listening.error
        return fitted

    def _runs(self) -> dict[str, Any]:
        fruitless = 0
        while fruitless < FRUITLESS_RUNS:
            self._regrouped = False
            trees, joined, left_out = _trees(self._kept), len(self.joined), len(self._left_out)
            fitted = self._run()
            if self._listening.error is not None:
                raise self._listening.error
            if fitted is not None:
                return fitted
            now = _trees(self._kept)
            said = self.joined[-1] if len(self.joined) > joined else self.losses[-1]
            self._listening.say(f"{said}; going on after {counted(now, 'tree')}")
            news = now > trees or len(self.joined) > joined or len(self._left_out) > left_out
            fruitless = 0 if news else fruitless + 1
        raise ClusterError(
            f"{FRUITLESS_RUNS} runs in turn ended without a new tree, after {_trees(self._kept)} trees:\n"
            + "\n".join(f"  {number}. {reason}" for number, reason in enumerate(self.losses, start=1))
        )

    # ----------------------------------------------------------------------------------------------------------- a run

    def _run(self) -> dict[str, Any] | None:
        """One attempt: what the ranker has learned, or None if a member was lost or workers have joined."""
        workers = self._workers()
        check_room(self.ranker, [(data, place_pieces(data, workers)) for data in self._sets])
        for data in self._sets:
            if self._give_up(data.load(), "while it loaded"):
                return None
        members = sorted({worker for data in self._sets for worker in data.owners.values()})
        run = os.urandom(RUN_SIZE)
        try:
            return self._meet(run, members, workers)
        finally:  # who has met nobody listens no more, however it ended
            asked(self.client, dismiss, run, workers=members)

    def _meet(self, run: bytes, members: Sequence[str], workers: Mapping[str, Any]) -> dict[str, Any] | None:
        introductions, lost = settled(
            self.client,
            {worker: self.client.submit(introduce, run, self.port, **pinned(worker)) for worker in members},
            self._limits,
        )
        if self._give_up(lost, "before they met"):
            return None
        present = [introductions[worker] for worker in members]
        if not self._traits:
            check_alike(present)
            self._traits = present[0].traits
        elif self._leave_out_unlike(present):
            return None
        return self._concluded(self._together(run, present, workers), members)

    @property
    def _sets(self) -> list[Any]:
        return [one for one in (self.train, self.held_out) if one is not None]

    def _workers(self) -> dict[str, Any]:
        """The workers that can take part; waits for one."""
        return wait_for_workers(self.client, self.timeout, self._left_out)

    def _give_up(self, lost: Sequence[Lost], when: str) -> bool:
        """Whether there is any; those that are there are not asked again, and Dask is told of those that hang."""
        for one in lost:
            self.losses.append(f"{one} {when}".rstrip())
            if one.hangs or one.unable:
                self._left_out.add(one.worker)
            if one.hangs:
                throw_out(self.client, one.worker)
        return bool(lost)

    def _leave_out_unlike(self, present: Sequence[Introduction]) -> bool:
        """Whether some that joined in the course of the training would give other last bits: it goes on without."""
        odd = [one for one in present if one.traits != self._traits]
        self._left_out.update(one.worker for one in odd)
        self.losses += [f"{one.name} at {one.worker} is of another kind than the others: left out" for one in odd]
        return bool(odd)

    def _together(
        self, run: bytes, present: Sequence[Introduction], workers: Mapping[str, Any]
    ) -> dict[str, MemberOutcome]:
        """What the members return, by worker; those that are lost or hang return nothing."""
        self._listening.begin(run.hex())
        addresses = [one.address for one in present]
        ranks = [member.worker for member in present]
        futures = {
            member.worker: self.client.submit(
                take_part, self._assignment(run, rank, addresses, member), **pinned(member.worker)
            )
            for rank, member in enumerate(present)
        }
        joining = Joining(self.client, self._sets, {*workers, *self._left_out}, self._traits, self.ranker.n_trees)

        def accused(results: Mapping[str, MemberOutcome]) -> list[str]:
            """Who may hang: whoever waited for it in vain has said so. It may have waited for a third one itself."""
            return [ranks[one.silent] for one in results.values() if one.silent is not None]

        def call_off(left: list[str]) -> None:
            """Who still waits for others to connect need not: one will not come."""
            asked(self.client, dismiss, run, workers=left)

        def look_around(alive: Mapping[str, Any]) -> None:
            self._listening.pass_on_interruption()
            if joining.pays(alive, self._listening.pace):
                self._listening.regroup()

        patience = Patience(
            max(self.silence, LEAST_PATIENCE), lambda outcome: outcome.ending != "done", accused, call_off
        )
        with contextlib.closing(joining):
            outcomes, lost = settled(self.client, futures, self._limits, patience, look_around)
        if any(outcome.ending == "regrouping" for outcome in outcomes.values()):
            self.joined.append(f"{listed(sorted(joining.ready), written=str)} joined")
            self._regrouped = not lost
        self._give_up(lost, "")
        return outcomes

    def _assignment(
        self, run: bytes, rank: int, addresses: Sequence[tuple[str, int]], member: Introduction
    ) -> Assignment:
        return Assignment(
            run,
            rank,
            addresses,
            self._share(self.train, member.worker),
            None if self.held_out is None else self._share(self.held_out, member.worker),
            self.ranker.unfitted(progress=False, threads=self.ranker.threads or member.threads),
            self._kept,
            self._topic,
            bool(self.callbacks),
            self._keeping,
            self.timeout,
            self.silence,
        )

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
                "members": len(members), "joined": list(self.joined),
                "calls": done.calls, "bytes_sent": done.bytes_sent, "seconds": done.seconds,
            }  # fmt: skip
            content = next((one.checkpoint for one in outcomes.values() if one.checkpoint), None)
            if content is not None:
                self._listening.write_last(content)
            return done.fitted
        for worker, outcome in outcomes.items():
            if outcome.lacking:
                for data in self._sets:
                    data.misplaced(worker)
        if not self._regrouped:
            self.losses += sorted({outcome.reason for outcome in outcomes.values()})
        kept = [outcome.kept for outcome in outcomes.values()]
        self._kept = max([self._kept, *kept], key=_trees)
        return None


def _written(path: Path) -> Unfinished | None:
    """What is in a checkpoint of the client's, if there is one; whoever goes on from it looks whose it is."""
    return Unfinished(0, path.read_bytes()) if path.exists() else None


def _trees(kept: Unfinished | None) -> int:
    return 0 if kept is None else kept.steps


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
        if hasattr(lease, "refresh_callback"):  # not where leases have no end
            with contextlib.suppress(RuntimeError):  # the client has been closed
                client.loop.add_callback(lease.refresh_callback.stop)


def check_alike(members: Sequence[Introduction]) -> None:
    """Refuse workers whose models would have other last bits, by their names."""
    refuse_unlike({f"{one.name} at {one.worker}": one.traits for one in members}, "workers")
