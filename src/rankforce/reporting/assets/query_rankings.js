// One query: its values, the rankings side by side, features and contributions.

const ROW = 46.4; // pixels of a document in a list: 2.9rem

function drawQuery(report, query, detail, state) {
  const part = report.queries;
  const head = make("div", { class: "card query-head" }, make("h3", {}, "Query ", queryName(report, query)), queryWords(report, query, detail));
  if (!report.measures.absent) head.append(queryValues(report, query));
  if (!detail) {
    fill("queries-picked", head, make("p", { class: "absent" }, "The documents of this query are not in the file: name it in queries when the report is made."));
    return;
  }
  const lists = make("div", { class: "card" });
  const why = make("div", { class: "card why", role: "status" });
  const shares = make("div", { class: "card" });
  const forces = make("div", { class: "card" });
  const chosen = [];
  const redraw = () => {
    drawLists(lists, report, detail, state.baseline, chosen, pick);
    drawWhy(why, report, detail, chosen);
  };
  function pick(place) {
    const at = chosen.indexOf(place);
    if (at >= 0) chosen.splice(at, 1);
    else {
      if (chosen.length === 2) chosen.shift();
      chosen.push(place);
    }
    redraw();
    lists.querySelector(`[data-document="${place}"]`)?.focus({ preventScroll: true });
  }
  const at = (ranking, rank) => detail.documents.findIndex((one) => one.ranks[ranking] === rank);
  const first = at(0, 1);
  const theirs = state.baseline ? at(report.rankings.indexOf(state.baseline), 1) : -1;
  const second = theirs >= 0 && theirs !== first ? theirs : at(0, 2); // what the baseline would have on top
  if (detail.pairs.length && first >= 0 && second >= 0) chosen.push(first, second);
  fill("queries-picked", head, lists, why, detail.documents[0]?.contributions ? shares : null, part.forces ? forces : null);
  redraw();
  if (detail.documents[0]?.contributions) drawShares(shares, report, detail, "contributions");
  if (part.forces) drawForces(forces, report, detail);
}

function queryWords(report, query, detail) {
  const part = report.queries;
  const words = [counted(part.sizes[query], "document")];
  if (part.segments) words.push(`segment ${displayed(part.segments[query])}`);
  if (detail) words.push(displayed(detail.reason));
  return make("p", { class: "small" }, words.join(" · "));
}

function queryValues(report, query) {
  const { measures } = report.measures;
  const { values } = report.queries;
  const rows = report.rankings.map((name) => [named(name), ...measures.map((measure) => number(values[name][measure][query]))]);
  return table("Values", ["ranking", ...measures.map(named)], rows);
}

/** A document as people know it. */
function documentName(report, one) {
  return report.queries.documents_are_rows ? `row ${one.id}` : one.id;
}

function drawLists(host, report, detail, baseline, chosen, pick) {
  const part = report.queries;
  const other = baseline ? report.rankings.indexOf(baseline) : -1;
  const ranked = (at) => detail.documents
    .map((one, place) => ({ one, place, rank: one.ranks[at] }))
    .filter(({ rank }) => isNumber(rank) && rank <= part.top)
    .sort((a, b) => a.rank - b.rank);
  const own = ranked(0);
  const theirs = other > 0 ? ranked(other) : [];
  const entry = (at, opposite) => ({ one, place, rank }) => {
    const elsewhere = opposite >= 0 ? one.ranks[opposite] : null;
    const moved = isNumber(elsewhere) ? elsewhere - rank : null;
    const letter = chosen.indexOf(place) >= 0 ? "AB"[chosen.indexOf(place)] : null;
    const grade = one.label === null ? null : make("span", { class: "badge" }, short(one.label));
    const name = documentName(report, one);
    const says = `Rank ${rank}, ${displayed(one.text ?? name)}${one.label === null ? "" : `, label ${short(one.label)}`}, score ${short(one.scores[at])}`;
    return make(
      "li",
      {},
      make(
        "button",
        { type: "button", class: "document", "data-document": at === 0 ? place : null, "data-place": place, "aria-pressed": String(letter !== null), "aria-label": says, title: displayed(one.text ? `${one.text} (${name})` : name), on: { click: () => pick(place) } },
        make("span", { class: "rank" }, letter ? make("span", { class: "mark" }, letter) : rank),
        make("span", { class: "title" }, make("span", {}, named(one.text ?? name)), make("small", {}, `score ${short(one.scores[at])}`)),
        grade ?? make("span"),
        at === 0 && moved !== null
          ? make("span", { class: `moved ${direction(moved)}` }, moved > 0 ? `▲ ${moved}` : moved < 0 ? `▼ ${-moved}` : "=")
          : make("span", { class: "moved" }),
      ),
    );
  };
  const heading = make("h3", {}, "Ranked documents");
  const words = `${report.queries.label ? `The badge is the label (${displayed(report.queries.label)}). ` : ""}Choose two documents to read why one is above the other.`;
  const ownList = make("ol", { class: "ranked", "aria-label": displayed(`Ranking of ${report.model}`) }, own.map(entry(0, other > 0 ? other : -1)));
  if (other <= 0) {
    fill(host, heading, make("p", { class: "small" }, words), make("div", { class: "side-by-side alone" }, ownList));
    return;
  }
  fill(
    host,
    heading,
    make("p", { class: "small" }, words),
    make(
      "div",
      { class: "side-by-side" },
      make("h4", {}, named(baseline)),
      make("h4", { class: "links-column", "aria-hidden": "true" }),
      make("h4", {}, named(report.model)),
      make("ol", { class: "ranked", "aria-label": displayed(`Ranking of ${baseline}`) }, theirs.map(entry(other, 0))),
      make("div", { class: "links-column" }, rankLinks(theirs, own, chosen)),
      ownList,
    ),
  );
}

