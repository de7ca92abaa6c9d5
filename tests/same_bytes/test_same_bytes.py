"""The bytes of models do not change by accident: every training of a matrix learns what is on record."""

from __future__ import annotations

import json
import warnings

import pytest
from tests.same_bytes.trainings import TRAININGS, digest, record_path

pytestmark = pytest.mark.compiled_only


@pytest.fixture(scope="module")
def record():
    path = record_path()
    if not path.exists():
        pytest.skip(f"no record {path.name}: write it by python -m tests.same_bytes.trainings, before a change")
    return json.loads(path.read_text())


def test_the_record_is_of_this_matrix(record):
    assert set(record) == set(TRAININGS)


@pytest.mark.parametrize("name", TRAININGS)
def test_a_training_learns_what_is_on_record(record, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert digest(name) == record[name]


def test_no_two_trainings_learn_the_same(record):
    alike = {"trees, defaults", "trees, three threads"}  # threads change nothing
    different = [record[name] for name in TRAININGS if name not in alike]
    assert len({*different}) == len(different)
    assert len({record[name] for name in alike}) == 1
