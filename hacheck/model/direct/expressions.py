"""Expressions: each becomes a function of the step under way, in which its names have been looked up."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hacheck.model.direct.domains import Domain, all_of, is_sequence
from hacheck.model.direct.functions import Functions
from hacheck.model.direct.interfaces import SpecificationFailure, UnsupportedError
from hacheck.model.direct.layout import Layout
from hacheck.model.direct.machine import Closure, Machine
from hacheck.model.direct.order import elements, equal, rank
from hacheck.model.direct.values import Bag, Braces, Map, Node, Record, Value
from hacheck.model.language import syntax_tree as t


class Scope(Struct, frozen=True):
    """The names that an expression may use besides those of the file. `keys`: the locals among them, by their places in
    `Machine.env`; `kept`: the places of all locals that a handler has here, also of those that others hide; `types`:
    those that are written, by place; `ended`: the places of locals of blocks that have ended, which hold identities
    until the handler waits."""

    read: Mapping[str, Closure]
    keys: Mapping[str, str]
    kept: tuple[str, ...]
    types: Mapping[str, Domain]
    ended: tuple[str, ...] = ()

    def having(self, name: str, read: Closure) -> Scope:
        """With one more name, whose value nobody can assign."""
        keys = {one: key for one, key in self.keys.items() if one != name}
        return replace(self, read={**self.read, name: read}, keys=keys)

    def having_local(self, name: str, key: str) -> Scope:
        """With one more local."""
        read, keys = {**self.read, name: local(key)}, {**self.keys, name: key}
        return replace(self, read=read, keys=keys, kept=(*self.kept, key))

    def keeping(self, kept: tuple[str, ...]) -> Scope:
        """With locals that are kept, though they cannot be named."""
        return replace(self, kept=(*self.kept, *kept))

    def after(self, ended: tuple[str, ...]) -> Scope:
        """After a block in which the handler can wait, with these locals."""
        return replace(self, ended=(*self.ended, *ended))

    def typed(self, key: str, domain: Domain) -> Scope:
        """With the type of a local."""
        return replace(self, types={**self.types, key: domain})


NOTHING = Scope({}, {}, (), {})
"""No names besides those of the file."""


def local(key: str) -> Closure:
    """The value of a local. Errors: `ForgottenRead`."""
    return lambda m: m.local(key)


class Expressions:
    """Looks expressions up, for one file under its settings."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.functions = Functions(layout, self)
        self.nothing = NOTHING
        self._numbers = count()

    def of(self, written: t.Expression, scope: Scope = NOTHING) -> Closure:
        """What evaluates the expression."""
        match written:
            case t.Number(value) | t.Word(value):
                return lambda m: value
            case t.Name(text):
                return self._name(text, scope)
            case t.Prefix():
                return self._prefix(written, scope)
            case t.Infix(sign, left, right):
                return self._infix(sign, self.of(left, scope), self.of(right, scope))
            case t.Choice(condition, then, otherwise):
                if_, then_, else_ = self.of(condition, scope), self.of(then, scope), self.of(otherwise, scope)
                return lambda m: then_(m) if if_(m) else else_(m)
            case t.Quantifier():
                return self._quantifier(written, scope)
            case t.Best():
                return self._best(written, scope)
            case t.Named(name, value, body):
                return self.of(body, scope.having(name.text, self.of(value, scope)))
            case t.Each(name, key, item):
                return self._each(name.text, self.layout.domains.of(key), item, scope)
            case t.Braces(items):
                listed = [self.of(one, scope) for one in items]
                return lambda m: Braces.of(one(m) for one in listed)
            case t.Brackets(items):
                listed = [self.of(one, scope) for one in items]
                return lambda m: tuple(one(m) for one in listed)
            case t.Image():
                return self._image(written, scope)
            case t.Attribute(base, field):
                return self._attribute(self.of(base, scope), field.text)
            case t.Subscript(base, key):
                return _subscript(self.of(base, scope), self.of(key, scope))
            case t.Apply():
                return self.functions.apply(written, scope)

    # ---- names ----

    def _name(self, text: str, scope: Scope) -> Closure:
        layout = self.layout
        if text in scope.read:
            return scope.read[text]
        if text in layout.settings:
            value = layout.settings[text]
            return lambda m: value
        if text in layout.definitions:
            return self.of(layout.definitions[text].value)
        if ("shared", text) in layout.index:
            slot = layout.index["shared", text]
            return lambda m: m.memory[slot]
        if text in layout.sizes:
            if layout.sizes[text] != 1:
                raise UnsupportedError(f"`{text}` is a kind of {layout.sizes[text]} nodes, not one node")
            only = Node(text, 1)
            return lambda m: only
        if text in layout.words:
            return lambda m: text
        raise UnsupportedError(f"there is no `{text}`")

    def _prefix(self, written: t.Prefix, scope: Scope) -> Closure:
        operand = self.of(written.operand, scope)
        match written.operator:
            case "not":
                return lambda m: not operand(m)
            case "negate":
                return lambda m: -operand(m)
            case "old":

                def before(m: Machine) -> Value:
                    if m.before is None:
                        raise SpecificationFailure("`old` of what is no step")
                    now, m.memory = m.memory, m.before  # type: ignore[assignment]
                    try:
                        return operand(m)
                    finally:
                        m.memory = now

                return before

    def _attribute(self, base: Closure, field: str) -> Closure:
        slots = self.layout.fields.get(field, {})

        def read(m: Machine) -> Value:
            of = base(m)
            if isinstance(of, Node):
                return m.memory[slots[of]]
            if isinstance(of, Record):
                return of.get(field)
            raise SpecificationFailure(f"{of!r} has no `{field}`")

        return read

    def _infix(self, sign: str, left: Closure, right: Closure) -> Closure:
        place = self.layout.place_of_word
        match sign:
            case "and":
                return lambda m: left(m) and right(m)
            case "or":
                return lambda m: left(m) or right(m)
            case "implies":
                return lambda m: not left(m) or right(m)
            case "<" | "<=" | ">" | ">=":
                compare = COMPARISONS[sign]
                return lambda m: compare(rank(left(m), place), rank(right(m), place))
            case _:
                combine = OPERATORS[sign]
                return lambda m: combine(left(m), right(m))

    # ---- what binds names ----

    def fresh_key(self, name: str) -> str:
        """A place for a bound variable, which no other one has."""
        return f"{name}'{next(self._numbers)}"

    def values_of(self, binder: t.Binder, scope: Scope) -> Callable[[Machine], Iterable[Value]]:
        """The values that a binder goes through, in their order."""
        if binder.type is not None:
            listed = all_of(self.layout.domains.of(binder.type))
            return lambda m: listed
        assert binder.within is not None
        within = self.of(binder.within, scope)
        place = self.layout.place_of_word
        return lambda m: elements(within(m), place)

    def filtered(
        self, binders: tuple[t.Binder, ...], where: t.Expression | None, scope: Scope
    ) -> tuple[Callable[[Machine], Iterator[Value]], Scope]:
        """Goes through all values of binders that a condition allows; while it stands at one, the names have it. What
        it yields is the value of the last binder."""
        first, *rest = binders
        values = self.values_of(first, scope)
        key = self.fresh_key(first.name.text)
        inner = scope.having(first.name.text, local(key))
        if rest:
            deeper, innermost = self.filtered(tuple(rest), where, inner)

            def walk(m: Machine) -> Iterator[Value]:
                for value in values(m):
                    m.env[key] = value
                    yield from deeper(m)

            return walk, innermost
        condition = None if where is None else self.of(where, inner)

        def last(m: Machine) -> Iterator[Value]:
            for value in values(m):
                m.env[key] = value
                if condition is None or condition(m):
                    yield value

        return last, inner

    def _quantifier(self, written: t.Quantifier, scope: Scope) -> Closure:
        if written.kind == "every":
            walk, inner = self.filtered(written.binders, written.where, scope)
            body = self.of(written.body, inner)
            return lambda m: all(body(m) for _ in walk(m))
        walk, _ = self.filtered(written.binders, written.body, scope)
        values = self.values_of(written.binders[0], scope)
        match written.kind:
            case "some":
                return lambda m: any(True for _ in walk(m))
            case "no":
                return lambda m: not any(True for _ in walk(m))
            case "count":
                return lambda m: sum(1 for _ in walk(m))
            case "at most one":
                return lambda m: sum(1 for _ in walk(m)) <= 1
            case "exactly one":
                return lambda m: sum(1 for _ in walk(m)) == 1
            case "most":
                return lambda m: 2 * sum(1 for _ in walk(m)) > sum(1 for _ in values(m))

    def _best(self, written: t.Best, scope: Scope) -> Closure:
        walk, inner = self.filtered((written.binder,), written.where, scope)
        by = self.of(written.by, inner)
        if written.kind == "sum":
            return lambda m: sum(by(m) for _ in walk(m))
        place = self.layout.place_of_word
        chosen: Callable[..., Any] = max if written.kind == "max" else min

        def best(m: Machine) -> Value:
            ranked = [(rank(by(m), place), value) for value in walk(m)]
            if not ranked:
                raise SpecificationFailure(f"`{written.kind}` of nothing")
            return chosen(ranked, key=operator.itemgetter(0))[1]

        return best

    def _each(self, name: str, domain: Domain, item: t.Expression, scope: Scope) -> Closure:
        keys = all_of(domain)
        key = self.fresh_key(name)
        part = self.of(item, scope.having(name, local(key)))

        def made(m: Machine) -> Value:
            parts = []
            for one in keys:
                m.env[key] = one
                parts.append(part(m))
            return Map(keys, tuple(parts))

        return made

    def _image(self, written: t.Image, scope: Scope) -> Closure:
        walk, inner = self.filtered((written.binder,), written.where, scope)
        item = None if written.item is None else self.of(written.item, inner)
        return lambda m: frozenset(value if item is None else item(m) for value in walk(m))


