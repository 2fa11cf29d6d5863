// A run: its story, the bar to step through it, the diagram, and a panel beside it.

const TABS = [["step", "Step"], ["why", "Why it breaks"], ["state", "State"], ["modes", "State diagram"], ["source", "Spec"],
  ["explore", "Explore"]];

let tab = "why";

let playing = null;

function runPage() {
  const view = current();
  if (!view.property && tab === "why") tab = "step";
  return [runHeading(view), storyOf(view), blameOf(view), goodRunOf(view), controls(view),
    h("div", { class: "split" },
      h("div", { class: "diagram", id: "diagram", role: "group", "aria-label": "the run, a button for each step" }),
      h("div", { class: "side" }, tabBar(),
        h("div", { id: "panel", role: "tabpanel", "aria-labelledby": `tab-${tab}`, tabindex: 0 })))];
}

/** Whether a run is one of code: it has times, and no spec, no model states around it. */
const isOfCode = (view) => view.data.steps[0]?.at !== undefined;
const OF_CODE = ["step", "state"];

function runHeading(view) {
  const { data, property } = view, faults = data.steps.filter((step) => step.kind === "fault").length;
  const facts = [isOfCode(view) ? data.check : `check ${data.check}`, plural(view.length, "step"), plural(faults, "fault")];
  if (data.loop !== null) facts.push(`steps ${data.loop + 1} to ${view.length} repeat for ever`);
  if (property?.source) facts.push(property.source);
  const look = property?.verdict === "violated" ? "bad" : "good";
  return [h("h2", {}, data.name ?? property?.name ?? "a run",
    property?.verdict ? [" ", h("span", { class: `tag ${look}` }, verdictWords(property))] : null,
    property?.outcome ? [" ", h("span", { class: `tag ${MARKS[property.outcome][1]}` }, MARKS[property.outcome][2])] : null),
  h("p", {}, coded(property?.description ?? ""), " ",
    h("span", { class: "soft" }, `${property?.description ? "· " : ""}${facts.join(" · ")}`)), settingsOf(data)];
}

/** The settings under which a run was found, as far as they are not at their defaults. */
function settingsOf({ settings }) {
  const changed = Object.entries(settings ?? {}).map(([name, value]) => `${name} = ${value}`);
  return changed.length ? h("p", { class: "soft" }, "settings: ", h("span", { class: "code" }, changed.join(", "))) : null;
}

function storyOf(view) {
  if (!view.data.story?.length) return null;
  return h("details", { class: "card story", open: true }, h("summary", {}, h("b", {}, "What happens")),
    view.data.story.map((sentence) => h("p", {}, linked(sentence))));
}

/** What the violation needs: each trial with what came of it, those that prevent it first. */
function blameOf(view) {
  const blame = view.data.blame;
  if (!blame?.trials.length) return null;
  const groups = [["prevents", "good", "Prevents the violation"], ["open", "warn", "Undecided"],
    ["violated", "", "Does not prevent it"]];
  return h("details", { class: "card" }, h("summary", {}, h("b", {}, "What it needs"), " ",
    h("span", { class: "soft" }, `each tried alone, within the same bounds: ${plural(blame.trials.length, "trial")}`)),
  groups.map(([outcome, look, words]) => trialsOf(blame.trials.filter((trial) => trial.outcome === outcome), look, words)));
}

function trialsOf(trials, look, words) {
  if (!trials.length) return null;
  return [h("h3", {}, h("span", { class: look ? `tag ${look}` : "soft" }, words)), h("ul", {}, trials.map((trial) => h("li", {},
    coded(trial.words), ": ", trial.result,
    trial.steps.length ? [" · step ", trial.steps.map((step) => [jump(step), " "])] : null)))];
}

/** The nearest run in which the property holds, from its first difference on. */
function goodRunOf(view) {
  const good = view.data.good_run;
  if (!good) return null;
  const first = good.differences.findIndex((one) => one.mark !== "same");
  return h("details", { class: "card" }, h("summary", {}, h("b", {}, "Nearest good run"), " ",
    h("span", { class: "soft" }, good.shared ? `the same up to step ${good.shared}` : "differs from the first step on")),
  h("ul", {}, good.differences.map((one, place) => h("li", {}, one.number ? [jump(one.number), " "] : null, one.words,
    one.mark === "same" ? null : [" ", h("span", { class: `tag ${one.mark === "added" ? "good" : "bad"}` },
      one.mark === "added" && one.number ? "chosen otherwise" : one.mark)],
    place === first ? [" ", h("b", {}, "the first difference")] : null))),
  h("p", {}, "At its end the property holds. ",
    good.key ? h("a", { href: runLink(good.key) }, "The whole run") : null));
}

