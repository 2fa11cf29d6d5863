"""A breadth-first search over the states of the direct interpreter, which shares nothing with the engines."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from hacheck.model.direct import BoundReached, DirectSystem, SpecificationError, State
from hacheck.model.direct.interfaces import SpecificationFailure

INFINITE = ("eventually", "leads_to")


@dataclass
class Explored:
    """What was found. `decided`: after how many steps a property was violated, or what is asked for was reached."""

    states: int = 0
    complete: bool = True
    decided: dict[str, int] = field(default_factory=dict)
    bounds: Counter[str] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)
    errors: list[tuple[int, str]] = field(default_factory=list)

    def verdict(self, name: str, kind: str) -> str:
        """`holds` or `violated`, as the reference has it; a `reachable` that is not reached is `violated`."""
        return "holds" if (name in self.decided) == (kind == "reachable") else "violated"


def explore(system: DirectSystem, states_max: int) -> Explored:
    """Every state, level by level; at most so many."""
    found = Explored()
    kinds = {name: kind for name, kind in system.properties().items() if kind not in INFINITE}
    level: list[State] = []
    seen: set[State] = set()
    for step in system.initial():
        _arrive(system, step.name, step.outcome, 0, kinds, found, level, seen)
    depth = 0
    while level and found.complete:
        following: list[State] = []
        for state in level:
            if len(seen) > states_max:
                found.complete = False
                break
            changes = False
            for step in system.successors(state):
                same = step.outcome == state
                changes = changes or (not step.fault and not same)
                found.steps[step.name] += 1
                if isinstance(step.outcome, State) and not same:
                    _look_at_step(system, state, step.outcome, depth + 1, kinds, found)
                _arrive(system, step.name, step.outcome, depth + 1, kinds, found, following, seen)
            _look_at_deadlock(system, state, changes, depth, kinds, found)
        level, depth = following, depth + 1
    found.states = len(seen)
    return found


def _arrive(
    system: DirectSystem,
    name: str,
    outcome: object,
    depth: int,
    kinds: dict[str, str],
    found: Explored,
    level: list[State],
    seen: set[State],
) -> None:
    match outcome:
        case BoundReached(bound):
            found.bounds[bound] += 1
        case SpecificationError(text):
            found.errors.append((depth, f"{name}: {text}"))
        case State() if outcome not in seen:
            seen.add(outcome)
            level.append(outcome)
            for asked, kind in kinds.items():
                if kind in ("invariant", "lemma", "reachable") and asked not in found.decided:
                    try:
                        if system.holds(asked, outcome) == (kind == "reachable"):
                            found.decided[asked] = depth
                    except SpecificationFailure as failure:
                        found.errors.append((depth, f"{asked}: {failure}"))


def _look_at_step(
    system: DirectSystem, before: State, after: State, depth: int, kinds: dict[str, str], found: Explored
) -> None:
    for asked, kind in kinds.items():
        if kind == "step_invariant" and asked not in found.decided and not system.holds_of_step(asked, before, after):
            found.decided[asked] = depth


def _look_at_deadlock(
    system: DirectSystem, state: State, changes: bool, depth: int, kinds: dict[str, str], found: Explored
) -> None:
    for asked, kind in kinds.items():
        stuck = kind == "deadlock_free" and asked not in found.decided and not changes
        if stuck and not system.holds(asked, state):
            found.decided[asked] = depth
