"""Many-sorted first-order logic: sorts, symbols, formulas, and what is done with all of them.

Formulas are terms of sort `Bool`. The makers below simplify what is plain (`true and x` is `x`); nothing else changes
what was said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, assert_never

from msgspec import Struct

BOOL = "Bool"


class Truth(Struct, frozen=True):
    """True or false."""

    value: bool


class Bound(Struct, frozen=True):
    """A variable that a quantifier binds, or a formal argument of a definition. Names are unique in a theory."""

    name: str
    sort: str


class Apply(Struct, frozen=True):
    """A symbol applied to terms; a constant is applied to none."""

    symbol: str
    arguments: tuple[Term, ...]
    sort: str


class Equal(Struct, frozen=True):
    """Two terms of one sort are equal; of formulas: both are true, or none is."""

    left: Term
    right: Term


class Not(Struct, frozen=True):
    operand: Term


class Junction(Struct, frozen=True):
    """`and` or `or` of two formulas at least."""

    word: Literal["and", "or"]
    parts: tuple[Term, ...]


class Choice(Struct, frozen=True):
    """`if … then … else …`."""

    condition: Term
    then: Term
    otherwise: Term


class Quantifier(Struct, frozen=True):
    """`patterns`: terms that a prover should see before it takes the formula for particular values; a hint only."""

    word: Literal["forall", "exists"]
    variables: tuple[Bound, ...]
    body: Term
    patterns: tuple[Term, ...] = ()


Term: TypeAlias = Truth | Bound | Apply | Equal | Not | Junction | Choice | Quantifier

TRUE, FALSE = Truth(True), Truth(False)


class Symbol(Struct, frozen=True):
    """A function or relation: the sorts of its arguments, and that of its value."""

    name: str
    arguments: tuple[str, ...]
    sort: str


class Sort(Struct, frozen=True):
    """A sort. `members`: all its elements by name where they are few and known; else there may be any number."""

    name: str
    members: tuple[str, ...] = ()


def sort_of(term: Term) -> str:
    """The sort of a term's value."""
    match term:
        case Bound(sort=sort) | Apply(sort=sort):
            return sort
        case Choice(_, then, _):
            return sort_of(then)
        case Truth() | Equal() | Not() | Junction() | Quantifier():
            return BOOL
        case _:
            assert_never(term)


# ---- makers ------------------------------------------------------------------------------------------------------


def apply(symbol: Symbol, arguments: Sequence[Term] = ()) -> Apply:
    """A symbol applied to as many terms as it takes."""
    assert len(arguments) == len(symbol.arguments), f"{symbol.name} takes {len(symbol.arguments)} arguments"
    return Apply(symbol.name, tuple(arguments), symbol.sort)


def negation(operand: Term) -> Term:
    match operand:
        case Truth(value):
            return Truth(not value)
        case Not(inner):
            return inner
        case _:
            return Not(operand)


def conjunction(*parts: Term) -> Term:
    return _junction("and", parts, TRUE, FALSE)


def disjunction(*parts: Term) -> Term:
    return _junction("or", parts, FALSE, TRUE)


def _junction(word: Literal["and", "or"], parts: Sequence[Term], neutral: Truth, deciding: Truth) -> Term:
    kept: dict[Term, None] = {}
    for part in parts:
        for one in part.parts if isinstance(part, Junction) and part.word == word else (part,):
            if one == deciding or negation(one) in kept:
                return deciding
            if one != neutral:
                kept[one] = None
    if len(kept) < 2:
        return next(iter(kept), neutral)
    return Junction(word, tuple(kept))


def implication(premise: Term, goal: Term) -> Term:
    return disjunction(negation(premise), goal)


def equality(left: Term, right: Term, distinct: frozenset[str] = frozenset()) -> Term:
    """`distinct`: constants no two of which are equal."""
    if left == right:
        return TRUE
    if sort_of(left) == BOOL:
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Truth):
                return other if one.value else negation(other)
    if isinstance(left, Apply) and isinstance(right, Apply) and {left.symbol, right.symbol} <= distinct:
        return FALSE
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Choice) and isinstance(other, Apply) and other.symbol in distinct:
            return choice(one.condition, equality(one.then, other, distinct), equality(one.otherwise, other, distinct))
    return Equal(left, right)


WHATEVER = "whatever "


