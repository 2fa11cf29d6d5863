"""The page about a protocol: what it is, its rules, its states, what holds and what does not."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from hacheck import shipped
from hacheck.cli.document import results_section as found
from hacheck.cli.document.prose import code, how_to_read, section_of, sections, sentence, table
from hacheck.cli.document.results_section import Findings
from hacheck.cli.document.rules import Rule, callers_of, rules_of
from hacheck.model.ir import System
from hacheck.model.language import Specification
from hacheck.model.language import declarations as d
from hacheck.model.language.diagnostics import Span

KINDS = {
    "action": "",
    "environment": "the environment",
    "receipt": "on",
    "service": "serve",
    "notice": "on",
    "restart": "on",
}
"""The words before the head of a rule."""

CALLED = ("service", "receipt")
"""The rules that begin with what another node calls or sends."""

NAMED_MAX = 4
"""So many of the checks that choose a setting are named."""


class Source(Struct, frozen=True):
    """The texts a page is made from, by path, and where the page will stand (`None`: nowhere in particular)."""

    called: str
    specification: Specification
    system: System
    texts: Mapping[str, str]
    page: Path | None

    def shown(self, path: str) -> str:
        """A file as the page calls it: a shipped one from the folder of shipped specs."""
        try:
            return f"spec/{Path(path).resolve().relative_to(shipped.directory().resolve()).as_posix()}"
        except ValueError:
            return path

    def link(self, span: Span) -> str:
        """`[spec/icestorm.ha:212](../../spec/icestorm.ha#L212)`."""
        words = f"{self.shown(span.path)}:{span.line}"
        target = self.away(span.path)
        return words if target is None else f"[{words}]({target}#L{span.line})"

    def away(self, path: str) -> str | None:
        """A file as a link on the page names it."""
        if self.page is None:
            return None
        return Path(os.path.relpath(Path(path).resolve(), self.page.resolve().parent)).as_posix()

    def written(self, span: Span) -> str:
        """What stands at a place, on one line."""
        return " ".join(self.texts.get(span.path, "")[span.start : span.end].split())


def page(source: Source, findings: Findings | None, picture: Sequence[str]) -> str:
    """The whole page. `findings`: `None` where nothing was verified. `picture`: the lines that show the diagrams."""
    lines = [*title(source, findings)]
    for heading, part in parts(source, findings, picture):
        if part:
            lines += [f"## {heading}", "", *part, ""]
    text = "\n".join(line.rstrip() for line in lines)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.strip("\n") + "\n"


def parts(source: Source, findings: Findings | None, picture: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The parts of the page with their headings."""
    return [
        ("How to read it", reading(source)),
        ("Who takes part", participants(source)),
        ("State diagram", list(picture)),
        ("Rules", rules(source)),
        ("Messages and calls", messages(source)),
        ("What may go wrong", faults(source)),
        ("Properties", found.property_rows(source.system, findings)),
        ("What holds, what does not, and how far that reaches", results(source, findings)),
        ("Settings", settings(source)),
        ("Where the source is silent", choices(source)),
    ]


def title(source: Source, findings: Findings | None) -> list[str]:
    """The heading, what the protocol is, and what the page was made from."""
    specification = source.specification
    shown, target = source.shown(specification.path), source.away(specification.path)
    file = code(shown) if target is None else f"[{shown}]({target})"
    lines = [f"# {specification.name}", "", specification.description, ""]
    if specification.source:
        lines += [f"Source: {specification.source}.", ""]
    verified = f", and from running its checks: {found.overall(findings)}" if findings is not None else ""
    return [*lines, f"Made by {code(f'hacheck doc {source.called}')} from {file}{verified}.", ""]


def reading(source: Source) -> list[str]:
    """What the comments of the spec and of its libraries explain."""
    lines = [how_to_read(source.specification.text), ""]
    for path, text in source.texts.items():
        explained = "" if path == source.specification.path else how_to_read(text)
        if explained:
            lines += [f"### {source.shown(path)}", "", explained, ""]
    return lines if any(lines) else []


def participants(source: Source) -> list[str]:
    """The kinds of node: how many there are, and what is on their disks."""
    rows = []
    sizes = {node.name: node.size for node in source.system.nodes}
    for one in source.specification.declarations:
        if isinstance(one, d.NodeDeclaration):
            fields = [field.name.text for field in one.fields if not field.flags & {"durable", "synced", "ghost"}]
            disk = [field.name.text for field in one.fields if field.flags & {"durable", "synced"}]
            kept = ", ".join(map(code, fields)), ", ".join(map(code, disk))
            rows.append((code(one.name.text), str(sizes[one.name.text]), sentence(one.text), *kept))
    heads = ("node", "how many", "what it is", "forgotten in a crash", "on disk")
    return table(heads, rows) if rows else []


