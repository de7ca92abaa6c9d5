"""How much memory a training takes for its bins, chosen by what can be had."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from rankforce.data.dataset import Dataset
from rankforce.errors import SettingsError
from rankforce.memory import available_memory, written_size
from rankforce.remedies import MAKE_STORE, Setting

BYTES_PER_DOCUMENT = 97  # scores, forces, entries, labels, order ... while trees grow
SHARE = 0.7  # of what can be had, that may be counted on

_limit: ContextVar[Callable[[], int] | None] = ContextVar("limit of memory", default=None)


@contextlib.contextmanager
def within_limit(left: Callable[[], int] | None) -> Iterator[None]:
    """Choose by what is left of a limit, too, while the block runs: ``left`` tells how many bytes."""
    token = _limit.set(left)
    try:
        yield
    finally:
        _limit.reset(token)


def _most() -> int | None:
    """Bytes that can be had, in the machine and within a limit; None if unknown."""
    left = _limit.get()
    return min((one for one in (available_memory(), left and left()) if one is not None), default=None)


def chosen_memory(setting: str, data: Dataset) -> tuple[str, str]:
    """("fast", "low" or "mapped", what to say of it).

    "fast" holds the bins twice, by rows and by columns; "low" by rows; "mapped" leaves the rows of a store on the disk.
    """
    stored = data.bins is not None
    if setting == "mapped" and not stored:
        raise SettingsError(Setting("memory", "mapped"), " is for a store of bins: make one with ", MAKE_STORE)
    if setting != "auto":
        return setting, ""
    rows = data.bins.rows.nbytes if stored else data.n_documents * data.n_features
    most = _most()
    documents = BYTES_PER_DOCUMENT * data.n_documents
    if most is None or 2 * rows + documents <= SHARE * most:
        return "fast", ""
    said = f"{written_size(rows)} of bins, {written_size(most)} of memory can be had"
    if rows + documents <= SHARE * most or not getattr(data, "mapped", False):
        return "low", f"memory: low, without a copy of the bins by columns ({said})"
    return "mapped", f"memory: mapped, bins are read from the store ({said}); symmetric growth reads them least often"
