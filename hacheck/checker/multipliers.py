"""What makes a state space large: how many values each variable takes in a sample of the states found.

States are about as many as the product of what their parts take independently, so the part with the most values in the
most places multiplies them most. A sample shows at least how many values there are, not how many there will be.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from hacheck.compile.lowering.layout import Group, Layout, Place, slots_of
from hacheck.model.ir import Role, System
from hacheck.model.types import Map

SAMPLE = 2_000
"""How many states are looked at."""

SHOWN = 4
"""How many variables are named."""


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


def words_of(one: Multiplier) -> str:
    """A variable in the words of the spec, with how many values it takes."""
    values = f"{one.values:,} {'value' if one.values == 1 else 'values'}"
    match one.role:
        case "channel":
            contents = f"{one.values:,} contents"
            links = f" on each of {one.places} links" if one.places > 1 else ""
            return f"message {one.variable.removeprefix('message.')}: {contents}{links}"
        case "budget":
            return f"what is left of {one.variable.removeprefix('budget.')}: {values}"
        case "frame":
            handler = ".".join(one.variable.split(".")[:2])
            where = f" on each of {one.places} nodes" if one.places > 1 else ""
            return f"where {handler} is, and its variables: {values}{where}"
        case _:
            where = f" at each of {one.places} places" if one.places > 1 else ""
            name = one.variable.removeprefix("lock.")
            if name.startswith("cut."):
                name = f"cut {name.removeprefix('cut.').replace('.', ' - ')}"
            return f"{name}: {values}{where}"


def multiplying(found: Sequence[Multiplier]) -> str:
    """The variables that multiply the states most."""
    said: dict[str, str] = {}
    for one in found:
        key = ".".join(one.variable.split(".")[:2]) if one.role == "frame" else one.variable
        said.setdefault(key, words_of(one))
    return "; ".join(list(said.values())[:SHOWN])
