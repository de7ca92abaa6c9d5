"""Pages of documentation: what they say to type runs, what they show is printed, and every page has its place."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml
from tools import pages

DOCS = pages.DOCS
PAGES = sorted(path.name for path in DOCS.glob("*.md"))
WITH_CODE = [name for name in PAGES if any(one.runs for one in pages.blocks_of((DOCS / name).read_text("utf-8")))]

# Blocks that are not run, by page; each says why above it. What runs them all the same is named there.
NOT_RUN = {
    "cluster.md": 1,  # tests/cli/test_clusters.py
    "experiments.md": 1,  # tests/reproducing and tests/cli/test_reproduce.py
    "export.md": 1,  # eland
    "lambdas.md": 1,  # PyTorch
    "serving.md": 7,  # tests/serving/test_guide.py
    "start.md": 2,  # pip, a server
}
NOT_SHOWN = {"drift.md": 1, "report.md": 1}  # blocks whose output is not on the page


def text_of(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.compiled_only
@pytest.mark.filterwarnings("ignore::rankforce.forces.forces.SlowMeasureWarning")  # a page has such a measure
@pytest.mark.parametrize("name", WITH_CODE)
def test_a_page_runs_and_prints_what_it_shows(name: str, tmp_path: Path) -> None:
    with pages.inside(tmp_path):
        pages.check(name, text_of(name))
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")  # it warns of many that stay open


@pytest.mark.parametrize("name", PAGES)
def test_blocks_are_of_a_kind_that_is_run_or_read(name: str) -> None:
    kinds = {block.language for block in pages.blocks_of(text_of(name))}
    assert kinds <= {"before", *pages.RUN, *pages.SHOWN}


def test_what_is_not_run_or_not_shown_is_counted() -> None:
    not_run: Counter[str] = Counter()
    not_shown: Counter[str] = Counter()
    for name in PAGES:
        for block in pages.blocks_of(text_of(name)):
            if "not run" in block.marks:
                assert block.language in pages.RUN, f"{name}, line {block.line}"
                assert len(block.marks["not run"].split()) > 2, "say why"
                not_run[name] += 1
            not_shown[name] += "output not shown" in block.marks
    assert dict(not_run) == NOT_RUN
    assert dict(+not_shown) == NOT_SHOWN


def test_every_mark_is_above_a_block() -> None:
    """A comment with a word misspelt, or with text between it and its block, would change nothing."""
    for name in PAGES:
        text = text_of(name)
        blocks = pages.blocks_of(text)
        taken = sum(len(block.marks) for block in blocks) + sum(block.language == "before" for block in blocks)
        written = len(re.findall(r"^<!-- (?!table |end)", text, flags=re.MULTILINE))
        assert taken == written, name


# ------------------------------------------------------------------------------------------------- the runner itself


def page(*blocks: str) -> str:
    return "\n\n".join(blocks)


def python(code: str) -> str:
    return f"```python\n{code}\n```"


def shown(text: str) -> str:
    return f"```text\n{text}\n```"


@pytest.mark.parametrize(
    ("printed", "on_the_page"),
    [
        ("a 0.1234", "a 0.1236"),
        ("a   0.5  b\n──────", "a 0.5 b\n───"),
        ("one\ntwo\nthree", "one\n…"),
        ("one\ntwo\nthree", "…\nthree"),
        ("in 0.31 s, p < 0.01", "in … s, p < 0.01"),
        ("1,005 documents", "1,004 documents"),
    ],
)
def test_outputs_that_are_alike(printed: str, on_the_page: str, tmp_path: Path) -> None:
    with pages.inside(tmp_path):
        pages.check("a.md", page(python(f"print({printed!r})"), shown(on_the_page)))


@pytest.mark.parametrize(
    ("printed", "on_the_page"),
    [
        ("a 0.1234", "a 0.1434"),
        ("a 0.1234", "b 0.1234"),
        ("one\ntwo", "one"),
        ("one", "one\ntwo"),
        ("one\nthree", "one\n…\ntwo"),
        ("7 documents", "8 documents"),
        ("1,205 documents", "1,004 documents"),
    ],
)
def test_outputs_that_are_not(printed: str, on_the_page: str, tmp_path: Path) -> None:
    with pages.inside(tmp_path), pytest.raises(pages.PageError, match=r"a\.md, line 5"):
        pages.check("a.md", page(python(f"print({printed!r})"), shown(on_the_page)))


@pytest.mark.parametrize(
    "text",
    [
        page(python("print(1)")),  # prints what is not shown
        page(python("raise ValueError('x')")),
        page("```sh\nrankforce nonsense\n```"),
        page("```sh\nfalse\n```"),
        page("```sh\nrankforce --version | grep nonsense\n```"),
        page("<!-- run before\nraise ValueError('x')\n-->"),
    ],
)
def test_a_page_that_fails(text: str, tmp_path: Path) -> None:
    with pages.inside(tmp_path), pytest.raises(pages.PageError, match=r"a\.md, line 1"):
        pages.check("a.md", text)


def test_names_files_and_commands_of_a_page_know_each_other(tmp_path: Path) -> None:
    text = page(
        python("x = 2"),
        "<!-- file: note.txt -->\n```toml\nx = 3\n```",
        "<!-- run before\ny = x + 1\n-->",
        python("from pathlib import Path\nprint(x, y, Path('note.txt').read_text())"),
        shown("2 3 x = 3"),
        "```sh\n# a comment\ncat note.txt \\\n  note.txt\nrankforce --version  # and another\n```",
        shown("x = 3\nx = 3\nrankforce …"),
        "<!-- not run: it is only an example -->\n" + python("1 / 0"),
        "<!-- output not shown: it changes -->\n" + python("print(x)"),
    )
    with pages.inside(tmp_path):
        pages.check("a.md", text)


def test_outputs_are_written_where_they_are_missing_or_wrong(tmp_path: Path) -> None:
    text = page(
        python("print(1.5)"), python("print('b')"), shown("c"), "Prose.", python("print('long\\ntext')"), shown("l…\n…")
    )
    with pages.inside(tmp_path):
        written = pages.with_outputs("a.md", text)
    expected = page(
        python("print(1.5)"), shown("1.5"), python("print('b')"), shown("b"), "Prose.",
        python("print('long\\ntext')"), shown("l…\n…"),
    )  # fmt: skip
    assert written == expected


# ----------------------------------------------------------------------------------------------------------- the site


class _AnyTag(yaml.SafeLoader):
    """Reads what a tag of Python's stands before as nothing."""


_AnyTag.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)


def listed(part: object) -> list[str]:
    """File names of a navigation."""
    if isinstance(part, str):
        return [part]
    values = part.values() if isinstance(part, dict) else part
    assert isinstance(values, list | type({}.values()))
    return [name for one in values for name in listed(one)]


def test_every_page_is_in_the_navigation() -> None:
    from tools import api_reference
    from tools.site_pages import ROOT_PAGES

    settings = yaml.load((DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8"), _AnyTag)
    names = listed(settings["nav"])
    assert len(set(names)) == len(names)
    there = {*PAGES, *ROOT_PAGES.values(), "api/index.md", *(f"api/{name}.md" for name in api_reference.subjects())}
    assert set(names) == there, "add the page to `nav` of mkdocs.yml"
