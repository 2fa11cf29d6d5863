"""What stands before parentheses: definitions, records, nodes by their id, and the functions of the language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from hacheck.model.direct.domains import Domain
from hacheck.model.direct.interfaces import (
    FORGOTTEN,
    BoundFailure,
    ForgottenRead,
    SpecificationFailure,
    UnsupportedError,
)
from hacheck.model.direct.layout import Layout, Unsettled
from hacheck.model.direct.machine import Closure, Frame, Machine
from hacheck.model.direct.order import rank
from hacheck.model.direct.values import Bag, Identity, Map, Node, Record, Value
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.declarations import MessageDeclaration, Parameter

if TYPE_CHECKING:
    from hacheck.model.direct.expressions import Expressions, Scope


class Functions:
    """`running_at`: of a handler, the kind of its node and its thread, but nothing for one that is never under way;
    `None` before that is known."""

    def __init__(self, layout: Layout, expressions: Expressions) -> None:
        self.layout = layout
        self.expressions = expressions
        self.running_at: dict[str, tuple[str, str]] | None = None

    def apply(self, written: t.Apply, scope: Scope) -> Closure:
        """What evaluates `name(arguments)`."""
        layout, name = self.layout, written.name.text
        if name in layout.definitions:
            definition = layout.definitions[name]
            given = self.bound([one.name.text for one in definition.parameters], written.arguments, scope)
            inner = self.expressions.nothing.keeping(scope.kept)
            for parameter, argument in given:
                inner = inner.having(parameter, argument)
            return self.expressions.of(definition.value, inner)
        if layout.domains.knows(name):
            domain = layout.domains.named(name)
            if domain.kind == "record":
                return self._record(domain, written, scope)
            if domain.kind == "node":
                return self._node(domain, self.expressions.of(written.arguments[0].value, scope))
        made = getattr(self, f"_of_{name}", None)
        if made is None:
            raise UnsupportedError(f"there is no function `{name}`")
        closure: Closure = made([one.value for one in written.arguments], scope)
        return closure

    def bound(self, names: list[str], arguments: Iterable[t.Argument], scope: Scope) -> list[tuple[str, Closure]]:
        """The argument for each of these names, by its label or its place, in the order of the names."""
        places = iter(names)
        given = {
            next(places) if one.label is None else one.label.text: self.expressions.of(one.value, scope)
            for one in arguments
        }
        if set(given) != set(names):
            raise UnsupportedError(f"arguments for {names} are {list(given)}")
        return [(name, given[name]) for name in names]

    def arguments(
        self, name: str, parameters: tuple[Parameter, ...], arguments: Iterable[t.Argument], scope: Scope
    ) -> Closure:
        """The record of the arguments of a message or a request, not stored yet."""
        names = [one.name.text for one in parameters]
        given = [closure for _, closure in self.bound(names, arguments, scope)]
        return lambda m: Record(name, tuple(names), tuple(one(m) for one in given))

    def _record(self, domain: Domain, written: t.Apply, scope: Scope) -> Closure:
        given = [closure for _, closure in self.bound(list(domain.fields), written.arguments, scope)]
        return lambda m: Record(domain.name, domain.fields, tuple(one(m) for one in given), domain.ordered)

    def _node(self, domain: Domain, number: Closure) -> Closure:
        def made(m: Machine) -> Value:
            at = number(m)
            assert domain.high is not None
            if not 1 <= at <= domain.high:
                raise SpecificationFailure(f"there is no {domain.name}({at})")
            return Node(domain.name, at)

        return made

    def _given(self, arguments: list[t.Expression], scope: Scope) -> list[Closure]:
        return [self.expressions.of(one, scope) for one in arguments]

    # ---- of values ----

    def _of_others(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        (node,) = self._given(arguments, scope)
        layout = self.layout

        def others(m: Machine) -> Value:
            own = node(m)
            return frozenset(one for one in layout.nodes(own.kind) if one != own)

        return others

    def _of_other(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        others = self._of_others(arguments, scope)

        def other(m: Machine) -> Value:
            (one,) = others(m)
            return one

        return other

    def _of_all(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        (kind,) = arguments
        assert isinstance(kind, t.Name)
        everyone = frozenset(self.layout.nodes(kind.text))
        return lambda m: everyone

    def _of_size(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        (of,) = arguments
        if isinstance(of, t.Name) and of.text in self.layout.sizes and of.text not in scope.read:
            number = self.layout.sizes[of.text]
            return lambda m: number
        collection = self.expressions.of(of, scope)
        return lambda m: len(collection(m))

    def _of_majority(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        (collection,) = self._given(arguments, scope)
        sizes = self.layout.sizes

        def majority(m: Machine) -> Value:
            some = collection(m)
            return any(2 * len(some) > sizes[one.kind] for one in some)

        return majority

    def _of_first(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        return _of_sequence(self._given(arguments, scope)[0], lambda some: some[0])

    def _of_last(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        return _of_sequence(self._given(arguments, scope)[0], lambda some: some[-1])

    def _of_rest(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        return _of_sequence(self._given(arguments, scope)[0], lambda some: some[1:])

    def _of_take(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        sequence, number = self._given(arguments, scope)
        return lambda m: sequence(m)[: max(number(m), 0)]

    def _of_drop(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        sequence, number = self._given(arguments, scope)
        return lambda m: sequence(m)[max(number(m), 0) :]

    def _of_join(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        first, second = self._given(arguments, scope)
        return lambda m: (*first(m), *second(m))

    def _of_value(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        (option,) = self._given(arguments, scope)

        def value(m: Machine) -> Value:
            some = option(m)
            if some is None:
                raise SpecificationFailure("`value` of none")
            return some

        return value

    def _of_larger(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        a, b = self._given(arguments, scope)
        place = self.layout.place_of_word
        return lambda m: max(a(m), b(m), key=lambda one: rank(one, place))

    def _of_smaller(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        a, b = self._given(arguments, scope)
        place = self.layout.place_of_word
        return lambda m: min(a(m), b(m), key=lambda one: rank(one, place))

    def _of_fresh(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        (pool,) = arguments
        assert isinstance(pool, t.Name)
        domain = self.layout.domains.named(pool.text)

        def fresh(m: Machine) -> Value:
            locals_here = [m.env[key] for key in (*scope.kept, *scope.ended) if key in m.env]
            everything = (m.memory, locals_here, m.outer, m.reply, m.drawn)
            held = {one.number for one in identities(everything) if one.pool == domain.name}
            number = next(one for one in range(1, len(held) + 2) if one not in held)
            if domain.high is not None and number > domain.high:
                raise BoundFailure(domain.name)
            m.drawn.append(Identity(domain.name, number))
            return m.drawn[-1]

        return fresh

    # ---- of the state ----

    def _read(self, key: str, arguments: list[t.Expression], scope: Scope) -> Closure:
        (node,) = self._given(arguments, scope)
        slots = {one: self.layout.index[key, one] for one in self.layout.everybody()}
        kind = self._kind_of(arguments[0], scope)
        possible = [slot for one, slot in slots.items() if kind in (None, one.kind)]

        def read(m: Machine) -> Value:
            try:
                return m.memory[slots[node(m)]]
            except ForgottenRead:  # which node it is does not matter where all of them are so
                first, *others = (m.memory[slot] for slot in possible)
                if any(other != first for other in others):
                    raise
                return first

        return read

    def _kind_of(self, argument: t.Expression, scope: Scope) -> str | None:
        """The kind of the node in a local whose type is written."""
        key = scope.keys.get(argument.text) if isinstance(argument, t.Name) else None
        domain = None if key is None else scope.types.get(key)
        return None if domain is None or domain.kind != "node" else domain.name

    def _of_up(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        return self._read("up", arguments, scope)

    def _of_paused(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        return self._read("paused", arguments, scope)

    def _of_connected(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        a, b = self._given(arguments, scope)
        return lambda m: connected(self.layout, m, a(m), b(m))

    def _of_running(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        of, what = arguments
        node = self.expressions.of(of, scope)
        point = what.field.text if isinstance(what, t.Attribute) else None
        handler = what.base if isinstance(what, t.Attribute) else what
        assert isinstance(handler, t.Name)
        name, layout = handler.text, self.layout

        def running(m: Machine) -> Value:
            if self.running_at is None:
                raise Unsettled
            if name not in self.running_at:
                return False
            frame: Frame | None = m.memory[layout.index["frame", node(m), self.running_at[name][1]]]
            return frame is not None and frame.handler == name and point in (None, frame.point)

        return running

    def _slots_of_links(self, arguments: list[t.Expression], scope: Scope) -> tuple[MessageDeclaration, Closure]:
        what, *ends = arguments
        assert isinstance(what, t.Name)
        name, index = what.text, self.layout.index
        if name not in self.layout.messages:
            raise UnsupportedError(f"`{name}` is no message")
        declared = self.layout.messages[name]
        if ends:
            a, b = self._given(ends, scope)
            return declared, lambda m: [index["link", name, a(m), b(m)]]
        slots = [slot for key, slot in index.items() if key[:2] == ("link", name)]
        return declared, lambda m: slots

    def _of_in_flight(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        _, slots = self._slots_of_links(arguments, scope)
        return lambda m: any(len(m.memory[slot]) > 0 for slot in slots(m))

    def _of_under_way(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        declared, slots = self._slots_of_links(arguments, scope)

        def under_way(m: Machine) -> Value:
            (slot,) = slots(m)
            some = m.memory[slot]
            if declared.capacity is not None:
                return some
            return next(iter(some), None)

        return under_way

    def _of_free(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        holder = self._of_holder(arguments, scope)
        return lambda m: holder(m) is None

    def _of_holder(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        (lock,) = arguments
        assert isinstance(lock, t.Name)
        name = lock.text
        return lambda m: holder_of(self.layout, m, name)

    def _of_holds(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        lock, of = arguments
        assert isinstance(lock, t.Name)
        name, node = lock.text, self.expressions.of(of, scope)

        def holds(m: Machine) -> Value:
            one = node(m)
            index = self.layout.index
            ends = index.get(("expiry", name, one))
            believes = m.memory[index["believes", name, one]]
            return believes and (ends is None or clock_of(self.layout, m, one) < m.memory[ends])

        return holds

    def _of_clock(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        (node,) = self._given(arguments, scope)
        return lambda m: clock_of(self.layout, m, node(m))

    def _of_time(self, arguments: list[t.Expression], scope: Scope) -> Closure:
        slot = self.layout.index[("time",)]
        return lambda m: m.memory[slot]


def _of_sequence(sequence: Closure, part: object) -> Closure:
    def read(m: Machine) -> Value:
        some = sequence(m)
        if not some:
            raise SpecificationFailure("a part of an empty sequence")
        assert callable(part)
        return part(some)

    return read


def connected(layout: Layout, m: Machine, a: Node, b: Node) -> bool:
    """Whether the link from one node to another is not cut."""
    slot = layout.index.get(("down", a, b))
    return slot is None or not m.memory[slot]


def clock_of(layout: Layout, m: Machine, node: Node) -> int:
    """The time by a node's own clock; true time for one that is never wrong, or has none."""
    time: int = m.memory[layout.index.get(("clock", node), layout.index[("time",)])]
    return time


def holder_of(layout: Layout, m: Machine, lock: str) -> Value:
    """Who has a lock, as the service sees it."""
    return m.memory[layout.index["holder", lock]]


def identities(value: Value) -> Iterator[Identity]:
    """All identities that a value holds."""
    match value:
        case Identity():
            yield value
        case Frame(_, _, _, values):
            yield from identities(values)
        case Map(keys, parts):
            yield from identities((*keys, *parts))
        case Node() | str() | int() | None:
            pass
        case _ if value is not FORGOTTEN and isinstance(value, tuple | list | frozenset | Bag):
            for part in value:
                yield from identities(part)
