"""A report of 10,000 queries: small enough, and drawn."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.reporting.conftest import BROWSERS, FLAGS, OpenedReport

import rankforce as rf

MOST_BYTES = 6_000_000


@pytest.mark.soak
def test_ten_thousand_queries_fit_into_six_megabytes(tmp_path: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    pytest.importorskip("vl_convert", reason="pip install '.[report]'")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no Chromium to open the report in: apt-get install chromium")
    data = rf.make_web_like(queries=10_000, documents=20, features=60, seed=0)
    ranker = rf.LambdaMART("NDCG@10", n_trees=100, progress=False).fit(data.take_queries(range(1000)))
    path = tmp_path / "large.html"
    rf.report(
        ranker,
        data,
        path=path,
        baselines={"one": "2", "other": "12"},
        measures=["NDCG@10", "MAP", "ERR@10"],
        segments=[f"segment {number % 6}" for number in range(data.n_queries)],
        query_texts={name: f"some words of the query number {name}" for name in data.query_ids.tolist()},
        progress=False,
    )
    assert path.stat().st_size <= MOST_BYTES
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=found, args=list(FLAGS))
        window = OpenedReport(browser, path)
        assert window.page.locator("#comparison-scatter canvas").count() == 1
        assert window.page.locator("#query-list button").count() == 60
        window.page.fill("#query-search", "number 9876")
        assert window.page.locator("#query-list button").count() == 1
        window.page.get_by_role("button", name="Switch to dark colours").click()
        window.wait()
        window.check_quiet()
        browser.close()
