"""Values of the model, encoded in first-order logic: how they are read from leaves, and equality, choice and updates of
values.

A scalar is a term. A composite is represented by the queries that it answers: a set by which elements it contains, a
map by the value at a key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, assert_never

from msgspec import Struct

from hacheck.checker.parametric.encoding_context import NUMBER, Unsupported, World
from hacheck.checker.parametric.first_order_logic import (
    BOOL,
    FALSE,
    TRUE,
    Apply,
    Bound,
    Term,
    Truth,
    choice,
    conjunction,
    disjunction,
    equality,
    forall,
    implication,
    negation,
    sort_of,
    whatever,
)
from hacheck.checker.parametric.size_alignment import OPEN
from hacheck.checker.parametric.value_leaves import Leaf, flat, leaves, related, single
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
    Set,
    Type,
    is_scalar,
)
from hacheck.model.types import (
    Sequence as SequenceType,
)


class Maybe(Struct, frozen=True):
    """An optional value. `plain`: whether there is one is a term and the value can be had, with or without; else it is
    known only by what it equals."""

    present: Callable[[], Term]
    equals: Callable[[SymbolicValue], Term]
    value: Callable[[], SymbolicValue]
    plain: bool


class Collection(Struct, frozen=True):
    """A set, or a bag without how often it holds what."""

    contains: Callable[[SymbolicValue], Term]


class Mapping(Struct, frozen=True):
    at: Callable[[SymbolicValue], SymbolicValue]


class Fields(Struct, frozen=True):
    """A record."""

    items: tuple[tuple[str, SymbolicValue], ...]

    def item(self, name: str) -> SymbolicValue:
        return dict(self.items)[name]


SymbolicValue: TypeAlias = Apply | Bound | Truth | Term | Maybe | Collection | Mapping | Fields


LeafValue: TypeAlias = Callable[[Leaf, tuple[Term, ...]], Term]


def term(value: SymbolicValue) -> Term:
    """A scalar's term."""
    assert not isinstance(value, Maybe | Collection | Mapping | Fields), f"{value} is no scalar"
    return value


def from_leaves(
    world: World, kind: Type, leaf: LeafValue, suffix: str = "", keys: tuple[Term, ...] = ()
) -> SymbolicValue:
    """A value from what its leaves are at given keys."""
    sorts, sort = tuple(sort_of(one) for one in keys), world.signature.sort
    match kind:
        case Bool() | Range() | Enum() | Node() | Identity():
            return leaf(Leaf(suffix, sorts, sort(kind)), keys)
        case Option(element) if related(world, element):
            relation = Leaf(suffix, (*sorts, sort(element)), BOOL)
            return related_value(world, sort(element), lambda value: leaf(relation, (*keys, term(value))))
        case Option(element):
            there = Leaf(f"{suffix}?", sorts, BOOL)
            return maybe(world, element, leaf(there, keys), from_leaves(world, element, leaf, suffix, keys))
        case Set(Option(element)):
            none, some = Leaf(f"{suffix}.none", sorts, BOOL), Leaf(suffix, (*sorts, sort(element)), BOOL)
            return Collection(
                lambda item: _optional_item(item, leaf(none, keys), lambda one: leaf(some, (*keys, term(one))))
            )
        case Set(element):
            contained = Leaf(suffix, (*sorts, sort(element)), BOOL)
            return Collection(lambda item: leaf(contained, (*keys, term(item))))
        case Bag(element, _):
            parts = flat(world, element)
            held = Leaf(suffix, (*sorts, *(one.sort for one in parts)), BOOL)
            return Collection(
                lambda item: leaf(held, (*keys, *(read_leaf(world, element, item, one, ()) for one in parts)))
            )
        case Map(key, value):
            if single(world, key) is not None:
                only = from_leaves(world, value, leaf, suffix, keys)
                return Mapping(lambda _: only)
            return Mapping(lambda at: from_leaves(world, value, leaf, suffix, (*keys, term(at))))
        case Record(_, fields):
            fields_of = ((name, from_leaves(world, part, leaf, f"{suffix}.{name}", keys)) for name, part in fields)
            return Fields(tuple(fields_of))
        case SequenceType():
            raise Unsupported("a sequence")
        case _:
            assert_never(kind)


def _optional_item(item: SymbolicValue, none: Term, some: Callable[[SymbolicValue], Term]) -> Term:
    assert isinstance(item, Maybe), f"{item} is not optional"
    return choice(item.present(), some(item.value()), none)


