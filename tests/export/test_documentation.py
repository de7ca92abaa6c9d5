"""docs/export.md: its tables are those of the code."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from rankforce.export.format import format_classes

DOCS = Path(__file__).parents[2] / "docs"


def test_tables_are_written_from_the_code() -> None:
    specification = importlib.util.spec_from_file_location("write_export_tables", DOCS / "write_export_tables.py")
    assert specification is not None
    assert specification.loader is not None
    writer = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(writer)
    text = (DOCS / "export.md").read_text(encoding="utf-8")
    assert text == writer.page(text), "run python docs/write_export_tables.py"
    assert all(f"| `{name}` |" in text for name in format_classes())