def _subscript(base: Closure, key: Closure) -> Closure:
    def read(m: Machine) -> Value:
        of, at = base(m), key(m)
        if isinstance(of, Map):
            if at not in of.keys:
                raise SpecificationFailure(f"the map has no {at!r}")
            return of.get(at)
        if not is_sequence(of) or not 1 <= at <= len(of):
            raise SpecificationFailure(f"there is no element {at!r}")
        return of[at - 1]

    return read


def _with(base: Value, item: Value) -> Value:
    if isinstance(base, Braces):
        return Braces.of((*base.items, item))
    if isinstance(base, frozenset):
        return base | {item}
    return base.adding(item) if isinstance(base, Bag) else (*base, item)


def _without(base: Value, item: Value) -> Value:
    if isinstance(base, frozenset):
        return frozenset(base) - {item}
    if isinstance(base, Bag):
        return base.removing(item)
    at = base.index(item) if item in base else len(base)
    return (*base[:at], *base[at + 1 :])


COMPARISONS: Mapping[str, Callable[[Value, Value], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
OPERATORS: Mapping[str, Callable[[Value, Value], Value]] = {
    "==": equal,
    "!=": lambda a, b: not equal(a, b),
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
    "subset": lambda a, b: frozenset(a) <= frozenset(b),
    "union": lambda a, b: frozenset(a) | frozenset(b),
    "intersect": lambda a, b: frozenset(a) & frozenset(b),
    "minus": lambda a, b: frozenset(a) - frozenset(b),
    "with": _with,
    "without": _without,
}
