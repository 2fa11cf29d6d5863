// Logs: a time line, the lines, and what the model says where a log leaves it.

const LINE_HEIGHT = 24;

function conformPage() {
  const { conform } = REPORT, { traces } = conform;
  const trace = traces.find((one) => one.trace_id === at.trace) ?? traces.find((one) => one.kind === "deviates") ?? traces[0];
  const words = { conforms: ["conforms", "conform"], deviates: ["deviates", "deviate"], unknown: ["undecided", "undecided"] };
  const counts = Object.entries(conform.counts).map(([kind, count]) => `${count} ${words[kind][count === 1 ? 0 : 1]}`).join(", ")
    || "no trace";
  const look = conform.counts.deviates ? "bad" : conform.counts.unknown ? "warn" : "good";
  return [h("h2", {}, `Conformance: ${REPORT.spec} `, h("span", { class: `tag ${look}` }, counts)),
    h("p", { class: "soft" }, `${plural(conform.records, "record")} · check ${conform.check} · clocks differ by at most `
      + `${conform.skew_ms} ms`, conform.left_out ? ` · ${plural(conform.left_out, "conforming trace")} not shown here` : ""),
    traces.length ? h("div", { class: "chips", role: "group", "aria-label": "traces" }, traces.map((one) => traceChip(one, trace))) : null,
    trace ? tracePage(trace) : null];
}

const TRACE_LOOKS = { conforms: ["✔", "good"], deviates: ["✘", "bad"], unknown: ["?", "warn"] };

const traceChip = (one, trace) => h("a", { class: "button", href: `#/conform/${encodeURIComponent(one.trace_id)}`,
  "aria-current": one === trace ? "page" : null }, h("span", { class: TRACE_LOOKS[one.kind][1] }, TRACE_LOOKS[one.kind][0]), " ",
one.trace_id, " ", h("span", { class: "soft" }, `${one.compared}/${one.records}`));

function tracePage(trace) {
  const { deviation } = trace;
  return [h("div", { class: "card" }, h("p", {}, h("b", {}, trace.trace_id), ": ", traceSentence(trace)),
    timeLine(trace, deviation)), deviationCard(trace), lineList(trace, deviation)];
}

function traceSentence(trace) {
  if (trace.kind === "conforms") return "every compared line is explained by a run of the model.";
  const where = trace.file ? `${trace.file}${trace.line ? `:${trace.line}` : ""}` : `record ${trace.seq}`;
  return [trace.kind === "deviates" ? "deviates" : "undecided", ": ", trace.reason, trace.event
    ? [" (", h("code", {}, trace.event), ` of ${trace.node || "no node"}, ${where})`] : "", "."];
}

function timeLine(trace, deviation) {
  const times = trace.lines.map((line) => line.time).filter((time) => time !== null);
  if (!times.length) return h("p", { class: "soft" }, "The records have no times.");
  const first = Math.min(...sampleEnds(times)), last = Math.max(...sampleEnds(times)), width = 1000, span = last - first || 1;
  const x = (time) => 90 + ((time - first) / span) * (width - 110);
  const nodes = trace.nodes, height = 34 + nodes.length * 24 + trace.late.length * 24;
  const marks = nodes.map((name, place) => {
    const seen = new Set(), y = 30 + place * 24;
    for (const line of trace.lines) if (line.node === name && line.time !== null) seen.add(Math.round(x(line.time)));
    return [s("text", { x: 4, y: y + 5, class: "word", fill: "var(--ink)" }, name || "(no node)"),
      s("line", { x1: 90, x2: width - 20, y1: y, y2: y, stroke: "var(--line)" }),
      s("path", { d: [...seen].map((place_) => `M${place_} ${y - 6}v12`).join(""), stroke: "var(--call)", "stroke-width": 1.5 })];
  });
  const late = trace.late.map((one, place) => lateBar(one, x, 30 + (nodes.length + place) * 24, width));
  const cut = deviation >= 0 && trace.lines[deviation].time !== null ? x(trace.lines[deviation].time) : null;
  return s("svg", { viewBox: `0 0 ${width} ${height}`, class: "timeline", role: "img", "aria-label":
    `time line of ${(span / 1e9).toFixed(3)} seconds, ${nodes.length} nodes` }, marks, late,
  cut === null ? null : [s("line", { x1: cut, x2: cut, y1: 14, y2: height - 6, stroke: "var(--bad)", "stroke-width": 2 }),
    s("text", { x: Math.min(cut, width - 200), y: 12, class: "word", fill: "var(--bad)", "font-weight": 700 },
      "first line that no run explains")]);
}

