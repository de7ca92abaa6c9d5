"""What a worker does in a training: it says who it is, listens, and fits the ranker on what it has, with the others.

Everything here runs on workers, called by ``driver.py``. A training that loses a member ends on all others within a
round trip; each returns the trees so far, from which those that are left go on.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from rankforce.boosting.memory_choice import within_limit
from rankforce.collective import using_collective
from rankforce.distributed.connections import Address, Listener, Secrecy
from rankforce.distributed.peers import Peers
from rankforce.distributed.placing import PAUSED
from rankforce.distributed.reporting import Messenger, RegroupingError
from rankforce.distributed.shards import Facts, ShardLostError, ShardPlan, shard_of
from rankforce.distributed.traits import traits
from rankforce.errors import PeerLostError, RankforceError
from rankforce.training.unfinished import Unfinished

SAMPLED_EVERY = 1000.0  # milliseconds
NEVER = 2**31 - 1  # trees
PORTS = 64  # that are tried, from the first one on, where a port is given: several workers may share a host

_listeners: dict[tuple[str, bytes], Listener] = {}


@dataclasses.dataclass(frozen=True)
class Introduction:
    """A worker, as it presents itself before a training.

    address : where it listens for the other members
    traits : what must be the same on all of them, or models would not be
    """

    worker: str
    name: str
    address: tuple[str, int]
    threads: int
    traits: dict[str, str]


def introduce(run: bytes, port: int) -> Introduction:
    """On a worker: open the socket on which the others of this run will call, and keep it."""
    worker = _worker()
    dismiss(None)
    host = _host(worker.address)
    listener = _listen(host, port)
    _listeners[worker.address, run] = listener
    host, taken = listener.address
    return Introduction(worker.address, str(worker.name), (host, taken), worker.state.nthreads, traits())


def dismiss(run: bytes | None, dask_worker: Any = None) -> None:
    """On a worker: close the sockets of a run that will not be, or (None) of all; who waits at one gives up."""
    own = (dask_worker or _worker()).address
    for key in [key for key in _listeners if key[0] == own and run in (None, key[1])]:
        _listeners.pop(key).close()


def _listen(host: str, port: int) -> Listener:
    if port == 0:
        try:
            return Listener(host)
        except OSError as error:
            raise _no_address(host, 0, error) from error
    for candidate in range(port, min(port + PORTS, 65_536)):
        try:
            return Listener(host, candidate)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise _no_address(host, candidate, error) from error
    raise RankforceError(f"none of the ports {port} to {port + PORTS - 1} is free on {host}")


def _no_address(host: str, port: int, error: OSError) -> RankforceError:
    return RankforceError(
        f"a worker cannot listen at {host}{f', port {port}' if port else ''}, the host of its address in Dask: "
        f"{error.strerror or error}"
    )


def _host(address: str) -> str:
    """The host of a worker's address: ``tls://10.0.0.3:4567``."""
    scheme, _, place = address.partition("://")
    return "127.0.0.1" if scheme == "inproc" else place.rpartition(":")[0].strip("[]")


def _worker() -> Any:
    from distributed import get_worker

    return get_worker()


def _secrecy(worker: Any) -> Secrecy | None:
    """TLS as Dask's own connections have it."""
    if not worker.address.startswith("tls://"):
        return None
    security = worker.security
    listening, calling = security.get_listen_args("worker"), security.get_connection_args("worker")
    return Secrecy(listening["ssl_context"], calling["ssl_context"])


@dataclasses.dataclass(frozen=True)
class Share:
    """What a worker has of a data set: its pieces, as the register of shards knows them."""

    plan: ShardPlan
    pieces: tuple[int, ...]
    facts: Facts | None


@dataclasses.dataclass(frozen=True)
class Assignment:
    """What a member is asked to do; only rank and shares differ between members.

    kept : what an earlier run had learned, to go on from
    """

    run: bytes
    rank: int
    addresses: Sequence[tuple[str, int]]
    train: Share
    held_out: Share | None
    ranker: Any
    kept: Unfinished | None
    topic: str
    asks: bool
    checkpoint: tuple[str, int, str] | None  # name, every how many trees, whether to resume
    timeout: float
    silence: float


@dataclasses.dataclass(frozen=True)
class MemberOutcome:
    """How it ended for a member: it has the model, or the trees so far and whom it lost, or an error of its own.

    The first member may have been told to regroup: the others lose it then.
    """

    ending: Literal["done", "lost", "regrouping", "failed"]
    fitted: dict[str, Any] | None = None
    kept: Unfinished | None = None
    reason: str = ""
    error: BaseException | None = None
    checkpoint: bytes | None = None
    silent: int | None = None  # the rank of a member that said nothing
    lacking: bool = False  # it has not what it was thought to have
    calls: int = 0
    bytes_sent: int = 0
    seconds: float = 0.0


