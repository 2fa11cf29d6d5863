"""Fair runs in the explored graph.

A run is infinite: steps, or staying in a state for ever (stuttering), which is no step of anything. A constraint is a
handler on one actor, with one value of each argument for which it is fair.
It is *enabled* in a state where one of its instances has an outcome; a step that meets a bound
of the exploration or is an error of the spec counts, because the system itself would go on. It is *taken* by a step
of one of its instances. A run is fair when each weak constraint is disabled again and again or taken again and again,
and each strong one is disabled from some point on or taken again and again. So a run may stay in a state for ever
only if no fair handler is enabled there.

The states and steps that a run sees again and again are strongly connected. Such a set is fair if for each weak
constraint a state has it disabled or a step inside takes it, and for each strong one no state has it enabled or a
step inside takes it; a single state without steps counts, by stuttering.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hacheck.checker.explicit.search_result import Occurrence
from hacheck.model.ir import Fairness, System


class Constraints(Struct, frozen=True):
    """Bit i stands for constraint i: which are strong, and which each instance takes."""

    count: int
    strong: int
    taken_by: tuple[int, ...]


def constraints_of(system: System, instances: Sequence[Occurrence], fairness: Sequence[Fairness]) -> Constraints:
    """One constraint for each fair handler and actor, and for each value of the arguments for which it is fair, where
    the action has them. A handler named twice is strong if either says so."""
    bits: dict[tuple[str, tuple[object, ...]], int] = {}
    strong = {item.handler for item in fairness if item.strong}
    fair = {item.handler: item.arguments for item in fairness}
    taken_by: list[int] = []
    strong_bits = 0
    for index, arguments in instances:
        action = system.actions[index]
        if action.handler not in fair:
            taken_by.append(0)
            continue
        given = dict(zip((name for name, _ in action.parameters), arguments, strict=True))
        distinguished = (None if action.actor is None else action.actor, *fair[action.handler])
        values = tuple(None if name is None else given.get(name) for name in distinguished)
        bit = bits.setdefault((action.handler, values), 1 << len(bits))
        taken_by.append(bit)
        if action.handler in strong:
            strong_bits |= bit
    return Constraints(len(bits), strong_bits, tuple(taken_by))
