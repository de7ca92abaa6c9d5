"""What can be given as a ranking: scores, a feature, a model, a TREC run; and as judgments: data, or TREC qrels.

A ranking is written ``kind:what`` (``feature:25``, ``scores:my.txt``, ``model:model.json``, ``run:bm25.run``). Without
the kind it is found out: a file by its content, any other word as the name of a feature.
"""

from __future__ import annotations

import dataclasses
import gzip
import math
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankforce.cli import output
from rankforce.cli.features_of_models import known_features
from rankforce.cli.misplaced_files import check_is_no_data, load_model
from rankforce.cli.reading import input_file, read_data, reading_options
from rankforce.console.wording import counted
from rankforce.displayed_text import displayed, displayed_path
from rankforce.errors import DataError, FileFormatError, SettingsError
from rankforce.files.decompression import opened

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset
    from rankforce.data.preferences import Preferences

    Qrels = Mapping[str, Mapping[str, float]]

KINDS = ("scores", "feature", "model", "run")
_FINITE = "a document that was not retrieved has score -inf, every other a finite one"


@dataclasses.dataclass(frozen=True)
class NamedRanking:
    """A ranking as the user named it, in the form that ``rf.evaluate`` takes: what ranks, and the data it ranks."""

    name: str
    kind: str
    scores: Any
    data: Dataset


def read_judgments(written: str, options: Sequence[str] | None = None, rankings: Sequence[str] = ()) -> Dataset | Qrels:
    """The data of a file; TREC qrels by their content or with the prefix ``qrels:``.

    Features are read as models among the rankings know them.
    """
    import rankforce as rf

    kind, colon, what = written.partition(":")
    if colon and kind == "qrels":
        path, qrels = Path(input_file(what)), True
    else:
        path = Path(input_file(written))
        qrels = path.is_file() and _looks_like_qrels(path)
    if not qrels:
        return read_data(path, options, like=known_features(rankings))
    if reading_options(options):
        raise SettingsError(f"{path} holds TREC judgments, which have no options: leave --read out")
    return rf.read_qrels(path)


def read_ranking(written: str, judgments: Dataset | Qrels, missing_queries: str = "zero") -> NamedRanking:
    """The ranking that a user's word or file stands for. A TREC run is joined with the judgments."""
    kind, what = kind_and_name(written, judgments)
    if kind == "run":
        return _joined(written, what, judgments, missing_queries)
    if isinstance(judgments, Mapping):
        raise SettingsError(
            f"{written}: TREC judgments name documents, not rows or features: give a TREC run to evaluate on them"
        )
    return NamedRanking(written, kind, _READERS[kind](what, judgments), judgments)


def read_agreement(path: str, ranking: NamedRanking, measure: Sequence[str] | None) -> Preferences:
    """The preferences between the documents of a ranking that its agreement is measured with."""
    import rankforce as rf

    if measure:
        raise SettingsError("--preferences says what is measured: leave --measure out")
    return rf.read_preferences(path, ranking.data)


def kind_and_name(written: str, judgments: Dataset | Qrels) -> tuple[str, str]:
    """What kind of ranking is meant, and its file or feature."""
    kind, colon, what = written.partition(":")
    if colon and kind in KINDS:
        return kind, what
    return _kind_of(written, () if isinstance(judgments, Mapping) else judgments.feature_names), written


def _joined(written: str, what: str, judgments: Dataset | Qrels, missing_queries: str) -> NamedRanking:
    import rankforce as rf
    from rankforce.data.trec import judged_run

    qrels = judgments if isinstance(judgments, Mapping) else _qrels_of(judgments)
    joined = judged_run(qrels, rf.read_run(what), missing_queries=missing_queries)  # type: ignore[arg-type]
    if joined.queries_without_run:
        treatment = {"zero": "counted as if nothing was retrieved", "skip": "left out"}[missing_queries]
        output.note(
            f"{displayed_path(what)} lacks {counted(len(joined.queries_without_run), 'judged query')}: {treatment}"
        )
    if joined.queries_without_judgments:
        unjudged = counted(len(joined.queries_without_judgments), "query")
        output.note(f"{displayed_path(what)} has {unjudged} without judgments: left out")
    return NamedRanking(written, "run", joined.scores, joined.data)


def _qrels_of(data: Dataset) -> Qrels:
    """The main labels of a data set by query and document id."""
    if data.document_ids is None:
        raise DataError("a TREC run names documents, and the data has no document ids: evaluate it on qrels instead")
    qrels: dict[str, dict[str, float]] = {}
    rows = zip(data.qid.tolist(), data.document_ids.tolist(), data.label().tolist(), strict=True)
    for query, document, label in rows:
        of_query = qrels.setdefault(str(query), {})
        if str(document) in of_query:
            raise DataError(f"document {document!r} stands twice in query {query!r}: a run cannot tell which is meant")
        if label == label:  # NaN: not judged
            of_query[str(document)] = label
    return qrels


