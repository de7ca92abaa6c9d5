"""The report in a browser: drawn, searched, sorted, explained; quiet, safe, dark, narrow, and by keyboard."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.reporting.conftest import HOSTILE, OpenedReport, named_data

import rankforce as rf

Opening = Callable[..., OpenedReport]

CHARTS = {
    "measures-chart", "comparison-scatter", "comparison-differences", "segments-chart", "features-chart",
    "dependence-chart", "scores-spread", "scores-calibration", "scores-grades", "training-curves", "training-frontier",
    "drift-chart",
}  # fmt: skip


def number(value: float, digits: int = 4) -> str:
    return f"{value:.{digits}f}"


def signed(value: float, digits: int = 4) -> str:
    return f"{'−' if value < 0 else '+'}{abs(value):.{digits}f}"


def rows_of(window: OpenedReport, selector: str) -> list[list[str]]:
    """The cells of the first table in an element."""
    return window.page.locator(f"{selector} table >> nth=0").evaluate(
        "table => [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.innerText))"
    )


def test_every_chart_is_drawn(usual: OpenedReport) -> None:
    window = usual
    drawn = window.page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('.chart')].map(chart => [
            chart.parentElement.id,
            chart.dataset.drawn === 'true' ? chart.querySelectorAll('.role-mark :is(path, line)').length : -1]))"""
    )
    assert set(drawn) == CHARTS
    assert all(marks > 0 for marks in drawn.values()), drawn
    assert window.page.evaluate("document.documentElement.dataset.failures") == "0"
    arrows = window.page.locator(".forces path.head").count()
    assert arrows == window.page.locator(".forces .dot").count() > 0


def test_numbers_in_the_page_are_those_of_the_contents(usual: OpenedReport, made: rf.Report) -> None:
    window, contents = usual, made.to_dict()
    means = contents["measures"]["rankings"]
    for row, measure in zip(rows_of(window, "#measures-table"), contents["measures"]["measures"], strict=True):
        assert row[0] == measure
        for cell, name in zip(row[1:], contents["rankings"], strict=False):
            one = means[name][measure]
            low, high = one["interval"]
            assert cell.split("\n") == [number(one["mean"]), f"[{number(low)}, {number(high)}]"]
    compared = contents["comparison"]["baselines"]["by bm25"]["measures"]
    for row, (measure, one) in zip(rows_of(window, "#comparison-table"), compared.items(), strict=True):
        assert row[:4] == [measure, number(one["a"]), number(one["b"]), signed(one["difference"])]
        assert row[-3:] == [str(one["wins"]), str(one["ties"]), str(one["losses"])]
    changed = compared[contents["measure"]]["changed"]
    assert [row[3] for row in rows_of(window, "#comparison-changed")] == [signed(one["difference"]) for one in changed]
    for row, one in zip(rows_of(window, "#segments-table"), contents["segments"]["segments"], strict=True):
        value = one["rankings"]["model"][contents["measure"]]["mean"]
        assert row[:3] == [one["segment"], str(one["queries"]), number(value)]
    tiles = window.texts("#overview-tiles .large")
    assert tiles[0] == number(means["model"][contents["measure"]]["mean"])
    assert tiles[1] == signed(compared[contents["measure"]]["difference"])
    losses = {one["feature"]: one for one in contents["features"]["losses"]["features"]}
    window.page.locator("#features-table summary").click()
    for row in rows_of(window, "#features-table"):
        assert row[1] == signed(losses[row[0]]["permuted"])


def test_controls_change_what_is_shown(opened: Opening, made: rf.Report) -> None:
    window, contents = opened(), made.to_dict()
    controls = window.page.locator("#comparison-controls")
    controls.get_by_label("Baseline").select_option("by age")
    controls.get_by_label("Measure").select_option("MAP")
    window.wait()
    one = contents["comparison"]["baselines"]["by age"]["measures"]
    assert rows_of(window, "#comparison-table")[1][:4] == [
        "MAP", number(one["MAP"]["a"]), number(one["MAP"]["b"]), signed(one["MAP"]["difference"]),
    ]  # fmt: skip
    assert window.text("#comparison-scatter h3") == "MAP of every query"
    window.page.get_by_label("gain", exact=True).check(force=True)
    window.wait()
    assert window.text("#features-chart h3") == "What training gained by splits on a feature"
    second = contents["features"]["dependence"][1]["feature"]
    window.page.get_by_label("How the values act of").select_option(label=second)
    window.wait()
    assert second in window.text("#dependence-chart h3")


