"""What an editor and a type checker know of the public names."""

from __future__ import annotations

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
    "rf.make_artificial(query=3)": "query",
    "rf.read_table('x.csv', quid='q')": "quid",
    "rf.MART().fit(3, eval_set=3)": "eval_set",
}


def stub_writer():
    spec = importlib.util.spec_from_file_location("write_stub", REPOSITORY / "tools" / "write_stub.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stub_is_current():
    assert (SOURCE / "rankforce" / "__init__.pyi").read_text(encoding="utf-8") == stub_writer().stub(), (
        "run python tools/write_stub.py"
    )


def test_every_public_name_is_in_the_stub():
    text = (SOURCE / "rankforce" / "__init__.pyi").read_text(encoding="utf-8")
    public = {name for name in dir(rf) if not name.startswith("_") and name in rf._HOME}
    classes = {name: getattr(rf, name) for name in dir(rf) if name[0].isupper()}
    public |= {name for name, found in classes.items() if getattr(found, "__module__", "").startswith("rankforce.")}
    assert public <= set(re.findall(r"import \w+ as (\w+)", text))


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


@pytest.fixture(scope="module", params=[checked_by_mypy, checked_by_pyright], ids=["mypy", "pyright"])
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
