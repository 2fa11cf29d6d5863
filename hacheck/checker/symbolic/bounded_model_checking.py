"""Bounded model checking: whether a run of 0, 1, 2 … steps decides a property, up to a depth.

One solver holds the runs of as many steps as were looked at; each depth adds a step and asks for all that is still
open at once. What no run of that length meets is then said of its last state, which makes the next depth easier.
Properties of infinite runs are looked for as runs that end in a loop (`lassos`), the shortest of which is the one with
the fewest steps before the loop and once round it.

**Source**: Biere, Cimatti, Clarke, Zhu: Symbolic Model Checking without BDDs, TACAS 1999.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from msgspec import Struct, field
from msgspec.structs import replace

from hacheck.checker.engine import DEPTH_REACHED, Answer, Limits, PropertyAnswer, Report
from hacheck.checker.explicit.answers import Explored, answer_of
from hacheck.checker.explicit.property_conditions import NO_VALUE
from hacheck.checker.explicit.search_result import BEYOND, SPEC_ERROR, Lasso, LivenessVerdict, StatePath
from hacheck.checker.explicit.stopwatch import Stopwatch
from hacheck.checker.symbolic.lassos import Lassos
from hacheck.checker.symbolic.prepared_encoding import Prepared, Wanted, prepared_or_answer
from hacheck.checker.symbolic.system_encoding import ERROR, INIT
from hacheck.checker.symbolic.z3_library import Formula, Model
from hacheck.model.ir import Property, System
from hacheck.supervise.task import Cancelled

NAME = "bmc"
DEPTH = 10
"""How deep it goes where nobody says."""


class BoundedFindings(Struct):
    """What runs of up to `depth` steps have shown. `ended`: whether no run is longer. `liveness`: of properties of
    infinite runs what is known, by name. See `findings.Findings`."""

    depth: int = 0
    size: int = 0
    stopped: str | None = None
    ended: bool = False
    counts: Sequence[int] = ()
    bounds_reached: Sequence[int] = ()
    found: dict[str, int] = field(default_factory=dict)
    hits: dict[str, tuple[int, int]] = field(default_factory=dict)
    errors: list[tuple[int, int]] = field(default_factory=list)
    bytes_per_state: float | None = None
    traced: dict[str, StatePath] = field(default_factory=dict)
    paths: dict[int, StatePath] = field(default_factory=dict)
    liveness: dict[str, LivenessVerdict] = field(default_factory=dict)

    def closest(self, key: str) -> Sequence[int]:
        """The one state that is known to meet the condition, or from which a step does."""
        if key == SPEC_ERROR:
            return [self.errors[0][0]]
        return [self.found[key] if key in self.found else self.hits[key][0]]

    def path_to(self, targets: Sequence[int]) -> StatePath:
        """The run to it."""
        return self.paths[targets[0]]

    def check_liveness(self, properties: tuple[Property, ...]) -> Sequence[LivenessVerdict]:
        """What is known of properties of infinite runs; that they hold where nothing else is."""
        return [self.liveness.get(one.name) for one in properties]


class BoundedEngine(Struct, frozen=True):
    """Looks at every run of up to so many steps. `depth`: `None` for the limit on depth, or `DEPTH`. `reductions`:
    whether to leave out of states what no property to check depends on."""

    depth: int | None = None
    reductions: bool = True

    def check(self, system: System, properties: tuple[str, ...], limits: Limits, report: Report) -> Answer:
        """Errors: `Refused` without Z3; otherwise none for anything a spec can contain."""
        watch = Stopwatch(limits, report)
        ask = partial(_solve, system, limits, report, watch)
        answer, shortest = ask(properties, self.depth or limits.depth_max or DEPTH, self.reductions)
        if not shortest:
            return answer
        # What was left out may come back later than the rest: then a loop takes longer than where it was found.
        more, _ = ask(tuple(shortest), max(shortest.values()) - 1, False)
        return _with_shorter(answer, more, shortest, watch)


def _solve(
    system: System,
    limits: Limits,
    report: Report,
    watch: Stopwatch,
    properties: tuple[str, ...],
    depth: int,
    reductions: bool,
) -> tuple[Answer, Mapping[str, int]]:
    """What runs of up to so many steps show; and the steps of each lasso of which there may be a shorter one, by the
    name of the property. Errors: as of `check`."""
    wanted = Wanted(lassos=True, reductions=reductions)
    prepared = prepared_or_answer(system, properties, properties, limits, report, watch, wanted)
    if isinstance(prepared, Answer):
        return prepared, {}
    findings = BoundedFindings()
    with watch.phase("solving"):
        Search(prepared, findings, lassos=True).run(depth)
    explored = Explored(prepared.subject, prepared.questions.properties, findings, findings.check_liveness)
    answer = _worded(prepared, findings, answer_of(explored, watch), _lassos(explored, watch))
    found = {one.name: len(one.run.steps) for one in answer.properties if one.run is not None}
    lassos = {name: len(one.path.states) - 1 for name, one in findings.liveness.items() if isinstance(one, Lasso)}
    return answer, {name: steps for name, steps in found.items() if steps > lassos.get(name, steps)}


def _with_shorter(answer: Answer, more: Answer, lengths: Mapping[str, int], watch: Stopwatch) -> Answer:
    """The answer with shorter lassos than those of these lengths, where some were found."""
    shorter = {one.name: one for one in more.properties if one.run is not None and one.run.loop is not None}
    properties = tuple(shorter.get(one.name, one) for one in answer.properties)
    stopped = more.coverage.stopped
    left = [name for name in lengths if name not in shorter] if stopped not in (None, DEPTH_REACHED) else []
    notes = tuple(f"there may be a shorter run than the one of {name}: stopped because {stopped}" for name in left)
    return replace(answer, properties=properties, notes=(*answer.notes, *notes), phases=watch.phases())


def _lassos(explored: Explored, watch: Stopwatch) -> Mapping[str, PropertyAnswer]:
    """The answers to properties of infinite runs that were decided, by name: a run that was found is one, however far
    the search has come."""
    findings = explored.findings
    assert isinstance(findings, BoundedFindings), "it is what this engine has found"
    known = BoundedFindings(liveness=findings.liveness)
    properties = tuple(one for one in explored.properties if findings.liveness.get(one.name) not in (None, BEYOND))
    answer = answer_of(
        replace(explored, properties=properties, findings=known, check_liveness=known.check_liveness), watch
    )
    return {found.name: found for found in answer.properties}


class Search:
    """The search for runs, depth by depth."""

    def __init__(self, prepared: Prepared, findings: BoundedFindings, *, lassos: bool = False) -> None:
        """`lassos`: whether infinite runs are looked for; the system was prepared for it."""
        self.prepared, self.findings = prepared, findings
        self.unrolling, self.library = prepared.unrolling, prepared.library
        self.solver = self.library.solver()
        self.solver.add(self.unrolling.at(INIT, 0))
        self.open = {key: item.kind == "step" for key, item in prepared.encoding.sought.items()}
        if any(outcome.ended == "error" for outcome in prepared.encoding.behaviour.outcomes):
            self.open[ERROR] = False
        self.lassos = Lassos(self.unrolling, self.solver, prepared.questions.properties if lassos else ())
        findings.liveness = self.lassos.found

    def run(self, depth: int) -> None:
        """Looks at runs of up to so many steps, or until everything is found, no run goes on, or a limit is met."""
        findings = self.findings
        try:
            for length in range(depth + 1):
                self.library.supervisor.depth = length
                if length and not self.longer(length):
                    findings.ended = True
                    findings.liveness.update(dict.fromkeys(self.lassos.beyond & self.lassos.open.keys(), BEYOND))
                    return
                self.look(length)
                findings.depth = length
                if not self.open and not self.lassos.open:
                    break
            findings.stopped = DEPTH_REACHED
        except Cancelled as given_up:
            findings.stopped = given_up.reason

    def longer(self, length: int) -> bool:
        """Lets runs have one step more; whether some have."""
        self.solver.add(*self.unrolling.step(length - 1))
        return self.solver.model() is not None

    def look(self, length: int) -> None:
        """Looks for what is open at the end of runs of this length, until none of it is there."""
        infinite = self.lassos.wanted(length)
        while wanted := {**self._wanted(length), **infinite}:
            some = self.library.constant(f"wanted {length} {len(wanted)}", "Bool")
            self.solver.add(self.library.implies(some, self.library.any_of(wanted.values())))
            model = self.solver.model(some)
            if model is None:
                self.solver.add(*(self.library.negation(formula) for formula in wanted.values()))
                return
            for key in [key for key, formula in wanted.items() if model.holds(formula)]:
                if key not in infinite:
                    self._note(key, length, model)
                else:
                    del infinite[key]
                    self.lassos.note(key, model, self._path(model, length))

    def _wanted(self, length: int) -> Mapping[str, Formula]:
        """What is open, as formulas about the last state or step of runs of this length."""
        return {
            key: self.unrolling.at(key, length - on_step) for key, on_step in self.open.items() if length or not on_step
        }

    def _note(self, key: str, length: int, model: Model) -> None:
        """Keeps a run that was found."""
        findings, on_step = self.findings, self.open.pop(key)
        if not key.startswith(NO_VALUE):
            self.open.pop(NO_VALUE + key, None)
        path = self._path(model, length - on_step)
        end = path.states[-1]
        findings.paths.setdefault(end, path)
        if key == ERROR:
            findings.errors.append((end, 0))
        elif on_step:
            findings.hits[key] = end, self.unrolling.packed(model, length)
        else:
            findings.found[key] = end

    def _path(self, model: Model, length: int) -> StatePath:
        """The run of a model."""
        states = [self.unrolling.packed(model, place) for place in range(length + 1)]
        return StatePath(states, tuple(self.unrolling.taken(model, place) for place in range(length)))


def _worded(
    prepared: Prepared, findings: BoundedFindings, answer: Answer, lassos: Mapping[str, PropertyAnswer]
) -> Answer:
    """The answer, and in words how far it reaches. `lassos`: what was found of infinite runs."""
    steps = f"{findings.depth} step{'s' * (findings.depth != 1)}"
    if findings.ended:
        reach = prepared.within("every reachable state, as every run ends")
        properties = tuple(_complete(found, reach) for found in answer.properties)
    else:
        reach = prepared.within(f"every run of up to {steps}")
        properties = tuple(lassos.get(found.name) or _up_to(prepared, found, findings) for found in answer.properties)
    coverage = replace(answer.coverage, action_counts=(), unreached=(), unexercised=())
    return replace(answer, coverage=coverage, properties=properties, engine=NAME, reach=reach)


def _complete(found: PropertyAnswer, reach: str) -> PropertyAnswer:
    if found.run is not None or found.verdict == "unknown":
        return found
    return replace(found, scope=f"in no state of {reach}" if found.verdict == "violated" else reach)


def _up_to(prepared: Prepared, found: PropertyAnswer, findings: BoundedFindings) -> PropertyAnswer:
    """What a property that was not decided is like up to where the search came."""
    if found.verdict != "unknown" or found.run is not None:
        return found
    kind = next(prop.kind for prop in prepared.questions.properties if prop.name == found.name)
    if findings.errors:
        return found
    word = "not reached" if kind == "reachable" else "not violated"
    why = "" if findings.stopped in (None, DEPTH_REACHED) else f"; stopped: {findings.stopped}"
    return replace(found, scope=prepared.within(f"{word} up to depth {findings.depth}") + why)
