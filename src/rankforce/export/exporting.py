"""``export_model``: a model written for an engine."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from rankforce.console.wording import counted
from rankforce.displayed_text import displayed
from rankforce.errors import RankforceWarning, SettingsError, warn
from rankforce.export.checking import check_written
from rankforce.export.engines import MissingAs, Reader, reader_named, readers_of
from rankforce.export.feature_sets import categories_in_engine, feature_set
from rankforce.export.format import Format, Prepared, format_classes, format_named
from rankforce.export.forms import (
    AdditiveTrees,
    Form,
    LinearForm,
    set_features,
    used_features,
    with_missing_as_zero,
    without_empty_sets,
)
from rankforce.export.missing_right import with_missing_right
from rankforce.export.missing_values import MEANINGS, agrees, meaning_of, refusal
from rankforce.export.model_forms import form_of
from rankforce.files.atomic_writes import atomic_write, check_replaceable
from rankforce.files.streams import file_name
from rankforce.kinds import Choice, OrNone, Text, check_switches, shown
from rankforce.models.exported import Exported
from rankforce.models.model import Model
from rankforce.remedies import Argument, Phrase


class ExportWarning(RankforceWarning):
    """A file that is right in some releases of an engine and not in others."""


def export_model(
    model: Any,
    path: str | os.PathLike[str] | None,
    format: str,
    *,
    engine: str | None = None,
    missing: str | None = None,
    features: Any = None,
    name: str | None = None,
    shift: bool = False,
    check: Any = None,
) -> Exported:
    """Write a model, or the model of a fitted ranker, as a file that an engine reads.

    path : where to; None only makes the file (``contents`` of what is returned)
    format : "ranklib", "ltr-xgboost", "ltr-xgboost-raw", "ltr-linear", "solr", "xgboost", ...: see docs/export.md
    engine : "opensearch-2.19", "elasticsearch-1.5.10" (the plugin's release), "solr-9.2", ...; what cannot be right
        there is refused. None: a warning says where the file is not right
    missing : what a feature without a value was in training: "zero" or "nan"; None: what the training data says
    features : the engine's features, as names or as the engine lists them, or its name for each of the model's, or
        the JSON file of either
    name : of the model in the engine; None: the file's name
    shift : add a constant so that no score is negative
    check : True, or rows (a Dataset, a matrix, a data frame): compare the file with the model in the engine's
        arithmetic, on rows that are made for it, and on these
    """
    model = _model_of(model)
    target = format_named(format)
    OrNone(Text()).check("engine", engine)
    OrNone(Choice(MEANINGS)).check("missing", missing)
    OrNone(Text()).check("name", name)
    check_switches(shift=shift)
    file = None if path is None else file_name(path)
    suffix = target.SUFFIX if file is None else target.suffix(file)
    if file is not None:
        check_replaceable(file, SettingsError)
    prepared, right, wrong = _prepared(model, target, engine, missing, features, name or _name_of(file), bool(shift))
    contents = target.write(prepared, suffix)
    report = None
    if check is not None and not (isinstance(check, (bool, np.bool_)) and not check):
        rows = None if isinstance(check, (bool, np.bool_)) else check
        report = check_written(model, target, prepared, contents, suffix, rows)
    if file is not None:
        with atomic_write(file, SettingsError) as stream:
            stream.write(contents)
    if wrong and engine is None:
        warn(_warning(right, wrong, prepared.missing))
    return Exported(
        path=file,
        format=target.NAME,
        engine=engine,
        missing=prepared.missing,
        right_in=tuple(map(str, right)),
        wrong_in=tuple(map(str, wrong)),
        notes=(*prepared.remarks, *target.notes(prepared)),
        check=report,
        contents=contents,
    )


def _model_of(given: Any) -> Model:
    if isinstance(given, Model):
        return given
    fitted = getattr(given, "_fitted", None)  # rankers say it if they have learned nothing
    model = fitted() if callable(fitted) and not isinstance(given, type) else None
    if not isinstance(model, Model):
        raise SettingsError(
            f"what is exported is a model or a fitted ranker, not {shown(given)}; a model of LightGBM, XGBoost or "
            "CatBoost is made one by ",
            Phrase("rf.load(model)", "its file"),
        )
    return model


def _name_of(path: str | None) -> str:
    """The name of a model in an engine, if none is given: that of its file, in letters that every engine takes."""
    stem = "" if path is None else Path(path).name.partition(".")[0]
    return re.sub(r"[^A-Za-z0-9_-]", "_", stem) or "rankforce"


def _prepared(
    model: Model, target: Format, engine: str | None, missing: str | None, features: Any, name: str, shift: bool
) -> tuple[Prepared, list[Reader], list[Reader]]:
    """The model ready to be written, the releases that are right for it, and those that are not."""
    reader = None if engine is None else reader_named(target.NAME, engine)
    form = form_of(model)
    target.refuse(form)
    missing = missing or meaning_of(model)
    if missing == "zero":
        form = with_missing_as_zero(form)
    asked = set_features(form)
    known = [one for one in readers_of(target.NAME) if not len(asked) or one.engine in target.SETS]
    if reader is not None and reader not in known:
        raise SettingsError(
            f"the model asks whether categories are in sets, which {target.NAME!r} says to "
            f"{' and '.join(target.SETS)}, not to {reader.engine}"
        )
    form, suited = target.suited(without_empty_sets(form))
    right = [one for one in known if agrees(form, one.missing)]
    wrong = [one for one in known if one not in right]
    remarks = suited
    if reader in wrong and reader.missing is MissingAs.RIGHT and isinstance(form, AdditiveTrees):
        form, rebuilt = _all_right(form, missing)
        remarks = (*suited, *rebuilt)
        right, wrong = [*right, reader], [one for one in wrong if one is not reader]
        target.refuse(form)
    if reader in wrong or not right:
        raise refusal(reader or wrong[0], missing, _where_right(form, {one.engine for one in known}))
    used = used_features(form)
    available = feature_set(features, model.feature_names, used)
    for feature in used:
        problem = target.misreading(available.name(feature), reader)
        if problem is not None:
            own = model.feature_names[feature]
            raise SettingsError(
                f"feature {available.name(feature)!r}: {problem}; give it another name there: ",
                Phrase(f"features={{{own!r}: '...'}}", f'--features FILE, with {{{json.dumps(own)}: "..."}} in it'),
            )
    offset = 0.0
    if shift:
        form, offset = _shifted(form)
    if isinstance(form, (AdditiveTrees, LinearForm)) and not target.keeps_constant(form):
        offset -= form.constant
        form = dataclasses.replace(form, constant=0.0)
    listed = [model.feature_names.index(one) for one in model.categories]
    categorical = tuple(sorted({*asked.tolist(), *model.unnamed_categories, *listed}))
    return (
        Prepared(
            form, available, missing, reader, name, offset, (*remarks, *_categories_remark(model, asked)),
            categories_in_engine(model, available, categorical), categorical,
        ),
        right,
        wrong,
    )  # fmt: skip


def _categories_remark(model: Model, asked: np.ndarray) -> tuple[str, ...]:
    """What to give an engine for a category."""
    if not len(asked):
        return ()
    names = [model.feature_names[place] for place in asked]
    listing = ", ".join(map(displayed, names[:5])) + (", ..." if len(names) > 5 else "")
    numbers = "from 0, in the order of the model's categories, -1 for one that is not among them"
    if model.unnamed_categories:
        numbers = "which are whole numbers"
    return (
        f"{counted(len(names), 'feature')} with categories ({listing}): give the engine their numbers, {numbers}; NaN "
        "for a missing one",
    )


def _all_right(form: AdditiveTrees, missing: str) -> tuple[AdditiveTrees, tuple[str, ...]]:
    """Trees that send missing values right, and what to say of them."""
    rebuilt = with_missing_right(form)
    before, after = (sum(tree.n_leaves for tree in one.trees) for one in (form, rebuilt))
    remark = f"this engine sends every missing value right: trees ask for them, with {after:,} leaves for {before:,}"
    return rebuilt, (f"{remark}; as 'ranklib' they need not" if missing == "zero" else remark,)


def _where_right(form: Form, engines: set[str]) -> list[str]:
    """Formats and releases of these engines that treat missing values as the form does."""
    found = []
    for name, kind in format_classes().items():
        if isinstance(form, kind.FORMS):
            right = [str(one) for one in readers_of(name) if one.engine in engines and agrees(form, one.missing)]
            found += [f"{name!r} for {', '.join(right)}"] if right else []
    return found


def _shifted(form: Form) -> tuple[AdditiveTrees, float]:
    """The form with a constant that makes every score at least 0, also after rounding in float32; and the constant."""
    if not isinstance(form, AdditiveTrees):
        raise SettingsError(
            f"the model is {form.CALLED}, which has no lowest score: leave ", Argument("shift", True), " out"
        )
    lowest = form.constant + math.fsum(float(tree.leaf_value.min()) for tree in form.trees)
    if lowest >= 0:
        return form, 0.0
    largest = abs(form.constant) + math.fsum(float(np.abs(tree.leaf_value).max()) for tree in form.trees)
    rounding = (len(form.trees) + 2) * float(np.finfo(np.float32).eps) * 2.0 * largest
    return dataclasses.replace(form, constant=form.constant + rounding - lowest), rounding - lowest


def _warning(right: list[Reader], wrong: list[Reader], missing: str) -> ExportWarning:
    meant = "go where 0 goes" if missing == "zero" else "go where the model learned to send them"
    return ExportWarning(
        f"missing values must {meant}: that is so in {', '.join(map(str, right))}, and not in "
        f"{', '.join(f'{one} ({one.missing.value})' for one in wrong)}; name yours, and this is checked: ",
        Argument("engine", f"{right[0].engine}-..."),
    )