def rules(source: Source) -> list[str]:
    """Every rule but faults and properties, in the order and under the headings of the files."""
    lines: list[str] = []
    heading = ""
    places = {path: sections(text) for path, text in source.texts.items()}
    main, callers = source.specification.path, callers_of(source.specification)
    for rule in sorted(rules_of(source.specification), key=lambda rule: rule.span.path != main):
        if rule.kind in ("fault", "property", "witness"):
            continue
        part = sentence(section_of(rule.span.line, places.get(rule.span.path, []))).removesuffix(".")
        if rule.span.path != source.specification.path:
            part = source.shown(rule.span.path)
        if part and part != heading:
            lines += [f"### {part}", ""]
        heading = part or heading
        lines += [*one_rule(source, rule, callers.get(rule.name, ()) if rule.kind in CALLED else ()), ""]
    return lines


def one_rule(source: Source, rule: Rule, callers: Collection[str]) -> list[str]:
    """A rule: what it is called, what it does, when, and where that is written. `callers`: the rules it serves."""
    word = KINDS[rule.kind]
    lines = [f"**{f'{word} ' if word else ''}{code(rule.head)}** {sentence(rule.text)}".rstrip(), ""]
    lines += [f"- when {code(source.written(span))}" for span in rule.when]
    lines += [f"- timing assumption: only after {code(source.written(span))}" for span in rule.only_after]
    lines += [f"- source: {text}" for text in rule.sources]
    lines += [f"- choice: {text}" for text in rule.choices]
    if callers:
        lines.append(f"- {'called' if rule.kind == 'service' else 'sent'} by {', '.join(map(code, sorted(callers)))}")
    return [*lines, f"- {source.link(rule.span)}"]


def messages(source: Source) -> list[str]:
    """What nodes send each other and ask of each other: with what, from whom to whom."""
    rows = []
    for one in source.specification.declarations:
        if not isinstance(one, d.MessageDeclaration | d.OperationDeclaration):
            continue
        given = ", ".join(f"{item.name.text}: {source.written(item.type.span)}" for item in one.parameters)
        head = code(f"{one.name.text}({given})")
        if isinstance(one, d.MessageDeclaration):
            ends, kind, answer = (one.sender.text, one.receiver.text), "message", ""
        else:
            ends, kind = (one.caller.text, one.callee.text), "call"
            answer = code(source.written(one.returns.span)) if one.returns is not None else "that it is done"
        rows.append((kind, head, " → ".join(ends), answer, sentence(one.text)))
    return table(("kind", "what", "from and to", "answer", "what it means"), rows) if rows else []


def faults(source: Source) -> list[str]:
    """What the spec lets go wrong: each kind of fault with its bound."""
    rows = []
    for one in source.specification.declarations:
        if isinstance(one, d.FaultDeclaration):
            rule = next((rule for rule in rules_of(source.specification) if rule.span == one.span), None)
            name = rule.name if rule is not None else "all of them together"
            often = code(source.written(one.budget.span)) if one.budget is not None else "any number"
            when = code(source.written(one.when.span)) if one.when is not None else ""
            heals = "" if one.kind in ("lose", "duplicate") else "no" if one.for_good else "yes"
            rows.append((name, often, heals, when))
    return table(("fault", "at most", "heals", "only when"), rows) if rows else ["Nothing."]


def results(source: Source, findings: Findings | None) -> list[str]:
    """The checks, or how to run them."""
    if findings is None:
        return [f"Not looked at for this page; {code(f'hacheck verify {source.called}')} does."]
    said = (
        "Every check explores all states that its settings allow, each order of steps and each fault at each moment; "
        "states that differ in nothing that matters are explored once. A run is the shortest of its kind. In "
        "its picture time goes down, ✖ is a crash, and `?` marks a node that is wrong about another one."
    )
    return [said, "", *found.checks(source.specification, findings)]


def settings(source: Source) -> list[str]:
    """Params, switches and assumptions with their defaults, and the checks that choose something else."""
    rows = []
    for one in source.specification.declarations:
        if isinstance(one, d.Setting):
            domain = "" if one.type is None else f" in {source.written(one.type.span)}"
            default = source.written(one.default.span)
            checks = [check.name for check in source.specification.checks if one.name.text in dict(check.settings)]
            more = f" and {len(checks) - NAMED_MAX} more" if len(checks) > NAMED_MAX else ""
            chosen = ", ".join(map(code, checks[:NAMED_MAX])) + more
            rows.append((one.kind, code(one.name.text), code(f"{default}{domain}"), sentence(one.text), chosen))
    return table(("kind", "name", "default", "what it means", "chosen by"), rows) if rows else []


def choices(source: Source) -> list[str]:
    """The choices noted at rules and properties."""
    noted = [(rule, text) for rule in rules_of(source.specification) for text in rule.choices]
    return [f"- {code(rule.name)}: {text} ({source.link(rule.span)})" for rule, text in noted]
