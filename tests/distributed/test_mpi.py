"""Processes that mpiexec starts train the model of one machine."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MPIEXEC = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))

pytestmark = [
    pytest.mark.compiled_only,
    pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="needs mpi4py: pip install '.[mpi]'"),
    pytest.mark.skipif(MPIEXEC is None, reason="needs mpiexec: pip install mpich"),
]

TRAINING = """
import sys
import numpy as np
from mpi4py import MPI
import rankforce as rf
from rankforce.collective import gathered, total, union
from rankforce.distributed.mpi import training_by_mpi

def check(members):
    rank, size = members.rank, members.size
    values = np.arange(60).reshape(3, 20) * (rank + 1)
    assert (members.add(values) == np.arange(60).reshape(3, 20) * size * (size + 1) // 2).all()
    assert members.highest(np.array([rank, -rank])).tolist() == [size - 1, 0]
    edges = np.arange(size + 1) ** 2 * 3
    part = members.scatter_add(np.arange(edges[-1]) + rank, edges)
    assert (part == np.arange(edges[rank], edges[rank + 1]) * size + size * (size - 1) // 2).all()
    sizes = np.add.outer(np.arange(size), 2 * np.arange(size))  # from whom, to whom
    sent = np.concatenate([np.full(count, 100 * rank + to) for to, count in enumerate(sizes[rank])]).astype(np.uint32)
    came = np.zeros(sizes[:, rank].sum(), dtype=np.uint32)
    members.all_to_all(sent, np.append(0, sizes[rank].cumsum()), came, np.append(0, sizes[:, rank].cumsum()))
    assert came.tolist() == [100 * source + rank for source in range(size) for _ in range(sizes[source, rank])]
    assert members.gather(b"x" * rank) == [b"x" * place for place in range(size)]
    assert total(1) == size and union(np.array([rank, -1])).tolist() == [-1, *range(size)]
    assert gathered(np.full((rank, 2), rank)).shape == (size * (size - 1) // 2, 2)

data = rf.make_artificial(queries=20, documents=(3, 25), features=8, seed=3)
world = MPI.COMM_WORLD
for communicator in (world, world.Split(world.rank < 2)):
    with training_by_mpi(communicator) as members:
        check(members)
        mine = data.take_queries(np.arange(members.rank, data.n_queries, members.size))
        ranker = rf.LambdaMART(n_trees=3, growth="leafwise", min_documents=4, progress=False).fit(mine)
    ranker.save(f"{sys.argv[1]}/{members.size}-{members.rank}.json")
"""


def mpiexec(count, code, *arguments):
    # mpi4py's wheel takes the MPI library that stands beside it, if it was told where programs are
    command = [MPIEXEC, "-n", str(count), sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)


def test_one_two_or_three_processes_train_the_model_of_one(tmp_path):
    import rankforce as rf

    data = rf.make_artificial(queries=20, documents=(3, 25), features=8, seed=3)
    alone = rf.LambdaMART(n_trees=3, growth="leafwise", min_documents=4, progress=False).fit(data)
    alone.save(tmp_path / "alone.json")
    done = mpiexec(3, TRAINING, tmp_path)
    assert done.returncode == 0, done.stderr
    files = {path.name: path.read_bytes() for path in tmp_path.glob("*-*.json")}
    assert sorted(files) == ["1-0.json", "2-0.json", "2-1.json", "3-0.json", "3-1.json", "3-2.json"]
    assert set(files.values()) == {(tmp_path / "alone.json").read_bytes()}


def test_an_error_of_one_ends_all():
    code = """
from rankforce.collective import total
from rankforce.distributed.mpi import training_by_mpi
with training_by_mpi() as members:
    if members.rank == 1:
        raise KeyError("only here")
    total(1)
print("went on")
"""
    done = mpiexec(2, code)
    assert done.returncode != 0
    assert "KeyError: 'only here'" in done.stderr
    assert "went on" not in done.stdout


def test_processes_that_are_unlike_are_refused_by_all():
    """By what Dask's workers are compared by, too."""
    code = """
import sys
from rankforce.distributed import mpi
from rankforce.errors import SettingsError
real = mpi.traits
if mpi._mpi().COMM_WORLD.Get_rank() == 1:
    mpi.traits = lambda: real() | {sys.argv[1]: "of another kind"}
try:
    with mpi.training_by_mpi():
        print("went on")
except SettingsError as error:
    print(error)
"""
    for trait in ("C library", "NumPy's processor features", "version of numpy"):
        done = mpiexec(3, code, trait)
        assert done.returncode == 0, done.stderr
        assert "went on" not in done.stdout
        assert done.stdout.count(f"processes differ in their {trait}") == 3
        assert done.stdout.count("process 1 on ") == 3


def test_parts_with_other_columns_are_refused_by_all():
    """Who has weights would wait for a sum that the others know nothing of."""
    code = """
import numpy as np
import rankforce as rf
from rankforce.distributed.mpi import training_by_mpi
data = rf.make_artificial(queries=20, documents=(3, 25), features=8, seed=3)
try:
    with training_by_mpi() as members:
        mine = data.take_queries(np.arange(members.rank, data.n_queries, members.size))
        if members.rank == 1:
            mine = mine.replace(query_weights=np.ones(mine.n_queries))
        rf.LambdaMART(n_trees=3, progress=False).fit(mine)
    print("went on")
except rf.DataError as error:
    print(error)
"""
    done = mpiexec(3, code)
    assert done.returncode == 0, done.stderr
    assert "went on" not in done.stdout
    assert done.stdout.count("weights of queries in the training data: member 1 has some, the others none") == 3
