"""LETOR text against a slow reference reader, scikit-learn's reader, and itself written and read again."""

from __future__ import annotations

import gzip
import importlib.util
import os
import random
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rankforce as rf
from rankforce.console import byte_progress
from rankforce.data.letor import reading as letor
from rankforce.data.letor import stretches
from rankforce.data.letor.reading import read_letor
from rankforce.data.letor.writing import write_letor
from rankforce.errors import DataError, FileFormatError, RankforceError, SettingsError
from rankforce.files import streams
from rankforce.threads import using_threads

_spec = importlib.util.spec_from_file_location("reference_letor", Path(__file__).with_name("reference_letor.py"))
assert _spec is not None
assert _spec.loader is not None
reference = importlib.util.module_from_spec(_spec)
sys.modules["reference_letor"] = reference
_spec.loader.exec_module(reference)


def shared_data() -> Path:
    given = os.environ.get("RANKFORCE_DATA")
    return Path(given) if given else Path(__file__).parents[3].parent / "shared" / "data"


def read_text(folder: Path, text: str | bytes, **options: object) -> rf.Dataset:
    path = folder / "data.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_letor(path, **options)


def check_against_reference(folder: Path, text: bytes) -> bool:
    """Read both ways; whether the text was accepted."""
    try:
        expected = reference.read_reference(text)
    except reference.Refused:
        with pytest.raises(RankforceError):
            read_text(folder, text)
        return False
    width = max((max(row, default=0) for row in expected.rows), default=0)
    if 4 * width * len(expected.rows) > letor.DENSE_BYTES:
        with pytest.raises(RankforceError, match="makes a matrix"):
            read_text(folder, text)
        return False
    data = read_text(folder, text)
    np.testing.assert_array_equal(data.features.view(np.uint32) << 1, expected.matrix(width).view(np.uint32) << 1)
    np.testing.assert_array_equal(np.signbit(data.features), np.signbit(expected.matrix(width)))
    assert data.labels["grades"].tolist() == expected.labels
    assert [str(one) for one in data.qid] == expected.queries
    if any(expected.document_ids):
        assert data.document_ids.tolist() == expected.document_ids
    else:
        assert data.document_ids is None
    return True


PLAIN = b"""2 qid:1 1:3 2:0.5 4:-1e-3 # d1
0 qid:1 1:0.25 3:7
1 qid:2 2:1e5 4:12345.678
"""


def test_a_plain_file(tmp_path: Path) -> None:
    data = read_text(tmp_path, PLAIN)
    np.testing.assert_array_equal(
        data.features, np.array([[3, 0.5, 0, -1e-3], [0.25, 0, 7, 0], [0, 1e5, 0, 12345.678]], dtype=np.float32)
    )
    assert data.labels["grades"].tolist() == [2, 0, 1]
    assert data.query_ids.tolist() == [1, 2]
    assert data.document_ids.tolist() == ["d1", "", ""]
    assert data.feature_names == ("1", "2", "3", "4")


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.rstrip(b"\n"),
        b"\xef\xbb\xbf" + PLAIN,
        b"# head\n\n  \t\n" + PLAIN.replace(b"\n", b"\n\n#c\n") + b"\n \n",
        PLAIN.replace(b" ", b"\t").replace(b"#\t", b"# "),
        b"  " + PLAIN.replace(b" ", b"   ").replace(b"\n", b" \t\n"),
        PLAIN.replace(b"2 qid", b"+2 qid").replace(b" 1:3", b" 01:3.000"),
    ],
    ids=["crlf", "no final line feed", "byte order mark", "blank and comment lines", "tabs", "blanks", "spellings"],
)
def test_the_same_data_in_other_dress(tmp_path: Path, text: bytes) -> None:
    assert read_text(tmp_path, text).fingerprint == read_text(tmp_path, PLAIN).fingerprint
    assert read_text(tmp_path, text).document_ids[0] == "d1"


def test_absent_and_missing_features(tmp_path: Path) -> None:
    text = "1 qid:1 1:NULL 3:nan 4:-NaN\n1 qid:1 2:null\n"
    zero = read_text(tmp_path, text).features
    np.testing.assert_array_equal(zero, np.array([[np.nan, 0, np.nan, np.nan], [0, np.nan, 0, 0]], dtype=np.float32))
    missing = read_text(tmp_path, text, absent="missing").features
    assert np.isnan(missing).all()


