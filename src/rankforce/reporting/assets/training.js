// What was trained on what, how the training went, and the trade-off between tiers.

function trainingPart(report, leftOut) {
  const part = report.training;
  document.getElementById("training-lead").textContent = displayed([part.summary, part.objective && `trained for ${part.objective}`].filter(Boolean).join(", "));
  if (report.curves.absent) {
    document.getElementById("training-curves").remove();
    leftOut.push(["Training curves", report.curves.absent]);
  } else drawCurves(report.curves);
  if (report.frontier.absent) {
    document.getElementById("training-frontier").remove();
    leftOut.push(["Tier frontier", report.frontier.absent]);
  } else drawFrontier(report.frontier);
  const columns = Object.entries(part.columns);
  fill(
    "training-facts",
    facts("The model", [
      ["kind", part.kind], ["objective", part.objective], ["features", count(part.features)],
      ["training data", part.data_fingerprint && `fingerprint ${part.data_fingerprint}`],
      ["columns", columns.map(([name, what]) => `${name}: ${what}`).join("; ")],
      ["categories", Object.entries(part.categories).map(([name, many]) => `${name}: ${count(many)}`).join("; ")],
      ["seed", part.seed === null ? null : String(part.seed)],
      ["versions", Object.entries(part.versions).map(([name, version]) => `${name} ${version}`).join(", ")], ["processor", part.cpu_target],
    ]),
  );
  const rows = part.settings.map((one) => [
    named(one.name),
    make("td", { class: "left" }, one.settled === null ? displayed(one.value) : [displayed(one.value), " → ", make("strong", {}, displayed(one.settled))]),
  ]);
  if (rows.length) fill("training-settings", folded(`All ${counted(rows.length, "setting")}`, table("Settings; an arrow shows what became of one left open", ["setting", make("span", { class: "left" }, "value")], rows)));
  else document.getElementById("training-settings").remove();
}

function drawCurves({ history, watched, ties }) {
  const names = Object.keys(history).sort((a, b) => (a === "validation" ? -1 : b === "validation" ? 1 : 0));
  const points = [];
  const best = [];
  for (const name of names) {
    const values = history[name];
    let top = 0;
    values.forEach((value, place) => {
      points.push({ part: displayed(name), iteration: place + 1, value, shown: number(value) });
      if (value > values[top]) top = place;
    });
    best.push({ part: displayed(name), iteration: top + 1, value: values[top], shown: `${number(values[top])} (best)` });
  }
  const measures = [...new Set(Object.values(watched))].map(displayed).join(", ");
  const shown = names.map(displayed);
  const scale = { domain: shown, range: shown.map((_, place) => seriesColour(place)) };
  const tooltip = [{ field: "part", title: "on" }, { field: "iteration" }, { field: "shown", title: measures || "value" }];
  chart("training-curves", {
    title: `${measures || "Value"} after every iteration`,
    note: ["the dot is the best", ties && `ties: ${ties}`].filter(Boolean).join("; "),
    label: best.map((one) => `${one.part}: best ${one.shown} at iteration ${one.iteration}`).join("; "),
    marks: points.length > 1000 ? 1000 : points.length,
    spec: {
      height: 280,
      encoding: {
        x: { field: "iteration", type: "quantitative", title: "iteration", scale: { nice: false }, axis: { tickMinStep: 1 } },
        y: { field: "value", type: "quantitative", title: measures || "value", scale: { zero: false } },
        color: { field: "part", sort: shown, scale, legend: { symbolType: "stroke", symbolSize: 300 } },
        tooltip,
      },
      layer: [
        { data: { values: points }, mark: { type: "line" }, encoding: { strokeDash: { field: "part", sort: shown, scale: { domain: shown, range: shown.map((_, place) => DASHES[place % DASHES.length]) }, legend: {} } } },
        { data: { values: best }, mark: { type: "point", size: 90 } },
      ],
    },
  });
}

function drawFrontier({ measures, candidates, alpha }) {
  const points = candidates.map((one) => ({
    x: one.means[0], y: one.means[1], weights: one.weights.map((weight) => short(weight)).join(" : "),
    kind: one.chosen ? "chosen" : one.allowed ? "allowed" : "an earlier tier is worse", front: one.undominated,
  }));
  const kinds = ["chosen", "allowed", "an earlier tier is worse"];
  const front = points.filter((one) => one.front).sort((a, b) => a.x - b.x);
  const x = { field: "x", type: "quantitative", title: `${displayed(measures[0])} (first tier)`, scale: { zero: false } };
  const y = { field: "y", type: "quantitative", title: `${displayed(measures[1])} (second tier)`, scale: { zero: false } };
  chart("training-frontier", {
    title: "Weights of the tiers, on validation data",
    note: `a dot is a set of weights that was tried; the line joins those that no other beats in both; allowed: no earlier tier significantly worse, level ${short(alpha)}`,
    label: points.map((one) => `${one.weights}: ${number(one.x)}, ${number(one.y)}, ${one.kind}`).join("; "),
    marks: points.length,
    spec: {
      height: 300,
      layer: [
        { data: { values: front }, mark: { type: "line", strokeWidth: 1.2, color: colour("muted"), aria: false }, encoding: { x, y } },
        {
          data: { values: points },
          mark: { type: "point", size: 110, strokeWidth: 2 },
          encoding: {
            x, y,
            color: { field: "kind", scale: { domain: kinds, range: [colour("ink"), colour("better"), colour("worse")] }, legend: {} },
            shape: { field: "kind", scale: { domain: kinds, range: ["diamond", "circle", "cross"] }, legend: {} },
            tooltip: [{ field: "weights" }, { field: "x", title: displayed(measures[0]), format: ".4f" }, { field: "y", title: displayed(measures[1]), format: ".4f" }, { field: "kind", title: "" }],
          },
        },
        { data: { values: points }, mark: { type: "text", align: "left", dx: 9, dy: -7, fontSize: 10.5, color: colour("muted"), aria: false }, encoding: { x, y, text: { field: "weights" } } },
      ],
    },
  });
}
