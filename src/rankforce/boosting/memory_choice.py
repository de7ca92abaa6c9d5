"""How much memory a training takes for its bins, chosen by what can be had."""

from __future__ import annotations

from rankforce.data.dataset import Dataset
from rankforce.errors import SettingsError
from rankforce.memory import available_memory, written_size
from rankforce.remedies import MAKE_STORE, Setting

BYTES_PER_DOCUMENT = 101  # scores, forces, entries, labels, order ... while trees grow
SHARE = 0.7  # of what can be had, that may be counted on


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
    most = available_memory()
    documents = BYTES_PER_DOCUMENT * data.n_documents
    if most is None or 2 * rows + documents <= SHARE * most:
        return "fast", ""
    said = f"{written_size(rows)} of bins, {written_size(most)} of memory can be had"
    if rows + documents <= SHARE * most or not stored:
        return "low", f"memory: low, without a copy of the bins by columns ({said})"
    return "mapped", f"memory: mapped, bins are read from the store ({said}); symmetric growth reads them least often"
