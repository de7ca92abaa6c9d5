"""A query in, scores and their order out: what a request's thread does, from bytes to bytes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import orjson

from rankforce import dtypes
from rankforce.data.frames import first_infinite
from rankforce.displayed_text import displayed
from rankforce.errors import DataError
from rankforce.models.categories import check_whole_codes
from rankforce.models.ranking import Ranking
from rankforce.serving import arrow_queries
from rankforce.serving.arrow_queries import load_pyarrow, matrix_from_arrow
from rankforce.serving.category_values import CategoryTables
from rankforce.serving.json_queries import matrix_from_json
from rankforce.serving.limits import ServingLimits
from rankforce.serving.refusals import RequestRefusal
from rankforce.threads import FEW, using_threads

if TYPE_CHECKING:
    from rankforce.serving.served_models import ServedModel

TIES: Final = "stable"  # the policy of ``evaluate``: equal scores in the order of the rows
JSON: Final = "application/json"


@dataclasses.dataclass(frozen=True)
class Answer:
    """What is sent back, and how many documents it is about."""

    body: bytes
    media_type: str
    rows: int


@dataclasses.dataclass(frozen=True)
class BodyFormat:
    """How a query is read and its scores are written."""

    media_type: str
    read: Callable[[bytes, tuple[str, ...], int, bool, CategoryTables], np.ndarray]
    write: Callable[[ServedModel, np.ndarray, np.ndarray], bytes]


def answer(served: ServedModel, body: bytes, form: BodyFormat, limits: ServingLimits, ignore_unknown: bool) -> Answer:
    """The scores of a query's documents, bit for bit those of ``predict``, and their order."""
    matrix = form.read(body, served.model.feature_names, limits.rows, ignore_unknown, served.category_tables)
    scores, order = scores_and_order(served.model, matrix)
    return Answer(form.write(served, scores, order), form.media_type, len(scores))


def scores_and_order(model: Any, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The scores of the documents of one query, and its rows, best first."""
    if not len(matrix):
        return np.empty(0), np.empty(0, dtype=np.int64)
    features = checked_features(model, matrix)
    with using_threads(1 if len(matrix) < FEW else None):
        scores = model.predict(features)
    if not np.isfinite(scores).all():
        row = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise RequestRefusal(500, "no-score", f"the model's score of row {row} (from 0) is {scores[row]}")
    ranking = Ranking.of_scores(scores, np.zeros(len(scores), dtype=dtypes.OFFSET), np.array([1]), None, None)
    return scores, ranking.row


def checked_features(model: Any, matrix: np.ndarray) -> np.ndarray:
    """The matrix in float32. What is infinite then is refused, as ``predict`` does, which does not know its names."""
    with np.errstate(over="ignore"):
        features = np.ascontiguousarray(matrix, dtype=dtypes.FEATURE)
    place = first_infinite(features)
    if place is not None:
        row, name = place[0], model.feature_names[place[1]]
        message = f"feature {displayed(name)!r} of row {row} (from 0) is infinite or beyond float32's 3.4e38"
        raise RequestRefusal(422, "not-finite", message, feature=name, row=row)
    try:
        check_whole_codes(features, model.feature_names, model.unnamed_categories)
    except DataError as error:
        raise RequestRefusal(422, "not-a-category", str(error)) from None
    return features


def _json(served: ServedModel, scores: np.ndarray, order: np.ndarray) -> bytes:
    found = {"model": served.name, "digest": served.digest, "ties": TIES, "scores": scores, "order": order}
    return orjson.dumps(found, option=orjson.OPT_SERIALIZE_NUMPY)


def _arrow(served: ServedModel, scores: np.ndarray, order: np.ndarray) -> bytes:
    pa = load_pyarrow()
    facts = {"model": served.name, "digest": served.digest, "ties": TIES}
    batch = pa.record_batch({"scores": scores, "order": order}).replace_schema_metadata(facts)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


FORMATS: Final = {
    one.media_type: one
    for one in (
        BodyFormat(JSON, matrix_from_json, _json),
        BodyFormat(arrow_queries.MEDIA_TYPE, matrix_from_arrow, _arrow),
    )
}


def format_of(content_type: str | None, content_encoding: str | None) -> BodyFormat:
    """The format that the headers of a request name."""
    if content_encoding not in (None, "", "identity"):
        raise RequestRefusal(415, "compressed", "the body is compressed: send it plain, without Content-Encoding")
    kind, _, parameters = (content_type or "").partition(";")
    form = FORMATS.get(kind.strip().lower())
    charset = parameters.strip().lower().removeprefix("charset=").strip('"')
    if form is None or (form.media_type == JSON and charset not in ("", "utf-8")):
        wanted = " or ".join(FORMATS)
        given = "there is none" if content_type is None else f"not {content_type!r}"
        raise RequestRefusal(415, "content-type", f"the Content-Type must be {wanted}, {given}", accepted=list(FORMATS))
    return form
