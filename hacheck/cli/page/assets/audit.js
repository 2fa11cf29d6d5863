// What `hacheck audit` found: findings and settings with their places, as tables above the checks.

const placeOf = (one) => one.line === null ? `absent in ${one.file}: the default` : `${one.file}:${one.line}`;

const settingRow = (one) => h("tr", {},
  h("td", {}, one.node ?? ""),
  h("td", { class: "code" }, `${one.path} = ${one.value ?? "not set"}`),
  h("td", { class: "soft" }, placeOf(one)));

function findingRow(one) {
  const prevented = one.avoidable === null ? "not found out" : one.avoidable ? "yes" : "no, only what would help beyond them";
  const key = `${REPORT.spec}/${REPORT.audit.check}/${one.property}`;
  const name = h("b", { class: "bad" }, one.kind);
  return h("tr", {},
    h("td", {}, runKeys.has(key) ? h("a", { href: runLink(key) }, name) : name, h("div", {}, one.sentence),
      one.hint ? h("div", { class: "soft" }, one.hint) : null),
    h("td", {}, one.settings.map((value) => h("div", {}, h("span", { class: "code" },
      `${value.node ?? ""} ${value.path} = ${value.value ?? "not set"}`), " ",
      h("span", { class: "soft" }, placeOf(value))))),
    h("td", {}, prevented, one.changes.map((words) => h("div", { class: "code" }, words))));
}

const headed = (names, rows) => h("table", { class: "audit" },
  h("thead", {}, h("tr", {}, names.map((name) => h("th", {}, name)))), h("tbody", {}, rows));

function auditPart() {
  const found = REPORT.audit;
  return h("section", { id: "audit" },
    found.findings.length ? headed(["what can happen", "what makes it possible", "other settings prevent it"],
      found.findings.map(findingRow)) : null,
    found.help.length ? [h("h3", {}, "What would help"), h("ul", {}, found.help.map((words) => h("li", {}, words)))] : null,
    h("details", {}, h("summary", {}, plural(found.settings.length, "setting"), " that were read or assumed"),
      headed(["node", "setting", "where"], found.settings.map(settingRow))));
}
