"""Tasks of Dask's: what became of each, when workers may be gone, hang, or be unable to begin one."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rankforce.errors import ClusterError, RankforceError

LOOK_AGAIN = 0.5  # seconds after which it is asked which workers there are
PULSE = 10.0  # seconds after which a worker that others accuse is not well: the scheduler hears of all every second
ANSWER = 120.0  # seconds that the scheduler has to say so


class Limits(NamedTuple):
    """Seconds that workers have.

    timeout : for a worker to be there that can begin a task
    silence : for a sign of life
    """

    timeout: float
    silence: float


def alive_workers(client: Any) -> dict[str, Any]:
    """The workers that the scheduler knows, by address.

    It is asked: what ``client.scheduler_info`` remembers is overwritten now and then by an answer without workers.
    """
    if client.status != "running" and client.scheduler is None:
        raise ClusterError("the client has been closed")
    try:
        return dict(client.sync(client.scheduler.identity, callback_timeout=ANSWER)["workers"])
    except Exception as error:  # no connection, no answer in time, a client that was closed meanwhile
        raise ClusterError(f"the scheduler does not answer: {error or type(error).__name__}") from error


def is_able(worker: Mapping[str, Any]) -> bool:
    """Whether it begins tasks: neither paused, for want of memory, nor about to close."""
    return worker.get("status", "running") == "running"


def _is_at_work(worker: Mapping[str, Any]) -> bool:
    return bool(worker.get("metrics", {}).get("task_counts", {}).get("executing"))


def wait_for_workers(client: Any, timeout: float, but: Collection[str] = ()) -> dict[str, Any]:
    """The workers that can begin a task, by address, without some; an error if there is none for so many seconds."""
    deadline = time.monotonic() + timeout
    while True:
        alive = alive_workers(client)
        workers = {name: one for name, one in alive.items() if is_able(one) and name not in but}
        if workers:
            return workers
        if time.monotonic() > deadline:
            raise _no_worker(alive, timeout, but)
        time.sleep(0.2)


def _no_worker(alive: Mapping[str, Any], timeout: float, but: Collection[str] = ()) -> ClusterError:
    left_out = sorted(name for name in alive if name in but)
    idle = sorted(f"{name} ({one.get('status')})" for name, one in alive.items() if name not in but)
    return ClusterError(
        f"the cluster has had no worker for {timeout:g} seconds that can begin a task"
        + (f"; given up: {', '.join(left_out)}" if left_out else "")
        + (f"; there are {', '.join(idle)}: a worker is paused when its memory is full" if idle else "")
    )


class Pulses:
    """How long workers have given no sign of life, or could not have begun a task: by the clock of the client.

    The scheduler hears of each worker every second or so.
    """

    def __init__(self) -> None:
        self._heard: dict[str, tuple[Any, float]] = {}
        self._unable: dict[str, float] = {}

    def look(self, workers: Mapping[str, Any]) -> None:
        now = time.monotonic()
        for name, one in workers.items():
            sign = one.get("last_seen")
            if self._heard.get(name, (None, now))[0] != sign or name not in self._heard:
                self._heard[name] = sign, now
            if is_able(one) or _is_at_work(one):
                self._unable.pop(name, None)
            else:
                self._unable.setdefault(name, now)

    def silent(self, seconds: float) -> set[str]:
        """Who has said nothing for so long."""
        return {name for name, (_, since) in self._heard.items() if time.monotonic() - since > seconds}

    def unable(self, seconds: float) -> set[str]:
        """Who has neither worked on anything nor been able to begin something for so long."""
        return {name for name, since in self._unable.items() if time.monotonic() - since > seconds}


def gathered_from(client: Any, futures: Sequence[Any], limits: Limits) -> list[Any]:
    """What tasks return that run on any worker; Dask runs them again where a worker is lost."""
    pulses, since = Pulses(), time.monotonic()
    fetch = fetched(client, list(futures))
    try:
        while not fetch.done():
            concurrent.futures.wait([fetch], timeout=LOOK_AGAIN)
            alive = alive_workers(client)
            pulses.look(alive)
            if any(is_able(one) or _is_at_work(one) for one in alive.values()):
                since = time.monotonic()
            elif time.monotonic() - since > limits.timeout:
                raise _no_worker(alive, limits.timeout)
            for worker in pulses.silent(limits.silence) & alive.keys():
                throw_out(client, worker)
        return list(fetch.result())
    except (Exception, concurrent.futures.CancelledError) as error:
        if isinstance(error, RankforceError) or not of_dask(error):
            raise
        failed = next((one for one in futures if one.status in ("error", "cancelled", "lost")), None)
        what = "" if failed is None else f" ({failed.key.rpartition('-')[0].partition('-')[0]})"
        raise ClusterError(f"workers died again and again while they worked on one task{what}: {error}") from None
    finally:
        if not fetch.done():
            cancelled(client, list(futures))


def fetched(client: Any, futures: list[Any]) -> concurrent.futures.Future[list[Any]]:
    """The results, once they are here: asked for without waiting, for who has one may be gone a moment later.

    Not to be cancelled: other gatherings of the client may wait for the same answer. It ends when its tasks are.
    """

    async def gathering() -> list[Any]:
        return list(await client.gather(futures, asynchronous=True))

    return asyncio.run_coroutine_threadsafe(gathering(), client.loop.asyncio_loop)


def throw_out(client: Any, worker: str) -> None:
    """Make the scheduler give up a worker that hangs, at once: others must not wait for what Dask keeps on it."""
    with contextlib.suppress(Exception):  # else it gives it up by itself, minutes later
        client.sync(
            client.scheduler.unregister, address=worker, stimulus_id="rankforce-hangs", callback_timeout=LOOK_AGAIN * 20
        )


def cancelled(client: Any, futures: list[Any]) -> None:
    """Let nobody work on these any more; without a cluster nobody does."""
    with contextlib.suppress(Exception):
        if futures:
            client.cancel(futures, force=True)


def pinned(worker: str) -> dict[str, Any]:
    """What ``submit`` is told for a task of one worker."""
    return {"workers": [worker], "allow_other_workers": False, "pure": False, "retries": 0}


def asked(client: Any, function: Callable[..., Any], *arguments: Any, workers: list[str] | None = None) -> None:
    """Let workers (None: all) run a function beside their tasks, and do not wait: some may be gone, or hang.

    May be called from anywhere, even where Dask works.
    """
    if client.status != "running":
        return

    async def ask() -> None:
        with contextlib.suppress(Exception):  # who is closing forgets everything
            await client._run(function, *arguments, workers=workers, on_error="ignore")

    with contextlib.suppress(RuntimeError):
        client.loop.add_callback(ask)


class Lost(NamedTuple):
    """Why a worker's task will not come to an end.

    hangs : it is there, and says nothing
    unable : it is there, and does not begin anything
    """

    worker: str
    why: str
    hangs: bool = False
    unable: bool = False

    def __str__(self) -> str:
        return f"{self.worker} {self.why}"


class Patience(NamedTuple):
    """With tasks that have not ended although another one tells of a loss.

    seconds : that they are waited for from then on; they may be far from where they would notice it
    tells_of_loss : whether a result does
    accused : of the results so far, the workers that others have waited for in vain; such are given up at once if the
        scheduler has not heard of them either, and have time to return by themselves if it has
    at_first : called with the workers that are still waited for, when it begins
    """

    seconds: float
    tells_of_loss: Callable[[Any], bool]
    accused: Callable[[dict[str, Any]], list[str]]
    at_first: Callable[[list[str]], None] = lambda workers: None


def settled(
    client: Any,
    futures: Mapping[str, Any],
    limits: Limits,
    patience: Patience | None = None,
    meanwhile: Callable[[Mapping[str, Any]], None] = lambda workers: None,
) -> tuple[dict[str, Any], list[Lost]]:
    """(what the tasks returned, by worker; the workers that are lost). An error of a task is raised.

    A pinned task of a worker that is gone stays for ever without one, also one that had ended when nobody had fetched
    its result yet; one of a worker that is paused does not begin. Such are given up, as is what ``patience`` says.
    ``meanwhile`` is called twice a second, with the workers there are.
    """
    pulses = Pulses()
    results: dict[str, Any] = {}
    lost: list[Lost] = []
    pending, fetches = dict(futures), dict[str, Any]()
    until: float | None = None
    try:
        while pending:
            _wait(client, pending, fetches)
            _take_ended(client, pending, fetches, results, lost)
            alive = alive_workers(client)
            meanwhile(alive)
            pulses.look(alive)
            leave = [Lost(worker, "is gone") for worker in pending if worker not in alive]
            leave += [Lost(one, "hangs", hangs=True) for one in pulses.silent(limits.silence)]
            leave += [Lost(one, "is paused or closes", unable=True) for one in pulses.unable(limits.timeout)]
            if patience is not None:
                ending = {one.worker for one in leave} & pending.keys()
                if (lost or ending or any(map(patience.tells_of_loss, results.values()))) and until is None:
                    until = time.monotonic() + patience.seconds
                    patience.at_first(list(pending.keys() & alive.keys()))
                late = list(pending) if until is not None and time.monotonic() > until else []
                hanging = pulses.silent(min(limits.silence, PULSE)).intersection(patience.accused(results))
                leave += [Lost(worker, "hangs", hangs=True) for worker in [*hanging, *late]]
            for one in leave:
                if one.worker in pending:
                    lost.append(one)
                    cancelled(client, [pending.pop(one.worker)])
    finally:
        cancelled(client, list(pending.values()))
    return results, lost


def _take_ended(
    client: Any, pending: dict[str, Any], fetches: dict[str, Any], results: dict[str, Any], lost: list[Lost]
) -> None:
    """Fetch what has ended; move what was fetched to the results, or to the lost ones if Dask could not run it."""
    for worker, future in list(pending.items()):
        if worker not in fetches and future.done():
            fetches[worker] = fetched(client, [future])
        fetch = fetches.get(worker)
        if fetch is None or not fetch.done():
            continue
        try:
            results[worker] = fetch.result()[0]
        except (Exception, concurrent.futures.CancelledError) as error:
            if not of_dask(error):
                raise
            lost.append(Lost(worker, f"could not run its task ({type(error).__name__})"))
        del pending[worker]


def _wait(client: Any, pending: Mapping[str, Any], fetches: Mapping[str, Any]) -> None:
    """Until something has ended or come, or some time is over."""
    from distributed import wait

    coming = [fetches[worker] for worker in pending if worker in fetches]
    if coming:  # it comes at once, or never
        concurrent.futures.wait(coming, timeout=LOOK_AGAIN, return_when="FIRST_COMPLETED")
        return
    try:
        with client.as_current():  # it need not be the default one
            wait(list(pending.values()), timeout=LOOK_AGAIN, return_when="FIRST_COMPLETED")
    except TimeoutError:
        pass
    except Exception:  # cancelled or lost futures: they are looked at one by one
        time.sleep(0.01)


def of_dask(error: BaseException) -> bool:
    """Whether a task could not be run, as opposed to having failed."""
    if isinstance(error, (concurrent.futures.CancelledError, asyncio.CancelledError)):
        return True
    return type(error).__module__.partition(".")[0] == "distributed"


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Without Dask's advice about large tasks: it is for those who write them by hand."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        yield
