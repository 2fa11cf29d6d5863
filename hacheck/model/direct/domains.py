"""Types as the direct interpreter needs them: their values, their first one, and what may be stored."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hacheck.model.direct.interfaces import BoundFailure, SpecificationFailure, UnsupportedError
from hacheck.model.direct.values import Bag, Braces, Identity, Map, Node, Record, Value
from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t

Kind = Literal[
    "bool", "range", "counter", "enum", "node", "identity", "option", "set", "map", "record", "sequence", "bag"
]


class Domain(Struct, frozen=True):
    """A type whose limits are known.

    `parts`: the types in it, of a record those of its `fields`. `high`: the size of a kind of nodes or of a pool, the
    capacity of a sequence or a bag. `ordered`: whether a loop with steps goes through its values in their order.
    """

    kind: Kind
    name: str = ""
    low: int = 0
    high: int | None = 0
    fields: tuple[str, ...] = ()
    parts: tuple[Domain, ...] = ()
    ordered: bool = True


BOOL = Domain("bool")


def all_of(domain: Domain) -> tuple[Value, ...]:
    """Every value of a type that has few, in order. Errors: `UnsupportedError` for others."""
    match domain.kind:
        case "bool":
            return (False, True)
        case "range" | "counter":
            assert domain.high is not None
            return tuple(range(domain.low, domain.high + 1))
        case "enum":
            return domain.fields
        case "node":
            assert domain.high is not None
            return tuple(Node(domain.name, number) for number in range(1, domain.high + 1))
        case "identity" if domain.high is not None:
            return tuple(Identity(domain.name, number) for number in range(1, domain.high + 1))
        case "option":
            return (None, *all_of(domain.parts[0]))
        case "record":
            products = itertools.product(*(all_of(part) for part in domain.parts))
            return tuple(Record(domain.name, domain.fields, parts, domain.ordered) for parts in products)
        case "set":
            items = all_of(domain.parts[0])
            sizes = range(len(items) + 1)
            return tuple(frozenset(some) for size in sizes for some in itertools.combinations(items, size))
        case "sequence":
            assert domain.high is not None
            items = all_of(domain.parts[0])
            return tuple(one for size in range(domain.high + 1) for one in itertools.product(items, repeat=size))
        case _:
            raise UnsupportedError(f"the values of a {domain.kind} {domain.name} are not listed")


def first_of(domain: Domain) -> Value:
    """The first value of a type: what a field without a value begins with."""
    match domain.kind:
        case "bool":
            return False
        case "range" | "counter":
            return domain.low
        case "enum":
            return domain.fields[0]
        case "node":
            return Node(domain.name, 1)
        case "identity":
            return Identity(domain.name, 1)
        case "option":
            return None
        case "set":
            return frozenset()
        case "map":
            keys = all_of(domain.parts[0])
            return Map(keys, (first_of(domain.parts[1]),) * len(keys))
        case "record":
            return Record(domain.name, domain.fields, tuple(first_of(part) for part in domain.parts), domain.ordered)
        case "sequence":
            return ()
        case "bag":
            return Bag()


def stored(domain: Domain, value: Value, where: str) -> Value:
    """The value as it is stored in a place of this type.

    Errors: `BoundFailure` past the end of a counter or a capacity, `SpecificationFailure` for any other value outside
    the type.
    """
    match domain.kind:
        case "bool" if isinstance(value, bool):
            return value
        case "range" | "counter" if isinstance(value, int) and not isinstance(value, bool):
            assert domain.high is not None
            if domain.kind == "counter" and value > domain.high:
                raise BoundFailure(domain.name or where)
            if domain.low <= value <= domain.high:
                return value
        case "enum" if value in domain.fields:
            return value
        case "node" if isinstance(value, Node) and value.kind == domain.name:
            return value
        case "identity" if isinstance(value, Identity) and value.pool == domain.name:
            return value
        case "option":
            return None if value is None else stored(domain.parts[0], value, where)
        case "set" if isinstance(value, frozenset):
            return frozenset(stored(domain.parts[0], one, where) for one in value)
        case "map" if isinstance(value, Map):
            return Map(value.keys, tuple(stored(domain.parts[1], one, where) for one in value.parts))
        case "record" if isinstance(value, Record) and value.name == domain.name:
            pairs = zip(domain.parts, value.parts, strict=True)
            return value._replace(parts=tuple(stored(of, one, where) for of, one in pairs))
        case "sequence" if is_sequence(value):
            return tuple(_within(domain, value, where))
        case "bag" if isinstance(value, Bag | frozenset):
            items = value.items if isinstance(value, Braces) else value
            return Bag(_within(domain, items, where))
    raise SpecificationFailure(f"{value!r} cannot be stored in {where}")


def begun(domain: Domain, value: Value, where: str) -> Value:
    """The first value of a field as it is written: of a map, it may be that of every key. Errors: as `stored`."""
    if domain.kind == "map" and not isinstance(value, Map):
        keys = all_of(domain.parts[0])
        return Map(keys, (begun(domain.parts[1], value, where),) * len(keys))
    return stored(domain, value, where)


def is_sequence(value: Value) -> bool:
    """Whether a value is a sequence; nodes, identities, records and maps are tuples only by their making."""
    return type(value) is tuple


def _within(domain: Domain, value: Iterable[Value], where: str) -> list[Value]:
    items = [stored(domain.parts[0], one, where) for one in value]
    assert domain.high is not None
    if len(items) > domain.high:
        raise BoundFailure(f"capacity of {where}")
    return items


class Domains:
    """The types that a file declares, under its settings."""

    def __init__(self, declarations: Iterable[d.Declaration], number: Callable[[t.Expression], Value]) -> None:
        self._number = number
        self._declared: dict[str, d.Declaration] = {}
        self._made: dict[str, Domain] = {}
        for one in declarations:
            match one:
                case (
                    d.TypeDeclaration(name=name)
                    | d.RecordDeclaration(name=name)
                    | d.IdentityDeclaration(name=name)
                    | d.NodeDeclaration(name=name)
                ):
                    self._declared[name.text] = one

    def named(self, name: str) -> Domain:
        """The type of a name."""
        if name not in self._made:
            if name not in self._declared:
                raise UnsupportedError(f"there is no type `{name}`")
            self._made[name] = self._declare(self._declared[name])
        return self._made[name]

    def knows(self, name: str) -> bool:
        """Whether there is a type of this name."""
        return name in self._declared

    def _declare(self, one: d.Declaration) -> Domain:
        match one:
            case d.TypeDeclaration(name=name, type=written):
                made = self.of(written)
                return replace(made, name=name.text) if made.kind == "counter" else made
            case d.RecordDeclaration(name=name, ordered=ordered, fields=fields):
                parts = tuple(self.of(kind) for _, kind in fields)
                names = tuple(field.text for field, _ in fields)
                return Domain("record", name.text, fields=names, parts=parts, ordered=ordered)
            case d.IdentityDeclaration(name=name, size=size):
                return Domain("identity", name.text, high=None if size is None else self._number(size), ordered=False)
            case d.NodeDeclaration(name=name, size=size, order=order):
                many = 1 if size is None else self._number(size)
                return Domain("node", name.text, 1, many, ordered=order == "ranked" or many == 1)
            case _:
                raise AssertionError(one)

    def of(self, written: t.TypeTree) -> Domain:
        """The type that is written."""
        parts = [] if written.kind == "name" else [self.of(part) for part in written.parts]
        # Of a counter that may have no end the second is a condition, and it is read up to its bound.
        numbers = written.limits[:1] if written.kind == "endless" else written.limits
        limits = [self._number(limit) for limit in numbers]
        match written.kind:
            case "bool":
                return BOOL
            case "name":
                return self.named(written.names[0].text)
            case "range":
                return Domain("range", low=limits[0], high=limits[1])
            case "counter" | "endless":
                return Domain("counter", low=0, high=limits[0])
            case "enum":
                return Domain("enum", fields=tuple(name.text for name in written.names))
            case "sequence" | "bag":
                return Domain(written.kind, high=limits[0], parts=tuple(parts), ordered=parts[0].ordered)
            case "set" | "map" | "option":
                return Domain(written.kind, parts=tuple(parts), ordered=parts[0].ordered)
