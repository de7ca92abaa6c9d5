// Means of all rankings with their intervals, and what decides them.

function measuresPart({ measures: part, rankings, model }) {
  if (part.absent) return part.absent;
  const points = [];
  for (const [place, name] of rankings.entries()) {
    for (const measure of part.measures) {
      const one = part.rankings[name][measure];
      points.push({
        ranking: displayed(name), measure: displayed(measure), place, mean: one.mean, low: one.interval[0], high: one.interval[1],
        shown: number(one.mean), spread: interval(one.interval),
      });
    }
  }
  const names = rankings.map(displayed);
  const tooltip = [
    { field: "ranking", title: "ranking" }, { field: "measure", title: "measure" },
    { field: "shown", title: "mean" }, { field: "spread", title: `${perCent(part.level, 0)} interval` },
  ];
  chart("measures-chart", {
    title: "Means with intervals",
    note: `${perCent(part.level, 0)} intervals, Student's t over queries`,
    label: points.map((one) => `${one.ranking}, ${one.measure}: ${one.shown} ${one.spread}`).join("; "),
    marks: points.length,
    spec: {
      data: { values: points },
      height: rowsHeight(part.measures.length, rankings.length),
      encoding: {
        y: { field: "measure", type: "nominal", title: null, sort: part.measures.map(displayed), axis: { labelLimit: nameLimit(), labelFontWeight: 600 } },
        yOffset: { field: "ranking", sort: names },
        color: {
          field: "ranking", sort: names, scale: { domain: names, range: names.map((_, place) => seriesColour(place)) },
          legend: rankings.length > 1 ? {} : null,
        },
        tooltip,
      },
      layer: [
        { mark: { type: "rule", strokeWidth: 2 }, encoding: { x: { field: "low", type: "quantitative", scale: { zero: false, nice: true }, title: "mean over queries" }, x2: { field: "high" } } },
        {
          mark: { type: "point", size: 80 },
          encoding: { x: { field: "mean", type: "quantitative" }, shape: { field: "ranking", sort: names, scale: { domain: names, range: names.map((_, place) => SHAPES[place % SHAPES.length]) }, legend: rankings.length > 1 ? {} : null } },
        },
      ],
    },
  });
  const header = ["measure", ...rankings.map((name) => named(name)), "queries", "blank", "unlabelled"];
  const rows = part.measures.map((measure) => {
    const own = part.rankings[model][measure];
    return [
      named(measure),
      ...rankings.map((name) => {
        const one = part.rankings[name][measure];
        return make("td", {}, make("span", {}, number(one.mean)), make("br"), make("span", { class: "interval" }, interval(one.interval)));
      }),
      count(own.counted), count(own.blank), perCent(own.unlabelled),
    ];
  });
  fill("measures-table", table("Means", header, rows), notes(part.conventions));
  return null;
}
