// Light or dark: as the system is, until the reader chooses.

const theme = {
  listeners: [],
  get isDark() {
    return document.documentElement.dataset.theme === "dark";
  },
  set(dark, chosen) {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    const button = document.getElementById("theme");
    button.setAttribute("aria-pressed", String(dark));
    button.textContent = dark ? "Light" : "Dark";
    button.setAttribute("aria-label", dark ? "Switch to light colours" : "Switch to dark colours");
    if (chosen) this.chosen = true;
    for (const listener of this.listeners) listener();
  },
  start() {
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    this.set(system.matches, false);
    system.addEventListener("change", () => this.chosen || this.set(system.matches, false));
    document.getElementById("theme").addEventListener("click", () => this.set(!this.isDark, true));
  },
};

/** A colour of the style sheet. In drawings of SVG it follows the theme by itself; a canvas needs the colour. */
function colour(name, onCanvas = false) {
  return onCanvas ? getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() : `var(--${name})`;
}

const SERIES = 7;

function seriesColour(place, onCanvas = false) {
  return colour(`series-${(place % SERIES) + 1}`, onCanvas);
}