def maybe(world: World, element: Type, present: Term, value: SymbolicValue) -> Maybe:
    """An optional value of which it is known whether there is one, and which."""
    return Maybe(
        lambda: present,
        lambda other: FALSE if present == FALSE else conjunction(present, equal(world, element, value, other)),
        lambda: value,
        plain=True,
    )


def related_value(world: World, sort: str, equals: Callable[[SymbolicValue], Term]) -> Maybe:
    """An optional value known by what it equals. Where its value is needed, that gets a name."""

    def named() -> SymbolicValue:
        name = world.symbol(sort, "value")
        other = world.variable(sort, "other")
        with world.within((other,)):
            there = equals(other)
        world.define(forall((other,), implication(there, equals(name))))
        return name

    return Maybe(lambda: world.for_some(sort, "one", equals), equals, named, plain=False)


def read_leaf(
    world: World, kind: Type, value: SymbolicValue, leaf: Leaf, keys: Sequence[Term], suffix: str = ""
) -> Term:
    """One part of a value, at given keys."""
    match kind, value:
        case Option(element), Maybe() if related(world, element):
            return value.equals(keys[0])
        case Option(element), Maybe():
            if leaf.suffix == f"{suffix}?":
                return value.present()
            return read_leaf(world, element, value.value(), leaf, keys, suffix)
        case Set(Option(element)), Collection():
            if leaf.suffix == f"{suffix}.none":
                return value.contains(nothing(world, element))
            return value.contains(maybe(world, element, TRUE, keys[0]))
        case Set(), Collection():
            return value.contains(keys[0])
        case Bag(element, _), Collection():
            given = dict(zip((one.suffix for one in flat(world, element)), keys, strict=True))
            return value.contains(from_leaves(world, element, lambda one, _: given[one.suffix]))
        case Map(key, part), Mapping():
            only = single(world, key)
            if only is not None:
                return read_leaf(world, part, value.at(only), leaf, keys, suffix)
            return read_leaf(world, part, value.at(keys[0]), leaf, keys[1:], suffix)
        case Record(_, fields), Fields():
            for name, part in fields:
                inner = f"{suffix}.{name}"
                if any(one.suffix == leaf.suffix for one in leaves(world, part, inner)):
                    return read_leaf(world, part, value.item(name), leaf, keys, inner)
            raise AssertionError(f"{leaf} is no part of {kind}")
        case _:
            return term(value)


def nothing(world: World, element: Type) -> Maybe:
    """No value. The parts of the value it does not have are whatever they like."""
    return maybe(world, element, FALSE, from_leaves(world, element, lambda leaf, _: whatever(leaf.sort)))


# ---- equality and choice -----------------------------------------------------------------------------------------


def equal(world: World, kind: Type, left: SymbolicValue, right: SymbolicValue) -> Term:
    """Whether two values are equal. Of bags: whether they hold the same, however often. Errors: `Unsupported`."""
    match kind, left, right:
        case Option(element), Maybe(), Maybe():
            return _equal_maybes(world, element, left, right)
        case Set(element), Collection(), Collection():
            return every(world, element, lambda item: equality(left.contains(item), right.contains(item)))
        case Bag(), _, _:
            raise Unsupported("bags that are compared")
        case Map(key, value), Mapping(), Mapping():
            return every(
                world,
                key,
                lambda at: implication(bounded(world, key, at), equal(world, value, left.at(at), right.at(at))),
            )
        case Record(_, fields), Fields(), Fields():
            return conjunction(*(equal(world, part, left.item(name), right.item(name)) for name, part in fields))
        case _:
            return equality(term(left), term(right), frozenset(world.signature.distinct))


def _equal_maybes(world: World, element: Type, left: Maybe, right: Maybe) -> Term:
    for one, other in ((left, right), (right, left)):
        if one.plain:
            there = one.present()
            if there == FALSE:
                return negation(other.present())
            if there == TRUE:
                return other.equals(one.value())
    if left.plain and right.plain:
        same = equal(world, element, left.value(), right.value())
        return conjunction(equality(left.present(), right.present()), implication(left.present(), same))
    return every(world, element, lambda item: equality(left.equals(item), right.equals(item)))


def bounded(world: World, kind: Type, item: SymbolicValue) -> Term:
    """Whether the numbers in a value are within the bounds of its type, which no number is in the logic by itself.
    Errors: `Unsupported`."""
    match kind, item:
        case Range(low, high), _:
            if high >= OPEN:
                raise Unsupported("a choice among numbers up to a setting of any value")
            least, most = (world.signature.numeral(one) for one in (low, high))
            return conjunction(world.at_most(NUMBER, least, term(item)), world.at_most(NUMBER, term(item), most))
        case Option(element), Maybe() if has_numbers(element):
            raise Unsupported("a choice among numbers or none")
        case Record(_, fields), Fields():
            return conjunction(*(bounded(world, part, item.item(name)) for name, part in fields))
        case _:
            return TRUE


