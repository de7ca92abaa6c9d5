"""The site: every public name is in the reference, links lead somewhere, and nothing is fetched from elsewhere."""

from __future__ import annotations

import importlib.util
import inspect
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from tools import api_reference, site_pages

import rankforce as rf

REPOSITORY = Path(__file__).parents[1]
NAMES = [name for subject in api_reference.subjects().values() for name in subject.names]


# ------------------------------------------------------------------------------------------------------ the reference


def test_every_public_name_is_in_the_reference_once() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert set(NAMES) == api_reference.public_names(), "add it to a subject in tools/api_reference.py"


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_has_a_signature_and_says_something(name: str) -> None:
    entry = "\n".join(api_reference.entry(name))
    value = api_reference.resolved(name)
    assert entry.startswith(f"### rf.{name} ")
    assert api_reference.first_sentence(value)
    if not (inspect.isclass(value) and issubclass(value, Exception)):
        for parameter in inspect.signature(value).parameters:
            assert re.search(rf"\b{parameter}\b", entry), parameter
    assert " at 0x" not in entry


def test_settings_of_rankers_are_in_their_signature() -> None:
    shown = api_reference.signature("rf.LambdaMART", rf.LambdaMART)
    assert "n_trees: int = 1000," in shown
    assert api_reference.signature("rf.NDCG", rf.NDCG).startswith("rf.NDCG(\n    cutoff: int | None = None,\n    *,")


def test_members_are_explained_with_their_class_or_with_all_of_its_kind() -> None:
    page = api_reference.pages()["rankers.md"]
    assert "#### .fit() { #LambdaMART.fit }" in page
    assert page.count(".predict() {") == 1
    assert "#### .split() { #Dataset.split }" in api_reference.pages()["data.md"]


def test_docstrings_become_markdown() -> None:
    def function() -> None:
        """What ``x`` is: a < b*c::

            code

        Parameters
        ----------
        x, y : int
            Two ``numbers``.
        z : something else
        """

    text = "\n".join(api_reference.documented(function))
    assert text.startswith("What `x` is: a \\< b\\*c:\n\n    code")
    assert "- `x`, `y` — int\n\n    Two `numbers`.\n" in text
    assert "- `z` — something else" in text


def test_names_in_text_lead_to_their_entry() -> None:
    known = {"evaluate": "api/evaluation.md#evaluate"}
    text = (
        "# `rf.evaluate`\n\n`rf.evaluate(x)` and `rf.unknown`\n\n```python\n`rf.evaluate`\n```\n[`rf.evaluate`](x.md)"
    )
    assert site_pages.linked(text, known, "a.md") == text.replace(
        "`rf.evaluate(x)`", "[`rf.evaluate(x)`](api/evaluation.md#evaluate){ .name }"
    )


# -------------------------------------------------------------------------------------------------- links in Markdown


def anchors(text: str) -> set[str]:
    """Anchors of the headings of a page, as GitHub and the site make them."""
    plain = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", plain, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    "path", [*sorted(REPOSITORY.glob("*.md")), *sorted((REPOSITORY / "docs").glob("*.md"))], ids=lambda path: path.name
)
def test_links_of_a_page_lead_somewhere(path: Path) -> None:
    """As they stand in the repository; the built site has further pages, and is checked below."""
    text = re.sub(r"^ *```.*?^ *```$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file.read_text(encoding="utf-8")), target


# ----------------------------------------------------------------------------------------------------- the built site


class Links(HTMLParser):
    """Addresses that a page leads to or loads, and the anchors that it has."""

    def __init__(self) -> None:
        super().__init__()
        self.leads_to: list[str] = []
        self.loads: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids.update(value for name, value in attrs if name == "id" and value)
        if tag == "a" and given.get("href"):
            self.leads_to.append(str(given["href"]))
        loaded = given.get("src") if tag in ("script", "img", "iframe", "source") else None
        loaded = (
            given.get("href") if tag == "link" and given.get("rel") not in ("canonical", "prev", "next") else loaded
        )
        if loaded:
            self.loads.append(loaded)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as `make docs` builds it, in a folder of its own."""
    if importlib.util.find_spec("zensical") is None:
        pytest.skip("pip install '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(REPOSITORY / "mkdocs.yml", folder)
    site_pages.write_pages(folder / "build" / "pages")
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No issues found" in done.stdout + done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def html(site: Path) -> dict[Path, Links]:
    found = {}
    for path in site.rglob("*.html"):
        found[path] = Links()
        found[path].feed(path.read_text(encoding="utf-8"))
    return found


def test_every_page_is_built(site: Path, html: dict[Path, Links]) -> None:
    names = {path.stem for path in (REPOSITORY / "docs").glob("*.md")}
    assert names <= {path.stem for path in html}
    assert {f"{name}.html" for name in api_reference.subjects()} <= {path.name for path in (site / "api").iterdir()}


def test_links_of_the_site_lead_somewhere(html: dict[Path, Links]) -> None:
    for path, page in html.items():
        if path.name == "404.html":
            continue
        for target in page.leads_to:
            name, _, anchor = unquote(target).partition("#")
            if "://" in name or name.startswith(("mailto:", "javascript:")):
                continue
            file = (path.parent / name).resolve() if name else path
            file = file / "index.html" if file.is_dir() else file
            assert file.exists(), f"{path.name}: {target}"
            if anchor and file in html:
                assert anchor in html[file].ids or anchor.startswith("__"), f"{path.name}: {target}"


def test_names_have_an_anchor(site: Path, html: dict[Path, Links]) -> None:
    for page, subject in api_reference.subjects().items():
        assert set(subject.names) <= html[site / "api" / f"{page}.html"].ids


def test_nothing_is_fetched_from_elsewhere(site: Path, html: dict[Path, Links]) -> None:
    assert [(path.name, one) for path, page in html.items() for one in page.loads if "//" in one] == []
    for path in site.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import )['\"]?(?:https?:)?//", path.read_text(encoding="utf-8")) == [], path.name


def test_comments_for_the_tests_are_not_in_the_site(site: Path) -> None:
    for path in site.glob("*.html"):
        assert not re.search(r"<!--\s*(run before|file:|not run|output)", path.read_text(encoding="utf-8")), path.name


def test_pages_can_be_searched(site: Path) -> None:
    index = json.loads((site / "search.json").read_text(encoding="utf-8"))
    assert "effective_pairs" in json.dumps(index)


def test_search_works_from_a_folder_without_a_network(site: Path) -> None:
    """Opened as a file, in a browser; a worker may not be started there, and a frame does its work."""
    driver = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    browser_path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser_path is None:
        pytest.skip("install Chromium: apt install chromium")
    requests: list[str] = []
    problems: list[str] = []
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.goto((site / "start.html").as_uri())
        page.wait_for_function("document.documentElement.classList.contains('js')", timeout=180_000)
        page.locator(".md-search__button").click()
        page.get_by_placeholder("Search").fill("effective pairs", timeout=180_000)
        page.get_by_text("How many pairs pull?").first.wait_for(timeout=180_000)
        browser.close()
    assert problems == []
    assert [one for one in requests if not one.startswith("file:")] == []
