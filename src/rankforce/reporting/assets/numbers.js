// Numbers as the command line prints them.

const NONE = "–";

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

function number(value, digits = 4) {
  return isNumber(value) ? value.toFixed(digits) : NONE;
}

function signed(value, digits = 4) {
  if (!isNumber(value)) return NONE;
  return (value < 0 ? "−" : "+") + Math.abs(value).toFixed(digits);
}

function interval([low, high] = [], write = number) {
  return isNumber(low) && isNumber(high) ? `[${write(low)}, ${write(high)}]` : NONE;
}

function pValue(value) {
  if (!isNumber(value)) return NONE;
  return value < 0.0001 ? "< 0.0001" : value.toFixed(4);
}

function perCent(share, digits = 1) {
  return isNumber(share) ? `${(100 * share).toFixed(digits)} %` : NONE;
}

function count(value) {
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

function counted(value, one, several = one + "s") {
  return `${count(value)} ${value === 1 ? one : several}`;
}

/** A number of any size, short. */
function short(value) {
  if (value === null || value === undefined) return "missing";
  if (typeof value !== "number") return displayed(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(2).replace("-", "−").replace("e+", "e");
  return String(Number(value.toPrecision(4))).replace("-", "−");
}

/** The sign of a change in words for those who see no colour. */
function direction(value) {
  return value > 0 ? "better" : value < 0 ? "worse" : "";
}
