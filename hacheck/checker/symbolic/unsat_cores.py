"""Why a property holds: which conditions of steps and which lemmas its proof by k-induction rests on.

Each outcome's proof obligation is solved with every condition and every lemma as an assumption; those in the core of
the answer are tried one by one, and what can go, goes. What is left over all outcomes suffices: everything else may be
put out of force, all at once, and the property still holds at every depth. For k above 1 that takes the conditions that
keep shorter runs from breaking it, too. A lemma may take another k than what rests on it: of a shortest run that breaks
either, the end contradicts one of the obligations.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.engine import Limits, Report
from hacheck.checker.explicit.stopwatch import Stopwatch
from hacheck.checker.symbolic.k_induction import DEPTH
from hacheck.checker.symbolic.prepared_encoding import Prepared, prepared_from
from hacheck.checker.symbolic.system_encoding import DOMAIN, INIT
from hacheck.checker.symbolic.weakened_system import Part, weakened
from hacheck.checker.symbolic.z3_library import Formula, Library, Solver, Supervisor, minimal_core
from hacheck.compile.lowering.layout import Cell
from hacheck.model.interpreter import EvaluationError, Interpreter
from hacheck.model.ir import System
from hacheck.supervise.task import Cancelled


class Reasons(Struct, frozen=True):
    """What a proof of a property rests on, and what it does without. `lemmas`: those it uses, by name. `unexamined`:
    the actions in which some conditions always stay in force. `steps`: the greatest k that it takes. `failed`: why
    there is no proof; then nothing else is said."""

    name: str
    needed: tuple[Part, ...] = ()
    spare: tuple[Part, ...] = ()
    lemmas: tuple[str, ...] = ()
    unexamined: tuple[str, ...] = ()
    steps: int = 1
    failed: str | None = None


def reasons(system: System, name: str, limits: Limits, report: Report) -> Reasons:
    """What the proof of one invariant by k-induction rests on, with the smallest k up to `DEPTH` of the engine. Errors:
    `Refused` without Z3."""
    watch = Stopwatch(limits, report)
    try:
        library = Library(Supervisor(limits, report, watch.started))
        initial = watch.supervised("lowering", Interpreter(system).initial_states)
        weak, parts, unexamined = weakened(system)
        names = (name, *(one.name for one in system.properties if one.kind == "lemma" and one.name != name))
        # The constants that put conditions in force are known to be either.
        both = tuple(state + (force,) * len(parts) for force in (True, False) for state in initial)
        prepared = prepared_from(weak, names, both, library, watch)
        return replace(Core(prepared, parts).reasons(name, names[1:]), unexamined=unexamined)
    except EvaluationError as error:
        return Reasons(name, failed=f"an error of the spec {error.message}")
    except Cancelled as given_up:
        return Reasons(name, failed=f"stopped because {given_up.reason}")


class Core:
    """The search for what suffices."""

    def __init__(self, prepared: Prepared, parts: tuple[Part, ...]) -> None:
        self.prepared, self.parts = prepared, parts
        self.library, self.unrolling = prepared.library, prepared.unrolling
        self.needed: dict[str, Part] = {}
        self.lemmas: dict[str, None] = {}
        self._forces = self._constants()

    def _constants(self) -> Mapping[str, tuple[str, Formula, Part]]:
        """By the name of its constant the variable, the constant and the condition it puts in force."""
        system, layout, found = self.prepared.system, self.prepared.encoding.lowered.layout, {}
        places = {item.name: place for item, place in zip(system.variables, layout.places, strict=True)}
        constants = self.unrolling.state(0)
        for part in self.parts:
            place = places[part.variable]
            assert isinstance(place, Cell), "a truth value is one slot"
            if place.slot is not None and place.slot in constants:
                constant = constants[place.slot]
                found[self.library.name_of(constant)] = part.variable, constant, part
        return found

    def reasons(self, name: str, lemmas: tuple[str, ...]) -> Reasons:
        """What a property rests on."""
        waiting, done, steps = [name], set[str](), 1
        while waiting:
            goal = waiting.pop()
            done.add(goal)
            shown = self._carried(goal, lemmas)
            if isinstance(shown, str):
                about = "it" if goal == name else f"the lemma {goal}, which it uses,"
                return Reasons(name, failed=f"{about} {shown}")
            steps = max(steps, shown)
            waiting += [lemma for lemma in self.lemmas if lemma not in done and lemma not in waiting]
        needed = tuple(part for part in self.parts if part.variable in self.needed)
        spare = tuple(part for part in self.parts if part.variable not in self.needed)
        return Reasons(name, needed, spare, tuple(self.lemmas), steps=steps)

    def _held(self, name: str, place: int = 0) -> Formula:
        return self.library.negation(
            self.library.any_of(self.unrolling.at(key, place) for key in self.prepared.encoding.keys_of(name))
        )

    def _carried(self, goal: str, lemmas: tuple[str, ...]) -> int | str:
        """Finds out what a property needs to hold at first and to be kept by every outcome: the least k with which it
        is, or why it is not."""
        if not self._begins(goal, 0):
            return "does not hold in every initial state"
        for length in range(1, DEPTH + 1):
            before = dict(self.needed), dict(self.lemmas)
            if self._inductive(goal, length, lemmas):
                broken = next((place for place in range(1, length) if not self._begins(goal, place)), None)
                return length if broken is None else f"is violated after {broken} step{'s' * (broken > 1)}"
            self.needed, self.lemmas = before
        return f"is not inductive, up to k = {DEPTH}"

    def _begins(self, goal: str, length: int) -> bool:
        """Whether a property holds after so many steps from the start; what it needs for that is noted."""
        solver, true = self.library.solver(), self.library.all_of(())
        # Initial states are encoded with all conditions in force or none; they do not decide which are.
        forces = [(constant, true) for _, constant, _ in self._forces.values()]
        start = self.library.replaced(self.unrolling.at(INIT, 0), forces)
        solver.add(start, self.library.negation(self._held(goal, length)))
        for place in range(length):
            solver.add(*self.unrolling.step(place))
        return self._refuted(solver, (), 0)

    def _inductive(self, goal: str, length: int, lemmas: tuple[str, ...]) -> bool:
        """Whether every outcome after so many states keeps a property."""
        encoding = self.prepared.encoding
        for number, outcome in enumerate(encoding.behaviour.steps):
            written = {slot for slot, _ in outcome.updates}
            keys = [key for key in encoding.keys_of(goal) if written & encoding.reads[key]]
            if keys and not self._kept(goal, number, keys, length, lemmas):
                return False
        return True

    def _kept(self, goal: str, number: int, keys: list[str], length: int, lemmas: tuple[str, ...]) -> bool:
        """Whether an outcome keeps a property of the states before it; what it needs for that is noted."""
        solver, last = self.library.solver(), length - 1
        solver.add(self.unrolling.at(DOMAIN, 0), self.unrolling.can(number, last))
        for place in range(length):
            solver.add(self._held(goal, place))
            solver.add(*(self.unrolling.differ(earlier, place) for earlier in range(place)))
        for place in range(last):
            solver.add(*self.unrolling.step(place))
        solver.add(self.library.any_of(self.unrolling.after(key, number, last) for key in keys))
        return self._refuted(solver, lemmas, length)

    def _refuted(self, solver: Solver, lemmas: tuple[str, ...], length: int) -> bool:
        """Whether there is no model where conditions are in force and lemmas hold in so many states; what is needed for
        that is noted."""
        library = self.library
        free: dict[str, tuple[Formula, str]] = {}
        for name, (variable, constant, _) in self._forces.items():
            if variable in self.needed:
                solver.add(constant)
            else:
                free[name] = constant, variable
        for lemma in lemmas:
            held = library.all_of(self._held(lemma, place) for place in range(length))
            if lemma in self.lemmas:
                solver.add(held)
                continue
            uses = library.constant(f"uses {lemma}", "Bool")
            solver.add(library.implies(uses, held))
            free[library.name_of(uses)] = uses, lemma
        core = solver.refuted(constant for constant, _ in free.values())
        if core is None:
            return False
        for name in minimal_core(core, lambda names: solver.refuted(free[one][0] for one in names)):
            if name in self._forces:
                variable, _, part = self._forces[name]
                self.needed[variable] = part
            else:
                self.lemmas[free[name][1]] = None
        return True
