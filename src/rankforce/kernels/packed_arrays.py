"""Parts of a packed array (see ``models/packed_arrays.py``)."""

from __future__ import annotations

from typing import Any

from rankforce.compiling.jit import subroutine


@subroutine
def part_of(packed: Any, number: Any, kind: Any) -> Any:
    """The part with this number, as an array of the kind that it was packed from."""
    begin, entries = packed[2 * number], packed[2 * number + 1]
    return packed[begin : packed[2 * number + 2]].view(kind)[:entries]
