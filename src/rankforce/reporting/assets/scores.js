// Scores and grades.

function scoresPart(report) {
  const part = report.scores;
  if (part.absent) return part.absent;
  const names = part.grades.map((one) => displayed(`${one.name} (${count(one.documents)})`));
  const steps = part.grades.flatMap((one, place) =>
    one.shares.map((share, bin) => ({ grade: names[place], score: (part.edges[bin] + part.edges[bin + 1]) / 2, share, shown: perCent(share) })),
  );
  const scale = { domain: names, range: names.map((_, place) => seriesColour(place)) };
  chart("scores-spread", {
    title: "Scores of each label",
    note: "share of the documents with this label, by score",
    label: `Distribution of scores for ${names.join(", ")}.`,
    marks: steps.length,
    spec: {
      data: { values: steps },
      height: 260,
      encoding: {
        x: { field: "score", type: "quantitative", title: "score", scale: { zero: false, nice: false } },
        y: { field: "share", type: "quantitative", title: "share", stack: null, axis: { format: ".0%" } },
        color: { field: "grade", sort: names, scale, legend: { symbolType: "stroke", symbolOpacity: 1, symbolSize: 300, symbolStrokeWidth: 2.2 } },
        tooltip: [{ field: "grade", title: "label" }, { field: "score", format: ".3f" }, { field: "shown", title: "share" }],
      },
      layer: [
        { mark: { type: "area", interpolate: "monotone", opacity: 0.1, aria: false } },
        {
          mark: { type: "line", interpolate: "monotone", strokeWidth: 2.2 },
          encoding: { strokeDash: { field: "grade", sort: names, scale: { domain: names, range: names.map((_, place) => DASHES[place % DASHES.length]) }, legend: { symbolType: "stroke", symbolOpacity: 1, symbolSize: 300, symbolStrokeWidth: 2.2 } } },
        },
      ],
    },
  });
  drawCalibration(part.calibration);
  drawGrades(report.data.labels[part.label], part.label);
  return null;
}

function drawCalibration({ scores, labels, errors, sizes, diagonal, label }) {
  const points = scores.map((score, place) => ({ score, label: labels[place], low: labels[place] - 2 * errors[place], high: labels[place] + 2 * errors[place], size: count(sizes[place]) }));
  const x = { field: "score", type: "quantitative", title: "mean score", scale: { zero: false } };
  chart("scores-calibration", {
    title: "Labels by score",
    note: `mean label of documents by score, ${scores.length} bins of about ${count(sizes[0])}; ± two standard errors`,
    label: points.map((one) => `score ${short(one.score)}: ${short(one.label)}`).join("; "),
    marks: points.length,
    spec: {
      height: 240,
      layer: [
        ...(diagonal ? [{ data: { values: diagonal.map((end) => ({ score: end, label: end })) }, mark: { type: "line", strokeWidth: 1, strokeDash: [4, 3], color: colour("muted"), aria: false }, encoding: { x, y: { field: "label", type: "quantitative" } } }] : []),
        { data: { values: points }, mark: { type: "rule", color: seriesColour(0) }, encoding: { x, y: { field: "low", type: "quantitative", title: `mean of ${displayed(label)}` }, y2: { field: "high" } } },
        { data: { values: points }, mark: { type: "line", color: seriesColour(0), point: { size: 45 } }, encoding: { x, y: { field: "label", type: "quantitative" }, tooltip: [{ field: "score", format: ".3f", title: "mean score" }, { field: "label", format: ".3f", title: "mean label" }, { field: "size", title: "documents" }] } },
      ],
    },
  });
}

function drawGrades(summary, name) {
  const values = Object.entries(summary?.values ?? {});
  if (!values.length) {
    const facts_ = summary ? [["different values", count(summary.distinct)], ["lowest", short(summary.lowest)], ["highest", short(summary.highest)], ["mean", short(summary.mean)]] : [];
    fill("scores-grades", facts(`Labels: ${name}`, facts_));
    return;
  }
  const bars = values.map(([value, documents]) => ({ value, documents, shown: count(documents) }));
  chart("scores-grades", {
    title: "Labels of the documents",
    note: summary.unlabelled ? `${count(summary.unlabelled)} documents have none` : "every document has one",
    label: bars.map((one) => `${name} ${one.value}: ${one.shown}`).join("; "),
    marks: bars.length,
    spec: {
      data: { values: bars },
      height: 240,
      encoding: {
        x: { field: "value", type: "nominal", sort: null, title: displayed(name), axis: { labelAngle: 0 } },
        y: { field: "documents", type: "quantitative", title: "documents" },
        tooltip: [{ field: "value", title: displayed(name) }, { field: "shown", title: "documents" }],
      },
      layer: [
        { mark: { type: "bar", color: seriesColour(0), opacity: 0.85, width: { band: 0.7 } } },
        { mark: { type: "text", dy: -7, fontSize: 11, color: colour("muted") }, encoding: { text: { field: "shown" } } },
      ],
    },
  });
}
