// Reads the contents and draws every part; parts that are not there are listed at the end.

function start() {
  const report = JSON.parse(document.getElementById("report-contents").textContent);
  theme.start();
  overview(report);
  const leftOut = [];
  const explorer = queriesPart(report);
  const parts = {
    measures: () => measuresPart(report),
    comparison: () => comparisonPart(report, explorer),
    segments: () => segmentsPart(report),
    features: () => featuresPart(report),
    scores: () => scoresPart(report),
    drift: () => driftPart(report),
  };
  for (const [name, drawPart] of Object.entries(parts)) {
    const reason = drawPart();
    if (!reason) continue;
    leftOut.push([document.getElementById(`${name}-title`).textContent, reason]);
    document.getElementById(name).remove();
  }
  trainingPart(report, leftOut);
  dataPart(report);
  for (const remark of report.queries.remarks) leftOut.push(["Queries", remark]);
  if (leftOut.length) fill("absent-list", facts("Parts that are not here, and why", leftOut));
  else document.getElementById("absent").remove();
  contents();
  later({ place: document.createElement("div") }); // says that all is drawn, also where there is no chart
}

/** The list of parts, with the one in view marked. */
function contents() {
  const links = new Map();
  for (const part of document.querySelectorAll("main > section")) {
    const link = make("a", { href: `#${part.id}` }, part.querySelector("h2").textContent);
    links.set(part, link);
    document.getElementById("contents").append(make("li", {}, link));
  }
  const visible = new Set();
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) (entry.isIntersecting ? visible.add(entry.target) : visible.delete(entry.target));
      const current = [...links.keys()].find((part) => visible.has(part));
      for (const [part, link] of links) {
        if (part === current) {
          link.setAttribute("aria-current", "true");
          document.getElementById("contents").scrollTo({ left: link.offsetLeft - 60 }); // where the list is a row
        } else link.removeAttribute("aria-current");
      }
    },
    { rootMargin: "-15% 0px -60% 0px" },
  );
  for (const part of links.keys()) watcher.observe(part);
}

start();
