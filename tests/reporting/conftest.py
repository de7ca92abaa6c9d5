"""A small report with everything in it, and a browser to open it in."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf

HOSTILE = "</script><img src=x onerror=\"window.owned='yes'\"><!--\u202e{{program}}"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def named_data(queries: int, documents: int = 8) -> rf.Dataset:
    """Artificial data with clicks, ids of text and names for its features."""
    data = rf.make_artificial(queries=queries, documents=documents, features=5, clicks=True, seed=3)
    return data.replace(
        feature_names=["bm25", "pagerank", "age in days", "length", "clicks before"],
        document_ids=[f"d{row}" for row in range(data.n_documents)],
    )


@pytest.fixture(scope="session")
def data() -> rf.Dataset:
    return named_data(60)


@pytest.fixture(scope="session")
def parts(data: rf.Dataset) -> tuple[rf.Dataset, ...]:
    return data.split(0.4, 0.2, 0.4, seed=0)


@pytest.fixture(scope="session")
def ranker(parts: tuple[rf.Dataset, ...]) -> Any:
    """Of a graded objective whose weights were searched."""
    objective = rf.Graded(["NDCG@5", "CNDCG:clicks"], "search")
    made = rf.LambdaMART(objective=objective, n_trees=4, n_leaves=4, min_documents=3, progress=False)
    return made.fit(parts[0], validation=parts[1])


@pytest.fixture(scope="session")
def options(parts: tuple[rf.Dataset, ...]) -> dict[str, Any]:
    """Arguments of the report."""
    test = parts[2]
    ids = test.query_ids.tolist()
    return {
        "baselines": {"by bm25": "bm25", "by age": -test.features[:, 2].astype(np.float64)},
        "measures": ["NDCG@5", "MAP"],
        "segments": {name: "odd" if place % 2 else "even" for place, name in enumerate(ids)},
        "query_texts": {name: f"words of query {name}" for name in ids},
        "queries": 6,
        "permutations": 1,
        "progress": False,
    }


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory, ranker: Any, parts: Any, options: dict[str, Any]) -> rf.Report:
    pytest.importorskip("vl_convert", reason="pip install '.[report]'")
    return rf.report(ranker, parts[2], path=tmp_path_factory.mktemp("report") / "report.html", **options)


@pytest.fixture(scope="module")  # it keeps an event loop running, which tests of other files would meet
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no Chromium to open the report in: apt-get install chromium")
    with playwright.sync_playwright() as running:
        launched = running.chromium.launch(executable_path=found, args=list(FLAGS))
        yield launched
        launched.close()


class OpenedReport:
    """A report in a window of the browser: what it said on its console, and what it asked the network for."""

    def __init__(self, browser: Any, path: Path, **window: Any) -> None:
        self.context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | window))
        self.page = self.context.new_page()
        self.page.set_default_timeout(15_000)
        self.said: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.route("**/*", self._note)
        self.url = path.absolute().as_uri()
        self.page.goto(self.url)
        self.wait()

    def _note(self, route: Any) -> None:
        self.requests.append(route.request.url)
        route.continue_()

    def wait(self) -> None:
        """Until all charts are drawn."""
        self.page.wait_for_selector("html[data-ready=true]", state="attached", timeout=180_000)

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).inner_text())

    def texts(self, selector: str) -> list[str]:
        return [str(text) for text in self.page.locator(selector).all_inner_texts()]

    def check_quiet(self) -> None:
        """Nothing was said on the console, and nothing was asked for but the file."""
        assert self.said == []
        assert {url for url in self.requests if not url.startswith("data:")} <= {self.url}

    def close(self) -> None:
        self.context.close()


@pytest.fixture(scope="module")
def usual(browser: Any, made: rf.Report) -> Iterator[OpenedReport]:
    """The report in a window that tests look at and leave as it is."""
    assert made.path is not None
    window = OpenedReport(browser, made.path, color_scheme="light")
    yield window
    window.check_quiet()
    window.close()


@pytest.fixture
def opened(browser: Any, made: rf.Report) -> Iterator[Any]:
    """Opens reports, and looks in the end whether they were quiet."""
    windows: list[OpenedReport] = []

    def opening(path: Path | None = None, **window: Any) -> OpenedReport:
        where = made.path if path is None else path
        assert where is not None
        windows.append(OpenedReport(browser, where, **window))
        return windows[-1]

    yield opening
    for one in windows:
        one.check_quiet()
        one.close()
