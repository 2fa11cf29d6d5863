"""Random types and their values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

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
    Value,
    cardinality,
    default,
    sort_bag,
    values,
)
from tests.strategies.choosing import Chooser, Drawn, chance, pick, weighted


@dataclass(frozen=True)
class Vocabulary:
    """The named types of one model."""

    nodes: tuple[Node, ...]
    enums: tuple[Enum, ...]
    identities: tuple[Identity, ...]
    records: tuple[Record, ...]
    counters: tuple[Range, ...]


def random_vocabulary(chooser: Chooser) -> Vocabulary:
    """Names for one to two kinds of nodes, one to two enums, an identity, up to two records and a counter."""
    nodes = [Node("Replica", chooser.integer(2, 3), chance(chooser, 50))]
    if chance(chooser, 25):
        nodes.append(Node("Witness", chooser.integer(1, 2), chance(chooser, 50)))
    words = ("idle", "busy", "done", "dead")
    enums = [Enum("Mode", words[: chooser.integer(2, 3)])]
    if chance(chooser, 25):
        enums.append(Enum("Colour", ("red", "none")))
    base = Vocabulary(
        tuple(nodes),
        tuple(enums),
        (Identity("Group", chooser.integer(1, 3)),),
        (),
        (Range(0, chooser.integer(1, 4), "generations"),),
    )
    records = tuple(
        Record(
            name,
            tuple((field, random_scalar(chooser, base)) for field in ("first", "second")[: chooser.integer(1, 2)]),
            chance(chooser, 60),
        )
        for name in ("Stamp", "Note")[: chooser.integer(1, 2)]
    )
    return Vocabulary(base.nodes, base.enums, base.identities, records, base.counters)


def random_range(chooser: Chooser) -> Range:
    """A short range, now and then below zero or not beginning at zero."""
    low = weighted(chooser, [(7, 0), (1, 1), (1, -1), (1, -2)])
    return Range(low, low + chooser.integer(1, 3))


def random_scalar(chooser: Chooser, names: Vocabulary, option: bool = True) -> Type:
    """A type whose values fit one small number."""
    kinds: list[tuple[int, Callable[[], Type]]] = [
        (3, Bool),
        (3, lambda: random_range(chooser)),
        (2, lambda: pick(chooser, names.counters)),
        (3, lambda: pick(chooser, names.enums)),
        (2, lambda: pick(chooser, names.nodes)),
        (2, lambda: pick(chooser, names.identities)),
    ]
    if option:
        kinds.append((2, lambda: Option(random_scalar(chooser, names, option=False))))
    return weighted(chooser, kinds)()


def random_type(chooser: Chooser, names: Vocabulary, largest: int, depth: int = 2) -> Type:
    """A type with at most `largest` values (which is at least 2)."""
    for _ in range(8):
        kind = _attempt(chooser, names, depth)
        if cardinality(kind) <= largest:
            return kind
    return Bool()


def _attempt(chooser: Chooser, names: Vocabulary, depth: int) -> Type:
    def inner() -> Type:
        if depth > 0 and chance(chooser, 30):
            return _attempt(chooser, names, depth - 1)
        return random_scalar(chooser, names)

    def key() -> Type:
        node = pick(chooser, names.nodes)
        other = random_scalar(chooser, names)
        return weighted(chooser, [(5, node), (2, pick(chooser, names.enums)), (1, other), (1, Bool())])  # type: ignore[return-value]

    def element() -> Type:
        return weighted(chooser, [(3, random_scalar(chooser, names)), (2, _record(chooser, names))])

    def option() -> Type:
        held = inner()
        return held if isinstance(held, Option) else Option(held)

    return weighted(
        chooser,
        [
            (8, lambda: random_scalar(chooser, names)),
            (5, lambda: Map(pick(chooser, names.nodes), inner())),
            (2, lambda: Map(key(), inner())),
            (2, lambda: Set(pick(chooser, names.nodes))),
            (2, lambda: Set(random_scalar(chooser, names))),
            (3, lambda: _record(chooser, names)),
            (3, lambda: Sequence(element(), chooser.integer(1, 3))),
            (3, lambda: Bag(element(), chooser.integer(1, 2))),
            (1, option),
        ],
    )()


def _record(chooser: Chooser, names: Vocabulary) -> Record:
    return pick(chooser, names.records)


def random_value(chooser: Chooser, kind: Type) -> Value:
    """A value of the type; its default is the simplest."""
    match kind:
        case Map(key, element):
            return tuple(random_value(chooser, element) for _ in range(cardinality(key)))
        case Record(_, fields):
            return tuple(random_value(chooser, field) for _, field in fields)
        case Sequence(element, capacity):
            return tuple(random_value(chooser, element) for _ in range(chooser.integer(0, capacity)))
        case Bag(element, capacity):
            items = tuple(random_value(chooser, element) for _ in range(chooser.integer(0, capacity)))
            return sort_bag(element, items)
        case Set(element):
            return frozenset(item for item in values(element) if chance(chooser, 40))
        case Option(element):
            return random_value(chooser, element) if chance(chooser, 60) else None
        case _:
            return pick(chooser, tuple(values(kind)))


def random_initial(chooser: Chooser, kind: Type) -> Value:
    """Mostly the default, as in written models."""
    return random_value(chooser, kind) if chance(chooser, 35) else default(kind)


@st.composite
def types(draw: Any, largest: int = 300) -> Type:
    """Types of at most `largest` values."""
    chooser = Drawn(draw)
    return random_type(chooser, random_vocabulary(chooser), largest)


@st.composite
def typed_values(draw: Any, largest: int = 10**9) -> tuple[Type, Value]:
    """A type and one of its values."""
    chooser = Drawn(draw)
    kind = random_type(chooser, random_vocabulary(chooser), largest, depth=3)
    return kind, random_value(chooser, kind)
