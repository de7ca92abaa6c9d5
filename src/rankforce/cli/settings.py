"""``--set name=value``: settings of a ranker from the command line."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Sequence
from typing import Any

from rankforce.errors import SettingsError


def read_settings(given: Sequence[str], ranker: type) -> dict[str, Any]:
    """Settings by name.

    A value is read as Python writes it (3, 0.5, None, True, [1, 2], {"a": 1}), true and false too, else as text.
    """
    known = ranker._get_param_names()  # type: ignore[attr-defined]  # scikit-learn's
    result: dict[str, Any] = {}
    for entry in given:
        name, equals, text = entry.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise SettingsError(f"--set {entry}: write --set name=value")
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else "."
            raise SettingsError(f"{ranker.__name__} has no setting {name!r}{hint} It has: {', '.join(known)}")
        if text.strip() in ("true", "false"):
            result[name] = text.strip() == "true"
            continue
        try:
            result[name] = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError):
            result[name] = text.strip()
    return result