def whatever(sort: str) -> Term:
    """A value that nobody asks for. A choice between it and another value is the other one."""
    return FALSE if sort == BOOL else Apply(WHATEVER + sort, (), sort)


def choice(condition: Term, then: Term, otherwise: Term) -> Term:
    if isinstance(condition, Truth):
        return then if condition.value else otherwise
    for one, other in ((then, otherwise), (otherwise, then)):
        if isinstance(one, Apply) and one.symbol.startswith(WHATEVER):
            return other
    if then == otherwise:
        return then
    if sort_of(then) == BOOL:
        if isinstance(then, Truth):
            return disjunction(condition, otherwise) if then.value else conjunction(negation(condition), otherwise)
        if isinstance(otherwise, Truth):
            if otherwise.value:
                return disjunction(negation(condition), then)
            return conjunction(condition, then)
    return Choice(condition, then, otherwise)


def forall(variables: Sequence[Bound], body: Term) -> Term:
    return _quantified("forall", variables, body)


def exists(variables: Sequence[Bound], body: Term) -> Term:
    return _quantified("exists", variables, body)


def _quantified(word: Literal["forall", "exists"], variables: Sequence[Bound], body: Term) -> Term:
    free = free_variables(body)
    used = tuple(one for one in variables if one in free)
    if not used:
        return body  # no sort is empty
    if isinstance(body, Quantifier) and body.word == word:
        return Quantifier(word, (*used, *body.variables), body.body)
    return Quantifier(word, used, body)


# ---- walking -----------------------------------------------------------------------------------------------------


def parts(term: Term) -> tuple[Term, ...]:
    """The terms directly inside a term."""
    match term:
        case Truth() | Bound():
            return ()
        case Apply(_, arguments, _):
            return arguments
        case Equal(left, right):
            return left, right
        case Not(operand):
            return (operand,)
        case Junction(_, inside):
            return inside
        case Choice(condition, then, otherwise):
            return condition, then, otherwise
        case Quantifier(_, _, body, _):
            return (body,)
        case _:
            assert_never(term)


def walk(term: Term) -> Iterator[Term]:
    """The term and everything inside it, outermost first."""
    stack = [term]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(parts(current)))


def free_variables(term: Term) -> frozenset[Bound]:
    """The variables that nothing inside the term binds."""
    match term:
        case Bound():
            return frozenset({term})
        case Quantifier(_, variables, body, _):
            return free_variables(body) - frozenset(variables)
        case _:
            inside = parts(term)
            return frozenset().union(*map(free_variables, inside)) if inside else frozenset()


def symbols_of(term: Term) -> frozenset[str]:
    """The names of all symbols applied in a term."""
    return frozenset(one.symbol for one in walk(term) if isinstance(one, Apply))


def mapped(term: Term, change: Callable[[Term], Term | None], distinct: frozenset[str] = frozenset()) -> Term:
    """The term with each part that `change` gives something for replaced by that, outermost first."""
    new = change(term)
    if new is not None:
        return new
    match term:
        case Truth() | Bound():
            return term
        case Apply(symbol, arguments, sort):
            return Apply(symbol, tuple(mapped(one, change, distinct) for one in arguments), sort)
        case Equal(left, right):
            return equality(mapped(left, change, distinct), mapped(right, change, distinct), distinct)
        case Not(operand):
            return negation(mapped(operand, change, distinct))
        case Junction(word, inside):
            join = conjunction if word == "and" else disjunction
            return join(*(mapped(one, change, distinct) for one in inside))
        case Choice(condition, then, otherwise):
            return choice(*(mapped(one, change, distinct) for one in (condition, then, otherwise)))
        case Quantifier(word, variables, body, _):
            return _quantified(word, variables, mapped(body, change, distinct))
        case _:
            assert_never(term)


def replaced(term: Term, values: Mapping[Bound, Term]) -> Term:
    """The term with free variables replaced. What comes in must hold none that the term binds."""
    return mapped(term, lambda one: values.get(one) if isinstance(one, Bound) else None)


def renamed(term: Term, names: Mapping[str, str]) -> Term:
    """The term with symbols under other names."""

    def change(one: Term) -> Term | None:
        if isinstance(one, Apply) and one.symbol in names:
            return Apply(names[one.symbol], tuple(mapped(item, change) for item in one.arguments), one.sort)
        return None

    return mapped(term, change)