def has_numbers(kind: Type) -> bool:
    """Whether there are numbers in values of a scalar type."""
    match kind:
        case Range():
            return True
        case Option(element):
            return has_numbers(element)
        case Record(_, fields):
            return any(has_numbers(part) for _, part in fields)
        case _:
            return False


def every(world: World, kind: Type, build: Callable[[SymbolicValue], Term], hint: str = "x") -> Term:
    """A formula for every value of a type, whatever its bounds. Errors: `Unsupported`."""
    return _over(world, kind, build, hint, all_of=True)


def some(world: World, kind: Type, build: Callable[[SymbolicValue], Term], hint: str = "x") -> Term:
    """A formula for some value of a type, whatever its bounds. Errors: `Unsupported`."""
    return _over(world, kind, build, hint, all_of=False)


def _over(world: World, kind: Type, build: Callable[[SymbolicValue], Term], hint: str, *, all_of: bool) -> Term:
    quantify, join = (world.for_all, conjunction) if all_of else (world.for_some, disjunction)
    match kind:
        case Option(element):
            there = _over(world, element, lambda item: build(maybe(world, element, TRUE, item)), hint, all_of=all_of)
            return join(build(nothing(world, element)), there)
        case Record(_, fields):
            return _over_fields(world, fields, (), build, hint, all_of=all_of)
        case _ if is_scalar(kind):
            return quantify(world.signature.sort(kind), hint, build)
        case _:
            raise Unsupported(f"a choice of any {type(kind).__name__.lower()}")


def _over_fields(
    world: World,
    fields: Sequence[tuple[str, Type]],
    chosen: tuple[tuple[str, SymbolicValue], ...],
    build: Callable[[SymbolicValue], Term],
    hint: str,
    *,
    all_of: bool,
) -> Term:
    if len(chosen) == len(fields):
        return build(Fields(chosen))
    name, kind = fields[len(chosen)]

    def go_on(item: SymbolicValue) -> Term:
        return _over_fields(world, fields, (*chosen, (name, item)), build, hint, all_of=all_of)

    return _over(world, kind, go_on, f"{hint}.{name}", all_of=all_of)


def either(world: World, kind: Type, condition: Term, then: SymbolicValue, otherwise: SymbolicValue) -> SymbolicValue:
    """One of two values."""
    if isinstance(condition, Truth):
        return then if condition.value else otherwise
    if then is otherwise:
        return then
    match kind, then, otherwise:
        case Option(element), Maybe(), Maybe():
            if then.plain and otherwise.plain:
                return _either_maybe(world, element, condition, then, otherwise)
            return related_value(
                world,
                world.signature.sort(element),
                lambda item: choice(condition, then.equals(item), otherwise.equals(item)),
            )
        case Set() | Bag(), Collection(), Collection():
            return Collection(lambda item: choice(condition, then.contains(item), otherwise.contains(item)))
        case Map(_, value), Mapping(), Mapping():
            return Mapping(lambda at: either(world, value, condition, then.at(at), otherwise.at(at)))
        case Record(_, fields), Fields(), Fields():
            parts = (
                (name, either(world, part, condition, then.item(name), otherwise.item(name))) for name, part in fields
            )
            return Fields(tuple(parts))
        case _:
            return choice(condition, term(then), term(otherwise))


def _either_maybe(world: World, element: Type, condition: Term, then: Maybe, otherwise: Maybe) -> Maybe:
    there = choice(condition, then.present(), otherwise.present())
    return maybe(world, element, there, either(world, element, condition, then.value(), otherwise.value()))


def updated(
    world: World, kind: Type, old: SymbolicValue, path: Sequence[SymbolicValue | str], new: SymbolicValue
) -> SymbolicValue:
    """A value with the part at a path replaced: keys as symbolic values, and names of fields."""
    if not path:
        return new
    match kind, old:
        case Map(key, value), Mapping():
            at = path[0]
            assert not isinstance(at, str), "a key is no field"
            inner = updated(world, value, old.at(at), path[1:], new)
            return Mapping(lambda other: either(world, value, equal(world, key, other, at), inner, old.at(other)))
        case Record(_, fields), Fields():
            return Fields(
                tuple(
                    (name, updated(world, part, old.item(name), path[1:], new) if name == path[0] else old.item(name))
                    for name, part in fields
                )
            )
        case _:
            raise Unsupported("a position of a sequence")
