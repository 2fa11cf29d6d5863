"""The rules of a spec, each with what it says of where it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct

from hacheck.model.language import Specification
from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.diagnostics import Span
from hacheck.model.language.specification import written_setting
from hacheck.model.language.tree_walk import parts

RuleKind = Literal["action", "environment", "receipt", "service", "notice", "restart", "fault", "property", "witness"]

CHOICE = re.compile(r"(?:^|; )Choice: ")
"""What stands before a `note` where it is written together with a `source`."""


class Rule(Struct, frozen=True):
    """Something the protocol does, suffers or promises. A `witness` (`reachable`) promises nothing: it shows that the
    spec is not empty talk.

    `name`: how reports and other declarations call it (`check`, `lost_LockFile`, `crash Server`). `head`: with what it
    takes. `sources`: where it is written. `choices`: where the source is silent, what was chosen. `when`: the
    conditions as written; `only_after`: the timing assumptions. `calls`: the operations it calls, the messages it
    sends, and the procedures it performs.
    """

    kind: RuleKind
    name: str
    head: str
    text: str
    sources: tuple[str, ...]
    choices: tuple[str, ...]
    when: tuple[Span, ...]
    only_after: tuple[Span, ...]
    span: Span
    calls: frozenset[str] = frozenset()

    @property
    def is_traced(self) -> bool:
        """Whether it says itself where it comes from."""
        return bool(self.sources or self.choices)


def rules_of(specification: Specification) -> tuple[Rule, ...]:
    """Every rule of a spec and its libraries: actions, receipts, services, notices, restarts, faults, properties.

    What only keeps books (a `define`, a `procedure`, a ghost, an initial state) is part of the rules that use it.
    """
    return tuple(rule for one in specification.declarations if (rule := rule_of(one)) is not None)


def rule_of(written: d.Declaration) -> Rule | None:
    """The rule a declaration is, if it is one."""
    match written:
        case d.ActionDeclaration():
            parts = ", ".join(f"{one.name.text}: {written_type(one.type)}" for one in written.parameters)
            kind: RuleKind = "environment" if written.environment else "action"
            return _of_clauses(kind, written.name.text, f"{written.name.text}({parts})", written)
        case d.ReceiveDeclaration():
            parts = ", ".join(one.text for one in written.parameters)
            name = written.name.text
            kind = "service" if written.serves else "receipt"
            return _of_clauses(kind, name, f"{name}({parts}) at {written.at.text} from {written.sender.text}", written)
        case d.LostDeclaration():
            name = written.lock.text
            return _of_clauses("notice", f"lost_{name}", f"lost {name} at {written.at.text}", written)
        case d.RestartDeclaration():
            name = f"restart {written.kind.text}"
            return _of_clauses("restart", name, f"restart of {written.at.text}: {written.kind.text}", written)
        case d.PropertyDeclaration():
            sources, choices = cited(written.source)
            name, kind = written.name.text, "witness" if written.kind == "reachable" else "property"
            return Rule(kind, name, name, written.text, sources, choices, (), (), written.span)
        case d.FaultDeclaration() if written.kind != "total":
            return Rule("fault", written.title, written.title, "", (), (), (), (), written.span)
        case _:
            return None


def written_type(written: t.TypeTree) -> str:
    """A type as it is written, in one line."""
    numbers = written.limits[:1] if written.kind == "endless" else written.limits
    parts, limits = [written_type(one) for one in written.parts], [written_setting(one) for one in numbers]
    match written.kind:
        case "name":
            return written.names[0].text
        case "bool":
            return "bool"
        case "range":
            return f"{limits[0]}..{limits[1]}"
        case "counter":
            return f"counter up to {limits[0]}"
        case "endless":
            return f"counter up to {limits[0]} or more"
        case "enum":
            return f"{{{', '.join(name.text for name in written.names)}}}"
        case "set":
            return f"set of {parts[0]}"
        case "map":
            return f"map {parts[0]} to {parts[1]}"
        case "sequence" | "bag":
            return f"{written.kind} of {parts[0]} up to {limits[0]}"
        case "option":
            return f"{parts[0]}?"


def _of_clauses(
    kind: RuleKind,
    name: str,
    head: str,
    written: d.ActionDeclaration | d.ReceiveDeclaration | d.LostDeclaration | d.RestartDeclaration,
) -> Rule:
    clauses = written.clauses
    sources, choices = cited(clauses.source)
    return Rule(
        kind,
        name,
        head,
        clauses.text,
        sources,
        choices,
        tuple(one.span for one in clauses.when),
        tuple(one.span for one in clauses.only_after),
        written.span,
        frozenset(called(written.body)),
    )


def cited(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The sources and the choices of a rule, from its `source` and `note` texts in one line."""
    source, *choices = CHOICE.split(text)
    return ((source,) if source else ()), tuple(choices)


def called(body: t.Body) -> Iterator[str]:
    """The operations that statements call, the messages they send, and the procedures they perform."""
    for part in parts(body):
        match part:
            case t.Call(operation=name) | t.Send(message=name) | t.Perform(procedure=name):
                yield name.text
            case _:
                continue


def untraced(specification: Specification, elsewhere: frozenset[str] = frozenset()) -> tuple[Rule, ...]:
    """The rules of which nobody can say where they come from, by the text of the spec. `elsewhere`: the names of those
    of which it is said at another place.

    A service without a source is half of the rules that call it: it is traced where all of those are. A witness needs
    no source.
    """
    rules = tuple(rule for rule in rules_of(specification) if rule.kind != "witness")
    traced = {rule.name for rule in rules if rule.is_traced} | elsewhere
    callers = callers_of(specification)
    return tuple(
        rule
        for rule in rules
        if rule.name not in traced and not (rule.kind == "service" and callers.get(rule.name, {rule.name}) <= traced)
    )


def callers_of(specification: Specification) -> dict[str, set[str]]:
    """For each operation and message the names of the rules that call or send it, by themselves or in a procedure."""
    inside = {
        one.name.text: frozenset(called(one.body)) for one in specification.declarations if isinstance(one, d.Procedure)
    }
    found: dict[str, set[str]] = {}
    for rule in rules_of(specification):
        for name in _reached(rule.calls, inside) - inside.keys():
            found.setdefault(name, set()).add(rule.name)
    return found


def _reached(names: frozenset[str], inside: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The names and, of procedures, what is called in them."""
    found = names
    while more := frozenset(name for one in found for name in inside.get(one, ())) - found:
        found |= more
    return found
