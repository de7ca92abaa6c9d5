"""What the client hears of a training while it runs, and what it may say: progress, checkpoints, callbacks, Ctrl-C.

The first member tells of every tree by an event of Dask's and goes on. Only where the client has callbacks it waits for
their answer. Twice a second it looks whether the client wants to stop or to begin a new run with more workers, and
whether there is still a client.

A training may need several runs. Each has a queue of answers of its own: an answer to a run that lost its first member
is not taken for one in the next, and a first member that was given up and wakes up later takes nobody's answer.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from rankforce.console.interruption import Interruption
from rankforce.console.progress import Progress
from rankforce.errors import ModelFileError, PeerLostError, RankforceError
from rankforce.files.atomic_writes import atomic_write
from rankforce.training.monitoring import Callback, Iteration

LOOK_AGAIN = 0.5  # seconds
CHECKPOINT = 60.0  # seconds until one that was sent must be there
EVENTS = "rankforce"  # the topic of all trainings: Dask keeps the last events of each topic for ever
FIRST_TREES = 2  # of a run, whose time says nothing of the others: kernels may be compiled


class AbandonedError(RankforceError):
    """There is no client any more that waits for the model."""


class RegroupingError(PeerLostError):
    """The training is to go on with more members: they begin again after the last tree."""


class Messenger:
    """On the first member: a callback that tells the client of every tree.

    topic : the name of the training
    run : the name of this run
    asks : whether to wait for an answer
    checkpoint : a file that is sent when it has changed
    """

    def __init__(self, topic: str, run: str, asks: bool, checkpoint: Path | None) -> None:
        from distributed import get_worker

        self._topic, self._run, self._asks, self._checkpoint = topic, run, asks, checkpoint
        self._worker = get_worker()
        self._task = self._worker.get_current_task()
        self._looked = time.monotonic()
        self._sent = self._state()
        self._first = True
        self._answers: Any = None

    def __enter__(self) -> Messenger:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._answers is not None:
            with contextlib.suppress(Exception):  # there is no scheduler any more
                self._answers.close()

    def __call__(self, iteration: Iteration) -> None:
        told: dict[str, Any] = {"run": self._run, "number": iteration.number, "values": iteration.values}
        told["best"] = iteration.best_iteration
        if self._first:  # what an earlier run did not come to tell
            told["history"] = {name: list(values) for name, values in iteration.history.items()}
            self._first = False
        if self._state() != self._sent:
            assert self._checkpoint is not None
            self._sent = self._state()
            self._send(self._checkpoint.read_bytes())
            told["checkpoint"] = True
        self._worker.log_event(EVENTS, told)
        if self._asks and self._answer() == "stop":
            iteration.stop()
        if time.monotonic() - self._looked >= LOOK_AGAIN:
            self._look(iteration)

    def _send(self, content: bytes) -> None:
        """Not as an event, which would stay: a variable has the last one alone, and the client deletes it."""
        from distributed import Variable, get_client

        Variable(_checkpoints(self._topic, self._run), client=get_client()).set(content)

    def _state(self) -> tuple[int, int] | None:
        """By which a file that was written again is known."""
        if self._checkpoint is None or not self._checkpoint.exists():
            return None
        found = self._checkpoint.stat()
        return found.st_size, found.st_mtime_ns

    def _answer(self) -> str:
        from distributed import Queue, get_client

        if self._answers is None:
            self._answers = Queue(_answers(self._topic, self._run), client=get_client())
        while True:
            try:
                return str(self._answers.get(timeout=LOOK_AGAIN))
            except TimeoutError:
                self._check_wanted()

    def _look(self, iteration: Iteration) -> None:
        from distributed import Event, get_client

        self._looked = time.monotonic()
        self._check_wanted()
        client = get_client()
        if Event(self._topic, client=client).is_set():  # of a callback's error, too: ``fit`` raises it
            iteration.interrupt()
        elif Event(_regrouping(self._topic, self._run), client=client).is_set():
            raise RegroupingError("more workers take part from here on")

    def _check_wanted(self) -> None:
        """Whoever asked for this task may be gone: the scheduler has given it up then."""
        task = self._worker.state.tasks.get(self._task)
        if task is None or task.state == "cancelled":
            raise AbandonedError("nobody waits for this training any more: the client is gone")


def _answers(topic: str, run: str) -> str:
    return f"{topic}-answers-{run}"


def _checkpoints(topic: str, run: str) -> str:
    return f"{topic}-checkpoint-{run}"


def _regrouping(topic: str, run: str) -> str:
    return f"{topic}-regrouping-{run}"


class Listening:
    """In the client: a thread that hears of every tree, shows it, asks callbacks and writes the checkpoint."""

    def __init__(
        self,
        client: Any,
        topic: str,
        ranker: Any,
        callbacks: Sequence[Callback],
        checkpoint: Path | None,
        resumed: bool,
    ) -> None:
        """``resumed``: the training goes on after trees of an earlier one, which callbacks are not told of."""
        self._client, self._topic, self._callbacks, self._checkpoint = client, topic, callbacks, checkpoint
        self._bar = Progress(type(ranker).__name__, ranker.n_trees, "trees", ranker.progress)
        self._messages: queue.SimpleQueue[Mapping[str, Any] | None] = queue.SimpleQueue()
        self._history: dict[str, list[float]] = {}
        self._run = ""
        self._queues: dict[str, Any] = {}
        self._saved: set[str] = set()  # runs that have sent a checkpoint
        self._signals: list[str] = []  # events that were set
        self._told: int | None = None if resumed else 0  # the last tree that callbacks know of
        self._best = 0
        self._stopped = False  # by one of them
        self._number = 0
        self._when: list[float] = []  # of the trees of this run
        self._thread = threading.Thread(target=self._serve, name="rankforce-listening", daemon=True)
        self._interruption = Interruption("tree", orderly=True)
        self._stopping = False
        self.error: BaseException | None = None

    def __enter__(self) -> Listening:
        self._interruption.__enter__()
        self._bar.__enter__()
        self._client.subscribe_topic(EVENTS, self._hear)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(Exception):  # the scheduler is gone, and all queues with it
            self._client.unsubscribe_topic(EVENTS)
        self._messages.put(None)
        self._thread.join()
        with contextlib.suppress(Exception):
            self._remove_traces()
        self._bar.__exit__(kind, value, trace)
        self._interruption.__exit__(kind, value, trace)

    def _remove_traces(self) -> None:
        """What the scheduler would keep of this training."""
        from distributed import Event, Variable

        for queue_of_run in self._queues.values():
            queue_of_run.close()
        for run in self._saved:
            Variable(_checkpoints(self._topic, run), client=self._client).delete()
        for name in self._signals:  # events that are not set are not kept
            Event(name, client=self._client).clear()

    def say(self, text: str) -> None:
        """One line, above the bar."""
        self._bar.say(text)

    def begin(self, run: str) -> None:
        """A run begins: what others tell from now on is no longer heard."""
        from distributed import Queue

        self._run, self._when = run, []
        if self._callbacks:
            self._queues[run] = Queue(_answers(self._topic, run), client=self._client)

    def pass_on_interruption(self) -> None:
        """Ctrl-C was pressed, or what a tree was told of failed: training ends after the current tree."""
        if not self._thread.is_alive() and self.error is not None:
            raise self.error
        if (self._interruption.wanted or self.error is not None) and not self._stopping:
            from distributed import Event

            self._stopping = True
            self._signals.append(self._topic)
            Event(self._topic, client=self._client).set()

    def regroup(self) -> None:
        """This run shall end after the current tree, for another one."""
        from distributed import Event

        self._signals.append(_regrouping(self._topic, self._run))
        Event(_regrouping(self._topic, self._run), client=self._client).set()

    @property
    def pace(self) -> tuple[int, float] | None:
        """(the last tree of this run, seconds that each has taken); None before there are some."""
        when = list(self._when)
        if len(when) <= FIRST_TREES:
            return None
        return self._number, (when[-1] - when[FIRST_TREES - 1]) / (len(when) - FIRST_TREES)

    def write_last(self, content: bytes) -> None:
        """The checkpoint of the end, after all that were sent before it."""
        self._messages.put({"run": self._run, "checkpoint": content})

    def _hear(self, event: tuple[float, Mapping[str, Any]]) -> None:
        self._messages.put(event[1])

    def _serve(self) -> None:
        while (told := self._messages.get()) is not None:
            try:
                answer = self._heard(told)
            except BaseException as error:  # of a callback: it is raised by ``fit``
                self.error = self.error or error
                answer = "stop"
            answers = self._queues.get(told["run"])
            if answers is None or "number" not in told:
                continue
            try:
                answers.put(answer)
            except BaseException as error:  # the first member waits in vain: the driver ends it
                self.error = self.error or error
                return

    def _heard(self, told: Mapping[str, Any]) -> str:
        if told["run"] != self._run:  # it was given up
            return "stop"
        if "checkpoint" in told:
            self._write(told["checkpoint"] if isinstance(told["checkpoint"], bytes) else self._fetched(told["run"]))
        if "number" not in told:
            return "stop"
        number, values = told["number"], dict(told["values"])
        self._number = number
        self._when.append(time.monotonic())
        self._bar.advance(number, values)
        for iteration in self._untold(number, values, told):
            for callback in self._callbacks:
                callback(iteration)
            self._stopped = self._stopped or iteration.stopped
        return "stop" if self._stopped or self.error is not None else "go"

    def _untold(self, number: int, values: Mapping[str, float], told: Mapping[str, Any]) -> Iterator[Iteration]:
        """What callbacks have not heard of: each tree once, although a loss may let it be grown again."""
        whole = told.get("history") or {name: [*self._history.get(name, []), value] for name, value in values.items()}
        first = number if self._told is None else self._told + 1
        for tree in range(first, number + 1):
            self._told = tree
            self._best = told["best"] if told["best"] <= tree else self._best
            self._history = {name: list(one[:tree]) for name, one in whole.items()}
            now = dict(values) if tree == number else {name: one[-1] for name, one in self._history.items()}
            yield Iteration(tree, now, self._history, self._best)

    def _fetched(self, run: str) -> bytes:
        """The last checkpoint that the first member of a run has sent."""
        from distributed import Variable

        self._saved.add(run)
        return bytes(Variable(_checkpoints(self._topic, run), client=self._client).get(timeout=CHECKPOINT))

    def _write(self, content: bytes) -> None:
        """Replace the checkpoint."""
        assert self._checkpoint is not None
        with atomic_write(self._checkpoint, ModelFileError) as file:
            file.write(content)