def take_part(assignment: Assignment) -> MemberOutcome:
    """On a worker: the whole training, as one of its members."""
    worker = _worker()
    peers: Peers | None = None
    listener = _listeners.get((worker.address, assignment.run))  # stays there: ``dismiss`` may end the meeting
    if listener is None:
        return MemberOutcome("lost", kept=assignment.kept, reason=f"{worker.address} does not listen any more")
    try:
        train, held_out = (_dataset(worker.address, one) for one in (assignment.train, assignment.held_out))
        peers = Peers(
            listener,
            [Address(one) for one in assignment.addresses],
            assignment.rank,
            assignment.run,
            timeout=assignment.timeout,
            silence=assignment.silence,
            secrecy=_secrecy(worker),
        )
        begun = time.perf_counter()
        ranker = assignment.ranker
        with (
            using_collective(peers),
            _rarely_sampled(worker),
            within_limit(_memory_left(worker)),
            _checkpoint(assignment) as kept,
            Messenger(assignment.topic, assignment.run.hex(), assignment.asks, kept.get("checkpoint")) as messenger,
        ):
            ranker.fit(train(), validation=held_out and held_out(), callbacks=[messenger], **kept)
            content = kept["checkpoint"].read_bytes() if assignment.checkpoint and assignment.rank == 0 else None
        fitted = {name: value for name, value in vars(ranker).items() if name not in ranker.get_params(deep=False)}
        seconds = time.perf_counter() - begun
        return MemberOutcome(
            "done", fitted, checkpoint=content, calls=peers.calls, bytes_sent=peers.bytes_sent, seconds=seconds
        )
    except ShardLostError as error:
        return MemberOutcome("lost", kept=assignment.kept, reason=str(error), lacking=True)
    except PeerLostError as error:
        kept_now = error.unfinished or assignment.kept
        ending: Literal["lost", "regrouping"] = "regrouping" if isinstance(error, RegroupingError) else "lost"
        return MemberOutcome(ending, kept=kept_now, reason=str(error), silent=error.silent)
    except Exception as error:
        if not isinstance(error, RankforceError):
            error.add_note(f"on worker {worker.address}:\n{traceback.format_exc()}")
        return MemberOutcome("failed", error=error, reason=str(error))
    finally:
        _listeners.pop((worker.address, assignment.run), None)
        listener.close()
        if peers is not None:
            peers.close()  # whoever waits for this member is told


def _memory_left(worker: Any) -> Callable[[], int] | None:
    """What tells how many bytes this worker may still take before Dask pauses it; None where it has no limit."""
    limit = worker.memory_manager.memory_limit
    if not limit:
        return None
    return lambda: max(0, int(PAUSED * limit) - int(worker.monitor.get_process_memory()))


@contextlib.contextmanager
def _rarely_sampled(worker: Any) -> Iterator[None]:
    """Let Dask's profiler look once a second at what this worker does.

    It looks every ten milliseconds, in Python, which the training waits for whenever it leaves a kernel; and all
    members wait for the one that waits, twenty times and more in a tree.
    """
    sampling = worker.periodic_callbacks.get("profile")  # there is none where profiling is switched off
    if sampling is None:
        yield
        return
    usual = sampling.callback_time
    sampling.callback_time = max(usual, SAMPLED_EVERY)
    try:
        yield
    finally:
        sampling.callback_time = usual


@contextlib.contextmanager
def _checkpoint(assignment: Assignment) -> Iterator[dict[str, Any]]:
    """What ``fit`` is told of checkpoints: to go on from what was learned, which the first member has in a file."""
    if assignment.kept is None and assignment.checkpoint is None:
        yield {}
        return
    name, every, resume = assignment.checkpoint or ("kept.json", NEVER, "always")
    if assignment.kept is not None and assignment.kept.steps:  # of this training, whatever became of an earlier one
        resume = "always"
    with tempfile.TemporaryDirectory(prefix="rankforce-") as folder:
        path = Path(folder) / name
        if assignment.kept is not None:
            assignment.kept.save(path)
        yield {"checkpoint": path, "checkpoint_every": every, "resume": resume}


def _dataset(worker: str, share: Share | None) -> Any:
    """What makes the data set of a share: inside the collective, where one without documents is allowed."""
    if share is None:
        return None
    shard = shard_of(worker, share.plan, share.pieces)
    return lambda: shard.dataset(share.facts)
