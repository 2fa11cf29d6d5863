"""Both meanings of a spec side by side: from the initial states, breadth first, up to a number of states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hacheck.checker.recheck.interpreter_comparison import Comparison, Difference
from hacheck.model import direct
from hacheck.model.language.specification import Specification
from hacheck.model.runs import State


@dataclass
class Outcome:
    """What a comparison came to. `complete`: whether all states were compared."""

    states: int = 0
    steps: int = 0
    complete: bool = True
    differences: list[Difference] = field(default_factory=list)
    unsupported: str = ""


def comparison(
    specification: Specification, check: str | None = None, settings: Mapping[str, str] | None = None
) -> Comparison:
    """The two meanings of a spec under the settings of a check and some more."""
    instance = specification.instantiate(settings, check)
    assert instance.system is not None, instance.diagnostics
    second = direct.load(specification, settings, check)
    return Comparison(instance.system, instance.kept, specification.declarations, second)


def compared(two: Comparison, states_max: int, differences_max: int = 1) -> Outcome:
    """Compares states breadth first until there are differences."""
    found = Outcome()
    states, differences = two.start()
    found.differences.extend(differences)
    reached, waiting = set(states), list(states)
    while waiting and len(found.differences) < differences_max:
        following: list[State] = []
        for state in waiting:
            one = two.compare(state)
            found.states += 1
            found.steps += one.steps
            found.differences.extend(one.differences)
            if len(found.differences) >= differences_max:
                return found
            for taken in one.successors:
                if taken.step.state not in reached:
                    if len(reached) >= states_max:
                        found.complete = False
                        continue
                    reached.add(taken.step.state)
                    following.append(taken.step.state)
        waiting = following
    return found
