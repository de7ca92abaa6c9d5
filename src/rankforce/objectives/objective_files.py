"""Objectives as files and mappings hold them: a small language in TOML.

A table is a term (it has ``measure``), a sum (``terms``), a graded objective (``tier``), or one that changes
(``first``, ``second``, ``schedule``)::

    [[tier]]
    measure = "NDCG"
    weight = 0.8

    [[tier]]
    measure = "CNDCG:clicks"
    weight = 0.2
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankforce.errors import FileFormatError, RankforceError, SettingsError
from rankforce.files.streams import file_name
from rankforce.objectives.graded import Graded
from rankforce.objectives.objective import Objective, Term
from rankforce.objectives.scheduled import Scheduled

_TERM = ("measure", "lambda_function", "pairs", "rule", "zeros", "share", "earlier", "bias")


def read_objective(source: str | Path | Mapping[str, Any]) -> Objective:
    """The objective of a TOML file, or of a mapping as ``Objective.written`` gives it."""
    if isinstance(source, Mapping):
        return _objective(source, "the objective")
    path = Path(file_name(source))
    try:
        form = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileFormatError(f"the objective cannot be read ({error.strerror or error})", path=path) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FileFormatError(f"this is not TOML: {error}", path=path) from None
    try:
        return _objective(form, "the objective")
    except RankforceError as error:
        raise SettingsError(f"{path}: {error}") from None


def _objective(form: Any, where: str) -> Objective:
    if isinstance(form, str):
        return Objective((Term(form),))  # type: ignore[arg-type]  # a written measure
    if not isinstance(form, Mapping):
        raise SettingsError(f"{where} must be a table or a measure, not {form!r}")
    if "tier" in form:
        return _graded(form, where)
    if "schedule" in form or "first" in form:
        _check_keys(form, ("first", "second", "schedule"), where, needed=("first", "second", "schedule"))
        first, second = (_objective(form[part], f"{part} of {where}") for part in ("first", "second"))
        return Scheduled(first, second, form["schedule"])
    if "terms" in form:
        _check_keys(form, ("terms",), where)
        return Objective(tuple(_term(one, where) for one in _list(form["terms"], "terms", where)))
    return Objective((_term(form, where),))


def _graded(form: Mapping[str, Any], where: str) -> Graded:
    _check_keys(form, ("tier", "weights"), where)
    tables = _list(form["tier"], "tier", where)
    weights: list[Any] = []
    tiers = []
    for number, tier in enumerate(tables, start=1):
        if not isinstance(tier, Mapping):
            raise SettingsError(f"tier {number} of {where} must be a table ([[tier]]), not {tier!r}")
        parts = dict(tier)
        weights.append(parts.pop("weight", None))
        tiers.append(_objective(parts, f"tier {number} of {where}"))
    if "weights" in form:
        if any(weight is not None for weight in weights):
            raise SettingsError(f"{where}: give weights, or the weight of each tier, not both")
        return Graded(tiers, form["weights"])
    if all(weight is None for weight in weights):
        return Graded(tiers)
    unweighted = [number for number, weight in enumerate(weights, start=1) if weight is None]
    if unweighted:
        raise SettingsError(f"tier {unweighted[0]} of {where} has no weight: give one to every tier, or to none")
    return Graded(tiers, weights)


def _term(form: Any, where: str) -> Term:
    if isinstance(form, str):
        return Term(form)  # type: ignore[arg-type]  # a written measure
    if not isinstance(form, Mapping):
        raise SettingsError(f"{where} must be a table or a measure, not {form!r}")
    _check_keys(form, _TERM, where, needed=("measure",))
    earlier = form.get("earlier", ())
    return Term(**{**form, "earlier": tuple(earlier) if isinstance(earlier, list) else earlier})


def _list(given: Any, name: str, where: str) -> list[Any]:
    if not isinstance(given, (list, tuple)) or not given:
        raise SettingsError(f"{name} of {where} must be a list of tables ([[{name}]]), not {given!r}")
    return list(given)


def _check_keys(form: Mapping[str, Any], known: tuple[str, ...], where: str, *, needed: tuple[str, ...] = ()) -> None:
    for key in form:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"; did you mean {near[0]}?" if near else "."
            if key == "cost" and "lambda_function" in known:
                hint = ": that is lambda_function here."
            raise SettingsError(f"{where} has no {key!r}{hint} It has: {', '.join(known)}")
    for key in needed:
        if key not in form:
            raise SettingsError(f"{where} needs {key!r}")
