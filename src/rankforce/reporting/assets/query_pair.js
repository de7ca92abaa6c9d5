// Why A stands above B; of one document alone, where its score comes from.

const NOTICED = 5e-5; // contributions below are 0.0000 as they are written

function drawWhy(host, report, detail, chosen) {
  if (chosen.length === 2) drawPair(host, report, detail, chosen);
  else if (chosen.length === 1) drawAlone(host, report, detail, chosen[0]);
  else fill(host, make("p", { class: "muted" }, "Choose two documents in the lists to read why one stands above the other."));
}

function drawPair(host, report, detail, chosen) {
  const pair = detail.pairs.find((one) => chosen.includes(one.a) && chosen.includes(one.b));
  if (!pair) {
    fill(host, make("p", { class: "absent" }, "This model cannot be explained by its features."));
    return;
  }
  const [a, b] = [detail.documents[pair.a], detail.documents[pair.b]];
  const letter = (place) => make("span", { class: "mark" }, "AB"[chosen.indexOf(place)]);
  const name = (one) => named(one.text ?? documentName(report, one));
  const tied = pair.difference === 0;
  const largest = pair.reasons.reduce((most, [, share]) => Math.max(most, Math.abs(share)), Math.abs(pair.others));
  const rows = pair.reasons.map(([place, share]) => [
    named(report.queries.features[place]), short(a.values[place]), short(b.values[place]),
    make("td", {}, make("span", { class: direction(share) }, signed(share))), make("td", { class: "bar-cell" }, bar(share, largest)),
  ]);
  if (Math.abs(pair.others) >= NOTICED) rows.push(["all others", "", "", make("td", {}, signed(pair.others)), make("td", { class: "bar-cell" }, bar(pair.others, largest))]);
  rows.push([make("strong", {}, "score"), short(a.scores[0]), short(b.scores[0]), make("td", {}, make("strong", {}, signed(pair.difference))), make("td", { class: "bar-cell" })]);
  fill(
    host,
    make(
      "p",
      { class: "verdict" },
      letter(pair.a), " ", name(a), tied ? " is tied with " : " stands above ", letter(pair.b), " ", name(b),
      ` in ${displayed(report.model)}, ranks ${a.ranks[0]} and ${b.ranks[0]}.`,
    ),
    make("p", { class: "small" }, reasonWords(report, pair)),
    table("What decides", ["feature", [letter(pair.a)], [letter(pair.b)], "contribution", make("span", { "aria-hidden": "true" })], rows),
    changeWords(report, detail, pair),
  );
}

function reasonWords(report, pair) {
  const names = (sign) => pair.reasons.filter(([, share]) => share * sign > 0).slice(0, 2).map(([place]) => displayed(report.queries.features[place])).join(" and ");
  const [pro, con] = [names(1), names(-1)];
  return [pro ? `Mostly ${pro}.` : "", con ? `Against it: ${con}.` : ""].filter(Boolean).join(" ");
}

function changeWords(report, detail, pair) {
  const one = pair.change;
  if (pair.difference === 0) return make("p", { class: "small" }, "Their scores are equal: the order of ties decides.");
  if (!pair.looked_for_change) {
    return make("p", { class: "small" }, `What would swap two documents is looked for among the first ${report.queries.changed} of the model.`);
  }
  if (!one) return make("p", { class: "small" }, "No change of one feature alone would swap them.");
  const changed = detail.documents.find((each) => each.id === one.document);
  return make(
    "p",
    { class: "small" },
    "Smallest change of one feature that would swap them: ", make("strong", {}, named(one.feature)), " of ",
    changed ? named(changed.text ?? documentName(report, changed)) : named(one.document),
    ` from ${short(one.present)} to ${short(one.value)} (past ${perCent(one.passed)} of the documents${one.exact ? "" : ", found by search"}).`,
  );
}

function drawAlone(host, report, detail, place) {
  const one = detail.documents[place];
  const name = named(one.text ?? documentName(report, one));
  if (!one.contributions) {
    fill(host, make("p", { class: "absent" }, "This model cannot be explained by its features."));
    return;
  }
  const shares = one.contributions
    .map((share, at) => ({ share, at }))
    .filter(({ share }) => share !== 0)
    .sort((a, b) => Math.abs(b.share) - Math.abs(a.share));
  const shown = shares.slice(0, 10);
  const rest = one.others + shares.slice(10).reduce((sum, { share }) => sum + share, 0);
  const largest = shown.reduce((most, { share }) => Math.max(most, Math.abs(share)), Math.abs(rest));
  const rows = shown.map(({ share, at }) => [
    named(report.queries.features[at]), short(one.values[at]), make("td", {}, make("span", { class: direction(share) }, signed(share))),
    make("td", { class: "bar-cell" }, bar(share, largest)),
  ]);
  if (Math.abs(rest) >= NOTICED) rows.push(["all others", "", make("td", {}, signed(rest)), make("td", { class: "bar-cell" }, bar(rest, largest))]);
  rows.push(["base", "", signed(detail.base), ""], [make("strong", {}, "score"), "", make("td", {}, make("strong", {}, short(one.scores[0]))), ""]);
  fill(
    host,
    make("p", { class: "verdict" }, "Where the score of ", name, ` comes from. Choose a second document to compare.`),
    table("What contributes", ["feature", "value", "contribution", make("span", { "aria-hidden": "true" })], rows),
  );
}
