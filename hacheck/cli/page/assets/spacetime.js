// The space-time diagram: time goes down, a row is a step, its caption stands beside it.

const hidden = new Set();

const drawing = { columns: [], x: new Map(), height: 38, rows: [] };

/** The lanes of what is shown: nodes to which something happens, locks, and what the outside is promised. */
function columnsOf(view, steps) {
  const touched = new Set(), locks = new Set();
  let outside = false;
  for (const step of steps) {
    if (step.actor) touched.add(step.actor);
    for (const effect of step.effects) {
      for (const end of ["node", "from", "to", "a", "b"]) if (view.kindOf.has(effect[end])) touched.add(effect[end]);
      if (effect.t === "lock") locks.add(effect.lock);
      if (effect.t === "acknowledged") outside = true;
    }
  }
  const nodes = view.data.nodes.map((node) => node.id).filter((id) => touched.has(id));
  const shown = nodes.length ? nodes : view.data.nodes.map((node) => node.id);
  return [...shown.map((id) => ({ kind: "node", id })), ...[...locks].map((id) => ({ kind: "lock", id })),
    ...(outside ? [{ kind: "clients", id: "clients" }] : [])];
}

function drawDiagram(container) {
  const view = current(), total = shownLength();
  const steps = Array.from({ length: total }, (_, index) => stepOf(index + 1));
  const columns = columnsOf(view, steps).filter((column) => !hidden.has(column.id));
  const width = container.clientWidth || 600, narrow = width < 560;
  const height = narrow ? 40 : 38;
  const captionWidth = Math.round(narrow ? Math.max(112, width - 44 - columns.length * 60)
    : Math.max(190, Math.min(360, width * 0.38)));
  const lane = Math.max(narrow ? 26 : 34, (width - 44 - captionWidth) / Math.max(1, columns.length));
  const x = new Map(columns.map((column, place) => [column.id, 40 + place * lane + lane / 2]));
  Object.assign(drawing, { columns, x, height, lane, narrow });
  const picture = new Picture(view, columns, x, lane, height, total, steps);
  const canvas = s("svg", { width: 40 + columns.length * lane, height: (total + 1) * height + 16, "aria-hidden": "true" },
    PATTERNS(), picture.parts());
  const room = Math.floor((lane - 10) / 7.6);
  const tight = columns.some((column) => column.kind === "node" && column.id.length > room);
  const heads = h("div", { class: "heads", "aria-hidden": "true" }, columns.map((column) => {
    const head = h("span", { title: column.id }, cut(tight && column.kind === "node" ? view.short(column.id) : column.id, room));
    head.style.left = `${x.get(column.id)}px`;
    return head;
  }));
  drawing.rows = Array.from({ length: total + 1 }, (_, row) => rowButton(view, row, steps, columns));
  const rows = h("div", { class: "rows" }, canvas, drawing.rows);
  rows.style.setProperty("--row", `${height}px`);
  rows.style.setProperty("--caption", `calc(100% - ${Math.round(44 + columns.length * lane)}px)`);
  replace(container, heads, rows);
}

function rowButton(view, row, steps, columns) {
  const step = row ? steps[row - 1] : null;
  const breaks = isBreak(view, row);
  const looks = ["row", step?.kind ?? "", breaks ? "break" : "", isExplored(row) ? "explored" : "",
    view.data.loop !== null && row > view.data.loop && !at.path.length ? "loop" : ""];
  return h("button", { type: "button", class: looks.filter(Boolean).join(" "), "data-row": row, onclick: () => goTo(row),
    onmousemove: (event) => hover(event, row, columns), onmouseleave: hideHover },
    h("span", { class: "number" }, row),
    h("span", { class: "caption" }, step ? captionOf(step) : h("span", { class: "soft" }, "initially"),
      neededFaults(view).has(row) && !isExplored(row) ? h("span", { class: "tag good", title: "with one of these faults less, "
        + "nothing is violated" }, "needed") : null,
      breaks ? h("b", { class: "bad" }, " breaks here") : null));
}

/** The steps of faults that blame showed to be needed. */
const neededFaults = (view) => new Set((view.data.blame?.trials ?? []).filter(({ kind, outcome }) => kind === "fault"
  && outcome === "prevents").flatMap(({ steps }) => steps));

