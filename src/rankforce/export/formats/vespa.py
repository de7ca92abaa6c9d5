"""What Vespa reads: LightGBM's JSON for sums of trees (``.json``), a rank profile for every model (``.profile``).

Containers compute in double. Content nodes make a forest in float32 of a sum of trees: features, thresholds and leaves
are rounded, and left is x < t. The threshold that is written is the smallest double that rounds to the float32 after
the model's: right in both.
"""

from __future__ import annotations

import json
import re
from typing import ClassVar

import numpy as np

from rankforce.displayed_text import displayed
from rankforce.errors import SettingsError
from rankforce.export.emulation import Emulated, EmulatedTrees, less
from rankforce.export.engines import MissingAs, Reader
from rankforce.export.format import Format, Prepared
from rankforce.export.forms import KINDS_OF_FORMS, AdditiveTrees, Form, parts_of, used_features
from rankforce.export.lightgbm_trees import MOST_LEVELS, json_document, read_document, without_start
from rankforce.export.thresholds import for_less_in_double
from rankforce.export.tree_text import refuse_depth
from rankforce.export.vespa_expressions import FUNCTIONS, read_profile, reference_at
from rankforce.export.vespa_functions import PREFIX, VespaFunctions
from rankforce.models.json_text import refuse_constant

SCORE = f"{PREFIX}score"
MOST_LEVELS_OF_EXPRESSIONS = 100  # of trees inside a profile
_KEYWORDS = {*FUNCTIONS, "in", "true", "false", "abs", "min", "pow", "sum", "reduce", "map", "join", "tensor", "sqrt"}


class Vespa(Format):
    NAME: ClassVar[str] = "vespa"
    TITLE: ClassVar[str] = "Vespa: a model (.json) of trees, or a rank profile (.profile) of anything"
    SUFFIX: ClassVar[str] = ""  # a model if it is one of trees, else a profile
    FORMS = KINDS_OF_FORMS
    DOUBLE: ClassVar[bool] = True

    def suffix(self, path: str) -> str:
        found = re.search(r"\.(json|profile)$", path)
        if found is None:
            raise SettingsError(f"{path}: Vespa knows its files by their ending: .json (trees) or .profile (anything)")
        return found[0]

    def refuse(self, form: Form) -> None:
        super().refuse(form)
        for part in parts_of(form):
            if isinstance(part, AdditiveTrees):
                refuse_depth(part, MOST_LEVELS if part is form else MOST_LEVELS_OF_EXPRESSIONS, "Vespa")

    def misreading(self, name: str, reader: Reader | None) -> str | None:
        if reference_at(name) != name or re.match(r"\w*", name)[0] in _KEYWORDS:  # type: ignore[index]
            return (
                "in an expression of Vespa this is no feature: names are rank features, bm25(title), or functions of "
                "the rank profile, title_length"
            )
        return f"names that begin with {PREFIX} are the model's own functions" if name.startswith(PREFIX) else None

    def write(self, prepared: Prepared, suffix: str) -> bytes:
        trees = isinstance(prepared.form, AdditiveTrees)
        if suffix == ".json" and not trees:
            raise SettingsError(
                f"the model is {prepared.form.CALLED}, which Vespa reads as a rank profile: the name of the file must "
                "end in .profile"
            )
        if trees and suffix != ".profile":
            return json_document(prepared, for_less_in_double)
        if isinstance(prepared.form, AdditiveTrees):
            refuse_depth(prepared.form, MOST_LEVELS_OF_EXPRESSIONS, "Vespa")
        return _profile(prepared).encode()

    def read(self, written: bytes, prepared: Prepared, suffix: str) -> Emulated:
        columns = prepared.features.columns()
        if not written.startswith(b"{"):
            return read_profile(written.decode(), columns)
        assert isinstance(prepared.form, AdditiveTrees)
        document = json.loads(written, parse_constant=refuse_constant)
        trees, start = without_start(read_document(document, columns, np.float32), prepared.form)
        return EmulatedTrees(trees, less, MissingAs.SIDE, np.float64, start)

    def notes(self, prepared: Prepared) -> list[str]:
        names = {prepared.features.name(int(feature)) for feature in used_features(prepared.form)}
        bare = sorted(name for name in names if "(" not in name)
        if not bare:
            return []
        listed = ", ".join(map(displayed, bare[:10])) + (", ..." if len(bare) > 10 else "")
        return [f"the rank profile needs a function for each of: {listed}"]


def _profile(prepared: Prepared) -> str:
    made = VespaFunctions(prepared.features)
    made.functions[SCORE] = made.expression(prepared.form)
    functions = "".join(
        f"    function {name}() {{\n        expression {{\n{_indented(text)}\n        }}\n    }}\n"
        for name, text in made.functions.items()
    )
    name = re.sub(r"\W", "_", prepared.name)
    phase = f"    first-phase {{\n        expression: {SCORE}()\n    }}\n"
    return f"rank-profile {name} inherits default {{\n{functions}{phase}}}\n"


def _indented(text: str) -> str:
    return "\n".join(f"            {line}" for line in text.splitlines())
