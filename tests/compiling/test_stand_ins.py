"""Stand-ins serve while little is to be done and nothing is compiled; what they do is what the kernels do."""

from __future__ import annotations

import os
import subprocess
import sys
from random import Random
from typing import Any

import numpy as np
import pytest

from rankforce.compiling import stand_ins
from rankforce.compiling.jit import PLAIN
from rankforce.compiling.stand_ins import StandIn, compiling_at_once
from rankforce.data.letor.usual_lines import MOST_TEXT, count_usual_lines, parse_usual_lines
from rankforce.kernels import letor
from rankforce.kernels.ranking.ordering import order_documents, reorder_documents, sort_documents


class Missing:
    is_on_disk = False

    def __init__(self, marks: int = 0) -> None:
        self.marks = marks

    def add_mark(self) -> None:
        self.marks += 1


class Kept(Missing):
    is_on_disk = True


def test_a_stand_in_serves_until_compiling_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.4, 1.0, 1.4, 2.0, 2.3])
    monkeypatch.setattr(stand_ins.time, "thread_time", lambda: next(clock))
    one = StandIn(lambda argument: argument)
    assert one.does(Missing(), [True])
    assert not one.does(Missing(), [False]), "it says that it has not done it"
    assert one.does(Missing(), [True])
    assert not one.does(Missing(), [True]), "1.1 seconds are spent"


def test_seconds_of_earlier_processes_count(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(np.arange(100) * 0.31)
    monkeypatch.setattr(stand_ins.time, "thread_time", lambda: float(next(clock)))
    disk = Missing()
    for process, calls in enumerate([2, 2, 0]):
        one = StandIn(lambda: True)
        for _ in range(calls):
            assert one.does(disk, []), process
    assert disk.marks == 24  # of 0.05 seconds; what is left of a process is forgotten
    assert not one.does(disk, []), "1.2 seconds are spent"


@pytest.mark.skipif(PLAIN, reason="nothing is compiled")
def test_small_work_every_day_is_compiled_in_the_end(tmp_path: Any) -> None:
    code = (
        "import numpy as np\n"
        "from rankforce.compiling import stand_ins\n"
        "stand_ins.SECONDS_WORTH_COMPILING, stand_ins.SECONDS_OF_A_MARK = 3e-5, 1e-5\n"
        "from rankforce.kernels.ranking.ordering import reorder_documents as kernel\n"
        "scores, order = np.arange(9.0), np.arange(9, dtype=np.int32)\n"
        "kernel(scores, np.arange(9, dtype=np.uint64), np.array([0, 9]), 0, 9 // 9, order)\n"
        "assert order.tolist() == list(range(8, -1, -1))\n"
        "print(kernel.compilations, kernel.marks > 0)\n"
    )
    told = []
    while len(told) < 20 and "1" not in told[-1:]:
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=True,
        )
        compilations, marked = done.stdout.split()
        assert marked == str(compilations == "0"), "marks are gone once it is compiled"
        told.append(compilations)
    assert len(told) > 1
    assert told == ["0"] * (len(told) - 1) + ["1"]


def test_what_is_on_disk_needs_none() -> None:
    calls: list[int] = []
    one = StandIn(lambda: calls.append(1) or True)
    assert not one.does(Kept(), [])
    assert not calls


def test_warming_up_compiles_at_once() -> None:
    one = StandIn(lambda: True)
    with compiling_at_once():
        assert not one.does(Missing(), [])
    assert one.does(Missing(), [])


@pytest.mark.parametrize("seed", range(20))
def test_documents_are_sorted_as_by_the_kernels(seed: int) -> None:
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 300 if seed % 4 == 0 else 12, size=9)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    scores = random.choice([-np.inf, -1.5, -0.0, 0.0, 1e-300, 2.0, np.inf, *random.normal(size=5)], size=starts[-1])
    tie_keys = random.integers(0, 4, size=starts[-1]).astype(np.uint64)
    orders = [np.full(starts[-1], -7, dtype=np.int32) for _ in range(2)]
    orders.append(np.arange(starts[-1], dtype=np.int32))
    first, last = (0, 9) if seed % 2 else (2, 7)
    assert sort_documents(scores, tie_keys, starts, first, last, orders[0])
    order_documents(scores, tie_keys, starts, first, last, orders[1])
    reorder_documents(scores, tie_keys, starts, first, last, orders[2])
    within = slice(starts[first], starts[last])
    np.testing.assert_array_equal(orders[0], orders[1])
    np.testing.assert_array_equal(orders[0][within], orders[2][within])


NUMBERS = (
    *("0", "1", "-1", "+2", "3.", ".5", "-0", "0.1", "1e3", "1E-3", "12345678901234567890", "1e-310", "3.4028235e38"),
    *(
        "0.1000000000000000055511151231257827",
        "-0.0",
        "00012",
        "1.00000005960464477539",
        "9007199254740993",
        "16777217",
    ),
)
MISSING = ("nan", "NaN", "NULL", "null")
ODD_WORDS = ["inf", "1e39", "-nan", "1_0", "x", "", "1e", "0x1", "١", "1e999", "--1"]
ODD_LINES = [
    "1 qid:1 2:1 1:1",
    "1 qid:1 1:1 1:2",
    "1 qid:1 0:1",
    "1 qid: 1:1",
    "a qid:1 1:1",
    "1\r2 qid:1",
    "1 qid:1 :3",
]


QUERIES = ("1", "-7", "007", "abc", "0", "-0", "1234567890123456789", "q:1")


