"""Tasks of Dask's that are pinned to workers: what became of each, when the worker may be gone or hang."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from rankforce.errors import ClusterError as ClusterError

LOOK_AGAIN = 0.5  # seconds after which it is asked which workers there are


def alive_workers(client: Any) -> dict[str, Any]:
    """The workers that the scheduler knows, by address.

    It is asked: what ``client.scheduler_info`` remembers is overwritten now and then by an answer without workers.
    """
    try:
        return dict(client.sync(client.scheduler.identity)["workers"])
    except OSError as error:
        raise ClusterError(f"the scheduler does not answer: {error}") from error


def wait_for_workers(client: Any, timeout: float, but: Collection[str] = ()) -> dict[str, Any]:
    """The workers by address, without some; an error if there is none for so many seconds."""
    deadline = time.monotonic() + timeout
    while True:
        workers = {name: one for name, one in alive_workers(client).items() if name not in but}
        if workers:
            return workers
        if time.monotonic() > deadline:
            hanging = f", and {len(but)} that hang" if but else ""
            raise ClusterError(f"the cluster has had no worker for {timeout:g} seconds{hanging}")
        time.sleep(0.2)


def gathered_from(client: Any, futures: list[Any], timeout: float) -> list[Any]:
    """What tasks return that run on any worker; Dask runs them again where a worker is lost."""
    pending = list(futures)
    while pending:
        wait_for_workers(client, timeout)
        _wait(pending)
        pending = [one for one in pending if not one.done()]
        failed = next((one for one in futures if one.status in ("error", "cancelled", "lost")), None)
        if failed is not None:
            error = failed.exception() if failed.status == "error" else None
            if error is None or _of_dask(error):
                what = failed.key.rpartition("-")[0].partition("-")[0]
                raise ClusterError(f"workers died again and again while they worked on one task ({what}): {error}")
            raise error
    return list(client.gather(futures))


def throw_out(client: Any, worker: str) -> None:
    """Make the scheduler give up a worker that hangs, at once: others must not wait for what Dask keeps on it."""
    with contextlib.suppress(Exception):  # else it gives it up by itself, minutes later
        client.sync(client.scheduler.unregister, address=worker, stimulus_id="rankforce-hangs")


class Patience(NamedTuple):
    """With tasks that have not ended although another one tells of a loss.

    seconds : that they are waited for from then on; they may be far from where they would notice it
    tells_of_loss : whether a result does
    given_up : of the results so far, the workers that are not waited for
    """

    seconds: float
    tells_of_loss: Callable[[Any], bool]
    given_up: Callable[[dict[str, Any]], list[str]]


def settled(
    client: Any,
    futures: Mapping[str, Any],
    patience: Patience | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> tuple[dict[str, Any], list[str]]:
    """(what the tasks returned, by worker; the workers that are lost). An error of a task is raised.

    A pinned task of a worker that is gone stays for ever without one: it is given up, as is what ``patience`` says.
    ``meanwhile`` is called twice a second.
    """
    results: dict[str, Any] = {}
    lost: list[str] = []
    pending = dict(futures)
    until: float | None = None
    try:
        while pending:
            _wait(list(pending.values()))
            meanwhile()
            _take_ended(pending, results, lost)
            alive = alive_workers(client) if pending else {}
            leave = {worker for worker in pending if worker not in alive}
            if patience is not None:
                if until is None and (lost or leave or any(map(patience.tells_of_loss, results.values()))):
                    until = time.monotonic() + patience.seconds
                leave |= set(patience.given_up(results)) & set(pending)
                leave |= set(pending) if until is not None and time.monotonic() > until else set()
            for worker in leave:
                lost.append(worker)
                client.cancel([pending.pop(worker)], force=True)
    finally:
        if pending:
            client.cancel(list(pending.values()), force=True)
    return results, lost


def _take_ended(pending: dict[str, Any], results: dict[str, Any], lost: list[str]) -> None:
    """Move what has ended to the results, or to the lost ones if Dask could not run it."""
    for worker in [worker for worker, future in pending.items() if future.done()]:
        future = pending.pop(worker)
        if future.status == "finished":
            results[worker] = future.result()
        elif future.status == "error" and not _of_dask(future.exception()):
            raise future.exception()
        else:
            lost.append(worker)


def _wait(futures: list[Any]) -> None:
    from distributed import wait

    try:
        wait(futures, timeout=LOOK_AGAIN, return_when="FIRST_COMPLETED")
    except TimeoutError:
        pass
    except Exception:  # cancelled or lost futures: they are looked at one by one
        time.sleep(0.01)


def _of_dask(error: BaseException) -> bool:
    """Whether a task could not be run, as opposed to having failed."""
    return type(error).__module__.partition(".")[0] == "distributed"


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Without Dask's advice about large tasks: it is for those who write them by hand."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        yield