def test_unlabelled_documents(tmp_path: Path) -> None:
    text = "nan qid:1 1:1\n0.5 qid:1 1:2\n"
    with pytest.raises(FileFormatError, match="unlabelled="):
        read_text(tmp_path, text)
    labels = read_text(tmp_path, text, unlabelled="allow").labels["grades"]
    np.testing.assert_array_equal(labels, [np.nan, 0.5])


def test_features_from_zero_and_a_given_width(tmp_path: Path) -> None:
    data = read_text(tmp_path, "1 qid:1 0:5 2:6\n", first_index=0, n_features=4)
    np.testing.assert_array_equal(data.features, [[5, 0, 6, 0]])
    assert data.feature_names == ("0", "1", "2", "3")
    with pytest.raises(FileFormatError, match="n_features=2"):
        read_text(tmp_path, "1 qid:1 1:5 3:6\n", n_features=2)


def test_queries_in_any_order_and_as_text(tmp_path: Path) -> None:
    data = read_text(tmp_path, "1 qid:b 1:1\n0 qid:a 1:2\n2 qid:b 1:3\n")
    assert data.query_ids.tolist() == ["b", "a"]
    assert data.rows.tolist() == [0, 2, 1]
    assert read_text(tmp_path, "1 qid:007 1:1\n1 qid:7 1:2\n").query_ids.tolist() == ["007", "7"]
    assert read_text(tmp_path, "1 qid:-3 1:1\n1 qid:0 1:2\n").query_ids.tolist() == [-3, 0]
    assert read_text(tmp_path, f"1 qid:{2**70} 1:1\n").query_ids.tolist() == [str(2**70)]


@pytest.mark.parametrize(
    ("comment", "identity"),
    [
        ("#docid = GX008-86-4444840 inc = 1 prob = 0.08", "GX008-86-4444840"),
        ("# docid=D7", "D7"),
        ("# http://a.b/c#d a page", "http://a.b/c#d"),
        ("#docid", "docid"),
        ("# docid =", "docid"),
        ("#", ""),
    ],
)
def test_document_ids(tmp_path: Path, comment: str, identity: str) -> None:
    data = read_text(tmp_path, f"1 qid:1 1:1 {comment}\n0 qid:1 1:1 # other\n")
    assert data.document_ids.tolist() == [identity, "other"]


def test_bytes_that_are_not_utf8_in_a_comment(tmp_path: Path) -> None:
    assert read_text(tmp_path, b"1 qid:1 1:1 # caf\xe9\n").document_ids.tolist() == ["caf\ufffd"]


