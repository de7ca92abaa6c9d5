"""Scores and grades: whether scores are the grades that they predict, and how far grades are apart in score."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from rankforce.data.dataset import MAIN_LABEL, Dataset, check_dataset
from rankforce.errors import DataError
from rankforce.evaluation.scores import scores_of
from rankforce.kinds import Text, Whole
from rankforce.plot.canvas import Canvas, plain

LARGEST = 1e300  # of scores: sums and differences of larger ones are infinite


@dataclasses.dataclass(frozen=True)
class CalibratedBins:
    """Bins of equally many documents by rising score: the mean score, mean label and its standard error of each.

    diagonal : the ends of the line on which scores are labels; None where scores lie beyond the range of the labels
    """

    label: str
    scores: tuple[float, ...]
    labels: tuple[float, ...]
    errors: tuple[float, ...]
    sizes: tuple[int, ...]
    diagonal: tuple[float, float] | None

    @classmethod
    def of(cls, ranking: Any, data: Dataset, label: str, bins: int) -> CalibratedBins:
        scores, labels = _labelled(ranking, data, label)
        parts = np.array_split(np.argsort(scores, kind="stable"), min(bins, len(scores)))
        places = np.array([scores[part].mean() for part in parts])
        low, high = labels.min(), labels.max()
        room = 0.25 * ((high - low) or 1.0)
        comparable = low - room <= places.min() and places.max() <= high + room
        return cls(
            label,
            tuple(places.tolist()),
            tuple(float(labels[part].mean()) for part in parts),
            tuple(float(labels[part].std() / np.sqrt(len(part))) for part in parts),
            tuple(map(len, parts)),
            (float(min(low, places.min())), float(max(high, places.max()))) if comparable else None,
        )


class GradeScores(NamedTuple):
    """The scores of the documents of one grade, or of a group of grades: their shares between the edges."""

    name: str
    documents: int
    shares: np.ndarray


@dataclasses.dataclass(frozen=True)
class ScoreSpread:
    """How the scores of each grade are distributed, over the same bins."""

    label: str
    edges: np.ndarray
    grades: tuple[GradeScores, ...]

    @classmethod
    def of(cls, ranking: Any, data: Dataset, label: str, bins: int) -> ScoreSpread:
        scores, labels = _labelled(ranking, data, label)
        groups = {f"{label} {value:g}": labels == value for value in np.unique(labels)}
        if len(groups) > 8:
            order = np.array_split(np.argsort(labels, kind="stable"), 4)
            groups = {
                f"{label} {labels[part[0]]:.3g} to {labels[part[-1]]:.3g}": np.isin(np.arange(len(labels)), part)
                for part in order
            }
        low, high = float(scores.min()), float(scores.max())
        edges = np.linspace(low, high, bins + 1) if low < high else np.linspace(low - 0.5, low + 0.5, bins + 1)
        grades = [
            GradeScores(name, int(chosen.sum()), np.histogram(scores[chosen], bins=edges)[0] / chosen.sum())
            for name, chosen in groups.items()
        ]
        return cls(label, edges, tuple(grades))


def calibration(
    ranking: Any, data: Dataset, label: str = MAIN_LABEL, *, bins: int = 10, ax: Any = None, path: Any = None
) -> Any:
    """The mean label of documents against their mean score, in bins of equally many documents.

    Of a model that predicts grades (``MART``, ``PRank``) the dots lie on the diagonal, which is drawn where scores lie
    in the range of the labels; of any other ranking they rise. Bars are ± two standard errors.

    ranking : whatever ``rf.evaluate`` takes
    label : the label source; documents without a label are left out
    bins : how many
    """
    Whole(2, 1000).check("bins", bins)
    found = CalibratedBins.of(ranking, data, label, bins)
    canvas = Canvas(ax, path)
    if found.diagonal is not None:
        ends = list(found.diagonal)
        canvas.axes.plot(ends, ends, color="black", linewidth=0.8, linestyle="--", label="score = label")
    places, means, errors = (np.array(numbers) for numbers in (found.scores, found.labels, found.errors))
    canvas.axes.errorbar(
        places, means, yerr=2.0 * errors, fmt="o-", capsize=2, color=canvas.colour(0), label="mean label"
    )
    canvas.axes.set_xlabel("mean score")
    canvas.axes.set_ylabel(plain(f"mean of {label}"))
    return canvas.finish(f"Labels by score, {len(found.sizes)} bins of {found.sizes[0]:,} documents", legend=True)


def score_distribution(
    ranking: Any, data: Dataset, label: str = MAIN_LABEL, *, bins: int = 40, ax: Any = None, path: Any = None
) -> Any:
    """The distribution of scores of each grade: how far grades are apart, and where they overlap.

    ranking : whatever ``rf.evaluate`` takes
    label : the label source; documents without a label are left out. With more than eight different labels, they are
        drawn in four groups of equally many documents
    """
    Whole(2, 1000).check("bins", bins)
    found = ScoreSpread.of(ranking, data, label, bins)
    canvas = Canvas(ax, path)
    for number, one in enumerate(found.grades):
        canvas.axes.stairs(
            one.shares,
            found.edges,
            color=canvas.colour(number),
            linewidth=1.4,
            label=plain(f"{one.name} ({one.documents:,})"),
        )
    canvas.axes.set_xlabel("score")
    canvas.axes.set_ylabel("share of the documents with this label")
    return canvas.finish(f"Scores by {label}", legend=True)


def _labelled(ranking: Any, data: Dataset, label: str) -> tuple[np.ndarray, np.ndarray]:
    """Scores and labels of the documents that have both."""
    check_dataset(data)
    Text("the name of a label source").check("label", label)
    if label not in data.labels:
        raise DataError(f"the data has no labels {label!r} (it has: {', '.join(data.labels) or 'none'})")
    scores, labels = data.by_row(scores_of(ranking, data)), data.labels[label]
    known = np.isfinite(scores) & ~np.isnan(labels)
    if not known.any():
        raise DataError(f"no document has a score and a label {label!r}")
    if not np.abs(scores[known]).max() < LARGEST:
        raise DataError(f"a score is beyond ±{LARGEST:g}: there is no scale to draw it on")
    return scores[known], labels[known]