def text_of(random: Random, *, odd: bool) -> bytes:
    lines = []
    for _ in range(random.randint(1, 8)):
        blank = random.choice([" ", "\t", "  "])
        if random.random() < 0.1:
            lines.append(random.choice(["", "   ", "# a comment", " \t#qid:1", "\r"]))
            continue
        count = random.randint(0, 6)
        indices = sorted(random.sample(range(1, 31), count)) if random.random() < 0.3 else range(1, count + 1)
        words = [random.choice(NUMBERS)]
        if random.random() < 0.9:
            words.append("qid:" + random.choice(QUERIES))
        words += [f"{index}:{random.choice((*NUMBERS, *MISSING))}" for index in indices]
        comment = random.choice(["", "# docid = 7", " #x", "#"])
        lines.append(blank * random.randint(0, 1) + blank.join(words) + comment)
    if odd:
        if random.random() < 0.5:
            lines.insert(random.randint(0, len(lines)), random.choice(ODD_LINES))
        else:
            lines.append(f"1 qid:3 1:{random.choice(ODD_WORDS)}")
    return "".join(line + random.choice(["\n", "\r\n"]) for line in lines).encode()


PARTS = ("features", "labels", "queries", "places of queries", "places of comments", "outcome")


def parsed(function: Any, text: bytes, width: int, first_index: int, last_index: int) -> tuple[Any, list[np.ndarray]]:
    before = b"9 qid:9 1:9\n"
    buffer = np.frombuffer(before + text, dtype=np.uint8)
    documents = text.count(b"\n") + 3
    rows = letor.ParsedRows(
        np.full((documents, width), 77.0, dtype=np.float32),
        np.full(documents, 77.0),
        np.zeros(documents, dtype=np.int64),
        np.full(documents, -7, dtype=np.int64),
        np.full(documents, -7, dtype=np.int64),
    )
    hard, outcome = np.empty(300, dtype=np.int64), np.full(letor.OUTCOME_SIZE, -7, dtype=np.int64)
    lines = letor.LineFormat(first_index, last_index, np.float32(0.5))
    done = function(buffer, len(before), len(buffer), 2, lines, rows, hard, outcome)
    for row, column, place in hard[: max(outcome[letor.HARDS], 0)].reshape(-1, 3):  # what the reader does to them
        word = bytes(buffer[place:]).split(maxsplit=1)[0].split(b"#")[0]
        if column == letor.LABEL_COLUMN:
            rows.labels[row] = float(word)
        elif column < width:
            rows.features[row, column] = float(word)
    numbers = rows.query_at == letor.NUMBER
    return done, [rows.features, rows.labels, rows.queries * numbers, rows.query_at, rows.comment_at, outcome[:6]]


@pytest.mark.compiled_only
@pytest.mark.parametrize("width", [0, 3, 30])
def test_usual_lines_are_read_as_by_the_kernel(width: int) -> None:
    random = Random(width)
    served = 0
    for number in range(300):
        text = text_of(random, odd=number % 3 == 0)
        limits = (random.randint(0, 1), random.choice([3, 10**9]))
        done, mine = parsed(parse_usual_lines, text, width, *limits)
        counts = [np.zeros(letor.OUTCOME_SIZE, dtype=np.int64) for _ in range(2)]
        assert count_usual_lines(np.frombuffer(text, dtype=np.uint8), 0, len(text), counts[0])
        letor.count_lines(np.frombuffer(text, dtype=np.uint8), 0, len(text), counts[1])
        np.testing.assert_array_equal(*counts)
        if not done:
            continue
        served += 1
        _, theirs = parsed(letor.parse_lines, text, width, *limits)
        for name, a, b in zip(
            ("features", "labels", "queries", "query", "comment", "outcome"), mine, theirs, strict=True
        ):
            np.testing.assert_array_equal(a, b, err_msg=f"{name} of {text!r}", strict=True)
        np.testing.assert_array_equal(np.signbit(mine[0]), np.signbit(theirs[0]))
    assert served > 100
    assert served < 280, "odd lines are the kernel's"


def test_numbers_without_end_are_the_kernels() -> None:
    """Python refuses to read whole numbers of thousands of digits."""
    for text in (b"1 qid:1 %s:1\n", b"1 qid:%s 1:1\n"):
        done, _ = parsed(parse_usual_lines, text % (b"1" * 5000), 3, 1, 10**9)
        assert done == (b"qid:%s" in text), "an id is text"


def test_much_text_is_the_kernels() -> None:
    buffer = np.frombuffer(b"1\n" * (MOST_TEXT // 2 + 1), dtype=np.uint8)
    assert not count_usual_lines(buffer, 0, len(buffer), np.zeros(letor.OUTCOME_SIZE, dtype=np.int64))


SMALL_WORK = """
import sys
import rankforce as rf
data = rf.read("small.txt")
rf.inspect(data)
assert "numba" not in sys.modules, "a small file is read and inspected without the compiler"
found = rf.evaluate("1", data, "NDCG@10").mean["NDCG@10"]
from rankforce.compiling.jit import KERNELS
compiled = sorted({kernel.name for kernel in KERNELS if kernel.compilations})
print(found.hex(), compiled)
"""


@pytest.mark.skipif(PLAIN, reason="nothing is compiled")
def test_small_work_compiles_little_and_finds_the_same(tmp_path: Any) -> None:
    import rankforce as rf

    data = rf.make_artificial(queries=50, documents=10, features=5, seed=2)
    data.write(tmp_path / "small.txt")
    done = subprocess.run(
        [sys.executable, "-c", SMALL_WORK],
        cwd=tmp_path,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    value = rf.evaluate("1", rf.read(tmp_path / "small.txt"), "NDCG@10").mean["NDCG@10"]
    assert done.stdout.split(maxsplit=1) == [value.hex(), "['query_normalisers', 'query_values']\n"]
