"""Members of a training compared, before the first of them acts on what only some have.

What a data set has (labels, weights, features, categories) decides which sums are exchanged: members that differ in it
would wait for different ones. So they tell each other what they were given, and all raise the same error.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rankforce.collective import alone, collective
from rankforce.console.wording import listed
from rankforce.data.dataset import Dataset
from rankforce.data.preferences import Preferences
from rankforce.errors import DataError

NONE = "none"
MOST_NAMED = 3  # differences, in an error


class UnlikeDataError(DataError):
    """Members of a training were given data of different kinds: raised by all of them."""


class Difference(NamedTuple):
    """What members have in different ways: those that are unlike most, each with what it has, and what most have."""

    trait: str
    odd: dict[str, str]
    usual: str


def differences(members: Mapping[str, Mapping[str, str]]) -> Iterator[Difference]:
    """In what members differ, who are given by their names, each with its traits; what one does not have is "none"."""
    for trait in dict.fromkeys(name for one in members.values() for name in one):
        found = {name: one.get(trait, NONE) for name, one in members.items()}
        usual = Counter(found.values()).most_common(1)[0][0]
        odd = {name: value for name, value in found.items() if value != usual}
        if odd:
            yield Difference(trait, odd, usual)


def check_alike(data: Dataset, validation: Any, preferences: Preferences | None = None) -> None:
    """Raise, in every member, unless all were given the same kinds of data: to ``fit``, as it was given them."""
    if alone():
        return
    mine = _traits_of(data, "training data") | _traits_of_validation(validation)
    mine |= {"preferences": "some"} if preferences is not None else {}
    told = [json.loads(one) for one in collective().gather(json.dumps(mine).encode())]
    found = list(differences({f"member {rank}": traits for rank, traits in enumerate(told)}))
    if not found:
        return
    named = "; ".join(
        f"{one.trait}: {', '.join(f'{name} has {value}' for name, value in one.odd.items())}, "
        f"{'the other' if len(told) - len(one.odd) == 1 else 'the others'} {one.usual}"
        for one in found[:MOST_NAMED]
    )
    more = f"; and {len(found) - MOST_NAMED:,} more" if len(found) > MOST_NAMED else ""
    raise UnlikeDataError(
        f"members of a training must be given the same columns, and differ in {named}{more}. Give all of them what one "
        "has, or leave it out everywhere; lists of categories are the same where parts are read like one data set"
    )


def _traits_of(data: Dataset, what: str) -> dict[str, str]:
    """By name, what must be the same in all members; in the words of an error."""
    traits = {
        f"labels of the {what}": ", ".join(map(repr, sorted(data.labels))) or NONE,
        f"weights of documents in the {what}": NONE if data.weights is None else "some",
        f"weights of queries in the {what}": NONE if data.query_weights is None else "some",
    }
    for name in sorted(data.feature_names):
        categories = data.categories.get(name)
        kind = "numbers" if categories is None else f"the categories {_in_order(categories)}"
        traits[f"feature {name!r} of the {what}"] = kind
    return traits | {f"the order of features in the {what}": _in_order(data.feature_names)}


def _in_order(entries: Any) -> str:
    """The first of some entries; a digest tells from others what begins alike."""
    digest = hashlib.blake2b(repr(tuple(entries)).encode(errors="surrogatepass"), digest_size=4).hexdigest()
    return f"{listed([repr(one) for one in entries], 5, str)} (digest {digest})"


def _traits_of_validation(validation: Any) -> dict[str, str]:
    if validation is None:
        return {}
    if isinstance(validation, Preferences):
        return {"validation": "preferences", **_traits_of(validation.data, "validation data")}
    if isinstance(validation, Dataset):
        return {"validation": "a data set", **_traits_of(validation, "validation data")}
    return {"validation": "arrays"}
