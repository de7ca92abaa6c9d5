"""What a measure is: its value on a ranking, and how the value changes when two documents swap ranks.

A measure is a frozen value (``NDCG(10) == rf.measure("NDCG@10")``) that holds no data. Labels become *worth* (gain,
0 or 1, stop probability) once, in NumPy, by ``worth``; kernels see only worth, so any gain table or function runs at
full speed. A new measure is one class in one file::

    class Hits(rf.Measure):
        cutoff: int | None = 10
        COLUMNS = 2

        def normaliser(self, ideal):                 # 0 means: this query cannot score, it is blank
            return 1.0 if ideal.shape[0] > 0 and ideal[0] > 0.0 else 0.0

        def value(self, ranked, normaliser):         # ranked[r] = worth of the document at rank r, from 0
            total = 0.0
            for r in range(min(ranked.shape[0], self.cutoff)):
                total += ranked[r]
            return total

        def prepare(self, ranked, normaliser, columns):   # optional: what swap_delta needs of each rank
            for r in range(ranked.shape[0]):
                columns[0, r] = ranked[r]
                columns[1, r] = 1.0 if r < self.cutoff else 0.0

        def swap_delta(self, a, b):                  # optional: value after - before when these two swap
            return (a[0] - b[0]) * (b[1] - a[1])

``value`` and ``normaliser`` suffice: the swap is then found by brute force, which is slow.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Literal

import numpy as np

from rankforce import dtypes
from rankforce.compiling.kernel_values import NO_CUTOFF, KernelValue
from rankforce.data.dataset_columns import MAIN_LABEL
from rankforce.errors import MeasureError, RankforceError
from rankforce.kinds import Number, shown
from rankforce.written_forms import name_of


class Measure(KernelValue):
    """Base of all measures.

    Methods called in kernels (arrays are float64, ranks count from 0):

    ``normaliser(ideal)``
        From the worth of the query's labelled documents in falling order; 0 marks a blank query.
    ``value(ranked, normaliser)``
        From the worth of the documents in ranked order. Called only where the normaliser is not 0.
    ``prepare(ranked, normaliser, columns)`` and ``swap_delta(a, b)``
        ``prepare`` writes ``COLUMNS`` numbers per rank into ``columns[:, r]``; ``swap_delta`` gets those of two
        documents as tuples, in any order, and returns value after minus value before they swap ranks. The fastest
        form: the pair loop is vectorised over it.
    ``prepare`` and ``swap_delta_between(columns, i, j)``
        Where what lies between ranks i < j matters. ``column_count`` says how many rows ``columns`` has.
    ``swap_deltas(columns, run_ends, i, first, last, changes)``
        Optional, beside ``swap_delta_between``, where the columns of two documents say it all but are too many for
        ``swap_delta``: write into ``changes[first:last]`` the change for the document at place i with each of these.
        Places are in any order; documents of equal worth mostly follow each other, and ``run_ends[p]`` is the first
        place after p that is worth something else. ``gives_swap_deltas`` says whether there are such columns.
    ``prepare_neighbours(ranked, normaliser, running)`` and ``swap_neighbours(ranked, normaliser, running, r)``
        Optional, for sweeps in which neighbours swap again and again: ``prepare_neighbours`` writes one number per
        rank; ``swap_neighbours`` returns value after minus value before the documents at ranks r and r + 1, of
        different worth, swap, and leaves ``running`` as ``prepare_neighbours`` would write it after the swap
        (``ranked`` is exchanged by the caller).
    ``expected_value(ranked, tie_ends, normaliser)``
        Optional: the exact mean over all orders of tied documents. ``tie_ends[r]`` is the first rank after the
        block of ties that rank r belongs to.
    """

    PYTHON_SIDE: ClassVar[frozenset[str]] = frozenset(
        {
            "worth",
            "check",
            "column_count",
            "gives_swap_deltas",
            "kernel_tuple",
            "labels_of",
            "written_form",
            "with_label",
            "require_number",
        }
    )
    REQUIRED: ClassVar[tuple[str, ...]] = ("normaliser", "value")
    ERROR: ClassVar[type[RankforceError]] = MeasureError
    COLUMNS: ClassVar[int] = 0
    ALIASES: ClassVar[tuple[str, ...]] = ()  # other names under which ``rf.measure`` reads it
    LOWEST: ClassVar[float] = 0.0  # the values a measure can take
    HIGHEST: ClassVar[float] = 1.0
    GAIN_WORDS: ClassVar[dict[str, str]] = {}  # what a gain is in words, where it is not the usual one
    ALWAYS_JUDGED_ONLY: ClassVar[bool] = False  # the definition itself leaves unlabelled documents out
    # What ``value`` is given where documents were not retrieved (score −∞): the ranked ones alone, or all, those not
    # retrieved standing last and worth 0, for a definition that counts them.
    COUNTS_UNRETRIEVED: ClassVar[bool] = False

    label: str = dataclasses.field(default=MAIN_LABEL, kw_only=True)
    judged_only: bool | None = dataclasses.field(default=None, kw_only=True, metadata={"python_only": True})

    def worth(self, labels: np.ndarray) -> np.ndarray:
        """What each label is worth to this measure, float64; unlabelled (NaN) documents are worth 0."""
        return np.nan_to_num(labels, nan=0.0).astype(dtypes.WORTH)

    def column_count(self, worth: np.ndarray) -> int:
        """How many rows ``prepare`` fills; at most ``COLUMNS`` unless ``swap_delta_between`` is used."""
        return self.COLUMNS

    def gives_swap_deltas(self, column_count: int) -> bool:
        """Whether ``swap_deltas`` serves data of so many columns."""
        return hasattr(self.Kernel, "swap_deltas")

    @property
    def cut(self) -> int | None:
        """The cut-off, or None."""
        return getattr(self, "cutoff", None)

    @property
    def leaves_out_unlabelled(self) -> bool:
        """Whether unlabelled documents are removed before ranks are assigned."""
        if self.ALWAYS_JUDGED_ONLY:
            return True
        return self.label != MAIN_LABEL if self.judged_only is None else bool(self.judged_only)

    @property
    def expects_the_mean(self) -> bool:
        """Whether ``expected_value``, if there is one, is the mean of ``value`` over all orders of ties."""
        return True

    @property
    def swap_kind(self) -> Literal["columns", "between", "brute"]:
        """How the change under a swap is found."""
        if hasattr(self.Kernel, "swap_delta"):
            return "columns"
        return "between" if hasattr(self.Kernel, "swap_delta_between") else "brute"

    @property
    def name(self) -> str:
        """The measure without its label source."""
        return self.written_form(with_label=False)

    def with_label(self, label: str) -> Measure:
        """The same measure on another label source."""
        return dataclasses.replace(self, label=label)

    def written_form(self, with_label: bool = True) -> str:
        """``NAME[@cutoff][(parameter=value,...)][:label]``, the inverse of ``rf.measure``."""
        text = type(self).__name__
        if self.cut is not None:
            text += f"@{self.cut}"
        shown = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name in ("cutoff", "label") or not field.init or value == field.default:
                continue
            shown.append(f"{field.name}={_written(value)}")
        if shown:
            text += f"({','.join(shown)})"
        if with_label and self.label != type(self).__dataclass_fields__["label"].default:
            text += f":{self.label}"
        return text

    def __str__(self) -> str:
        return self.written_form()

    def __repr__(self) -> str:
        return self.written_form()

    def check(self) -> None:
        if self.cut is not None and self.cut < 1:
            raise MeasureError(f"{type(self).__name__}: the cut-off must be at least 1, not {self.cut}")
        if self.cut is not None and self.cut > NO_CUTOFF:
            raise MeasureError(
                f"{type(self).__name__}: the cut-off must be at most {NO_CUTOFF}, not {self.cut}; no list is longer, "
                "so leave it out"
            )
        if not isinstance(self.label, str) or not self.label or set(self.label) & set(":@(), \t\n"):
            raise MeasureError(f"{type(self).__name__}: {self.label!r} cannot be the name of a label source")
        if self.judged_only is not None and not isinstance(self.judged_only, (bool, np.bool_)):
            raise MeasureError(
                f"{type(self).__name__}: judged_only must be true, false or None, not {self.judged_only!r}"
            )

    def require_number(self, name: str) -> None:
        """Raise unless the field ``name`` is a finite number; for fields that kernels do not see."""
        value = getattr(self, name)
        if not Number().holds(value):
            raise MeasureError(f"{type(self).__name__}: {name} must be a finite number, not {shown(value)}")
        object.__setattr__(self, name, float(value))

    def labels_of(self, labels: Any) -> np.ndarray:
        """This measure's labels out of a mapping of label sources."""
        try:
            return labels[self.label]
        except KeyError:
            known = ", ".join(map(repr, labels)) or "none"
            raise MeasureError(
                f"{self} reads the label source {self.label!r}, which the data does not have (it has: {known})"
            ) from None


class BinaryMeasure(Measure):
    """A measure that knows only relevant and not relevant: relevant means label >= ``relevant``."""

    relevant: float = dataclasses.field(default=1.0, kw_only=True, metadata={"python_only": True})

    def check(self) -> None:
        super().check()
        self.require_number("relevant")

    def worth(self, labels: np.ndarray) -> np.ndarray:
        return (labels >= self.relevant).astype(dtypes.WORTH)  # NaN compares false: unlabelled is not relevant


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value == int(value) and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, tuple):
        return "/".join(map(_written, value)) + ("/" if len(value) == 1 else "")
    if callable(value):
        return name_of(value)
    return str(value)
