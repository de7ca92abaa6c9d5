"""Files that are damaged at random: each must be refused with our error, or be a model that scores."""

from __future__ import annotations

import contextlib
import json
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import rankforce as rf
from rankforce.errors import ModelFileError, RankforceWarning
from rankforce.models.tree_ensemble import TreeEnsemble

ODD: list[Any] = [
    0,
    1,
    -1,
    2,
    3,
    2**31,
    2**63,
    10**400,
    0.5,
    1e300,
    -1e300,
    1e-45,
    True,
    None,
    "",
    "x",
    "1",
    "-1",
    [],
    {},
]
ODD += [[0], {"nodeid": 0}, "NaN", [[]], "[1,2]"]
WORDS = [
    b"nan",
    b"inf",
    b"-1",
    b"99999999999",
    b"1e400",
    b"",
    b"=",
    b" ",
    b"\n",
    b"\x00",
    b"\xff",
    b"<",
    b">",
    b"}",
    b"[",
]


def damaged(data: bytes, random_source: random.Random) -> bytes:
    """The bytes with one thing changed: a byte, a word, a part that is gone or stands twice; or a value of JSON."""
    if data[:1] in b"{[" and data[1:2] != b"L" and random_source.random() < 0.6:
        with contextlib.suppress(ValueError, IndexError, UnicodeDecodeError):  # it may be damaged already
            document = json.loads(data)
            _damage(document, random_source)
            return json.dumps(document).encode()
    kind, place = random_source.randrange(5), random_source.randrange(len(data))
    end = min(len(data), place + random_source.choice([1, 2, 8, 40]))
    if kind == 0:
        return data[:place]
    if kind == 1:
        return data[:place] + bytes([random_source.randrange(256)]) + data[place + 1 :]
    if kind == 2:
        return data[:place] + data[end:]
    if kind == 3:
        return data[:place] + data[place:end] * 2 + data[end:]
    return data[:place] + random_source.choice(WORDS) + data[end:]


def _damage(document: Any, random_source: random.Random) -> None:
    """Change one entry somewhere within a document."""
    while True:
        keys = list(document) if isinstance(document, dict) else list(range(len(document)))
        key = random_source.choice(keys)
        inner = document[key]
        if isinstance(inner, (dict, list)) and inner and random_source.random() < 0.8:
            document = inner
            continue
        if random_source.random() < 0.2:
            del document[key]
        else:
            document[key] = random_source.choice(ODD)
        return


def check(data: bytes, path: Path) -> bool:
    """Whether damaged bytes are still a model; an error that is not ours, or a score that is no number, fails."""
    path.write_bytes(data)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "(?s).*names of categories are left out", RankforceWarning)
            model = rf.load(path)
    except ModelFileError:
        return False
    assert isinstance(model, TreeEnsemble)
    rows = np.random.default_rng(1).standard_normal((4, model.n_features)).astype(np.float32)
    rows[:, [name in model.categories for name in model.feature_names]] = [[0.0], [-1.0], [np.nan], [0.0]]
    rows[:, sorted(model.unnamed_categories)] = 2.0
    assert np.isfinite(model.predict(rows)).all()
    return True
