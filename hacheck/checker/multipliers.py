"""What makes a state space large: how many values each variable takes in a sample of the states found.

States are about as many as the product of what their parts take independently, so the part with the most values in the
most places multiplies them most. A sample shows at least how many values there are, not how many there will be.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from msgspec import Struct

from hacheck.compile.lowering.layout import Group, Layout, Place, slots_of
from hacheck.model.ir import Role, System
from hacheck.model.types import Map

SAMPLE = 2_000
"""How many states are looked at."""


class Multiplier(Struct, frozen=True):
    """One variable: `values` it takes at least in one place (a node, a link), in how many `places` it does so, and the
    bits that all of them hold."""

    variable: str
    role: Role
    values: int
    places: int
    bits: float


def multipliers(system: System, layout: Layout, states: Iterable[int]) -> tuple[Multiplier, ...]:
    """The variables that take more than one value in these packed states, those first that multiply most."""
    found: list[Multiplier] = []
    sample = list(states)
    for variable, place in zip(system.variables, layout.places, strict=True):
        if variable.role == "distance":
            continue
        values: set[tuple[int, ...]] = set()
        places, bits = 0, 0.0
        for part in _parts(place):
            slots = [layout.slots[number] for number in slots_of(part)]
            cells = [(slot.offset, (1 << slot.width) - 1) for slot in slots if slot.fixed is None]
            seen = {tuple(state >> offset & mask for offset, mask in cells) for state in sample} if cells else set()
            if len(seen) > 1:
                values |= seen
                places += 1
                bits += math.log2(len(seen))
        if places:
            found.append(Multiplier(variable.name, variable.role, len(values), places, bits))
    return tuple(sorted(found, key=lambda one: (-one.bits, one.variable)))


def _parts(place: Place) -> Iterator[Place]:
    """The places of one variable: one for each key of its maps."""
    if isinstance(place, Group) and isinstance(place.type, Map):
        for item in place.items:
            yield from _parts(item)
    else:
        yield place
