"""Random streams: every draw names one, no two purposes share one, and their numbers are independent."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import rankforce as rf
from rankforce.data.dataset import tie_breakers
from rankforce.data.hashing import combine
from rankforce.data.random_streams import Stream

SOURCE = Path(rf.__file__).parent
STREAMS = "data/random_streams.py"
HASHING = {
    STREAMS: "draws",
    "data/hashing.py": "defines it",
    "data/document_hashes.py": "what documents are: draws begin with it",
    "data/noise.py": "what labels are: draws begin with it",
}
QUERY_HASHES = {  # whoever reads them and draws nothing
    "data/dataset.py": "what documents are",
    "data/document_hashes.py": "what documents are",
    "data/distributions.py": "passed on to a stream",
    "data/preferences.py": "a fingerprint",
    "models/net_scaling.py": "the order of a sum",
    "binning/binned.py": "passed on to the grower",
    "binning/binning.py": "passed on to a stream",
    "trees/grower.py": "passed on to the rounding, which begins with a stream",
    "trees/quantised.py": "passed on beside a word of a stream",
    "distributed/ingesting.py": "which queries a store has",
    "distributed/views.py": "which queries are chosen",
    "evaluation/ties.py": "parts of a draw that the next lines make",
    "training/validation_leaks.py": "which queries two data sets share",
}
LARGE_NUMBERS = {  # multipliers and masks of 64 bits: where numbers could be scrambled
    "data/hashing.py": "SplitMix64",
    "kernels/trees/quantised.py": "goes on from a word of a stream, as hashing does",
    "kernels/decimals.py": "eight digits of a text at a time",
    "kernels/forces/pair_forces.py": "goes on from the words of a stream",
    "compiling/intrinsics.py": "bits of a float64 number",
    "kernels/trees/reference_patterns.py": "where a pattern of failed tests stands in a table",
}
OTHER_SOURCES = {"random", "secrets"}  # the names of temporary files (uuid) must differ every time


def trees() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text())


def _imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    return {str(node.module)} if isinstance(node, ast.ImportFrom) and node.level == 0 else set()


def test_a_purpose_has_a_stream_and_a_stream_one_purpose():
    uses = Counter(
        node.attr
        for name, tree in trees()
        for node in ast.walk(tree)
        if name != STREAMS
        and isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "Stream"
    )
    assert uses == {stream.name: 1 for stream in Stream}


def test_streams_alone_hold_generators_and_combine_hashes():
    for name, tree in trees():
        for node in ast.walk(tree):
            assert not OTHER_SOURCES & _imported(node), f"{name}: draw from a Stream"
            if isinstance(node, ast.Attribute) and ast.unparse(node).startswith(("np.random.", "numpy.random.")):
                assert name == STREAMS or node.attr == "Generator", f"{name}: {ast.unparse(node)}"
            if isinstance(node, ast.ImportFrom) and node.module == "rankforce.data.hashing":
                assert name in HASHING or not {"combine"} & {alias.name for alias in node.names}, name


def test_hashes_of_queries_are_drawn_from_in_streams_alone():
    for name, tree in trees():
        if name in QUERY_HASHES:
            continue
        within_draws = {
            id(part)
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("words", "uniform")
            for part in ast.walk(node)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr == "query_hashes":
                assert id(node) in within_draws, f"{name}, line {node.lineno}"


def test_nothing_else_scrambles_numbers():
    scrambling = {
        name
        for name, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, int)
        and node.value.bit_length() > 53
        and node.value & (node.value + 1)  # all ones: a mask
    }
    assert scrambling == set(LARGE_NUMBERS)


def test_streams_are_uncorrelated():
    documents = combine(np.arange(20_000))
    draws = np.array([stream.uniform(0, documents) for stream in Stream])
    correlations = np.corrcoef(draws) - np.eye(len(draws))
    assert np.abs(correlations).max() < 5 / np.sqrt(20_000)
    shifted = np.corrcoef(draws, np.array([stream.uniform(1, documents) for stream in Stream]))
    assert np.abs(shifted - np.eye(len(shifted))).max() < 5 / np.sqrt(20_000)


@pytest.mark.parametrize("stream", Stream, ids=lambda stream: stream.name)
def test_a_stream_is_uniform_and_its_generator_its_own(stream):
    values = stream.uniform(3, np.arange(20_000))
    assert values.min() >= 0.0
    assert values.max() < 1.0
    counts, _ = np.histogram(values, bins=20, range=(0, 1))
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(1000)
    drawn = stream.generator(3).random(20_000)
    assert drawn.tolist() == stream.generator(3).random(20_000).tolist()
    assert abs(np.corrcoef(drawn, stream.generator(4).random(20_000))[0, 1]) < 5 / np.sqrt(20_000)
    other = next(one for one in Stream if one is not stream)
    assert abs(np.corrcoef(drawn, other.generator(3).random(20_000))[0, 1]) < 5 / np.sqrt(20_000)


def test_the_noise_of_labels_has_nothing_to_do_with_the_order_of_ties():
    data = rf.Dataset(np.zeros((20_000, 0)), np.zeros(20_000), np.arange(20_000) // 20)
    ties = tie_breakers(data, 0).astype(float)
    lifted = rf.confuse_labels(data, [[0.5, 0.5], [0.0, 1.0]], seed=0).label()
    assert abs(np.corrcoef(ties, lifted)[0, 1]) < 5 / np.sqrt(20_000)


def test_features_and_the_truth_of_artificial_data_do_not_share_numbers():
    from rankforce.data.artificial.artificial import Cubic

    first_row = rf.make_artificial(queries=1, documents=1, features=200, seed=0, function_seed=0).features[0]
    coefficients = Cubic.draw(200, 0).linear
    nearest = np.abs(first_row[:, None] - coefficients.astype(np.float32)).min(axis=0)
    assert (nearest < 1e-6).mean() < 0.05