def test_queries_are_searched_sorted_and_picked(opened: Opening, made: rf.Report) -> None:
    window, queries = opened(), made.to_dict()["queries"]
    values = queries["values"]["model"]["NDCG@5"]
    changes = np.array(values, dtype=float) - np.array(queries["values"]["by bm25"]["NDCG@5"], dtype=float)
    listed = "#query-list button"
    shown = window.page.locator(listed)

    def order() -> list[int]:
        return shown.evaluate_all("buttons => buttons.map(button => Number(button.dataset.query))")

    assert order() == sorted(range(len(values)), key=lambda query: (-abs(changes[query]), query))
    picker = window.page.locator("#queries-picker")
    picker.get_by_label("Sort").select_option("losses")
    assert order() == sorted(range(len(values)), key=lambda query: (changes[query], query))
    picker.get_by_label("Sort").select_option("lowest")
    assert order() == sorted(range(len(values)), key=lambda query: (values[query], query))
    wanted = queries["ids"][7]
    window.page.fill("#query-search", f"words of query {wanted}")
    assert 7 in order()
    assert len(order()) < len(values)
    window.page.fill("#query-search", "odd")
    assert order() == [query for query in order() if queries["segments"][query] == "odd"] != []
    window.page.fill("#query-search", "no such query")
    assert order() == []
    assert "0 queries" in window.text("#queries-picker [role=status]")
    window.page.fill("#query-search", "")
    detailed = {one["query"] for one in queries["details"]}
    picker.get_by_label("only those with documents").check()
    assert set(order()) == detailed
    picker.get_by_label("only those with documents").uncheck()
    other = next(query for query in range(len(values)) if query not in detailed)
    window.page.locator(f'{listed}[data-query="{other}"]').click()
    assert "are not in the file" in window.text("#queries-picked")
    assert f"words of query {queries['ids'][other]}" in window.text("#queries-picked h3")


def test_two_documents_are_chosen_and_explained(opened: Opening, made: rf.Report) -> None:
    window, queries = opened(), made.to_dict()["queries"]
    detail = queries["details"][2]
    window.page.locator("#queries-picker").get_by_label("Sort").select_option("given")
    window.page.locator(f'#query-list button[data-query="{detail["query"]}"]').click()
    documents = detail["documents"]
    by_rank = sorted(range(len(documents)), key=lambda place: documents[place]["ranks"][0])
    listed = window.page.locator("ol.ranked").nth(1).locator("button")
    assert listed.evaluate_all("all => all.map(one => Number(one.dataset.place))") == by_rank[: queries["top"]]
    chosen = window.page.locator('button.document[aria-pressed="true"]')
    while chosen.count():  # what was chosen to begin with
        chosen.first.click()
    assert "Choose two documents" in window.text(".why")
    first, third = by_rank[0], by_rank[2]
    window.page.locator(f'[data-document="{third}"]').click()
    assert "Where the score of" in window.text(".why")
    window.page.locator(f'[data-document="{first}"]').click()
    pair = next(one for one in detail["pairs"] if {one["a"], one["b"]} == {first, third})
    words = window.text(".why .verdict")
    assert f"{documents[first]['id']} stands above" in words
    assert "ranks 1 and 3" in words
    rows = rows_of(window, ".why")
    for row, (place, share) in zip(rows, pair["reasons"], strict=False):
        assert (row[0], row[3]) == (queries["features"][place], signed(share))
    assert rows[-1][3] == signed(pair["difference"])
    if pair["change"]:
        assert pair["change"]["feature"] in window.text(".why > .small:last-child")


def test_a_dot_and_a_changed_query_lead_to_the_query(opened: Opening, made: rf.Report) -> None:
    window, contents = opened(), made.to_dict()
    most = contents["comparison"]["baselines"]["by bm25"]["measures"]["NDCG@5"]["changed"][1]["query"]
    window.page.locator("#comparison-changed button").nth(1).click()
    assert f"({most})" in window.text("#queries-picked h3 >> nth=0")
    assert window.page.evaluate("document.activeElement.id") == "queries-picked"
    window.page.locator("#comparison-scatter .role-mark path[aria-roledescription='point']").nth(4).click()
    assert "Query words of query" in window.text("#queries-picked h3 >> nth=0")


