"""The page of `rf.report`: how long it takes to make, how large it is, how long it takes to open.

    python benchmarks/report_page.py [--queries 10000]

It is opened in Chromium several times. "first content" and "all charts drawn" are seconds of the clock since the page
was asked for; "main thread" are seconds of the processor that the page took until all charts were drawn, which say more
on a machine that does other things. There is no peer: what is promised is 6 MB, and 2 seconds to open.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import rankforce as rf
from _machine import described

MEASURES = ["NDCG@10", "MAP", "ERR@10"]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu"]
OPENINGS = 5


def made(path: Path, queries: int) -> None:
    data = rf.make_web_like(queries=queries, documents=20, features=60, seed=0)
    ranker = rf.LambdaMART("NDCG@10", n_trees=100, progress=False).fit(data.take_queries(range(min(queries, 1000))))
    texts = {name: f"some words of the query number {name}" for name in data.query_ids.tolist()}
    clock, processors = time.perf_counter(), time.process_time()
    rf.report(
        ranker,
        data,
        path=path,
        baselines={"one": "2", "other": "12"},
        measures=MEASURES,
        segments=[f"segment {number % 6}" for number in range(queries)],
        query_texts=texts,
        progress=False,
    )
    clock, processors = time.perf_counter() - clock, time.process_time() - processors
    print(f"made in {clock:.1f} s ({processors:.1f} s of all processors), {path.stat().st_size / 1e6:.2f} MB")


def opened(browser: Any, path: Path) -> tuple[float, float, float]:
    """Seconds: until there is something to read, until all is drawn, of the main thread."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=true]", state="attached")
    drawn = page.evaluate("performance.now()") / 1e3
    first = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime") / 1e3
    found = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    context.close()
    return first, drawn, found["TaskDuration"]


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=10_000)
    queries = parser.parse_args().queries
    print(described())
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as running:
        path = Path(folder) / "report.html"
        made(path, queries)
        browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        times = [opened(browser, path) for _ in range(OPENINGS)]
        browser.close()
    names = ("first content", "all charts drawn", "main thread")
    for name, column in zip(names, zip(*times, strict=True), strict=True):
        spread = f"{min(column):.2f} to {max(column):.2f}"
        print(f"{name:<17} {statistics.median(column):.2f} s (median of {OPENINGS}; {spread})")


if __name__ == "__main__":
    main()
