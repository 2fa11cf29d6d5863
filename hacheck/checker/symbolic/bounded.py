"""Bounded model checking: whether a run of 0, 1, 2 … steps decides what is asked, up to a depth.

One solver holds the runs of as many steps as were looked at; each depth adds a step and asks for all that is still
open at once. What no run of that length meets is then said of its last state, which makes the next depth easier.

**Source**: Biere, Cimatti, Clarke, Zhu: Symbolic Model Checking without BDDs, TACAS 1999.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hacheck.checker.engine import AS_ASKED, Answer, Limits, PropertyAnswer, Report
from hacheck.checker.explicit.answers import Explored, answer_of
from hacheck.checker.explicit.findings import FAULTY, GaveUp, Judgement, Undecided, Way
from hacheck.checker.explicit.questions import FAULT
from hacheck.checker.explicit.stopwatch import Stopwatch
from hacheck.checker.symbolic.encoding import ERROR, INIT
from hacheck.checker.symbolic.preparing import Prepared, prepared_or_answer
from hacheck.checker.symbolic.z3_library import Formula, Model
from hacheck.model.data import dataclass, field, replace
from hacheck.model.ir import Property, System

NAME = "bmc"
DEPTH = 10
"""How deep it goes where nobody says."""


@dataclass(slots=True)
class BoundedFindings:
    """What runs of up to `depth` steps have shown. `ended`: whether no run is longer. See `findings.Findings`."""

    depth: int = 0
    size: int = 0
    stopped: str | None = None
    ended: bool = False
    counts: Sequence[int] = ()
    cuts: Sequence[int] = ()
    found: dict[str, int] = field(default_factory=dict)
    hits: dict[str, tuple[int, int]] = field(default_factory=dict)
    faults: list[tuple[int, int]] = field(default_factory=list)
    bytes_per_state: float | None = None
    ways: dict[int, Way] = field(default_factory=dict)

    def alike(self, key: str) -> Sequence[int]:
        """The one state that is known to meet the condition, or from which a step does."""
        if key == FAULTY:
            return [self.faults[0][0]]
        return [self.found[key] if key in self.found else self.hits[key][0]]

    def way_to(self, targets: Sequence[int]) -> Way:
        """The run to it."""
        return self.ways[targets[0]]


@dataclass(frozen=True, slots=True)
class BoundedEngine:
    """Looks at every run of up to so many steps. `depth`: `None` for the limit on depth, or `DEPTH`."""

    depth: int | None = None

    def check(self, system: System, properties: tuple[str, ...], limits: Limits, report: Report) -> Answer:
        """Errors: `Refused` without Z3; otherwise none for anything a spec can contain."""
        watch = Stopwatch(limits, report)
        depth = self.depth or limits.depth_max or DEPTH
        prepared = prepared_or_answer(system, properties, properties, limits, report, watch)
        if isinstance(prepared, Answer):
            return prepared
        findings = BoundedFindings()
        with watch.phase("solving"):
            Search(prepared, findings).run(depth)
        explored = Explored(prepared.subject, prepared.questions.asked, findings, not_answered)
        return _worded(prepared, findings, answer_of(explored, watch))


def not_answered(asked: tuple[Property, ...]) -> Sequence[Judgement]:
    """Of properties of infinite runs it says nothing."""
    return [Undecided(NOT_ANSWERED) for _ in asked]


NOT_ANSWERED = "not answered by this engine, which looks at finite runs"


class Search:
    """The search for runs, depth by depth."""

    def __init__(self, prepared: Prepared, findings: BoundedFindings) -> None:
        self.prepared, self.findings = prepared, findings
        self.unrolling, self.library = prepared.unrolling, prepared.library
        self.solver = self.library.solver()
        self.solver.add(self.unrolling.at(INIT, 0))
        self.open = {key: item.kind == "step" for key, item in prepared.encoding.sought.items()}
        if any(outcome.ended == "fault" for outcome in prepared.encoding.behaviour.outcomes):
            self.open[ERROR] = False

    def run(self, depth: int) -> None:
        """Looks at runs of up to so many steps, or until everything is found, no run goes on, or a limit is met."""
        findings = self.findings
        try:
            for length in range(depth + 1):
                self.library.attendant.depth = length
                if length and not self.longer(length):
                    findings.ended = True
                    return
                self.look(length)
                findings.depth = length
                if not self.open:
                    break
            findings.stopped = AS_ASKED
        except GaveUp as given_up:
            findings.stopped = given_up.reason

    def longer(self, length: int) -> bool:
        """Lets runs have one step more; whether some have."""
        self.solver.add(*self.unrolling.step(length - 1))
        return self.solver.model() is not None

    def look(self, length: int) -> None:
        """Looks for what is open at the end of runs of this length, until none of it is there."""
        while wanted := self._wanted(length):
            some = self.library.constant(f"wanted {length} {len(wanted)}", "Bool")
            self.solver.add(self.library.implies(some, self.library.any_of(wanted.values())))
            model = self.solver.model(some)
            if model is None:
                self.solver.add(*(self.library.negation(formula) for formula in wanted.values()))
                return
            for key in [key for key, formula in wanted.items() if model.holds(formula)]:
                self._note(key, length, model)

    def _wanted(self, length: int) -> Mapping[str, Formula]:
        """What is open, as formulas about the last state or step of runs of this length."""
        return {
            key: self.unrolling.at(key, length - on_step) for key, on_step in self.open.items() if length or not on_step
        }

    def _note(self, key: str, length: int, model: Model) -> None:
        """Keeps a run that was found."""
        findings, on_step = self.findings, self.open.pop(key)
        if not key.startswith(FAULT):
            self.open.pop(FAULT + key, None)
        states = [self.unrolling.packed(model, place) for place in range(length + 1)]
        by = tuple(self.unrolling.taken(model, place) for place in range(length))
        end = length - on_step
        findings.ways.setdefault(states[end], Way(states[: end + 1], by[:end]))
        if key == ERROR:
            findings.faults.append((states[end], 0))
        elif on_step:
            findings.hits[key] = states[end], states[length]
        else:
            findings.found[key] = states[end]


def _worded(prepared: Prepared, findings: BoundedFindings, answer: Answer) -> Answer:
    """The answer, and in words how far it reaches."""
    steps = f"{findings.depth} step{'s' * (findings.depth != 1)}"
    if findings.ended:
        reach = prepared.within("every reachable state, as every run ends")
        properties = tuple(_complete(found, reach) for found in answer.properties)
    else:
        reach = prepared.within(f"every run of up to {steps}")
        properties = tuple(_up_to(prepared, found, findings) for found in answer.properties)
    coverage = replace(answer.coverage, action_counts=(), unreached=())
    return replace(answer, coverage=coverage, properties=properties, engine=NAME, reach=reach)


def _complete(found: PropertyAnswer, reach: str) -> PropertyAnswer:
    if found.run is not None or found.verdict == "unknown":
        return found
    return replace(found, scope=f"in no state of {reach}" if found.verdict == "violated" else reach)


def _up_to(prepared: Prepared, found: PropertyAnswer, findings: BoundedFindings) -> PropertyAnswer:
    """What a property that was not decided is like up to where the search came."""
    if found.verdict != "unknown" or found.run is not None:
        return found
    kind = next(asked.kind for asked in prepared.questions.asked if asked.name == found.name)
    if kind in ("eventually", "leads_to"):
        return replace(found, scope=NOT_ANSWERED)
    if findings.faults:
        return found
    word = "not reached" if kind == "reachable" else "not violated"
    why = "" if findings.stopped in (None, AS_ASKED) else f"; stopped: {findings.stopped}"
    return replace(found, scope=prepared.within(f"{word} up to depth {findings.depth}") + why)
