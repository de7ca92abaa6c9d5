"""What a model file keeps of the distribution of its training data: a section of its provenance, if there is one."""

from __future__ import annotations

import dataclasses
import math
import operator
from typing import TYPE_CHECKING, Any, TypeVar

from rankforce.collective import total
from rankforce.data.dataset import Dataset
from rankforce.data.distributions import SCORES, Distribution, KnownData, distribution_of, sampled_queries
from rankforce.models.model import Model
from rankforce.models.provenance import Provenance

if TYPE_CHECKING:
    from rankforce.models.storage import Fields

M = TypeVar("M", bound=Model)

NOISE = ("trace", "squares", "spread", "steps")
_MOST = 2**53


def written_provenance(provenance: Provenance) -> dict[str, Any]:
    """A provenance as a file holds it; without known data there is no word of it."""
    fields = {field.name: getattr(provenance, field.name) for field in dataclasses.fields(Provenance)}
    known = fields.pop("known_data")
    return fields if known is None else fields | {"known_data": _written(known)}


def _written(known: KnownData) -> dict[str, Any]:
    return {
        "all_queries": known.all_queries,
        "queries": known.queries,
        "features": [_written_distribution(one) for one in known.features],
        "scores": None if known.scores is None else _written_distribution(known.scores),
        "score_queries": known.score_queries,
    }


def _written_distribution(one: Distribution) -> dict[str, Any]:
    lists = {"cuts": list(one.cuts), "counts": list(one.counts), "holders": list(one.holders)}
    noise = {"missing": one.missing, "noise": [getattr(one, name) for name in NOISE]}
    return lists | noise | ({} if one.categories is None else {"categories": list(one.categories)})


def knowing_scores(model: M, held_out: Dataset | None) -> M:
    """The model, which also keeps the distribution of its scores for data that it did not learn from, if given some."""
    known = model.provenance.known_data
    if held_out is None or known is None:
        return model
    sample = held_out.take_queries(sampled_queries(held_out, SCORES))
    scores = distribution_of(model.predict(sample), sample)
    known = dataclasses.replace(known, scores=scores, score_queries=total(sample.n_queries))
    return dataclasses.replace(model, provenance=dataclasses.replace(model.provenance, known_data=known))


def read_known_data(provenance: Fields, features: int) -> KnownData | None:
    """The known data of a model of so many features; None in a file that has none."""
    if "known_data" not in provenance.values:
        return None
    fields = type(provenance)(provenance.mapping("known_data"), provenance.name)
    listed = fields.get("features")
    if not isinstance(listed, list) or len(listed) != features:
        raise fields.error("'known_data' must have a distribution of every feature")
    scores = fields.get("scores")
    return KnownData(
        all_queries=fields.whole("all_queries", least=1, most=_MOST),
        queries=fields.whole("queries", least=1, most=_MOST),
        features=tuple(_distribution(type(fields)(one, fields.name)) for one in listed),
        scores=None if scores is None else _distribution(type(fields)(scores, fields.name)),
        score_queries=fields.whole("score_queries", least=0, most=_MOST),
    )


def _distribution(fields: Fields) -> Distribution:
    cuts, noise = fields.numbers("cuts"), fields.numbers("noise")
    counts, holders = (_whole_numbers(fields, key) for key in ("counts", "holders"))
    rising = all(map(operator.lt, cuts, cuts[1:])) and all(map(math.isfinite, cuts))
    if not rising or len(cuts) > 254 or len(counts) != len(cuts) + 1 or len(holders) != len(counts) + 1:
        raise fields.error("a distribution must have rising 'cuts', one more 'counts' and two more 'holders'")
    missing = fields.whole("missing", least=0, most=_MOST)
    if sum(counts) + missing < 1 or len(noise) != len(NOISE) or not all(0.0 <= one < math.inf for one in noise):
        raise fields.error("a distribution must hold documents, and four numbers of 'noise' that are not negative")
    categories = _categories(fields) if "categories" in fields.values else None
    if categories is not None and len(categories) != len(cuts):
        raise fields.error("a distribution must have as many 'categories' as 'cuts'")
    trace, squares, spread, steps = noise
    return Distribution(tuple(cuts), counts, missing, holders, trace, squares, spread, steps, categories)


def _categories(fields: Fields) -> tuple[str | int, ...]:
    listed = fields.get("categories")
    if not isinstance(listed, list) or not all(type(one) in (str, int) for one in listed):
        raise fields.error("'categories' must be texts and whole numbers")
    return tuple(listed)


def _whole_numbers(fields: Fields, key: str) -> tuple[int, ...]:
    values = fields.get(key)
    if not isinstance(values, list) or not set(map(type, values)) <= {int}:
        raise fields.error(f"{key!r} must hold whole numbers")
    if values and not 0 <= min(values) <= max(values) <= _MOST:
        raise fields.error(f"{key!r} must hold whole numbers")
    return tuple(values)
