"""Texts as arrays of a store: one after the other, and where each ends. Lists of categories are kept so."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.data.categories import Categories, Category

CATEGORIES = "categories."


def written_texts(texts: Iterable[Any]) -> tuple[np.ndarray, np.ndarray]:
    """(all bytes, where each text ends)."""
    encoded = [str(one).encode("utf-8", "surrogatepass") for one in texts]
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), np.cumsum([len(one) for one in encoded], dtype=np.int64)


def read_texts(content: np.ndarray, ends: np.ndarray) -> list[str]:
    """The inverse of ``written_texts``."""
    joined = content.tobytes()
    starts = [0, *ends.tolist()]
    return [joined[first:last].decode("utf-8", "surrogatepass") for first, last in itertools.pairwise(starts)]


def written_categories(feature_names: Sequence[str], categories: Categories) -> dict[str, np.ndarray]:
    """Lists of categories as arrays, by the places of their features: texts, ends, and which are whole numbers."""
    arrays = {}
    for name, listed in categories.items():
        prefix = f"{CATEGORIES}{feature_names.index(name)}."
        arrays[f"{prefix}text"], arrays[f"{prefix}ends"] = written_texts(listed)
        arrays[f"{prefix}whole"] = np.array([isinstance(one, int) for one in listed])
    return arrays


def read_categories(
    feature_names: Sequence[str], names: Iterable[str], arrays: Mapping[str, np.ndarray]
) -> dict[str, tuple[Category, ...]]:
    """The inverse of ``written_categories``, of the features of these names."""
    lists: dict[str, tuple[Category, ...]] = {}
    for name in names:
        prefix = f"{CATEGORIES}{feature_names.index(name)}."
        texts = read_texts(arrays[f"{prefix}text"], arrays[f"{prefix}ends"])
        wholes = arrays[f"{prefix}whole"].tolist()
        lists[name] = tuple(int(text) if whole else text for text, whole in zip(texts, wholes, strict=True))
    return lists
