"""Cross-validation over whole queries, with the values of all queries pooled."""

from __future__ import annotations

import dataclasses
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.console.interruption import interrupting_at_once
from rankforce.console.numeric_cells import count_cell, number_cell
from rankforce.console.progress import Progress
from rankforce.console.result_tables import Cell, ResultTable, Tabular
from rankforce.data.dataset import MAIN_LABEL, Dataset, check_dataset
from rankforce.data.fold_files import Fold, FoldFiles
from rankforce.data.hashing import checked_seed
from rankforce.data.spread import SpreadData, bare_data, check_takes_spread
from rankforce.errors import DataError, SettingsError
from rankforce.evaluation.evaluate import evaluate
from rankforce.evaluation.foreign_models import name_of
from rankforce.evaluation.request import Request
from rankforce.evaluation.result import Evaluation
from rankforce.kinds import FunctionOf, OrNone, check_number, check_switches, shown
from rankforce.measures.mean import weights_of_queries
from rankforce.measures.measure import Measure
from rankforce.remedies import Argument, Phrase, Setting
from rankforce.stores.binned_dataset import BinnedDataset
from rankforce.training.ranker import Ranker
from rankforce.tuning.foreign_rankers import ForeignRanker, trainable


@dataclasses.dataclass(frozen=True, eq=False)
class CrossValidation(Tabular):
    """What ``rf.cross_validate`` yields.

    evaluation : over the queries of all test parts, each ranked by the ranker that had not seen it
    folds : the evaluation of each test part
    fold_of : the fold (from 1) of every query, following ``evaluation.query_ids``
    scores : out-of-fold score of every document: following the rows of the data, or of the test parts in turn
    rankers : the fitted rankers, if they were asked for
    """

    evaluation: Evaluation
    folds: tuple[Evaluation, ...]
    fold_of: np.ndarray
    scores: np.ndarray
    rankers: tuple[Any, ...] = ()

    @property
    def mean(self) -> Any:
        """The mean over all queries by measure."""
        return self.evaluation.mean

    @property
    def per_query(self) -> Any:
        """The value of every query by measure."""
        return self.evaluation.per_query

    @property
    def fold_means(self) -> dict[str, np.ndarray]:
        """The mean of each fold by measure."""
        return {name: np.array([one.mean[name] for one in self.folds]) for name in self.evaluation.measures}

    def to_pandas(self) -> Any:
        """One row per query: fold and measures."""
        frame = self.evaluation.to_pandas()
        frame.insert(0, "fold", self.fold_of)
        return frame

    def plot(self, of: str | Measure | None = None, *, ax: Any = None, path: Any = None) -> Any:
        """The values of all queries of a measure (the first, if left out) as a picture: ``rf.plot.per_query``."""
        import rankforce

        return rankforce.plot.per_query(self, of, ax=ax, path=path)

    def _result_table(self) -> ResultTable:
        names = list(self.evaluation.measures)
        parts = {f"fold {number}": one for number, one in enumerate(self.folds, start=1)} | {"all": self.evaluation}
        rows: list[list[str | Cell]] = [
            [part, count_cell(one.n_queries), *(number_cell(one.mean[name]) for name in names)]
            for part, one in parts.items()
        ]
        notes = self.evaluation.policies.sentences()
        return ResultTable(f"{len(self.folds)} folds", ["", "queries", *names], rows, notes)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        """What notebooks show: the means of the folds, and below them the evaluation of all queries."""
        return f"<div>{super()._repr_html_()}{self.evaluation._repr_html_()}</div>"

    def to_text(self, width: int | None = None) -> str:
        """The means of the folds, and below them the evaluation of all queries."""
        return f"{super().to_text(width)}\n\n{self.evaluation.to_text(width)}"


WANTED_FOLDS = (
    "cross-validation needs a Dataset, shared data, or folds that are tuples (train, test) or (train, validation, test)"
)


