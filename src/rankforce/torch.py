"""Forces as gradients: train any PyTorch module for any measure, λ-function or objective.

    import rankforce.torch as rft

    loss = rft.RankingLoss("NDCG@10")
    for features, labels, mask in batches:           # (lists, documents, features), (lists, documents) twice
        value = loss(model(features), labels, mask)
        value.backward()                             # d loss / d score = −λ
        optimiser.step()

A measure of a ranking is flat in the scores or jumps: it has no gradient. What is fed back instead is −λ, the force on
each document at its present score. The number that the loss shows is minus the measure.

Needs the optional extra ``torch``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset, check_dataset
from rankforce.data.dataset_columns import MAIN_LABEL
from rankforce.data.hashing import checked_seed
from rankforce.errors import DataError, SettingsError, missing_dependency
from rankforce.forces.forces import Forces, RunningOrder
from rankforce.lambdas.base import LambdaFunction
from rankforce.lambdas.catalogue import lambda_function as read_lambda_function
from rankforce.measures.catalogue import measure as read_measure
from rankforce.measures.mean import QueriesInMean
from rankforce.measures.measure import Measure
from rankforce.objectives.objective import ALL_PAIRS, DEFAULT_LAMBDA_FUNCTION, Objective, Pairs, Term, as_part

try:
    import torch
except ImportError as error:
    raise missing_dependency("torch", "torch", "rankforce.torch") from error


class _MinusForces(torch.autograd.Function):
    """The identity of a value whose gradient by the scores is given."""

    @staticmethod
    def forward(ctx: Any, scores: Any, forces: Any, value: float) -> Any:
        ctx.save_for_backward(forces)
        return scores.new_tensor(value)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, upstream: Any) -> Any:
        (forces,) = ctx.saved_tensors
        return -upstream * forces, None, None


class _ForceLoss(torch.nn.Module):
    """What both losses share: an objective, and how its forces become a gradient."""

    def __init__(
        self,
        measure: str | Measure,
        lambda_function: str | LambdaFunction,
        objective: Any,
        pairs: Any,
        normalise: str,
        reduction: str,
        seed: int,
    ) -> None:
        super().__init__()
        wanted = _objective(measure, lambda_function, pairs, objective)
        wanted.check_pulls(1)
        if reduction not in ("mean", "sum"):
            raise SettingsError(f"reduction must be 'mean' or 'sum', not {reduction!r}")
        if normalise not in ("none", "log", "deviation"):
            raise SettingsError(f"normalise must be 'none', 'log' or 'deviation', not {normalise!r}")
        self.objective = wanted
        self.normalise = normalise
        self.reduction = reduction
        self.seed = checked_seed(seed)
        self.iteration = 0

    def extra_repr(self) -> str:
        return f"{self.objective}, normalise={self.normalise!r}, reduction={self.reduction!r}"

    def _loss(self, scores: Any, ranking: RunningOrder, forces: Forces, data: Dataset) -> Any:
        """The loss of scores given as a vector of one per row of ``data``."""
        numbers = data.by_query(scores.detach().cpu().to(torch.float64).numpy())
        if not np.isfinite(numbers).all():
            raise DataError("a score is not finite: the training has diverged, or a feature is NaN")
        order = ranking.update(numbers)
        value = -_mean_value(forces, order, data, self.iteration, self.reduction)
        if not (torch.is_grad_enabled() and scores.requires_grad):
            return scores.new_tensor(value)
        pulls, _ = forces.at(numbers, order, self.iteration)
        self.iteration += 1
        if self.reduction == "mean":
            pulls = pulls / data.n_queries
        gradient = torch.from_numpy(np.array(data.by_row(pulls))).to(dtype=scores.dtype, device=scores.device)
        return _MinusForces.apply(scores, gradient, value)


class RankingLoss(_ForceLoss):
    """The loss of lists: ``loss(scores, labels, mask)``.

    ``scores`` is (lists, documents), or (documents,) for a single list; a last dimension of 1 is dropped. ``labels``
    has the same shape (NaN is an unlabelled document), or maps label sources to such tensors where the objective has
    several. ``mask`` is False where a list is filled up. ``query_weights`` has one entry per list.

    Its gradient by the scores is −λ, divided by the number of lists (``reduction="sum"``: not divided), 0 where the
    mask is False. Its value is minus the mean of the measure over the lists that can score (with ``"sum"``, minus the
    sum); for an objective, the sum of share × that over its terms.

    Parameters
    ----------
    measure, lambda_function : what to maximise, with which λ-function; written or as objects
    objective : in place of both: a term, a list of them, ``rf.Graded``, ``rf.Scheduled``
    pairs : "all", ("top", k) or ("sample", m)
    normalise : "none", "log" or "deviation": how the forces of a list are scaled against those of others
    reduction : "mean" or "sum"
    seed : of the order of equal scores

    ``iteration`` counts the gradients asked for: drawn pairs, and objectives that change while they learn, follow it.
    """

    def __init__(
        self,
        measure: str | Measure = "NDCG",
        lambda_function: str | LambdaFunction = DEFAULT_LAMBDA_FUNCTION,
        *,
        objective: Any = None,
        pairs: Any = "all",
        normalise: str = "none",
        reduction: str = "mean",
        seed: int = 0,
    ) -> None:
        super().__init__(measure, lambda_function, objective, pairs, normalise, reduction, seed)

    def forward(self, scores: Any, labels: Any, mask: Any = None, query_weights: Any = None) -> Any:
        _check_scores(scores)
        sources = dict.fromkeys(term.measure.label for term in self.objective.terms)
        if not isinstance(labels, Mapping):
            if len(sources) > 1:
                raise SettingsError(f"the objective reads {', '.join(sources)}: give labels= as a mapping of these")
            labels = dict.fromkeys(sources, labels)
        absent = [name for name in sources if name not in labels]
        if absent:
            raise SettingsError(f"the objective reads {', '.join(sources)}: labels= lacks {', '.join(absent)}")
        labels = {name: _array(values, f"labels {name!r}") for name, values in labels.items()}
        shape = next(iter(labels.values())).shape
        if scores.ndim == len(shape) + 1 and scores.shape[-1] == 1:
            scores = scores.squeeze(-1)
        shapes = {tuple(scores.shape), *(one.shape for one in labels.values())}
        if len(shape) not in (1, 2) or len(shapes) > 1:
            raise DataError(
                f"scores {tuple(scores.shape)} and labels {shape} must have one shape: (lists, documents) or "
                "(documents,)"
            )
        documents = np.ones(shape, dtype=bool) if mask is None else _array(mask, "mask").astype(bool)
        if documents.shape != shape:
            raise DataError(f"mask {documents.shape} must have the shape of the scores, {shape}")
        if not documents.any():
            return scores.sum() * 0.0
        sizes = np.atleast_2d(documents).sum(axis=1)
        weights = None if query_weights is None else np.atleast_1d(_array(query_weights, "query_weights"))
        if weights is not None:
            if weights.shape != sizes.shape:
                raise DataError(f"query_weights {weights.shape} must have one entry per list ({len(sizes)})")
            weights = weights[sizes > 0]
        chosen = {name: values[documents] for name, values in labels.items()}
        data = Dataset(
            np.zeros((int(sizes.sum()), 0), dtype=np.float32),
            chosen.pop(MAIN_LABEL, None),
            group=sizes[sizes > 0],
            labels=chosen,
            query_weights=weights,
        )
        forces = Forces(data, self.objective, self.seed, normalise=self.normalise)
        where = torch.from_numpy(documents).to(scores.device)
        return self._loss(scores[where], RunningOrder(data, self.seed), forces, data)


class DatasetLoss(_ForceLoss):
    """The loss of a whole data set: ``loss(scores)`` with one score per row, in the order of its rows.

    Labels, ideal orders and pairs are prepared once. Parameters, value and gradient are those of ``RankingLoss``; query
    weights and document weights are those of the data.
    """

    def __init__(
        self,
        data: Dataset,
        measure: str | Measure = "NDCG",
        lambda_function: str | LambdaFunction = DEFAULT_LAMBDA_FUNCTION,
        *,
        objective: Any = None,
        pairs: Any = "all",
        normalise: str = "none",
        reduction: str = "mean",
        seed: int = 0,
    ) -> None:
        check_dataset(data)
        super().__init__(measure, lambda_function, objective, pairs, normalise, reduction, seed)
        self.data = data
        self._ranking = RunningOrder(data, self.seed)
        self._forces = Forces(data, self.objective, self.seed, normalise=normalise)

    def forward(self, scores: Any) -> Any:
        _check_scores(scores)
        if scores.ndim == 2 and scores.shape[1] == 1:
            scores = scores.squeeze(1)
        if tuple(scores.shape) != (self.data.n_documents,):
            raise DataError(
                f"scores must have one entry per document ({self.data.n_documents}), not shape {tuple(scores.shape)}"
            )
        return self._loss(scores, self._ranking, self._forces, self.data)


def _objective(measure: Any, lambda_function: Any, pairs: Any, objective: Any) -> Objective:
    """``objective``, or the measure with one λ-function."""
    function, taken = read_lambda_function(lambda_function), Pairs.read(pairs)
    if objective is None:
        return Objective((Term(read_measure(measure), function, pairs=taken),))
    beside = {
        "measure": measure != "NDCG",
        "lambda_function": function != DEFAULT_LAMBDA_FUNCTION,
        "pairs": taken != ALL_PAIRS,
    }
    for name, given in beside.items():
        if given:
            raise SettingsError(f"objective= says what is maximised: leave {name}= out")
    return as_part(objective)


def _check_scores(scores: Any) -> None:
    if not isinstance(scores, torch.Tensor) or not scores.is_floating_point():
        kind = f"one of {scores.dtype}" if isinstance(scores, torch.Tensor) else type(scores).__name__
        raise DataError(f"scores must be a tensor of floating-point numbers, as a module gives them, not {kind}")


def _array(values: Any, what: str) -> np.ndarray:
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu()
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{what} must be numbers, not {type(values).__name__}") from None


def _mean_value(forces: Forces, order: np.ndarray, data: Dataset, iteration: int, reduction: str) -> float:
    """Σ share × mean (or sum) of each term's measure over the queries that can score, at this ranking."""
    total = 0.0
    for term, share in zip(forces.terms, forces.shares(iteration), strict=True):
        values = term.judged.values(term.judged.order_of_kept(order))
        queries = QueriesInMean(data, term.judged)
        if queries.total > 0:
            total += share * (queries.mean(values) if reduction == "mean" else queries.sum(values))
    return total
