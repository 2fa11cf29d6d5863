// The panel beside the diagram: the step, the state, the text of the spec.

function fillPanel() {
  const panels = { step: stepPanel, why: whyPanel, state: statePanel, modes: modesPanel, source: sourcePanel,
    explore: explorePanel };
  const panel = byId("panel"), focused = panel.contains(document.activeElement) ? document.activeElement.id : "";
  replace(panel, panels[tab]());
  if (focused) byId(focused)?.focus();
}

const beforeAndAfter = () => {
  const view = current(), row = position();
  return [view.state(stateNumber(Math.max(0, row - 1))), view.state(stateNumber(row))];
};

function stepPanel() {
  const view = current(), row = position();
  if (!row) return h("p", {}, "The initial state. Press → for the first step.");
  const step = stepOf(row), [before] = beforeAndAfter();
  const changes = step.delta.map(([place, after]) => ({ slot: view.data.slots[place], before: before[place], after }));
  const plain = changes.filter(({ slot }) => ["field", "shared", "lock", "status", "clock", "view"].includes(slot.role));
  const inner = changes.filter((change) => !plain.includes(change) && change.slot.role !== "budget");
  const look = { fault: "bad", repair: "good" }[step.kind] ?? "soft";
  return [
    h("h3", {}, `${row}. ${step.action}`, step.actor ? ` at ${step.actor}` : "", " ",
      h("span", { class: `tag ${look}` }, step.kind)),
    step.description ? h("p", { class: "soft" }, step.description) : null,
    h("p", {}, captionOf(step)),
    plain.length ? changesTable(view, plain) : h("p", { class: "soft" }, "No field changes in this step."),
    inner.length ? h("details", {}, h("summary", { class: "soft" }, `messages and handlers in detail (${inner.length})`),
      changesTable(view, inner)) : null,
    sourceOf(step, 14)];
}

const changesTable = (view, changes) => h("table", {},
  h("thead", {}, h("tr", {}, ["of", "variable", "before", "after"].map((name) => h("th", {}, name)))),
  h("tbody", {}, changes.map(({ slot, before, after }) => h("tr", {}, h("td", {}, slot.owner || "shared"),
    h("td", {}, slot.ghost ? "◇ " : "", slot.name), h("td", { class: "was" }, brief(view.text(before))),
    h("td", { class: "changed" }, brief(view.text(after)))))));

function statePanel() {
  const view = current(), [before, after] = beforeAndAfter();
  const nodes = drawing.columns.filter(({ kind }) => kind === "node").map(({ id }) => id);
  const { slots } = view.data, changes = new Set();
  for (const state of [...view.states, ...view.explored.values()])
    state.forEach((value, place) => { if (value !== view.states[0][place]) changes.add(place); });
  const kinds = [...new Set(nodes.map((node) => view.kindOf.get(node)))];
  return [
    kinds.map((kind) => stateTable(view, kind, nodes.filter((node) => view.kindOf.get(node) === kind), changes, before, after)),
    sharedTable(view, slots.map((slot, place) => ({ slot, place })).filter(({ slot, place }) => !slot.owner
      && ["shared", "field", "lock", "clock"].includes(slot.role) && changes.has(place)), before, after),
    h("p", { class: "soft" }, "● the property reads it   ◇ only properties read it")];
}

function stateTable(view, kind, nodes, changes, before, after) {
  const { slots } = view.data, names = new Map();
  slots.forEach((slot, place) => {
    if (!nodes.includes(slot.owner) || slot.role !== "field") return;
    const row = names.get(slot.name) ?? { name: slot.name, slot, changes: false };
    row.changes ||= changes.has(place);
    names.set(slot.name, row);
  });
  const rows = [...names.values()].sort((one, other) => Number(view.reads(other.slot)) - Number(view.reads(one.slot)));
  const line = ({ name, slot }) => h("tr", {},
    h("th", { scope: "row" }, view.reads(slot) ? "● " : "", slot.ghost ? "◇ " : "", name),
    nodes.map((node) => valueCell(view, view.places.get(`${node}|${name}`), before, after)));
  const table = (some) => h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `state of ${kind}` },
    h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, kind), nodes.map((node) => h("th", {}, view.short(node),
      view.isUp(after, node) ? "" : h("span", { class: "bad" }, " down"),
      view.isPaused(after, node) ? h("span", { class: "warn" }, " paused") : "")))), h("tbody", {}, some.map(line))));
  const same = rows.filter((row) => !row.changes);
  return [table(rows.filter((row) => row.changes)), same.length ? h("details", {},
    h("summary", { class: "soft" }, `never changes in this run (${same.length})`), table(same)) : null];
}

function valueCell(view, place, before, after) {
  if (place === undefined) return h("td", {});
  const changed = before[place] !== after[place];
  return h("td", { class: changed ? "changed" : null }, brief(view.text(after[place])),
    changed ? h("div", { class: "was" }, brief(view.text(before[place]))) : null);
}

const sharedTable = (view, rows, before, after) => rows.length ? [h("h3", {}, "shared"), h("table", {}, h("tbody", {},
  rows.map(({ slot, place }) => h("tr", {}, h("th", { scope: "row" }, view.reads(slot) ? "● " : "", slot.ghost ? "◇ " : "",
    slot.name), valueCell(view, place, before, after)))))] : null;

function sourcePanel() {
  const row = position();
  return sourceOf(row ? stepOf(row) : current().property, 80) ?? h("p", { class: "soft" }, "This stands nowhere in the spec.");
}

const KEYWORDS = new Set(("system source node state lock held by action on serve when only after do let if then else for in send "
  + "to call at as step finish log invariant transition leads_to reachable eventually no some every most where satisfies and or "
  + "not majority subset choose procedure define thread fair faults crash restart up acquire release lost check expect all hold "
  + "violated with param switch assume type record shared ghost durable message queue").split(" "));

/** The declaration that a step or property comes from, its first line marked. `span`: line, column, last line, column. */
function sourceOf(item, most) {
  const lines = item?.span ? REPORT.texts[item.file ?? REPORT.spec] : undefined;
  if (!lines) return null;
  const [first, , last] = item.span, start = item.start ?? first;
  let end = Math.max(last, start);
  while (end < lines.length && end - start < most && (/^\s/.test(lines[end]) || !lines[end].trim())) end += 1;
  while (end > start && !lines[end - 1]?.trim()) end -= 1;
  return [h("h3", {}, `${item.file ?? REPORT.spec}:${first}`),
    h("pre", { class: "source", tabindex: 0, role: "region", "aria-label": "text of the spec" },
      lines.slice(start - 1, end).map((line, index) => sourceLine(line, start + index, start + index >= first
        && start + index <= Math.max(first, last)))),
  ];
}

const sourceLine = (line, number, lit) => h("span", { class: lit ? "line lit" : "line" }, h("i", {}, number),
  line.split(/(#.*$|"(?:[^"\\]|\\.)*"|\b[A-Za-z_]\w*\b)/).map((part) => {
    if (part.startsWith("#")) return h("span", { class: "comment" }, part);
    if (part.startsWith('"')) return h("span", { class: "string" }, part);
    return KEYWORDS.has(part) ? h("span", { class: "keyword" }, part) : part;
  }), "\n");
