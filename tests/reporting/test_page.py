"""The page as a file: one, with nothing in it that is loaded or obeyed, and small enough."""

from __future__ import annotations

import html.parser
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rankforce as rf
from rankforce.reporting import page

pytest.importorskip("vl_convert", reason="pip install '.[report]'")

ASSETS = Path(page.__file__).parent / "assets"
HOSTILE = ("</script><script>alert(1)</script>", "<!--", "]]>", "{{program}}", "\u2028", "\ud800", "&lt;", '"')


class Tags(html.parser.HTMLParser):
    """The elements of a page and their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def tags_of(text: str) -> Tags:
    read = Tags()
    read.feed(text)
    return read


def test_nothing_is_loaded_from_anywhere(made: rf.Report) -> None:
    for tag, attributes in tags_of(made.html()).found:
        assert "src" not in attributes, tag
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        assert not attributes.get("href") or str(attributes["href"]).startswith("#")


def test_the_policy_names_the_scripts_and_the_style_and_allows_nothing_else(made: rf.Report) -> None:
    read = tags_of(made.html())
    policy = next(a["content"] for t, a in read.found if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    scripts = re.findall(r"<script>(.*?)</script>", made.html(), re.DOTALL)
    assert len(scripts) == 2
    assert rules.pop("script-src").split() == [page.digest(one) for one in scripts]
    styles = re.findall(r"<style>(.*?)</style>", made.html(), re.DOTALL)
    assert rules.pop("style-src").split() == [page.digest(one) for one in styles]
    assert rules == {"default-src": "'none'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'"}


@pytest.mark.parametrize("text", HOSTILE)
def test_contents_cannot_leave_their_script(made: rf.Report, text: str) -> None:
    contents = made.to_dict() | {"title": text, "model": text}
    written = page.html_of(contents)
    written.encode("utf-8")
    read, usual = tags_of(written), tags_of(made.html())
    assert [tag for tag, _ in read.found] == [tag for tag, _ in usual.found]
    inside = re.search(r'id="report-contents">(.*?)</script>', written, re.DOTALL)
    assert inside is not None
    assert json.loads(inside.group(1))["model"] == text


def test_the_program_builds_with_text_nodes_only() -> None:
    """Nothing in the program can make markup or code out of text."""
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|\.cssText|srcdoc|DOMParser"
    )
    forbidden += r"|fetch\(|XMLHttpRequest|WebSocket|sendBeacon|https?://(?!www\.w3\.org/2000/svg)"
    assert {path.name for path in ASSETS.glob("*.js")} == set(page.PROGRAM)
    for path in ASSETS.glob("*.js"):
        assert not re.search(forbidden, path.read_text(encoding="utf-8")), path.name


def test_files_of_the_program_hold_one_idea() -> None:
    for path in ASSETS.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("// "), path.name
        assert len(text.splitlines()) <= 200, path.name


def test_summaries_of_many_queries_stay_small(made: rf.Report, parts: Any) -> None:
    """What a further query costs, times 10,000, and the rest of this report are below 6 MB."""
    contents = made.to_dict()
    queries = contents["queries"]
    summaries = {name: queries[name] for name in ("ids", "sizes", "segments", "texts", "values")}
    each = len(page.contents_as_text(summaries)) / parts[2].n_queries
    detail = len(page.contents_as_text({"details": queries["details"]})) / len(queries["details"])
    whole = len(made.html()) - (each * parts[2].n_queries + detail * len(queries["details"]))
    assert whole + 10_000 * each + 20 * detail < 6e6


def test_without_the_library_it_is_said_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['vl_convert'] = None\n"
        "import rankforce as rf\n"
        "data = rf.make_artificial(queries=3, documents=4, features=2)\n"
        "try: rf.report(None, data)\n"
        "except rf.RankforceError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert "pip install '.[report]'" in done.stdout
    assert list(tmp_path.iterdir()) == []
