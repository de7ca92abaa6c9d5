"""Missing values: what the model means by one, and whether an engine means the same.

Training with 0 where a feature did not match, and training with NaN there, give models that need different things of
an engine. ``"zero"``: a missing value goes where 0 goes. ``"nan"``: it goes where the model learned to send it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from rankforce.errors import SettingsError
from rankforce.export.engines import MissingAs, Reader
from rankforce.export.forms import AdditiveTrees, Form, LinearForm, NetForm, QuadraticForm, parts_of
from rankforce.models.expected_grade import ExpectedGrade
from rankforce.models.model import Model
from rankforce.models.of_models import ModelOfModels
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.remedies import NAME_ALONE, Argument

MEANINGS: Final = ("zero", "nan")


def meaning_of(model: Model) -> str:
    """What a missing value is to a model, by its training data: "nan" if any was missing there, else "zero".

    The models within count, too: one that learned with missing values sends them where it learned to, whatever the data
    of those around it. An error unless every model that learned, or one around it, knows its data.
    """
    if any(share > 0 for one in _all_within(model) for share in one.provenance.missing_shares):
        return "nan"
    if not _knows(model):
        raise SettingsError(
            f"{model!r} does not say whether values were missing when it was trained, and engines must be told: "
            "if a feature that did not match was 0, ",
            Argument("missing", "zero"),
            "; if it was NaN, ",
            Argument("missing", "nan"),
        )
    return "zero"


def _all_within(model: Model) -> Iterator[Model]:
    """The model and those within it, all levels down."""
    yield model
    inner = _members(model)
    if isinstance(model, TreeEnsemble) and model.base_model is not None:
        inner = (model.base_model,)
    for one in inner:
        yield from _all_within(one)


def _knows(model: Model) -> bool:
    """Whether the shares of missing values are known of a model's training data, or of that of all its members.

    A base model does not speak for the trees after it: they may have learned from other data.
    """
    members = _members(model)
    return bool(model.provenance.missing_shares) or (bool(members) and all(map(_knows, members)))


def _members(model: Model) -> tuple[Model, ...]:
    """The models that a model is made of."""
    if isinstance(model, ModelOfModels):
        return model.models
    return model.members if isinstance(model, ExpectedGrade) else ()


def agrees(form: Form, behaviour: MissingAs) -> bool:
    """Whether an engine with this behaviour sends every missing value where the form does."""
    return behaviour is MissingAs.CHOSEN or all(_agrees(part, behaviour) for part in parts_of(form))


def _agrees(form: Form, behaviour: MissingAs) -> bool:
    if isinstance(form, AdditiveTrees):
        if behaviour is MissingAs.RIGHT:
            return not any(tree.missing_left.any() for tree in form.trees)
        return behaviour is MissingAs.SIDE or all(
            np.array_equal(tree.missing_left, tree.zero_left) for tree in form.trees
        )
    if isinstance(form, LinearForm):
        fills = form.fills[form.weights != 0]
        return bool(((fills == 0) | np.isnan(fills)).all())
    return form.missing_as_zero if isinstance(form, (NetForm, QuadraticForm)) else True


def refusal(reader: Reader, meaning: str, others: list[str]) -> SettingsError:
    """Why a model cannot be right in an engine, and the way out; ``others``: formats and releases where it is right."""
    trained = {
        "zero": "a missing value is 0 to the model",
        "nan": "the model learned where to send missing values (NaN)",
    }[meaning]
    elsewhere = f"it is right in {'; '.join(others)}. " if others else ""
    if meaning == "zero":
        way: list[str | Argument] = [
            "Where every feature always has a value, leave ",
            Argument("engine", NAME_ALONE),
            " out",
        ]
    else:
        way = [
            "Train with 0 in place of NaN; or, where every feature always has a value, ",
            Argument("missing", "zero"),
        ]
    return SettingsError(f"{trained}, and {reader} {reader.missing.value}: {elsewhere}", *way)
