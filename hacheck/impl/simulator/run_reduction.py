"""Makes a run that breaks something small: fewest faults, then members, then simplest faults, then least time.

Each attempt is a whole run with the same seed. A smaller run is another run: whatever the network draws falls
elsewhere. So an attempt counts if it breaks the same promise, in whatever way, and what remains is small but need not
be the smallest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from hacheck.impl.simulator.faults import Fault
from hacheck.impl.simulator.running import Outcome, Plan, run
from hacheck.impl.system import Refused, System

ATTEMPTS_MAX = 300


class Reduced(msgspec.Struct, frozen=True):
    """What remains of a run. `attempts`: how many runs that took."""

    outcome: Outcome
    attempts: int


def failure(outcome: Outcome) -> str:
    """What went wrong first, in a word that two runs have in common if the same went wrong; empty if nothing did."""
    if outcome.defect is not None:
        return f"defect: {outcome.defect.place}"
    if outcome.exhausted:
        return "exhausted"
    return f"broken: {outcome.broken[0].promise}" if outcome.broken else ""


def reduced(
    system: System,
    outcome: Outcome,
    *,
    attempts_max: int = ATTEMPTS_MAX,
    go_on: Callable[[int], bool] = lambda attempts: True,
) -> Reduced:
    """A small run that fails in the same way. `go_on`: is given how many runs were tried; returns whether to try
    more."""
    return _Reducer(system, outcome, attempts_max, go_on).reduce()


class _Reducer:
    def __init__(self, system: System, outcome: Outcome, attempts_max: int, go_on: Callable[[int], bool]) -> None:
        self._system, self._best = system, outcome
        self._failure = failure(outcome)
        self._left = attempts_max
        self._go_on = go_on
        self.attempts = 0

    def reduce(self) -> Reduced:
        self._without_what_came_later()
        for step in (self._faults, self._members, self._faults, self._simpler, self._sooner, self._time):
            step()
        return Reduced(self._best, self.attempts)

    @property
    def _plan(self) -> Plan:
        """The best run so far, its faults spelled out: those that made no difference are of no use."""
        plan = self._best.again()
        assert isinstance(plan.faults, tuple), "they are spelled out"
        return plan

    def _try(self, plan: Plan) -> bool:
        """Runs a plan; keeps it if it fails in the same way."""
        if self._left <= 0 or not self._go_on(self.attempts):
            self._left = 0
            return False
        self._left -= 1
        self.attempts += 1
        try:
            outcome = run(self._system, plan)
        except Refused:  # fewer members than the protocol allows
            return False
        if not self._same(outcome):
            return False
        self._best = outcome
        return True

    def _same(self, outcome: Outcome) -> bool:
        if self._failure.startswith("broken: "):
            return outcome.defect is None and any(f"broken: {one.promise}" == self._failure for one in outcome.broken)
        return failure(outcome) == self._failure

    def _at_us(self) -> int:
        """When it went wrong."""
        if self._best.defect is not None:
            return self._best.defect.at_us
        return max((one.at_us for one in self._best.broken), default=self._best.end_us)

    def _with(self, faults: tuple[Fault, ...]) -> Plan:
        return msgspec.structs.replace(self._plan, faults=faults)

    # ---- the steps ----

    def _without_what_came_later(self) -> None:
        useful = tuple(
            fault
            for fault, hits in zip(self._best.faults, self._best.hits, strict=True)
            if hits and fault.at_us <= self._at_us()
        )
        if not self._try(self._with(useful)):
            self._try(self._plan)  # spelled out, at least
        self._shorter()

    def _shorter(self) -> None:
        """The phase of faults ends with the last of them."""
        faults = self._plan.faults
        assert isinstance(faults, tuple), "they are spelled out"
        last = max((fault.at_us + max(fault.for_us, 1) for fault in faults), default=0) + 1_000_000
        if last < self._plan.fault_us:
            self._try(msgspec.structs.replace(self._plan, fault_us=last))

    def _faults(self) -> None:
        """Leaves out groups of faults, then single ones, until none can go."""
        size = len(self._faults_now()) // 2
        while size >= 1:
            start, gone = 0, False
            while start < len(self._faults_now()):
                faults = self._faults_now()
                if self._try(self._with(faults[:start] + faults[start + size :])):
                    gone = True
                else:
                    start += size
                if self._left <= 0:
                    return
            if not gone or size > 1:
                size //= 2

    def _faults_now(self) -> tuple[Fault, ...]:
        faults = self._plan.faults
        assert isinstance(faults, tuple), "they are spelled out"
        return faults

    def _members(self) -> None:
        for name in ("clients", "replicas"):
            while getattr(self._plan, name) > 1 and self._left > 0:
                fewer = msgspec.structs.replace(self._plan, **{name: getattr(self._plan, name) - 1})
                try:
                    there = _names(self._system, fewer)
                except Refused:
                    break
                kept = tuple(fault for fault in (among(fault, there) for fault in self._faults_now()) if fault)
                if not self._try(msgspec.structs.replace(fewer, faults=kept)):
                    break

    def _simpler(self) -> None:
        place = 0
        while place < len(self._faults_now()) and self._left > 0:
            faults = self._faults_now()
            if not any(
                self._try(self._with((*faults[:place], simpler, *faults[place + 1 :])))
                for simpler in _simpler(faults[place])
            ):
                place += 1

    def _sooner(self) -> None:
        """All faults earlier, by the same time each: as early as one of these attempts allows."""
        first = min((fault.at_us for fault in self._faults_now()), default=0)
        for at_us in (first // 64, first // 16, first // 4, first // 2):
            by = first - at_us
            if by > 0 and self._try(
                self._with(
                    tuple(msgspec.structs.replace(fault, at_us=fault.at_us - by) for fault in self._faults_now())
                )
            ):
                return

    def _time(self) -> None:
        self._shorter()
        shorter = self._plan.fault_us
        while shorter > 1_000_000 and self._left > 0:
            shorter //= 2
            if not self._try(msgspec.structs.replace(self._plan, fault_us=shorter)):
                return


def _names(system: System, plan: Plan) -> frozenset[str]:
    members = system.members(plan.replicas, plan.clients, system.options(plan.settings))
    hosts = {name for member in members for name in (*member.locks, *member.shared)}
    return frozenset(member.name for member in members) | hosts


def among(fault: Fault, there: frozenset[str]) -> Fault | None:
    """The fault without those who are not there; nothing, if it hits nobody then."""
    members = tuple(name for name in fault.members if name in there)
    links = tuple(pair for pair in fault.links if there.issuperset(pair))
    hosts = tuple(name for name in fault.hosts if name in there)
    if not (members or links or hosts) or (fault.members and not members) or (fault.hosts and not hosts):
        return None
    return msgspec.structs.replace(fault, members=members, links=links, hosts=hosts)


def _simpler(fault: Fault) -> Iterator[Fault]:
    """The fault in simpler forms."""
    replace = msgspec.structs.replace
    if fault.kind in ("crash", "power", "cut") and fault.amount:
        yield replace(fault, amount=0)
    for name in fault.members if len(fault.members) > 1 else ():
        yield replace(fault, members=tuple(other for other in fault.members if other != name))
    if len(fault.links) > 2:
        pairs = list(dict.fromkeys(tuple(sorted(pair)) for pair in fault.links))
        for gone in pairs if len(pairs) > 1 else ():
            yield replace(fault, links=tuple(pair for pair in fault.links if tuple(sorted(pair)) != gone))
    if fault.for_us > 1000:
        for part in (10, 2):
            yield replace(fault, for_us=fault.for_us // part)
