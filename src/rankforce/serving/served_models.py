"""The models that are served: loaded, warmed, and exchanged while requests run.

A request takes the ``ServedModel`` of its name once and keeps it; an exchange is one assignment. A new file is read and
warmed before it takes the place of the old one. If that fails, the old model goes on serving, and the problem is kept
for all who ask.
"""

from __future__ import annotations

import copy
import dataclasses
import gc
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import numpy as np

from rankforce.cached_properties import cached_property
from rankforce.errors import ModelFileError, RankforceError
from rankforce.models.model import Model
from rankforce.models.storage import load
from rankforce.serving.category_values import CategoryTables, categorical_places, tables_of
from rankforce.serving.model_files import FileStamp, digest_of
from rankforce.threads import using_threads

_TRIES = 3  # of a file that changes while it is read
_WARMING_SIZES = (1, 2, 5, 9, 17, 33, 64, 65, 100, 129, 500)  # kernels are chosen by the number of documents


@dataclasses.dataclass(frozen=True)
class ServedModel:
    """A model that answers, and the file it came from."""

    name: str
    path: Path
    model: Model
    digest: str
    stamp: FileStamp
    settled: bool  # the stamp tells this content from any other
    loaded: float  # seconds since 1970

    @cached_property
    def category_tables(self) -> CategoryTables:
        return tables_of(self.model.categories)


class LoadObserver(Protocol):
    """Who counts what is loaded."""

    def model_loaded(self, served: ServedModel) -> None: ...
    def model_failed(self, name: str) -> None: ...
    def model_unchanged(self, name: str) -> None: ...


class ModelShelf:
    """Models by name. The first is the default."""

    def __init__(
        self,
        files: Mapping[str, Path],
        observer: LoadObserver,
        report: Callable[[str], None],
        reload: Callable[[str, Path], ServedModel] | None = None,
        also_warm: Callable[[Model], None] | None = None,
    ) -> None:
        self.files = dict(files)
        self.default = next(iter(self.files))
        self.problems: dict[str, str] = {}  # why the file of a model is not what is served
        self.warm = False
        self._served: dict[str, ServedModel] = {}
        self._failed: dict[str, FileStamp | None] = {}  # what was tried in vain
        self._observer = observer
        self._report = report
        self._reload = reload or load_served
        self._also_warm = also_warm
        self._stop = threading.Event()
        self._watcher: threading.Thread | None = None

    @property
    def ready(self) -> bool:
        """Whether every model is loaded and the kernels that they call are compiled."""
        return self.warm and len(self._served) == len(self.files)

    def get(self, name: str) -> ServedModel:
        """The model of this name, as it is now; a KeyError if there is none."""
        return self._served[name]

    def load_all(self) -> None:
        """Load every model; the first that cannot be loaded is an error."""
        for name in self.files:
            self._exchange(load_served(name, self.files[name]))

    def warm_all(self, freeze: bool = False) -> None:
        """Score with every model, so that no request waits for the compiler.

        With ``freeze``, nor for the garbage collector: what is there now (modules, compiled kernels) is never looked
        through again, which would take a tenth of a second each time.
        """
        if freeze:
            for served in self._served.values():
                self._warm(copy.deepcopy(served.model))  # all that a process ever needs is imported and compiled now
            gc.collect()
            gc.freeze()
        for name, served in list(self._served.items()):
            # A model that is warm refers to itself. Were it frozen, it would stay for ever after its exchange.
            model = copy.deepcopy(served.model) if freeze else served.model
            self._warm(model)
            self._served[name] = dataclasses.replace(served, model=model)
        self.warm = True

    # -------------------------------------------------------------------------------------------- files that change

    def watch(self, seconds: float) -> None:
        """Look at the files every so many seconds, in a thread, until ``stop``."""
        self._watcher = threading.Thread(target=self._watch, args=(seconds,), name="rankforce-files", daemon=True)
        self._watcher.start()

    def stop(self) -> None:
        self._stop.set()
        if self._watcher is not None:
            self._watcher.join(timeout=5)

    def _watch(self, seconds: float) -> None:
        while not self._stop.wait(seconds):
            for name in self.files:
                try:
                    self.refresh(name)
                except Exception as error:  # a defect must not end the watch
                    self._report(f"model {name!r}: unexpected {type(error).__name__}: {error}")

    def refresh(self, name: str) -> bool:
        """Exchange a model if its file has changed; whether it was exchanged."""
        served, path = self._served[name], self.files[name]
        stamp: FileStamp | None = None
        try:
            stamp = FileStamp.of(path)
            if stamp == served.stamp and served.settled:
                self._well(name)
                return False
            if name in self.problems and stamp == self._failed[name] and stamp.settled():
                return False
            if digest_of(path) == served.digest:  # touched, or put back
                settled = stamp.settled()
                self._served[name] = dataclasses.replace(served, stamp=stamp, settled=settled)
                self._well(name)
                return False
            found = self._reload(name, path)
            self._warm(found.model)
        except (RankforceError, MemoryError) as error:
            self._ill(name, stamp, str(error) or type(error).__name__)
            return False
        self._exchange(found)
        self._report(f"model {name!r}: reloaded, {found.model!r}")
        return True

    def _warm(self, model: Model) -> None:
        warm(model)
        if self._also_warm is not None:
            self._also_warm(model)

    def _exchange(self, served: ServedModel) -> None:
        self._served[served.name] = served
        self.problems.pop(served.name, None)
        self._observer.model_loaded(served)

    def _well(self, name: str) -> None:
        if self.problems.pop(name, None) is not None:
            self._observer.model_unchanged(name)

    def _ill(self, name: str, stamp: FileStamp | None, problem: str) -> None:
        told = self.problems.get(name) == problem and self._failed.get(name) == stamp
        self.problems[name], self._failed[name] = problem, stamp
        if not told:
            self._observer.model_failed(name)
            self._report(f"model {name!r}: the old one goes on serving: {problem}")


def load_served(name: str, path: Path) -> ServedModel:
    """Load a model; digest and stamp are those of the bytes that were read."""
    for _ in range(_TRIES):
        stamp = FileStamp.of(path)
        digest = digest_of(path)
        model = load(path)
        if FileStamp.of(path) == stamp:
            return ServedModel(name, path, model, digest, stamp, stamp.settled(), time.time())
    raise ModelFileError(f"{path}: the file changes while it is read; write it beside and rename it")


def warm(model: Model) -> None:
    """Score documents within the ranges of the training data: compiles or loads every kernel that requests call."""
    lows = np.array(model.provenance.feature_lows or [0.0] * model.n_features)
    highs = np.array(model.provenance.feature_highs or [1.0] * model.n_features)
    if len(lows) != model.n_features:
        lows, highs = np.zeros(model.n_features), np.ones(model.n_features)
    lows, highs = np.nan_to_num(lows), np.nan_to_num(highs)
    places = categorical_places(model)
    lows[places] = highs[places] = 0.0  # a code that there always is
    with using_threads(1):
        for rows in _WARMING_SIZES:
            model.predict(lows + np.linspace(0.0, 1.0, rows)[:, None] * (highs - lows))
