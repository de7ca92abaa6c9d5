// Elements of the page. Text of others goes into text nodes, never into markup.

const DRAWING = "http://www.w3.org/2000/svg";

/** An element with attributes and children; children are nodes or texts, null is left out. */
function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for drawings. */
function draw(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(DRAWING, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, action] of Object.entries(value)) node.addEventListener(event, action);
    else if (name === "style") for (const [key, one] of Object.entries(value)) node.style.setProperty(key, one);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

/** The element with this id, emptied and filled. */
function fill(id, ...children) {
  const node = typeof id === "string" ? document.getElementById(id) : id;
  node.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

/** A name or an id of others: what is invisible or turns the direction of reading is shown as its escape. */
function displayed(text) {
  return String(text).replace(
    /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (sign) => "\\u" + sign.codePointAt(0).toString(16).padStart(4, "0"),
  );
}

const LONGEST_NAME = 200; // characters: a longer one would push everything else out of sight

/** A name, kept apart from the direction of the text around it. */
function named(text) {
  const shown = displayed(text);
  return make("bdi", {}, shown.length > LONGEST_NAME ? `${shown.slice(0, LONGEST_NAME - 1)}…` : shown);
}

/** A list to choose from: options are [value, words]; ``action`` gets the value. */
function chooser(label, options, chosen, action) {
  const list = make(
    "select",
    { on: { change: () => action(list.value) } },
    options.map(([value, words]) => make("option", { value, selected: value === chosen }, displayed(words))),
  );
  return make("label", { class: "field" }, label, list);
}

/** A row of buttons of which one is pressed. */
function choices(label, name, options, chosen, action) {
  return make(
    "fieldset",
    {},
    make("legend", {}, label),
    make(
      "div",
      { class: "choices" },
      options.map(([value, words]) =>
        make(
          "label",
          {},
          make("input", { type: "radio", name, value, checked: value === chosen, on: { change: () => action(value) } }),
          make("span", {}, displayed(words)),
        ),
      ),
    ),
  );
}

/** Small print, a line each. */
function notes(lines) {
  return make("div", { class: "notes small" }, lines.map((line) => make("p", {}, displayed(line))));
}
