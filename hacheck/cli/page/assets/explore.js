// The explorer: from any state, the steps that are possible; taking one goes on from there in the diagram.
// In a file it knows a neighbourhood of the run; served by `hacheck explore` it asks the interpreter.

const GROUPS = [["protocol", "What the nodes can do"], ["network", "What the network can do"],
  ["environment", "What the environment can do"], ["fault", "Faults to inject"], ["repair", "Repairs"]];

const expressions = [];

function explorePanel() {
  const view = current(), row = position(), number = stateNumber(row), edges = view.edges(number);
  const back = at.path.length ? h("p", {},
    h("button", { type: "button", class: "button", id: "undo", onclick: takeBack }, "take back (u)"), " ",
    h("button", { type: "button", class: "button", id: "return", onclick: returnToRun }, "back to the run")) : null;
  if (!edges && REPORT.live) {
    ask(view, number).then(() => { if (tab === "explore" && stateNumber(position()) === number) fillPanel(); });
    return [back, h("p", { class: "soft" }, "Asking the interpreter …"), expressionForm(view)];
  }
  if (!edges) return [back, h("p", { class: "soft" }, "The steps of this state are not in this file, which has a neighbourhood of "
    + "the run only. For the whole model:"), h("pre", { class: "source command", tabindex: 0, role: "region",
    "aria-label": "command" }, `hacheck explore ${view.data.spec} --check ${view.data.check} --run RUN.json --at '${fragmentOf()}'`)];
  const following = !at.path.length && row < view.length ? row + 1 : null;
  return [back, h("p", {}, edges.length ? `${plural(edges.length, "step")} possible after step ${row}. Take one: the diagram goes `
    + "on from here." : `Nothing is possible after step ${row}.`), GROUPS.map(([kind, title]) => {
    const some = edges.map((edge, index) => ({ edge, index })).filter(({ edge }) => edge.kind === kind);
    return some.length ? [h("h3", {}, title, kind === "fault" ? budgets(view, number) : null),
      some.map(({ edge, index }) => edgeButton(edge, index, following))] : null;
  }), REPORT.live ? expressionForm(view) : null];
}

const edgeButton = (edge, index, following) => h("button", { type: "button", class: `edge ${edge.kind}`, "data-edge": index,
  id: `edge-${index}`, onclick: () => take(index) }, h("b", {}, edge.action), edge.actor ? ` at ${edge.actor}` : "",
following !== null && edge.to === following ? h("span", { class: "tag soft" }, "as in the run") : null,
edge.breaks?.length ? h("span", { class: "tag bad" }, current().property ? "breaks it" : `breaks ${edge.breaks.join(", ")}`) : null, h("small", {}, brief((edge.caption ?? [])[1] ?? "")));

/** How many faults of each kind are left. */
function budgets(view, number) {
  const state = view.state(number);
  const left = view.data.slots.map((slot, place) => ({ slot, left: view.text(state[place]) }))
    .filter(({ slot }) => slot.role === "budget");
  return left.length ? h("span", { class: "soft plain" }, ` left: ${left.map(({ slot, left: count }) =>
    `${slot.name.replace(/^(budget\.|faults left\.)/, "")} ${count}`).join(", ")}`) : null;
}

function take(index) {
  const view = current(), row = position(), state = stateNumber(row), edge = view.edges(state)[index];
  const kept = at.path.slice(0, Math.max(0, row - at.base));
  at.base = Math.min(row, at.base);
  at.path = [...kept, { index, edge, from: state }];
  changePath();
}

function takeBack() {
  if (!at.path.length) return;
  at.path = at.path.slice(0, -1);
  changePath();
}

function returnToRun() {
  at.path = [];
  changePath();
}

function changePath() {
  at.position = null;
  writeFragment();
  drawRun();
  const row = drawing.rows[position()];
  if (row) keepInView(row);
  announce(`${plural(at.path.length, "step")} taken from step ${at.base}`);
  if (REPORT.live && expressions.length) evaluateAll(current());
}

