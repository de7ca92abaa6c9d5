"""Run the notebooks of ``examples/`` and write their outputs into them.

    python tools/run_notebooks.py                      # all of them
    python tools/run_notebooks.py examples/quickstart.ipynb

``tests/test_notebooks.py`` runs them as well, and compares what they print with what is written.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples"
LONGEST_CELL = 600  # seconds, on a machine that does much else


def executed(path: Path, folder: Path) -> Any:
    """The notebook as it is after a run in ``folder``, with no trace of when, where and how long it ran."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook,
        timeout=LONGEST_CELL,
        startup_timeout=LONGEST_CELL,
        kernel_name="python3",
        coalesce_streams=True,
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    )
    os.environ["RANKFORCE_QUIET"] = "1"  # whether kernels were compiled is not what a notebook is about
    client.execute()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def main(paths: list[str]) -> None:
    import tempfile

    import nbformat

    for path in map(Path, paths or sorted(map(str, EXAMPLES.glob("*.ipynb")))):
        with tempfile.TemporaryDirectory() as folder:
            notebook = executed(path, Path(folder))
        nbformat.write(notebook, path)
        print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
