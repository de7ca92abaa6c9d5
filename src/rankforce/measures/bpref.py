"""Binary preference: for collections where most documents are unlabelled."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rankforce.measures.hits import all_hits
from rankforce.measures.measure import BinaryMeasure


class BPref(BinaryMeasure):
    """(1/R) Σ over relevant documents d of 1 − min(n_d, R) / min(N, R) (Buckley and Voorhees, 2004; as trec_eval).

    n_d: labelled documents above d that are not relevant; N: all of them; R: all relevant documents. The term is 1
    where n_d = 0. Unlabelled documents are left out by definition, and so are those with a
    negative label: in trec_eval that means "was not up for judgment".
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("Bpref", "bpref")
    ALWAYS_JUDGED_ONLY: ClassVar[bool] = True
    COUNTS_UNRETRIEVED: ClassVar[bool] = True  # N is the length of the list minus R
    COLUMNS: ClassVar[int] = 4

    def labels_of(self, labels: Any) -> np.ndarray:
        found = super().labels_of(labels)
        return np.where(found < 0.0, np.nan, found) if (found < 0.0).any() else found

    def normaliser(self: Any, ideal: Any) -> Any:
        return all_hits(ideal)

    def share_below(self: Any, above: Any, relevant: Any, others: Any) -> Any:
        """The term of a relevant document with ``above`` non-relevant ones above it."""
        return 1.0 - min(above, relevant) / max(min(others, relevant), 1.0)

    def value(self: Any, ranked: Any, normaliser: Any) -> Any:
        others = ranked.shape[0] - normaliser
        above = 0.0
        total = 0.0
        for r in range(ranked.shape[0]):
            if ranked[r] > 0.0:
                total += self.share_below(above, normaliser, others)
            else:
                above += 1.0
        return total / normaliser

    def prepare(self: Any, ranked: Any, normaliser: Any, columns: Any) -> Any:
        # With f(n) the term of a relevant document that has n non-relevant ones above it, and a above b:
        #   b, relevant, rises:  f(n_a) − f(n_b)      + (relevant between with n ≤ R) / min(N, R)
        #   a, relevant, falls:  f(n_b + 1) − f(n_a)  − (relevant between with n < R) / min(N, R)
        # n_r: non-relevant documents above rank r. Each side depends on one of the two documents only.
        others = ranked.shape[0] - normaliser
        step = 1.0 / max(min(others, normaliser), 1.0)
        above = 0.0
        gaining = 0.0  # relevant documents down to here with n ≤ R
        losing = 0.0  # the same with n < R
        for r in range(ranked.shape[0]):
            here = self.share_below(above, normaliser, others)
            columns[0, r] = ranked[r]
            columns[3, r] = -1.0 * r  # larger is nearer the top
            if ranked[r] > 0.0:
                columns[2, r] = (gaining * step - here) / normaliser  # as the lower
                gaining += 1.0 if above <= normaliser else 0.0
                losing += 1.0 if above < normaliser else 0.0
                columns[1, r] = (losing * step - here) / normaliser  # as the upper
            else:
                columns[1, r] = (here - gaining * step) / normaliser
                below = self.share_below(above + 1.0, normaliser, others)
                columns[2, r] = (below - losing * step) / normaliser
                above += 1.0

    def swap_delta(self: Any, a: Any, b: Any) -> Any:
        a_above = a[3] > b[3]
        change = (a[1] if a_above else b[1]) + (b[2] if a_above else a[2])
        return change if a[0] != b[0] else 0.0

    def prepare_neighbours(self: Any, ranked: Any, normaliser: Any, running: Any) -> Any:
        above = 0.0
        for r in range(ranked.shape[0]):
            running[r] = above
            above += 1.0 if ranked[r] == 0.0 else 0.0

    def swap_neighbours(self: Any, ranked: Any, normaliser: Any, running: Any, r: Any) -> Any:
        above = running[r]
        running[r + 1] = above + (1.0 if ranked[r + 1] == 0.0 else 0.0)
        others = ranked.shape[0] - normaliser
        loss = self.share_below(above, normaliser, others) - self.share_below(above + 1.0, normaliser, others)
        return (ranked[r + 1] - ranked[r]) * loss / normaliser

    def expected_value(self: Any, ranked: Any, tie_ends: Any, normaliser: Any) -> Any:
        # Among q non-relevant documents tied with it, a relevant one has 0, 1, ..., q above it with equal chances.
        others = ranked.shape[0] - normaliser
        total = 0.0
        above = 0.0
        start = 0
        while start < ranked.shape[0]:
            end = tie_ends[start]
            hits = 0.0
            for r in range(start, end):
                hits += ranked[r]
            tied = end - start - hits
            if hits > 0.0:
                terms = 0.0
                for extra in range(int(tied) + 1):
                    terms += self.share_below(above + extra, normaliser, others)
                total += hits * terms / (tied + 1.0)
            above += tied
            start = end
        return total / normaliser