/** Records lie in order but for the skew of clocks; so the ends are near the ends. Keeps spreading arguments small. */
const sampleEnds = (times) => [...times.slice(0, 200), ...times.slice(-200)];

function lateBar(one, x, y, width) {
  if (one.start.time === null || one.end.time === null) return null;
  const [from, limit, to] = [one.start.time, one.start.time + one.most, one.end.time].map(x);
  const seconds = (value) => `${(value / 1e9).toFixed(1)} s`;
  return [s("rect", { x: from, y: y - 6, width: Math.max(1, limit - from), height: 12, fill: "var(--warn)", opacity: 0.55 }),
    s("rect", { x: limit, y: y - 6, width: Math.max(1, to - limit), height: 12, fill: "var(--bad)" }),
    s("text", { x: Math.min(to + 6, width - 380), y: y + 4, class: "word", fill: "var(--bad)" },
      `${one.invariant} broken for ${seconds(one.nanoseconds)}, ${seconds(one.most)} allowed`)];
}

function deviationCard(trace) {
  if (trace.kind === "conforms") return null;
  return h("div", { class: "card deviation" }, h("h3", {}, "Where the log leaves the model"),
    trace.failing.length ? [h("p", {}, "It would have been written by ", h("b", {}, trace.transition),
      "; in the nearest state:"), h("ul", {}, trace.failing.map((line) => h("li", {}, coded(line)))),
      trace.assumption ? h("p", {}, "The assumption ", h("b", {}, trace.assumption), " alone forbids it.") : null] : null,
    trace.expected.length ? [h("p", {}, "Here the model could have written:"), h("ul", { class: "code" },
      trace.expected.map((line, place) => h("li", {}, place ? line : h("b", {}, line))))] : null,
    trace.repair_text ? h("p", {}, "Smallest change: ", h("b", {}, trace.repair_text), trace.repair_records
      ? `. With it, ${plural(trace.repair_records, "more record")} would be explained.` : ".") : null,
    trace.states ? standTable(trace.states) : null,
    trace.run_key ? h("p", {}, h("a", { href: runLink(trace.run_key) }, "The shortest run of the model up to there")) : null,
    trace.run_steps && !trace.run_key ? h("p", { class: "soft" }, `The shortest run up to there has ${plural(trace.run_steps, "step")}, `
      + "too many for a picture.") : null);
}

const standTable = ({ head, rows }) => h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "state of the model" },
  h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "the model's state"), head.map((name) => h("th", {}, name)))),
    h("tbody", {}, rows.map(([name, ...values]) => h("tr", {}, h("th", { scope: "row" }, name),
      values.map((value) => h("td", {}, brief(value))))))));

/** The lines, as many as fit: 18,000 are as quick as 18. */
function lineList(trace, deviation) {
  const { lines } = trace, body = h("div", { class: "lines" });
  body.style.height = `${lines.length * LINE_HEIGHT}px`;
  const box = h("div", { class: "log", id: "log", tabindex: 0, role: "region", "aria-label": "lines of the log" }, body);
  let shown = "";
  const draw = () => {
    const first = Math.max(0, Math.floor(box.scrollTop / LINE_HEIGHT) - 10);
    const last = Math.min(lines.length, first + Math.ceil((box.clientHeight || 600) / LINE_HEIGHT) + 20);
    if (shown === `${first} ${last}`) return;
    shown = `${first} ${last}`;
    replace(body, lines.slice(first, last).map((line, place) => logLine(line, first + place, deviation)));
  };
  box.addEventListener("scroll", draw, { passive: true });
  requestAnimationFrame(() => {
    box.scrollTop = deviation < 0 ? 0 : Math.max(0, (deviation - 8) * LINE_HEIGHT);
    draw();
  });
  return [h("h3", {}, plural(lines.length, "line")), box];
}

function logLine(line, number, deviation) {
  const look = number === deviation ? "dev" : deviation >= 0 && number > deviation ? "after" : "";
  const row = h("div", { class: `log-line ${look}` }, h("span", { class: "soft code" }, clock(line.time)),
    h("span", {}, line.node || "-"), h("span", { class: "soft code" }, line.file ? `${line.file}:${line.line}` : `#${line.seq}`),
    h("span", { class: "text" }, number === deviation ? "✘ " : "", h("b", {}, line.event), " ", line.text));
  row.style.top = `${number * LINE_HEIGHT}px`;
  return row;
}

const clock = (time) => (time === null ? "" : new Date(time / 1e6).toISOString().slice(11, 23));
