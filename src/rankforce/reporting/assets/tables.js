// Tables with headings that screen readers know.

/**
 * header : texts or nodes, one per column; rows : lists of texts or nodes, the first of each names its row.
 */
function table(caption, header, rows, { kind = "", scrollLabel = caption } = {}) {
  const cell = (content, place) =>
    place === 0
      ? make("th", { scope: "row" }, content)
      : content instanceof HTMLTableCellElement
        ? content
        : make("td", {}, content);
  return make(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": displayed(scrollLabel) },
    make(
      "table",
      { class: kind },
      make("caption", {}, displayed(caption)),
      make("thead", {}, make("tr", {}, header.map((one) => make("th", { scope: "col" }, one)))),
      make("tbody", {}, rows.map((row) => make("tr", {}, row.map(cell)))),
    ),
  );
}

/** Names and what they are. */
function facts(caption, pairs) {
  return make(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": displayed(caption) },
    make(
      "table",
      { class: "facts" },
      make("caption", {}, displayed(caption)),
      make(
        "tbody",
        {},
        pairs
          .filter(([, value]) => value !== null && value !== undefined && value !== "")
          .map(([name, value]) =>
            make("tr", {}, make("th", { scope: "row" }, displayed(name)), make("td", {}, value instanceof Node ? value : displayed(value))),
          ),
      ),
    ),
  );
}

/** What unfolds. */
function folded(summary, ...content) {
  return make("details", {}, make("summary", {}, displayed(summary)), content);
}

/** A bar to the right for what is positive, to the left for what is negative. */
function bar(value, largest) {
  const share = largest > 0 ? Math.min(50, (50 * Math.abs(value)) / largest) : 0;
  return make(
    "span",
    { class: "bar", "aria-hidden": "true" },
    make("span", { class: value >= 0 ? "plus" : "minus", style: { width: `${share}%` } }),
  );
}
