"""``rf.report``: everything about a model on data, in one HTML file that needs no network."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

from rankforce.console import html_parts
from rankforce.console.plain_values import as_json
from rankforce.console.wording import counted
from rankforce.data.dataset import Dataset, check_dataset
from rankforce.displayed_text import displayed_path, escaped
from rankforce.errors import SettingsError
from rankforce.files.atomic_writes import check_replaceable
from rankforce.kinds import Whole, check_switches, shown
from rankforce.reporting import page
from rankforce.reporting.data_health import DataDrift, DataHealth
from rankforce.reporting.feature_roles import FeatureRoles
from rankforce.reporting.given import MeasuringOptions, ReportedModel
from rankforce.reporting.measured import ComparedRankings, MeasuredRankings, MeasuredSegments
from rankforce.reporting.parts import exact
from rankforce.reporting.query_choice import chosen_queries
from rankforce.reporting.query_details import QueryPart
from rankforce.reporting.score_shapes import ScoreShapes
from rankforce.reporting.texts import ReportTexts
from rankforce.reporting.training_story import TierFrontier, TrainingCurves, TrainingStory

FORMAT = 1  # of the contents


@dataclasses.dataclass(frozen=True, eq=False)
class Report:
    """What ``rf.report`` yields: the file it wrote (None: none), and all that stands in it as plain values."""

    path: Path | None
    contents: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """What the page shows, as numbers, text, lists and dictionaries that JSON can hold."""
        return self.contents

    def html(self) -> str:
        """The page."""
        return page.html_of(self.contents)

    def __repr__(self) -> str:
        where = "not written" if self.path is None else displayed_path(self.path)
        return f"<Report: {where}>"

    def __str__(self) -> str:
        """What was written where, and what was left out."""
        absent = {name: part["absent"] for name, part in self.contents.items() if "absent" in _mapping(part)}
        detailed = len(self.contents["queries"]["details"])
        where = "a report that is not written" if self.path is None else displayed_path(self.path)
        lines = [f"{where}: {counted(self.contents['n_queries'], 'query')}, {detailed:,} of them with their documents"]
        return "\n".join([*lines, *(f"  left out: {name} ({escaped(why)})" for name, why in absent.items())])

    def _repr_html_(self) -> str:
        """What notebooks show: the printed words; the page itself is a file to open."""
        return html_parts.block(html_parts.small(*str(self).split("\n")))


def report(
    model: Any,
    data: Dataset,
    *,
    path: str | os.PathLike[str] | None = "report.html",
    baselines: Any = None,
    measures: Any = None,
    segments: Any = None,
    train: Dataset | None = None,
    queries: Any = None,
    query_texts: Any = None,
    document_texts: Any = None,
    name: str | None = None,
    title: str | None = None,
    ties: str | None = None,
    blank: str | None = None,
    convention: str | None = None,
    level: float = 0.95,
    sample: int = 4000,
    permutations: int = 3,
    seed: int = 0,
    threads: int | None = None,
    progress: bool = True,
) -> Report:
    """Write one HTML file about a model on data: measures, comparisons, queries, features, training, data, drift.

    Parameters
    ----------
    model : a model of rankforce, a fitted ranker, or trees of LightGBM, XGBoost or CatBoost
    data : Dataset; best one that the model was not trained on
    path : the file; None: none is written
    baselines : what to compare with: anything that ``rf.evaluate`` ranks by, several in a list, or names to rankings in
        a mapping, as for ``rf.compare``
    measures : one or several; default: what the training watched, and NDCG@10
    segments : of the queries, as ``by`` of ``rf.evaluate``
    train : training data, for drift, of a model that does not keep the distribution of its training data
    queries : how many queries are shown with their documents (default 20: those that changed most, that do worst, and
        drawn ones), or a list of query ids. Of all others the page has the values
    query_texts, document_texts : mappings of ids to texts, shown beside the ids
    name : of the model in the page; "model" if left out
    title : of the page
    ties, blank, convention, level : as for ``rf.evaluate``
    sample : about how many documents of whole queries permuted losses and contributions are computed on
    permutations : how often the values of a feature are dealt anew
    seed : of the sample, of drawn queries, of the deals, and as for ``rf.evaluate``

    Parts that cannot be made (no baseline, a model without a history, data without labels) are left out, and the page
    says why. The same model, data and arguments give the same bytes.
    """
    check_switches(progress=progress)
    Whole(1, 10_000).check("permutations", permutations)
    target = _checked_path(path)
    if title is not None and not isinstance(title, str):
        raise SettingsError(f"title must be a text, not {shown(title)}")
    if train is not None:
        check_dataset(train)
    if target is not None:
        page.library()  # says what to install, before the work
    options = MeasuringOptions(measures, segments, ties, blank, convention, level, seed, threads)
    given = ReportedModel(model, data, name, baselines, options, sample)
    texts = ReportTexts(query_texts, document_texts)
    given.by_segment  # noqa: B018  # mistakes in segments are found before the work
    chosen = chosen_queries(given, queries)
    parts = {
        "measures": MeasuredRankings.of(given),
        "comparison": ComparedRankings.of(given),
        "segments": MeasuredSegments.of(given),
        "queries": QueryPart.of(given, chosen, texts, progress),
        "features": FeatureRoles.of(given, int(permutations), progress),
        "scores": ScoreShapes.of(given),
        "curves": TrainingCurves.of(given),
        "frontier": TierFrontier.of(given),
        "training": TrainingStory.of(given),
        "data": DataHealth.of(given),
        "drift": DataDrift.of(given, train),
    }
    contents = exact(_about(given, title) | {part: as_json(content.to_dict()) for part, content in parts.items()})
    found = Report(target, contents)
    if target is not None:
        page.write(target, contents)
    return found


def _mapping(part: Any) -> dict[str, Any]:
    return part if isinstance(part, dict) else {}


def _about(given: ReportedModel, title: str | None) -> dict[str, Any]:
    import rankforce

    data = given.data
    return {
        "format": FORMAT,
        "rankforce": rankforce.__version__,
        "title": title or f"{given.name} on {data.n_queries:,} queries",
        "model": given.name,
        "rankings": list(given.rankings),
        "measure": given.measure if given.evaluations else None,
        "n_queries": data.n_queries,
        "n_documents": data.n_documents,
        "n_features": data.n_features,
        "seed": given.options.seed,
    }


def _checked_path(path: Any) -> Path | None:
    if path is None:
        return None
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise SettingsError(f"path must be the name of the file to write, or None, not {shown(path)}")
    try:
        check_replaceable(path, SettingsError)
    except ValueError as error:  # a name that no file can have
        raise error if isinstance(error, SettingsError) else SettingsError(f"path {shown(path)}: {error}") from None
    return Path(os.fsdecode(path))
