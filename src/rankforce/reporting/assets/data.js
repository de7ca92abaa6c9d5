// The health of the data, and its drift since the training.

function dataPart({ data }) {
  const findings = data.findings.map((one) => make("li", {}, make("p", {}, displayed(one.what)), make("p", { class: "small" }, displayed(one.remedy))));
  fill(
    "data-findings",
    make("h3", {}, findings.length ? `${counted(findings.length, "finding")} that may mislead` : "Nothing suspicious was found"),
    findings.length ? make("ul", { class: "findings" }, findings) : make("p", { class: "small" }, "No leaks, no duplicates, no labels that teach nothing."),
  );
  fill("data-facts", facts("What is in it", [...together(data.facts), ["fingerprint", data.fingerprint], ["columns", Object.entries(data.roles).map(([name, what]) => `${name}: ${what}`).join("; ")]]));
}

/** Facts without a name go on where the one before them ends. */
function together(lines) {
  const joined = [];
  for (const [name, value] of lines) {
    const words = value.replace(/ {2,}/g, " · ");
    if (name === "" && joined.length) joined[joined.length - 1][1] += `; ${words}`;
    else joined.push([name, words]);
  }
  return joined;
}

function driftPart(report) {
  if (report.drift.absent) return report.drift.absent;
  const { drift, notes: lines } = report.drift;
  fill(
    "drift-lead",
    make("span", { class: `badge ${drift.verdict}` }, drift.verdict),
    ` ${counted(drift.new_documents, "document")} of ${counted(drift.new_queries, "query", "queries")} against ${counted(drift.known_queries, "query", "queries")} of the training: `,
    displayed(drift.reasons.join("; ")),
    ".",
  );
  const all = [...drift.features, ...(drift.score ? [{ ...drift.score, name: "score" }] : [])];
  const bars = [...all].sort((a, b) => b.psi - a.psi).slice(0, 20).map((one) => ({ name: displayed(one.name), psi: one.psi, chance: one.psi_by_chance, verdict: one.verdict, shown: number(one.psi, 3), byChance: number(one.psi_by_chance, 3) }));
  const kinds = ["steady", "shifted", "drifted"];
  const y = { field: "name", type: "nominal", sort: bars.map((one) => one.name), title: null, axis: { labelLimit: nameLimit() } };
  chart("drift-chart", {
    title: "PSI against the training data",
    note: `the tick is what chance alone would do; drifted: PSI of ${short(drift.limits.psi.drifted)} or more (shifted: ${short(drift.limits.psi.shifted)}) that chance does not explain`,
    label: bars.slice(0, 8).map((one) => `${one.name} ${one.shown}, by chance ${one.byChance}, ${one.verdict}`).join("; "),
    marks: bars.length,
    spec: {
      data: { values: bars },
      height: 22 * bars.length + 8,
      encoding: { y, tooltip: [{ field: "name", title: "column" }, { field: "shown", title: "PSI" }, { field: "byChance", title: "by chance" }, { field: "verdict" }] },
      layer: [
        { mark: { type: "bar", height: { band: 0.6 } }, encoding: { x: { field: "psi", type: "quantitative", title: "PSI" }, color: { field: "verdict", scale: { domain: kinds, range: [seriesColour(0), seriesColour(4), seriesColour(1)] }, legend: {} } } },
        { mark: { type: "tick", color: colour("ink"), thickness: 2, size: 15 }, encoding: { x: { field: "chance", type: "quantitative" } } },
      ],
    },
  });
  const header = ["column", "weight", "PSI", "by chance", "KS", "outside", "missing then", "missing now", "p (Holm)", "verdict"];
  const rows = all.map((one) => [
    named(one.name), perCent(one.weight), number(one.psi, 3), number(one.psi_by_chance, 3), number(one.ks, 3), perCent(one.outside),
    perCent(one.missing_then), perCent(one.missing_now), pValue(one.adjusted_p), make("td", {}, make("span", { class: `badge ${one.verdict}` }, one.verdict)),
  ]);
  fill("drift-table", folded(`All ${counted(rows.length, "column")} as a table`, table("Drift by column", header, rows)), notes(lines));
  return null;
}
