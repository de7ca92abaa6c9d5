// The model against a baseline, query by query.

const comparison = { baseline: null, measure: null };

function comparisonPart(report, explorer) {
  const part = report.comparison;
  if (part.absent) return part.absent;
  comparison.baseline = Object.keys(part.baselines)[0];
  comparison.measure = report.measure;
  const redraw = () => drawComparison(report, explorer);
  const names = Object.keys(part.baselines);
  const measures = report.measures.measures;
  fill(
    "comparison-controls",
    names.length > 1
      ? chooser("Baseline", names.map((name) => [name, name]), comparison.baseline, (name) => { comparison.baseline = name; redraw(); })
      : null,
    measures.length > 1
      ? chooser("Measure", measures.map((name) => [name, name]), comparison.measure, (name) => { comparison.measure = name; redraw(); })
      : null,
  );
  redraw();
  return null;
}

function drawComparison(report, explorer) {
  const { baseline, measure } = comparison;
  const compared = report.comparison.baselines[baseline];
  const measures = report.measures.measures;
  const header = [
    "measure", named(baseline), named(report.model), "difference", `${perCent(compared.level, 0)} interval`,
    "t-test p", ...(measures.length > 1 ? ["p (Holm)"] : []), "randomisation p", "better", "equal", "worse",
  ];
  const rows = measures.map((name) => {
    const one = compared.measures[name];
    return [
      named(name), number(one.a), number(one.b),
      make("td", {}, make("strong", { class: direction(one.difference) }, signed(one.difference))),
      interval(one.interval, signed), pValue(one.t_test_p), ...(measures.length > 1 ? [pValue(one.t_test_holm_p)] : []),
      pValue(one.randomisation_p), count(one.wins), count(one.ties), count(one.losses),
    ];
  });
  fill("comparison-table", table(`${report.model} against ${baseline}`, header, rows), notes(report.comparison.notes), otherPairs(report));
  const before = report.queries.values[baseline][measure];
  const after = report.queries.values[report.model][measure];
  const points = [];
  for (const [query, name] of report.queries.ids.entries()) {
    if (!isNumber(before[query]) || !isNumber(after[query])) continue;
    const difference = after[query] - before[query];
    points.push({
      query, name: displayed(name), before: before[query], after: after[query], difference,
      kind: Math.abs(difference) < 1e-9 ? "equal" : difference > 0 ? "better" : "worse", change: signed(difference),
    });
  }
  drawScatter(report, points, explorer);
  drawDifferences(report, points);
  drawChanged(compared.measures[measure].changed, report, explorer);
}

const KINDS = ["better", "equal", "worse"];
const kindScale = (onCanvas) => ({ domain: KINDS, range: [colour("better", onCanvas), colour("muted", onCanvas), colour("worse", onCanvas)] });

function drawScatter(report, points, explorer) {
  const { baseline, measure } = comparison;
  const ends = points.flatMap((one) => [one.before, one.after]);
  const domain = ends.length ? [ends.reduce((a, b) => Math.min(a, b)), ends.reduce((a, b) => Math.max(a, b))] : [0, 1];
  chart("comparison-scatter", {
    title: `${measure} of every query`,
    note: `above the line the model is better; choose a dot to see its query`,
    label: `${measure} of ${count(points.length)} queries by ${baseline} and by ${report.model}. The table of changed queries has the largest changes.`,
    marks: points.length,
    onPick: (datum) => datum.query !== undefined && explorer.show(datum.query, true),
    spec: ({ onCanvas }) => ({
      height: 300,
      layer: [
        {
          data: { values: [{ x: domain[0], y: domain[0] }, { x: domain[1], y: domain[1] }] },
          mark: { type: "line", strokeWidth: 1, color: colour("muted", onCanvas), strokeDash: [4, 3], tooltip: null, aria: false },
          encoding: { x: { field: "x", type: "quantitative" }, y: { field: "y", type: "quantitative" } },
        },
        {
          data: { values: points },
          mark: { type: "point", size: points.length > 2000 ? 14 : points.length > 400 ? 28 : 60, opacity: points.length > 2000 ? 0.3 : points.length > 400 ? 0.5 : 0.75, cursor: "pointer" },
          encoding: {
            x: { field: "before", type: "quantitative", title: displayed(baseline), scale: { zero: false } },
            y: { field: "after", type: "quantitative", title: displayed(report.model), scale: { zero: false } },
            color: { field: "kind", scale: kindScale(onCanvas), legend: {} },
            shape: { field: "kind", scale: { domain: KINDS, range: ["triangle-up", "circle", "triangle-down"] }, legend: {} },
            tooltip: [
              { field: "name", title: "query" }, { field: "before", title: displayed(baseline), format: ".4f" },
              { field: "after", title: displayed(report.model), format: ".4f" }, { field: "change", title: "change" },
            ],
          },
        },
      ],
    }),
  });
}

