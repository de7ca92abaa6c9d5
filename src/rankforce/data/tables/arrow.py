"""What tables need of pyarrow: whether it is there, and columns as its record batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rankforce.errors import missing_dependency

_ROWS_AT_A_TIME = 65536


def arrow(path: Path) -> Any:
    """pyarrow, which Parquet and session logs need."""
    try:
        import pyarrow as pa
    except ImportError:
        raise missing_dependency("pyarrow", "frames", f"{path.name}") from None
    return pa


def has_arrow() -> bool:
    """Whether pyarrow is installed: it reads and writes large CSV files faster."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True


def first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def schema_of(columns: Sequence[tuple[str, Any]]) -> Any:
    """The Arrow schema of named columns: NumPy's, or Arrow's own."""
    import pyarrow as pa

    def type_of(values: Any) -> Any:
        if isinstance(values, pa.Array):
            return values.type
        return pa.string() if values.dtype.kind in "UO" else pa.from_numpy_dtype(values.dtype)

    return pa.schema([(name, type_of(values)) for name, values in columns])


def record_batches(columns: Sequence[tuple[str, Any]], schema: Any) -> Iterator[Any]:
    """The rows of named columns in record batches; NaN becomes null."""
    import pyarrow as pa

    for first in range(0, len(columns[0][1]), _ROWS_AT_A_TIME):
        block = slice(first, first + _ROWS_AT_A_TIME)
        arrays = [
            values[block]
            if isinstance(values, pa.Array)
            else pa.array(values[block], type=field.type, from_pandas=values.dtype.kind == "f")
            for (_, values), field in zip(columns, schema, strict=True)
        ]
        yield pa.record_batch(arrays, schema=schema)
