"""Put the pages of the site together: docs/, the reference of Python, and what stands in the root of the repository.

    python tools/site_pages.py build/pages

Links that lead out of docs/ become links to the page of that file, and names like `rf.evaluate` become links to the
reference. The result is plain Markdown, which any builder of sites can read; mkdocs.yml says which pages there are.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
DOCS = REPOSITORY / "docs"

ROOT_PAGES = {  # files of the root that are pages of the site
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "SECURITY.md": "security.md",
}

WITHOUT_REFERENCE = "Python: `make docs` builds it into the site from the names that there are."  # of docs/index.md
WITH_REFERENCE = "[Python](api/index.md): every public name with its signature and docstring."

_CODE = re.compile(r"(^ *```.*?^ *```$|``[^`]+``)", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"(?<!\[)`rf\.([A-Za-z_.]+)(\([^`]*\))?`(?!\])")
_OUTSIDE = re.compile(r"(?<!!)\[([^\]]+)\]\(\.\./[^)]*\)")  # files of the repository that are no pages
_COMMENT = re.compile(r"^<!-- .*?-->\n", re.DOTALL | re.MULTILINE)


def write_pages(folder: Path) -> None:
    """Write all that a builder reads into an empty or new folder."""
    from tools import api_reference

    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    (folder / "api").mkdir()
    for name, text in api_reference.pages().items():
        (folder / "api" / name).write_text(text, encoding="utf-8")
    known = api_reference.addresses()
    for path in folder.glob("*.md"):
        path.write_text(page(path.read_text(encoding="utf-8"), known), encoding="utf-8")
    for source, name in ROOT_PAGES.items():
        text = (REPOSITORY / source).read_text(encoding="utf-8")
        (folder / name).write_text(page(re.sub(r"\]\(docs/", "](", text), known), encoding="utf-8")


def page(text: str, known: Mapping[str, str], place: str = "index.md") -> str:
    """A page as it stands in the site: without comments, its links within the site, names linked."""
    for source, name in ROOT_PAGES.items():
        text = re.sub(rf"\]\((\.\./)?{re.escape(source)}", f"]({name}", text)
    text = _OUTSIDE.sub(r"\1", text)
    text = text.replace(WITHOUT_REFERENCE, WITH_REFERENCE)
    return linked(_COMMENT.sub("", text), known, place)


def linked(text: str, known: Mapping[str, str], place: str) -> str:
    """The page with `rf.evaluate` as a link to its entry, outside of code, links and headings."""

    def link(match: re.Match[str]) -> str:
        address = known.get(match[1])
        if address is None:
            return match[0]
        return f"[{match[0]}]({posixpath.relpath(address, posixpath.dirname(place) or '.')}){{ .name }}"

    pieces = _CODE.split(text)
    for number in range(0, len(pieces), 2):
        lines = pieces[number].split("\n")
        lines = [line if line.startswith("#") or "](" in line else _NAME.sub(link, line) for line in lines]
        pieces[number] = "\n".join(lines)
    return "".join(pieces)


if __name__ == "__main__":
    sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "src")]
    write_pages(Path(sys.argv[1]))
