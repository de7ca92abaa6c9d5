"""Features that models among rankings know: data is read by them.

A small file needs not repeat its categories then, nor name the last features of LETOR text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path


@dataclasses.dataclass(frozen=True)
class KnownFeatures:
    """Features of several models; the categories of one are those of all models, each of which codes them by its own
    list."""

    feature_names: tuple[str, ...]
    categories: dict[str, tuple[str | int, ...]]


def known_features(rankings: Iterable[str]) -> KnownFeatures | None:
    """Features of the model files among rankings, if there is one."""
    from rankforce.importing.recognising import load, looks_like_model

    paths = [Path(written.removeprefix("model:")) for written in rankings]
    models = [load(path) for path in paths if looks_like_model(path)]
    categories: dict[str, dict[str, str | int]] = {}
    for model in models:
        for name, listed in model.categories.items():
            for one in listed:
                categories.setdefault(name, {}).setdefault(str(one), one)
    if not models:
        return None
    names = tuple(dict.fromkeys(name for model in models for name in model.feature_names))
    return KnownFeatures(names, {name: tuple(listed.values()) for name, listed in categories.items()})
