"""What every bundle is made from, and how its files are written."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

WORDS = "red shoes"  # what is searched for in the examples


@dataclasses.dataclass(frozen=True, eq=False)
class Bundled:
    """A written model and what its engine must be told beside it.

    name : of the model in the engine
    features : names of the engine's features, in its order
    definitions : features as the engine defines them, if they were given so, else None
    missing : "zero" or "nan"
    contents : the model's file
    """

    name: str
    format: str
    features: tuple[str, ...]
    definitions: list[dict[str, Any]] | None
    missing: str
    contents: str
    notes: tuple[str, ...]

    @property
    def feature_set(self) -> str:
        """The name of the feature set, which outlives models."""
        return f"{self.name.rpartition('_')[0]}_features"

    @property
    def skeletons(self) -> str:
        """What to say of features that are not defined yet."""
        if self.definitions is not None:
            return ""
        return (
            "Features are skeletons: each is made from a field of its own name. Put in what your features are, in the "
            "same order and with the same names.\n\n"
        )


def json_text(value: Any) -> str:
    """A request body."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def readme(title: str, bundled: Bundled, steps: Mapping[str, str]) -> str:
    """Steps with their command lines."""
    text = f"# {title}\n\n{bundled.skeletons}"
    for number, (what, command) in enumerate(steps.items(), start=1):
        text += (
            f"{number}. {what}\n\n   ```sh\n" + "".join(f"   {line}\n" for line in command.splitlines()) + "   ```\n\n"
        )
    if bundled.notes:
        text += "Note:\n\n" + "".join(f"- {note}\n" for note in bundled.notes)
    return text.rstrip("\n") + "\n"
