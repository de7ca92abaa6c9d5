"""Ranking graphs: scores, files, drawings, what is refused."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import rankforce as rf
from rankforce.models import tree_walk
from rankforce.models.dag import RankingGraph
from rankforce.models.storage import from_bytes, to_bytes


def graph(**changes):
    """x <= 1 leads to test 1 or 2; both can lead to place 1."""
    fields = {
        "feature_names": ("bm25", 'na"me <1>'),
        "feature": [0, 1, 1],
        "threshold": [1.0, 0.5, np.finfo(np.float32).max],
        "missing_left": [True, False, False],
        "left": [1, ~0, ~1],
        "right": [2, ~1, ~2],
        "gain": [3.0, 1.0, 0.5],
        "documents": [4, 0, 9],
    }
    return RankingGraph(**{name: np.array(value) if name != "feature_names" else value
                           for name, value in (fields | changes).items()})  # fmt: skip


ROWS = np.array([[0, 0], [1, 1], [1, np.nan], [2, 7], [2, np.nan], [np.nan, 0.5]], dtype=np.float32)
PLACES = [0, 1, 1, 1, 2, 0]


def test_documents_go_to_their_places():
    model = graph()
    assert model.places(ROWS).tolist() == PLACES
    assert model.predict(ROWS).tolist() == [2 - place for place in PLACES]
    out = np.empty((6, 1), dtype=np.int32)
    nodes = np.column_stack([model.feature, model.left, model.right, model.missing_left]).astype(np.int32)
    tree_walk.find_leaves(ROWS, np.array([0], dtype=np.int32), nodes, model.threshold, None, out)
    assert out[:, 0].tolist() == PLACES


def test_a_graph_without_tests_ties_everything():
    model = graph(**{name: [] for name in ("feature", "threshold", "missing_left", "left", "right", "gain")}
                  | {"documents": [3]})  # fmt: skip
    assert model.predict(ROWS).tolist() == [0.0] * 6
    assert "place 0: 3" in model.to_text()
    ElementTree.fromstring(model.to_svg())


def test_files_come_back(tmp_path):
    model = graph()
    model.save(tmp_path / "graph.json")
    again = rf.load(tmp_path / "graph.json")
    assert isinstance(again, RankingGraph)
    assert to_bytes(again) == to_bytes(model)
    assert from_bytes(to_bytes(model)).places(ROWS).tolist() == PLACES
    code = (
        "import sys; sys.modules['numba'] = None; sys.modules['sklearn'] = None\n"
        "import rankforce as rf, numpy as np\n"
        f"print(rf.load({str(tmp_path / 'graph.json')!r}).predict(np.array([[2.0, 7.0]])))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[1.]\n"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"left": [0, ~0, ~1]}, "after its parent"),
        ({"left": [3, ~0, ~1]}, "does not exist"),
        ({"right": [2, ~1, ~3]}, "outside the frontier"),
        ({"feature": [0, 2, 1]}, "2 features"),
        ({"threshold": [np.nan, 0, 0]}, "threshold"),
        ({"gain": [np.inf, 0, 0]}, "gain"),
        ({"documents": []}, "frontier"),
        ({"documents": [1, -1, 1]}, "frontier"),
        ({"gain": [1.0]}, "gain"),
    ],
)
def test_impossible_graphs_are_refused(change, message):
    with pytest.raises(rf.RankforceError, match=message):
        graph(**change)


def test_importance():
    model = graph()
    assert model.feature_importance() == {"bm25": 3.0, 'na"me <1>': 1.5}
    assert model.feature_importance("split") == {"bm25": 1.0, 'na"me <1>': 2.0}
    with pytest.raises(rf.SettingsError, match="kind"):
        model.feature_importance("cover")


def test_text():
    assert graph().to_text().splitlines() == [
        "test 0: bm25 <= 1.0? test 1 : test 2; missing: test 1",
        'test 1: na"me <1> <= 0.5? place 0 : place 1; missing: place 1',
        'test 2: na"me <1> is known? place 1 : place 2; missing: place 2',
        "frontier, best first:",
        "  place 0: 4 training documents",
        "  place 1: 0 training documents",
        "  place 2: 9 training documents",
    ]


def test_dot(tmp_path):
    dot = graph().to_dot()
    assert 't1 [shape=box, label="na\\"me <1> <= 0.5"];' in dot
    assert dot.count(" -> p1 [label") == 2  # the place with two parents
    assert 't0 -> t1 [label="yes", style=dashed];' in dot
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg", "-o", str(tmp_path / "x.svg")], input=dot, text=True, check=True)


def test_svg_and_draw(tmp_path):
    model = graph()
    root = ElementTree.fromstring(model.to_svg())
    names = [child.tag.rpartition("}")[2] for child in root]
    assert names.count("line") == 2 * model.n_tests
    titles = [title.text for title in root.iter() if title.tag.endswith("title")]
    assert titles[1] == 'test 1: na"me <1> <= 0.5'
    assert len(titles) == model.n_tests + model.n_places
    for ending, text in ((".txt", model.to_text()), (".dot", model.to_dot()), (".svg", model.to_svg())):
        model.draw(tmp_path / f"graph{ending}")
        assert (tmp_path / f"graph{ending}").read_text() == text
    with pytest.raises(rf.SettingsError, match=r"\.svg"):
        model.draw(tmp_path / "graph.png")


def test_graphs_are_frozen():
    model = graph()
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.documents = np.zeros(3)
    with pytest.raises(ValueError, match="read-only"):
        model.threshold[0] = 2.0
