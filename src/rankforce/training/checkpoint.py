"""Checkpoints: what was learned so far, in a file that survives a crash at any moment.

A checkpoint is a model file: ``rankforce.load`` reads it, and it scores. Beside the model it holds the history, what
else the training must know to go on (``state``; nothing for trees), and its identity (data, validation data, settings,
code of the user's in them, versions, processor), so that a training that goes on from it ends with the same bytes as
one that was never interrupted, and one that would not is refused.

Trees are appended to it round by round (``models/appended_trees.py``) and written whole at the end, or once more where
a training goes on; a net, which changes as a whole, and a compressed file (``.gz``) are written whole every time.
"""

from __future__ import annotations

import abc
import functools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankforce.collective import alone, collective, first_says, is_first
from rankforce.compiling import jit
from rankforce.data.dataset import Dataset
from rankforce.displayed_text import displayed_path
from rankforce.errors import ModelFileError, SettingsError
from rankforce.files.appending import Extent, append
from rankforce.files.atomic_writes import check_replaceable, remove_leftovers
from rankforce.files.streams import file_name
from rankforce.kinds import check_choice, check_number
from rankforce.models.appended_trees import record_of
from rankforce.models.model import Model
from rankforce.models.provenance import NOT_KEPT, Provenance, plain, versions
from rankforce.models.storage import ENDING, from_bytes, is_model_file, last_digest, load, save, to_bytes
from rankforce.remedies import Argument
from rankforce.training.monitoring import TIES
from rankforce.training.own_code import OwnCode

# Settings that may change between an interrupted training and the one that goes on from it: they decide when training
# ends, not what a tree or an epoch does.
SEARCH = "weight_search"  # how the weights of an objective were found; what they are, the objective says
ALL_STEPS = "steps_in_all"  # epochs × steps, of a training whose every step depends on it
MAY_CHANGE = frozenset({"n_trees", "epochs"}) | NOT_KEPT
BY_STEP = frozenset({"n_leaves"})  # settings that may be a number, or a list with one for every step


@dataclass(frozen=True)
class Identity:
    """What must be the same for two trainings to learn the same.

    One of the parts, ``steps``, need not be: so far counts what is said step by step (a schedule, leaves per tree).
    """

    parts: dict[str, Any]
    code: OwnCode

    @classmethod
    def of(
        cls,
        settings: dict[str, Any],
        code: OwnCode,
        data: Dataset,
        held_out: Dataset | None,
        steps: int | None = None,
    ) -> Identity:
        """``steps``: the most trees or epochs, where settings may say something for each of them."""
        kept = {name: plain(value) for name, value in sorted(settings.items()) if name not in MAY_CHANGE}
        return cls(
            {
                "settings": kept,
                "steps": steps,
                "code": code.written(),
                "training data": data.fingerprint,
                "validation data": None if held_out is None else held_out.fingerprint,
                "versions": versions(),
                "processor": jit.cpu_target(),
            },
            code,
        )

    def check_members(self) -> None:
        """Raise, in every member, unless all of them want the same training."""
        mine = json.dumps(self.parts, sort_keys=True).encode()
        for rank, theirs in enumerate(collective().gather(mine)):
            if theirs != mine:
                other = json.loads(theirs)
                found = self.differences(other)
                if other["steps"] != self.parts["steps"]:
                    found.append(f"the number of steps was {other['steps']} and is {self.parts['steps']}")
                found = found or ["something is not written the same way"]
                raise SettingsError(
                    f"members of a training must be told the same; of member {rank} and member {collective().rank}: "
                    f"{'; '.join(found)}"
                )

    def differences(self, other: dict[str, Any]) -> list[str]:
        """In words, what differs from the identity that a checkpoint holds."""
        found = []
        steps = _steps_of_both(self.parts, other)
        for name, mine in self.parts.items():
            theirs = other.get(name)
            if name == "code":
                found += self.code.differences(theirs)
                continue
            if name == "steps" or _agree(mine, theirs, steps):
                continue
            if isinstance(mine, dict) and isinstance(theirs, dict):
                together = _differing_lengths(mine, theirs)
                found += together
                for key in sorted({*mine, *theirs} - {SEARCH} - ({ALL_STEPS, "steps"} if together else set())):
                    if _agree(mine.get(key), theirs.get(key), steps, key):
                        continue
                    if key == "objective" and mine.get(SEARCH) and theirs.get(SEARCH):
                        then, now = (one[SEARCH]["weights"] for one in (theirs, mine))
                        found.append(
                            f'weights="search" found {then} and now, with other settings, finds {now}: to go on, give '
                            f"weights={then}"
                        )
                    else:
                        found.append(f"{key} was {theirs.get(key)!r} and is {mine.get(key)!r}")
            else:
                found.append(f"the {name} is not the same")
        return found


