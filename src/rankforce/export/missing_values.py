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
from rankforce.models.bagged import Bagged
from rankforce.models.combination import Combination
from rankforce.models.model import Model
from rankforce.models.stacked import Stacked
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.remedies import NAME_ALONE, Argument

MEANINGS: Final = ("zero", "nan")


def meaning_of(model: Model) -> str:
    """What a missing value is to a model, by its training data: "nan" if any was missing there, else "zero"."""
    shares = model.provenance.missing_shares or [
        share for member in _trained(model) for share in member.provenance.missing_shares
    ]
    if not shares:
        raise SettingsError(
            f"{model!r} does not say whether values were missing when it was trained, and engines must be told: "
            "if a feature that did not match was 0, ",
            Argument("missing", "zero"),
            "; if it was NaN, ",
            Argument("missing", "nan"),
        )
    return "nan" if any(share > 0 for share in shares) else "zero"


def _trained(model: Model) -> Iterator[Model]:
    """The models within one, all levels down; none if one of them does not know its training data."""
    inner: tuple[Model, ...] = ()
    if isinstance(model, (Bagged, Combination, Stacked)):
        inner = model.models
    elif isinstance(model, TreeEnsemble) and model.base_model is not None:
        inner = (model.base_model,)
    for member in inner:
        yield member
        yield from _trained(member)


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
