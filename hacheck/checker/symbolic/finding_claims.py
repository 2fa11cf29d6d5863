"""Claims that some facts never hold together: how they are told, and what they are of all members that are alike.

A claim is found about members by id, told of every choice of as many different members, and believed of no more than
the states at hand show. As text it is `no a: Replica, b: Replica where a != b and …`, which a spec may say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import combinations, permutations, product

from hacheck.checker.symbolic.finding_atoms import Fact, normal
from hacheck.model import ir
from hacheck.model.data import dataclass
from hacheck.model.rewrite import rebuild, walk
from hacheck.model.show_expression import show_expression
from hacheck.model.types import Bool, Enum, Map, Node, Option, Record, Set, Type

_MESSAGE = "message."

Literal = tuple[int, bool]
"""A fact by its index, and whether it is that it holds, or that it does not."""

Cube = tuple[Literal, ...]
"""Facts that never hold together, in ascending order."""


@dataclass(frozen=True, slots=True)
class Claim:
    """That facts never hold together, whichever members of the kinds are taken. `cubes`: it of each choice of
    members, `cube` of one; `weight`: how far-fetched it is."""

    cubes: tuple[Cube, ...]
    cube: Cube
    weight: int


class Teller:
    """Makes claims about a system's facts."""

    def __init__(self, system: ir.System, facts: tuple[Fact, ...]) -> None:
        self.system, self.facts = system, facts
        self._index = {fact.condition: number for number, fact in enumerate(facts)}
        self._members = [frozenset(_members(fact.condition)) for fact in facts]
        self._taken = frozenset(_words(system))
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

    def told(self, claim: Claim) -> tuple[ir.Expression, str]:
        """The claim as a condition on states, and in words."""
        cube = claim.cube
        members = sorted(frozenset().union(*(self._members[fact] for fact, _ in cube)), key=_order)
        names = (name for name in _names() if name not in self._taken)
        locals_ = {one: ir.Local(next(names), one.type) for one in members}
        apart: list[ir.Expression] = [
            ir.Binary("!=", locals_[one], locals_[other])
            for one, other in combinations(members, 2)
            if one.type == other.type
        ]
        said: list[ir.Expression] = []
        for fact, holds in sorted(cube, key=lambda one: (not one[1], one[0])):
            told = _replaced(self.facts[fact].condition, locals_)
            said.append(told if holds else _denied(told))
        whole = _all((*apart, *said))
        goal: ir.Expression = ir.Unary("not", whole)
        for one in reversed(locals_.values()):
            assert isinstance(one.type, Node), "members of kinds"
            goal = ir.Quantified("every", one.name, ir.Domain(one.type, None, None), goal)
        words = show_expression(_in_words(self.system, whole))
        if not members:
            return goal, f"not ({words})"
        binders = ", ".join(
            f"{one.name}: {show_expression(ir.Local(_kind(one.type), one.type))}" for one in locals_.values()
        )
        return goal, f"no {binders} where {words}"


def _kind(kind: Type) -> str:
    assert isinstance(kind, Node), "a kind of nodes"
    return kind.name


def _members(condition: ir.Expression) -> Iterator[ir.Constant]:
    """The members of kinds with more than one that a fact names."""
    for part in walk(condition):
        if isinstance(part, ir.Constant) and isinstance(part.type, Node) and part.type.size > 1:
            yield part


def _order(member: ir.Constant) -> tuple[str, int]:
    assert isinstance(member.type, Node), "a kind of nodes"
    return member.type.name, member.value


def _choices(members: list[ir.Constant]) -> Iterator[dict[ir.Constant, int]]:
    """Other members for these, the same for the same, different for different ones."""
    kinds = dict.fromkeys(one.type for one in members)
    ways = []
    for kind in kinds:
        assert isinstance(kind, Node), "a kind of nodes"
        own = [one for one in members if one.type == kind]
        ways.append([dict(zip(own, chosen, strict=True)) for chosen in permutations(range(1, kind.size + 1), len(own))])
    for chosen in product(*ways):
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


def _names() -> Iterator[str]:
    yield from "abcdefghijklmnopqrstuvwxyz"
    number = 1
    while True:
        yield f"n{number}"
        number += 1


def _words(system: ir.System) -> Iterator[str]:
    """Names that a spec has given to something else."""
    for variable in system.variables:
        yield from variable.name.split(".")
        yield from _types(variable.type)
    yield from (name for name, _ in system.settings)


def _types(kind: Type) -> Iterator[str]:
    match kind:
        case Enum(_, members):
            yield from members
        case Option(element) | Set(element):
            yield from _types(element)
        case Map(_, element):
            yield from _types(element)
        case Record(_, fields):
            for name, field in fields:
                yield name
                yield from _types(field)
        case _:
            return


def _in_words(system: ir.System, condition: ir.Expression) -> ir.Expression:
    """The condition with what a spec has another way of saying said in that way: messages under way, links."""
    channels = {variable.name for variable in system.variables if variable.role == "channel"}

    def change(part: object) -> object:
        match part:
            case ir.Index(ir.Index(ir.Variable(name, kind), one), other) if name in channels:
                return ir.Local(f"under_way({name.removeprefix(_MESSAGE)}, {_said(one)}, {_said(other)})", kind)
            case ir.Unary("not", ir.Index(ir.Index(ir.Variable(name, _), one), other)) if name.startswith("cut."):
                return ir.Local(f"connected({_said(one)}, {_said(other)})", Bool())
            case ir.Index(ir.Index(ir.Variable(name, _), one), other) if name.startswith("cut."):
                return ir.Local(f"(not connected({_said(one)}, {_said(other)}))", Bool())
            case ir.Constant(_, Node(size=1) as kind):
                return ir.Local(kind.name, kind)
            case _:
                return rebuild(part, change)

    return change(condition)  # type: ignore[return-value]


def sayable(system: ir.System, text: str) -> bool:
    """Whether a spec has words for a claim that was told: for requests and answers of calls it has none, nor for where
    a handler stands."""
    frames = [variable.name.rpartition(".")[2] for variable in system.variables if variable.role == "frame"]
    hidden = "|".join([r"under_way\(operation\.", *(rf"\.{re.escape(name)}\b" for name in frames)])
    return re.search(hidden, text) is None


def _said(one: ir.Expression) -> str:
    alone = isinstance(one, ir.Constant) and isinstance(one.type, Node) and one.type.size == 1
    return _kind(one.type) if alone and isinstance(one, ir.Constant) else show_expression(one)
