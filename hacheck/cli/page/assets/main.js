// The frame: which page is shown, keys, theme.

const KEYS = [["→ j  ← k", "next step, step back"], ["Home  End b", "first, the break"], ["f", "next fault"],
  ["space", "play, stop"], ["1 to 6", "the tabs"], ["e, u", "explore from here, take back"], ["c", "copy a link to this"],
  ["t", "light or dark"], ["/", "find"], ["?", "this help"]];

let noticeTimer = null;

/** A sentence for a moment, and for those who listen. */
function notice(words) {
  const box = byId("notice");
  box.textContent = words;
  box.hidden = false;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => { box.hidden = true; }, 8000);
  announce(words);
}

function navigation() {
  const link = (href, words, page) => h("a", { href, "aria-current": at.page === page ? "page" : null }, words);
  const pick = h("select", { class: "button", id: "pick", "aria-label": "a run",
    onchange: (event) => { if (event.target.value) location.hash = runLink(event.target.value); } },
  h("option", { value: "" }, "- a run -"), REPORT.runs.map(({ key }) => {
    const [, check, name] = key.split("/");
    return h("option", { value: key, selected: at.page === "run" && at.key === key }, `${name} (${check})`);
  }));
  return [REPORT.checks.length ? link("#/", "Verdicts", "verdicts") : null, REPORT.runs.length ? pick : null,
    REPORT.conform ? link("#/conform", "Logs", "conform") : null];
}

function render() {
  stopPlaying();
  hideHover();
  if (at.page === "verdicts" && !REPORT.checks.length) {
    if (REPORT.conform) at.page = "conform";
    else if (REPORT.runs.length) {
      Object.assign(at, { page: "run", key: REPORT.runs[0].key });
      at.base = current().length;
    }
  }
  replace(byId("navigation"), navigation());
  const pages = { verdicts: verdictsPage, run: runPage, conform: conformPage };
  replace(byId("main"), pages[at.page]());
  measureHeader();
  if (at.page === "run") {
    drawRun();
    if (at.pending) followPending();
  }
  document.title = `${at.page === "run" ? `${at.key.split("/")[2]} - ` : ""}${REPORT.system} - hacheck`;
  if (at.note) notice(at.note);
}

function measureHeader() {
  const header = document.querySelector("header"), sticky = getComputedStyle(header).position === "sticky";
  document.documentElement.style.setProperty("--header", `${sticky ? header.offsetHeight : 0}px`);
}

function switchTheme() {
  const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

function showHelp() {
  const dialog = byId("help-box");
  if (dialog.open) dialog.close();
  else dialog.showModal();
}

const explore = () => { chooseTab("explore"); };

const RUN_KEYS = {
  ArrowRight: () => move(1), ArrowDown: () => move(1), j: () => move(1), ArrowLeft: () => move(-1), ArrowUp: () => move(-1),
  k: () => move(-1), Home: () => move(-Infinity), End: () => move(Infinity), b: () => move(Infinity), " ": play, f: nextFault,
  c: copyLink, u: takeBack, e: explore,
};

function onKey(event) {
  const typing = /INPUT|SELECT|TEXTAREA/.test(event.target.tagName) && event.target.type !== "range";
  if (typing || event.ctrlKey || event.metaKey || event.altKey || byId("help-box").open) return;
  const { key } = event;
  const anywhere = { t: switchTheme, "?": showHelp, "/": () => byId("search")?.focus() }[key];
  if (anywhere) {
    event.preventDefault();
    anywhere();
  } else if (at.page === "run" && /^[1-6]$/.test(key)) chooseTab(TABS[Number(key) - 1][0]);
  else if (at.page === "run" && RUN_KEYS[key] && !takesKey(event)) {
    event.preventDefault();
    RUN_KEYS[key]();
  }
}

/** What has the focus may need the key itself: a button is pressed by space, a box is scrolled by arrows. */
function takesKey({ key, target }) {
  if (key === " ") return /BUTTON|SUMMARY|A/.test(target.tagName);
  if (target.type === "range") return key.startsWith("Arrow") || key === "Home" || key === "End";
  return key.startsWith("Arrow") && target.matches?.(".scroll, .source, .log");
}

function start() {
  byId("title").textContent = REPORT.system;
  replace(byId("help-keys"), KEYS.flatMap(([keys, words]) => [h("dt", {}, keys), h("dd", {}, words)]));
  byId("theme").addEventListener("click", switchTheme);
  byId("help").addEventListener("click", showHelp);
  byId("help-close").addEventListener("click", showHelp);
  addEventListener("keydown", onKey);
  addEventListener("hashchange", () => { hidden.clear(); readFragment(); render(); scrollTo(0, 0); });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    measureHeader();
    if (at.page === "run") drawRun();
  });
  readFragment();
  render();
}

start();