def _kind_of(written: str, feature_names: Sequence[str]) -> str:
    path = Path(written)
    feature = written in feature_names
    if path.is_file():
        if feature:
            raise SettingsError(f"{written!r} is a feature and a file: write feature:{written} or scores:{written}")
        return _kind_of_file(path)
    if feature:
        return "feature"
    if path.exists() and not path.is_dir():
        return "scores"  # a pipe: looking at it would take away what it brings
    raise SettingsError(
        f"{written!r} is neither a file nor a feature of the data (it has {_some(feature_names)}); "
        "a ranking is a file of scores, the name of a feature, a model file or a TREC run"
    )


def _kind_of_file(path: Path) -> str:
    if path.suffix == ".npy":
        return "scores"
    check_is_no_data(path, "a ranking")
    number, line = _first_line(path)
    if line.startswith(("{", "[", "<", "##", "tree")):
        return "model"
    words = line.split()
    if len(words) == 6:
        return "run"
    if len(words) == 1 and _is_number(words[0]):
        return "scores"
    raise FileFormatError(
        "cannot tell what kind of ranking this is",
        path=path,
        line=number,
        text=line,
        remedy="scores: one number per line; a TREC run: six words per line; or say which: "
        + ", ".join(f"{kind}:{path}" for kind in ("scores", "model", "run")),
    )


def _looks_like_qrels(path: Path) -> bool:
    if path.name.endswith((".qrels", ".qrel")):
        return True
    words = _first_line(path)[1].split()
    # query, iteration, document, judgment; a LETOR line has qid: in its second word
    return len(words) == 4 and ":" not in words[1] and _is_number(words[3])


def _first_line(path: Path) -> tuple[int, str]:
    """The first line with anything in it and its number, of a plain or gzip file, within its first 4096 bytes."""
    try:
        with opened(path, compressed=path.suffix == ".gz") as stream:
            start = stream.read(4096)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileFormatError(f"damaged gzip file ({error})", path=path, remedy="copy or download it again") from None
    except OSError as error:
        raise FileFormatError(f"the file cannot be read: {error.strerror or error}", path=path) from None
    for number, line in enumerate(start.decode("utf-8", errors="replace").splitlines(), start=1):
        if line.strip():
            return number, line.strip()
    raise FileFormatError("the file is empty", path=path)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_scores(what: str, data: Dataset) -> Any:
    import numpy as np

    path = Path(what)
    if path.suffix == ".npy":
        return _read_score_array(path)
    try:
        with opened(path, compressed=path.suffix == ".gz") as stream:
            lines = stream.read().decode().splitlines()
    except (EOFError, zlib.error, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise FileFormatError(f"not text ({error})", path=path, remedy="scores are one number per line") from None
    except OSError as error:
        raise FileFormatError(f"the file cannot be read: {error.strerror or error}", path=path) from None
    scores = np.empty(len(lines))
    for index, line in enumerate(lines):
        try:
            scores[index] = float(line)
        except ValueError:
            raise FileFormatError(
                "not a score", path=path, line=index + 1, text=line, remedy="write one number per line, in row order"
            ) from None
        if not scores[index] < math.inf:  # NaN is not, either
            raise FileFormatError("not a score", path=path, line=index + 1, text=line, remedy=_FINITE)
    if len(scores) != data.n_documents:
        raise FileFormatError(
            f"{counted(len(scores), 'score')} for {counted(data.n_documents, 'document')}",
            path=path,
            remedy="write one score per row of the data, in the same order",
        )
    return scores


def _read_score_array(path: Path) -> Any:
    """The scores that NumPy saved. Their number and shape are checked where they meet the data."""
    import numpy as np

    try:
        with path.open("rb") as file:  # the format of single arrays and nothing else: no archives, no pickled objects
            scores = np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise FileFormatError(f"the file cannot be read: {error.strerror or error}", path=path) from None
    except Exception:  # NumPy parses the header as Python, and raises whatever that does
        remedy = "numpy.save writes one; or give text"
        raise FileFormatError("not an array of numbers as NumPy saves it", path=path, remedy=remedy) from None
    if scores.dtype.kind not in "iufb":
        problem, remedy = f"an array of {scores.dtype}, not of numbers", "save one number per document with numpy.save"
        raise FileFormatError(problem, path=path, remedy=remedy)
    if scores.dtype.kind == "f" and not (scores < math.inf).all():
        place = int(np.flatnonzero(~(scores < math.inf))[0])
        problem = f"entry {place} (counted from 0) is no score"
        raise FileFormatError(problem, path=path, text=str(scores.flat[place]), remedy=_FINITE)
    return scores


def _read_feature(what: str, data: Dataset) -> str:
    if what not in data.feature_names:
        raise SettingsError(f"the data has no feature {what!r} (it has {_some(data.feature_names)})")
    return what


def _read_model(what: str, data: Dataset) -> Any:
    return load_model(what)


_READERS = {"scores": _read_scores, "feature": _read_feature, "model": _read_model}


def _some(names: Sequence[str]) -> str:
    if not names:
        return "no features"
    return ", ".join(map(displayed, names[:8])) + (", ..." if len(names) > 8 else "")
