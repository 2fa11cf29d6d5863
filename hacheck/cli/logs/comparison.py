"""What traces are compared with: the system whose steps write lines, under which settings, and what else is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from hacheck.checker.verify import default_check, questions_of
from hacheck.cli.guard import BadInput
from hacheck.cli.logs.traces import words
from hacheck.cli.options import SECONDS_MAX, all_known, parse_settings
from hacheck.cli.sources import instantiate
from hacheck.model.data import dataclass
from hacheck.model.language.log_settings import UNITS, FromRecord
from hacheck.model.observing.line_writers import has_lines, lines_of, logged, without_lines
from hacheck.traces.conformance.broken_durations import Rule
from hacheck.traces.conformance.checker_by_settings import CheckerBySettings
from hacheck.traces.conformance.trace_checker import TraceChecker

if TYPE_CHECKING:
    from hacheck.model.ir import System
    from hacheck.model.language import Specification

Judge = TraceChecker | CheckerBySettings


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the user asked traces to be compared with: under which check's settings and with which of the command line;
    whether a record stands for each step; which events leave no line; for how long which invariants may be broken, in
    nanoseconds; how the model names nodes that records call otherwise."""

    check: str | None
    settings: Mapping[str, str]
    every_step: bool
    hidden: str | None
    within: Mapping[str, int]
    called: Mapping[str, str]


def comparison(
    check: str | None,
    settings: Iterable[str] | None,
    every_step: bool,
    hidden: str | None,
    within: Iterable[str] | None,
    nodes: Iterable[str] | None,
) -> Comparison:
    """What the command line says. Errors: `BadInput` for what cannot be read."""
    set_to = parse_settings(settings or ())
    return Comparison(check, set_to, every_step, hidden, parse_within(within or ()), parse_nodes(nodes or ()))


@dataclass(frozen=True, slots=True)
class Compared:
    """What the traces are compared with. `system`: where their records give no settings; `check`: whose settings;
    `given`: those of the command line; `derived`: which settings records give; `every_step`: whether each step is a
    line; `hidden`: events without one; `asked`: the invariants looked at on the way; `rules`: those that may not be
    broken for long; `called`: the model's names of nodes that records call otherwise."""

    specification: Specification
    system: System
    check: str
    given: Mapping[str, str]
    derived: tuple[FromRecord, ...]
    every_step: bool
    hidden: frozenset[str]
    asked: tuple[str, ...]
    rules: tuple[Rule, ...]
    called: Mapping[str, str]

    def judge(self, base: TraceChecker) -> Judge:
        """Who judges traces. `base`: what judges those whose records give no settings."""
        if not self.derived:
            return base
        return CheckerBySettings(
            base, self.specification, self.check, self.given, self.derived, self.every_step, self.hidden
        )


def what_is_compared(
    asked_for: Comparison, specification: Specification, properties: tuple[str, ...] = (), *, no_color: bool
) -> Compared:
    """The system whose steps write lines. Errors: `BadInput` or `Reported` for what is not there."""
    questions = [question.name for question in questions_of(specification)]
    if asked_for.check is not None:
        all_known("check", (asked_for.check,), questions)
    check = asked_for.check or default_check(specification)
    all_known("setting", asked_for.settings, [parameter.name for parameter in specification.parameters])
    system = instantiate(specification, asked_for.settings, check, logs=True, no_color=no_color)
    every_step = asked_for.every_step or not has_lines(system)
    hidden = words(asked_for.hidden, "--hide") or frozenset()
    trace = specification.trace
    derived = () if trace is None else tuple(one for one in trace.derived if one.setting not in asked_for.settings)
    system = logged(system, every_step)
    all_known("event", hidden, sorted(events_of(system)))
    invariants = [one.name for one in system.properties if one.kind == "invariant"]
    asked = tuple(invariants) if properties == ("all",) else properties
    all_known("invariant", asked, invariants)
    all_known("invariant", asked_for.within, invariants)
    named = next((one for one in specification.checks if one.name == check), None)
    most = {one.name: one.nanoseconds for one in (named.restored if named is not None else ())}
    all_known("node", asked_for.called.values(), nodes_of(system))
    rules = tuple(Rule(name, most) for name, most in {**most, **asked_for.within}.items())
    return Compared(
        specification,
        without_lines(system, hidden),
        check,
        asked_for.settings,
        derived,
        every_step,
        hidden,
        asked,
        rules,
        asked_for.called,
    )


def events_of(system: System) -> frozenset[str]:
    """The events of the lines of a system."""
    return frozenset(line.event for action in system.actions for line in lines_of(action))


def nodes_of(system: System) -> list[str]:
    """What the nodes of a system are called."""
    return [f"{kind.name}-{number}" for kind in system.nodes for number in range(1, kind.size + 1)]


def system_under(judge: Judge, settings: Iterable[str]) -> System:
    """The system that a trace was compared with whose records gave these settings."""
    if isinstance(judge, TraceChecker):
        return judge.system
    pairs = (text.partition("=") for text in settings)
    found = judge.variant(tuple((name, value) for name, _, value in pairs))
    return judge.base.system if isinstance(found, str) else found.system


def parse_within(texts: Iterable[str]) -> dict[str, int]:
    """`--within NAME=TIME`, as nanoseconds by name; the last of a name wins. Errors: `BadInput`."""
    found = {}
    for text in texts:
        name, equals, time = text.partition("=")
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(ms|s|min|m|h)?\s*", time)
        if not equals or not name.strip() or match is None:
            raise BadInput(f"--within {text}: expected INVARIANT=TIME", "for example --within one_leader=10s")
        unit = {"m": "min"}.get(match[2] or "s", match[2] or "s")
        nanoseconds = float(match[1]) * UNITS[unit]
        if nanoseconds > SECONDS_MAX * UNITS["s"]:
            raise BadInput(f"--within {text}: longer than a year", "for example --within one_leader=10s")
        found[name.strip()] = int(nanoseconds)
    return found


def parse_nodes(texts: Iterable[str]) -> dict[str, str]:
    """`--node NAME=NODE`, as the model's names by those of the records. Errors: `BadInput`."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, node = (part.strip() for part in text.partition("="))
        if not equals or not name or not node:
            raise BadInput(f"--node {text}: expected NAME=NODE", "for example --node primary=Server-1")
        if found.get(name, node) != node or node in (other for called, other in found.items() if called != name):
            raise BadInput(f"--node {text}: contradicts an earlier --node", "each node has one name")
        found[name] = node
    return found
