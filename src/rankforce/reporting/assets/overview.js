// The first screen: the answer in a sentence, and five numbers.

function overview(report) {
  document.getElementById("title").textContent = displayed(report.title);
  document.getElementById("subtitle").textContent = displayed(
    [report.training.summary, counted(report.n_queries, "query", "queries"), counted(report.n_documents, "document")].join(" · "),
  );
  const measures = report.measures.absent ? null : report.measures;
  const first = measures ? report.measure : null;
  const [baseline, compared] = report.comparison.absent ? [] : Object.entries(report.comparison.baselines)[0];
  fill("overview-sentence", ...sentence(report, first, baseline, compared?.measures[first]));
  const tiles = [];
  if (measures) {
    const own = measures.rankings[report.model][first];
    tiles.push(
      tile(first, number(own.mean), `${perCent(measures.level, 0)} interval ${unbroken(interval(own.interval))}, ${counted(own.counted, "query", "queries")}`),
    );
  }
  if (compared) {
    const one = compared.measures[first];
    tiles.push(
      tile(
        `Change against ${baseline}`,
        make("span", { class: direction(one.difference) }, signed(one.difference)),
        `${unbroken(interval(one.interval, signed))}, ${unbroken(`p ${pValue(one.p).replace(/^(?=\d)/, "= ")}`)}`,
      ),
      tile(
        "Queries better, equal, worse",
        [splitBar(one), make("span", { class: "numbers" }, `${count(one.wins)} · ${count(one.ties)} · ${count(one.losses)}`)],
        `in ${displayed(first)} against ${displayed(baseline)}`,
      ),
    );
  }
  const findings = report.data.findings.length;
  tiles.push(tile("Data", findings ? counted(findings, "finding") : "Clean", findings ? "that may mislead: see Data" : "nothing suspicious was found"));
  if (!report.drift.absent) {
    const { verdict, weighted_psi: psi } = report.drift.drift;
    tiles.push(tile("Against the training data", make("span", { class: verdict === "steady" ? "" : "worse" }, capital(verdict)), `weighted PSI ${number(psi, 3)}`));
  }
  fill("overview-tiles", ...tiles);
  fill(
    "footer",
    `Made by rankforce ${report.rankforce}; seed ${report.seed}. Everything is in this file, and it asks nothing of the network.`,
  );
}

function sentence(report, measure, baseline, one) {
  if (!measure) return ["The data has no labels: the page shows what the model does, not how well."];
  if (!one) return [`${displayed(report.model)} on ${counted(report.n_queries, "query", "queries")}, without a baseline to compare with.`];
  const significant = isNumber(one.t_test_holm_p) && one.t_test_holm_p < 1 - report.measures.level;
  const verdict = !significant ? "not clearly better or worse than" : one.difference > 0 ? "better than" : "worse than";
  return [
    make("strong", {}, named(report.model), ` ranks ${verdict} `, named(baseline)),
    `: ${displayed(measure)} is ${number(one.b)} against ${number(one.a)}`,
    significant ? "." : ", which chance explains.",
  ];
}

function tile(name, large, below) {
  return make(
    "dl",
    { class: "tile" },
    make("dt", {}, displayed(name)),
    make("dd", { class: "large" }, large),
    make("dd", { class: "small" }, displayed(below)),
  );
}

function splitBar({ wins, ties, losses }) {
  const part = (kind, size) => (size ? make("span", { class: kind, style: { flex: `${size} 1 0` } }) : null);
  return make("span", { class: "split", "aria-hidden": "true" }, part("won", wins), part("equal", ties), part("lost", losses));
}

/** Words that stay on one line. */
function unbroken(text) {
  return text.replaceAll(" ", "\u00a0");
}

function capital(word) {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