/** Lines between the places of a document in the two lists. */
function rankLinks(left, right, chosen) {
  const height = ROW * Math.max(left.length, right.length);
  const at = new Map(right.map(({ place }, row) => [place, row]));
  const lines = left
    .map(({ place }, row) => [place, row, at.get(place)])
    .filter(([, , to]) => to !== undefined)
    .map(([place, from, to]) => {
      const [y1, y2] = [(from + 0.5) * ROW, (to + 0.5) * ROW];
      const kind = to < from ? "up" : to > from ? "down" : "";
      return draw("path", { d: `M2,${y1} C36,${y1} 36,${y2} 70,${y2}`, class: `${kind} ${chosen.includes(place) ? "chosen" : ""}` });
    });
  return draw("svg", { class: "links", viewBox: `0 0 72 ${height}`, height, preserveAspectRatio: "none", "aria-hidden": "true" }, lines);
}

/** Documents × features: contributions as coloured cells, or the values of the features. */
function drawShares(host, report, detail, what) {
  const { features } = report.queries;
  const used = features
    .map((name, place) => ({ name, place, size: detail.documents.reduce((sum, one) => sum + Math.abs(one.contributions[place]), 0) }))
    .filter(({ size }) => size > 0)
    .sort((a, b) => b.size - a.size)
    .slice(0, 12);
  const largest = detail.documents.reduce((most, one) => used.reduce((now, { place }) => Math.max(now, Math.abs(one.contributions[place])), most), 0) || 1;
  const documents = [...detail.documents].filter((one) => isNumber(one.ranks[0])).sort((a, b) => a.ranks[0] - b.ranks[0]);
  const cell = (one, place) => {
    const share = one.contributions[place];
    const depth = Math.round(70 * Math.min(1, Math.abs(share) / largest));
    const ground = `color-mix(in srgb, var(--${share >= 0 ? "better" : "worse"}) ${depth}%, transparent)`;
    return make("td", { style: { background: ground } }, what === "values" ? short(one.values[place]) : signed(share, 2));
  };
  const rows = documents.map((one) => {
    const rest = one.others + features.reduce((sum, _, place) => sum + (used.some((each) => each.place === place) ? 0 : one.contributions[place]), 0);
    return [
      [`${one.ranks[0]}  `, named(one.text ?? documentName(report, one))],
      short(one.scores[0]), ...used.map(({ place }) => cell(one, place)), what === "values" ? "" : signed(rest, 2),
    ];
  });
  const header = ["document", "score", ...used.map(({ name }) => make("span", { class: "feature" }, named(name))), what === "values" ? "" : "others"];
  fill(
    host,
    make("h3", {}, "Features and contributions"),
    make("p", { class: "small" }, `score = ${short(detail.base)} + contributions; blue raises a score, orange lowers it, deeper is more`),
    make("div", { class: "controls" }, choices("Cells show", `cells-${detail.query}`, [["contributions", "contributions"], ["values", "values"]], what, (chosen) => {
      drawShares(host, report, detail, chosen);
      host.querySelector("input:checked").focus();
    })),
    table("Documents by rank", header, rows, { kind: "heat" }),
  );
}
