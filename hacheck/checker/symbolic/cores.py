"""Why a property holds: which conditions of steps and which lemmas its proof by induction rests on.

Each outcome's proof obligation is asked with every condition and every lemma as an assumption; those in the core of
the answer are tried one by one, and what can go, goes. What is left over all outcomes suffices: everything else may be
put out of force, all at once, and the property still holds at every depth.
"""

from __future__ import annotations

from collections.abc import Mapping

from hacheck.checker.engine import Limits, Report
from hacheck.checker.explicit.findings import GaveUp
from hacheck.checker.explicit.stopwatch import Stopwatch
from hacheck.checker.symbolic.encoding import DOMAIN, INIT
from hacheck.checker.symbolic.preparing import Prepared, prepared_from
from hacheck.checker.symbolic.weakening import Part, weakened
from hacheck.checker.symbolic.z3_library import Attendant, Formula, Library, fewest
from hacheck.model.data import dataclass, replace
from hacheck.model.ir import System
from hacheck.model.lowering.layout import Cell
from hacheck.model.semantics import EvaluationFault, Interpreter


@dataclass(frozen=True, slots=True)
class Reasons:
    """What a proof of a property rests on, and what it does without. `lemmas`: those it uses, by name. `unasked`: the
    actions in which some conditions always stay in force. `failed`: why there is no proof; then nothing else is
    said."""

    name: str
    needed: tuple[Part, ...] = ()
    spare: tuple[Part, ...] = ()
    lemmas: tuple[str, ...] = ()
    unasked: tuple[str, ...] = ()
    failed: str | None = None


def reasons(system: System, name: str, limits: Limits, report: Report) -> Reasons:
    """What the proof of one invariant by simple induction rests on. Errors: `Refused` without Z3."""
    watch = Stopwatch(limits, report)
    try:
        library = Library(Attendant(limits, report, watch.started))
        initial = watch.attended("lowering", Interpreter(system).initial_states)
        weak, parts, unasked = weakened(system)
        names = (name, *(one.name for one in system.properties if one.kind == "lemma" and one.name != name))
        # The constants that put conditions in force are known to be either.
        both = tuple(state + (force,) * len(parts) for force in (True, False) for state in initial)
        prepared = prepared_from(weak, names, both, library, watch)
        return replace(Core(prepared, parts).reasons(name, names[1:]), unasked=unasked)
    except EvaluationFault as fault:
        return Reasons(name, failed=f"an error of the spec {fault.message}")
    except GaveUp as given_up:
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
        waiting, done = [name], set[str]()
        while waiting:
            goal = waiting.pop()
            done.add(goal)
            failed = self._carried(goal, lemmas)
            if failed is not None:
                about = "it" if goal == name else f"the lemma {goal}, which it uses,"
                return Reasons(name, failed=f"{about} {failed}")
            waiting += [lemma for lemma in self.lemmas if lemma not in done and lemma not in waiting]
        needed = tuple(part for part in self.parts if part.variable in self.needed)
        spare = tuple(part for part in self.parts if part.variable not in self.needed)
        return Reasons(name, needed, spare, tuple(self.lemmas))

    def _held(self, name: str) -> Formula:
        return self.library.negation(
            self.library.any_of(self.unrolling.at(key, 0) for key in self.prepared.encoding.keys_of(name))
        )

    def _carried(self, goal: str, lemmas: tuple[str, ...]) -> str | None:
        """Finds out what a property needs to hold at first and to be kept by every outcome; why it is not."""
        start = self.library.solver()
        start.add(self.unrolling.at(INIT, 0), self.library.negation(self._held(goal)))
        if start.model() is not None:
            return "does not hold in every initial state"
        encoding = self.prepared.encoding
        for number, outcome in enumerate(encoding.behaviour.steps):
            written = {slot for slot, _ in outcome.updates}
            keys = [key for key in encoding.keys_of(goal) if written & encoding.reads[key]]
            if keys and not self._kept(goal, number, keys, lemmas):
                return "is not inductive"
        return None

    def _kept(self, goal: str, number: int, keys: list[str], lemmas: tuple[str, ...]) -> bool:
        """Whether an outcome keeps a property; what it needs for that is noted."""
        solver, library = self.library.solver(), self.library
        solver.add(self.unrolling.at(DOMAIN, 0), self.unrolling.can(number, 0), self._held(goal))
        solver.add(library.any_of(self.unrolling.after(key, number, 0) for key in keys))
        free: dict[str, tuple[Formula, str]] = {}
        for name, (variable, constant, _) in self._forces.items():
            if variable in self.needed:
                solver.add(constant)
            else:
                free[name] = constant, variable
        for lemma in lemmas:
            if lemma in self.lemmas:
                solver.add(self._held(lemma))
                continue
            uses = library.constant(f"uses {lemma}", "Bool")
            solver.add(library.implies(uses, self._held(lemma)))
            free[library.name_of(uses)] = uses, lemma
        core = solver.refuted(constant for constant, _ in free.values())
        if core is None:
            return False
        for name in fewest(core, lambda names: solver.refuted(free[one][0] for one in names)):
            if name in self._forces:
                variable, _, part = self._forces[name]
                self.needed[variable] = part
            else:
                self.lemmas[free[name][1]] = None
        return True
