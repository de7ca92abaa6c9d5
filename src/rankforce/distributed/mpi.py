"""Members of a training that exchange integers by MPI, where that is how processes are started.

::

    # mpiexec -n 16 python train.py
    import rankforce as rf
    from rankforce.distributed.mpi import training_by_mpi

    with training_by_mpi() as members:
        mine = rf.read(f"part-{members.rank}.parquet")  # whole queries: none is in two parts
        model = rf.LambdaMART().fit(mine).model_
    if members.rank == 0:
        model.save("model.json")

MPI ends all processes when one is lost: give ``fit`` a ``checkpoint``, and start again. Processes must be alike in what
decides the last bits of a model (``traits.py``), as Dask's workers must. Their parts must have the same columns, and
the same lists of categories: read them with ``like=`` one data set.
"""

from __future__ import annotations

import contextlib
import json
import platform
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankforce.collective import using_collective
from rankforce.distributed.traits import refuse_unlike, traits
from rankforce.errors import SettingsError, missing_dependency
from rankforce.training.members_alike import UnlikeDataError


class MPIMembers:
    """A collective of the processes of an MPI communicator: see ``rankforce.collective.Collective``.

    Parameters
    ----------
    communicator : mpi4py.MPI.Comm, optional
        By default that of all processes. A copy of it is used, so that no message of the user's is taken for one of
        ours.

    ``calls`` counts what was exchanged.
    """

    def __init__(self, communicator: Any = None) -> None:
        self._mpi = _mpi()
        self._communicator = (self._mpi.COMM_WORLD if communicator is None else communicator).Dup()
        self.rank: int = self._communicator.Get_rank()
        self.size: int = self._communicator.Get_size()
        self.calls = 0

    def close(self) -> None:
        """Let go of the communicator; everybody must."""
        self._communicator.Free()

    def add(self, values: np.ndarray) -> np.ndarray:
        """The sum of everybody's int64 arrays."""
        return self._reduce(values, self._mpi.SUM)

    def highest(self, values: np.ndarray) -> np.ndarray:
        """The maximum of everybody's int64 arrays."""
        return self._reduce(values, self._mpi.MAX)

    def scatter_add(self, values: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """The part of everybody's sum from ``edges[rank]`` on."""
        self.calls += 1
        counts = np.diff(edges)
        part = np.empty(int(counts[self.rank]), dtype=np.int64)
        self._communicator.Reduce_scatter(self._whole(values), self._whole(part), counts.tolist(), self._mpi.SUM)
        return part

    def all_to_all(self, values: np.ndarray, edges: np.ndarray, came: np.ndarray, places: np.ndarray) -> None:
        """Give everybody a part of uint32 ``values``, and have everybody's in ``came``."""
        self.calls += 1
        given, taken = (
            [array, (np.diff(ends).tolist(), ends[:-1].tolist()), self._mpi.UINT32_T]
            for array, ends in ((values, edges), (came, places))
        )
        self._communicator.Alltoallv(given, taken)

    def gather(self, content: bytes) -> list[bytes]:
        """What everybody gave, by rank."""
        self.calls += 2
        sizes = np.zeros(self.size, dtype=np.int64)
        self._communicator.Allgather(self._whole(np.array([len(content)])), self._whole(sizes))
        ends = np.cumsum(sizes)
        joined = bytearray(int(ends[-1]))
        placed = [joined, (sizes.tolist(), (ends - sizes).tolist()), self._mpi.BYTE]
        self._communicator.Allgatherv([content, self._mpi.BYTE], placed)
        return [bytes(joined[end - size : end]) for size, end in zip(sizes.tolist(), ends.tolist(), strict=True)]

    def _reduce(self, values: np.ndarray, operation: Any) -> np.ndarray:
        self.calls += 1
        given = np.ascontiguousarray(values)
        result = np.empty_like(given)
        self._communicator.Allreduce(self._whole(given), self._whole(result), operation)
        return result.reshape(values.shape)

    def _whole(self, values: np.ndarray) -> list[Any]:
        if values.dtype != np.int64:
            raise TypeError(f"members exchange int64 arrays, not {values.dtype}")
        return [values, self._mpi.INT64_T]


@contextlib.contextmanager
def training_by_mpi(communicator: Any = None) -> Iterator[MPIMembers]:
    """Train together with all processes of a communicator inside the block; the error of one ends all of them.

    Processes that are unlike, whose models would differ in the last bits, are refused by all; so are data sets with
    different columns, by ``fit``.
    """
    members = MPIMembers(communicator)
    try:
        _check_alike(members)
    except SettingsError:
        members.close()  # all raise it
        raise
    try:
        with using_collective(members):
            yield members
    except UnlikeDataError:
        members.close()  # all raise it
        raise
    except BaseException:
        if members.size == 1:
            raise
        traceback.print_exc()  # nobody else will: the others are ended with this process
        sys.stderr.flush()
        members._communicator.Abort(1)
        raise
    members.close()


def _check_alike(members: MPIMembers) -> None:
    """Raise, in every process, unless all would give a model the same last bits."""
    mine = json.dumps([platform.node(), traits()]).encode()
    told = [json.loads(one) for one in members.gather(mine)]
    refuse_unlike({f"process {rank} on {host}": found for rank, (host, found) in enumerate(told)}, "processes")


def _mpi() -> Any:
    try:
        from mpi4py import MPI
    except ImportError as error:  # also where there is no MPI library
        raise missing_dependency("mpi4py", "mpi", f"training by MPI ({error})") from error
    return MPI
