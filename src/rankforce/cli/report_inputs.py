"""What ``rankforce report`` is given beside a model and data: baselines, queries, texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankforce.cli.rankings import kind_and_name, read_ranking
from rankforce.errors import FileFormatError, SettingsError

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset


def read_baselines(written: Sequence[str], data: Dataset) -> dict[str, Any] | None:
    """Rankings by name; ``NAME=RANKING`` says the name, else it is the ranking as it is written."""
    import rankforce as rf

    found: dict[str, Any] = {}
    for text in written:
        name, equals, rest = text.partition("=")
        whole = not equals or not name or text in data.feature_names or Path(text).is_file()
        ranking = text if whole else rest
        title = ranking if whole else name
        if title in found:
            raise SettingsError(f"two baselines are called {title!r}: name them, for example --baseline mine={ranking}")
        kind, what = kind_and_name(ranking, data)
        found[title] = rf.read_run(what) if kind == "run" else read_ranking(ranking, data).scores
    return found or None


def wanted_queries(written: str, data: Dataset) -> int | list[Any]:
    """How many queries, or ids with commas between them; a number that is an id is how many."""
    if written.isdecimal():
        return int(written)
    numbers = data.query_ids.dtype.kind in "iu"
    words = [word.strip() for word in written.split(",") if word.strip()]
    return [int(word) if numbers and word.removeprefix("-").isdecimal() else word for word in words]


def read_texts(path: Path | None) -> dict[str, str] | None:
    """Texts by id, from lines of an id, a tab and a text."""
    if path is None:
        return None
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError:
        remedy = "is it compressed, or in another encoding?"
        raise FileFormatError("not UTF-8 text", path=path, remedy=remedy) from None
    except (OSError, ValueError) as error:
        problem = f"the texts cannot be read: {getattr(error, 'strerror', None) or error}"
        raise FileFormatError(problem, path=path) from None
    texts: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        name, tab, text = line.rstrip("\r").partition("\t")
        if not tab:
            raise FileFormatError(
                "an id without a text", path=path, line=number, text=line, remedy="write an id, a tab and a text"
            )
        texts[name] = text
    return texts
