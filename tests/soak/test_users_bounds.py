"""Users' classes with an index out of bounds in a random place: always an error, always with the line."""

from __future__ import annotations

import importlib.util
import os
import random
import re

import numpy as np
import pytest

import rankforce as rf
from rankforce.forces.forces import Forces, RunningOrder
from rankforce.kernels.ranking.swaps import swap_changes
from rankforce.objectives.objective import Objective, Term

FACTOR = float(os.environ.get("RANKFORCE_SOAK", "1"))

MEASURE = """
import numpy as np
import rankforce as rf


class Faulty(rf.Measure):
    COLUMNS = 2

    def normaliser(self, ideal):
        NORMALISER
        return 1.0

    def value(self, ranked, normaliser):
        total = 0.0
        for r in range(ranked.shape[0]):
            total += ranked[r]
        VALUE
        return total

    def expected_value(self, ranked, tie_ends, normaliser):
        EXPECTED_VALUE
        return ranked[0]

    def prepare(self, ranked, normaliser, columns):
        for r in range(ranked.shape[0]):
            columns[0, r] = ranked[r]
            columns[1, r] = 1.0
            PREPARE

    def swap_delta(self, a, b):
        return a[0] - b[0]


class FaultyCost(rf.lambdas.ListwiseLambdaFunction):
    def forces(self, scores, grades, order, measure, state, out):
        for r in range(order.shape[0]):
            out[order[r]] = 1.0 - grades[order[r]]
            FORCES
"""
ARRAYS = {  # per method, arrays and how they are indexed: I stands for the index out of bounds
    "NORMALISER": ("ideal[I]",),
    "VALUE": ("ranked[I]",),
    "EXPECTED_VALUE": ("ranked[I]", "tie_ends[I]"),
    "PREPARE": ("ranked[I]", "columns[0, I]", "columns[1, I]", "columns[2, r]", "columns[-3, r]"),
    "FORCES": (
        "scores[I]", "grades[I]", "order[I]", "out[I]", "state.ranked[I]", "state.rank[I]",
        "rf.lambdas.value_if_moved(measure, state, r, I)", "rf.lambdas.value_if_moved(measure, state, I, r)",
        "rf.lambdas.change_if_swapped(measure, state, r, I)",
    ),
}  # fmt: skip
WRITABLE = ("ideal", "ranked", "tie_ends", "columns", "out")  # a class that writes elsewhere is not compiled
LENGTH = {
    "NORMALISER": "ideal.shape[0]",
    "VALUE": "ranked.shape[0]",
    "EXPECTED_VALUE": "ranked.shape[0]",
    "PREPARE": "ranked.shape[0]",
    "FORCES": "order.shape[0]",
}


def faulty_source(generator, method):
    """A module with one access out of bounds in ``method``, and the number of its line."""
    access = generator.choice(ARRAYS[method])
    size = LENGTH[method]
    distance = generator.choice([0, 0, 1, 7, 1000, 2**40])
    beyond = generator.random() < 0.7
    access = access.replace("I", f"{size} + {distance}" if beyond else f"-{size} - 1 - {distance}")
    statements = [f"seen = {access}"]
    if access.partition("[")[0] in WRITABLE:
        statements += [f"{access} = 1", f"{access} += 1"]
    statement = generator.choice(statements)
    if generator.random() < 0.5:  # in one query alone
        statement = f"if {size} == 3:\n    {statement}"
    lines = []
    for line in MEASURE.splitlines():
        name = line.strip()
        if name not in ARRAYS:
            lines.append(line)
        elif name == method:
            indent = line[: -len(name)]
            lines += [""] * generator.randrange(3) + [indent + part for part in statement.splitlines()]
            number = len(lines)
        else:
            lines.append(line.replace(name, "pass"))
    return "\n".join(lines) + "\n", number


def check_faulty_class(folder, seed, method):
    generator = random.Random(seed)
    source, line = faulty_source(generator, method)
    file = folder / f"faulty_{method.lower()}_{seed}.py"
    file.write_text(source)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    data = rf.Dataset(np.zeros((9, 1)), [2, 1, 0, 3, 2, 1, 0, 4, 0], group=[4, 3, 2])
    words = rf"{method.lower()}: an index is out of bounds \({re.escape(str(file))}, line {line}: "
    with pytest.raises(rf.RankforceError, match=words):
        run(module, data, method)


def run(module, data, method):
    if method == "PREPARE":
        swap_changes(module.Faulty().kernel_tuple(), np.arange(3.0), 1.0, np.zeros((2, 3)), np.zeros((3, 3)))
    elif method == "FORCES":
        forces = Forces(data, Objective((Term(rf.NDCG(), module.FaultyCost()),)), 0)
        forces.at(np.zeros(9), RunningOrder(data, 0).update(np.zeros(9)))
    else:
        rf.evaluate(np.zeros(9), data, module.Faulty(), ties="expected" if method == "EXPECTED_VALUE" else "stable")


@pytest.mark.parametrize("method", ["VALUE", "FORCES"])
def test_a_faulty_class_is_an_error(tmp_path, method):
    check_faulty_class(tmp_path, 1, method)


@pytest.mark.soak
@pytest.mark.parametrize("method", ARRAYS)
def test_random_faulty_classes(tmp_path, method):
    cases = max(1, round(20 * FACTOR))
    for seed in range(cases):
        check_faulty_class(tmp_path, seed, method)
    print(f"{cases} faulty classes: {method.lower()}")
