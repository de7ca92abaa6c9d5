"""What an editor and a type checker know of the public names."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rankforce as rf

REPOSITORY = Path(__file__).parents[1]
SOURCE = Path(rf.__file__).parents[1]

GOOD = """
from __future__ import annotations

import numpy as np

import rankforce as rf

data: rf.Dataset = rf.make_artificial(queries=20, documents=10, features=4, seed=0)
train, test = data.split(0.7, 0.3)
ranker: rf.LambdaMART = rf.LambdaMART("NDCG@10", n_trees=10, growth="leafwise").fit(train, validation=test)
net: rf.LambdaRank = rf.LambdaRank(measure=rf.NDCG(10), hidden=3).fit(train)
scores: np.ndarray = ranker.predict(test)
result: rf.Evaluation = rf.evaluate(ranker, test, ["NDCG@10", rf.NDCG(3)])
comparison: rf.Comparison = rf.compare("1", ranker, test)
table: rf.Dataset = rf.read_table("shop.csv", qid="search", label="bought")
text: rf.Dataset = rf.read_letor("train.txt", first_index=0)
model: rf.Model = rf.load("model.json")
spring: rf.lambdas.Spring = rf.lambdas.Spring(delta=2)
pull: rf.lambdas.LambdaFunction = rf.lambdas.lambda_function("LocalCost(k=3)")
schedule: rf.schedules.Linear = rf.schedules.Linear(start=0.1, rate=0.01)
agreement = rf.diagnostics.ForceAgreement(rf.Graded(["NDCG", "MAP"]), every=2)
pairs = rf.diagnostics.effective_pairs(data, scores, lambda_function=[spring, pull])
table_of_shares: rf.Contributions = rf.explain(model, data, 1, background=10)
why: rf.PairExplanation = rf.explain(ranker, test, 1, pair=(0, 1))
lost: rf.FeatureImportance = rf.importance(ranker, test, "NDCG@5", permutations=3)
lowest: float = rf.optimising.spsa(lambda x: float(x @ x), [1.0, 2.0], steps=3).best_value
print(result.mean["NDCG@10"], ranker.set_params(n_leaves=7).get_params()["n_leaves"], net.best_iteration_)
"""

# A line, and what a checker must say of it.
WRONG = {
    "rf.LambdaMART(n_tree=3)": "n_tree",
    "rf.LambdaMART(growth='leafwize')": "growth",
    "rf.LambdaMART(n_trees='many')": "n_trees",
    "rf.LambdaRank(hiden=3)": "hiden",
    "rf.XRank(form='round')": "form",
    "rf.Bagging(n_model=3)": "n_model",
    "rf.NDGC(3)": "NDGC",
    "rf.Linear(0.1, 0.1)": "Linear",
    "rf.lambdas.Spring(delat=3)": "delat",
    "rf.LambdaMART(cost='LocalCost')": "cost",
    "rf.schedules.Linear(start=0.1, rat=1)": "rat",
    "rf.diagnostics.effective_pairs(data, scores, cost='Step')": "cost",
    "rf.optimising.spsa(len, [1.0], step=3)": "step",
    "rf.make_artificial(query=3)": "query",
    "rf.read_table('x.csv', quid='q')": "quid",
    "rf.MART().fit(3, eval_set=3)": "eval_set",
}


def stub_writer():
    spec = importlib.util.spec_from_file_location("write_stub", REPOSITORY / "tools" / "write_stub.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


STUBS = stub_writer()


@pytest.mark.parametrize("package", STUBS.lazy_packages())
def test_every_stub_is_current(package):
    assert STUBS.stub_path(package).read_text(encoding="utf-8") == STUBS.stub(package), "run python tools/write_stub.py"


@pytest.mark.parametrize("package", STUBS.lazy_packages())
def test_every_public_name_is_in_a_stub(package):
    text = STUBS.stub_path(package).read_text(encoding="utf-8")
    public = {name for name in dir(importlib.import_module(package)) if not name.startswith("_")}
    assert public == set(re.findall(r"import \w+ as (\w+)", text))


def test_every_lazy_package_has_a_stub():
    assert set(STUBS.lazy_packages()) == {"rankforce", *(f"rankforce.{name}" for name in rf.SUBPACKAGES)} - {
        "rankforce.schedules",  # modules, whose names are there as soon as they are
        "rankforce.click_models",
    }


def checked_by_mypy(script):
    folder = script.parent
    command = ["mypy", "--strict", f"--config-file={os.devnull}", f"--cache-dir={folder}", str(script)]
    told = run([sys.executable, "-m", *command], folder)
    return [(int(line), message) for line, message in re.findall(r"script\.py:(\d+): error: (.*)", told)]


def checked_by_pyright(script):
    folder = script.parent
    settings = {"include": [str(script)], "extraPaths": [str(SOURCE)], "typeCheckingMode": "standard"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    told = run([sys.executable, "-m", "basedpyright", "--outputjson", f"--pythonpath={sys.executable}"], folder)
    found = [one for one in json.loads(told)["generalDiagnostics"] if one["severity"] == "error"]
    return [(one["range"]["start"]["line"] + 1, one["message"]) for one in found]


def run(command, folder):
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300).stdout


@pytest.fixture(
    scope="module",
    params=[pytest.param(checked_by_mypy, marks=pytest.mark.soak), checked_by_pyright],
    ids=["mypy", "pyright"],
)
def complaints(request, tmp_path_factory):
    """What a checker says of a user's script: line → message."""
    pytest.importorskip("mypy" if request.param is checked_by_mypy else "basedpyright")
    script = tmp_path_factory.mktemp("user") / "script.py"
    lines = [*GOOD.strip().splitlines(), *WRONG]
    script.write_text("\n".join(lines) + "\n")
    return {lines[number - 1]: message for number, message in request.param(script)}


def test_a_users_script_passes_the_check(complaints):
    assert {line: message for line, message in complaints.items() if line not in WRONG} == {}


@pytest.mark.parametrize("line", WRONG)
def test_a_misspelt_setting_is_an_error(complaints, line):
    assert WRONG[line] in complaints[line]