def test_nothing_hostile_is_obeyed(opened: Opening, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    usual = named_data(12)
    places = np.arange(usual.n_queries)
    ids = np.array([f"{HOSTILE} {place}" for place in places], dtype=object)
    data = rf.Dataset(
        usual.features,
        usual.label(),
        ids[usual.row_queries],
        labels={HOSTILE: usual.labels["clicks"]},
        feature_names=["__proto__", "constructor", HOSTILE, "a.b[0]", "x" * 4000],
        document_ids=[f"{HOSTILE} {row}" for row in range(usual.n_documents)],
    )
    ranker = rf.LambdaMART("NDCG", n_trees=2, n_leaves=3, min_documents=2, progress=False).fit(data, validation=data)
    rf.report(
        ranker,
        data,
        path=tmp_path / "hostile.html",
        baselines={HOSTILE: data.features[:, 0].astype(float), "__proto__": "constructor"},
        segments={name: ("__proto__", HOSTILE)[place % 2] for place, name in enumerate(ids)},
        query_texts=dict.fromkeys(ids, HOSTILE),
        document_texts={f"{HOSTILE} {row}": HOSTILE for row in range(usual.n_documents)},
        name=f"{HOSTILE} model",
        title=HOSTILE,
        queries=3,
        permutations=1,
        progress=False,
    )
    window = opened(tmp_path / "hostile.html")
    assert window.page.evaluate("window.owned") is None
    assert window.page.locator("img").count() == 0
    assert window.page.locator("script").count() == 3
    assert "</script><img src=x" in window.text("h1")
    assert "\u202e" not in window.page.locator("body").inner_text()
    for chosen in window.page.locator("#query-list button:has(.dot)").all():
        chosen.click()
    window.page.locator(".document").nth(3).click()
    window.page.hover("#comparison-scatter .role-mark path[aria-roledescription='point'] >> nth=0", force=True)
    window.page.fill("#query-search", HOSTILE[:20])
    assert window.page.locator("#query-list button").count() == 12
    assert window.page.evaluate("window.owned") is None


def test_dark_follows_the_system_and_the_button(opened: Opening) -> None:
    def ground(window: OpenedReport) -> Any:
        return window.page.evaluate("getComputedStyle(document.body).backgroundColor")

    light, dark = opened(color_scheme="light"), opened(color_scheme="dark")
    grounds = ground(light), ground(dark)
    check_readable(light)
    check_readable(dark)
    assert grounds[0] != grounds[1]
    line = "getComputedStyle(document.querySelector('#training-curves .role-mark path')).stroke"
    assert light.page.evaluate(line) != dark.page.evaluate(line)
    light.page.get_by_role("button", name="Switch to dark colours").click()
    assert ground(light) == grounds[1]
    assert light.page.evaluate(line) == dark.page.evaluate(line)
    light.page.get_by_role("button", name="Switch to light colours").click()
    assert ground(light) == grounds[0]


def contrast(one: str, other: str) -> float:
    """Of two colours, ``rgb(...)``, as WCAG defines it."""

    def light(colour: str) -> float:
        parts = [float(part) / 255.0 for part in colour.partition("(")[2].rstrip(")").split(",")[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def check_readable(window: OpenedReport) -> None:
    colours = window.page.evaluate(
        """() => {
            const probe = document.createElement('span');
            document.body.append(probe);
            const of = name => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };
            const names = ['ink', 'muted', 'better', 'worse', 'accent', 'card', 'ground'];
            const found = Object.fromEntries(names.map(name => [name, of(name)]));
            probe.remove();
            return found;
        }"""
    )
    for text in ("ink", "muted", "better", "worse", "accent"):
        for ground in ("card", "ground"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)


def test_a_narrow_page_does_not_scroll_sideways(opened: Opening) -> None:
    window = opened(viewport={"width": 390, "height": 844}, device_scale_factor=2, has_touch=True)
    for width in (390, 320, 768):
        window.page.set_viewport_size({"width": width, "height": 844})
        window.page.wait_for_timeout(200)  # charts follow the width
        assert window.page.evaluate("document.documentElement.scrollWidth") <= width
        wide = window.page.evaluate(
            """() => [...document.querySelectorAll('main *')].filter(node => !node.closest('.scroll, svg, .contents') &&
                node.getBoundingClientRect().right > innerWidth + 1).map(node => node.className || node.tagName)"""
        )
        assert wide == []


def test_everything_is_reached_by_keyboard(opened: Opening) -> None:
    window = opened()
    reached: list[str] = []
    for _ in range(260):
        window.page.keyboard.press("Tab")
        at = window.page.evaluate(
            """() => { const node = document.activeElement; return node === document.body ? '' :
                (node.id || node.className.toString() || node.tagName) + '|' + getComputedStyle(node).outlineStyle; }"""
        )
        if not at:
            break
        reached.append(at)
    names = [name.partition("|")[0] for name in reached]
    assert names[0] == "skip"
    assert {"theme", "query-search", "document", "scroll", "link-button"} <= set(names)
    assert not [name for name in reached if name.endswith("|none") and "INPUT" not in name]
    query = window.page.locator("#query-list button:has(.dot)").nth(2)
    query.focus()
    window.page.keyboard.press("Enter")
    assert query.get_attribute("aria-current") == "true"
    button = window.page.locator("button.document[data-document]").nth(4)
    button.focus()
    window.page.keyboard.press("Enter")
    assert window.page.locator("button.document[data-document]").nth(4).get_attribute("aria-pressed") == "true"
    assert window.page.evaluate("document.activeElement.dataset.document") is not None  # where the reader was


def test_a_screen_reader_finds_its_way(usual: OpenedReport) -> None:
    window = usual
    found = window.page.evaluate(
        """() => {
            const all = (selector, lacks) => [...document.querySelectorAll(selector)].filter(lacks).length;
            return {
                landmarks: ['header', 'nav', 'main', 'footer'].map(name => all('body ' + name, () => true)),
                headings: [...document.querySelectorAll('h1, h2, h3, h4')].map(one => Number(one.tagName[1])),
                language: document.documentElement.lang,
                sections: all('section', one => !document.getElementById(one.getAttribute('aria-labelledby'))),
                cells: all('th', one => !one.scope),
                tables: all('table', one => !one.caption),
                fields: all('input, select', one => !one.labels.length),
                charts: all('.chart', one => !one.getAttribute('aria-label')),
                drawings: all('svg:not([aria-hidden=true])', one => !one.closest('[aria-label]')),
            };
        }"""
    )
    headings = found.pop("headings")
    assert headings.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(headings))
    assert found.pop("landmarks") == [1, 1, 1, 1]
    assert found.pop("language") == "en"
    assert found == dict.fromkeys(found, 0)


def test_it_can_be_printed(opened: Opening) -> None:
    window = opened(color_scheme="dark")
    window.page.emulate_media(media="print")
    assert window.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for hidden in (".contents", ".picker", "#theme"):
        assert not window.page.locator(hidden).is_visible()
    assert window.page.locator("#measures-chart svg").is_visible()
    colour = window.page.evaluate("getComputedStyle(document.querySelector('#training-curves .role-mark path')).stroke")
    assert colour == "rgb(0, 114, 178)"
    assert len(window.page.pdf(format="A4")) > 20_000


def test_a_page_without_most_parts_says_why(opened: Opening, parts: Any, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    net = rf.RankNet(hidden=3, epochs=1, progress=False).fit(parts[0])
    bare = rf.Dataset(parts[2].features, qid=parts[2].qid, feature_names=list(parts[2].feature_names))
    made = rf.report(net.model_.without_known_data(), bare, path=tmp_path / "bare.html", queries=2, progress=False)
    window, contents = opened(tmp_path / "bare.html"), made.to_dict()
    absent = window.text("#absent")
    for part in ("measures", "comparison", "segments", "scores", "drift", "frontier"):
        assert contents[part]["absent"] in absent
        assert part in ("frontier",) or window.page.locator(f"#{part}").count() == 0
    assert "row " in window.text("ol.ranked >> nth=0")
