"""Run pages of documentation and put what their blocks print below them.

    python -m tools.write_outputs docs/start.md ...

Outputs that are shown already, and still right, stay as they are, also where they are cut short by ``…``. A test
compares all pages with what they print: run this after a change that means to print something else, and read what it
wrote.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tools.pages import inside, with_outputs

if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        page = path.resolve()
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder, inside(Path(folder)):
            written = with_outputs(page.name, text)
        page.write_text(written, encoding="utf-8")
        print(f"{path}: {'changed' if written != text else 'as it was'}")
