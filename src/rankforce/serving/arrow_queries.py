"""A query as an Arrow IPC stream: a matrix of its documents. Columns are matched by name, nulls and NaN are missing.

Nothing in a body is believed. Messages are read one by one, without copies; what could grow while it is read
(compressed buffers, dictionaries) is refused by its description, before it is.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankforce.data import frames
from rankforce.displayed_text import displayed
from rankforce.errors import missing_dependency
from rankforce.serving.category_values import CategoryTables, codes_of_column
from rankforce.serving.named_columns import check_names, check_rows
from rankforce.serving.refusals import RequestRefusal

MEDIA_TYPE = "application/vnd.apache.arrow.stream"


def matrix_from_arrow(
    body: bytes, features: Sequence[str], most_rows: int, ignore_unknown: bool, categories: CategoryTables
) -> np.ndarray:
    """The documents of a query (rows, features), features in the order of the model: float32, or what was sent."""
    pa = load_pyarrow()
    try:
        schema, batches = _read(pa, body, features, most_rows, ignore_unknown, categories)
        places = [schema.get_field_index(name) for name in features]
        parts = [_matrix(pa, _with_codes(pa, batch.select(places), categories)) for batch in batches]
    except (pa.ArrowException, struct.error, OSError, ValueError, OverflowError, NotImplementedError) as error:
        if isinstance(error, RequestRefusal):
            raise
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise RequestRefusal(400, "malformed-arrow", f"the body is no Arrow IPC stream: {displayed(reason)}") from None
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.empty((0, len(features)), dtype=np.float32)


def load_pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise missing_dependency("pyarrow", "frames", "reading Arrow") from None
    return pyarrow


def _with_codes(pa: Any, batch: Any, categories: CategoryTables) -> Any:
    """The batch with codes in the columns of categories."""
    columns = {name: batch.column(name) for name in batch.schema.names}
    for name in categories.keys() & columns.keys():
        columns[name] = pa.array(codes_of_column(columns[name], categories[name]), pa.float64())
    return pa.record_batch(columns) if categories else batch


def _read(
    pa: Any, body: bytes, features: Sequence[str], most_rows: int, ignore_unknown: bool, categories: CategoryTables
) -> tuple[Any, list[Any]]:
    """The schema and the record batches of a stream, checked."""
    reader = pa.ipc.MessageReader.open_stream(pa.py_buffer(body))
    first = _next_message(reader)
    if first is None:
        raise RequestRefusal(400, "malformed-arrow", "the Arrow stream is empty")
    if first.type != "schema":
        raise RequestRefusal(400, "malformed-arrow", f"the Arrow stream begins with a {first.type}, not with a schema")
    schema = pa.ipc.read_schema(first)
    check_names(schema.names, features, ignore_unknown)
    _check_types(pa, schema, features, categories)
    batches: list[Any] = []
    rows = 0
    while (message := _next_message(reader)) is not None:
        if message.type != "record batch":
            raise RequestRefusal(422, "odd-form", f"the Arrow stream holds a {message.type}: send record batches only")
        length, compressed = batch_description(message.metadata)
        rows += max(length, 0)
        check_rows(rows, most_rows)
        if compressed:
            raise RequestRefusal(415, "compressed", "the buffers of the Arrow stream are compressed: send them plain")
        batch = pa.ipc.read_record_batch(message, schema)
        batch.validate(full=True)  # offsets and lengths are claims of the sender
        batches.append(batch)
    return schema, batches


def _next_message(reader: Any) -> Any:
    try:
        return reader.read_next_message()
    except StopIteration:
        return None


def _check_types(pa: Any, schema: Any, features: Sequence[str], categories: CategoryTables) -> None:
    types = pa.types
    allowed = (types.is_floating, types.is_integer, types.is_boolean, types.is_decimal, types.is_null)
    for name in features:
        kind = schema.field(name).type
        if name in categories:
            if not any(one(kind) for one in (types.is_string, types.is_large_string, types.is_integer, types.is_null)):
                message = (
                    f"feature {displayed(name)!r} has the Arrow type {displayed(kind)}: send text or whole numbers"
                )
                raise RequestRefusal(422, "not-a-category", message, feature=name)
            continue
        if not any(one(kind) for one in allowed):
            message = f"feature {displayed(name)!r} has the Arrow type {displayed(kind)}, which is not one of numbers"
            raise RequestRefusal(422, "not-a-number", message, feature=name)


def _matrix(pa: Any, batch: Any) -> np.ndarray:
    kinds = set(batch.schema.types)
    if kinds == {pa.float32()} or kinds == {pa.float64()}:
        return batch.to_tensor(null_to_nan=True).to_numpy()  # one copy, without a NumPy array per column
    matrix, _ = frames.as_matrix(pa.Table.from_batches([batch]))
    return matrix


# ------------------------------------------------------------------------------------------ descriptions of messages
#
# A message is described by a flatbuffer: Message {0 version, 1 header type, 2 header, 3 body length}, whose header is
# here a RecordBatch {0 length, 1 nodes, 2 buffers, 3 compression}. A table begins with the distance back to a list of
# 16-bit numbers: its own size, the table's size, and where each field stands in the table (0: it is left out).


def batch_description(metadata: Any) -> tuple[int, bool]:
    """(rows, whether buffers are compressed) as a message of a record batch claims them; struct.error where it ends."""
    data = memoryview(metadata)
    root = struct.unpack_from("<I", data, 0)[0]
    header_at = _field(data, root, 2)
    if header_at is None:
        raise struct.error("a message without a header")
    batch = header_at + struct.unpack_from("<I", data, header_at)[0]
    length_at = _field(data, batch, 0)
    length = 0 if length_at is None else struct.unpack_from("<q", data, length_at)[0]
    return length, _field(data, batch, 3) is not None


def _field(data: memoryview, table: int, number: int) -> int | None:
    """Where a field of a flatbuffer's table stands, or None."""
    fields = table - struct.unpack_from("<i", data, table)[0]
    if fields < 0:
        raise struct.error("a table before the beginning")
    size = struct.unpack_from("<H", data, fields)[0]
    place = 4 + 2 * number
    if place + 2 > size:
        return None
    offset = struct.unpack_from("<H", data, fields + place)[0]
    return table + offset if offset else None
