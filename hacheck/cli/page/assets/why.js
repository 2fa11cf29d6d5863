// Why the property is broken: each part of it, for each instance, with a strip of its truth over all states.

function whyPanel() {
  const view = current(), property = view.property, row = position();
  if (!property) return h("p", {}, "No property is shown with this run.");
  if (isExplored(row)) return exploredTruth(stateNumber(row), at.path[row - at.base - 1].edge);
  const liveness = ["leads_to", "eventually"].includes(property.kind);
  const tree = property.tree;
  return [
    h("p", {}, h("b", {}, coded(property.description)), ": ", verdictHere(view, row)),
    row === view.length && view.data.broken?.length ? h("ul", { class: "bad" }, view.data.broken.map(({ instance, facts }) =>
      h("li", {}, instance ? h("b", {}, `${instance}: `) : null, brief(facts.join("; "))))) : null,
    tree.premise ? [h("h3", {}, "whenever"), treeOf(view, tree.premise, row), h("h3", {}, "then some time")] : null,
    tree.goal ? treeOf(view, tree.goal, row) : null,
    h("p", { class: "soft" }, "A strip has a cell for each state of the run: filled where the part is true, "
      + "outlined for this state. Click a cell to go there."),
    liveness ? h("p", { class: "soft" }, "The run repeats for ever from its loop on.") : null,
    sourceOf(property, 10)];
}

function verdictHere(view, row) {
  const { property } = view, truth = view.truth(property.tree.goal, row);
  const liveness = ["leads_to", "eventually"].includes(property.kind);
  if (truth === null) return h("span", { class: "soft" }, property.kind === "step" ? "a step invariant: it says nothing of "
    + "the initial state" : "has no value here");
  if (property.kind === "reachable") return truth ? h("span", { class: "good" }, "reached here")
    : h("span", { class: "soft" }, "not reached yet");
  if (liveness) return truth ? h("span", { class: "good" }, "so here") : h("span", { class: "warn" }, "not so here");
  return truth ? h("span", { class: "good" }, "holds here") : h("span", { class: "bad" }, "broken here");
}

function exploredTruth(number, edge) {
  if (!edge.breaks)
    return h("p", {}, "The parts of the property are shown for states of the run.");
  return h("p", {}, "In this explored state the property ", edge.breaks.length === 0 ? h("b", { class: "good" }, "holds")
    : h("b", { class: "bad" }, "is broken"), ". Its parts are shown for states of the run.");
}

/** The truth of a part in a state of the run: true, false, or null where it has none. */
View.prototype.truth = function truth(node, row) {
  const letter = this.property.truth[node.id]?.[row];
  return letter === "1" ? true : letter === "0" ? false : null;
};

const truthWords = (truth) => truth === null ? h("span", { class: "soft" }, "-")
  : truth ? h("span", { class: "good" }, "✓ true") : h("span", { class: "bad" }, "✗ false");

function strip(view, node, row, breaksWhenTrue) {
  return h("span", { class: breaksWhenTrue ? "strip breaks" : "strip", role: "img", "aria-label": stripWords(view, node) },
    view.states.map((_, place) => {
      const truth = view.truth(node, place);
      return h("span", { class: `${truth === true ? "true" : truth === false ? "false" : "none"}${place === row ? " here" : ""}`,
        title: `step ${place}: ${truth === null ? "no value" : truth}`, "data-cell": place, onclick: () => goTo(place) });
    }));
}

/** Since when a part has been as it is, for those who do not see the strip. */
function stripWords(view, node) {
  const spans = [];
  view.states.forEach((_, place) => {
    const truth = view.truth(node, place);
    if (spans.at(-1)?.truth === truth) spans.at(-1).to = place;
    else spans.push({ truth, from: place, to: place });
  });
  const yes = spans.filter((span) => span.truth).map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`));
  return yes.length ? `true after steps ${yes.slice(0, 12).join(", ")}` : "never true in this run";
}

const QUANTIFIERS = { none: "no", every: "every", some: "some", at_most_one: "at most one", exactly_one: "exactly one",
  majority: "a majority of" };

const NAMES_OF_PARTS = { and: "all of", or: "one of", implies: "if the first, then the second" };

function treeOf(view, node, row) {
  const { instances, children } = node;
  if (instances?.length && instances.every((one) => one.children?.length && one.op === "and"
    && one.children.length === instances[0].children.length)) return instanceTable(view, node, row);
  if (instances?.length) return [h("p", { class: "code" }, quantifierWords(node), " ", truthWords(view.truth(node, row))),
    strip(view, node, row), h("table", {}, h("tbody", {}, instances.map((one) => h("tr", { class: hot(view, node, one, row) },
      h("th", { scope: "row" }, one.instance), h("td", {}, treeOf(view, one, row))))))];
  if (children?.length > 1) return [h("p", { class: "soft" }, node.label ? h("code", {}, node.label) : NAMES_OF_PARTS[node.op]
    ?? node.op, ": ", truthWords(view.truth(node, row))), h("ul", { class: "parts" }, children.map((child) =>
    h("li", {}, treeOf(view, child, row))))];
  return h("div", { class: "part" }, h("code", {}, node.label || node.text), " ", truthWords(view.truth(node, row)), " ",
    operandsOf(view, node, row), strip(view, node, row));
}

const quantifierWords = (node) => `${QUANTIFIERS[node.op] ?? node.op} ${node.variable ?? ""}`;

const hot = (view, node, one, row) => {
  const truth = view.truth(one, row);
  return (node.op === "none" && truth === true) || (node.op === "every" && truth === false) ? "hot" : null;
};

function instanceTable(view, node, row) {
  const { instances } = node, parts = rowsOf(instances[0]);
  const cell = (part) => h("td", {}, truthWords(view.truth(part, row)), " ", operandsOf(view, part, row),
    strip(view, part, row));
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "parts of the property by instance" },
    h("p", { class: "code" }, `${quantifierWords(node)} has all of`),
    h("table", { class: "why" },
      h("thead", {}, h("tr", {}, h("th", {}, h("span", { class: "hidden" }, "part")), instances.map((one) =>
        h("th", { scope: "col" }, one.instance)))),
      h("tbody", {}, parts.map(({ part, path }) => h("tr", {},
        h("th", { scope: "row", class: `code plain depth${Math.min(path.length - 1, 3)}` }, part.label || part.text),
        instances.map((one) => cell(path.reduce((inner, place) => inner.children[place], one))))),
      h("tr", { class: "all" }, h("th", { scope: "row" }, "all of it"), instances.map((one) =>
        h("td", { class: hot(view, node, one, row) }, h("b", {}, truthWords(view.truth(one, row))),
          strip(view, one, row, node.op === "none")))))));
}

/** The parts of an instance, a part that the spec has a name for before its own parts; each with the way to it. */
const rowsOf = (node, path = []) => node.children.flatMap((part, place) => [{ part, path: [...path, place] },
  ...(part.label && part.children ? rowsOf(part, [...path, place]) : [])]);

function operandsOf(view, node, row) {
  const shown = (node.operands ?? []).map(({ text, values }) => [text, view.text(values[row])])
    .filter(([text, value]) => value !== undefined && text !== value);
  return h("span", { class: "soft" }, shown.map(([text, value]) => (text.startsWith("{") ? brief(value)
    : `${text} = ${brief(value)}`)).join(", "));
}