function captionOf(step) {
  const [head, rest] = step.caption ?? [step.action, ""];
  return [step.at === undefined ? null : h("span", { class: "soft" }, `${Number(step.at.toFixed(4))} s `),
    head ? h("b", {}, head) : null, head && rest ? ": " : "", step.at === undefined ? brief(rest) : rest];
}

/** Whether the property is broken in the state of a row: at the end of a violating run, or where an edge says so. */
function isBreak(view, row) {
  if (isExplored(row)) return at.path[row - at.base - 1].edge.breaks?.length > 0;
  const property = view.property;
  return row === view.length && view.data.loop === null && property?.verdict === "violated"
    && property.kind !== "reachable" && !at.path.length;
}

const PATTERNS = () => s("defs", {},
  marker("head-message", "var(--message)"), marker("head-ack", "var(--good)"), marker("head-call", "var(--call)"),
  s("pattern", { id: "paused", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    s("rect", { width: 6, height: 6, fill: "var(--line)" }), s("rect", { width: 3, height: 6, fill: "var(--warn)" })),
  s("pattern", { id: "wall", width: 10, height: 8, patternUnits: "userSpaceOnUse" },
    s("rect", { width: 10, height: 8, fill: "var(--bad)" }),
    s("path", { d: "M0 0H10M0 4H10M5 0V4M0 4V8", stroke: "var(--panel)" })));

const marker = (id, fill) => s("marker", { id, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7,
  orient: "auto" }, s("path", { d: "M0 0L10 5L0 10z", fill }));

/** Words in so much room at most. */
const cut = (words, room) => (words.length > room ? `${words.slice(0, Math.max(room - 1, 2))}…` : words);

/** From where to where a label reaches. */
function extent(x, words, attributes) {
  const width = words.length * 6.2, left = attributes["text-anchor"] === "middle" ? x - width / 2 : x;
  return { left, right: left + width };
}

/** What is drawn, in the order in which it lies on each other. */
class Picture {
  constructor(view, columns, x, lane, height, total, steps) {
    Object.assign(this, { view, columns, x, lane, height, total, steps });
    this.states = Array.from({ length: total + 1 }, (_, row) => view.state(stateNumber(row)));
    this.taken = [];
  }

  y(row) { return row * this.height + this.height / 2; }

  text(x, y, words, attributes) {
    return s("text", { x, y, class: "word", ...attributes }, words);
  }

  /** A label where it lies on no other one: as far from its place as the first shift that does it. */
  label(x, y, words, attributes, shifts = [0]) {
    const { left, right } = extent(x, words, attributes);
    const at = y + (shifts.find((shift) => this.isFree(left, right, y + shift)) ?? shifts[0]);
    this.taken.push({ left, right, top: at - 10, bottom: at + 2 });
    return this.text(x, at, words, attributes);
  }

  /** Whether nothing lies where a label would be. */
  isFree(left, right, y) {
    return this.taken.every((box) => right < box.left || box.right < left || y + 2 < box.top || box.bottom < y - 10);
  }

  parts() {
    const events = this.steps.map((step, index) => this.event(step, index + 1));
    const traffic = this.traffic(), beliefs = this.beliefs();
    return [this.columns.map((column) => this.laneOf(column)), this.walls(), traffic, beliefs, events, this.followers()];
  }

  laneOf({ kind, id }) {
    const x = this.x.get(id), parts = [];
    let holder = "none";
    for (let row = 0; row <= this.total; row += 1) {
      if (kind === "lock" && row === 0) holder = this.holderAtFirst(id);
      const [top, bottom] = [this.y(row), row < this.total ? this.y(row + 1) : this.y(row) + this.height / 2];
      if (kind === "node") parts.push(this.nodeLane(id, x, this.states[row], top, bottom));
      else if (kind === "lock") {
        for (const effect of row ? this.steps[row - 1].effects : [])
          if (effect.t === "lock" && effect.lock === id) holder = effect.after;
        parts.push(holder === "none" ? dotted(x, top, bottom, "2 4")
          : s("rect", { x: x - 6, y: top, width: 12, height: bottom - top, fill: "var(--good)" }));
      } else parts.push(dotted(x, top, bottom, "1 4"));
    }
    return parts;
  }

  holderAtFirst(lock) {
    for (const step of this.steps)
      for (const effect of step.effects) if (effect.t === "lock" && effect.lock === lock) return effect.before;
    return "none";
  }

  nodeLane(id, x, state, top, bottom) {
    if (!this.view.isUp(state, id)) return dotted(x, top, bottom, "2 5");
    const mode = this.view.mode(state, id);
    const width = this.view.matters(id, mode) ? 12 : 6;
    const fill = this.view.isPaused(state, id) ? "url(#paused)" : `var(--m${this.view.hue(id, mode)})`;
    return s("rect", { x: x - width / 2, y: top, width, height: bottom - top, fill });
  }

  beliefs() {
    const last = at.path.length ? at.base : this.view.length;
    return this.view.beliefs.filter((belief) => this.x.has(belief.holder) && belief.wrong <= last).map((belief) => {
      const x = this.x.get(belief.holder) + 10, until = Math.min(belief.until, last);
      const about = this.lane < 190 ? this.view.short(belief.about) : belief.about;
      return [s("path", { d: `M${x} ${this.y(belief.wrong) - 4}V${this.y(until) + this.height / 2 - 4}`,
        stroke: "var(--stale)", "stroke-width": 3, "stroke-dasharray": "4 3", fill: "none" }),
        this.label(x + 4, this.y(belief.wrong) + 15, this.lane < 70 ? "?" : `wrong about ${about}`,
          { fill: "var(--stale)", "font-weight": 700 }, [0, 7, 14, 21, 28, 45, 60, -14])];
    });
  }

  walls() {
    const begun = new Map(), parts = [];
    const end = (link, row) => {
      const [a, b] = link.split("|").map((node) => this.x.get(node));
      const from = begun.get(link);
      begun.delete(link);
      if (a === undefined || b === undefined) return;
      const left = Math.min(a, b), right = Math.max(a, b), half = this.lane / 2;
      const wide = right - left > this.lane * 1.5, middles = wide ? [left + half, right - half] : [(left + right) / 2];
      const words = wide ? `cut ${link.split("|").map((node) => this.view.short(node)).join("-")}` : "cut";
      const top = this.y(from) - this.height * 0.4;
      for (const middle of middles)
        parts.push(s("rect", { x: middle - 5, y: top, width: 10, height: (row - from) * this.height, fill: "url(#wall)" }),
          this.text(middle, top - 3, words, { fill: "var(--bad)", "text-anchor": "middle" }));
    };
    this.steps.forEach((step, index) => {
      for (const effect of step.effects) {
        if (effect.t !== "cut" && effect.t !== "heal") continue;
        const link = [effect.a, effect.b].sort().join("|");
        if (effect.t === "cut" && !begun.has(link)) begun.set(link, index + 1);
        if (effect.t === "heal" && begun.has(link)) end(link, index + 1);
      }
    });
    for (const link of [...begun.keys()]) end(link, this.total + 1);
    return parts;
  }

  traffic() {
    const parts = [], sent = new Map();  // by what is sent from where to where: the rows, the oldest first
    const keyOfMessage = ({ name, item, from, to }) => [name, item, from, to].join("|");
    this.steps.forEach((step, index) => {
      const row = index + 1;
      for (const effect of step.effects)
        if (effect.t === "send") {
          const key = keyOfMessage(effect);
          if (!sent.has(key)) sent.set(key, []);
          sent.get(key).push({ ...effect, row });
        }
      for (const arrow of arrowsOf(step)) {
        const [from, to] = [this.x.get(arrow.from), this.x.get(arrow.to)];
        if (from === undefined || to === undefined) continue;
        if (arrow.kind === "call") parts.push(this.call(arrow, from, to, row));
        else parts.push(this.message({ ...arrow, sent: sent.get(keyOfMessage(arrow.effect))?.[0]?.row }, from, to, row));
      }
      for (const effect of step.effects)
        if (effect.t === "take" || effect.t === "lost" || effect.t === "cleared" || effect.t === "replaced")
          sent.get(keyOfMessage(effect))?.shift();
    });
    for (const { from, to, row } of [...sent.values()].flat()) {
      const [begin, end] = [this.x.get(from), this.x.get(to)];
      if (begin === undefined || end === undefined) continue;
      const direction = end > begin ? 1 : -1;
      parts.push(s("line", { x1: begin + 9 * direction, y1: this.y(row), x2: begin + this.lane * 0.42 * direction,
        y2: this.y(row) + this.height * 0.35, stroke: "var(--message)", "stroke-dasharray": "3 3",
        "marker-end": "url(#head-message)" }));
    }
    return parts;
  }

  message(arrow, from, to, row) {
    const direction = to > from ? 1 : -1, start = arrow.sent || row;
    const [x1, x2, y1, y2] = [from + 9 * direction, to - 9 * direction, this.y(start), this.y(row)];
    const old = row - start > 2, place = old ? 0.45 : 0.5;
    const dash = arrow.ok ? (old ? "7 3" : null) : "4 4";
    return [s("line", { x1, y1, x2, y2, stroke: "var(--message)", "stroke-width": 1.8, "stroke-dasharray": dash,
      "marker-end": arrow.ok ? "url(#head-message)" : null }),
      arrow.ok ? null : this.text(x2, y2 + 5, "✗", { fill: "var(--bad)", "text-anchor": "middle", "font-weight": 700 }),
      this.lane < 58 ? null : this.label(x2 + (x1 - x2) * place, y2 + (y1 - y2) * place - 5,
        `${arrow.label}${old ? ` (sent at ${start})` : ""}`, { fill: "var(--message)", "text-anchor": "middle" },
        [0, 12, -12, 24])];
  }

  call(arrow, from, to, row) {
    const direction = to > from ? 1 : -1, y = this.y(row), x1 = from + 9 * direction, x2 = to - 12 * direction;
    const color = arrow.ok ? "var(--call)" : "var(--bad)";
    this.taken.push({ left: Math.min(x1, x2), right: Math.max(x1, x2), top: y - 2, bottom: y + 2 });
    return [[-1.6, 1.6].map((shift) => s("line", { x1, y1: y + shift, x2, y2: y + shift, stroke: color })),
      arrow.ok ? s("path", { d: `M${x2 - 2 * direction} ${y - 5}L${x2 + 6 * direction} ${y}L${x2 - 2 * direction} ${y + 5}Z`,
        fill: color }) : this.text(x2, y + 5, "✗", { fill: color, "text-anchor": "middle", "font-weight": 700 }),
      arrow.label && this.lane > 60 ? this.callLabel(this.withArguments(arrow), color, [from, to], y - 5) : null];
  }

  /** The name of a call: beside its caller, or beside its callee where another call of the step has its name there. */
  callLabel(words, color, [from, to], y) {
    const half = Math.sign(to - from) * this.lane / 2, attributes = { fill: color, "text-anchor": "middle" };
    const { left, right } = extent(from + half, words, attributes);
    return this.label(this.isFree(left, right, y) ? from + half : to - half, y, words, attributes);
  }

  /** The name of a call with what it is given, so that it fits between two lanes: rather the name is cut. */
  withArguments({ label, given }) {
    const room = Math.floor((this.lane - 20) / 5.6), added = given && given.length + 5 < room ? `(${given})` : "";
    return cut(label, room - added.length) + added;
  }

  event(step, row) {
    const y = this.y(row);
    return [this.mark(step, row, y), this.pills(row, y), step.effects.map((effect) => this.word(step, effect, y))];
  }

  mark(step, row, y) {
    const marks = step.effects.filter((effect) => ["crash", "halt", "restart", "pause", "resume"].includes(effect.t)
      && this.x.has(effect.node));
    const drawn = marks.map((effect) => {
      const x = this.x.get(effect.node);
      if (effect.t === "crash" || effect.t === "halt")
        return s("path", { d: `M${x - 7} ${y - 7}L${x + 7} ${y + 7}M${x + 7} ${y - 7}L${x - 7} ${y + 7}`,
          stroke: "var(--bad)", "stroke-width": 4 });
      if (effect.t === "pause")
        return s("path", { d: `M${x - 4} ${y - 7}V${y + 7}M${x + 4} ${y - 7}V${y + 7}`, stroke: "var(--bad)",
          "stroke-width": 3 });
      return s("path", { d: `M${x} ${y - 8}L${x + 8} ${y + 6}H${x - 8}Z`, fill: "var(--good)" });
    });
    if (drawn.length || !this.x.has(step.actor)) return drawn;
    return s("circle", { cx: this.x.get(step.actor), cy: y, r: 5, fill: "var(--panel)", stroke: "var(--ink)",
      "stroke-width": 2 });
  }

  pills(row, y) {
    if (this.lane <= 52) return [];
    const [before, after] = [this.states[row - 1], this.states[row]];
    return this.columns.filter(({ kind, id }) => kind === "node" && this.view.isUp(after, id)
      && this.view.mode(after, id) !== undefined
      && this.view.mode(before, id) !== this.view.mode(after, id)).map(({ id }) => {
      const mode = this.view.mode(after, id), hue = this.view.hue(id, mode), x = this.x.get(id);
      const room = Math.floor((this.lane - 12) / 6.3), words = mode.length > room ? `${mode.slice(0, room - 1)}…` : mode;
      const width = words.length * 6.3 + 10;
      this.taken.push({ left: x - width / 2, right: x + width / 2, top: y + 7, bottom: y + 22 });
      return s("g", {}, s("rect", { x: x - width / 2, y: y + 7, width, height: 15, rx: 7, fill: `var(--m${hue})` }),
        s("text", { x, y: y + 18, class: "pill", "text-anchor": "middle", fill: `var(--t${hue})` }, words));
    });
  }

  word(step, effect, y) {
    if (effect.t === "lock" && this.x.has(effect.lock)) {
      const x = this.x.get(effect.lock);
      if (step.kind === "fault") return this.text(x, y + 6, "✖ lost", { fill: "var(--bad)", "text-anchor": "middle",
        "font-weight": 700 });
      const words = effect.after === "none" ? "free" : this.lane < 110 ? this.view.short(effect.after) : effect.after;
      return this.text(x + 10, y + 14, words, { fill: "var(--good)", "font-weight": 600 });
    }
    if (effect.t !== "acknowledged" || !this.x.has("clients")) return null;
    const x = this.x.get("clients"), from = this.x.get(step.actor);
    return [from === undefined ? null : s("line", { x1: from + 9, y1: y, x2: x - 8, y2: y, stroke: "var(--good)",
      "stroke-width": 2, "marker-end": "url(#head-ack)" }),
      this.text(x, y + 16, `✔ ${cut(brief(effect.item), Math.floor(this.lane / 6.8))}`, { fill: "var(--good)", "text-anchor": "middle", "font-weight": 700 })];
  }

  /** A bracket under the nodes that the broken part counts as a majority. */
  followers() {
    const sets = at.path.length ? [] : this.view.data.followers ?? [];
    return sets.map((names) => {
      const places = names.filter((name) => this.x.has(name)).map((name) => this.x.get(name));
      if (places.length < 2) return null;
      const y = this.y(this.total) + 8;
      return s("path", { d: `M${Math.min(...places)} ${y}v7H${Math.max(...places)}v-7`, fill: "none",
        stroke: "var(--bad)", "stroke-width": 2 });
    });
  }
}

const dotted = (x, top, bottom, dash) => s("line", { x1: x, x2: x, y1: top, y2: bottom, stroke: "var(--down)",
  "stroke-width": 1.5, "stroke-dasharray": dash });

function hover(event, row, columns) {
  const view = current(), tip = byId("tip");
  const place = event.clientX - byId("diagram").getBoundingClientRect().left;
  const column = columns.find(({ kind, id }) => kind === "node" && Math.abs(drawing.x.get(id) - place) < drawing.lane / 2);
  if (!column) return hideHover();
  const state = view.state(stateNumber(row)), first = view.state(0), lines = [];
  view.data.slots.forEach((slot, number) => {
    if (slot.owner === column.id && slot.role === "field" && state[number] !== first[number])
      lines.push(`${slot.name} = ${brief(view.text(state[number]))}`);
  });
  tip.textContent = [`${column.id} after step ${row}${view.isUp(state, column.id) ? "" : " (down)"}`, ...lines].join("\n");
  tip.hidden = false;
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - 350)}px`;
  tip.style.top = `${Math.min(event.clientY + 12, innerHeight - 160)}px`;
}

const hideHover = () => { byId("tip").hidden = true; };
