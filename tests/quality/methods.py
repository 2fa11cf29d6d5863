"""Three ways to find out that code does what its model does not, each within so many CPU seconds."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import seed, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test
from msgspec import Struct

from hacheck.impl.recording import TOTAL, write_trace
from hacheck.impl.simulator.history import History
from hacheck.impl.simulator.running import Plan, run
from hacheck.impl.system import Refused
from hacheck.impl.systems import system
from hacheck.model.observing.line_writers import logged
from hacheck.testing.adapter import Adapter
from hacheck.testing.failing_runs import Recorded
from hacheck.testing.hypothesis_machine import SETTINGS, Watch, machine
from hacheck.testing.reference_protocols import FOLLOWED
from hacheck.testing.run_reduction import reduced
from hacheck.testing.schedules.schedule_search import Explored, Exploring, Limits, Setting
from hacheck.testing.session import Disagreement, Undecided
from hacheck.testing.simulated_adapter import SERVICE, Simulated, adapter_for
from hacheck.testing.tested_model import kept_invariants, model_for, place_of, specification_of
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.verdicts import Verdict, from_batch
from hacheck.traces.dataset import open_traces
from hacheck.traces.findings import Findings
from hacheck.traces.record_checks import checked_batches
from hacheck.traces.records import Order

STEPS_OF_A_RUN = 40
RUNS_AT_ONCE = 50
RUN_SECONDS, SLOW_RUN_SECONDS = 20, 60
TRACES_AT_ONCE = 4


class Result(Struct, frozen=True):
    """What came of a method.

    - `runs`: of the machine, schedules, or simulated runs; `steps`: what the machine or the explorer did in them, or
      the records that were compared; `cpu_seconds`: until it was found, or all;
    - `length`: how many steps the reduced run has, or the schedule; how many records led to where a trace deviates;
    - `why`: what was found, in words; `cut`: runs not compared to their ends.
    """

    found: bool
    runs: int
    steps: int
    cpu_seconds: float
    length: int = 0
    why: str = ""
    cut: int = 0


class Budget:
    """CPU seconds of this process. `over`: they are spent."""

    def __init__(self, seconds: float) -> None:
        self._start, self._seconds = time.process_time(), seconds

    @property
    def spent(self) -> float:
        """So many were spent."""
        return time.process_time() - self._start

    @property
    def over(self) -> bool:
        """Whether none is left."""
        return self.spent >= self._seconds


class _Spent(BaseException):
    """The budget ended within a run; Hypothesis lets this through."""


class Counted(Simulated):
    """A cluster in the simulator that counts what is done to it, and ends with a budget."""

    budget = Budget(1e9)
    steps = 0

    def start(self) -> None:
        """Starts all members, while the budget lasts."""
        if Counted.budget.over:
            raise _Spent
        super().start()

    def wait(self, seconds: float) -> None:
        """Lets time pass."""
        Counted.steps += 1
        super().wait(seconds)

    def act(self, action: str, arguments: Mapping[str, Any]) -> None:
        """Makes a fault begin."""
        Counted.steps += 1
        super().act(action, arguments)


@cache
def adapter(protocol: str, variant: int = 0) -> type[Adapter]:
    """The adapter of a protocol, whose modules are loaded anew where they were thrown away meanwhile. `variant`: 0, as
    it is, or with which of its varied settings."""
    base = adapter_for(protocol, FOLLOWED[protocol].varied[variant - 1] if variant else None)
    return type(base.__name__, (Counted, base), {"__module__": __name__})


def variants(protocol: str) -> int:
    """In how many ways the machine runs a protocol."""
    return len(FOLLOWED[protocol].varied) + 1


def by_machine(protocol: str, seconds: float, reducing: float = 0.0, first: int = 0) -> Result:
    """Random things, by Hypothesis, with one seed after the other from `first`, with its settings varied in turn."""
    watch = Watch(Recorded(adapter(protocol)))
    how = settings(SETTINGS, max_examples=RUNS_AT_ONCE, stateful_step_count=STEPS_OF_A_RUN)
    Counted.steps = 0
    budget = Counted.budget = Budget(seconds)
    try:
        for number in count(first):
            tried = adapter(protocol, number % variants(protocol))
            try:
                run_state_machine_as_test(seed(number)(machine(tried, watch)), settings=how)
            except Undecided:  # more explains this run than is followed: the next seed
                watch.at_bound += 1
    except (Disagreement, Flaky) as error:
        found = watch.found
        if found is None and budget.over:  # a run that was ended looks as if it had been drawn otherwise
            return Result(False, watch.runs, Counted.steps, budget.spent, cut=watch.at_bound)
        if found is None:
            raise
        spent, steps = budget.spent, Counted.steps
        Counted.budget = Budget(1e9)
        least = reduced(tried, found, reducing) if reducing else found
        flaky = " (flaky)" if isinstance(error, Flaky) else ""
        return Result(True, watch.runs, steps, spent, len(least.steps), least.what + flaky)
    except _Spent:
        pass
    except AssertionError as error:  # the code raised
        return Result(True, watch.runs, Counted.steps, budget.spent, 0, str(error).partition("\n")[0])
    return Result(False, watch.runs, Counted.steps, budget.spent, cut=watch.at_bound)


DEVIATIONS_MAX = 9
"""More than any budget lasts for."""


def by_schedules(protocol: str, seconds: float, reducing: float = 0.0, first: int = 0) -> Result:
    """Every schedule with no deviation, one, two and so on, with one crash, one broken connection, one power failure
    and one lost lock: the first one found is the shortest story already."""
    followed = FOLLOWED[protocol]
    code = system(followed.code)
    faults = {"crash": 1, "cut": 1, "power": 1, "lock": int("locks" not in followed.spared)}
    options, clients_end = code.options(followed.options), "clients" not in followed.spared
    setting = Setting(code, followed.replicas, 1, options, faults, clients_end)
    limits = Limits(deviations=DEVIATIONS_MAX, steps=200, schedules=1_000_000_000, seconds=1e9)
    tracker = model_for(adapter(protocol)).tracker
    budget = Budget(seconds)

    def report(explored: Explored) -> bool:
        return not budget.over

    explored = Exploring(setting, tracker, limits, report).run()
    length, told = 0, ""
    for found in explored.found:
        length = len(found.steps)
        told = found.broken.event.text if found.broken is not None else ", ".join(found.violated) or found.failed
    cut = explored.at_bound + explored.undecided
    return Result(bool(explored.found), explored.schedules, explored.steps, budget.spent, length, told, cut)


PROFILES = ("crashes", "partitions", "pauses", "crash,cut,pause", "network", "locks")
"""What goes wrong in simulated runs, in turn: those that a protocol has nothing for are left out. Not that the power
fails: that may come between two lines that are one step of a spec (`docs/decisions/0019-the-code-and-the-specs.md`)."""

SLOW_PROFILES = ("slow", "slow,pause", "slow,cut", "slow,crash")
"""The same where time-outs are varied: messages that take as long as these meet what was decided without them."""


def plans(protocol: str, seed: int) -> Plan:
    """The simulated run of a seed: as usual, and where the protocol's settings are varied, every second time so."""
    followed = FOLLOWED[protocol]
    turn, variant = divmod(seed, variants(protocol))
    profiles = SLOW_PROFILES if variant else PROFILES
    return Plan(
        seed=seed,
        faults=followed.faults(profiles[turn % len(profiles)]),
        replicas=followed.replicas,
        clients=1 if variant or followed.alone else max(2, followed.clients),
        settings={**followed.options, **(followed.varied[variant - 1] if variant else {})},
        fault_us=(SLOW_RUN_SECONDS if variant else RUN_SECONDS) * 1_000_000,
    )


