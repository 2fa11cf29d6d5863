"""Which reductions were made, as data and in words: apart from how they are found, which takes longer to load."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from hacheck.model.counters.value_distances import Distances
from hacheck.model.ir import System
from hacheck.model.render import spoken
from hacheck.model.symmetry_types import SymmetryClass, parts_of
from hacheck.model.types import Identity, Node


class Dropped(Struct, frozen=True):
    """A variable that is not needed, or the part of it that is not, and the bits it would take. `whole`: whether no
    part of it is needed."""

    variable: str
    bits: int
    whole: bool

    @property
    def title(self) -> str:
        """What is sliced away, in words."""
        return spoken(self.variable) if self.whole else f"part of {spoken(self.variable)}"


class Unlike(Struct, frozen=True):
    """A kind whose members are taken to differ, and why, in words."""

    kind: str
    reasons: tuple[str, ...]


class Reductions(Struct, frozen=True):
    """What is done to the states of a system. `symmetric`: members that are exchanged freely. `unlike`: why members of
    other kinds are not. `exact`: the states that a state stands for are all reachable if it is, so they can be
    counted. `distances`: the counters whose values are renumbered."""

    symmetric: tuple[SymmetryClass, ...] = ()
    unlike: tuple[Unlike, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    exact: bool = True
    distances: tuple[Distances, ...] = ()

    @property
    def permutes(self) -> bool:
        """Whether states have to be replaced by representatives."""
        return bool(self.symmetric or self.distances)


NONE = Reductions()
NOT_REDUCED = "not by symmetry"
"""How a phrase begins about what is not done."""


def reduction_notes(reductions: Reductions, states: int, stand_for: int | None = None) -> tuple[str, ...]:
    """What was done, and what it saved, one phrase for each thing. `states`: distinct states found; `stand_for`: how
    many of the system they stand for, where that was counted."""
    phrases = []
    nodes = [one for one in reductions.symmetric if not isinstance(one.kind, Identity)]
    if nodes:
        listed = " and ".join(f"{one.kind.name} {_listed(one.members)}" for one in nodes)
        text = f"symmetry: {listed} are interchangeable"
        stand = "state stands" if states == 1 else "states stand"
        phrases.append(text if stand_for is None else f"{text}, {states:,} {stand} for {stand_for:,}")
    pools = [one.kind.name for one in reductions.symmetric if isinstance(one.kind, Identity)]
    if pools:
        listed = " and ".join(f"{name}s" for name in pools)
        phrases.append(f"symmetry: states that differ only in the names of {listed} are one")
    for one in reductions.distances:
        phrases.append(f"{one.counter} is unbounded: of values {one.exact} or more apart only the order counts")
    if reductions.dropped:
        bits = sum(item.bits for item in reductions.dropped)
        names = ", ".join(item.title for item in reductions.dropped)
        phrases.append(f"sliced away: {names} ({bits} bit{'s' * (bits != 1)}), read by no checked property")
    return tuple(phrases)


def unreduced_notes(reductions: Reductions, system: System) -> tuple[str, ...]:
    """Why nodes are explored one by one that a spec declares as symmetric, a phrase for each kind."""
    declared = {one.name for one in system.nodes if not one.ranked}
    return tuple(
        f"{NOT_REDUCED} of {one.kind}s: {one.reasons[0]}{_more(len(one.reasons) - 1)}"
        for one in reductions.unlike
        if one.kind in declared
    )


def _more(count: int) -> str:
    return f", and {count} more reason{'s' * (count != 1)}" if count else ""


def _listed(members: tuple[int, ...]) -> str:
    """`1..3` or `1, 3`."""
    if members == tuple(range(members[0], members[-1] + 1)) and len(members) > 2:
        return f"{members[0]}..{members[-1]}"
    return " and ".join(map(str, members)) if len(members) == 2 else ", ".join(map(str, members))


def reductions_to_json(reductions: Reductions) -> Any:
    """Reductions as JSON has it."""
    symmetric = [[type(one.kind).__name__, one.kind.name, list(one.members)] for one in reductions.symmetric]
    unlike = [[one.kind, list(one.reasons)] for one in reductions.unlike]
    distances = [[one.counter, one.literal, one.exact] for one in reductions.distances]
    return [
        symmetric,
        unlike,
        [[one.variable, one.bits, one.whole] for one in reductions.dropped],
        reductions.exact,
        distances,
    ]


def reductions_from_json(json: Any, system: System) -> Reductions:
    """What `reductions_to_json` wrote. Errors: `KeyError`, `TypeError` and `ValueError` where it is nothing of the
    kind."""
    symmetric, unlike, dropped, exact, distances = json
    kinds: dict[tuple[str, str], Node | Identity] = {("Node", node.name): node for node in system.nodes}
    if any(word == "Identity" for word, _, _ in symmetric):
        for variable in system.variables:
            for part in parts_of(variable.type):
                if isinstance(part, Identity):
                    kinds["Identity", part.name] = part
    return Reductions(
        tuple(SymmetryClass(kinds[word, name], tuple(members)) for word, name, members in symmetric),
        tuple(Unlike(kind, tuple(reasons)) for kind, reasons in unlike),
        tuple(Dropped(str(variable), int(bits), bool(whole)) for variable, bits, whole in dropped),
        bool(exact),
        tuple(Distances(str(counter), int(literal), int(near)) for counter, literal, near in distances),
    )
