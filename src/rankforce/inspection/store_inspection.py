"""What can be said about a store: it has bins in place of values.

Sizes, labels, ranges and missing values are as exact as of the data itself. What a feature gives away is looked for in
the order of bins, on whole queries chosen by hashes: whatever orders the labels there does so with its values. What
needs the values themselves is named, not guessed.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from rankforce.console.wording import counted, listed
from rankforce.data.blocks import SourceFile
from rankforce.data.dataset import Dataset
from rankforce.data.distributions import sampled_queries
from rankforce.data.query_groups import Numbered
from rankforce.displayed_text import displayed
from rankforce.errors import DataError
from rankforce.inspection import duplicates
from rankforce.inspection.feature_strength import feature_strengths
from rankforce.inspection.findings import Finding
from rankforce.inspection.leaks import leaks
from rankforce.memory import written_size
from rankforce.models.binned_scores import values_of_bins
from rankforce.stores.binned_dataset import BinnedDataset
from rankforce.stores.format import damaged_arrays

VALUES = 2**24  # of features, in the sample that leaks are looked for in: 64 MB
NOT_KNOWN = (
    "features with heavy tails",
    "features that are ids, positions or rounded numbers",
    "documents that differ within bins",
    "document ids",
)


@dataclasses.dataclass(frozen=True)
class StoreFacts:
    """What an inspection says of a store alone.

    damaged : arrays whose bytes are not those that were written; None for some queries of a store, which are in memory
    changed_sources : file that it was made from → what became of it
    ranges : feature → lowest and highest value, None where it has none
    sampled_queries : those that leaks were looked for in
    not_known : what needs the values of features
    """

    path: str
    bytes: int
    max_bins: int
    damaged: tuple[str, ...] | None
    sources: int
    changed_sources: Mapping[str, str]
    ranges: Mapping[str, tuple[float, float] | None]
    sampled_queries: int
    not_known: tuple[str, ...] = NOT_KNOWN

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def lines(self) -> Iterator[tuple[str, str]]:
        """(what, value) for people."""
        if self.damaged is None:
            state = "in memory"
        else:
            state = "all digests are right" if not self.damaged else f"damaged: {listed(self.damaged)}"
        yield "store", f"{written_size(self.bytes)} of at most {self.max_bins} bins per feature; {state}"
        if self.sources:
            unchanged = self.sources - len(self.changed_sources)
            yield "made from", f"{counted(self.sources, 'file')}, {unchanged:,} of them unchanged"
        yield "not known", "; ".join(self.not_known)

    def findings(self) -> Iterator[Finding]:
        """What is wrong with the store."""
        if self.damaged:
            yield Finding(
                "damaged_store",
                f"{counted(len(self.damaged), 'array is', 'arrays are')} not as written: {listed(self.damaged)}.",
                "What is trained on it is wrong: make the store again from the data.",
            )
        if self.changed_sources:
            told = [f"{displayed(path)} ({what})" for path, what in self.changed_sources.items()]
            yield Finding(
                "changed_sources",
                f"{counted(len(told), 'file', 'files')} that it was made from: {listed(told)}.",
                "The store holds what they were; make it again if it is to hold what they are.",
            )


def facts_of_store(store: BinnedDataset) -> dict[str, Any]:
    """The parts of an Inspection that are otherwise found in the features."""
    lows, highs, shares = (np.array(of) for of in store.feature_ranges())
    names = store.feature_names
    zero = (lows == 0.0) & (highs == 0.0) & (store.n_categories == 0)
    never = (shares == 1.0) | ((shares == 0.0) & zero)
    constant = (shares == 0.0) & (lows == highs) & ~never
    sample = _sample(store)
    strengths = feature_strengths(sample)
    sources = [SourceFile(**one) for one in store.header["sources"]]
    ranges = zip(lows.tolist(), highs.tolist(), strict=True)
    return {
        "duplicates": duplicates.find_in_bins(store),
        "strongest_features": tuple(strengths[:5]),
        "answering_features": tuple(strength for strength in strengths if strength.gives_answer_away),
        "leaks": tuple(leaks(sample)),
        "missing_share": float(shares.mean()) if len(shares) else 0.0,
        "missing_features": {names[j]: float(shares[j]) for j in np.flatnonzero(shares)},
        "never_seen_features": tuple(names[j] for j in np.flatnonzero(never)),
        "constant_features": {names[j]: float(lows[j]) for j in np.flatnonzero(constant)},
        "heavy_tailed_features": {},
        "store": StoreFacts(
            path=str(store.path),
            bytes=store.bins.rows.nbytes,
            max_bins=store.max_bins,
            damaged=tuple(damaged_arrays(store.folder, store.header)) if store.mapped else None,
            sources=len(sources),
            changed_sources={one.path: what for one in sources if (what := _change(one)) is not None},
            ranges={
                name: None if np.isnan(low) else (low, high) for name, (low, high) in zip(names, ranges, strict=True)
            },
            sampled_queries=sample.n_queries,
        ),
    }


def _change(before: SourceFile) -> str | None:
    """What became of a file, if it is another one."""
    if not os.path.exists(before.path):
        return "is not there"
    try:
        return None if SourceFile.of(before.path) == before else "was changed"
    except DataError:
        return "cannot be read"


def _sample(store: BinnedDataset) -> Dataset:
    """Whole queries with the largest value of each bin in place of the value: in the same order, with more ties."""
    some: Any = store
    if store.n_documents * store.n_features > VALUES:
        some = store.take_queries(sampled_queries(store, max(1, VALUES // store.n_features)))
    return Dataset(
        values_of_bins(some, 0, some.n_documents),
        qid=Numbered(some.row_queries, some.query_ids),
        labels=dict(some.labels),
        feature_names=some.feature_names,
        categories=some.categories,
    )
