"""What the client hears of a training while it runs, and what it may say: progress, checkpoints, callbacks, Ctrl-C.

The first member tells of every tree by an event of Dask's and goes on. Only where the client has callbacks it waits for
their answer. Twice a second it looks whether the client wants to stop, and whether there is still a client.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from rankforce.console.interruption import Interruption
from rankforce.console.progress import Progress
from rankforce.errors import ModelFileError, RankforceError
from rankforce.files.atomic_writes import atomic_write
from rankforce.training.monitoring import Callback, Iteration

LOOK_AGAIN = 0.5  # seconds


class AbandonedError(RankforceError):
    """There is no client any more that waits for the model."""


class Messenger:
    """On the first member: a callback that tells the client of every tree.

    topic : of the events
    asks : whether to wait for an answer
    checkpoint : a file that is sent when it has changed
    """

    def __init__(self, topic: str, asks: bool, checkpoint: Path | None) -> None:
        from distributed import get_worker

        self._topic, self._asks, self._checkpoint = topic, asks, checkpoint
        self._worker = get_worker()
        self._task = self._worker.get_current_task()
        self._looked = time.monotonic()
        self._sent = self._state()

    def __call__(self, iteration: Iteration) -> None:
        told: dict[str, Any] = {"number": iteration.number, "values": iteration.values}
        told["best"] = iteration.best_iteration
        if self._state() != self._sent:
            assert self._checkpoint is not None
            self._sent = self._state()
            told["checkpoint"] = self._checkpoint.read_bytes()
        self._worker.log_event(self._topic, told)
        if self._asks and self._answer() == "stop":
            iteration.stop()
        if time.monotonic() - self._looked >= LOOK_AGAIN:
            self._look(iteration)

    def _state(self) -> tuple[int, int] | None:
        """By which a file that was written again is known."""
        if self._checkpoint is None or not self._checkpoint.exists():
            return None
        found = self._checkpoint.stat()
        return found.st_size, found.st_mtime_ns

    def _answer(self) -> str:
        from distributed import Queue, get_client

        answers = Queue(self._topic, client=get_client())
        while True:
            try:
                return str(answers.get(timeout=LOOK_AGAIN))
            except TimeoutError:
                self._check_wanted()

    def _look(self, iteration: Iteration) -> None:
        from distributed import Event, get_client

        self._looked = time.monotonic()
        self._check_wanted()
        if Event(self._topic, client=get_client()).is_set():
            iteration.stop()

    def _check_wanted(self) -> None:
        """Whoever asked for this task may be gone: the scheduler has given it up then."""
        task = self._worker.state.tasks.get(self._task)
        if task is None or task.state == "cancelled":
            raise AbandonedError("nobody waits for this training any more: the client is gone")


class Listening:
    """In the client: a thread that hears of every tree, shows it, asks callbacks and writes the checkpoint."""

    def __init__(
        self,
        client: Any,
        topic: str,
        ranker: Any,
        callbacks: Sequence[Callback],
        checkpoint: Path | None,
    ) -> None:
        self._client, self._topic, self._callbacks, self._checkpoint = client, topic, callbacks, checkpoint
        self._bar = Progress(type(ranker).__name__, ranker.n_trees, "trees", ranker.progress)
        self._messages: queue.SimpleQueue[Mapping[str, Any] | None] = queue.SimpleQueue()
        self._history: dict[str, list[float]] = {}
        self._thread = threading.Thread(target=self._serve, name="rankforce-listening", daemon=True)
        self._interruption = Interruption()
        self._stopping = False
        self.error: BaseException | None = None

    def __enter__(self) -> Listening:
        self._interruption.__enter__()
        self._bar.__enter__()
        self._client.subscribe_topic(self._topic, self._hear)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.unsubscribe_topic(self._topic)
        self._messages.put(None)
        self._thread.join()
        self._bar.__exit__(kind, value, trace)
        self._interruption.__exit__(kind, value, trace)

    def say(self, text: str) -> None:
        """One line, above the bar."""
        self._bar.say(text)

    def pass_on_interruption(self) -> None:
        """Ctrl-C was pressed: training ends after the current tree."""
        if self._interruption.wanted and not self._stopping:
            from distributed import Event

            self._stopping = True
            Event(self._topic, client=self._client).set()

    def _hear(self, event: tuple[float, Mapping[str, Any]]) -> None:
        self._messages.put(event[1])

    def _serve(self) -> None:
        while (told := self._messages.get()) is not None:
            try:
                answer = self._heard(told)
            except BaseException as error:  # of a callback: it is raised by ``fit``
                self.error = self.error or error
                answer = "stop"
            if self._callbacks:
                from distributed import Queue

                Queue(self._topic, client=self._client).put(answer)

    def _heard(self, told: Mapping[str, Any]) -> str:
        number, values = told["number"], dict(told["values"])
        for name, value in values.items():  # of trees that are grown again after a loss, the last
            self._history[name] = [*self._history.get(name, [])[: number - 1], value]
        iteration = Iteration(number, values, self._history, told["best"])
        self._bar.advance(number, values)
        if "checkpoint" in told:
            self.write(told["checkpoint"])
        for callback in self._callbacks:
            callback(iteration)
        return "stop" if iteration.stopped or self.error is not None else "go"

    def write(self, content: bytes) -> None:
        """Replace the checkpoint."""
        assert self._checkpoint is not None
        with atomic_write(self._checkpoint, ModelFileError) as file:
            file.write(content)
