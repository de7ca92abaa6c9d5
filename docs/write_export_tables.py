"""Write the tables of export.md from what the exporter refuses and engines do.

    python docs/write_export_tables.py

A test compares the file with what this would write: run it after adding a format or a release.
"""

from __future__ import annotations

import re
from pathlib import Path

from rankforce.export.engines import ENGINES, READERS
from rankforce.export.format import format_classes
from rankforce.export.forms import KINDS_OF_FORMS

PAGE = Path(__file__).with_name("export.md")


def formats() -> str:
    """What every format is, and which models it holds."""
    called = [kind.CALLED.removeprefix("a ").removeprefix("an ") for kind in KINDS_OF_FORMS]
    rows = [f"| format | | {' | '.join(called)} |", f"|---|---|{'---|' * len(called)}"]
    for name, kind in format_classes().items():
        held = ["yes" if form in kind.FORMS else "" for form in KINDS_OF_FORMS]
        rows.append(f"| `{name}` | {kind.TITLE} | {' | '.join(held)} |")
    return "\n".join(rows)


def readers() -> str:
    """What releases of engines do with a missing value."""
    rows = ["| format | engine | releases | a missing value | |", "|---|---|---|---|---|"]
    for reader in READERS:
        if reader.format in format_classes():
            rows.append(
                f"| `{reader.format}` | `{reader.engine}` | {reader.releases} | {reader.missing.value} "
                f"| {reader.remark} |"
            )
    return "\n".join(rows)


def engines() -> str:
    """The engines by name."""
    return "\n".join(["| engine | |", "|---|---|", *(f"| `{name}` | {title} |" for name, title in ENGINES.items())])


def page(text: str) -> str:
    """A page with its tables written anew."""
    for name, table in (("formats", formats()), ("readers", readers()), ("engines", engines())):
        pattern = rf"<!-- table {name} -->\n.*?<!-- end -->"
        whole = f"<!-- table {name} -->\n{table}\n<!-- end -->"
        text, count = re.subn(pattern, whole.replace("\\", r"\\"), text, flags=re.DOTALL)
        assert count == 1, f"export.md needs one table {name}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
