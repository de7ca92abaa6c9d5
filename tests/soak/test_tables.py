"""Tables with odd columns and values: whatever they hold, a data set or an error of ours, and no role unasked."""

from __future__ import annotations

import datetime
import decimal
import gzip
import os
import random
import warnings

import numpy as np
import pytest

import rankforce as rf
from rankforce.errors import RankforceError, RankforceWarning

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pa_csv = pytest.importorskip("pyarrow.csv")
pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

FACTOR = float(os.environ.get("RANKFORCE_SOAK", "1"))

NAMES = ["qid", "query", "QID", "query_id", "qid:text", "label", "grade", "relevance", "label:clicks", "label:"]
NAMES += ["Label:x", "document", "doc", "docid", "document:text", "weight", "Weight", "query_weight", "weight:document"]
NAMES += ["weight:query", "feature:qid", "feature:", "x", "y", "a.b", "1", "0", "2", "", " ", " label", "position"]
NAMES += ["rank", "é", "\u202ex", "a\x1b[2J", "a\nb", "a,b", 'a"b', "__index_level_0__", "n" * 5000, "\0", "a\0"]
WORDS = ["1", "2", "a", "a", "", " ", "1.0", "1e3", "007", "nan", "NULL", "None", "inf", "-inf", "1e999", "-1", "0.5"]
WORDS += ["é", "\x1b[31m", "\u202e", "a\0b", "a\0", "a\nb", "q" * 5000, '"', "'", ",", "9" * 30, "true", "1_0", "0x1"]
NUMBERS = [0, 1, 2, 3, -1, 2**24 + 1, 2**53 + 1, 2**63 - 1, -(2**63)]
FLOATS = [0.0, -0.0, 1.0, 2.0, 0.5, 1e300, -1e300, float("nan"), float("inf"), 2.0**24 + 2, 1e-320]


def nullable(rng: random.Random, values: list) -> list:
    return [None if rng.random() < 0.1 else one for one in values] if rng.random() < 0.3 else values


def column(rng: random.Random, rows: int):
    """A column of any Arrow type."""

    def drawn(options):
        return nullable(rng, [rng.choice(options) for _ in range(rows)])

    few = rng.sample(NUMBERS, 2)
    kinds = [
        lambda: pa.array(drawn(few if rng.random() < 0.5 else NUMBERS), pa.int64()),
        lambda: pa.array(drawn([0, 1, 2]), rng.choice([pa.int8(), pa.uint8(), pa.int32(), pa.uint64(), pa.float32()])),
        lambda: pa.array(drawn([0.5, 1.0, 2.0]), rng.choice([pa.float64(), pa.float32()])),
        lambda: pa.array(drawn(FLOATS), pa.float64()),
        lambda: pa.array(drawn(["a", "b"])),
        lambda: pa.array(drawn(WORDS), rng.choice([pa.string(), pa.large_string()])),
        lambda: pa.array(drawn([True, False])),
        lambda: pa.array(drawn([b"a", b"\xff", b"b\0"]), rng.choice([pa.binary(), pa.large_binary()])),
        lambda: pa.array(drawn([b"ab", b"\xff\0"]), pa.binary(2)),
        lambda: pa.array(drawn([[1], [1, 2], [], None])),
        lambda: pa.array(drawn([["a"], ["b", None]])),
        lambda: pa.array(drawn([{"a": 1}, {"a": None}])),
        lambda: pa.array(drawn([[("k", 1)], []]), pa.map_(pa.string(), pa.int64())),
        lambda: pa.array(drawn(["a", "b"])).dictionary_encode(),
        lambda: pa.array(drawn([1, 2])).dictionary_encode(),
        lambda: pa.array(drawn([decimal.Decimal("1.5"), decimal.Decimal("2")]), pa.decimal128(30, 2)),
        lambda: pa.array(drawn([decimal.Decimal(10**30), decimal.Decimal(1)]), pa.decimal128(38, 0)),
        lambda: pa.array(drawn([datetime.timedelta(seconds=3)]), pa.duration("us")),
        lambda: pa.array(drawn([datetime.datetime(2025, 1, 2)]), pa.timestamp("us", rng.choice([None, "UTC"]))),
        lambda: pa.array(drawn([datetime.date(2025, 1, 2)]), pa.date32()),
        lambda: pa.array(drawn([datetime.time(1, 2)]), pa.time64("us")),
        lambda: pa.nulls(rows, rng.choice([pa.null(), pa.int64(), pa.string(), pa.float64()])),
        lambda: pa.array(drawn([1.0, 2.0]), pa.float16()),
    ]
    usual = kinds[1:3]
    return rng.choice(kinds if rng.random() < 0.25 else usual)()


def random_table(rng: random.Random):
    rows = rng.choice([0, 1, 2, 4, 7])
    names = rng.sample(NAMES, rng.randint(1, 6)) if rng.random() < 0.5 else rng.sample(["x", "y", "weight", "1"], 2)
    if rng.random() < 0.8:
        names = [*{*names, "qid", "label"}]
        names.sort()
        rng.shuffle(names)
    columns = [column(rng, rows) for _ in names]
    for place, name in enumerate(names):
        if name in ("qid", "label") and rng.random() < 0.8:
            columns[place] = pa.array([rng.randint(0, 2) for _ in range(rows)])
    return pa.table(columns, names=names)


