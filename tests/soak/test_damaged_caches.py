"""Random damage to random files of the kernel cache: the next training compiles what it must and has the same bytes."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FACTOR = float(os.environ.get("RANKFORCE_SOAK", "1"))

pytestmark = pytest.mark.compiled_only

TRAIN = """
import json, sys
import rankforce as rf
from rankforce.compiling import jit
data = rf.make_artificial(queries=20, documents=10, features=4, seed=0)
getattr(rf, sys.argv[1])(**json.loads(sys.argv[2]), progress=False).fit(data, validation=data).save(sys.argv[3])
print(sum(kernel.compilations for kernel in jit.KERNELS))
"""
RANKERS = {"PRank": {"epochs": 2}, "LambdaMART": {"n_trees": 2}, "RankNet": {"epochs": 2}}


def train(ranker, folder):
    """(digest of the model, how many kernels were compiled) of a process with its cache in ``folder``."""
    model = folder / "model.json"
    finished = subprocess.run(
        [sys.executable, "-c", TRAIN, ranker, json.dumps(RANKERS[ranker]), str(model)],
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert finished.returncode == 0, finished.stderr
    return hashlib.sha256(model.read_bytes()).hexdigest(), int(finished.stdout)


def cut(file, generator):
    os.truncate(file, generator.randrange(file.stat().st_size))


def empty(file, generator):
    os.truncate(file, 0)


def zero(file, generator):
    size = file.stat().st_size
    begin = generator.randrange(size)
    content = file.read_bytes()
    file.write_bytes(content[:begin] + bytes(size - begin))


def flip(file, generator):
    content = bytearray(file.read_bytes())
    for _ in range(generator.choice([1, 1, 5])):
        content[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
    file.write_bytes(content)


def prolong(file, generator):
    with file.open("ab") as open_file:
        open_file.write(generator.randbytes(generator.randrange(1, 100)))


def delete(file, generator):
    file.unlink()


def replace_by_folder(file, generator):
    file.unlink()
    file.mkdir()
    if generator.random() < 0.5:
        (file / "file").write_text("")


def exchange(file, generator):
    """The compiled form of another kernel, under this one's name."""
    other = generator.choice(sorted(path for path in file.parent.glob("*.nbc") if path.is_file() and path != file))
    shutil.copyfile(other, file)


DAMAGES = (cut, empty, zero, flip, prolong, delete, replace_by_folder, exchange)


def check_damage(ranker, warm, expected, folder, seed, count=None):
    """One training after damage to ``count`` files (None: a random number) of a copy of the cache ``warm``."""
    generator = random.Random(seed)
    shutil.copytree(warm, folder)
    files = sorted(folder.rglob("*.nbc"))
    chosen = generator.sample(files, count or generator.randrange(1, len(files) + 1))
    done = {}
    for number, file in enumerate(chosen):
        damage = DAMAGES[number % len(DAMAGES)] if count else generator.choice(DAMAGES)
        done[file.name] = damage.__name__
        damage(file, generator)
    digest, compiled = train(ranker, folder)
    assert digest == expected, (seed, done)
    assert compiled >= len(done), (seed, done)
    shutil.rmtree(folder)


def warmed(ranker, folder):
    folder.mkdir()
    digest, compiled = train(ranker, folder)
    assert compiled > 0
    return digest


@pytest.mark.soak
def test_a_damaged_cache_is_no_error(tmp_path: Path):
    expected = warmed("PRank", tmp_path / "warm")
    count = min(len(DAMAGES), len(list((tmp_path / "warm").rglob("*.nbc"))))
    check_damage("PRank", tmp_path / "warm", expected, tmp_path / "damaged", 0, count)


@pytest.mark.soak
@pytest.mark.parametrize("ranker", RANKERS)
def test_random_damage(tmp_path, ranker):
    expected = warmed(ranker, tmp_path / "warm")
    cases = max(1, round(15 * FACTOR))
    for seed in range(cases):
        check_damage(ranker, tmp_path / "warm", expected, tmp_path / "damaged", seed)
    print(f"{cases} damaged caches of {ranker}")