BROKEN = {
    "index 0": ("1 qid:1 0:3\n", 9, "0:3", "below 1"),
    "negative index": ("1 qid:1 -2:3\n", 9, "-2:3", "below 1"),
    "index is a word": ("1 qid:1 a:3\n", 9, "a:3", "not a whole number"),
    "fractional index": ("1 qid:1 1.5:3\n", 9, "1.5:3", "not a whole number"),
    "repeated index": ("1 qid:1 1:3 1:4\n", 13, "1:4", "twice"),
    "decreasing index": ("1 qid:1 2:3 1:4\n", 13, "1:4", "smaller"),
    "no colon": ("1 qid:1 2\n", 9, "2", "without a colon"),
    "value is a word": ("1 qid:1 1:x\n", 11, "x", "not a number"),
    "value with an underscore": ("1 qid:1 1:1_0\n", 11, "1_0", "not a number"),
    "hexadecimal value": ("1 qid:1 1:0x10\n", 11, "0x10", "not a number"),
    "two points": ("1 qid:1 1:1.2.3\n", 11, "1.2.3", "not a number"),
    "empty exponent": ("1 qid:1 1:1e\n", 11, "1e", "not a number"),
    "no value": ("1 qid:1 1: 2:3\n", 11, "", "absent"),
    "infinite value": ("1 qid:1 1:inf\n", 11, "inf", "infinite"),
    "value beyond float32": ("1 qid:1 1:-3.5e38\n", 11, "-3.5e38", "beyond float32"),
    "value far beyond": ("1 qid:1 1:1e999\n", 11, "1e999", "beyond float32"),
    "label is a word": ("good qid:1 1:1\n", 1, "good", "label is not a number"),
    "nan label": ("nan qid:1 1:1\n", 1, "nan", "label is missing"),
    "infinite label": ("-inf qid:1 1:1\n", 1, "-inf", "label is infinite"),
    "empty query": ("1 qid: 1:1\n", 3, "qid:", "empty"),
    "misplaced query": ("1 qid:1 1:1 qid:2\n", 13, "qid:2", "directly after the label"),
    "long query": (f"1 qid:{'a' * 300} 1:1\n", 7, "a" * 200, "256 bytes"),
    "query with a no-break space": ("1 qid:1\u00a01:1\n", 7, "1\u00a01:1", "white space of another kind"),
    "absurd index": ("1 qid:1 4000000000:1\n", 9, "4000000000:1", "too large"),
    "carriage return": ("1 qid:1 1:1 # a\r0 qid:1 1:1\n", 16, "", "carriage return"),
    "binary": ("\x00\x01\x02\n", 1, "\x00\x01\x02", "not a text file"),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("before", [0, 3, 20_000])
def test_a_broken_line_is_named(tmp_path: Path, name: str, before: int) -> None:
    text, column, word, problem = BROKEN[name]
    good = "2 qid:1 1:0.5 2:3\n"
    with pytest.raises(FileFormatError, match=problem) as caught:
        read_text(tmp_path, good * before + text + good)
    assert (caught.value.line, caught.value.column) == (before + 1, column)
    assert caught.value.text == word
    assert caught.value.remedy
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_first_of_two_offences_is_named(tmp_path: Path, threads: int) -> None:
    good = "2 qid:1 1:0.5 2:3\n"
    with using_threads(threads), pytest.raises(FileFormatError) as caught:
        read_text(tmp_path, good * 30_000 + "x qid:1\n" + good * 9_000 + "1 qid:1 0:1\n")
    assert caught.value.line == 30_001


def test_mixed_and_absent_queries(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="lines before it have one") as caught:
        read_text(tmp_path, "# c\n1 qid:1 1:1\n\n0 1:1\n")
    assert (caught.value.line, caught.value.column) == (4, 1)
    with pytest.raises(FileFormatError, match="lines before it have none"):
        read_text(tmp_path, "1 1:1\n0 qid:1 1:1\n")
    with pytest.raises(FileFormatError, match="no line says which query"):
        read_text(tmp_path, "1 1:1\n0 1:1\n")


@pytest.mark.parametrize(
    ("text", "problem"), [(b"", "is empty"), (b"# a\n\n", "no document"), (b"\xef\xbb\xbf", "empty")]
)
def test_files_without_documents(tmp_path: Path, text: bytes, problem: str) -> None:
    with pytest.raises(FileFormatError, match=problem):
        read_text(tmp_path, text)


def test_a_matrix_that_the_text_does_not_justify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "1 qid:1 1:1\n0 qid:1 20000000:1\n"
    with pytest.raises(FileFormatError, match=r"20000000.*160 MB") as caught:
        read_text(tmp_path, text)
    assert caught.value.line == 2
    monkeypatch.setattr(letor, "DENSE_BYTES", 1000)
    with pytest.raises(FileFormatError, match="allow_wide"):
        read_text(tmp_path, "1 qid:1 900:1\n")
    assert read_text(tmp_path, "1 qid:1 900:1\n", allow_wide=True).n_features == 900


@pytest.mark.parametrize("name", ["data.txt.query", "data.txt.group"])
def test_query_sizes_beside_the_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("2\r\n\n1")
    assert read_text(tmp_path, "1 1:1\n0 1:2\n2 1:3").query_sizes.tolist() == [2, 1]
    with pytest.raises(FileFormatError, match="add up to 3"):
        read_text(tmp_path, "1 1:1\n0 1:2\n")


def test_query_sizes_named_and_broken(tmp_path: Path) -> None:
    sizes = tmp_path / "sizes"
    sizes.write_text("1\n1\n")
    assert read_text(tmp_path, "1 1:1\n0 1:2\n", group=sizes).n_queries == 2
    with pytest.raises(DataError, match="group="):
        read_text(tmp_path, PLAIN, group=sizes)
    for text in ("1\nx\n", "1\n1.0\n", "1\n-1\n", "1\n0\n", "1\n1 1\n"):
        sizes.write_text(text)
        with pytest.raises(FileFormatError, match="positive whole number") as caught:
            read_text(tmp_path, "1 1:1\n0 1:2\n", group=sizes)
        assert caught.value.line == 2
    (tmp_path / "data.txt.query").write_text("2")
    (tmp_path / "data.txt.group").write_text("2")
    with pytest.raises(DataError, match="choose one"):
        read_text(tmp_path, "1 1:1\n0 1:2\n")


def test_gzip(tmp_path: Path) -> None:
    path = tmp_path / "data.txt.gz"
    lines = PLAIN.splitlines(keepends=True)
    path.write_bytes(gzip.compress(lines[0]) + gzip.compress(b"".join(lines[1:])))
    assert read_letor(path).fingerprint == read_text(tmp_path, PLAIN).fingerprint
    whole = gzip.compress(PLAIN * 1000)
    for size in (3, 12, len(whole) // 2, len(whole) - 4):
        path.write_bytes(whole[:size])
        with pytest.raises(FileFormatError, match=r"cut off|damaged"):
            read_letor(path)
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 255
    path.write_bytes(damaged)
    with pytest.raises(RankforceError):
        read_letor(path)


NUMBERS = [
    "0", "0.1", ".5", "5.", "1e22", "1e23", "1e-22", "1e-23", "9007199254740993", "16777217", "0.30000001192092896",
    "1.00000005960464477539062500000", "1.0000000596046448", "3.4028235e38", "3.40282356e38", "1e-45", "7e-46",
    "1e-400", "123456789012345678901234567890", "0.000000000000000000000000000000123456789", "1.17549435e-38",
    "0e999999999999", "000000000000000000000000001.5", "2.2250738585072011e-308", "8388608.5", "8388609.5",
    "0.1000000014901161193847656250", "33554433.00000000000000000001", "33554434.0000000000000000", "4.35E+5",
    "1" + "0" * 38, "1" * 400 + "e-390",
]  # fmt: skip


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_are_read_as_python_reads_them(tmp_path: Path, text: str) -> None:
    data = read_text(tmp_path, f"{text} qid:1 1:{text} 2:-{text}\n")
    expected = np.float32(float(text))
    assert data.labels["grades"][0] == float(text)
    np.testing.assert_array_equal(data.features.view(np.uint32)[0], np.array([expected, -expected]).view(np.uint32))


def test_many_random_numbers(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 2**32, 20_000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    singles = [float(value) for value in bits if np.isfinite(value)]
    middles = [value * (1 + 2.0**-24) for value in singles[:4000]]  # about half way between two float32
    texts = [repr(value) for value in [*singles, *middles]] + [f"{value:.25g}" for value in singles[:4000]]
    texts += [f"{value:.6f}" for value in rng.normal(0, 100, 5000)] + [f"{value:.17g}" for value in rng.random(5000)]
    with np.errstate(over="ignore"):
        kept = [text for text in texts if np.isfinite(np.float32(float(text)))]
    data = read_text(tmp_path, "".join(f"{text} qid:1 1:{text}\n" for text in kept))
    expected = np.array([float(text) for text in kept])
    np.testing.assert_array_equal(data.features[:, 0].view(np.uint32), expected.astype(np.float32).view(np.uint32))
    np.testing.assert_array_equal(data.labels["grades"], expected)


def random_file(rng: random.Random, lines: int, widest: int) -> bytes:
    result = []
    for _ in range(lines):
        indices = sorted(rng.sample(range(1, widest + 1), rng.randint(0, min(widest, 12))))
        values = [rng.choice(["0", "1", "NULL", "0.5", f"{rng.gauss(0, 9):.{rng.randint(0, 20)}f}"]) for _ in indices]
        features = "".join(f" {index}:{value}" for index, value in zip(indices, values, strict=True))
        comment = rng.choice(["", "", f" #docid = d{rng.randint(0, 99)} inc", " # x y"])
        result.append(f"{rng.randint(0, 4)} qid:{rng.choice(['1', '2', 'q7', '12'])}{features}{comment}")
    return ("\n".join(result) + rng.choice(["", "\n", "\r\n"])).encode()


@pytest.mark.compiled_only
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_rounds_pieces_and_widening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    """Small rounds: lines cross them, later ones are wider, some lines are longer than a round."""
    monkeypatch.setattr(streams, "FIRST_ROUND", 64)
    monkeypatch.setattr(streams, "ROUND", 1 << 15)
    monkeypatch.setattr(stretches, "HARD_NUMBERS", 2)
    rng = random.Random(threads)
    text = b"".join(random_file(rng, 300, widest).rstrip() + b"\n" for widest in (3, 9, 8, 40, 400, 30))
    text += b"1 qid:1 # " + b"long " * 10_000 + b"\n" + random_file(rng, 2000, 500)
    with using_threads(threads):
        assert check_against_reference(tmp_path, text)


GRAMMAR = st.lists(
    st.tuples(
        st.sampled_from(["0", "1", "+2", "-1", "0.5", "nan", "1e3", "x", ""]),
        st.sampled_from(["qid:1", "qid:2", "qid:ab", "qid:", "qid:01", "", "qid:é"]),
        st.lists(
            st.tuples(
                st.one_of(st.integers(-1, 9).map(str), st.sampled_from(["a", "", "2147483647", "99999999"])),
                st.sampled_from([":", ":", ":", "", "::"]),
                st.one_of(
                    st.floats().map(repr),
                    st.floats(width=32).map(repr),
                    st.sampled_from(["NULL", "nan", "", "1_0", "1e", ".", "-", "0x1", "inf"]),
                    st.from_regex(r"[+-]?[0-9]{0,30}\.?[0-9]{0,30}(e-?[0-9]{1,3})?", fullmatch=True),
                ),
            ),
            max_size=4,
        ),
        st.sampled_from(["", "#", "# a b", "#docid = 3 x", "#docid=", "\r", " "]),
    ),
    max_size=4,
)


@settings(
    max_examples=300, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(GRAMMAR)
def test_text_by_a_loose_grammar(tmp_path: Path, lines: list) -> None:
    text = "\n".join(
        " ".join([label, query, *(index + colon + value for index, colon, value in features), comment])
        for label, query, features, comment in lines
    )
    check_against_reference(tmp_path, text.encode())


INTERESTING = b"0123456789:.#-+eEnaN \t\r\n\0\xff\xefqid_xNULLinf"


def mutate(rng: random.Random, text: bytes) -> bytes:
    changed = bytearray(text)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(changed) + 1)
        kind = rng.randrange(5)
        if kind == 0:
            changed[place:place] = bytes([rng.choice(INTERESTING)])
        elif kind == 1:
            del changed[place : place + rng.randint(1, 9)]
        elif kind == 2 and place < len(changed):
            changed[place] = rng.choice(INTERESTING)
        elif kind == 3 and place < len(changed):
            changed[place] = rng.randrange(256)
        else:
            start = rng.randrange(len(changed) + 1)
            changed[place:place] = changed[start : start + rng.randint(1, 30)]
    return bytes(changed)


def check_mutations(folder: Path, count: int, seed: int) -> None:
    rng = random.Random(seed)
    accepted = 0
    for _ in range(count):
        text = mutate(rng, random_file(rng, rng.randint(1, 4), 6))
        accepted += check_against_reference(folder, text)
    assert 0.1 * count < accepted < 0.9 * count  # both outcomes were tried


def test_mutated_files(tmp_path: Path) -> None:
    check_mutations(tmp_path, 600, seed=2)


@pytest.mark.soak
def test_a_million_mutated_files(tmp_path: Path) -> None:
    check_mutations(tmp_path, 1_000_000, seed=3)


def awkward_data() -> rf.Dataset:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 5)).astype(np.float32) * np.float32(10.0) ** rng.integers(-40, 38, (40, 5)).astype(
        np.float32
    )
    X[rng.random(X.shape) < 0.3] = 0
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, -1] = 0
    X[3, 2] = -0.0
    labels = rng.choice([0.0, 1.0, 2.0, 0.1, -3.25, 1e300, 1 / 3], 40)
    return rf.Dataset(X, labels, rng.integers(0, 9, 40), document_ids=[f"d{k}" if k % 3 else "" for k in range(40)])


