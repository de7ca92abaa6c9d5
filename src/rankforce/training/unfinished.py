"""What a training of several had learned when it lost a member: it goes on with others, to the same bytes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rankforce.errors import ModelFileError, PeerLostError
from rankforce.files.atomic_writes import atomic_write
from rankforce.models.model import Model
from rankforce.models.storage import to_bytes
from rankforce.training.checkpoint import Identity, Kept
from rankforce.training.course import Course


@dataclasses.dataclass(frozen=True)
class Unfinished:
    """A checkpoint in memory, small enough to be sent.

    steps : trees (or models) that are done
    content : the bytes of a checkpoint file

    Members learn the same, so that of several that were left the one with the most steps is right: the others lost
    their connection a moment earlier. Written to a file by whoever is the first member (rank 0) next, it is what
    ``fit(..., checkpoint=path)`` goes on from, on any number of members, or on one machine.
    """

    steps: int
    content: bytes

    def save(self, path: str | Path) -> None:
        """Write the checkpoint file."""
        with atomic_write(path, ModelFileError) as file:
            file.write(self.content)


@contextmanager
def handing_over(course: Course, identity: Identity | None) -> Iterator[None]:
    """If a member is lost inside the block, the error has what the course learned by then."""
    try:
        yield
    except PeerLostError as error:
        error.unfinished = None  # not that of a training within this one
        if identity is not None and course.done:
            kept = _InMemory(identity)
            course.write(kept, last=True)
            error.unfinished = Unfinished(course.done, kept.content)
        raise


class _InMemory(Kept):
    content = b""

    def _save(self, model: Model) -> None:
        self.content = to_bytes(model)
