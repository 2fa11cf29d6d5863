"""What a value of the model is made of in logic: in the state each part of a variable is a function or relation of the
keys that lead to it, a *leaf*.

| type                              | leaves                                               |
|-----------------------------------|------------------------------------------------------|
| scalar                            | one, of its sort                                     |
| optional node or identity         | a relation that holds of the one value there is      |
| other optional                    | `?`, whether there is a value, and those of the value |
| set, bag (without how often)      | a relation that holds of its elements                |
| map                               | those of its values, with the key as argument        |
| record                            | those of its fields                                  |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from msgspec import Struct

from hacheck.checker.parametric.encoding_context import Unsupported, World
from hacheck.checker.parametric.first_order_logic import BOOL, Apply, Term
from hacheck.model.types import Bag, Bool, Enum, Identity, Map, Node, Option, Range, Record, Sequence, Set, Type


class Leaf(Struct, frozen=True):
    """A part of a value: how its name goes on after that of the whole, the sorts of the keys that lead to it, its
    sort."""

    suffix: str
    arguments: tuple[str, ...]
    sort: str


def related(world: World, kind: Type) -> bool:
    """Whether an optional value of this type is a relation in the state."""
    return isinstance(kind, Node | Identity) and not world.signature.sorts[world.signature.sort(kind)].members


def single(world: World, kind: Type) -> Term | None:
    """The only value of a type, if there is only one: no leaf has it as a key."""
    members = world.signature.sorts[world.signature.sort(kind)].members if isinstance(kind, Node | Enum) else ()
    return Apply(members[0], (), world.signature.sort(kind)) if len(members) == 1 else None


def leaves(world: World, kind: Type, suffix: str = "", keys: tuple[str, ...] = ()) -> Iterator[Leaf]:
    """The parts of a value of a type. Errors: `Unsupported`."""
    sort = world.signature.sort
    match kind:
        case Bool() | Range() | Enum() | Node() | Identity():
            yield Leaf(suffix, keys, sort(kind))
        case Option(element) if related(world, element):
            yield Leaf(suffix, (*keys, sort(element)), BOOL)
        case Option(element):
            yield Leaf(f"{suffix}?", keys, BOOL)
            yield from leaves(world, element, suffix, keys)
        case Set(Option(element)):
            yield Leaf(f"{suffix}.none", keys, BOOL)
            yield Leaf(suffix, (*keys, sort(element)), BOOL)
        case Set(element):
            yield Leaf(suffix, (*keys, sort(element)), BOOL)
        case Bag(element, _):
            yield Leaf(suffix, (*keys, *(one.sort for one in flat(world, element))), BOOL)
        case Map(Option(), _):
            raise Unsupported("a map with optional keys")
        case Map(key, value):
            more = () if single(world, key) is not None else (sort(key),)
            yield from leaves(world, value, suffix, (*keys, *more))
        case Record(_, fields):
            for name, part in fields:
                yield from leaves(world, part, f"{suffix}.{name}", keys)
        case Sequence():
            raise Unsupported("a sequence")
        case _:
            assert_never(kind)


def flat(world: World, element: Type) -> tuple[Leaf, ...]:
    found = tuple(leaves(world, element))
    if any(one.arguments for one in found) or any(one.suffix.endswith("?") for one in found):
        raise Unsupported("a bag of what is no record of scalars")
    return found
