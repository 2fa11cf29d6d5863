"""What is known while a model is encoded in first-order logic: sorts and symbols so far, variables in scope, and what
is assumed.

A value that logic cannot say exactly is given a name of its own, a fresh symbol, and what is known of it is *defined*:
an axiom that some interpretation of the symbol always meets, whatever the state. So nothing the model can do is lost,
and something may be allowed that it cannot do. What is left open this way is noted, for people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

from msgspec import Struct, field

from hacheck.checker.parametric.first_order_logic import (
    BOOL,
    Apply,
    Bound,
    Quantifier,
    Sort,
    Symbol,
    Term,
    Truth,
    apply,
    conjunction,
    disjunction,
    equality,
    exists,
    forall,
    implication,
    negation,
)
from hacheck.model.types import Bool, Enum, Identity, Node, Range, Type

NUMBER = "Number"
AT_MOST = Symbol("at_most", (NUMBER, NUMBER), BOOL)
RANKS_MAX = 8
"""Of ranked nodes up to this number that the model names, the logic knows their places; of others, their order."""


class Unsupported(Exception):
    """Something of the language that cannot be expressed in first-order logic here: a phrase that says what."""


class Signature(Struct):
    """Sorts, and symbols that no step changes, with their axioms.

    `open_kinds`: the kinds of nodes of which there may be any number. `distinct`: constants no two of which are equal.
    """

    open_kinds: frozenset[str]
    sorts: dict[str, Sort] = field(default_factory=dict)
    rigid: dict[str, Symbol] = field(default_factory=dict)
    distinct: set[str] = field(default_factory=set)
    numerals: set[int] = field(default_factory=set)
    named: dict[str, set[int]] = field(default_factory=dict)
    ordered: set[str] = field(default_factory=set)
    quorums: set[str] = field(default_factory=set)

    def sort(self, kind: Type) -> str:
        """The sort of a scalar's values. Errors: `Unsupported`."""
        match kind:
            case Bool():
                return BOOL
            case Range():
                name, members = NUMBER, tuple[str, ...]()
            case Enum(name, words):
                members = tuple(f"{name}:{word}" for word in words)
            case Node(name, size, _):
                members = () if name in self.open_kinds else tuple(f"{name}({one})" for one in range(1, size + 1))
            case Identity(name, _):
                members = ()
            case _:
                raise Unsupported(f"{type(kind).__name__.lower()} where a scalar is needed")
        known = self.sorts.setdefault(name, Sort(name, members))
        assert known.members == members, f"two sorts are called {name}"
        self.distinct.update(members)
        return name

    def numeral(self, value: int) -> Term:
        """A whole number that the model names."""
        self.sort(Range(0, 0))
        self.numerals.add(value)
        self.distinct.add(str(value))
        return apply(self.declare(Symbol(str(value), (), NUMBER)))

    def node(self, kind: Node, member: int) -> Term:
        """A node that the model names."""
        sort, name = self.sort(kind), f"{kind.name}({member})"
        if kind.name not in self.open_kinds:
            return Apply(name, (), sort)
        self.distinct.add(name)
        self.named.setdefault(kind.name, set()).add(member)
        return apply(self.declare(Symbol(name, (), sort)))

    def declare(self, symbol: Symbol) -> Symbol:
        """A symbol that no step changes."""
        assert self.rigid.setdefault(symbol.name, symbol) == symbol, f"two symbols are called {symbol.name}"
        return symbol

    def at_most(self, sort: str) -> Symbol:
        """The order of a sort's elements: that of numbers, or of ranked nodes."""
        if sort == NUMBER:
            return self.declare(AT_MOST)
        self.ordered.add(sort)
        return self.declare(Symbol(f"{sort} at_most", (sort, sort), BOOL))

    def quorum(self, kind: Node) -> Symbol:
        """Which nodes are in which quorum: the sort of quorums stands for all sets of more than half of the nodes."""
        sort = self.sort(kind)
        name = f"{sort} quorum"
        self.sorts.setdefault(name, Sort(name))
        self.quorums.add(sort)
        return self.declare(Symbol(f"in {name}", (sort, name), BOOL))

    def mentioned(self, kind: Node) -> Symbol:
        """Which quorums a formula mentions: all of them. A prover sees from it where two of them are to be compared."""
        return self.declare(Symbol(f"mentioned {kind.name} quorum", (f"{kind.name} quorum",), BOOL))

    def axioms(self) -> Iterator[tuple[str, Term]]:
        """What is known of the rigid symbols, each with its meaning in words."""
        for symbol in list(self.rigid.values()):
            if symbol == AT_MOST or symbol.name == f"{symbol.arguments[:1] and symbol.arguments[0]} at_most":
                yield f"{symbol.arguments[0]}s are in one order", _total_order(symbol)
        numerals = sorted(self.numerals)
        if len(numerals) > 1:
            order = self.at_most(NUMBER)
            for low, high in pairwise(numerals):
                first, second = self.numeral(low), self.numeral(high)
                yield f"{low} is less than {high}", negation(apply(order, (second, first)))
                if high == low + 1:
                    one = Bound("n", NUMBER)
                    nothing = disjunction(apply(order, (one, first)), apply(order, (second, one)))
                    yield f"nothing lies between {low} and {high}", forall((one,), nothing)
        for kind, members in self.named.items():
            yield from self._named(kind, sorted(members))
        for kind in sorted(self.quorums):
            member = self.rigid[f"in {kind} quorum"]
            node = Bound("n", kind)
            pair = [Bound(name, member.arguments[1]) for name in ("q", "r")]
            shared = exists((node,), conjunction(*(apply(member, (node, one)) for one in pair)))
            mentioned = tuple(apply(self.rigid[f"mentioned {kind} quorum"], (one,)) for one in pair)
            both = implication(conjunction(*mentioned), shared)
            yield f"two majorities of {kind}s have one in common", Quantifier("forall", tuple(pair), both, mentioned)

    def _named(self, kind: str, members: Sequence[int]) -> Iterator[tuple[str, Term]]:
        """What is known of nodes that the model names: which they are in the order of ranked ones, too. Where the last
        of them is there, so are all before it."""
        if kind in self.ordered and members[-1] <= RANKS_MAX:
            members = range(1, members[-1] + 1)
        constants = [apply(self.declare(Symbol(f"{kind}({one})", (), kind))) for one in members]
        for number, one in enumerate(constants):
            for other in constants[number + 1 :]:
                yield f"{one.symbol} is not {other.symbol}", negation(equality(one, other))
        if kind not in self.ordered:
            return
        order, node = self.rigid[f"{kind} at_most"], Bound("n", kind)
        if members[0] == 1:
            yield f"{constants[0].symbol} is the first", forall((node,), apply(order, (constants[0], node)))
        for (low, first), (high, second) in pairwise(zip(members, constants, strict=True)):
            yield f"{first.symbol} comes before {second.symbol}", apply(order, (first, second))
            if high == low + 1:
                nothing = disjunction(apply(order, (node, first)), apply(order, (second, node)))
                yield f"nothing lies between {first.symbol} and {second.symbol}", forall((node,), nothing)