@pytest.mark.parametrize("ending", [".txt", ".letor.gz"])
@pytest.mark.parametrize("absent", [None, "zero", "missing"])
@pytest.mark.parametrize("first_index", [1, 0])
def test_written_and_read_again(tmp_path: Path, ending: str, absent: str | None, first_index: int) -> None:
    data = awkward_data()
    path = tmp_path / f"data{ending}"
    data.write(path, absent=absent, first_index=first_index)
    again = rf.read(path, absent=absent or "zero", first_index=first_index)
    np.testing.assert_array_equal(again.features, data.features)
    np.testing.assert_array_equal(
        np.signbit(again.features) & ~np.isnan(data.features), np.signbit(data.features) & ~np.isnan(data.features)
    )
    np.testing.assert_array_equal(again.labels["grades"], data.labels["grades"])
    np.testing.assert_array_equal(again.qid, data.qid)
    assert again.document_ids.tolist() == data.document_ids.tolist()


def test_nothing_is_lost_unasked(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    data = rf.Dataset([[1.0], [2.0]], [1, np.nan], [1, 1], labels={"clicks": [3, 4]})
    with pytest.raises(DataError, match="'grades', 'clicks'"):
        data.write(path)
    with pytest.raises(DataError, match="unlabelled"):
        data.write(path, label="grades")
    data.write(path, label="clicks")
    assert rf.read(path).labels["grades"].tolist() == [3, 4]
    data.write(path, label="grades", unlabelled="allow")
    np.testing.assert_array_equal(rf.read(path, unlabelled="allow").labels["grades"], [1, np.nan])
    weighted = rf.Dataset([[1.0]], [1], [1], weights=[2.0])
    with pytest.raises(DataError, match="weights"):
        weighted.write(path)
    weighted.write(path, weights="drop")
    with pytest.raises(DataError, match="none"):
        rf.Dataset([[1.0]], None, [1]).write(path)
    for data in (rf.Dataset([[1.0]], [1], ["a b"]), rf.Dataset([[1.0]], [1], [1], document_ids=["a b"])):
        with pytest.raises(DataError, match="white space"):
            data.write(path)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_bytes(PLAIN)
    bad = rf.Dataset([[1.0], [2.0]], [1, 1], [1, 1], document_ids=["good", "b a d"])
    with pytest.raises(DataError):
        bad.write(path)
    assert path.read_bytes() == PLAIN
    assert [one.name for one in tmp_path.iterdir()] == ["data.txt"]
    with pytest.raises(DataError, match="cannot be written"):
        write_letor(awkward_data(), tmp_path / "no" / "such" / "folder.txt")


@pytest.mark.parametrize(
    "options",
    [{"absent": "none"}, {"unlabelled": "yes"}, {"first_index": 2}, {"n_features": 0}, {"n_features": 1.5}],
)
def test_impossible_options(tmp_path: Path, options: dict) -> None:
    with pytest.raises(SettingsError):
        read_text(tmp_path, PLAIN, **options)


def test_progress_on_demand(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    read_text(tmp_path, PLAIN, progress=True)
    assert capfd.readouterr().err == "", "there is no terminal, and it took no ten seconds"
    monkeypatch.setattr(byte_progress, "SECONDS_BETWEEN_LINES", 0.0)
    read_text(tmp_path, PLAIN, progress=True)
    assert "data.txt: 100% of" in capfd.readouterr().err
    read_text(tmp_path, PLAIN)
    assert capfd.readouterr().err == ""


@pytest.mark.compiled_only
@pytest.mark.parametrize("name", ["mq2008/Fold1/train.txt", "mslr-sample/all.txt", "lightgbm-example/rank.train"])
def test_real_files_as_scikit_learn_reads_them(name: str) -> None:
    path = shared_data() / name
    if not path.exists():
        pytest.skip(f"{name} is not here")
    from sklearn.datasets import load_svmlight_file

    data = rf.read(path)
    X, y, qid = load_svmlight_file(str(path), dtype=np.float64, query_id=True, zero_based=False)
    np.testing.assert_array_equal(data.features, X.toarray().astype(np.float32))
    np.testing.assert_array_equal(data.labels["grades"], y)
    if len(qid):
        np.testing.assert_array_equal(data.qid, qid)
    else:
        assert data.query_sizes.tolist() == [int(line) for line in Path(f"{path}.query").read_text().split()]
