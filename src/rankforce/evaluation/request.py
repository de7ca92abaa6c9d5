"""What an evaluation is asked for. All of it is checked before there are scores: a training may lie between."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset, check_dataset
from rankforce.data.hashing import checked_seed
from rankforce.displayed_text import displayed
from rankforce.errors import DataError, SettingsError
from rankforce.evaluation.conventions import Convention, convention_named
from rankforce.evaluation.significance import check_level
from rankforce.evaluation.ties import BY_DOCUMENT_ID, POLICIES, document_id_keys
from rankforce.kinds import check_choice
from rankforce.measures.catalogue import measure, written_parameters
from rankforce.measures.judged import JudgedMeasure, judged
from rankforce.measures.measure import Measure
from rankforce.remedies import NAME_ALONE, Argument
from rankforce.threads import using_threads
from rankforce.written_forms import told_apart

BLANK_POLICIES = ("skip", "zero", "one", "raise")


@dataclasses.dataclass(frozen=True)
class Request:
    """Measures (each once, with the parameters that were written out) and the policies that decide their values."""

    measures: Mapping[Measure, frozenset[str]]
    ties: str = "stable"
    blank: str = "skip"
    tool: Convention | None = None
    level: float = 0.95
    seed: int = 0
    threads: int | None = None

    @classmethod
    def of(
        cls,
        measures: str | Measure | Iterable[str | Measure],
        *,
        ties: str | None = None,
        blank: str | None = None,
        convention: str | None = None,
        level: float = 0.95,
        seed: int = 0,
        threads: int | None = None,
    ) -> Request:
        """As ``rf.evaluate`` is asked; an error where a measure or a policy is none, or two exclude each other."""
        tool = None if convention is None else convention_named(convention)
        if tool is not None and (ties is not None or blank is not None):
            raise SettingsError(
                f"convention {convention!r} fixes ties and blank queries: leave ",
                Argument("ties", NAME_ALONE),
                " and ",
                Argument("blank", NAME_ALONE),
                " out",
            )
        request = cls(
            _written_out(_several(measures)),
            _one_of("ties", "stable" if ties is None else ties, POLICIES) if tool is None else tool.ties,
            _one_of("blank", "skip" if blank is None else blank, BLANK_POLICIES),
            tool,
            check_level(level),
            checked_seed(seed),
            threads,
        )
        for requested in request.measures:
            request.applied(requested)
        return request

    def applied(self, asked: Measure) -> Measure:
        """A measure as the convention computes it."""
        return asked if self.tool is None else self.tool.applied(asked, self.measures[asked])

    def on(self, data: Dataset) -> list[JudgedMeasure]:
        """The measures with the labels of a data set; an error where they do not fit."""
        check_dataset(data)
        with using_threads(self.threads):
            known = [judged(data, self.applied(asked)) for asked in self.measures]
            for applied in known:
                if self.tool is not None:
                    self.tool.check_labels(applied.measure, applied.labels)
                elif self.blank == "raise":
                    refuse_blank_queries(applied, data)
            if self.ties == BY_DOCUMENT_ID:
                document_id_keys(data)
        return known


def refuse_blank_queries(known: JudgedMeasure, data: Dataset, queries: np.ndarray | None = None) -> None:
    """Raise if there are blank queries, among those of a mask if there is one."""
    is_blank = known.normalisers == 0.0
    if queries is not None:
        is_blank &= queries
    if is_blank.any():
        first = data.query_ids[np.flatnonzero(is_blank)[0]]
        raise DataError(
            f"{known.measure}: {int(is_blank.sum())} of {data.n_queries} queries are blank (no ranking can score), the "
            f"first is query {displayed(first)}; ",
            Argument("blank", "skip"),
            " leaves them out, ",
            Argument("blank", "zero"),
            " or ",
            Argument("blank", "one"),
            " counts them as such",
        )


def read_measures(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """The measures asked for, each once."""
    return list(_written_out(_several(measures)))


def _several(measures: Any) -> list[Any]:
    alone = isinstance(measures, (str, Measure)) or not isinstance(measures, Iterable)
    return [measures] if alone or getattr(measures, "ndim", 1) == 0 else list(measures)


def _written_out(measures: list[Any]) -> dict[Measure, frozenset[str]]:
    """The measures, each with its parameters that stand in its written form."""
    written: dict[Measure, frozenset[str]] = {asked: frozenset() for asked in told_apart(map(measure, measures))}
    for given in measures:
        asked = measure(given)
        written[asked] = written.get(asked, frozenset()) | written_parameters(given)
    if not written:
        raise SettingsError("name at least one measure, for example 'NDCG@10'")
    return written


def _one_of(name: str, value: str, options: tuple[str, ...]) -> str:
    check_choice(name, value, options)
    return value