def _differing_lengths(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """What to say of two trainings by ``ALL_STEPS`` that are not equally long; nothing of others."""
    if any(not one.get(ALL_STEPS) or not one.get("steps") for one in (mine, theirs)):
        return []
    if mine[ALL_STEPS] == theirs[ALL_STEPS]:
        return []
    then, now = (f"epochs={one[ALL_STEPS] // one['steps']}, steps={one['steps']}" for one in (theirs, mine))
    return [
        f"epochs and steps were {then} and are {now}, but their product must stay: Spall's constant A, by which the "
        "first step is already scaled, depends on the number of all steps"
    ]


def _steps_of_both(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> int | None:
    """How many steps two trainings have in common, by their parts; None if they do not say."""
    steps = [one["steps"] for one in (mine, theirs) if isinstance(one.get("steps"), int)]
    return min(steps) if len(steps) == 2 else None


def _agree(mine: Any, theirs: Any, steps: int | None, name: str = "") -> bool:
    """Whether two parts of an identity are the same; what is said step by step, for the steps that both have."""
    if name.rpartition("__")[2] in BY_STEP:
        return _agree_step_by_step(mine, theirs, steps)
    if isinstance(mine, dict) and isinstance(theirs, dict):
        if mine.get("kind") == theirs.get("kind") == "values":
            return _agree_step_by_step(mine["values"], theirs["values"], steps)
        return mine.keys() == theirs.keys() and all(_agree(mine[key], theirs[key], steps, key) for key in mine)
    if isinstance(mine, list) and isinstance(theirs, list):
        return len(mine) == len(theirs) and all(_agree(*both, steps) for both in zip(mine, theirs, strict=True))
    return bool(mine == theirs)


def _agree_step_by_step(mine: Any, theirs: Any, steps: int | None) -> bool:
    """Whether two lists (or numbers) say the same for every step, or for the first ``steps``: the last of a list serves
    for all steps after it.
    """
    values, others = (one if isinstance(one, list) else [one] for one in (mine, theirs))
    longest = max(len(values), len(others))
    return all(
        values[min(step, len(values) - 1)] == others[min(step, len(others) - 1)]
        for step in range(longest if steps is None else min(steps, longest))
    )


class Kept(abc.ABC):
    """What was learned so far, as a model that a training with this identity can go on from."""

    def __init__(self, identity: Identity) -> None:
        self.identity = identity

    @abc.abstractmethod
    def _save(self, model: Model) -> None:
        """Put the model where it is kept, in place of the last one."""

    def write(
        self,
        history: Mapping[str, Sequence[float]],
        watched: Mapping[str, str],
        model_with: Callable[[Provenance], Model],
        state: Mapping[str, Any] | None = None,
    ) -> None:
        """Replace what is kept by this model. If that fails, the last one is still there."""
        settings = {"checkpoint": self.identity.parts} | ({} if state is None else {"state": state})
        self._save(model_with(Provenance(settings=settings, history=history, watched=watched, ties=TIES)))

    def write_rounds(
        self,
        history: Mapping[str, Sequence[float]],
        watched: Mapping[str, str],
        rounds: Sequence[Any],
        model_of: Callable[[Sequence[Any], Provenance], Model],
        *,
        whole: bool,
    ) -> None:
        """Keep all these rounds; ``whole``: none will follow."""
        self.write(history, watched, functools.partial(model_of, rounds))


class Checkpoint(Kept):
    """Where, how often, and from where on. Of several members the first has the file; nobody else looks for it."""

    def __init__(self, path: str | Path, every: int, resume: str, identity: Identity) -> None:
        super().__init__(identity)
        check_number("checkpoint_every", every, 1, whole=True)
        check_choice("resume", resume, ("auto", "never", "always"))
        self.path = Path(file_name(path))
        self.every = every
        self.resume = resume
        first_says(self._check_place)
        self._left: Extent | None = None  # the file as this training left it, if records can be appended to it
        self._digest = ""  # what it ends with
        self._rounds = 0  # how many it holds

    def _check_place(self) -> bytes:
        folder = self.path.resolve().parent
        if not folder.is_dir():  # better now than after the first trees
            raise SettingsError(f"{self.path}: a checkpoint cannot be written: there is no folder {folder}")
        self.identity.code.warn(f"the checkpoint {self.path}")
        check_replaceable(self.path, SettingsError)
        remove_leftovers(self.path)
        return b""

    def last(self) -> Model | None:
        """The model to go on from, or None to begin anew."""
        found: Model | None = None

        def content() -> bytes:
            nonlocal found
            found = self._found()
            return b"" if found is None or alone() else to_bytes(found)

        told = first_says(content)
        return from_bytes(told, displayed_path(self.path)) if told else found

    def _found(self) -> Model | None:
        if self.path.exists() and not is_model_file(self.path):
            raise SettingsError(f"{self.path} is no checkpoint and would be overwritten: choose another path")
        if self.resume == "never" or not self.path.exists():
            if self.resume == "always":
                raise SettingsError(
                    f"{self.path}: there is no checkpoint to resume from; ", Argument("resume", "auto"), " begins anew"
                )
            return None
        model = load(self.path)
        identity = model.provenance.settings.get("checkpoint")
        if not isinstance(identity, dict):
            raise SettingsError(f"{self.path} is a model, but no checkpoint: choose another path for it")
        differences = self.identity.differences(identity)
        if differences:
            raise SettingsError(
                f"{self.path}: the checkpoint belongs to another training: {'; '.join(differences)}. "
                "Train as before, or give another path, or ",
                Argument("resume", "never"),
                " to begin anew",
            )
        return model

    def _save(self, model: Model) -> None:
        if is_first():
            save(model, self.path)

    def write_rounds(
        self,
        history: Mapping[str, Sequence[float]],
        watched: Mapping[str, str],
        rounds: Sequence[Any],
        model_of: Callable[[Sequence[Any], Provenance], Model],
        *,
        whole: bool,
    ) -> None:
        """Append the rounds that the checkpoint lacks. If ``whole``, or if it is not as it was left: replace it."""
        if not is_first():
            return
        if whole or not self._append(history, rounds, model_of):
            super().write_rounds(history, watched, rounds, model_of, whole=whole)
            self._look_at_end()
        self._rounds = len(rounds)

    def _append(
        self,
        history: Mapping[str, Sequence[float]],
        rounds: Sequence[Any],
        model_of: Callable[[Sequence[Any], Provenance], Model],
    ) -> bool:
        if self._left is None:
            return False
        later = {name: values[self._rounds :] for name, values in history.items()}
        record, digest = record_of(model_of(rounds[self._rounds :], Provenance(history=later)), self._digest)
        self._left = append(self.path, record, self._left, ModelFileError)
        self._digest = digest
        return self._left is not None

    def _look_at_end(self) -> None:
        self._left = None
        if self.path.suffix == ".gz" or not self.path.is_file():
            return
        with open(self.path, "rb") as file:
            self._left = Extent.of(file.fileno())
            file.seek(-ENDING, os.SEEK_END)
            self._digest = last_digest(file.read())
