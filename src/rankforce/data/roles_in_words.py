"""What became of the columns of a table, in words."""

from __future__ import annotations

from collections.abc import Mapping

from rankforce.console.wording import listed
from rankforce.data.feature_columns import AS_CATEGORY, AS_DATE, AS_TRUTH
from rankforce.data.feature_options import LEFT_OUT

_FEATURES = {AS_CATEGORY: "categories", AS_DATE: AS_DATE, AS_TRUTH: AS_TRUTH}


def features_in_words(roles: Mapping[str, str]) -> str:
    """Features that are more than numbers, by what was made of them: ``categories: 'brand'; 0 and 1: 'in_stock'``."""
    parts = []
    for role, words in _FEATURES.items():
        columns = [column for column, of in roles.items() if of == role]
        if columns:
            parts.append(f"{words}: {listed(columns, written=repr)}")
    return "; ".join(parts)


def left_out_in_words(roles: Mapping[str, str]) -> str:
    """Columns that were left out, each with the reason: ``'title' (as asked)``."""
    left_out = {column: role for column, role in roles.items() if role.startswith(LEFT_OUT)}
    return listed([repr(column) + role.removeprefix(LEFT_OUT) for column, role in left_out.items()], written=str)
