// What features do: three answers to how much they matter, and how their values act.

const MOST_FEATURES_DRAWN = 20;

function featuresPart(report) {
  const part = report.features;
  if (part.absent) return part.absent;
  const { sample } = part;
  const whole = sample.queries === sample.of_queries;
  document.getElementById("features-lead").textContent =
    `Losses and contributions are of ${whole ? "all" : "a sample of"} ${counted(sample.queries, "query", "queries")} with ${counted(sample.documents, "document")}` +
    (whole ? "." : `, out of ${counted(sample.of_queries, "query", "queries")}, drawn by the seed.`);
  const views = importanceViews(part);
  const first = Object.keys(views)[0];
  if (Object.keys(views).length > 1) {
    fill("features-controls", choices("How much features matter by", "importance", Object.entries(views).map(([name, one]) => [name, one.words]), first, (name) => drawImportance(part, views[name])));
  }
  drawImportance(part, views[first]);
  fill("features-table", featureTable(part), notes([...part.notes, ...part.remarks]));
  if (part.dependence.length) {
    const places = part.dependence.map((one, place) => [String(place), one.feature]);
    fill("dependence-controls", chooser("How the values act of", places, "0", (place) => drawDependence(part.dependence[Number(place)])));
    drawDependence(part.dependence[0]);
  } else document.getElementById("dependence-chart").remove();
  return null;
}

function importanceViews(part) {
  const views = {};
  if (part.losses) {
    const { measure, level, features, permutations } = part.losses;
    const loss = (kind, words, note) => ({
      words, note, axis: `loss of ${displayed(measure)}`,
      title: `What ${measure} loses without a feature`,
      rows: features.map((one) => ({ feature: one.feature, size: one[kind], low: one[`${kind}_interval`][0], high: one[`${kind}_interval`][1] })),
    });
    views.permuted = loss("permuted", "loss, permuted", `values dealt anew within each query, mean of ${counted(permutations, "deal")}; ${perCent(level, 0)} intervals over queries`);
    views.removed = loss("removed", "loss, removed", `the feature taken out of the model, which is not trained again; ${perCent(level, 0)} intervals over queries`);
  }
  const plain = (by, words, title, axis, note) => ({
    words, title, axis, note, rows: Object.entries(by).map(([feature, size]) => ({ feature, size, low: null, high: null })),
  });
  if (part.contributions) views.contributions = plain(part.contributions, "contribution (SHAP)", "What features contribute to scores", "mean |contribution|", part.notes[0] ?? "");
  if (part.gain) views.gain = plain(part.gain, "gain", "What training gained by splits on a feature", "share of the gain", "on the training data");
  return views;
}

function drawImportance(part, view) {
  const order = view.rows.filter((one) => isNumber(one.size)).sort((a, b) => b.size - a.size);
  const rows = order.slice(0, MOST_FEATURES_DRAWN).map((one) => ({ ...one, feature: displayed(one.feature), shown: signed(one.size), spread: interval([one.low, one.high], signed) }));
  const intervals = rows.some((one) => isNumber(one.low));
  const y = { field: "feature", type: "nominal", title: null, sort: rows.map((one) => one.feature), axis: { labelLimit: nameLimit() } };
  const tooltip = [{ field: "feature" }, { field: "shown", title: view.axis }, ...(intervals ? [{ field: "spread", title: "interval" }] : [])];
  chart("features-chart", {
    title: view.title,
    note: [view.note, order.length > rows.length ? `the first ${rows.length} of ${order.length}` : ""].filter(Boolean).join("; "),
    label: `${view.title}: ${rows.slice(0, 8).map((one) => `${one.feature} ${one.shown}`).join(", ")}. The table has all.`,
    marks: rows.length,
    spec: {
      data: { values: rows },
      height: 23 * rows.length + 8,
      encoding: { y, tooltip },
      layer: [
        { mark: { type: "bar", height: { band: 0.62 }, color: seriesColour(0), opacity: intervals ? 0.55 : 0.9 }, encoding: { x: { field: "size", type: "quantitative", title: view.axis } } },
        ...(intervals ? [{ mark: { type: "rule", strokeWidth: 1.8, color: colour("ink") }, encoding: { x: { field: "low", type: "quantitative" }, x2: { field: "high" } } }] : []),
      ],
    },
  });
}

function featureTable(part) {
  const losses = new Map((part.losses?.features ?? []).map((one) => [one.feature, one]));
  const columns = [
    part.losses && ["permuted", (name) => signed(losses.get(name)?.permuted)],
    part.losses && ["interval", (name) => interval(losses.get(name)?.permuted_interval, signed)],
    part.losses && ["removed", (name) => signed(losses.get(name)?.removed)],
    part.contributions && ["mean |contribution|", (name) => number(part.contributions[name])],
    part.gain && ["gain", (name) => perCent(part.gain[name])],
    part.splits && ["splits", (name) => (isNumber(part.splits[name]) ? count(part.splits[name]) : NONE)],
  ].filter(Boolean);
  const size = (name) => losses.get(name)?.permuted ?? part.contributions?.[name] ?? part.gain?.[name] ?? 0;
  const rows = [...part.names].sort((a, b) => size(b) - size(a)).map((name) => [named(name), ...columns.map(([, write]) => write(name))]);
  return folded(`All ${counted(part.names.length, "feature")} as a table`, table("Features", ["feature", ...columns.map(([words]) => words)], rows));
}

function drawDependence(one) {
  const points = one.values
    .map((value, place) => ({ value: one.categories ? (value === null ? "missing" : displayed(value)) : value, contribution: one.contributions[place], jitter: (0.618 * place) % 1, shown: short(value), share: signed(one.contributions[place]) }))
    .filter((point) => point.value !== null);
  const missing = one.values.length - points.length;
  const type = one.categories ? "nominal" : "quantitative";
  const skewed = !one.categories && isSkewed(points.map((point) => point.value));
  chart("dependence-chart", {
    title: `How the values of ${one.feature} act`,
    note: `a dot is a document: its value, and what that contributed to its score${skewed ? "; the axis is logarithmic" : ""}${missing ? `; ${count(missing)} without a value are left out` : ""}`,
    label: `Values of ${one.feature} against contributions, ${count(points.length)} documents.`,
    marks: points.length,
    spec: {
      data: { values: points },
      height: 300,
      layer: [
        { data: { values: [{ y: 0 }] }, mark: { type: "rule", color: colour("muted"), strokeDash: [4, 3], aria: false, tooltip: null }, encoding: { y: { field: "y", type: "quantitative" } } },
        {
          mark: { type: "point", size: 34, opacity: 0.6, color: seriesColour(0) },
          encoding: {
            x: { field: "value", type, title: displayed(one.feature), scale: one.categories ? {} : skewed ? { type: "symlog", nice: false } : { zero: false }, axis: { labelLimit: 120, ...(skewed && { tickCount: 5, labelOverlap: true }) } },
            ...(one.categories && { xOffset: { field: "jitter", type: "quantitative" } }),
            y: { field: "contribution", type: "quantitative", title: "contribution" },
            tooltip: [{ field: "shown", title: "value" }, { field: "share", title: "contribution" }],
          },
        },
      ],
    },
  });
}

/** Whether most values lie in a small part of their range. */
function isSkewed(values) {
  if (values.length < 10) return false;
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => sorted[Math.floor(share * (sorted.length - 1))];
  const [low, middle, high] = [at(0), at(0.9), at(1)];
  return high - low > 20 * (middle - low) && middle > low;
}