def cross_validate(
    ranker: Any,
    data: Dataset | SpreadData | Iterable[Fold | tuple[Any, ...]],
    measures: str | Measure | Iterable[str | Measure] = "NDCG@10",
    *,
    folds: int = 5,
    seed: int = 0,
    validation_share: float | None = None,
    keep_rankers: bool = False,
    progress: bool = True,
    callbacks: Callable[[int], Sequence[Any]] | None = None,
    **policies: Any,
) -> CrossValidation:
    """Train on all folds but one and measure on that one, for each fold in turn.

    Parameters
    ----------
    ranker : is not changed: a clone of it is fitted per fold
        A ranker of rankforce, or an estimator of LightGBM, XGBoost, CatBoost or scikit-learn, fitted on the main label
        (weights are not handed on to it).
    data : Dataset, shared data, or folds
        A Dataset, or what ``rf.shared`` gives, is dealt into ``folds`` parts of whole queries by ``seed``. Folds are
        (train, test) or (train, validation, test), as ``rf.read_folds`` gives them.
    measures : one or several measures
    validation_share : float
        This share of each training part's queries is held out as validation data, for early stopping. Folds that
        bring validation data do without.
    keep_rankers : whether ``result.rankers`` holds the fitted rankers
    callbacks : function from the number of a fold (from 1) to the callbacks of its fit
    policies : ``ties``, ``blank``, ``convention``, ``level``, ``threads`` as for ``rf.evaluate``

    Measures and policies are checked against the labels before the first training; those of folds that come one by one
    from an iterator before the training of each.

    The values of all queries are pooled: ``result.evaluation`` is one Evaluation over them, for ``rf.compare`` and for
    intervals. (A mean of the folds' means would weigh the queries of small folds more.)

    Ctrl-C raises KeyboardInterrupt: a ranker that was cut short would count as one of a whole fold.
    """
    trained = trainable(ranker)
    seed = checked_seed(seed)
    check_switches(keep_rankers=keep_rankers, progress=progress)
    OrNone(FunctionOf(1, "a function from the number of a fold to callbacks,")).check("callbacks", callbacks)
    request = Request.of(measures, seed=seed, **policies)
    measures = list(request.measures) if isinstance(measures, Iterator) else measures
    parts = dealt_folds(data, folds, seed, validation_share)
    one_data = isinstance(data, (Dataset, SpreadData))
    count = folds if one_data else (len(data) if isinstance(data, Sequence) else 0)
    check_learns_from(trained, data)
    _check_tests(request, data)
    evaluations, rankers, scores, tests = [], [], [], []
    with interrupting_at_once(), Progress("cross-validation", count, "folds", progress) as bar:
        for number, (train, validation, test) in enumerate(parts, start=1):
            judged = bare_data(test)
            request.on(judged)
            check_learns_from(trained, train)
            fold_ranker = trained.silent()
            fold_callbacks = () if callbacks is None else callbacks(number)
            fit_on(fold_ranker, train, validation, fold_callbacks)
            scores.append(fold_ranker.predict(test))
            evaluations.append(evaluate(scores[-1], judged, measures, seed=seed, **policies))
            tests.append(_without_features(judged))
            if one_data:
                _let_go(train, validation)
            if keep_rankers:
                rankers.append(fold_ranker.estimator if isinstance(fold_ranker, ForeignRanker) else fold_ranker)
            bar.advance(number, dict(evaluations[-1].mean))
    if not tests:
        raise DataError("cross-validation needs at least one fold")
    pooled, fold_of, all_scores = _pool(bare_data(data) if one_data else None, tests, scores)
    whole = evaluate(all_scores, pooled, measures, seed=seed, **policies)
    return CrossValidation(whole, tuple(evaluations), fold_of, all_scores, tuple(rankers))


def check_learns_from(ranker: Any, data: Any) -> None:
    """Raise if the documents are in other processes and the ranker learns in one."""
    if isinstance(data, SpreadData):
        check_takes_spread(ranker, name_of(ranker.estimator if isinstance(ranker, ForeignRanker) else ranker))


def _let_go(*parts: Any) -> None:
    """Let the processes give up what they hold of training data: the next fold needs the memory."""
    for part in parts:
        if isinstance(part, SpreadData):
            part.close()


def fit_on(ranker: Any, train: Any, validation: Any, callbacks: Sequence[Any] = ()) -> None:
    """Fit a ranker, handing on validation data and callbacks where it takes them."""
    takes = inspect.signature(ranker.fit).parameters
    check_early_stopping(ranker, validation is not None)
    given: dict[str, Any] = {}
    if validation is not None and "validation" in takes:
        given["validation"] = validation
    if callbacks and "callbacks" in takes:
        given["callbacks"] = callbacks
    ranker.fit(train, **given)


def check_early_stopping(ranker: Any, validated: bool) -> None:
    """Raise if a ranker is to stop early and has no validation data to do it by."""
    if not validated and getattr(ranker, "early_stopping", None) is not None:
        raise SettingsError(
            "early_stopping needs validation data in every fold: ",
            Argument("validation_share", 0.2),
            " holds a fifth of the training queries out, or give folds ",
            Phrase("(train, validation, test)", "with a file vali.txt"),
            ", or ",
            Setting("early_stopping", None),
        )


