// A view as the page reads it: states out of deltas, who is in which mode, what is drawn between whom.

const REPORT = JSON.parse(byId("report").textContent);

const views = new Map();

/** The view of a run by its key `SPEC/CHECK/PROPERTY`, or undefined. It is parsed when it is first looked at. */
function viewOf(key) {
  if (!views.has(key)) {
    const place = REPORT.runs.findIndex((run) => run.key === key);
    if (place < 0) return undefined;
    views.set(key, new View(JSON.parse(byId(`run-${place}`).textContent), key));
  }
  return views.get(key);
}

class View {
  constructor(data, key) {
    this.key = key;
    for (const name of ["nodes", "modes", "slots"])
      if (typeof data[name] === "number") data[name] = REPORT.shared[data[name]];
    this.data = data;
    this.steps = data.steps;
    this.property = data.property;
    this.kindOf = new Map(data.nodes.map((node) => [node.id, node.kind]));
    this.places = new Map(data.slots.map((slot, place) => [`${slot.owner}|${slot.name}`, place]));
    this.states = [data.initial];
    for (const step of data.steps) this.states.push(apply(this.states.at(-1), step.delta));
    this.beliefs = data.beliefs ?? [];
    this.graph = data.graph ?? { edges: {} };
    this.explored = new Map();  // states beyond the run, by their number in the graph
    this.parents = null;
  }

  get length() { return this.steps.length; }

  /** The state with a number: one of the run, else one of its neighbourhood. */
  state(number) {
    return number < this.states.length ? this.states[number] : this.explored.get(number);
  }

  /** The steps that are possible in a state, or undefined where the page does not know them. */
  edges(number) {
    const edges = this.graph.edges[number];
    if (edges)
      for (const edge of edges)
        if (edge.to >= this.states.length && !this.explored.has(edge.to))
          this.explored.set(edge.to, apply(this.state(number), edge.delta));
    return edges;
  }

  value(state, owner, name) {
    const place = this.places.get(`${owner}|${name}`);
    return place === undefined ? undefined : this.data.strings[state[place]];
  }

  mode(state, node) {
    const mode = this.data.modes[this.kindOf.get(node)];
    return mode && this.value(state, node, mode.variable);
  }

  isUp(state, node) { return this.value(state, node, "up") !== "false"; }

  isPaused(state, node) { return this.value(state, node, "paused") === "true"; }

  /** The colour of a mode: a number of the palette. */
  hue(node, mode) {
    const members = this.data.modes[this.kindOf.get(node)]?.members ?? [];
    return Math.max(0, members.indexOf(mode)) % 8;
  }

  /** Whether the property speaks of this mode; its lane is thick then. */
  matters(node, mode) {
    return (this.data.modes[this.kindOf.get(node)]?.named ?? []).includes(mode);
  }

  /** A node in as few letters as distinguish it from others. */
  short(node) {
    const space = node.lastIndexOf(" ");
    const numbered = /^(\D+)-(\d+)$/.exec(node);  // a process of code: replica-2
    if (space < 0 && numbered) return numbered[1][0] + numbered[2];
    return space < 0 ? node.slice(0, 6) : node[0] + node.slice(space + 1);
  }

  reads(slot) {
    return this.property?.reads?.includes(slot.variable) ?? false;
  }

  text(number) { return this.data.strings[number]; }
}

function apply(state, delta) {
  const after = state.slice();
  for (const [place, value] of delta) after[place] = value;
  return after;
}

/** What is drawn between nodes in a step: `{kind: message|call, from, to, label, ok}`. */
function arrowsOf(step) {
  const arrows = [], linked = new Set();
  const link = (from, to) => linked.add(`${from}|${to}`);
  for (const effect of step.effects) {
    if (effect.t === "take" || (effect.t === "lost" && effect.from !== effect.to)) {
      arrows.push({ kind: "message", effect, from: effect.from, to: effect.to, label: effect.name, ok: effect.t === "take" });
      link(effect.from, effect.to);
    }
  }
  for (const effect of step.effects) {
    if (effect.t === "call" && effect.from && effect.to && effect.from !== effect.to
      && !linked.has(`${effect.from}|${effect.to}`)) {
      arrows.push({ kind: "call", from: effect.from, to: effect.to, label: effect.op, answer: effect.answer,
        given: effect.arguments.map(([, value]) => value).join(", "),
        ok: effect.outcome === "answered" });
      link(effect.from, effect.to);
    }
  }
  for (const effect of step.effects) {
    if (effect.t === "direct" && !linked.has(`${effect.from}|${effect.to}`)) {
      arrows.push({ kind: "call", from: effect.from, to: effect.to, label: "", ok: true });
      link(effect.from, effect.to);
    }
  }
  return arrows;
}
