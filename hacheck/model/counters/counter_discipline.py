"""What a system does with the values of a counter, and whether it would do the same with other values.

The values may be compared, copied and raised by one: then it matters only in which order they are, and which of them
are as near to each other as a step or a comparison can see. Everything else forbids to forget their distances: to add,
subtract or multiply them, to store them as plain numbers or plain numbers as them, to go through all of them, to keep
them in sets or as keys of maps, and literals that are not small.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from hacheck.model import ir
from hacheck.model.counters.counter_ranges import holds_counter
from hacheck.model.counters.counter_sums import Sums, is_total
from hacheck.model.render_expression import show_expression
from hacheck.model.rewrite import parts
from hacheck.model.types import Bag, Map, Option, Range, Record, Sequence, Set, Type, Value
from hacheck.model.typing import type_of

LITERAL_MAX = 4
"""The greatest literal that a counter without an end may be compared with or set to."""

_SCALARS_OF_THEM = "a set or the key of a map"


class Uses(Struct, frozen=True):
    """What a system does with a counter. `obstacles`: why its values cannot be renumbered, in words; empty if they can.
    `literal`: the greatest literal. `offset`: the greatest distance that a comparison adds to a value. `raised`: the
    numbers of the actions that raise a value. `plain`: for an action its locals that hold values of the counter though
    their type does not show it."""

    counter: str
    obstacles: tuple[str, ...]
    literal: int
    offset: int
    raised: tuple[int, ...]
    plain: tuple[tuple[int, frozenset[str]], ...]

    @property
    def exact_up_to(self) -> int:
        """Distances below this one have to be kept exactly: a step raises a value by one, and then compares it."""
        return self.offset + 2


def uses_of(system: ir.System, counter: str) -> Uses:
    """What a system does with a counter. Cost: one pass over the system's text."""
    reader = _Reader(counter)
    for variable in system.variables:
        reader.place = f"`{variable.name}`"
        reader.declared(variable.type)
        if not reader.obstacles:
            reader.literals(variable.type, variable.initial)
    raised, plain = [], []
    for number, action in enumerate(system.actions):
        reader.begin(f"`{action.handler}`", action.line)
        for _, kind in action.parameters:
            reader.check(not holds_counter(kind, counter), "is a parameter of an action, which takes any value")
        reader.condition(action.guard)
        times = reader.body(action.body)
        if reader.plain:
            plain.append((number, frozenset(reader.plain)))
        reader.check(times <= 1, "is raised twice in one step")
        if times:
            raised.append(number)
    reader.begin("`initially`", 0)
    reader.check(reader.body(system.initial) == 0, "is raised before the first step")
    for prop in system.properties:
        reader.begin(f"`{prop.name}`", prop.line)
        for expression in (prop.goal, prop.premise):
            if expression is not None:
                reader.condition(expression)
    obstacles = tuple(dict.fromkeys(reader.obstacles))
    return Uses(counter, obstacles, reader.literal, reader.offset, tuple(raised), tuple(plain))


