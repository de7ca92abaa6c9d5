"""Why documents of a query have their scores, or why one stands above another: what ``explain`` says, as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import orjson

from rankforce.data.dataset import Dataset
from rankforce.explaining.explain import explain
from rankforce.serving.answers import JSON, Answer, BodyFormat, checked_features
from rankforce.serving.category_values import categorical_places
from rankforce.serving.limits import ServingLimits
from rankforce.serving.refusals import RequestRefusal

if TYPE_CHECKING:
    from rankforce.models.model import Model
    from rankforce.serving.served_models import ServedModel

MOST_ROWS: Final = 1000  # an explanation takes many times as long as a score
_QUERY: Final = 1


@dataclasses.dataclass(frozen=True)
class AskedExplanation:
    """What is to be explained: one document, a pair, or (neither) all documents of the query. Rows count from 0."""

    document: int | None = None
    pair: tuple[int, int] | None = None

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> AskedExplanation:
        """``?document=3`` or ``?pair=0,2``."""
        unknown = [name for name in parameters if name not in ("document", "pair")]
        if unknown or len(parameters) > 1:
            raise _odd("the parameters are document=ROW or pair=ROW,ROW, one of them or none")
        if "document" in parameters:
            return cls(document=_row(parameters["document"]))
        if "pair" in parameters:
            rows = [_row(text) for text in parameters["pair"].split(",")]
            if len(rows) != 2:
                raise _odd("a pair is two rows with a comma between them, 0,2: why is the first above the second?")
            return cls(pair=(rows[0], rows[1]))
        return cls()


def explanation(
    served: ServedModel,
    body: bytes,
    form: BodyFormat,
    limits: ServingLimits,
    ignore_unknown: bool,
    asked: AskedExplanation,
) -> Answer:
    """What each feature contributes; documents are called by their rows."""
    most = min(limits.rows, MOST_ROWS)
    matrix = checked_features(
        served.model, form.read(body, served.model.feature_names, most, ignore_unknown, served.category_tables)
    )
    if not len(matrix):
        raise _odd("the query has no rows: there is nothing to explain")
    found = explained(served.model, matrix, asked)
    facts = {"model": served.name, "digest": served.digest}
    return Answer(orjson.dumps(facts | found, option=orjson.OPT_SERIALIZE_NUMPY), JSON, len(matrix))


def explained(model: Model, matrix: np.ndarray, asked: AskedExplanation) -> dict[str, Any]:
    """The explanation as plain values."""
    names = model.feature_names
    data = Dataset(matrix, qid=np.full(len(matrix), _QUERY), feature_names=names, categories=model.categories)
    wanted = {name: value for name, value in dataclasses.asdict(asked).items() if value is not None}
    found: dict[str, Any] = explain(model, data, _QUERY, **wanted, threads=1).to_dict()
    del found["query"]
    for document in found.get("documents", ()):
        del document["query"]
    return found


def warm_explanations(model: Model) -> None:
    """Explain two documents in each way, so that no request waits for the compiler."""
    matrix = np.arange(2 * model.n_features, dtype=np.float32).reshape(2, -1) / max(model.n_features, 1)
    matrix[:, categorical_places(model)] = 0.0
    for asked in (AskedExplanation(), AskedExplanation(document=0), AskedExplanation(pair=(0, 1))):
        explained(model, matrix, asked)


def _row(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise _odd(f"{text!r} is no row: rows are numbers from 0")
    return int(text)


def _odd(problem: str) -> RequestRefusal:
    return RequestRefusal(422, "odd-explanation", problem)
