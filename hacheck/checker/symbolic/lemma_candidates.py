"""Claims that some facts never hold together: their text, and what they say of all symmetric members.

A claim is found about members by id, stated for every choice of as many different members, and true of the states at
hand; nothing more is known of it. As text it is `no a: Replica, b: Replica where a != b and …`, which means the same in
a spec.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, permutations, product

from msgspec import Struct

from hacheck.checker.symbolic.lemma_facts import Fact, normal
from hacheck.model import ir
from hacheck.model.render_expression import show_expression
from hacheck.model.rewrite import rebuild, walk
from hacheck.model.spec_conditions import free_names, spec_form
from hacheck.model.types import Node, Type

Literal = tuple[int, bool]
"""A fact by its index, and whether it is that it holds, or that it does not."""

Cube = tuple[Literal, ...]
"""Facts that never hold together, in ascending order."""


class Claim(Struct, frozen=True):
    """That facts never hold together, whichever members of the kinds are taken. `cubes`: it of each choice of
    members, `cube` of one; `weight`: how far-fetched it is."""

    cubes: tuple[Cube, ...]
    cube: Cube
    weight: int


class ClaimPrinter:
    """Makes claims about a system's facts."""

    def __init__(self, system: ir.System, facts: tuple[Fact, ...]) -> None:
        self.system, self.facts = system, facts
        self._index = {fact.condition: number for number, fact in enumerate(facts)}
        self._members = [frozenset(_members(fact.condition)) for fact in facts]
        self._moved: dict[tuple[int, frozenset[tuple[ir.Constant, int]]], int | None] = {}

    def claim(self, cube: Cube) -> Claim | None:
        """The claim about any members, of which the cube is one case; `None` if some case is about no fact."""
        members = sorted(frozenset().union(*(self._members[fact] for fact, _ in cube)), key=_order)
        cubes = []
        for mapping in _choices(members):
            moved = self._cube(cube, mapping)
            if moved is None:
                return None
            cubes.append(moved)
        return Claim(tuple(dict.fromkeys(cubes)), cube, self.far(cube))

    def far(self, cube: Cube) -> int:
        """How far-fetched a claim is that these never hold together."""
        members = frozenset().union(*(self._members[fact] for fact, _ in cube))
        return sum(2 * self.facts[fact].weight + 2 + (not holds) for fact, holds in cube) + 2 * len(members)

    def _cube(self, cube: Cube, mapping: Mapping[ir.Constant, int]) -> Cube | None:
        moved = [(self._exchanged(fact, mapping), holds) for fact, holds in cube]
        return (
            tuple(sorted((fact, holds) for fact, holds in moved if fact is not None))
            if all(fact is not None for fact, _ in moved)
            else None
        )

    def _exchanged(self, fact: int, mapping: Mapping[ir.Constant, int]) -> int | None:
        own = frozenset((one, new) for one, new in mapping.items() if one in self._members[fact])
        if (fact, own) not in self._moved:
            names = {one: ir.Constant(new, one.type) for one, new in own}
            self._moved[fact, own] = self._index.get(normal(_replaced(self.facts[fact].condition, names)))
        return self._moved[fact, own]

    def condition(self, claim: Claim) -> tuple[ir.Expression, str | None]:
        """The claim as a condition on states, and as text of a spec, if the language has words for all of it."""
        cube = claim.cube
        # Those of a kind with one member, too: how many there are may be a setting, and no other choice could name it.
        conditions = [self.facts[fact].condition for fact, _ in cube]
        members = sorted({one for condition in conditions for one in _members(condition, 1)}, key=_order)
        names = free_names(self.system)
        locals_ = {one: ir.Local(next(names), one.type) for one in members}
        apart: list[ir.Expression] = [
            ir.Binary("!=", locals_[one], locals_[other])
            for one, other in combinations(members, 2)
            if one.type == other.type
        ]
        said: list[ir.Expression] = []
        for fact, holds in sorted(cube, key=lambda one: (not one[1], one[0])):
            condition = _replaced(self.facts[fact].condition, locals_)
            said.append(condition if holds else _denied(condition))
        goal: ir.Expression = ir.Unary("not", _all((*apart, *said)))
        for one in reversed(locals_.values()):
            assert isinstance(one.type, Node), "members of kinds"
            goal = ir.Quantified("every", one.name, ir.Domain(one.type, None, None), goal)
        forms = [spec_form(self.system, one) for one in (*apart, *said)]
        whole = [one for one in forms if one is not None]
        if len(whole) < len(forms):
            return goal, None
        words = show_expression(_all(tuple(whole)))
        if not members:
            return goal, f"not ({words})"
        binders = ", ".join(f"{one.name}: {_kind(one.type)}" for one in locals_.values())
        return goal, f"no {binders} where {words}"


def _kind(kind: Type) -> str:
    assert isinstance(kind, Node), "a kind of nodes"
    return kind.name


def _members(condition: ir.Expression, size_min: int = 2) -> Iterator[ir.Constant]:
    """The members that a fact names of kinds with so many or more."""
    for part in walk(condition):
        if isinstance(part, ir.Constant) and isinstance(part.type, Node) and part.type.size >= size_min:
            yield part


def _order(member: ir.Constant) -> tuple[str, int]:
    assert isinstance(member.type, Node), "a kind of nodes"
    return member.type.name, member.value


def _choices(members: list[ir.Constant]) -> Iterator[dict[ir.Constant, int]]:
    """Other members for these, the same for the same, different for different ones."""
    kinds = dict.fromkeys(one.type for one in members)
    choices = []
    for kind in kinds:
        assert isinstance(kind, Node), "a kind of nodes"
        own = [one for one in members if one.type == kind]
        choices.append(
            [dict(zip(own, chosen, strict=True)) for chosen in permutations(range(1, kind.size + 1), len(own))]
        )
    for chosen in product(*choices):
        yield {one: new for part in chosen for one, new in part.items()}


def _replaced(condition: ir.Expression, names: Mapping[ir.Constant, ir.Expression]) -> ir.Expression:
    def change(part: object) -> object:
        if isinstance(part, ir.Constant):
            return names.get(part, part) if isinstance(part.type, Node) else part
        return rebuild(part, change)

    return change(condition)  # type: ignore[return-value]


def _denied(condition: ir.Expression) -> ir.Expression:
    match condition:
        case ir.Binary("==", left, right):
            return ir.Binary("!=", left, right)
        case _:
            return ir.Unary("not", condition)


def _all(conditions: tuple[ir.Expression, ...]) -> ir.Expression:
    parts: dict[ir.Expression, None] = {}
    for one in conditions:
        for part in _conjuncts(one):
            parts.setdefault(part)
    whole, *rest = parts
    for one in rest:
        whole = ir.Binary("and", whole, one)
    return whole


def _conjuncts(condition: ir.Expression) -> Iterator[ir.Expression]:
    if isinstance(condition, ir.Binary) and condition.operator == "and":
        yield from _conjuncts(condition.left)
        yield from _conjuncts(condition.right)
    else:
        yield condition
