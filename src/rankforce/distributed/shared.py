"""Data on a cluster: ``rf.shared``."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankforce.binning.binning import MOST_BINS
from rankforce.console.wording import counted
from rankforce.data.dataset import Dataset
from rankforce.distributed.digests import joined_fingerprint
from rankforce.distributed.driver import Driver
from rankforce.distributed.ingesting import Ingested, ingest
from rankforce.distributed.resampling import DivisibleData
from rankforce.distributed.scoring import joined, score_piece
from rankforce.distributed.shards import Facts, Form, ShardPlan, forget, load_piece, token_of
from rankforce.distributed.tasks import Limits, Lost, asked, gathered_from, quietly, settled
from rankforce.distributed.views import cut_like
from rankforce.errors import DataError, SettingsError, missing_dependency
from rankforce.files.atomic_writes import check_replaceable
from rankforce.files.streams import file_name
from rankforce.kinds import Number, Switch, Whole, check_choice, check_number, shown
from rankforce.remedies import Argument, Phrase
from rankforce.stores.binned_dataset import BinnedDataset
from rankforce.training.iterative import warn_of_interruption
from rankforce.training.monitoring import checked_callbacks

FIT_INPUTS = ("callbacks", "checkpoint", "checkpoint_every", "resume")
REFUSED: dict[str, tuple[Any, str]] = {  # what else ``fit`` takes: its default, and why nothing else is possible here
    "preferences": (None, "name rows of a data set in one process: data.collect() brings it here"),
    "preference_share": (1.0, "goes with preferences"),
    "instruments": ((), "look at a training of one process: leave them out"),
}


class LoadedForm:
    """A data set in the memory of workers, in one form: ``owners`` says which worker has which piece."""

    def __init__(self, data: SharedDataset, form: Form) -> None:
        self._data = data
        self._client = data.client
        found = data.ingested
        self.plan = ShardPlan(
            token_of(data.token, form, os.urandom(16)), form, found.layout, found.binning if form == "bins" else None
        )
        self.owners: dict[int, str] = {}
        self.limits: dict[str, int] = {}
        self.seconds_per_document = 0.0  # that loading took, last time
        self._loaded: dict[int, str] = {}  # as owners, once it is there
        self._digests: dict[int, list[bytes]] = {}
        self._facts: Facts | None = None
        weakref.finalize(self, _forget, weakref.ref(data.client), self.plan.token)

    def documents_of_pieces(self) -> dict[int, int]:
        return self._data.ingested.documents_of_pieces()

    def load(self) -> list[Lost]:
        """Read every piece where it belongs; returns the workers that were lost on the way."""
        wanted = {piece: worker for piece, worker in self.owners.items() if self._loaded.get(piece) != worker}
        limits = self._data.limits
        documents = self.documents_of_pieces()
        lost: list[Lost] = []
        while wanted:  # one piece at a time for each worker
            batch = {worker: piece for piece, worker in sorted(wanted.items(), reverse=True)}
            begun = time.monotonic()
            digests, gone = settled(
                self._client, {worker: self._load(piece, worker) for worker, piece in batch.items()}, limits
            )
            self.seconds_per_document = (time.monotonic() - begun) / max(documents[piece] for piece in batch.values())
            for worker, found in digests.items():
                piece = batch[worker]
                if self._digests.setdefault(piece, found) != found:
                    raise _changed(self._data, piece)
                self._loaded[piece] = worker
            lost += gone
            away = {one.worker for one in gone}
            wanted = {
                piece: worker
                for piece, worker in wanted.items()
                if worker not in away and self._loaded.get(piece) != worker
            }
        return lost

    def _load(self, piece: int, worker: str) -> Any:
        found = self._data.ingested
        with quietly():
            return self._client.submit(
                load_piece,
                worker,
                self.plan,
                found.pieces[piece],
                found.contents.get(piece),
                found.summaries[piece],
                found.strays_of(piece),
                workers=[worker],
                allow_other_workers=False,
                pure=False,
            )

    def misplaced(self, worker: str) -> None:
        """A worker has not what it was thought to have: load it again."""
        for piece in [piece for piece, owner in self._loaded.items() if owner == worker]:
            del self._loaded[piece]

    @property
    def facts(self) -> Facts | None:
        if self.plan.form == "values":
            return None
        if self._facts is None:
            self._facts = self._data.ingested.facts(self.fingerprint)
        return self._facts

    @property
    def fingerprint(self) -> str:
        found = self._data.ingested
        return found.known_fingerprint or joined_fingerprint(found.layout, self._digests.values())


class SharedDataset(DivisibleData):
    """Queries, labels and features that the workers of a Dask cluster hold together; made by ``rf.shared``.

    ``fit`` of LambdaMART and MART takes it in place of a ``Dataset``, as training and as validation data, and ends with
    the same model to the last bit. It has ``n_documents``, ``n_queries``, ``n_features``, ``feature_names``,
    ``label_names`` and ``fingerprint``; ``split``, ``folds`` and ``take_queries`` give parts of it, shared likewise;
    ``collect()`` brings all of it here, ``close()`` lets the workers forget it.
    """

    def __init__(self, client: Any, ingested: Ingested, name: str, options: Mapping[str, Any]) -> None:
        """For ``shared``."""
        self.client = client
        self.ingested = ingested
        self.name = name
        self.options = dict(options)
        self.token = token_of(id(self), name, os.urandom(16))
        self.last_run: dict[str, Any] = {}
        self._forms: dict[Form, LoadedForm] = {}
        self._cut_like: SharedDataset | None = None  # the same queries at the thresholds of training data

    def _part(self, ingested: Ingested) -> SharedDataset:
        return SharedDataset(self.client, ingested, self.name, self.options)

    def __repr__(self) -> str:
        return (
            f"SharedDataset({counted(self.n_documents, 'document')}, {counted(self.n_queries, 'query')}, "
            f"{counted(self.n_features, 'feature')}, {counted(len(self.ingested.pieces), 'piece')} of {self.name})"
        )

    @property
    def n_documents(self) -> int:
        return self.ingested.documents

    @property
    def n_features(self) -> int:
        return len(self.feature_names)

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self.ingested.layout.feature_names

    @property
    def roles(self) -> Mapping[str, str]:
        """What became of the columns of tables and frames, as ``Dataset.roles`` has it."""
        return self.ingested.layout.kind.roles

    @property
    def categories(self) -> Mapping[str, Any]:
        return self.ingested.layout.kind.categories

    @property
    def label_names(self) -> tuple[str, ...]:
        return self.ingested.layout.kind.labels

    def close(self) -> None:
        """Let the workers give up what they hold of it; it can be used again, and is loaded then."""
        for form in self._forms.values():
            _forget(weakref.ref(self.client), form.plan.token)
        self._forms.clear()
        if self._cut_like is not None:
            self._cut_like.close()
        vars(self).pop("_bare", None)

    def form(self, form: Form) -> LoadedForm:
        """The data in the memory of the workers: as bins, or as values."""
        if form == "values" and self.ingested.store is not None:
            raise DataError(
                f"{self.name}: this training needs the values of features, and a store has bins: share the data"
            )
        if form == "bins":
            self.with_thresholds()
        if form not in self._forms:
            self._forms[form] = LoadedForm(self, form)
        return self._forms[form]

    # ----------------------------------------------------------------------------------------------------------- train

    def train(self, ranker: Any, *given: Any, **inputs: Any) -> None:
        """Fit the ranker on the cluster; for ``fit`` itself."""
        validation = inputs.pop("validation", None)
        asked = {name: inputs.pop(name) for name in FIT_INPUTS if name in inputs}
        for name, value in inputs.items():
            _check_refused(name, value)
        if any(value is not None for value in given):
            raise DataError("shared data holds its labels, queries and weights: give nothing beside it")
        asked["callbacks"] = checked_callbacks(asked.get("callbacks", ()))
        if asked.get("checkpoint") is not None:
            asked["checkpoint"] = _checked_checkpoint(asked)
        on_values = ranker.learns_from_values or bool(self.ingested.layout.kind.categories)
        form: Form = "values" if on_values else "bins"
        held_out = self._validation(validation, form)
        driver = Driver(
            self.client,
            ranker,
            self.form(form),
            None if held_out is None else held_out.form(form),
            **self.options,
            **asked,
        )
        fitted = driver.fit()
        self.last_run = driver.statistics | {"losses": list(driver.losses)}
        vars(ranker).update(fitted)
        if ranker.interrupted_:
            warn_of_interruption(ranker.model_.provenance.interrupted)

    def _validation(self, validation: Any, form: Form) -> SharedDataset | None:
        if validation is None:
            return None
        if isinstance(validation, Dataset):
            return shared(validation, self.client, like=self, **self.options)
        if not isinstance(validation, SharedDataset):
            raise DataError(f"validation must be a SharedDataset or a Dataset, not {shown(validation)}")
        if validation.whole is not None and validation.ingested.store is None:
            return validation._like(self.with_thresholds() if form == "bins" else self.ingested)
        if validation.ingested.binning != self.with_thresholds().binning:
            raise DataError(
                f"{validation.name} was binned at other thresholds than the training data: share it like that: ",
                Phrase("rf.shared(..., like=train)", "rankforce bin ... --like TRAIN"),
            )
        return validation

    def _like(self, train: Ingested) -> SharedDataset:
        """Some queries, cut at the thresholds of training data; kept, as the next training may ask again."""
        known = self._cut_like
        if known is None or known.ingested.binning != train.binning:
            if known is not None:
                known.close()
            self._cut_like = known = self._part(cut_like(self.ingested, train))
        return known

    def scored(self, ranking: Any) -> tuple[np.ndarray, Dataset]:
        """(scores, data without features), both in the order of the pieces and of the rows in them.

        ``model.predict(shared)``, ``rf.evaluate`` and ``rf.compare`` ask for it: a ranking is anything they take.
        """
        found = self.ingested
        with quietly():
            held = self.client.submit(_same, ranking, pure=False)  # once for all pieces
            tasks = [
                self.client.submit(score_piece, piece, found.contents.get(number), found.layout, held, pure=False)
                for number, piece in found.original_pieces().items()
            ]
        parts = gathered_from(self.client, tasks, self.limits)
        return joined(part for part in parts if part is not None)

    def collect(self) -> Dataset:
        """All documents, here: for what needs them in one process."""
        return self.ingested.collected(self.client, self.limits)


def _changed(data: SharedDataset, piece: int) -> DataError:
    """The error for a piece that was read again, after a loss, and has other rows now."""
    return DataError(
        f"{data.name}: {data.ingested.pieces[piece].name} has other rows than when it was loaded first: what is read "
        "or computed anew must give the same rows; write the data to files, and share these"
    )


def _check_refused(name: str, value: Any) -> None:
    """Raise if an input of ``fit`` says what shared data has, or asks for what needs one process."""
    if value is None:
        return
    if name not in REFUSED:
        raise DataError(f"shared data holds its labels, queries and weights: leave {name} out")
    default, reason = REFUSED[name]
    given = tuple(value) if isinstance(value, list) else value
    if default is None or given != default:
        raise SettingsError(f"{name} {reason}")


def _checked_checkpoint(asked: dict[str, Any]) -> Path:
    """Where the client keeps the checkpoint; an error before any work if it cannot be there."""
    path = Path(file_name(asked["checkpoint"]))
    check_number("checkpoint_every", asked.get("checkpoint_every", 50), 1, whole=True)
    check_choice("resume", asked.get("resume", "auto"), ("auto", "never", "always"))
    folder = path.resolve().parent
    if not folder.is_dir():
        raise SettingsError(f"{path}: a checkpoint cannot be written: there is no folder {folder}")
    check_replaceable(path, SettingsError)
    if asked.get("resume") == "always" and not path.exists():
        raise SettingsError(
            f"{path}: there is no checkpoint to resume from; ", Argument("resume", "auto"), " begins anew"
        )
    return path


def _same(ranking: Any) -> Any:
    return ranking


def _forget(client_of: Any, token: str) -> None:
    """Ask all workers to give up shards, and do not wait: garbage is collected anywhere, even where Dask works."""
    client = client_of()
    if client is not None:
        asked(client, forget, token)


def shared(
    data: Any,
    client: Any,
    *,
    max_bins: int = MOST_BINS,
    like: Any = None,
    shuffle: bool = True,
    timeout: float = 60.0,
    silence: float = 300.0,
    port: int = 0,
    **options: Any,
) -> SharedDataset:
    """Data for the workers of a Dask cluster, which train LambdaMART and MART on it as one machine would.

    Parameters
    ----------
    data
        A folder, a file, a pattern (``"train/*.parquet"``) or a list of files, which all workers can read: Parquet,
        CSV, LETOR text (``.gz``), or a store (``.bins``); a ``dask.dataframe``, also with unknown divisions; or a
        Dataset. Every file may have its own order of columns.
    client : distributed.Client
    max_bins
        As of the ranker that will learn from it.
    like : SharedDataset or store
        Bin at its thresholds: for validation data.
    shuffle
        A query is never divided between workers: rows of queries that several files or partitions hold are brought
        together, and if these are more than 5 % of all rows, all are dealt anew by query. ``False`` refuses such data.
    timeout, silence : seconds
        Until all workers must have met; and after which one that gives no sign of life is given up, while data is
        surveyed as while a model is trained.
    port
        The first of the ports on which workers listen for each other; 0: any that is free.
    options
        As for ``rf.read``, of frames too: ``qid``, ``label``, ``features`` ...
    """
    if not hasattr(client, "scheduler_info"):
        try:
            import distributed  # noqa: F401
        except ImportError:
            raise missing_dependency("distributed", "cluster", "training on a cluster") from None
        raise SettingsError(f"client must be a client of Dask's: distributed.Client(...), not {shown(client)}")
    check_number("max_bins", max_bins, 2, MOST_BINS, whole=True)
    for name, seconds in (("timeout", timeout), ("silence", silence)):
        Number(0.0, above=True).check(name, seconds)
    Whole(0, 65_535).check("port", port)
    Switch().check("shuffle", shuffle)
    edges = None
    if like is not None:
        edges = like.with_thresholds() if isinstance(like, SharedDataset) else _store(like)
    ingested = ingest(client, data, options, max_bins, edges, shuffle, Limits(float(timeout), float(silence)))
    where = {"timeout": float(timeout), "silence": float(silence), "port": int(port)}
    return SharedDataset(client, ingested, _name_of(data), where)


def _store(like: Any) -> Any:
    from rankforce.distributed.ingesting import of_store
    from rankforce.stores.opening import read

    found = like if isinstance(like, BinnedDataset) else read(like)
    if not isinstance(found, BinnedDataset):
        raise DataError(f"like must be shared data or a store, not {shown(like)}")
    return of_store(found)


def _name_of(data: Any) -> str:
    if isinstance(data, BinnedDataset):
        return str(data.path)
    if isinstance(data, (list, tuple)):
        return f"{data[0]} and {len(data) - 1} more" if len(data) > 1 else str(data[0])
    return str(data) if not isinstance(data, Dataset) and not hasattr(data, "npartitions") else type(data).__name__
