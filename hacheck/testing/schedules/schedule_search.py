"""Explores the schedules of a cluster beside its model: first those closest to what a quick and quiet system does.

A schedule is written as its deviations: at which step something else came next than what such a system does, or a
fault. Those with fewer deviations come first, so it can be said what was explored: every schedule with so many of them.
Nodes are Python objects that cannot be copied safely, so each schedule is run from the start.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field

from hacheck.impl.node import Name, Record
from hacheck.impl.stepper import FAULTS, Choice, Cluster, CodeFailed
from hacheck.impl.system import System as Code
from hacheck.testing.line_encoding import Event
from hacheck.testing.schedules.cluster_fingerprint import fingerprint
from hacheck.testing.state_tracker import Broken, Track, Tracker

Deviation = tuple[int, Choice]
"""At which step of a schedule, counted from 0, came next what is not the first of `Cluster.choices`, and what."""


class Setting(Struct, frozen=True):
    """What is explored. `clients`, `replicas`, `options`: the cluster's size and settings; `faults`: how many of each
    kind may come: `crash`, `at_bound`, `power`, `lock`; `clients_end`: whether clients may be those that fail."""

    code: Code
    replicas: int
    clients: int
    options: Any
    faults: Mapping[str, int]
    clients_end: bool = True


class Limits(Struct, frozen=True):
    """Where exploring ends. `deviations`: in one schedule; `steps`: of one schedule; `schedules`, `seconds`: in all;
    `found`: so many disagreements."""

    deviations: int = 2
    steps: int = 150
    schedules: int = 1_000_000
    seconds: float = 60.0
    found: int = 1


class Taken(Struct):
    """A step of a schedule. `about`: in words; `at_us`: by the clock of whom it happens to; `shown`: what was written
    in it."""

    choice: Choice
    about: str
    at_us: int
    shown: list[Event] = field(default_factory=list)


class Found(Struct, frozen=True):
    """A schedule in which the code does what the model does not.

    `steps`: what came to pass; `broken`: the line that no run of the model writes, or `violated`: invariants; or
    `failed`: how the code failed.
    """

    steps: tuple[Taken, ...]
    broken: Broken | None = None
    violated: tuple[str, ...] = ()
    failed: str = ""


class Explored(Struct):
    """What was explored.

    - `schedules`: how many were run; `steps`: how many steps in all; `states`: how many different ones of code and
      model together; `longest`: the most steps of a schedule;
    - `complete`: up to so many deviations every schedule of the given length was explored, or is as one that was;
    - `at_bound`: schedules not compared to their ends, since they became larger than the model, and where the last one
      did;
      `undecided`: the same since too many states of the model explain them;
    - `found`: where code and model disagree; `shown`: how often the code wrote each event; `faults`: how many of each
      kind came.
    """

    schedules: int = 0
    steps: int = 0
    states: int = 0
    longest: int = 0
    complete: int = -1
    at_bound: int = 0
    undecided: int = 0
    bound: str = ""
    found: list[Found] = field(default_factory=list)
    shown: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


class Exploring:
    """One exploration. `report`: called some times a second; says whether to go on."""

    def __init__(
        self,
        setting: Setting,
        tracker: Tracker,
        limits: Limits,
        report: Callable[[Explored], bool] = lambda explored: True,
    ) -> None:
        """Errors: `Refused`, where there is no such cluster."""
        self.setting, self.tracker, self.limits, self._report = setting, tracker, limits, report
        self.members = setting.code.members(setting.replicas, setting.clients, setting.options)
        self.explored = Explored()
        self._visited: dict[tuple[int, Track, tuple[int, ...]], int] = {}
        self._waiting: deque[tuple[Deviation, ...]] = deque()
        self._next: deque[tuple[Deviation, ...]] = deque()
        self._start = self._reported = 0.0

    def run(self) -> Explored:
        """Explores. What comes of it is also in `explored` if it is interrupted."""
        self._start = time.monotonic()
        self._waiting = deque([()])
        for deviations in range(self.limits.deviations + 1):
            while self._waiting:
                if self._is_enough() or self._must_end():
                    return self.explored
                if not self._explore(self._waiting.popleft(), deviations):
                    return self.explored
            self.explored.complete = deviations
            self._waiting, self._next = self._next, deque()
        self.explored.seconds = time.monotonic() - self._start
        return self.explored

    def _is_enough(self) -> bool:
        explored, limits = self.explored, self.limits
        return explored.schedules >= limits.schedules or len(explored.found) >= limits.found

    def _must_end(self) -> bool:
        """Whether the time is up, or `report` answers that it is to end. One schedule can be long, so this
        is looked at before each of its steps."""
        explored = self.explored
        explored.seconds = time.monotonic() - self._start
        if explored.seconds >= self.limits.seconds:
            return True
        if explored.seconds - self._reported < 0.1:
            return False
        self._reported = explored.seconds
        return not self._report(explored)

    def _explore(self, schedule: tuple[Deviation, ...], deviations: int) -> bool:
        """Runs a schedule, and notes where others leave it that are new. Returns `False` if it had to end before."""
        run = _Run(self)
        last = schedule[-1][0] if schedule else -1
        forced = dict(schedule)
        self.explored.schedules += 1
        try:
            for step in range(self.limits.steps):
                if self._must_end():
                    return False
                choices = run.choices()
                if not choices:
                    return True
                if step > last and not self._is_new(run, self.limits.steps - step, deviations):
                    return True
                if step > last and deviations < self.limits.deviations:
                    self._next.extend((*schedule, (step, other)) for other in choices[1:])
                # A schedule that is not new any more may have lost what it was to deviate by.
                choice = forced.get(step, choices[0])
                if choice not in choices or not run.take(choice):
                    return True
            return True
        finally:
            self.explored.longest = max(self.explored.longest, len(run.taken))

    def _is_new(self, run: _Run, left: int, deviations: int) -> bool:
        """Whether nothing like it was seen with as many steps and deviations left."""
        key = (fingerprint(run.cluster), run.track, tuple(run.faults.values()))
        before = self._visited.get(key)
        if before is None:
            self.explored.states += 1
        elif before >= left:
            return False
        self._visited[key] = left
        return True


class _Run:
    """One schedule being run. `taken`: its steps so far."""

    def __init__(self, exploring: Exploring) -> None:
        self.exploring = exploring
        setting = exploring.setting
        self.cluster = Cluster(
            setting.code, exploring.members, setting.options, self._record, clients_end=setting.clients_end
        )
        self.faults = {kind: setting.faults.get(kind, 0) for kind in dict.fromkeys(FAULTS.values())}
        self.track = exploring.tracker.start
        self.taken: list[Taken] = []

    def choices(self) -> list[Choice]:
        """What may come next."""
        return self.cluster.choices(self.faults)

    def take(self, choice: Choice) -> bool:
        """Takes a step, and compares. Returns whether to go on."""
        explored = self.exploring.explored
        process = self.cluster.processes[choice[-1]]
        self.taken.append(Taken(choice, self.cluster.about(choice), process.now_us))
        explored.steps += 1
        if choice[0] in FAULTS:
            self.faults[FAULTS[choice[0]]] -= 1
            explored.faults[FAULTS[choice[0]]] += 1
        try:
            self.cluster.do(choice)
        except CodeFailed as failed:
            explored.found.append(self._found(failed=str(failed)))
            return False
        return all(self._follow(event) for event in self.taken[-1].shown)

    def _record(self, member: Name, record: Record) -> None:
        self.taken[-1].shown.append(Event(member, record.event, record.fields))

    def _follow(self, event: Event) -> bool:
        explored = self.exploring.explored
        explored.shown[event.name] += 1
        after = self.exploring.tracker.after(self.track, event)
        if isinstance(after, Track):
            self.track = after
            if violated := self.exploring.tracker.violated(self.track):
                explored.found.append(self._found(violated=violated))
            return not violated
        if after.kind == "deviates":
            explored.found.append(self._found(broken=after))
        else:
            explored.bound = f"{event.text}: {after.reason}"
            explored.at_bound += after.kind == "bound"
            explored.undecided += after.kind != "bound"
        return False

    def _found(self, **what: Any) -> Found:
        return Found(tuple(self.taken), **what)
