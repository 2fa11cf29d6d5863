// Where the reader is: `#/`, `#/run/SPEC/CHECK/PROPERTY/STEP`, `…/14~2.0` for an explored run, `#/conform/TRACE`.

const at = { page: "verdicts", key: null, base: 0, path: [], position: null, trace: null, note: "" };

/** Reads the fragment. What is not there any more becomes the nearest that is, with a note. */
function readFragment() {
  const words = location.hash.replace(/^#\/?/, "").split("/").map(decoded);
  Object.assign(at, { note: "", path: [], position: null });
  if (words[0] === "conform" && REPORT.conform) {
    at.page = "conform";
    at.trace = words[1] ?? null;
    return;
  }
  at.page = "verdicts";
  if (words[0] !== "run") {
    if (words[0]) at.note = "This link names no page of this report; here are the verdicts.";
    return;
  }
  const key = words.slice(1, 4).join("/");
  const view = viewOf(key);
  if (!view) {
    at.note = `This report has no run ${key}; here are the verdicts.`;
    return;
  }
  Object.assign(at, { page: "run", key });
  readPlace(view, words[4]);
}

function readPlace(view, word) {
  const [step, indices] = (word ?? "").split("~");
  at.base = view.length;
  if (step) {
    const wanted = Number(step);
    at.base = Number.isFinite(wanted) ? Math.max(0, Math.min(view.length, Math.trunc(wanted))) : view.length;
    if (String(at.base) !== step) at.note = `This run has no step ${step}; here is step ${at.base}.`;
  }
  if (!indices) return;
  let state = at.base;
  for (const [place, index] of indices.split(".").entries()) {
    const edge = view.edges(state)?.[Number(index)];
    if (!edge) {
      const live = REPORT.live && view.edges(state) === undefined;
      if (live) at.pending = indices.split(".").slice(place).join(".");
      else at.note = `The step ${index} of this link is not known here; the run is shown as far as it is.`;
      break;
    }
    at.path.push({ index: Number(index), edge, from: state });
    state = edge.to;
  }
}

const decoded = (word) => {
  try { return decodeURIComponent(word); } catch { return word; }
};

const fragmentOf = () => {
  const where = at.key.split("/").map(encodeURIComponent).join("/");
  return `#/run/${where}/${at.base}${at.path.length ? `~${at.path.map((taken) => taken.index).join(".")}` : ""}`;
};

/** Puts the place into the address without a new entry in the history: there is one for each page, not for each step. */
const writeFragment = () => history.replaceState(null, "", fragmentOf());

const runLink = (key) => `#/run/${key.split("/").map(encodeURIComponent).join("/")}`;

// ---- the run that is shown: that of the report up to `at.base`, then the steps taken from there

const current = () => viewOf(at.key);

const shownLength = () => (at.path.length ? at.base + at.path.length : current().length);

const position = () => at.position ?? (at.path.length ? shownLength() : at.base);

/** The number of the state after so many steps of what is shown. */
const stateNumber = (row) => (row <= at.base || !at.path.length ? row : at.path[row - at.base - 1].edge.to);

const stepOf = (row) => (row <= at.base || !at.path.length ? current().steps[row - 1] : at.path[row - at.base - 1].edge);

const isExplored = (row) => at.path.length > 0 && row > at.base;
