"""The notebooks of ``examples/`` run, and print what is written in them."""

from __future__ import annotations

import base64
import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nbclient", reason="pip install '.[dev]' brings nbclient and ipykernel")
pytest.importorskip("ipykernel", reason="pip install '.[dev]' brings nbclient and ipykernel")
import nbformat

REPOSITORY = Path(__file__).parents[1]
NOTEBOOKS = ("from_lightgbm", "graded_objectives", "own_measure", "papers_tables", "quickstart")
RUN_OFTEN = ("own_measure", "quickstart")  # the others in the soak
MOST_OF_A_PICTURE = 100_000  # bytes

NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")

_specification = importlib.util.spec_from_file_location("run_notebooks", REPOSITORY / "tools" / "run_notebooks.py")
run_notebooks: Any = importlib.util.module_from_spec(_specification)  # type: ignore[arg-type]
_specification.loader.exec_module(run_notebooks)  # type: ignore[union-attr]


def path_of(name: str) -> Path:
    return REPOSITORY / "examples" / f"{name}.ipynb"


def printed(notebook: Any) -> list[list[str]]:
    """Per cell what it prints, and the words of what it shows."""
    cells = []
    for cell in notebook.cells:
        texts = []
        for output in cell.get("outputs", ()):
            if output.output_type == "stream":
                texts.append(f"{output.name}: {output.text}")
            else:
                texts.append(output.data.get("text/plain", ""))
                texts.append(", ".join(sorted(output.data)))
        cells.append(texts)
    return cells


def assert_alike(found: str, written: str) -> None:
    """The same words, and numbers that are near: processors differ in last bits, and those in a split now and then."""
    assert re.sub(r"\s+", " ", NUMBER.sub("#", found)) == re.sub(r"\s+", " ", NUMBER.sub("#", written))
    for a, b in zip(NUMBER.findall(found), NUMBER.findall(written), strict=True):
        first, second = float(a.replace(",", "")), float(b.replace(",", ""))
        assert abs(first - second) <= 0.03 + 0.1 * max(abs(first), abs(second)), f"{a} is not {b}: {found}"


@pytest.mark.compiled_only
@pytest.mark.parametrize(
    "name", [name if name in RUN_OFTEN else pytest.param(name, marks=pytest.mark.soak) for name in NOTEBOOKS]
)
def test_a_notebook_prints_what_is_written_in_it(name: str, tmp_path: Path) -> None:
    written = nbformat.read(path_of(name), as_version=4)
    found = run_notebooks.executed(path_of(name), tmp_path)
    for number, (now, before) in enumerate(zip(printed(found), printed(written), strict=True)):
        assert len(now) == len(before), f"cell {number}: run tools/run_notebooks.py"
        for text, kept in zip(now, before, strict=True):
            assert_alike(text, kept)


def test_every_notebook_is_run() -> None:
    assert {path.stem for path in (REPOSITORY / "examples").glob("*.ipynb")} == set(NOTEBOOKS)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_committed_with_its_outputs(name: str) -> None:
    notebook = nbformat.read(path_of(name), as_version=4)
    nbformat.validate(notebook)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert outputs
    assert not [one for one in outputs if one.output_type == "error" or one.get("name") == "stderr"]
    for output in outputs:
        picture = output.get("data", {}).get("image/png")
        assert picture is None or len(base64.b64decode(picture)) <= MOST_OF_A_PICTURE
    assert str(REPOSITORY) not in path_of(name).read_text(encoding="utf-8")
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")


def test_numbers_are_compared_as_numbers() -> None:
    assert_alike("NDCG@10 0.912, 1,200 documents", "NDCG@10 0.915, 1,201  documents")
    with pytest.raises(AssertionError):
        assert_alike("NDCG@10 0.9", "NDCG@10 0.6")
    with pytest.raises(AssertionError):
        assert_alike("MAP 0.9", "NDCG 0.9")
