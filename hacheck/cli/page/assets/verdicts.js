// The first page: what was checked, what was found, and how far each answer reaches.

const MARKS = {
  expected: ["✔", "good", "as expected"],
  unexpected: ["✘", "bad", "not as expected"],
  undecided: ["?", "warn", "undecided"],
};

const filterState = { name: "all", words: "" };

const FILTERS = {
  "all": () => true,
  "violated": (found) => found.property.verdict === "violated" && found.property.kind !== "reachable",
  "not as expected": (found) => found.property.outcome === "unexpected",
  "undecided": (found) => found.property.outcome === "undecided",
  "liveness": (found) => ["leads_to", "eventually"].includes(found.property.kind),
  "holds": (found) => found.property.verdict === "holds" && found.property.kind !== "reachable",
  "has a picture": (found) => runKeys.has(keyOf(found.check, found.property)),
};

const runKeys = new Set(REPORT.runs.map((run) => run.key));

const keyOf = (check, property) => `${REPORT.spec}/${check.name}/${property.name}`;

function verdictWords(property) {
  if (property.kind !== "reachable") return property.verdict;
  return { holds: "reached", violated: "not reached" }[property.verdict] ?? property.verdict;
}

function verdictsPage() {
  const all = REPORT.checks.flatMap((check) => check.properties.map((property) => ({ check, property })));
  const list = h("div", { id: "checks" });
  const search = h("input", {
    class: "button", id: "search", type: "search", placeholder: "find a check or property", value: filterState.words,
    "aria-label": "find a check or property", oninput: (event) => { filterState.words = event.target.value; fillList(); },
  });
  const offered = Object.keys(FILTERS).filter((name) => !REPORT.audit || name !== "not as expected");
  const chips = offered.map((name) => h("button", {
    class: "button", "data-filter": name, "aria-pressed": String(name === filterState.name),
    onclick: () => { filterState.name = name; fillList(); },
  }, name, " ", h("span", { class: "soft" }, all.filter(FILTERS[name]).length)));
  const fillList = () => {
    for (const chip of chips) chip.setAttribute("aria-pressed", String(chip.dataset.filter === filterState.name));
    const cards = ordered(REPORT.checks).map(checkCard).filter(Boolean);
    replace(list, cards.length ? cards : h("p", {}, "No check or property matches."));
  };
  fillList();
  return [heading(all), h("div", { class: "chips screen", role: "group", "aria-label": "Filter" }, chips, search), list];
}

function heading(all) {
  const unexpected = REPORT.checks.filter((check) => check.outcome === "unexpected").length;
  const undecided = REPORT.checks.filter((check) => check.outcome === "undecided").length;
  const total = plural(REPORT.checks.length, "check");
  const [words, look] = REPORT.audit ? [REPORT.audit.verdict, REPORT.audit.findings.length ? "bad" : "good"] : unexpected ? [`${unexpected} of ${total} not as expected`, "bad"]
    : undecided ? [`${undecided} of ${total} undecided`, "warn"] : [`${total} as expected`, "good"];
  const states = REPORT.checks.reduce((sum, check) => sum + check.states, 0);
  const seconds = REPORT.checks.reduce((sum, check) => sum + check.seconds, 0);
  const facts = [REPORT.spec, plural(all.length, "verdict"), `${all.filter(FILTERS.violated).length} violated`,
    plural(states, "state"), `${seconds.toFixed(1)} s`, `hacheck ${REPORT.hacheck}`];
  return [
    h("h2", {}, REPORT.system, " ", REPORT.checks.length ? h("span", { class: `tag ${look}` }, words) : null),
    h("p", {}, coded(REPORT.description)),
    h("p", { class: "soft" }, facts.join(" · ")),
    REPORT.audit ? auditPart() : null,
    REPORT.not_run.length ? h("p", { class: "warn" }, `Not run: ${REPORT.not_run.join(", ")}.`) : null,
  ];
}