def by_conformance(protocol: str, seconds: float, reducing: float = 0.0, first: int = 0) -> Result:
    """Simulated runs with faults, recorded, and their records compared: one seed and profile after the other. Somebody
    must serve at the end of each. Nothing makes them smaller."""
    followed, judge = FOLLOWED[protocol], judge_of(protocol)
    code, comes_back = system(followed.code), followed.comes_back
    budget = Budget(seconds)
    runs = records = unknown = 0
    with tempfile.TemporaryDirectory() as place:
        for number in count(first):
            if budget.over:
                return Result(False, runs, records, budget.spent, cut=unknown)
            folder = Path(place) / str(number)
            folder.mkdir()
            for seed in range(number * TRACES_AT_ONCE, (number + 1) * TRACES_AT_ONCE):
                history = History(inputs=False)
                try:
                    outcome = run(code, plans(protocol, seed), history)
                except Refused:  # no such thing can go wrong here
                    continue
                runs += 1
                wrong = [one.story for one in outcome.broken if one.promise in SERVICE] if comes_back else []
                if outcome.defect is not None or wrong:
                    told = outcome.defect.what if outcome.defect is not None else "; ".join(wrong)
                    return Result(True, runs, records, budget.spent, len(history.lines()), told)
                records += write_trace(folder / f"{seed}.jsonl", str(seed), TOTAL, history.lines())
            for verdict in judge(folder):
                unknown += verdict.kind == "unknown"
                if verdict.kind == "deviates":
                    told = f"{verdict.node}: {verdict.event}"
                    return Result(True, runs, records, budget.spent, verdict.seq or verdict.records, told)
    raise AssertionError("seeds never end")


@cache
def judge_of(protocol: str) -> Callable[[Path], list[Verdict]]:
    """What judges a folder of traces of a protocol, as `hacheck conform` does. Cost: compiles the spec."""
    followed = FOLLOWED[protocol]
    specification = specification_of(place_of(followed.spec, adapter(protocol)))
    check = followed.check or "default"
    meant = specification.instantiate(dict(followed.settings), check, logs=True).system
    assert meant is not None
    asked = kept_invariants(specification, meant, check)
    checker = TraceChecker(logged(meant), Order.TOTAL, checked=asked, called=followed.called, explained_max=0)

    def judged(folder: Path) -> list[Verdict]:
        findings = Findings()
        batches = checker.check(checked_batches(open_traces(folder, findings), findings))
        return [verdict for batch in batches for verdict in from_batch(batch)]

    checker.trace_follower()  # compiles what judging takes
    return judged


METHODS: Mapping[str, Callable[[str, float, float, int], Result]] = {
    "machine": by_machine,
    "schedules": by_schedules,
    "conformance": by_conformance,
}
"""By name. Each takes a name of `FOLLOWED`, CPU seconds, seconds in which a run that fails may be
reduced, and the first seed, where there are seeds."""
