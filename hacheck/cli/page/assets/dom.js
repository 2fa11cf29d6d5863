// Elements, made without markup: whatever text comes from a spec or a log becomes a text node and nothing else.
const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(child instanceof Node ? child : String(child));
  }
}

/** An HTML element: `h("a", {href: "#/"}, "text", element, [more])`. Attributes that begin with `on` are listeners. */
const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

/** The same in SVG. */
const s = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);

const byId = (id) => document.getElementById(id);

const replace = (element, ...children) => {
  element.replaceChildren();
  append(element, children);
};

const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/** A value as people read it: of a record only the values, `stamp(generation: 1, count: 0)` is `(1, 0)`. */
const brief = (text) =>
  String(text).replace(/\b[A-Za-z]\w*\(((?:\w+: [^(),]*(?:, )?)+)\)/g, (_, fields) =>
    `(${fields.split(", ").map((field) => field.slice(field.indexOf(": ") + 2)).join(", ")})`);

/** Says something to those who cannot see what changed. */
const announce = (text) => { byId("live").textContent = text; };

/** Text in which what is in backquotes is code. */
const coded = (text) => text.split(/(`[^`]*`)/).map((part) =>
  part.length > 1 && part.startsWith("`") ? h("code", {}, part.slice(1, -1)) : part);
