// The state diagram of each kind of node, with the nodes where they are in this state.

function modesPanel() {
  const view = current(), row = position();
  const kinds = Object.keys(view.data.modes).filter((kind) => drawing.columns.some(({ id }) => view.kindOf.get(id) === kind));
  if (!kinds.length) return h("p", { class: "soft" }, "No kind of node of this spec has modes.");
  return [kinds.map((kind) => [h("h3", {}, kind), modeDiagram(view, kind, row)]),
    h("p", { class: "soft" }, "Red: the change of this step. Strong: a change in this run. Faint: a change that other runs make.")];
}

/** Edges by their ends: those of the spec, those of this run, and that of this step. */
function modeEdges(view, kind, row) {
  const edges = new Map();
  const edge = (source, target) => {
    const key = `${source}|${target}`;
    if (!edges.has(key)) edges.set(key, { source, target, labels: new Set(), taken: false, now: null });
    return edges.get(key);
  };
  const diagram = (REPORT.diagrams?.[view.data.check] ?? []).find((one) => one.owner === kind);
  for (const { source, target, action, condition } of diagram?.edges ?? [])
    edge(source, target).labels.add(condition ? `${action} when ${condition}` : action);
  for (let place = 1; place <= shownLength(); place += 1) {
    const [before, after] = [view.state(stateNumber(place - 1)), view.state(stateNumber(place))];
    for (const { id } of view.data.nodes.filter((node) => node.kind === kind)) {
      const [source, target] = [view.mode(before, id), view.mode(after, id)];
      if (source === target || !view.isUp(before, id) || !view.isUp(after, id)) continue;
      const found = edge(source, target);
      found.taken = true;
      found.labels.add(stepOf(place).action);
      if (place === row) found.now = stepOf(place).action;
    }
  }
  return [...edges.values()];
}

function modeDiagram(view, kind, row) {
  const { members } = view.data.modes[kind], state = view.state(stateNumber(row)), middle = 150, apart = 54;
  const nodes = view.data.nodes.filter((node) => node.kind === kind).map((node) => node.id);
  const y = (mode) => 26 + members.indexOf(mode) * apart;
  const down = nodes.filter((node) => !view.isUp(state, node));
  const height = members.length * apart + (down.length ? 30 : 8);
  const words = nodes.map((node) => `${node}: ${view.isUp(state, node) ? view.mode(state, node) : "down"}`).join(", ");
  const edges = modeEdges(view, kind, row).filter((edge) => members.includes(edge.source) && members.includes(edge.target));
  return s("svg", { viewBox: `0 0 420 ${height}`, class: "modes", role: "img", "aria-label": `state diagram of ${kind}. ${words}` },
    s("defs", {}, marker("head-mode", "var(--ink)"), marker("head-now", "var(--bad)")),
    edges.map((edge) => modeArc(edge, y, members, middle)),
    members.map((mode, place) => modeBox(view, nodes, mode, y(mode), middle, state, place)),
    down.length ? s("text", { x: middle, y: height - 8, "text-anchor": "middle", class: "word", fill: "var(--bad)" },
      `down: ${down.join(", ")}`) : null);
}

function modeArc(edge, y, members, middle) {
  const distance = members.indexOf(edge.target) - members.indexOf(edge.source), side = distance > 0 ? 1 : -1;
  const x = middle + side * 64, bend = x + side * (18 + Math.abs(distance) * 20);
  const [top, bottom] = [y(edge.source) + side * 5, y(edge.target) - side * 5];
  return [s("path", { d: `M${x} ${top}C${bend} ${top} ${bend} ${bottom} ${x + side * 3} ${bottom}`, fill: "none",
    stroke: edge.now ? "var(--bad)" : "var(--ink)", "stroke-width": edge.now ? 3.5 : edge.taken ? 1.6 : 1,
    opacity: edge.now ? 1 : edge.taken ? 0.8 : 0.25, "marker-end": edge.now ? "url(#head-now)" : "url(#head-mode)" },
  s("title", {}, `${edge.source} → ${edge.target}: ${[...edge.labels].join(", ")}`)),
  edge.now ? s("text", { x: bend + side * 2, y: (top + bottom) / 2 + 4, class: "word", fill: "var(--bad)",
    "text-anchor": side > 0 ? "start" : "end", "font-weight": 700 }, edge.now) : null];
}

function modeBox(view, nodes, mode, y, middle, state, place) {
  const here = nodes.filter((node) => view.isUp(state, node) && view.mode(state, node) === mode), hue = place % 8;
  return [s("rect", { x: middle - 62, y: y - 14, width: 124, height: 28, rx: 14, "stroke-width": 2, stroke: `var(--m${hue})`,
    fill: here.length ? `var(--m${hue})` : "var(--panel)" }),
  s("text", { x: middle, y: y + 4, "text-anchor": "middle", "font-size": 12, "font-weight": 600,
    fill: here.length ? `var(--t${hue})` : "var(--ink)" }, mode),
  here.map((node, index) => s("g", {}, s("circle", { cx: middle + 196 + index * 30, cy: y, r: 12, fill: "var(--ink)" }),
    s("text", { x: middle + 196 + index * 30, y: y + 4, "text-anchor": "middle", "font-size": 11, "font-weight": 700,
      fill: "var(--bg)" }, node.slice(node.lastIndexOf(" ") + 1))))];
}