def _total_order(symbol: Symbol) -> Term:
    sort = symbol.arguments[0]
    a, b, c = (Bound(name, sort) for name in "abc")

    def at_most(one: Term, other: Term) -> Term:
        return apply(symbol, (one, other))

    return forall(
        (a, b, c),
        conjunction(
            at_most(a, a),
            implication(conjunction(at_most(a, b), at_most(b, c)), at_most(a, c)),
            implication(conjunction(at_most(a, b), at_most(b, a)), equality(a, b)),
            disjunction(at_most(a, b), at_most(b, a)),
        ),
    )


class World(Struct):
    """One thing being encoded: an action, a property, the start.

    `bound`: the variables of the quantifiers around what is being encoded. `path`: the conditions under which it is.
    `assumed`: what holds whenever the step is taken. `defined`: what is known of fresh symbols, always true of some
    interpretation of them. `notes`: what was left open, in words.
    """

    signature: Signature
    title: str
    bound: list[Bound] = field(default_factory=list)
    path: list[Term] = field(default_factory=list)
    fresh: dict[str, Symbol] = field(default_factory=dict)
    assumed: list[Term] = field(default_factory=list)
    defined: list[Term] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    loops: int = 0
    """How many loops are encoded as one turn around what is being encoded."""
    chosen: dict[tuple[int, ...], dict[str, Symbol]] = field(default_factory=dict)
    """What turns of loops choose, by the place in the body: a symbol for each part of the value."""
    branches: list[tuple[Apply, tuple[Term, ...], Term]] = field(default_factory=list)
    """Names for the conditions at which what is encoded branches, each with the path that leads there and its
    meaning."""

    def name(self, hint: str) -> str:
        """A name that nothing in this world has yet."""
        number = self.names.get(hint, 0)
        self.names[hint] = number + 1
        return f"{self.title}.{hint}" + (f"#{number}" if number else "")

    def variable(self, sort: str, hint: str) -> Bound:
        """A variable to be bound."""
        return Bound(self.name(hint.split("$")[0]), sort)

    def symbol(self, sort: str, hint: str, more: Sequence[Bound] = ()) -> Apply:
        """A fresh symbol that may depend on the variables in scope and on these, applied to them."""
        around = (*self.bound, *more)
        made = self.declared(Symbol(self.name(hint.split("$")[0]), tuple(one.sort for one in around), sort))
        return apply(made, around)

    def declared(self, symbol: Symbol) -> Symbol:
        """A fresh symbol of this world."""
        self.fresh[symbol.name] = symbol
        return symbol

    @contextmanager
    def within(self, variables: Sequence[Bound]) -> Iterator[None]:
        """Encodes something below a quantifier."""
        self.bound.extend(variables)
        try:
            yield
        finally:
            del self.bound[len(self.bound) - len(variables) :]

    @contextmanager
    def where(self, condition: Term) -> Iterator[None]:
        """Encodes something that happens under a condition."""
        self.path.append(condition)
        try:
            yield
        finally:
            self.path.pop()

    def for_all(self, sort: str, hint: str, build: Callable[[Term], Term]) -> Term:
        """A formula for every element of a sort."""
        return self._over(sort, hint, build, every=True)

    def for_some(self, sort: str, hint: str, build: Callable[[Term], Term]) -> Term:
        """A formula for some element of a sort."""
        return self._over(sort, hint, build, every=False)

    def _over(self, sort: str, hint: str, build: Callable[[Term], Term], *, every: bool) -> Term:
        if sort == BOOL:
            both = (build(Truth(False)), build(Truth(True)))
            return conjunction(*both) if every else disjunction(*both)
        members = self.signature.sorts[sort].members
        if members:
            each = [build(Apply(one, (), sort)) for one in members]
            return conjunction(*each) if every else disjunction(*each)
        variable = self.variable(sort, hint)
        with self.within((variable,)):
            body = build(variable)
        return (forall if every else exists)((variable,), body)

    def assume(self, condition: Term) -> None:
        """The step is possible only if this holds, for all variables in scope, where the path leads here."""
        self.assumed.append(forall(self.bound, implication(conjunction(*self.path), condition)))

    def define(self, fact: Term) -> None:
        """What holds of fresh symbols, for all variables in scope. Some meaning of them must always meet it."""
        self.defined.append(forall(self.bound, fact))

    def note(self, text: str) -> None:
        """Says that something was left open."""
        self.notes[text] = None

    def branch(self, condition: Term) -> Term:
        """A condition at which a step goes on in two ways, by a name: the ways become steps of their own."""
        if isinstance(condition, Truth) or self.bound:
            return condition
        known = next((one for one, _, meaning in self.branches if meaning == condition), None)
        if known is not None:
            return known
        named = Apply(self.name("branch"), (), BOOL)
        self.branches.append((named, tuple(self.path), condition))
        return named

    # ---- numbers ----

    def at_most(self, sort: str, left: Term, right: Term) -> Term:
        if left == right:
            return Truth(True)
        if isinstance(left, Apply) and isinstance(right, Apply):
            names = left.symbol, right.symbol
            if sort == NUMBER and set(names) <= self.signature.distinct:
                return Truth(int(names[0]) <= int(names[1]))
        return apply(self.signature.at_most(sort), (left, right))

    def less(self, sort: str, left: Term, right: Term) -> Term:
        return negation(self.at_most(sort, right, left))

    def shifted(self, number: Term, by: int) -> Term:
        """A number and a constant, added. Of more than one step it is known only that it lies beyond."""
        if by == 0:
            return number
        if isinstance(number, Apply) and number.symbol in self.signature.distinct:
            return self.signature.numeral(int(number.symbol) + by)
        result = self.symbol(NUMBER, "next" if by > 0 else "before")
        low, high = (number, result) if by > 0 else (result, number)
        self.define(self.less(NUMBER, low, high))
        if abs(by) == 1:
            between = self.variable(NUMBER, "between")
            self.define(
                forall(
                    (between,),
                    disjunction(self.at_most(NUMBER, between, low), self.at_most(NUMBER, high, between)),
                )
            )
        else:
            self.note(f"a number {'plus' if by > 0 else 'minus'} {abs(by)} is taken as any beyond it")
        return result

    def any_number(self, why: str) -> Term:
        """A number of which nothing is known."""
        self.note(why)
        self.signature.sort(Range(0, 0))
        return self.symbol(NUMBER, "number")