// ---- with the interpreter behind the page

async function post(what, content) {
  const response = await fetch(what, { method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify(content) });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

const waiting = new Map();

/** Asks for the steps of a state. What it answers is kept: a state is asked for once. */
function ask(view, number) {
  const key = `${view.key} ${number}`;
  if (!waiting.has(key)) waiting.set(key, post("successors", { run: view.key, state: number, strings: view.data.strings.length })
    .then((answer) => {
      learn(view, answer);
      view.graph.edges[number] = answer.edges;
      view.edges(number);
    })
    .catch((error) => { waiting.delete(key); notice(`hacheck explore does not answer: ${error.message}`); throw error; }));
  return waiting.get(key);
}

/** Values that are new to the page. Answers may come in any order, so each says where its values begin. */
function learn(view, { from, strings }) {
  strings.forEach((text, place) => { view.data.strings[from + place] = text; });
}

/** Follows the rest of a link whose states the page has not asked for yet. */
async function followPending() {
  const view = current();
  while (at.pending) {
    const [index, ...rest] = at.pending.split(".");
    const state = at.path.length ? at.path.at(-1).edge.to : at.base;
    await ask(view, state);
    const edge = view.edges(state)[Number(index)];
    at.pending = rest.join(".");
    if (!edge) {
      at.pending = "";
      notice(`The step ${index} of this link is not possible there; the run is shown as far as it is.`);
      break;
    }
    at.path.push({ index: Number(index), edge, from: state });
  }
  changePath();
}

function expressionForm(view) {
  const input = h("input", { class: "button", id: "expression", placeholder: "some s: Server where s.mode == active",
    "aria-label": "an expression of the spec's language", autocomplete: "off", spellcheck: "false" });
  const submit = (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (!text) return;
    if (!expressions.some((one) => one.text === text)) expressions.push({ text });
    evaluateAll(view).then(() => { byId("expression").value = ""; });
  };
  return h("section", { "aria-label": "expressions" }, h("h3", {}, "Your expressions, on every state shown"),
    h("form", { onsubmit: submit, class: "expression" }, input, h("button", { class: "button", type: "submit" }, "evaluate")),
    h("div", { id: "values" }, expressions.map((one) => expressionRow(one, view))));
}

function evaluateAll(view) {
  const states = Array.from({ length: shownLength() + 1 }, (_, row) => stateNumber(row));
  return Promise.all(expressions.map((one) => post("evaluate", { run: view.key, expression: one.text, states })
    .then((answer) => Object.assign(one, { values: null, error: null }, answer))
    .catch((error) => Object.assign(one, { values: null, error: error.message })))).then(fillPanel);
}

function expressionRow(one, view) {
  const drop = h("button", { type: "button", class: "button", "aria-label": `remove ${one.text}`, onclick: () => {
    expressions.splice(expressions.indexOf(one), 1);
    fillPanel();
  } }, "remove");
  const head = h("p", {}, h("code", {}, one.text), " ", drop);
  if (one.error) return h("div", { class: "card" }, head, h("pre", { class: "bad plain" }, one.error));
  if (!one.values) return h("div", { class: "card" }, head);
  const row = position(), value = one.values[row];
  const cells = one.values.map((text, place) => h("span", { class: `${text === "true" ? "true" : text === "false" ? "false" : "none"}`
    + `${place === row ? " here" : ""}`, title: `step ${place}: ${text}`, onclick: () => goTo(place) }));
  const changes = one.values.flatMap((text, place) => (place && text === one.values[place - 1] ? [] : [[place, text]]));
  return h("div", { class: "card" }, head, h("p", {}, `after step ${row}: `, h("b", {}, brief(value ?? "not evaluated yet"))),
    one.type === "bool" ? h("span", { class: "strip", "aria-hidden": "true" }, cells) : h("table", {}, h("tbody", {},
      changes.map(([place, text]) => h("tr", {}, h("th", {}, "from step ", jump(place)), h("td", {}, brief(text)))))));
}
