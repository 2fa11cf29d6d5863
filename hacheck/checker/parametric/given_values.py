"""Values that are given: constants of the text, and values of which nothing but their type is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from hacheck.checker.parametric.encoding_context import Unsupported, World
from hacheck.checker.parametric.first_order_logic import (
    TRUE,
    Apply,
    Symbol,
    Term,
    Truth,
    conjunction,
    disjunction,
    equality,
    forall,
    implication,
    sort_of,
)
from hacheck.checker.parametric.value_encoding import (
    Collection,
    Fields,
    Mapping,
    Maybe,
    SymbolicValue,
    either,
    equal,
    every,
    from_leaves,
    maybe,
    nothing,
    term,
)
from hacheck.checker.parametric.value_leaves import Leaf, leaves
from hacheck.model.types import Bag, Bool, Enum, Identity, Map, Node, Option, Range, Record, Set, Type, Value, values
from hacheck.model.types import Sequence as SequenceType


def constant(world: World, kind: Type, value: Value) -> SymbolicValue:
    """A value that the model names. Errors: `Unsupported`."""
    match kind:
        case Bool():
            return Truth(bool(value))
        case Range():
            return world.signature.numeral(value)
        case Enum(name, _):
            return Apply(f"{name}:{value}", (), world.signature.sort(kind))
        case Node():
            return world.signature.node(kind, value)
        case Identity():
            raise Unsupported(f"a {kind.name} named in the text")
        case Option(element):
            return (
                nothing(world, element)
                if value is None
                else maybe(world, element, TRUE, constant(world, element, value))
            )
        case Set(element):
            if isinstance(element, Node) and len(value) > 1 and value == frozenset(values(element)):
                return Collection(lambda _: TRUE)
            items = [constant(world, element, one) for one in sorted(value, key=str)]
            return Collection(lambda item: disjunction(*(equal(world, element, item, one) for one in items)))
        case Bag(element, _):
            held = [constant(world, element, one) for one in value]
            return Collection(lambda item: disjunction(*(equal(world, element, item, one) for one in held)))
        case Map(key, element):
            return _constant_map(world, key, element, value)
        case Record(_, fields):
            pairs = zip(fields, value, strict=True)
            return Fields(tuple((name, constant(world, part, item)) for (name, part), item in pairs))
        case SequenceType():
            raise Unsupported("a sequence")
        case _:
            assert_never(kind)


def _constant_map(world: World, key: Type, element: Type, value: Value) -> SymbolicValue:
    if len(set(value)) == 1:
        same = constant(world, element, value[0])
        return Mapping(lambda _: same)
    if isinstance(key, Node) and key.name in world.signature.open_kinds:
        raise Unsupported(f"a value of its own for each {key.name}")
    pairs = [
        (constant(world, key, at), constant(world, element, one)) for at, one in zip(values(key), value, strict=True)
    ]

    def at(given: SymbolicValue) -> SymbolicValue:
        found = pairs[-1][1]
        for one, item in reversed(pairs[:-1]):
            found = either(world, element, equal(world, key, given, one), item, found)
        return found

    return Mapping(at)


def unknown(world: World, kind: Type, hint: str) -> SymbolicValue:
    """A value of a type of which nothing else is known; numbers are at least the least of their type."""
    made: dict[str, Apply] = {}
    for leaf in leaves(world, kind):
        keys = [world.variable(sort, "key") for sort in leaf.arguments]
        made[leaf.suffix] = world.symbol(leaf.sort, hint + leaf.suffix, keys)
    around = len(world.bound)

    def value(leaf: Leaf, keys: tuple[Term, ...]) -> Term:
        symbol = made[leaf.suffix]
        return Apply(symbol.symbol, (*symbol.arguments[:around], *keys), symbol.sort)

    symbolic = from_leaves(world, kind, value)
    for fact in facts(world, kind, symbolic):
        world.define(fact)
    return symbolic


def chosen_in_turn(
    world: World, kind: Type, hint: str, place: tuple[int, ...], turn: tuple[Term, ...]
) -> SymbolicValue:
    """What a turn of loops chooses at a place of their body: a function of the turn, so that it is one value however
    often the turn is encoded. `turn`: the values of the loops."""
    sorts, name = tuple(sort_of(one) for one in turn), hint.split("$")[0]

    def value_in(of: tuple[Term, ...]) -> SymbolicValue:
        made = world.chosen[place]
        return from_leaves(
            world, kind, lambda leaf, keys: Apply(made[leaf.suffix].name, (*of, *keys), made[leaf.suffix].sort)
        )

    if place not in world.chosen:
        world.chosen[place] = {
            leaf.suffix: world.declared(Symbol(world.name(name + leaf.suffix), (*sorts, *leaf.arguments), leaf.sort))
            for leaf in leaves(world, kind)
        }
        variables = tuple(world.variable(sort, "turn") for sort in sorts)
        with world.within(variables):
            for fact in facts(world, kind, value_in(variables)):
                world.define(fact)
    return value_in(turn)


def facts(world: World, kind: Type, symbolic: SymbolicValue) -> Iterator[Term]:
    """What the type of a value says of it: an optional one is one at most, a number is not below the least."""
    match kind, symbolic:
        case Range(low, _), _:
            yield world.at_most(world.signature.sort(kind), world.signature.numeral(low), term(symbolic))
        case Option(element), Maybe() if not symbolic.plain:
            sort = world.signature.sort(element)
            pair = world.variable(sort, "one"), world.variable(sort, "other")
            with world.within(pair):
                both = conjunction(symbolic.equals(pair[0]), symbolic.equals(pair[1]))
            yield forall(pair, implication(both, equality(*pair)))
        case Option(element), Maybe():
            for fact in facts(world, element, symbolic.value()):
                yield implication(symbolic.present(), fact)
        case Map(key, value), Mapping():
            yield every(world, key, lambda at: conjunction(*facts(world, value, symbolic.at(at))), "key")
        case Record(_, fields), Fields():
            for name, part in fields:
                yield from facts(world, part, symbolic.item(name))
        case _:
            return