/** A sentence of the story: the numbers of its steps are buttons, what is in backquotes is code. */
function linked(sentence) {
  const steps = new Set(sentence.steps.map(String));
  return brief(sentence.text).split(/(`[^`]*`|(?:\b[Ss]teps? |\()\d+(?:, \d+)*)/).map((part, place) => {
    if (place % 2 === 0) return part;
    if (part.startsWith("`")) return h("code", {}, part.slice(1, -1));
    return part.split(/(\d+)/).map((one) => (steps.has(one) ? jump(Number(one)) : one));
  });
}

const jump = (row) => h("button", { type: "button", class: "jump", onclick: () => goTo(row), "aria-label": `go to step ${row}` },
  row);

function controls(view) {
  const button = (words, name, action, attributes) =>
    h("button", { type: "button", class: "button", title: name, "aria-label": name, onclick: action, ...attributes }, words);
  const steps = Array.from({ length: shownLength() }, (_, index) => stepOf(index + 1));
  return h("div", { class: "bar screen", id: "bar" },
    button("|◀", "first (Home)", () => move(-Infinity)), button("◀", "back (left arrow)", () => move(-1)),
    button("play", "play or stop (space)", play, { id: "play", class: "button wide" }),
    button("▶", "forward (right arrow)", () => move(1)), button("▶|", "the end (End)", () => move(Infinity)),
    h("input", { type: "range", id: "slider", min: 0, max: shownLength(), value: position(), "aria-label": "step",
      oninput: (event) => goTo(Number(event.target.value)) }),
    h("output", { id: "count", class: "code", for: "slider" }),
    h("span", { class: "wide", role: "group", "aria-label": "lanes" }, columnsOf(view, steps).map(({ id }) =>
      button(id, `show the lane of ${id}`, () => toggleLane(id), { "data-lane": id, "aria-pressed": String(!hidden.has(id)) }))),
    button("link", "copy a link to exactly this (c)", copyLink, { class: "button wide" }));
}

const tabBar = () => h("div", { class: "tabs", role: "tablist", "aria-label": "about this step" },
  TABS.filter(([name]) => !isOfCode(current()) || OF_CODE.includes(name)).map(([name, words]) =>
  h("button", { type: "button", class: "button", role: "tab", id: `tab-${name}`, "data-tab": name, "aria-controls": "panel",
    "aria-selected": String(name === tab), onclick: () => chooseTab(name) },
  name === "why" && current().property?.kind === "reachable" ? "Why it is reached" : words)));

function chooseTab(name) {
  if (!byId(`tab-${name}`)) return;
  tab = name;
  for (const one of document.querySelectorAll("[role=tab]")) one.setAttribute("aria-selected", String(one.dataset.tab === name));
  byId("panel").setAttribute("aria-labelledby", `tab-${name}`);
  fillPanel();
}

/** After another run, path or width: everything is drawn again. A step only moves what is marked. */
function drawRun() {
  drawDiagram(byId("diagram"));
  markRow();
  fillPanel();
}

function markRow(scroll = false) {
  const place = position();
  for (const row of document.querySelectorAll("[aria-current=step]")) row.removeAttribute("aria-current");
  const row = drawing.rows[place];
  row?.setAttribute("aria-current", "step");
  const slider = byId("slider");
  slider.max = shownLength();
  slider.value = place;
  slider.setAttribute("aria-valuetext", `step ${place} of ${shownLength()}`);
  byId("count").textContent = `${place} / ${shownLength()}`;
  if (scroll && row) keepInView(row);
}

function keepInView(row) {
  const box = row.getBoundingClientRect();
  if (box.top < 150 || box.bottom > innerHeight - 70) row.scrollIntoView({ block: "center" });
}

function goTo(row) {
  const place = Math.max(0, Math.min(shownLength(), row));
  if (at.path.length) at.position = place;
  else {
    at.base = place;
    writeFragment();
  }
  markRow(true);
  fillPanel();
  announce(place ? `step ${place}: ${drawing.rows[place]?.querySelector(".caption").textContent}` : "step 0: initially");
}

const move = (by) => goTo(position() + by);

function play() {
  if (playing !== null) return stopPlaying();
  if (position() >= shownLength()) goTo(0);
  byId("play").textContent = "stop";
  playing = setInterval(() => (position() >= shownLength() ? stopPlaying() : move(1)), 900);
}

function stopPlaying() {
  clearInterval(playing);
  playing = null;
  if (byId("play")) byId("play").textContent = "play";
}

function nextFault() {
  for (let row = position() + 1; row <= shownLength(); row += 1) if (stepOf(row).kind === "fault") return goTo(row);
}

function toggleLane(id) {
  if (!hidden.delete(id)) hidden.add(id);
  for (const lane of document.querySelectorAll("[data-lane]"))
    lane.setAttribute("aria-pressed", String(!hidden.has(lane.dataset.lane)));
  drawRun();
}

function copyLink() {
  writeFragment();
  const copied = navigator.clipboard?.writeText(location.href) ?? Promise.reject(new Error("no clipboard"));
  copied.then(() => notice("The link is copied."), () => notice("The link is in the address bar."));
}