def options(rng: random.Random, table) -> dict:
    chosen = {}
    for role in ("qid", "label", "document", "weight", "query_weight"):
        if rng.random() < 0.15:
            chosen[role] = rng.choice([*table.column_names, False, "nothing"])
    if rng.random() < 0.1:
        chosen["labels"] = rng.choice([["y"], {"clicks": "x"}, table.column_names[:1], {"": table.column_names[0]}])
    if rng.random() < 0.1:
        chosen["features"] = rng.sample(table.column_names, rng.randint(0, len(table.column_names)))
    if rng.random() < 0.1:
        chosen["ignore"] = rng.sample(table.column_names, 1)
    return chosen


def write(rng: random.Random, table, folder) -> str:
    kind = rng.choice(["parquet", "csv", "csv", "csv.gz", "tsv"])
    path = folder / f"table.{kind}"
    if kind == "parquet":
        try:
            pq.write_table(table, path)
        except pa.ArrowException:  # a dictionary of nulls
            pq.write_table(table.select([]), path)
        data = path.read_bytes()
        if rng.random() < 0.2:
            data = mutated(rng, data)
    else:
        separator = "\t" if kind == "tsv" else ","
        cells = [[quoted(rng, name, separator) for name in table.column_names]]
        columns = [values.to_pylist() for values in table.columns]
        cells += [[quoted(rng, "" if one is None else str(one), separator) for one in row] for row in zip(*columns)]  # noqa: B905
        data = "\n".join(separator.join(row) for row in cells).encode("utf-8", "surrogatepass") + b"\n"
        if rng.random() < 0.2:
            data = mutated(rng, data)
        if kind == "csv.gz" and rng.random() < 0.9:
            data = gzip.compress(data, 1)
            if rng.random() < 0.2:
                data = mutated(rng, data)
    path.write_bytes(data)
    return str(path)


def quoted(rng: random.Random, text: str, separator: str) -> str:
    if any(sign in text for sign in (separator, '"', "\n", "\r")) and rng.random() < 0.9:
        return '"' + text.replace('"', '""') + '"'
    return text


def mutated(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(changed) + 1)
        if rng.random() < 0.5 and place < len(changed):
            changed[place] = rng.randrange(256)
        elif rng.random() < 0.5:
            del changed[place : place + rng.randint(1, 20)]
        else:
            changed[place:place] = rng.randbytes(rng.randint(1, 4))
    return bytes(changed)


def from_frame(rng: random.Random, table):
    kind = rng.choice(["arrow", "pandas", "polars"])
    try:
        frame = table if kind == "arrow" else table.to_pandas() if kind == "pandas" else pl.from_arrow(table)
    except Exception:  # the other library's own limits
        return None
    names = table.column_names
    roles = {role: rng.choice(names) for role in ("y", "qid", "weights", "document_ids") if rng.random() < 0.4}
    if rng.random() < 0.2:
        roles["labels"] = {"clicks": rng.choice(names)}
    if rng.random() < 0.3:
        roles["feature_names"] = names[:2]
    given = {one for one in roles.values() if isinstance(one, str)} | {*roles.get("labels", {}).values()}
    says_it = any(name.lower() == "weight:document" for name in names if name not in given)
    data = rf.Dataset(frame, **roles)
    assert (data.weights is not None) == ("weights" in roles or says_it)
    return data


def check_table(rng: random.Random, folder) -> bool:
    """One case; whether it was accepted."""
    table = random_table(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", RankforceWarning)
        try:
            if rng.random() < 0.3:
                data = from_frame(rng, table)
                if data is None:
                    return False
            else:
                chosen = options(rng, table)
                data = rf.read(write(rng, table, folder), **chosen)
                if not chosen and "weight:" not in " ".join(table.column_names):
                    assert data.weights is data.query_weights is None
            back = folder / "back.parquet"
            data.write(back)
            again = rf.read(back)
        except RankforceError as error:
            check_message(error)
            return False
    assert again.query_ids.tolist() == data.query_ids.tolist()
    assert again.feature_names == data.feature_names
    np.testing.assert_array_equal(again.features, data.features)
    return True


def check_message(error: RankforceError) -> None:
    """An error is said in lines that can be printed anywhere."""
    assert all(line.isprintable() for line in str(error).split("\n"))
    assert len(str(error)) < 20_000


def check_tables(folder, count: int, seed: int) -> None:
    accepted = 0
    for case in range(count):
        try:
            accepted += check_table(random.Random(f"{seed} {case}"), folder)
        except Exception as error:
            raise AssertionError(f"case {case} of seed {seed}: {type(error).__name__}: {error}") from error
    print(f"{count:,} tables, {accepted:,} accepted")
    assert accepted > 0.05 * count


def test_odd_tables(tmp_path):
    check_tables(tmp_path, 300, seed=1)


@pytest.mark.soak
def test_many_odd_tables(tmp_path):
    check_tables(tmp_path, int(50_000 * FACTOR), seed=2)
