"""Fresh identities: names that nothing holds."""

from __future__ import annotations

from collections.abc import Sequence

from hacheck.checker.parametric.encoding_context import World
from hacheck.checker.parametric.first_order_logic import (
    FALSE,
    Apply,
    Term,
    conjunction,
    equality,
    implication,
    negation,
)
from hacheck.checker.parametric.value_encoding import Collection, Fields, Mapping, Maybe, SymbolicValue, every, term
from hacheck.model.symmetry_types import mentions
from hacheck.model.types import Bag, Identity, Map, Option, Record, Set, Type


def fresh(world: World, kind: Identity, held: Sequence[tuple[Type, SymbolicValue]]) -> Apply:
    """An identity that none of these values holds. Of a pool without end there always is one."""
    drawn = world.symbol(world.signature.sort(kind), "fresh")
    if world.loops:  # an earlier turn may have given up what this one draws
        world.note(f"a {kind.name} drawn in a loop may be one that is held")
        return drawn
    for holder, value in held:
        for fact in _not_held(world, kind, holder, value, drawn):
            world.define(fact)
    return drawn


def _not_held(world: World, kind: Identity, holder: Type, value: SymbolicValue, drawn: Apply) -> list[Term]:
    match holder:
        case Identity(name, _):
            return [negation(equality(term(value), drawn))] if name == kind.name else []
        case Option(element):
            if not isinstance(element, Identity):
                assert isinstance(value, Maybe), f"{value} is not optional"
                inner = _not_held(world, kind, element, value.value(), drawn) if value.present() != FALSE else []
                return [implication(value.present(), one) for one in inner]
            assert isinstance(value, Maybe), f"{value} is not optional"
            return [negation(value.equals(drawn))] if element.name == kind.name else []
        case Set(Identity(name, _)) if name == kind.name:
            return [negation(contained(value).contains(drawn))]
        case Map(key, element):
            assert isinstance(value, Mapping), f"{value} is no map"
            return [
                every(world, key, lambda at: conjunction(*_not_held(world, kind, element, value.at(at), drawn)), "key")
            ]
        case Record(_, fields):
            assert isinstance(value, Fields), f"{value} is no record"
            return [fact for name, part in fields for fact in _not_held(world, kind, part, value.item(name), drawn)]
        case Set(element) | Bag(element, _):
            collected = contained(value)

            def absent(item: SymbolicValue) -> Term:
                return implication(collected.contains(item), conjunction(*_not_held(world, kind, element, item, drawn)))

            return [every(world, element, absent)] if mentions(kind, element) else []
        case _:
            return []


def contained(value: SymbolicValue) -> Collection:
    assert isinstance(value, Collection), f"{value} contains nothing"
    return value
