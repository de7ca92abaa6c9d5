"""What trees and nets share around their loops: settings checked and written, threads, and the checkpoint."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from rankforce.data.dataset import Dataset
from rankforce.kinds import Understood
from rankforce.threads import THREADS, using_threads
from rankforce.training.base_models import base_of, checked_base, written_base
from rankforce.training.checkpoint import MAY_CHANGE, Checkpoint, Identity
from rankforce.training.monitoring import Callback, checked_callbacks
from rankforce.training.own_code import OwnCode
from rankforce.training.ranker import Ranker
from rankforce.training.settings import setting, whole, with_settings


@with_settings
class Resumable(Ranker):
    """Base of rankers that write checkpoints and go on from them.

    A training is what one call of ``fit`` learns from: it has ``data``, ``held_out`` (or None) and ``inputs``, which
    belong to its identity beside settings and data.
    """

    base_model: Any = setting(None, Understood(checked_base))
    early_stopping: int | None = whole(None, least=1)
    threads: int | None = setting(None, THREADS, after="seed")

    def _fit(
        self,
        training: Any,
        callbacks: Sequence[Callback],
        checkpoint: str | Path | None,
        checkpoint_every: int,
        resume: str,
    ) -> Self:
        callbacks = checked_callbacks(callbacks)
        self._check_settings(training.data, training.held_out)
        with using_threads(self.threads):
            kept = None
            if checkpoint is not None:
                settings = self._settings() | training.inputs
                identity = Identity.of(settings, self._own_code(), training.data, training.held_out)
                kept = Checkpoint(checkpoint, checkpoint_every, resume, identity)
            self._learn(training, callbacks, kept)
        self._note_features(training.data)
        return self

    def _settings(self) -> dict[str, Any]:
        """All settings by name, as the model file keeps them."""
        base = base_of(self.base_model)
        return {"ranker": type(self).__name__, **self.get_params(deep=False), "base_model": written_base(base)}

    def _own_code(self) -> OwnCode:
        """The code of the user's that decides what is learned."""
        elsewhere = MAY_CHANGE | {"base_model"}  # of which the settings hold a digest
        given = self.get_params(deep=False)
        return OwnCode.of({name: value for name, value in given.items() if name not in elsewhere}, self)

    @abc.abstractmethod
    def _check_settings(self, data: Dataset, held_out: Dataset | None) -> None:
        """Raise where a setting is impossible, or does not fit the data."""

    @abc.abstractmethod
    def _learn(self, training: Any, callbacks: Sequence[Callback], checkpoint: Checkpoint | None) -> None:
        """Learn, from the checkpoint on if it holds something, and leave ``model_`` and what else a fit leaves."""
