"""Forces as gradients of PyTorch modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rankforce as rf
from rankforce.forces.forces import Forces, RunningOrder
from rankforce.lambdas.catalogue import lambda_function_classes
from rankforce.objectives.objective import Objective, Term

torch = pytest.importorskip("torch")
rft = pytest.importorskip("rankforce.torch")

ROOT = Path(__file__).parents[1]


def some_data(sizes=(5, 1, 9, 12), **parts):
    rng = np.random.default_rng(0)
    n = sum(sizes)
    labels = rng.integers(0, 4, n).astype(float)
    labels[3] = np.nan
    # Rows of a query apart: the order of rows is not the order in which kernels work.
    qid = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return rf.Dataset(rng.normal(size=(n, 3)).astype(np.float32), labels, qid=qid, **parts)


def forces_by_row(data, objective, scores, **options):
    numbers = data.by_query(scores)
    forces, _ = Forces(data, objective, 0, **options).at(numbers, RunningOrder(data, 0).update(numbers))
    return data.by_row(forces.copy())


@pytest.mark.parametrize("name", list(lambda_function_classes()))
def test_the_gradient_by_the_scores_is_minus_the_force(name):
    data = some_data()
    scores = torch.tensor(np.random.default_rng(1).normal(size=data.n_documents), requires_grad=True)
    rft.DatasetLoss(data, "NDCG", name, reduction="sum")(scores).backward()
    wanted = forces_by_row(
        data, Objective((Term(rf.NDCG(), rf.lambdas.lambda_function(name)),)), scores.detach().numpy()
    )
    np.testing.assert_array_equal(scores.grad.numpy(), -wanted)
    assert wanted.any()


def test_the_gradient_reaches_the_weights_of_a_module():
    data = some_data(query_weights=np.array([1.0, 2.0, 0.5, 3.0]))
    linear = torch.nn.Linear(3, 1, dtype=torch.float64)
    features = torch.from_numpy(data.features.copy()).double()
    value = rft.DatasetLoss(data, "MAP", normalise="log")(linear(features))
    (3.0 * value).backward()
    scores = linear(features).detach().numpy()[:, 0]
    forces = forces_by_row(data, Objective((Term(rf.MAP()),)), scores, normalise="log")
    np.testing.assert_allclose(
        linear.weight.grad.numpy()[0], -3.0 * data.features.T.astype(float) @ forces / 4, rtol=1e-12
    )
    assert value.item() == pytest.approx(-rf.evaluate(scores, data, "MAP").mean["MAP"])


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_padded_lists_and_whole_data_say_the_same(reduction):
    data = some_data(sizes=(5, 2, 9, 12)).with_label("clicks", np.random.default_rng(2).random(28))
    objective = Objective((Term(rf.NDCG(5)), Term(rf.CNDCG("clicks"), rf.lambdas.RankNetCost(2.0), 0.3)))
    numbers = np.random.default_rng(1).normal(size=data.n_documents)
    whole = torch.tensor(numbers, requires_grad=True)
    value = rft.DatasetLoss(data, objective=objective, reduction=reduction)(whole)
    value.backward()
    lists = list(data.each_query())
    padded = {name: torch.full((5, 12), np.nan) for name in ("grades", "clicks", "scores")}
    padded = {name: tensor.double() for name, tensor in padded.items()}
    mask = torch.zeros((5, 12), dtype=torch.bool)  # the last list is empty
    for q, rows in enumerate(lists):
        mask[q, : len(rows)] = True
        padded["scores"][q, : len(rows)] = torch.from_numpy(numbers[rows])
        for name in ("grades", "clicks"):
            padded[name][q, : len(rows)] = torch.from_numpy(data.labels[name][rows])
    scores = padded.pop("scores").requires_grad_()
    loss = rft.RankingLoss(objective=objective, reduction=reduction)
    other = loss(scores[..., None], padded, mask)
    other.backward()
    assert other.item() == pytest.approx(value.item(), rel=1e-12)
    for q, rows in enumerate(lists):
        np.testing.assert_allclose(scores.grad[q, : len(rows)].numpy(), whole.grad.numpy()[rows], rtol=1e-12)
    assert (scores.grad[~mask] == 0).all()
    assert loss.iteration == 1


def test_an_objective_that_changes_follows_the_iteration():
    data = some_data()
    objective = rf.Scheduled(rf.Term("NDCG", "RankNet"), rf.Term("NDCG"), [0.0, 1.0])
    loss = rft.DatasetLoss(data, objective=objective, reduction="sum")
    numbers = np.random.default_rng(1).normal(size=data.n_documents)
    for lambda_function in (rf.lambdas.RankNetCost(), rf.lambdas.RankNetWeightPairs()):
        scores = torch.tensor(numbers, requires_grad=True)
        loss(scores).backward()
        wanted = forces_by_row(data, Objective((Term(rf.NDCG(), lambda_function),)), numbers)
        np.testing.assert_allclose(scores.grad.numpy(), -wanted, rtol=1e-12, atol=1e-15)


def test_one_list():
    scores = torch.zeros(4, requires_grad=True)
    loss = rft.RankingLoss("NDCG", "RankNet")
    value = loss(scores, torch.tensor([2.0, 0.0, 1.0, 0.0]))
    value.backward()
    assert scores.grad.dtype == torch.float32
    torch.testing.assert_close(scores.grad, torch.tensor([-1.5, 1.0, -0.5, 1.0]))  # pairs of 0.5: 3 up; 2 down; …
    assert -1 <= value.item() < 0
    assert "RankNetCost" in repr(loss)


def test_without_gradients_only_the_value_is_computed():
    loss = rft.RankingLoss()
    value = loss(torch.tensor([1.0, 0.0]), torch.tensor([1.0, 0.0]))
    assert value.item() == -1.0
    assert not value.requires_grad
    assert loss.iteration == 0
    empty = torch.zeros((2, 3), requires_grad=True)
    loss(empty, torch.zeros((2, 3)), torch.zeros((2, 3), dtype=torch.bool)).backward()
    assert (empty.grad == 0).all()


def test_a_net_learns():
    torch.manual_seed(0)
    data = rf.make_artificial(queries=100, documents=20, features=5, seed=0)
    net = torch.nn.Sequential(torch.nn.Linear(5, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    loss = rft.DatasetLoss(data, "NDCG@10")
    optimiser = torch.optim.Adam(net.parameters(), lr=0.03)
    features = torch.from_numpy(data.features.copy())
    values = []
    for _ in range(40):
        optimiser.zero_grad()
        value = loss(net(features))
        value.backward()
        optimiser.step()
        values.append(-value.item())
    assert values[-1] > values[0] + 0.1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: rft.RankingLoss("nonsense"), rf.MeasureError, "nonsense"),
        (lambda: rft.RankingLoss(lambda_function="nonsense"), rf.SettingsError, "nonsense"),
        (lambda: rft.RankingLoss(reduction="max"), rf.SettingsError, "reduction"),
        (lambda: rft.RankingLoss(normalise="max"), rf.SettingsError, "normalise"),
        (lambda: rft.RankingLoss("MAP", objective="NDCG"), rf.SettingsError, "leave measure= out"),
        (
            lambda: rft.RankingLoss(lambda_function="Spring", objective="NDCG"),
            rf.SettingsError,
            "leave lambda_function= out",
        ),
        (lambda: rft.RankingLoss(pairs="top 3", objective="NDCG"), rf.SettingsError, "leave pairs= out"),
        (lambda: rft.RankingLoss(objective=Term("NDCG", share=0)), rf.SettingsError, "nothing pulls"),
        (lambda: rft.RankingLoss()([0.0, 1.0], [0, 1]), rf.DataError, "tensor of floating-point numbers.*not list"),
        (lambda: rft.RankingLoss()(np.zeros(2), np.ones(2)), rf.DataError, "not ndarray"),
        (lambda: rft.RankingLoss()(torch.tensor([0, 1]), torch.ones(2)), rf.DataError, "not one of torch.int64"),
        (lambda: rft.DatasetLoss(3), rf.DataError, "must be a Dataset"),
        (lambda: rft.DatasetLoss(some_data())([0.0] * 27), rf.DataError, "not list"),
        (lambda: rft.RankingLoss()(torch.zeros(3), torch.zeros(4)), rf.DataError, "one shape"),
        (lambda: rft.RankingLoss()(torch.zeros(3), ["a", "b", "c"]), rf.DataError, "must be numbers"),
        (lambda: rft.RankingLoss()(torch.zeros(3), torch.zeros(3), torch.zeros(2)), rf.DataError, "mask"),
        (lambda: rft.RankingLoss()(torch.zeros(3), torch.ones(3), None, torch.ones(2)), rf.DataError, "per list"),
        (lambda: rft.RankingLoss()(torch.tensor([np.nan, 0.0]), torch.ones(2)), rf.DataError, "diverged"),
        (lambda: rft.DatasetLoss(some_data())(torch.zeros(3)), rf.DataError, "one entry per document"),
        (
            lambda: rft.RankingLoss(objective=Objective((Term(rf.NDCG()), Term(rf.NDCG(label="clicks")))))(
                torch.zeros(2), torch.ones(2)
            ),
            rf.SettingsError,
            "mapping",
        ),
        (lambda: rft.RankingLoss()(torch.zeros(2), {"clicks": torch.ones(2)}), rf.SettingsError, "lacks grades"),
    ],
)
def test_mistakes_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_missing_extra_is_named():
    code = "import sys; sys.modules['torch'] = None; import rankforce.torch"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install '.[torch]'" in done.stderr


@pytest.mark.compiled_only
def test_the_example_runs():
    command = [sys.executable, str(ROOT / "examples" / "torch_lists.py"), "--epochs", "1", "--queries", "60"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "whole lists: NDCG@10 0." in done.stdout