const ordered = (checks) => {
  const rank = { unexpected: 0, undecided: 1, expected: 2 };
  return [...checks].sort((one, other) => rank[one.outcome] - rank[other.outcome]);
};

function checkCard(check) {
  const wanted = filterState.words.toLowerCase();
  const matches = (property) => FILTERS[filterState.name]({ check, property })
    && `${check.name} ${property.name} ${property.description}`.toLowerCase().includes(wanted);
  const properties = ordered(check.properties).filter(matches);
  if (!properties.length && !(filterState.name === "all" && !wanted)) return null;
  const [mark, look, words] = MARKS[check.outcome];
  const violated = check.properties.filter((property) => FILTERS.violated({ property })).length;
  const isOpen = check.outcome !== "expected" || check === REPORT.checks[0] || filterState.name !== "all" || wanted;
  return h("details", { class: "check", open: Boolean(isOpen) },
    h("summary", {},
      h("span", { class: look, title: words }, mark), h("b", {}, check.name),
      h("span", { class: "soft sentence" }, [violated ? `${violated} violated` : "none violated", REPORT.audit ? null : words].filter(Boolean).join(", "),
        check.complete || check.stopped === "every property is decided" ? null : h("span", { class: "warn" }, ` · stopped: ${check.stopped}`)),
      h("span", { class: "soft code" }, `${plural(check.states, "state")} · ${check.seconds.toFixed(2)} s`)),
    h("div", { class: "inside" },
      h("p", {}, coded(check.description)),
      check.fault ? h("p", { class: "bad" }, `The spec has an error (${check.fault.place}): ${check.fault.message}`) : null,
      h("table", { class: "verdicts" },
        h("thead", {}, h("tr", {}, h("th", {}, h("span", { class: "hidden" }, "as expected?")), h("th", {}, "property"),
          h("th", {}, "verdict"), h("th", {}, "kind"), h("th", {}, "scope"))),
        h("tbody", {}, properties.map((property) => verdictRow(check, property)))),
      scopeOf(check)));
}

function verdictRow(check, property) {
  const [mark, look, words] = MARKS[property.outcome];
  const key = keyOf(check, property);
  const name = h("b", {}, property.name);
  const verdictLook = { violated: "bad", holds: "good" }[property.verdict] ?? "warn";
  return h("tr", {},
    h("td", { class: look, title: words }, mark, h("span", { class: "hidden" }, words)),
    h("td", {}, runKeys.has(key) ? h("a", { href: runLink(key) }, name) : name,
      h("div", { class: "soft" }, coded(property.description ?? ""))),
    h("td", { class: verdictLook }, verdictWords(property),
      property.verdict !== property.expected_verdict
        ? h("div", { class: "warn" }, `expected: ${property.expected_verdict}`) : null),
    h("td", {}, property.kind.replace("_", " ")),
    h("td", {}, property.scope,
      property.never_exercised ? h("div", { class: "warn" }, `never true: ${property.never_exercised}`) : null));
}

function scopeOf(check) {
  const rows = [];
  const row = (name, ...values) => rows.push(h("dt", {}, name), h("dd", {}, values));
  row("faults", check.faults.join("; ") || "none");
  for (const [name, meaning] of Object.entries(check.assumptions)) row(`assumes ${name}`, meaning);
  for (const bound of check.bounds) row("bound reached", `${bound.meaning} (${plural(bound.cut_steps, "step")} not taken)`);
  for (const reduction of check.reductions) row("reduction", reduction);
  row("never happened", check.never_happened.join(", ") || "-");
  for (const note of check.notes) row("note", note);
  row("engine", check.engine);
  row("settings", h("span", { class: "code" },
    Object.entries(check.settings).map(([name, value]) => `${name}=${value}`).join("  ")));
  return h("details", {}, h("summary", { class: "soft" }, "scope of these verdicts"), h("dl", { class: "facts" }, rows));
}
