// Charts by Vega-Lite, drawn one after the other so that the page can be read at once.

const MOST_MARKS_IN_SVG = 1500; // more are drawn on a canvas: as elements of the page they would be slow
const MOST_MARKS_READ_OUT = 60; // more would drown a screen reader; the label and the table say it then
const SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"];
const DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [10, 4], [4, 4]];

const waiting = [];
let drawing = false;
let failures = 0;

/**
 * A chart in an element.
 *
 * host : the element, or its id
 * title, note : above the drawing
 * label : what a screen reader says in place of the drawing
 * spec : of Vega-Lite, or a function of {onCanvas} that gives it
 * marks : how many points it has
 * onPick : called with the datum of a mark that is clicked
 */
function chart(host, { title, note, label, spec, marks = 0, onPick = null, below = null }) {
  const node = typeof host === "string" ? document.getElementById(host) : host;
  const place = make("div", { class: "chart", role: "group", "aria-label": displayed(label ?? title) });
  fill(
    node,
    title ? make("h3", { class: "chart-title" }, displayed(title)) : null,
    note ? make("p", { class: "small" }, displayed(note)) : null,
    place,
    below,
  );
  const onCanvas = marks > MOST_MARKS_IN_SVG;
  const one = { place, spec, onCanvas, marks, onPick, label: label ?? title };
  place.redraw = () => later(one);
  later(one);
  if (onCanvas) theme.listeners.push(() => place.isConnected && later(one));
  return place;
}

function later(one) {
  document.documentElement.dataset.ready = "false";
  waiting.push(one);
  if (!drawing) {
    drawing = true;
    setTimeout(drawNext, 0);
  }
}

async function drawNext() {
  while (waiting.length) {
    const one = waiting.shift();
    if (!one.place.isConnected) continue; // something else is shown there by now
    try {
      await embed(one);
    } catch (error) {
      failures += 1;
      fill(one.place, make("p", { class: "absent" }, `This chart could not be drawn: ${error.message}`));
    }
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  drawing = false;
  document.documentElement.dataset.failures = String(failures);
  document.documentElement.dataset.ready = "true";
}

async function embed({ place, spec, onCanvas, marks, onPick, label }) {
  const made = typeof spec === "function" ? spec({ onCanvas }) : spec;
  const whole = {
    width: "container",
    autosize: { type: "fit-x", contains: "padding" },
    description: displayed(label),
    ...made,
    config: config(onCanvas, marks),
  };
  const result = await vegaEmbed(place, whole, {
    mode: "vega-lite",
    ast: true, // expressions are interpreted: the policy of this page allows no code made of text
    actions: false,
    logLevel: 1, // errors
    renderer: onCanvas ? "canvas" : "svg",
    defaultStyle: false,
    tooltip: showTooltip,
    hover: false,
  });
  if (onPick) {
    result.view.addEventListener("click", (event, item) => item?.datum && onPick(item.datum));
    place.classList.add("can-be-picked");
  }
  place.dataset.drawn = "true";
  place.view?.finalize();
  place.view = result.view;
}

function config(onCanvas, marks) {
  const ink = colour("ink", onCanvas);
  const muted = colour("muted", onCanvas);
  const line = colour("line", onCanvas);
  return {
    background: "transparent",
    font: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif",
    view: { stroke: null },
    aria: marks <= MOST_MARKS_READ_OUT,
    axis: {
      labelColor: muted, titleColor: muted, gridColor: line, domainColor: line, tickColor: line,
      labelFontSize: 11.5, titleFontSize: 12, titleFontWeight: 500, titlePadding: 8, labelPadding: 5, labelLimit: 190, tickSize: 4,
    },
    axisX: { tickCount: narrow() ? 4 : 8, labelOverlap: true },
    axisY: { ticks: false, domain: false, tickCount: 6 },
    legend: {
      labelColor: ink, titleColor: muted, orient: "top", direction: "horizontal", labelFontSize: 12, titleFontWeight: 500, title: null,
      labelLimit: 220, symbolStrokeWidth: 2, columns: narrow() ? 2 : 6, offset: 6, padding: 0,
    },
    header: { labelColor: ink, titleColor: muted, labelFontSize: 12, labelFontWeight: 600 },
    title: { color: ink },
    text: { color: ink, fontSize: 11 },
    rule: { color: muted },
    line: { strokeWidth: 2 },
    point: { size: 55, filled: true, opacity: 1 },
    bar: { cornerRadiusEnd: 2 },
  };
}

/** Whether the page is as narrow as on a phone. */
function narrow() {
  return window.innerWidth < 600;
}

/** The height of a chart with a line per ranking in every row. */
function rowsHeight(rows, rankings) {
  return rows * (rankings > 1 ? 20 * rankings + 8 : 34);
}

/** Names beside an axis are cut where a chart would have no room left. */
function nameLimit() {
  return narrow() ? 110 : 220;
}

function showTooltip(handler, event, item, value) {
  const box = document.getElementById("tooltip");
  if (value === null || value === undefined || value === "" || !event) {
    box.hidden = true;
    return;
  }
  const lines = typeof value === "object" ? Object.entries(value) : [["", value]];
  fill(box, lines.map(([name, one]) => make("div", {}, make("span", {}, displayed(name)), make("span", {}, displayed(one)))));
  box.hidden = false;
  const left = Math.min(event.clientX + 14, window.innerWidth - box.offsetWidth - 8);
  const top = event.clientY + 18 + box.offsetHeight > window.innerHeight ? event.clientY - box.offsetHeight - 10 : event.clientY + 18;
  box.style.setProperty("left", `${Math.max(4, left)}px`);
  box.style.setProperty("top", `${top}px`);
}
