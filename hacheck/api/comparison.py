"""What traces are compared with: the system whose steps write lines, under which settings, and what else is checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from hacheck.api.errors import InputError, require_known
from hacheck.api.specification import Settings, as_text
from hacheck.compile.kept_models import kept_instance
from hacheck.model.language.assumed_conditions import AssumedConditions
from hacheck.model.language.log_settings import FromRecord
from hacheck.model.observing.line_writers import has_lines, lines_of, logged, without_lines
from hacheck.model.observing.step_monitors import with_step_monitors
from hacheck.model.types import Node
from hacheck.model.typing import type_of
from hacheck.traces.conformance.broken_durations import Rule
from hacheck.traces.conformance.checker_by_settings import CheckerBySettings
from hacheck.traces.conformance.empty_properties import empty_properties
from hacheck.traces.conformance.trace_checker import TraceChecker

if TYPE_CHECKING:
    from hacheck.model.ir import System
    from hacheck.model.language import Specification
    from hacheck.traces.drivers.contract import Outcome
    from hacheck.traces.records import Order

Checker: TypeAlias = TraceChecker | CheckerBySettings


class Comparison(Struct, frozen=True):
    """What the caller wants traces to be compared with: under which check's settings and which further ones; whether a
    record stands for each step; which events leave no line; for how long which invariants may be broken, in
    nanoseconds; the model's names of nodes that records call otherwise; which invariants are checked on the way."""

    check: str
    settings: Mapping[str, str]
    every_step: bool
    hidden: frozenset[str]
    within: Mapping[str, int]
    called: Mapping[str, str]
    invariants: tuple[str, ...] = ()


def wanted_comparison(
    check: str,
    settings: Settings | None,
    every_step: bool,
    hide: Iterable[str],
    within_seconds: Mapping[str, float] | None,
    nodes: Mapping[str, str] | None,
    invariants: Iterable[str],
) -> Comparison:
    """A comparison as callers of programs say it."""
    return Comparison(
        check=check,
        settings=as_text(settings),
        every_step=every_step,
        hidden=frozenset(hide),
        within={name: int(seconds * 1e9) for name, seconds in (within_seconds or {}).items()},
        called=dict(nodes or {}),
        invariants=tuple(invariants),
    )


class Compared(Struct, frozen=True):
    """What the traces are compared with. `system`: where their records give no settings; `check`: whose settings;
    `given`: those of the caller; `derived`: which settings records give; `every_step`: whether each step is a line;
    `hidden`: events without one; `checked`: the invariants checked on the way; `rules`: those that may not be broken
    for long; `called`: the model's names of nodes that records call otherwise. `empty`: the properties that are left
    out since they read only what logs leave empty, with these variables; `empty_at_first`: those of which that is so
    unless records give certain settings."""

    specification: Specification
    system: System
    check: str
    given: Mapping[str, str]
    derived: tuple[FromRecord, ...]
    every_step: bool
    hidden: frozenset[str]
    checked: tuple[str, ...]
    rules: tuple[Rule, ...]
    called: Mapping[str, str]
    empty: Mapping[str, tuple[str, ...]] = {}
    empty_at_first: frozenset[str] = frozenset()

    def base(self, order: Order, *, skew_ms: int, capacity: int, any_start: int, quick: bool = False) -> TraceChecker:
        """The checker of traces whose records give no settings. `quick`: see `TraceChecker`."""
        return TraceChecker(
            self.system,
            order,
            skew_ns=skew_ms * 1_000_000,
            checked=self.checked,
            capacity=capacity,
            any_start=any_start,
            rules=self.rules,
            called=self.called,
            assumed=AssumedConditions(self.specification, self.given, self.check, logs=True),
            quick=quick,
        )

    def checker(self, base: TraceChecker) -> Checker:
        """The checker of all traces. `base`: that of traces whose records give no settings."""
        if not self.derived:
            return base
        return CheckerBySettings(
            base, self.specification, self.check, self.given, self.derived, self.every_step, self.hidden
        )