def check_ranker(ranker: Any) -> None:
    """Raise unless this is a ranker, not its class or its name."""
    if not isinstance(ranker, Ranker):
        raise SettingsError(f"a ranker is needed, for example rf.LambdaMART(), not {shown(ranker)}")


def dealt_folds(data: Any, folds: int, seed: int, validation_share: float | None) -> Iterator[Fold]:
    """The folds of a cross-validation, each when it is asked for."""
    check_number("validation_share", validation_share, 0.0, 0.9, above=True, optional=True)
    given = data.folds(folds, seed=seed) if isinstance(data, (Dataset, SpreadData)) else _listed(data)
    return (_fold(one, seed, validation_share) for one in given)


def _listed(folds: Any) -> Iterator[Any]:
    """Folds one by one."""
    if isinstance(folds, (str, bytes, Mapping)) or not isinstance(folds, Iterable):
        raise DataError(f"{WANTED_FOLDS}, not {type(folds).__name__}")
    try:
        yield from folds
    except TypeError as error:
        raise DataError(f"{WANTED_FOLDS}: {error}") from None


def _fold(given: Any, seed: int, validation_share: float | None) -> Fold:
    if not isinstance(given, tuple) or len(given) not in (2, 3):
        raise DataError(f"{WANTED_FOLDS}, not {type(given).__name__}")
    for part in given:
        if part is not None and not isinstance(part, SpreadData):
            check_dataset(part)
    train, validation, test = given if len(given) == 3 else (given[0], None, given[1])
    if validation is None and validation_share is not None:
        train, validation = train.split(1.0 - validation_share, validation_share, seed=seed)
    return Fold(train, validation, test)


def _check_tests(request: Request, data: Any) -> None:
    """Raise where measures or policies do not fit the data, or test parts that are known already cannot be pooled."""
    if isinstance(data, (Dataset, SpreadData)):
        request.on(bare_data(data))
        return
    if isinstance(data, FoldFiles):
        tests = data.tests()
    elif isinstance(data, Sequence):
        tests = (bare_data(_fold(fold, 0, None).test) for fold in data)
    else:
        return
    labels = []
    for test in tests:
        request.on(test)
        labels.append(_without_features(test))
    if labels:
        _joined(labels)


def _without_features(data: Dataset) -> Dataset:
    """What measures read of a data set: a fold's features need not stay in memory."""
    if isinstance(data, BinnedDataset):
        return data.without_bins()
    return data.replace(features=np.empty((data.n_documents, 0), dtype=np.float32), feature_names=[])


def _pool(
    whole: Dataset | None, tests: list[Dataset], scores: list[np.ndarray]
) -> tuple[Dataset, np.ndarray, np.ndarray]:
    """(documents of all test parts, the fold of every query, the score of every document).

    In the order of the data that was dealt into folds, or without it of the test parts in turn.
    """
    fold_of_tests = np.repeat(np.arange(1, len(tests) + 1), [test.n_queries for test in tests])
    if whole is None:
        return _joined(tests), fold_of_tests, np.concatenate(scores)
    query_ids = np.concatenate([test.query_ids for test in tests])
    by_query = dict(zip(query_ids.tolist(), fold_of_tests.tolist(), strict=True))
    fold_of = np.array([by_query[query] for query in whole.query_ids.tolist()])
    by_row = np.empty(whole.n_documents)
    for number, fold_scores in enumerate(scores, start=1):
        by_row[fold_of[whole.row_queries] == number] = fold_scores
    return whole, fold_of, by_row


def _joined(tests: list[Dataset]) -> Dataset:
    """The test parts one after the other."""
    names = list(tests[0].labels)
    for test in tests:
        if list(test.labels) != names:
            raise DataError(f"the folds have different label sources: {names} and {list(test.labels)}")
    ids = [query for test in tests for query in map(str, test.query_ids.tolist())]
    if len(set(ids)) < len(ids):
        twice, _ = Counter(ids).most_common(1)[0]
        raise DataError(f"query {twice!r} is in the test parts of two folds: its values cannot be pooled")
    labels = {name: np.concatenate([test.labels[name] for test in tests]) for name in names}
    qid = np.concatenate([test.qid for test in tests])
    weights = None
    if any(test.query_weights is not None for test in tests):
        parts = [weights_of_queries(test) for test in tests]
        weights = np.concatenate(parts)
    return Dataset(
        np.empty((len(qid), 0), dtype=np.float32),
        labels.pop(MAIN_LABEL, None),
        qid,
        labels=labels,
        query_weights=weights,
    )