function drawDifferences(report, points) {
  const { measure, baseline } = comparison;
  const largest = points.reduce((most, one) => Math.max(most, Math.abs(one.difference)), 0) || 1;
  const bins = 25; // odd: equal queries are one bar in the middle
  const width = (2 * largest) / bins;
  const bars = Array.from({ length: bins }, (_, place) => ({ low: -largest + place * width, high: -largest + (place + 1) * width, queries: 0 }));
  for (const one of points) bars[Math.min(bins - 1, Math.max(0, Math.floor((one.difference + largest) / width)))].queries += 1;
  for (const one of bars) {
    one.kind = one.high <= width / 2 + 1e-12 && one.low >= -width / 2 - 1e-12 ? "equal" : one.low > 0 ? "better" : "worse";
    one.range = `${signed(one.low, 3)} to ${signed(one.high, 3)}`;
  }
  chart("comparison-differences", {
    title: "Where the difference comes from",
    note: `queries by how much ${measure} changed; grey is about equal`,
    label: `Distribution of the change of ${measure} against ${baseline} over ${count(points.length)} queries.`,
    marks: bins,
    spec: {
      data: { values: bars },
      height: 300,
      mark: { type: "rect", stroke: colour("card"), strokeWidth: 1 },
      encoding: {
        x: { field: "low", type: "quantitative", title: `change of ${displayed(measure)}`, scale: { nice: false }, axis: { format: "+.1f", tickCount: 7 } },
        x2: { field: "high" },
        y: { field: "queries", type: "quantitative", title: "queries", axis: { tickMinStep: 1 } },
        y2: { datum: 0 },
        color: { field: "kind", scale: kindScale(false), legend: {} },
        tooltip: [{ field: "range", title: "change" }, { field: "queries", title: "queries" }],
      },
    },
  });
}

function drawChanged(changed, report, explorer) {
  const { baseline, measure } = comparison;
  const place = new Map(report.queries.ids.map((name, query) => [name, query]));
  const rows = changed.map((one) => {
    const query = place.get(one.query);
    const value = (name) => number(report.queries.values[name][measure][query]);
    const show = make("button", { type: "button", class: "link-button", on: { click: () => explorer.show(query, true) } }, queryName(report, query));
    return [show, value(baseline), value(report.model), make("td", {}, make("strong", { class: direction(one.difference) }, signed(one.difference)))];
  });
  const header = ["query", named(baseline), named(report.model), "change"];
  fill(
    "comparison-changed",
    rows.length ? table(`Queries that changed most in ${measure}`, header, rows) : make("p", { class: "absent" }, "No query changed."),
  );
}

/** All pairs of rankings, where there are several baselines. */
function otherPairs(report) {
  if (!report.comparison.pairs.length) return null;
  const rows = report.comparison.pairs.map((one) => [
    [named(one.b), " against ", named(one.a)], make("td", { class: "left" }, named(one.measure)), signed(one.difference), pValue(one.p_value), pValue(one.holm),
  ]);
  const header = ["rankings", "measure", "difference", "p", "p (Holm, all pairs)"];
  return folded("All pairs of rankings", table("Pairs", header, rows));
}

/** A query as people know it: its text if there is one, else its id. */
function queryName(report, query) {
  const text = report.queries.texts?.[query];
  return text ? [named(text), " (", named(report.queries.ids[query]), ")"] : named(report.queries.ids[query]);
}
