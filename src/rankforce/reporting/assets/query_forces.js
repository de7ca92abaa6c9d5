// Forces as arrows on the ranked list: where the training would move each document next.

const LONGEST_ARROW = 0.25; // of the width of the scores

function drawForces(host, report, detail) {
  const documents = detail.documents.filter((one) => isNumber(one.ranks[0]) && isNumber(one.force)).sort((a, b) => a.ranks[0] - b.ranks[0]);
  if (!documents.length) {
    fill(host, make("p", { class: "absent" }, "No forces are known for the documents of this query."));
    return;
  }
  const { measure, source } = report.queries.forces;
  const [width, row, names, top] = [narrow() ? 360 : 760, 26, narrow() ? 128 : 230, 8];
  const height = top + row * documents.length + 30;
  const scores = documents.map((one) => one.scores[0]);
  const [low, high] = [Math.min(...scores), Math.max(...scores)];
  const span = high - low || 1;
  const largest = Math.max(...documents.map((one) => Math.abs(one.force))) || 1;
  const room = width - names - 20;
  const edge = 1.15 * LONGEST_ARROW;
  const x = (score) => names + 10 + (room * (score - low + edge * span)) / (span * (1 + 2 * edge));
  const length = (force) => ((force / largest) * LONGEST_ARROW * room) / (1 + 2 * edge);
  const letters = narrow() ? 12 : 30;
  const rows = documents.map((one, place) => {
    const y = top + row * (place + 0.5);
    const [from, by] = [x(one.scores[0]), length(one.force)];
    const kind = one.force >= 0 ? "up" : "down";
    const name = displayed(one.text ?? documentName(report, one));
    const cut = name.length > letters ? `${name.slice(0, letters - 1)}…` : name;
    return [
      draw("line", { class: "rule", x1: names, x2: width - 8, y1: y, y2: y }),
      draw("text", { x: 22, y: y + 4, "text-anchor": "end", class: "faint" }, one.ranks[0]),
      draw("text", { x: 30, y: y + 4 }, cut),
      one.label === null ? null : draw("text", { x: names - 6, y: y + 4, "text-anchor": "end", class: "faint" }, short(one.label)),
      draw("g", { class: kind }, arrow(from, by, y), draw("title", {}, `${name}: force ${signed(one.force)}`)),
      draw("circle", { class: "dot", cx: from, cy: y, r: 3.5 }),
    ];
  });
  const says = documents.map((one) => `rank ${one.ranks[0]}, ${displayed(one.text ?? documentName(report, one))}, force ${signed(one.force)}`).join("; ");
  fill(
    host,
    make("h3", {}, "Forces"),
    make(
      "p",
      { class: "small" },
      `Where the training would move each document next, for ${displayed(measure)}: an arrow to the right pushes it up. Largest force ${short(largest)}; ${displayed(source)}.`,
    ),
    draw(
      "svg",
      { class: "forces", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": says },
      rows,
      draw("text", { class: "axis", x: names + room / 2, y: height - 8, "text-anchor": "middle" }, "score →"),
    ),
  );
}

function arrow(x, by, y) {
  const side = Math.sign(by);
  const head = Math.min(7, Math.abs(by));
  const end = x + by;
  return [
    draw("path", { d: `M${x},${y} L${end - side * head},${y}` }),
    draw("path", { class: "head", d: `M${end},${y} L${end - side * head},${y - 4.5} L${end - side * head},${y + 4.5} Z` }),
  ];
}