class _Reader:
    """Reads expressions and statements, and notes what speaks against renumbering a counter's values.

    `plain`: locals of the action at hand whose type does not show that they hold values of the counter, with the
    greatest distance that was added to these.
    """

    def __init__(self, counter: str) -> None:
        self.counter = counter
        self.obstacles: list[str] = []
        self.literal = self.offset = 0
        self.place, self.line = "", 0
        self.plain: dict[str, int] = {}

    def begin(self, place: str, line: int) -> None:
        self.place, self.line, self.plain = place, line, {}

    def check(self, fine: bool, text: str) -> None:
        if not fine:
            where = f"{self.place}, line {self.line}" if self.line else self.place
            self.obstacles.append(f"{self.counter} {text} ({where})")

    # ---- types ----

    def declared(self, kind: Type) -> None:
        """Types in which values of the counter may not be."""
        match kind:
            case Set(element):
                self.check(not holds_counter(element, self.counter), f"is in {_SCALARS_OF_THEM}")
            case Map(key, element):
                self.check(not holds_counter(key, self.counter), f"is in {_SCALARS_OF_THEM}")
                self.declared(element)
            case Option(element) | Sequence(element, _) | Bag(element, _):
                self.declared(element)
            case Record(_, fields):
                for _, field in fields:
                    self.declared(field)
            case _:
                pass

    def is_counter(self, kind: Type) -> bool:
        return isinstance(kind, Range) and kind.counter == self.counter

    def shape(self, kind: Type) -> object:
        """Where in a type values of the counter are."""
        if not holds_counter(kind, self.counter):
            return ""
        match kind:
            case Option(element) | Set(element) | Sequence(element, _) | Bag(element, _):
                return type(kind).__name__, self.shape(element)
            case Map(key, element):
                return self.shape(key), self.shape(element)
            case Record(_, fields):
                return tuple(self.shape(field) for _, field in fields)
            case _:
                return "counter"

    def shape_of(self, expression: ir.Expression) -> object:
        match expression:
            case ir.Binary("with" | "without" | "append" | "union" | "intersect" | "minus", left, _):
                return self.shape_of(left)
            case ir.Conditional(_, then, otherwise):
                shown = self.shape_of(then)
                return self.shape_of(otherwise) if shown == "" or isinstance(then, ir.Constant) else shown
            case ir.Old(operand):
                return self.shape_of(operand)
            case _:
                return self.shape(type_of(expression))

    def literals(self, kind: Type, value: Value) -> None:
        """Notes the values of the counter in a constant that stands where this type is."""
        if not holds_counter(kind, self.counter):
            return
        match kind:
            case Range():
                fine = isinstance(value, int) and 0 <= value <= LITERAL_MAX
                self.check(fine, f"is compared with or set to {value}, and {LITERAL_MAX} is the most")
                self.literal = max(self.literal, value) if fine else self.literal
            case Option(element):
                if value is not None:
                    self.literals(element, value)
            case Record(_, fields):
                for (_, field), item in zip(fields, value, strict=True):
                    self.literals(field, item)
            case Map(_, element) | Sequence(element, _) | Bag(element, _):
                for item in value:
                    self.literals(element, item)
            case _:
                pass

    # ---- expressions ----

    def condition(self, expression: ir.Expression) -> None:
        self.read(expression)

    def flows(self, kind: Type, expression: ir.Expression) -> None:
        """Whether a value that goes where this type is, or is compared with what has it, is of the counter where the
        type is."""
        match expression:
            case ir.Constant(value=value, type=own):
                self.check(self.shape(own) == "" or self.shape(kind) != "", "is taken for a plain number")
                self.literals(kind, value)
            case ir.Conditional(condition, then, otherwise):
                self.read(condition)
                self.flows(kind, then)
                self.flows(kind, otherwise)
            case ir.Unary("some", operand) if isinstance(kind, Option):
                self.flows(kind.element, operand)
            case _:
                offset = self.read(expression)
                if self.is_counter(kind):
                    self.check(offset is not None, "takes the value of a plain number")
                else:
                    self.check(offset is None, "is taken for a plain number")
                    self.check(self.shape_of(expression) == self.shape(kind), "is taken for a plain number")

    def compared(self, left: ir.Expression, right: ir.Expression) -> None:
        """Two values that are compared, or of which one is looked for in the other."""
        before, after = self.read(left), self.read(right)
        self.offset = max(self.offset, before or 0, after or 0)
        counter = Range(0, 0, self.counter)
        for one, offset, other in ((left, before, right), (right, after, left)):
            if offset is not None:
                self.flows(counter, other)
                return
            if self.shape_of(one) != "":
                self.flows(type_of(one), other)
                return

    def read(self, expression: ir.Expression) -> int | None:
        """What an expression does with the counter. If its value is of the counter: the greatest distance that it adds
        to a value that is held."""
        match expression:
            case ir.Constant() | ir.Fresh():
                return None
            case ir.Local(name, kind):
                return self.plain.get(name, 0 if self.is_counter(kind) else None)
            case ir.Variable(_, kind):
                return 0 if self.is_counter(kind) else None
            case ir.Binary(operator, left, right):
                return self.binary(operator, left, right)
            case ir.Conditional(condition, then, otherwise):
                self.read(condition)
                return self.either(then, otherwise)
            case ir.Unary("negate", operand):
                self.check(self.read(operand) is None, "is negated")
                return None
            case ir.MakeRecord(kind, items):
                assert isinstance(kind, Record), "a record has a record's type"
                for (_, field), item in zip(kind.fields, items, strict=True):
                    self.flows(field, item)
                return None
            case ir.MakeCollection(kind, items):
                assert isinstance(kind, Set | Sequence | Bag), "a collection has a collection's type"
                for item in items:
                    self.flows(kind.element, item)
                return None
            case ir.MapOf(_, key, item, element):
                self.check(not holds_counter(key, self.counter), f"is in {_SCALARS_OF_THEM}")
                self.flows(element, item)
                return None
            case ir.SetOf(_, domain, item, element):
                self.domain(domain)
                self.check(not holds_counter(element, self.counter), f"is in {_SCALARS_OF_THEM}")
                self.flows(element, item)
                return None
            case ir.Quantified(_, _, domain, inner):
                self.domain(domain)
                self.read(inner)
                return None
            case ir.Extreme(_, _, domain, by):
                self.domain(domain)
                self.offset = max(self.offset, self.read(by) or 0)
            case ir.Index(base, key):
                self.read(base)
                self.check(self.read(key) is None, "is a position or a key")
            case _:
                for part in parts(expression):
                    assert not isinstance(part, ir.Domain | ir.Target), "domains are read by themselves"
                    self.read(part)  # type: ignore[arg-type]
        return 0 if self.is_counter(type_of(expression)) else None

    def either(self, then: ir.Expression, otherwise: ir.Expression) -> int | None:
        """The two sides of a choice, of which one may be a literal."""
        sides = [(side, self.read(side)) for side in (then, otherwise)]
        offsets = [offset for _, offset in sides if offset is not None]
        if not offsets:
            return None
        for side, offset in sides:
            if offset is None:
                self.flows(Range(0, 0, self.counter), side)
        return max(offsets)

    def binary(self, operator: ir.BinaryOperator, left: ir.Expression, right: ir.Expression) -> int | None:
        match operator:
            case "==" | "!=" | "<" | "<=" | "in" | "without":
                if operator in ("in", "without"):
                    collection, item = (right, left) if operator == "in" else (left, right)
                    self.read(collection)
                    held = type_of(collection)
                    assert isinstance(held, Set | Sequence | Bag), "what holds elements is a collection"
                    self.flows(held.element, item)
                else:
                    self.compared(left, right)
                return None
            case "with" | "append":
                self.read(left)
                held = type_of(left)
                assert isinstance(held, Set | Sequence | Bag), "what gets an element is a collection"
                self.flows(held.element, right)
                return None
            case "+":
                before, after = self.read(left), self.read(right)
                if before is None and after is None:
                    return None
                other = right if before is not None else left
                one = isinstance(other, ir.Constant) and other.value == 1
                self.check(one, "is added to something else than 1")
                return (before or after or 0) + 1
            case "-" | "*":
                plain = self.read(left) is None and self.read(right) is None
                self.check(plain, "is subtracted or multiplied")
                return None
            case _:
                self.read(left)
                self.read(right)
                return None

    def domain(self, domain: ir.Domain) -> None:
        sums = Sums(self.counter, frozenset(self.plain))
        self.check(not any(True for _ in sums.in_domain(domain)), "is raised for each element of something")
        if domain.within is None:
            self.check(not holds_counter(domain.type, self.counter), "is gone through")
        else:
            self.read(domain.within)
        if domain.where is not None:
            self.read(domain.where)

    # ---- statements ----

    def body(self, body: Iterable[ir.Statement]) -> int:
        """How often a value is raised at most."""
        return sum(self.statement(statement) for statement in body)

    def statement(self, statement: ir.Statement) -> int:
        match statement:
            case ir.Assign(target, value):
                for part in target.path:
                    if not isinstance(part, str):
                        self.check(self.read(part) is None, "is a position or a key")
                if isinstance(target.root, ir.Local) and target.root.name in self.plain:
                    self.flows(Range(0, 0, self.counter), value)
                else:
                    self.flows(target_type(target), value)
                return self.stored(value)
            case ir.Let(name, kind, value):
                offset = self.read(value)
                if offset is not None and not self.is_counter(kind):
                    self.plain[name] = offset
                else:
                    self.flows(kind, value)
                return self.stored(value)
            case ir.Choose(_, domain):
                self.domain(domain)
                return 0
            case ir.If(condition, then, otherwise):
                self.read(condition)
                return max(self.body(then), self.body(otherwise))
            case ir.ForEach(_, domain, inner):
                self.domain(domain)
                self.check(self.body(inner) == 0, "is raised in a `for`")
                return 0
            case ir.Require(condition):
                self.read(condition)
                return 0
            case _:
                return 0

    def stored(self, value: ir.Expression) -> int:
        """How many sums of the counter a stored value is made of."""
        sums = Sums(self.counter, frozenset(self.plain))
        found = set(sums.stored(value))
        self.check(not sums.is_bound(value), "is raised for each element of something")
        for one in found:
            how = f"`{show_expression(one)}`; name first what is raised, `let x: {self.counter} = …`"
            self.check(is_total(one), f"is raised where it may have no value: {how}")
        return len(found)


def target_type(target: ir.Target) -> Type:
    """The type of what an assignment writes."""
    kind = target.root.type
    for step in target.path:
        if isinstance(step, str):
            assert isinstance(kind, Record), f"field {step} of {kind}"
            kind = dict(kind.fields)[step]
        else:
            assert isinstance(kind, Map | Sequence), f"key into {kind}"
            kind = kind.value if isinstance(kind, Map) else kind.element
    return kind
