"""Runs that end in a loop, or stay where they are: what violates `eventually` and `leads_to`.

A run of K steps is a lasso where its last state is an earlier one again; what lies between repeats for ever. Where the
last state itself is meant, the run stays there. It violates a property if the goal is not met on it, of `leads_to` from
a state on where the premise holds, and if it is fair (`hacheck.checker.explicit.fairness` says what that is): each weak
constraint is disabled somewhere in the loop or taken in it, each strong one disabled everywhere or taken.

**Source**: Biere, Cimatti, Clarke, Zhu: Symbolic Model Checking without BDDs, TACAS 1999.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from hacheck.checker.explicit.fairness import constraints_of
from hacheck.checker.explicit.search_result import Lasso, LivenessVerdict, StatePath, Valueless
from hacheck.checker.symbolic.action_outcomes import Behaviour
from hacheck.checker.symbolic.unrolling import Unrolling
from hacheck.checker.symbolic.z3_library import Formula, Model, Solver
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.system import lower_condition
from hacheck.model.ir import Expression, Property

LIVE = ("eventually", "leads_to")
BOUND = ".cut"
"""The name of the formula that a bound forbids some step."""

Constraint = tuple[int, ...]
"""The instances that take it; no two constraints of one property have one in common, those of two properties may."""


class Live(Struct, frozen=True):
    """A property of infinite runs, and the constraints to which its runs are fair."""

    prop: Property
    weak: tuple[Constraint, ...]
    strong: tuple[Constraint, ...]

    @property
    def expressions(self) -> Iterator[tuple[str, Expression]]:
        """What it is made of, the goal first, by the name of the formula that says where that has no value."""
        for word, expression in (("goal", self.prop.goal), ("premise", self.prop.premise)):
            if expression is not None:
                yield f".valueless {word} {self.prop.name}", expression


def live_of(behaviour: Behaviour, properties: Sequence[Property]) -> Iterator[Live]:
    """Those of the properties that are about infinite runs."""
    lowered = behaviour.lowered
    instances = [(instance.action, instance.arguments) for instance in lowered.instances]
    for one in properties:
        if one.kind in LIVE:
            constraints = constraints_of(lowered.system, instances, one.fairness)
            found: tuple[list[Constraint], list[Constraint]] = [], []
            for place in range(constraints.count):
                taking = tuple(number for number, bits in enumerate(constraints.taken_by) if bits >> place & 1)
                found[constraints.strong >> place & 1].append(taking)
            yield Live(one, tuple(found[0]), tuple(found[1]))


def conditions(behaviour: Behaviour, properties: Sequence[Property]) -> Mapping[str, Node]:
    """What has to be known of states to find lassos, by the names of formulas: where a goal is not met, where a premise
    holds and where they have no value; which constraints are enabled (also by what ends in no step); what reaches a
    bound."""
    lowered, graph = behaviour.lowered, behaviour.lowered.graph
    found: dict[str, Node] = {}
    for one in live_of(behaviour, properties):
        for is_goal, (name, expression) in zip((True, False), one.expressions, strict=False):
            condition = lower_condition(lowered, expression)
            has_value = graph.not_(condition.error)
            sought = graph.not_(condition.value) if is_goal else condition.value
            found[_unmet(one) if is_goal else _begins(one)] = graph.and_(has_value, sought)
            if condition.error is not graph.zero:
                found[name] = condition.error
        for constraint in (*one.weak, *one.strong):
            takes = (outcome.condition for outcome in behaviour.outcomes if outcome.instance in constraint)
            found[_enabled(constraint)] = graph.any_of(takes)
    bounds_reached = [outcome.condition for outcome in behaviour.outcomes if outcome.ended == "bound"]
    if found and bounds_reached:
        found[BOUND] = graph.any_of(bounds_reached)
    return found


def _unmet(one: Live) -> str:
    return f".unmet {one.prop.name}"


def _begins(one: Live) -> str:
    return f".begins {one.prop.name}"


def _enabled(constraint: Constraint) -> str:
    return f".enabled {' '.join(map(str, constraint))}"


class Lassos:
    """The search for lassos, one length after the other. `open`: the properties that are looked for, by name. `found`:
    what was found. `beyond`: those of which a run may pass a bound before its goal."""

    def __init__(self, unrolling: Unrolling, solver: Solver, properties: Sequence[Property]) -> None:
        self.unrolling, self.library, self.solver = unrolling, unrolling.library, solver
        self.behaviour = unrolling.encoding.behaviour
        self.open = {one.prop.name: one for one in live_of(self.behaviour, properties)}
        self.found: dict[str, LivenessVerdict] = {}
        self.beyond: set[str] = set()
        self._waits: dict[str, Formula] = {}
        self._loops: dict[str, list[Formula]] = {}
        self._expressions: dict[str, tuple[str, Expression]] = {}

    def wanted(self, length: int) -> dict[str, Formula]:
        """What is looked for at the end of runs of this length, which is the next one, by key."""
        found: dict[str, Formula] = {}
        if not self.open:
            return found
        parts = _Parts(self, length)
        for name, one in self.open.items():
            self._waits[name] = self._waiting(one, length)
            for key, expression in one.expressions:
                if key in self.unrolling.formulas:
                    found[key] = self.unrolling.at(key, length)
                    self._expressions[key] = name, expression
            self._loops[name] = parts.loops(one)
            found[f".lasso {name}"] = self.library.all_of((self._waits[name], self.library.any_of(self._loops[name])))
            if BOUND in self.unrolling.formulas and name not in self.beyond:
                at_bound = self.unrolling.at(BOUND, length)
                found[f".beyond {name}"] = self.library.all_of((self._waits[name], at_bound))
        return found

    def _waiting(self, one: Live, length: int) -> Formula:
        """That a run of a length waits for the goal at its end."""
        unmet, before = self.unrolling.at(_unmet(one), length), self._waits.get(one.prop.name)
        if one.prop.kind == "eventually":
            return unmet if before is None else self.library.all_of((before, unmet))
        begins = self.unrolling.at(_begins(one), length)
        waits = begins if before is None else self.library.any_of((before, begins))
        return self.library.all_of((waits, unmet))

    def note(self, key: str, model: Model, path: StatePath) -> bool:
        """Keeps what was found under a key, with the run in the model; whether it is one of `wanted`."""
        if key in self._expressions:
            name, expression = self._expressions[key]
            self._close(name, Valueless(path, expression))
            return True
        word, _, name = key.partition(" ")
        if word == ".beyond":
            self.beyond.add(name)
        elif word == ".lasso":
            loop = next((place for place, one in enumerate(self._loops[name]) if model.holds(one)), None)
            assert loop is not None, "a lasso has a loop"
            self._close(name, Lasso(path, loop))
        return word in (".beyond", ".lasso")

    def _close(self, name: str, verdict: LivenessVerdict) -> None:
        if self.open.pop(name, None) is not None:
            self.found[name] = verdict


class _Parts:
    """Of runs of one length: from which states on they may loop. For each place from which on a loop may go, what is
    true of all states and of some step of it is built from the end."""

    def __init__(self, lassos: Lassos, length: int) -> None:
        self.unrolling, self.library, self.length = lassos.unrolling, lassos.library, length
        self.steps = lassos.behaviour.steps
        self._fair: dict[tuple[Constraint, bool], list[Formula]] = {}
        self._same = []
        for place in range(length):
            same = self.library.constant(f"loop from {place} to {length}", "Bool")
            equal = self.library.negation(self.unrolling.differ(place, length))
            lassos.solver.add(self.library.implies(same, equal))
            self._same.append(same)

    def loops(self, one: Live) -> list[Formula]:
        """For each place whether the run is a fair one that repeats for ever what comes after it, the goal unmet."""
        all_of, found = self.library.all_of, []
        unmet = self._all(_unmet(one))
        for place in range(self.length):
            fair = [self._fairly(it, strong=False)[place] for it in one.weak]
            fair += [self._fairly(it, strong=True)[place] for it in one.strong]
            found.append(all_of((self._same[place], unmet[place], *fair)))
        idle = (self._disabled(constraint, self.length) for constraint in (*one.weak, *one.strong))
        return [*found, all_of(idle)]

    def _all(self, name: str) -> list[Formula]:
        """For each place that a formula is true of every state from there on."""
        found = [self.unrolling.at(name, self.length)]
        for place in reversed(range(self.length)):
            found.append(self.library.all_of((self.unrolling.at(name, place), found[-1])))
        return found[::-1]

    def _fairly(self, constraint: Constraint, strong: bool) -> list[Formula]:
        """For each place that the steps from there on treat a constraint fairly when they are repeated."""
        known = self._fair.get((constraint, strong))
        if known is not None:
            return known
        library = self.library
        taken, idle = library.any_of(()), (library.all_of if strong else library.any_of)(())
        found = []
        for place in reversed(range(self.length)):
            takes = self.unrolling.takes(place)
            taking = (take for take, step in zip(takes, self.steps, strict=True) if step.instance in constraint)
            taken = library.any_of((taken, *taking))
            idle = (library.all_of if strong else library.any_of)((self._disabled(constraint, place), idle))
            found.append(library.any_of((taken, idle)))
        self._fair[constraint, strong] = found[::-1]
        return self._fair[constraint, strong]

    def _disabled(self, constraint: Constraint, place: int) -> Formula:
        return self.library.negation(self.unrolling.at(_enabled(constraint), place))
