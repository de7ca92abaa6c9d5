// The explorer: search, sort and pick a query.

const PAGE = 60; // queries that are listed before the reader asks for more

/** The explorer of a report: ``show(query)`` picks one, ``move`` also brings it into view. */
function queriesPart(report) {
  const part = report.queries;
  const { measures } = report.measures.absent ? { measures: [] } : report.measures;
  const baselines = report.measures.absent ? [] : report.rankings.slice(1);
  const detailed = new Map(part.details.map((one) => [one.query, one]));
  const state = { search: "", sort: null, listed: PAGE, query: null, measure: report.measure, baseline: baselines[0] ?? null, only: false };

  const value = (query, ranking) => (state.measure ? part.values[ranking][state.measure][query] : null);
  const change = (query) => {
    if (!state.baseline) return null;
    const [a, b] = [value(query, state.baseline), value(query, report.model)];
    return isNumber(a) && isNumber(b) ? b - a : null;
  };
  const last = (write) => (query) => { const found = write(query); return isNumber(found) ? found : Infinity; };
  const orders = {
    ...(baselines.length && {
      changed: ["largest change first", last((query) => { const one = change(query); return one === null ? null : -Math.abs(one); })],
      losses: ["largest loss first", last(change)],
      gains: ["largest gain first", last((query) => { const one = change(query); return one === null ? null : -one; })],
    }),
    ...(measures.length && {
      lowest: ["lowest value first", last((query) => value(query, report.model))],
      highest: ["highest value first", last((query) => { const one = value(query, report.model); return one === null ? null : -one; })],
    }),
    largest: ["most documents first", (query) => -part.sizes[query]],
    given: ["in the order of the data", (query) => query],
  };
  state.sort = Object.keys(orders)[0];

  const list = make("ol", { id: "query-list", "aria-label": "Queries" });
  const found = make("p", { class: "small", role: "status" });
  const more = make("button", { type: "button", class: "quiet-button", on: { click: () => { state.listed += 5 * PAGE; drawList(); } } }, "More queries");

  function matching() {
    const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = [];
    for (let query = 0; query < part.ids.length; query += 1) {
      if (state.only && !detailed.has(query)) continue;
      if (words.length) {
        const text = `${part.ids[query]} ${part.texts?.[query] ?? ""} ${part.segments?.[query] ?? ""}`.toLowerCase();
        if (!words.every((word) => text.includes(word))) continue;
      }
      chosen.push(query);
    }
    const key = orders[state.sort][1];
    const keys = new Map(chosen.map((query) => [query, key(query)]));
    return chosen.sort((a, b) => keys.get(a) - keys.get(b) || a - b);
  }

  function drawList() {
    const chosen = matching();
    fill(list, chosen.slice(0, state.listed).map(entry));
    found.textContent = `${counted(chosen.length, "query", "queries")}${chosen.length > state.listed ? `, the first ${count(state.listed)} are listed` : ""}`;
    more.hidden = chosen.length <= state.listed;
  }

  function entry(query) {
    const text = part.texts?.[query];
    const difference = change(query);
    const below = [text ? displayed(part.ids[query]) : null, part.segments?.[query], `${count(part.sizes[query])} docs`];
    return make(
      "li",
      {},
      make(
        "button",
        { type: "button", "data-query": query, "aria-current": query === state.query ? "true" : null, on: { click: () => show(query, false) } },
        make("span", { class: "name" }, detailed.has(query) ? make("span", { class: "dot", role: "img", "aria-label": "with documents: ", title: "with documents" }) : null, named(text ?? part.ids[query])),
        make("span", { class: "value numbers" }, state.measure ? number(value(query, report.model)) : ""),
        make(
          "span",
          { class: "below" },
          make("span", {}, displayed(below.filter(Boolean).join(" · "))),
          difference === null ? null : make("span", { class: `numbers ${direction(difference)}` }, signed(difference)),
        ),
      ),
    );
  }

  function show(query, move) {
    state.query = query;
    for (const button of list.querySelectorAll("button")) {
      if (Number(button.dataset.query) === query) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
    drawQuery(report, query, detailed.get(query), state);
    if (move) {
      const place = document.getElementById("queries-picked");
      place.scrollIntoView({ block: "start" });
      place.focus({ preventScroll: true });
    }
  }

  const redraw = () => { state.listed = PAGE; drawList(); };
  const search = make("input", {
    type: "search", placeholder: "Search ids, texts, segments", autocomplete: "off", spellcheck: "false", id: "query-search",
    on: { input: () => { state.search = search.value; redraw(); } },
  });
  const only = make("input", { type: "checkbox", on: { change: () => { state.only = only.checked; redraw(); } } });
  fill(
    "queries-picker",
    make("label", { class: "field" }, "Search", search),
    chooser("Sort", Object.entries(orders).map(([name, [words]]) => [name, words]), state.sort, (name) => { state.sort = name; redraw(); }),
    measures.length > 1
      ? chooser("Measure", measures.map((name) => [name, name]), state.measure, (name) => { state.measure = name; redraw(); if (state.query !== null) show(state.query, false); })
      : null,
    baselines.length > 1
      ? chooser("Baseline", baselines.map((name) => [name, name]), state.baseline, (name) => { state.baseline = name; redraw(); if (state.query !== null) show(state.query, false); })
      : null,
    part.details.length < part.ids.length ? make("label", { class: "check" }, only, "only those with documents") : null,
    found,
    list,
    more,
  );
  document.getElementById("queries-lead").textContent =
    `All ${counted(part.ids.length, "query", "queries")} with their values; ${count(part.details.length)} of them with documents, features and forces.`;
  drawList();
  const first = matching().find((query) => detailed.has(query)) ?? matching()[0];
  if (first !== undefined) show(first, false);
  return { show };
}
