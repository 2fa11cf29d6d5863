"""What can be said of one state in few words: the facts that lemmas are made of.

A fact is about members of kinds of nodes that it names. It says what a mode, a flag or an optional field is, what is in
a set, how two numbers compare, whether two sets or two optional fields agree. What is behind `none` is compared only
beside the condition that something is there, so a fact always has a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import combinations

from msgspec import Struct

from hacheck.model import ir
from hacheck.model.spec_conditions import holding_lease
from hacheck.model.types import (
    Bag,
    Bool,
    Enum,
    Identity,
    Map,
    Node,
    Option,
    Range,
    Record,
    Sequence,
    Set,
    Type,
    cardinality,
    is_scalar,
    values,
)

FACTS_MAX = 4_000
_LEASE = re.compile(r"lock\.(.+)\.mine")
WEIGHTS = {"field": 1, "shared": 1, "channel": 1, "lock": 1, "view": 2, "status": 2, "frame": 3}
"""How far-fetched a fact about a variable of each role is. What is left out counts nothing that the protocol knows."""
SMALL = 6
"""Sets and numbers with more members than this are not taken apart."""


class Place(Struct, frozen=True):
    """A part of the state: how it is read, and what must hold for it to be there."""

    read: ir.Expression
    type: Type
    there: tuple[ir.Expression, ...]
    weight: int


class Fact(Struct, frozen=True):
    """A condition on states that has a value in each of them."""

    condition: ir.Expression
    weight: int


def facts(system: ir.System) -> tuple[Fact, ...]:
    """The facts of a system, each once, the plainest first."""
    leases = [lock[1] for variable in system.variables if (lock := _LEASE.fullmatch(variable.name))]
    hidden = {f"lock.{lock}.{part}" for lock in leases for part in ("believed", "mine", "until")}
    places = [place for variable in system.variables for place in _of_variable(variable, hidden)]
    found: dict[ir.Expression, Fact] = {}
    for fact in (*_leases(system, leases), *_alone(places), *_compared(places)):
        found.setdefault(fact.condition, fact)
    ordered = sorted(found.values(), key=lambda fact: fact.weight)
    return tuple(ordered[:FACTS_MAX])


def _of_variable(variable: ir.StateVariable, hidden: AbstractSet[str]) -> Iterator[Place]:
    weight = WEIGHTS["frame"] if variable.name in hidden else WEIGHTS.get(variable.role)
    if weight is not None:
        yield from _parts(Place(ir.Variable(variable.name, variable.type), variable.type, (), weight))


def _leases(system: ir.System, leases: Iterable[str]) -> Iterator[Fact]:
    """Who holds a lease, by its own clock: what a spec calls `holds`."""
    for lock in leases:
        holder = next(one.type for one in system.variables if one.name == f"lock.{lock}.believed")
        assert isinstance(holder, Map), "each node believes something"
        for member in values(holder.key):
            yield Fact(holding_lease(system, lock, ir.Constant(member, holder.key)), WEIGHTS["lock"])


def _parts(place: Place) -> Iterator[Place]:
    """The parts that a place is made of, down to what facts are about."""
    read, there, weight = place.read, place.there, place.weight
    match place.type:
        case Map(key, inner):
            for member in values(key):
                yield from _parts(Place(ir.Index(read, ir.Constant(member, key)), inner, there, weight))
        case Record(_, fields):
            for name, kind in fields:
                yield from _parts(Place(ir.Member(read, name), kind, there, weight))
        case Option(element):
            yield place
            if not is_scalar(element) or isinstance(element, Range | Enum | Bool):
                is_there = ir.Binary("!=", read, ir.Constant(None, place.type))
                yield from _parts(Place(ir.Unary("value", read), element, (*there, is_there), weight))
        case _:
            yield place


def _alone(places: list[Place]) -> Iterator[Fact]:
    for place in places:
        for condition, more in _said(place.read, place.type):
            yield _fact(place.there, condition, place.weight + more)


def _said(read: ir.Expression, kind: Type) -> Iterator[tuple[ir.Expression, int]]:
    """What may be said of one part, and how much more far-fetched it is than the part."""
    match kind:
        case Bool():
            yield read, 0
        case Enum(_, members):
            for member in members:
                yield ir.Binary("==", read, ir.Constant(member, kind)), 0
        case Range(low, high) if high - low < SMALL:
            for value in range(low, high + 1):
                yield ir.Binary("==", read, ir.Constant(value, kind)), 4
        case Option(element):
            yield ir.Binary("==", read, ir.Constant(None, kind)), 0
            if isinstance(element, Node):
                for member in values(element):
                    yield ir.Binary("==", read, ir.Unary("some", ir.Constant(member, element))), 0
        case Node():
            for member in values(kind):
                yield ir.Binary("==", read, ir.Constant(member, kind)), 0
        case Set(element):
            yield ir.Binary("==", read, ir.Constant(frozenset(), kind)), 0
            if isinstance(element, Node):
                yield ir.Unary("majority", read), 0
            if cardinality(element) <= SMALL:
                for member in values(element):
                    yield ir.Binary("in", ir.Constant(member, element), read), 0 if isinstance(element, Node) else 1
        case Sequence() | Bag():
            yield ir.Binary("==", ir.Unary("size", read), ir.Constant(0, Range(0, kind.capacity))), 1
        case _:
            return


def _compared(places: list[Place]) -> Iterator[Fact]:
    """Facts about two parts of one type."""
    for one, other in combinations(places, 2):
        if one.type != other.type or set(one.there) & set(other.there):
            continue
        weight = max(one.weight, other.weight)
        there = (*one.there, *other.there)
        match one.type:
            case Range():
                yield _fact(there, equal(one.read, other.read), weight)
                yield _fact(there, ir.Binary("<", one.read, other.read), weight)
                yield _fact(there, ir.Binary("<", other.read, one.read), weight)
            case Option(Identity() | Range()):
                yield _fact(there, equal(one.read, other.read), weight)
            case Identity():
                yield _fact(there, equal(one.read, other.read), weight)
            case Set():
                yield _fact(there, ir.Binary("subset", one.read, other.read), weight)
                yield _fact(there, ir.Binary("subset", other.read, one.read), weight)
                yield _fact(there, equal(one.read, other.read), weight)
            case _:
                pass


def equal(one: ir.Expression, other: ir.Expression) -> ir.Expression:
    """That two parts are equal, in the one order in which facts say so."""
    first, second = sorted((one, other), key=repr)
    return ir.Binary("==", first, second)


def _fact(there: tuple[ir.Expression, ...], condition: ir.Expression, weight: int) -> Fact:
    whole = condition
    for one in sorted(there, key=repr, reverse=True):
        whole = ir.Binary("and", one, whole)
    return Fact(whole, weight)


def normal(condition: ir.Expression) -> ir.Expression:
    """A fact after members were exchanged, in the normal form of facts."""
    premises, rest = [], condition
    while isinstance(rest, ir.Binary) and rest.operator == "and":
        premises.append(rest.left)
        rest = rest.right
    if isinstance(rest, ir.Binary) and rest.operator == "==" and not isinstance(rest.right, ir.Constant | ir.Unary):
        rest = equal(rest.left, rest.right)
    elif isinstance(rest, ir.Binary) and rest.operator == "==" and isinstance(rest.right, ir.Unary):
        rest = rest if rest.right.operator == "some" else equal(rest.left, rest.right)
    return _fact(tuple(premises), rest, 0).condition