def compared_with(comparison: Comparison, specification: Specification, system: System) -> Compared:
    """What traces are compared with. `system`: that of the check and the settings, with its lines.

    Errors: `InputError` for an event, an invariant or a node that is not there.
    """
    every_step = comparison.every_step or not has_lines(system)
    trace = specification.trace
    derived = () if trace is None else tuple(one for one in trace.derived if one.setting not in comparison.settings)
    system = logged(system, every_step)
    require_known("event", comparison.hidden, sorted(events_of(system)))
    invariants = [one.name for one in system.properties if one.kind == "invariant"]
    every = comparison.invariants == ("all",)
    checked = tuple(invariants) if every else comparison.invariants
    require_known("invariant", checked, [one.name for one in system.properties if one.kind in ("invariant", "step")])
    at_first, always = _empty(comparison, specification, system, derived, checked)
    if always and not every:
        raise _about_nothing(*next(iter(always.items())))
    checked = tuple(name for name in checked if name not in always)
    require_known("invariant", comparison.within, invariants)
    named = next((one for one in specification.checks if one.name == comparison.check), None)
    most = {one.name: one.nanoseconds for one in (named.restored if named is not None else ())}
    require_known("node", comparison.called.values(), nodes_of(system))
    return Compared(
        specification=specification,
        system=with_step_monitors(without_lines(system, comparison.hidden), checked),
        check=comparison.check,
        given=comparison.settings,
        derived=derived,
        every_step=every_step,
        hidden=comparison.hidden,
        checked=checked,
        rules=tuple(Rule(name, nanoseconds) for name, nanoseconds in {**most, **comparison.within}.items()),
        called=comparison.called,
        empty=always,
        empty_at_first=frozenset(at_first) - frozenset(always),
    )


def _empty(
    comparison: Comparison,
    specification: Specification,
    system: System,
    derived: Iterable[FromRecord],
    checked: tuple[str, ...],
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """The properties about which logs say nothing as long as their records give no settings, and those about which they
    say nothing either if records give all settings that they can give by being there."""
    at_first = empty_properties(system, checked)
    given = {one.setting: one.value for one in derived if one.value is not None}
    if not at_first or not given:
        return at_first, at_first
    instance = kept_instance(specification, {**given, **comparison.settings}, comparison.check, logs=True)
    if instance.system is None:
        return at_first, {}
    return at_first, empty_properties(logged(instance.system), at_first)


def _about_nothing(name: str, variables: tuple[str, ...]) -> InputError:
    read = " and ".join(f"`{variable}`" for variable in variables) or "nothing that changes"
    message = f"`{name}` cannot be checked on logs: it reads {read}, which no step changes in the comparison"
    hint = "logs leave it empty; data is compared where the adapter has [data]: hacheck explain conformance"
    return InputError(message, hint)


def unchecked(compared: Compared, checker: Checker, outcome: Outcome) -> dict[str, int]:
    """In how many traces which property was not checked, since their records do not give the settings that it needs."""
    found: dict[str, int] = {}
    for settings, number in outcome.settings.items() if compared.empty_at_first else ():
        for name in empty_properties(system_under(checker, settings), compared.empty_at_first):
            found[name] = found.get(name, 0) + number
    return found


def events_of(system: System) -> frozenset[str]:
    """The events of the lines of a system, also those that its spec writes under other settings only."""
    return frozenset(line.event for action in system.actions for line in lines_of(action)).union(system.events)


def writers_of(system: System) -> frozenset[tuple[str, int]]:
    """Kind and number of the nodes that write lines."""
    kinds = {
        kind.name
        for action in system.actions
        for line in lines_of(action)
        if line.node is not None and isinstance(kind := type_of(line.node), Node)
    }
    return frozenset(
        (one.name, number) for one in system.nodes if one.name in kinds for number in range(1, one.size + 1)
    )


def nodes_of(system: System) -> list[str]:
    """What the nodes of a system are called."""
    return [f"{kind.name}-{number}" for kind in system.nodes for number in range(1, kind.size + 1)]


def system_under(checker: Checker, settings: Iterable[str]) -> System:
    """The system that a trace was compared with whose records gave these settings."""
    if isinstance(checker, TraceChecker):
        return checker.system
    pairs = (text.partition("=") for text in settings)
    found = checker.variant(tuple((name, value) for name, _, value in pairs))
    return checker.base.system if isinstance(found, str) else found.system


def unknown_events(
    outcome: Outcome, compared: Compared, checker: Checker, of_data: frozenset[str] = frozenset()
) -> dict[str, int]:
    """The records of each event that the spec does not know under any settings that the traces gave, most first.
    `of_data`: the events that were compared without the spec."""
    systems = [system_under(checker, settings) for settings in outcome.settings or ((),)]
    known = {one.event for one in compared.derived}.union(of_data, *(events_of(system) for system in systems))
    found = [(event, number) for event, number in outcome.events.items() if event not in known]
    return dict(sorted(found, key=lambda pair: -pair[1]))
