// Means and differences by segment of the queries.

const segmentsShown = { measure: null };

function segmentsPart(report) {
  const part = report.segments;
  if (part.absent) return part.absent;
  segmentsShown.measure = report.measure;
  const measures = report.measures.measures;
  if (measures.length > 1) {
    fill(
      "segments-controls",
      chooser("Measure", measures.map((name) => [name, name]), segmentsShown.measure, (name) => { segmentsShown.measure = name; drawSegments(report); }),
    );
  }
  drawSegments(report);
  return null;
}

function drawSegments(report) {
  const { segments } = report.segments;
  const { measure } = segmentsShown;
  const names = report.rankings.map(displayed);
  const points = segments.flatMap((one) =>
    report.rankings.map((ranking) => {
      const { mean, interval: ends } = one.rankings[ranking][measure];
      return { segment: displayed(one.segment), ranking: displayed(ranking), mean, low: ends[0], high: ends[1], shown: number(mean), spread: interval(ends) };
    }),
  );
  chart("segments-chart", {
    title: `${measure} by segment`,
    label: points.map((one) => `${one.segment}, ${one.ranking}: ${one.shown} ${one.spread}`).join("; "),
    marks: points.length,
    spec: {
      data: { values: points },
      height: rowsHeight(segments.length, names.length),
      encoding: {
        y: { field: "segment", type: "nominal", title: null, sort: segments.map((one) => displayed(one.segment)), axis: { labelLimit: nameLimit(), labelFontWeight: 600 } },
        yOffset: { field: "ranking", sort: names },
        color: { field: "ranking", scale: { domain: names, range: names.map((_, place) => seriesColour(place)) }, legend: names.length > 1 ? {} : null },
        tooltip: [{ field: "segment" }, { field: "ranking" }, { field: "shown", title: "mean" }, { field: "spread", title: "interval" }],
      },
      layer: [
        { mark: { type: "rule", strokeWidth: 2 }, encoding: { x: { field: "low", type: "quantitative", scale: { zero: false }, title: displayed(measure) }, x2: { field: "high" } } },
        { mark: { type: "point", size: 70 }, encoding: { x: { field: "mean", type: "quantitative" }, shape: { field: "ranking", scale: { domain: names, range: names.map((_, place) => SHAPES[place % SHAPES.length]) }, legend: names.length > 1 ? {} : null } } },
      ],
    },
  });
  const baselines = report.rankings.slice(1);
  const header = ["segment", "queries", ...report.rankings.map(named), ...baselines.map((name) => ["change against ", named(name)]), ...baselines.map(() => "p")];
  const rows = segments.map((one) => [
    named(one.segment), count(one.queries),
    ...report.rankings.map((name) => number(one.rankings[name][measure].mean)),
    ...baselines.map((name) => {
      const { difference } = one.differences[name][measure];
      return make("td", {}, make("strong", { class: direction(difference) }, signed(difference)));
    }),
    ...baselines.map((name) => pValue(one.differences[name][measure].p)),
  ]);
  fill("segments-table", table(`${measure} by segment`, header, rows));
}
