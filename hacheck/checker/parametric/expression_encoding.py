"""Expressions of the model, encoded in first-order logic.

What logic has no word for (how many, sums of variables) becomes a value of which nothing is known, and a note says so.
Where an expression has no value (`value(x)` of `none`) the step is an error of the spec and no step: any value will do.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as MappingType
from itertools import combinations
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.parametric.encoding_context import NUMBER, Unsupported, World
from hacheck.checker.parametric.first_order_logic import (
    BOOL,
    FALSE,
    TRUE,
    Term,
    apply,
    conjunction,
    disjunction,
    implication,
    negation,
)
from hacheck.checker.parametric.fresh_names import fresh
from hacheck.checker.parametric.given_values import constant, unknown
from hacheck.checker.parametric.value_encoding import (
    Collection,
    Fields,
    Mapping,
    Maybe,
    SymbolicValue,
    bounded,
    either,
    equal,
    every,
    maybe,
    some,
    term,
)
from hacheck.model import ir
from hacheck.model.render import show_expression
from hacheck.model.types import Bag, Enum, Node, Range, Record, Set, Type, values
from hacheck.model.typing import type_of

State = MappingType[str, SymbolicValue]


class Scope(Struct, frozen=True):
    """What an expression sees: variables now and before the step, and locals with their types.

    `types`: of the variables. `budgets`: variables that count faults; what is left of a budget is not known.
    """

    world: World
    state: State
    before: State
    types: MappingType[str, Type]
    locals: MappingType[str, tuple[Type, SymbolicValue]]
    budgets: frozenset[str] = frozenset()

    def bind(self, name: str, kind: Type, value: SymbolicValue) -> Scope:
        """The same scope with one more local."""
        return replace(self, locals={**self.locals, name: (kind, value)})


def truth(expression: ir.Expression, scope: Scope) -> Term:
    """A condition. Errors: `Unsupported`."""
    return term(encode(expression, scope))


def encode(expression: ir.Expression, scope: Scope) -> SymbolicValue:
    """The value of an expression. Errors: `Unsupported`."""
    world = scope.world
    match expression:
        case ir.Constant(value, kind):
            return constant(world, kind, value)
        case ir.Variable(name, _):
            if name in scope.budgets:
                return world.symbol(world.signature.sort(Range(0, 0)), "budget")
            if name not in scope.state:
                raise Unsupported(f"{name}, which cannot be expressed in first-order logic")
            return scope.state[name]
        case ir.Local(name, _):
            if name not in scope.locals:
                raise Unsupported(
                    f"what `{name.partition('$')[0]}` holds, which cannot be expressed in first-order logic"
                )
            return scope.locals[name][1]
        case ir.Old(operand):
            return encode(operand, replace(scope, state=scope.before))
        case ir.Index():
            return _index(expression, scope)
        case ir.Member(base, name):
            record = encode(base, scope)
            assert isinstance(record, Fields), f"field {name} of {record}"
            return record.item(name)
        case ir.Unary():
            return _unary(expression, scope)
        case ir.Binary():
            return _binary(expression, scope)
        case ir.Conditional(condition, then, otherwise):
            return either(world, type_of(then), truth(condition, scope), encode(then, scope), encode(otherwise, scope))
        case ir.Quantified():
            return _quantified(expression, scope)
        case ir.SetOf(variable, domain, item, element):
            return _set_of(variable, domain, item, element, scope)
        case ir.MapOf(variable, key, item, _):
            return Mapping(lambda at: encode(item, scope.bind(variable, key, at)))
        case ir.Extreme():
            return _extreme(expression, scope)
        case ir.MakeRecord(kind, items):
            assert isinstance(kind, Record), f"{kind} has no fields"
            pairs = zip(kind.fields, items, strict=True)
            return Fields(tuple((name, encode(one, scope)) for (name, _), one in pairs))
        case ir.MakeCollection(kind, items):
            return _collection(kind, items, scope)
        case ir.Fresh(kind):
            held = [(scope.types[name], value) for name, value in scope.state.items()]
            return fresh(world, kind, [*held, *scope.locals.values()])
        case _:
            assert_never(expression)


def _index(expression: ir.Index, scope: Scope) -> SymbolicValue:
    base = encode(expression.base, scope)
    if not isinstance(base, Mapping):
        raise Unsupported("a position of a sequence")
    return base.at(encode(expression.key, scope))


def _collection(kind: Type, items: tuple[ir.Expression, ...], scope: Scope) -> SymbolicValue:
    if not isinstance(kind, Set | Bag):
        raise Unsupported("a sequence")
    encoded = [encode(one, scope) for one in items]
    return Collection(lambda item: disjunction(*(equal(scope.world, kind.element, item, one) for one in encoded)))


# ---- one operand -------------------------------------------------------------------------------------------------


def _unary(expression: ir.Unary, scope: Scope) -> SymbolicValue:
    world, kind = scope.world, type_of(expression.operand)
    match expression.operator:
        case "size":
            return world.any_number(f"`{show_expression(expression)}` is taken as any number")
        case "negate":
            return world.any_number(f"`{show_expression(expression)}` is taken as any number")
        case "first" | "last" | "rest":
            raise Unsupported("a sequence")
        case _:
            operand = encode(expression.operand, scope)
    match expression.operator:
        case "not":
            return negation(term(operand))
        case "some":
            return maybe(world, kind, TRUE, operand)
        case "value":
            assert isinstance(operand, Maybe), f"value of {operand}"
            return operand.value()
        case "majority":
            assert isinstance(kind, Set), f"majority of {kind}"
            assert isinstance(operand, Collection), f"majority of {operand}"
            return majority(world, kind.element, operand.contains)
        case _:
            assert_never(expression.operator)


def majority(world: World, kind: Type, among: Callable[[SymbolicValue], Term]) -> Term:
    """Whether more than half of all values of a type have a property: a quorum has it."""
    if not isinstance(kind, Node) or kind.name not in world.signature.open_kinds:
        members = [constant(world, kind, one) for one in values(kind)]
        enough = combinations(members, len(members) // 2 + 1)
        return disjunction(*(conjunction(*(among(one) for one in group)) for group in enough))
    member = world.signature.quorum(kind)

    mentioned = world.signature.mentioned(kind)

    def within(quorum: Term) -> Term:
        return conjunction(
            apply(mentioned, (quorum,)),
            world.for_all(
                world.signature.sort(kind),
                "n",
                lambda node: implication(apply(member, (node, quorum)), term(among(node))),
            ),
        )

    return world.for_some(member.arguments[1], "quorum", within)


# ---- two operands ------------------------------------------------------------------------------------------------


def _binary(expression: ir.Binary, scope: Scope) -> SymbolicValue:
    world, operator = scope.world, expression.operator
    left_type = type_of(expression.left)
    if operator in ("+", "-", "*"):
        return _arithmetic(expression, scope)
    left, right = encode(expression.left, scope), encode(expression.right, scope)
    match operator:
        case "and":
            return conjunction(term(left), term(right))
        case "or":
            return disjunction(term(left), term(right))
        case "implies":
            return implication(term(left), term(right))
        case "==" | "!=":
            same = equal(world, left_type, left, right)
            return same if operator == "==" else negation(same)
        case "<":
            return before(world, left_type, left, right)
        case "<=":
            return negation(before(world, left_type, right, left))
        case "in":
            return _contained(right).contains(left)
        case "append":
            raise Unsupported("a sequence")
    one = _contained(left)
    match operator:
        case "subset":
            other = _contained(right)
            element = _element(left_type)
            return every(world, element, lambda item: implication(one.contains(item), other.contains(item)))
        case "with":
            element = _element(left_type)
            return Collection(lambda item: disjunction(one.contains(item), equal(world, element, item, right)))
        case "without":
            return _without(world, left_type, one, right)
    other = _contained(right)
    match operator:
        case "union":
            return Collection(lambda item: disjunction(one.contains(item), other.contains(item)))
        case "intersect":
            return Collection(lambda item: conjunction(one.contains(item), other.contains(item)))
        case "minus":
            return Collection(lambda item: conjunction(one.contains(item), negation(other.contains(item))))
        case _:
            raise AssertionError(f"no operator {operator}")


def _contained(value: SymbolicValue) -> Collection:
    if not isinstance(value, Collection):
        raise Unsupported("a sequence")
    return value


def _element(kind: Type) -> Type:
    if not isinstance(kind, Set | Bag):
        raise Unsupported("a sequence")
    return kind.element


def _without(world: World, kind: Type, one: Collection, item: SymbolicValue) -> Collection:
    element = _element(kind)
    stays: Term = FALSE
    if isinstance(kind, Bag):
        stays = world.symbol(BOOL, "another")  # a bag may hold the same once more
    return Collection(
        lambda other: conjunction(one.contains(other), disjunction(negation(equal(world, element, other, item)), stays))
    )


def _arithmetic(expression: ir.Binary, scope: Scope) -> Term:
    world = scope.world
    for one, other in ((expression.left, expression.right), (expression.right, expression.left)):
        if isinstance(other, ir.Constant) and expression.operator != "*":
            if expression.operator == "+":
                return world.shifted(term(encode(one, scope)), other.value)
            if one is expression.left:
                return world.shifted(term(encode(one, scope)), -other.value)
    return world.any_number(f"`{show_expression(expression)}` is taken as any number")


# ---- domains -----------------------------------------------------------------------------------------------------


COUNTING = ("at_most_one", "exactly_one", "majority")
"""Quantifiers that depend on how often something is in a bag, of which the logic knows only whether."""


def in_domain(variable: str, domain: ir.Domain, scope: Scope, item: SymbolicValue) -> Term:
    """Whether a value is one that a bound variable takes."""
    inside: Term = TRUE
    if domain.within is not None:
        inside = _contained(encode(domain.within, scope)).contains(item)
    else:
        inside = bounded(scope.world, domain.type, item)
    if domain.where is None:
        return inside
    return conjunction(inside, truth(domain.where, scope.bind(variable, domain.type, item)))


def _quantified(expression: ir.Quantified, scope: Scope) -> SymbolicValue:
    world, domain, variable = scope.world, expression.domain, expression.variable
    kind = domain.type
    if domain.within is not None and isinstance(type_of(domain.within), Bag) and expression.kind in COUNTING:
        raise Unsupported("how many elements of a bag there are")

    def holds(item: SymbolicValue) -> Term:
        return truth(expression.body, scope.bind(variable, kind, item))

    def chosen(item: SymbolicValue) -> Term:
        return conjunction(in_domain(variable, domain, scope, item), holds(item))

    match expression.kind:
        case "some":
            return some(world, kind, chosen, variable)
        case "none":
            return negation(some(world, kind, chosen, variable))
        case "every":
            return every(
                world, kind, lambda item: implication(in_domain(variable, domain, scope, item), holds(item)), variable
            )
        case "at_most_one":
            return _at_most_one(world, kind, chosen, variable)
        case "exactly_one":
            return conjunction(some(world, kind, chosen, variable), _at_most_one(world, kind, chosen, variable))
        case "majority":
            return majority(world, kind, chosen)
        case "count":
            return world.any_number(f"`{show_expression(expression)}` is taken as any number")
        case _:
            assert_never(expression.kind)


def _at_most_one(world: World, kind: Type, chosen: Callable[[SymbolicValue], Term], hint: str) -> Term:
    return every(
        world,
        kind,
        lambda one: every(
            world,
            kind,
            lambda other: implication(conjunction(chosen(one), chosen(other)), equal(world, kind, one, other)),
            hint,
        ),
        hint,
    )


def _set_of(variable: str, domain: ir.Domain, item: ir.Expression, element: Type, scope: Scope) -> SymbolicValue:
    if item == ir.Local(variable, domain.type):
        return Collection(lambda one: in_domain(variable, domain, scope, one))

    def contains(one: SymbolicValue) -> Term:
        def made_of(source: SymbolicValue) -> Term:
            made = encode(item, scope.bind(variable, domain.type, source))
            return conjunction(in_domain(variable, domain, scope, source), equal(scope.world, element, one, made))

        return some(scope.world, domain.type, made_of, variable)

    return Collection(contains)


def _extreme(expression: ir.Extreme, scope: Scope) -> SymbolicValue:
    """The element of a domain that none is better than. Which of several equals is left open."""
    world, domain, variable = scope.world, expression.domain, expression.variable
    found = unknown(world, domain.type, "best")
    by_type = type_of(expression.by)

    def chosen(item: SymbolicValue) -> Term:
        return in_domain(variable, domain, scope, item)

    def rank(item: SymbolicValue) -> SymbolicValue:
        return encode(expression.by, scope.bind(variable, domain.type, item))

    def no_better(item: SymbolicValue) -> Term:
        pair = (rank(found), rank(item)) if expression.kind == "max" else (rank(item), rank(found))
        return implication(chosen(item), negation(before(world, by_type, *pair)))

    any_there = some(world, domain.type, chosen, variable)
    best = conjunction(chosen(found), every(world, domain.type, no_better, variable))
    world.define(implication(any_there, best))
    return found


def before(world: World, kind: Type, left: SymbolicValue, right: SymbolicValue) -> Term:
    """Whether one value comes before another in the order of their type."""
    match kind:
        case Range():
            return world.less(NUMBER, term(left), term(right))
        case Node(name, _, _) if name in world.signature.open_kinds:
            return world.less(world.signature.sort(kind), term(left), term(right))
        case Enum() | Node():
            members = [constant(world, kind, one) for one in values(kind)]
            pairs = combinations(members, 2)
            return disjunction(
                *(conjunction(equal(world, kind, left, low), equal(world, kind, right, high)) for low, high in pairs)
            )
        case Record(_, fields):
            assert isinstance(left, Fields), f"{left} is no record"
            assert isinstance(right, Fields), f"{right} is no record"
            result: Term = FALSE
            for name, part in reversed(fields):
                one, other = left.item(name), right.item(name)
                same = equal(world, part, one, other)
                result = disjunction(before(world, part, one, other), conjunction(same, result))
            return result
        case _:
            raise Unsupported(f"an order of {type(kind).__name__.lower()} values")
