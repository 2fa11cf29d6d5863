"""A theory at one size: every sort with a few elements, every quantifier written out, numbers from the least one on.

Where a step from a state that meets all claims to one that does not exists at a small size, it is an answer: the claims
are not inductive. Where there is none, which claims are needed at this size is a good guess of which are needed at all.
Nothing is proved by it for other sizes.

Terms of `Bool` become text of SMT-LIB; a term of another sort becomes a condition for each element it may be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import TypeAlias, assert_never

from msgspec import Struct, field

from hacheck.checker.parametric.encoding_context import NUMBER
from hacheck.checker.parametric.first_order_logic import (
    BOOL,
    WHATEVER,
    Apply,
    Bound,
    Choice,
    Equal,
    Junction,
    Not,
    Quantifier,
    Term,
    Truth,
    sort_of,
)
from hacheck.checker.parametric.proof_obligations import Obligation, afterwards, parts
from hacheck.checker.parametric.theory import Theory, Update, after

Element: TypeAlias = "int | str | frozenset[int]"
Spread: TypeAlias = "dict[Element, str]"
T, F = "true", "false"


def negated(one: str) -> str:
    if one in (T, F):
        return F if one == T else T
    return one[5:-1] if one.startswith("(not ") else f"(not {one})"


def junction(word: str, parts_: Iterator[str]) -> str:
    """Conditions joined by `and` or `or`."""
    neutral, deciding = (T, F) if word == "and" else (F, T)
    kept: dict[str, None] = {}
    for one in parts_:
        if one == deciding:
            return deciding
        if one != neutral:
            kept[one] = None
    if len(kept) < 2:
        return next(iter(kept), neutral)
    return f"({word} {' '.join(kept)})"


class Grounding(Struct):
    """A theory at given sizes, as propositional text. `elements`: those of each sort. `atoms`: the name of each
    proposition, by symbol, arguments and value. `lines`: declarations and what holds of them, in order; they grow."""

    theory: Theory
    sizes: Mapping[str, int]
    numbers: int
    below: int = 0
    elements: dict[str, tuple[Element, ...]] = field(default_factory=dict)
    atoms: dict[tuple[str, tuple[Element, ...], Element], str] = field(default_factory=dict)
    values: dict[tuple[str, tuple[Element, ...]], Spread] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    updates: dict[str, Update] = field(default_factory=dict)

    # ---- elements ----

    def prepare(self) -> None:
        """Chooses the elements of every sort."""
        numerals = [int(one.name) for one in self.theory.rigid if one.sort == NUMBER and _is_number(one.name)]
        low = min([0, *numerals]) - self.below
        high = max([low + self.numbers - 1, *(one + 1 for one in numerals)])
        for sort in self.theory.sorts:
            if sort.members:
                self.elements[sort.name] = sort.members
            elif sort.name == NUMBER:
                self.elements[sort.name] = tuple(range(low, high + 1))
            elif not sort.name.endswith(" quorum"):
                self.elements[sort.name] = tuple(range(1, self.sizes.get(sort.name, 3) + 1))
        for sort in self.theory.sorts:
            if sort.name.endswith(" quorum"):
                nodes = [one for one in self.elements[sort.name.removesuffix(" quorum")] if isinstance(one, int)]
                groups = combinations(nodes, len(nodes) // 2 + 1)
                self.elements[sort.name] = tuple(frozenset(group) for group in groups)

    # ---- terms ----

    def truth(self, term: Term, env: Mapping[Bound, Spread]) -> str:
        """A formula as propositional text."""
        match term:
            case Truth(value):
                return T if value else F
            case Bound():
                return env[term][T]
            case Apply():
                return self._apply(term, env)[T]
            case Equal(left, right):
                return self._equal(left, right, env)
            case Not(operand):
                return negated(self.truth(operand, env))
            case Junction(word, inside):
                return junction(word, (self.truth(one, env) for one in inside))
            case Choice(condition, then, otherwise):
                return self._ite(self.truth(condition, env), self.truth(then, env), self.truth(otherwise, env))
            case Quantifier(word, variables, body, _):
                spaces = [self._space(one.sort) for one in variables]
                return junction(
                    "and" if word == "forall" else "or",
                    (self.truth(body, {**env, **dict(zip(variables, one, strict=True))}) for one in product(*spaces)),
                )
            case _:
                assert_never(term)

    def _space(self, sort: str) -> list[Spread]:
        if sort == BOOL:
            return [{T: T}, {T: F}]
        return [{one: T} for one in self.elements[sort]]

    def _ite(self, condition: str, then: str, otherwise: str) -> str:
        if condition in (T, F):
            return then if condition == T else otherwise
        if then == otherwise:
            return then
        if then in (T, F) or otherwise in (T, F):
            one = junction("and", iter((condition, then)))
            return junction("or", iter((one, junction("and", iter((negated(condition), otherwise))))))
        return f"(ite {condition} {then} {otherwise})"

    def _equal(self, left: Term, right: Term, env: Mapping[Bound, Spread]) -> str:
        if sort_of(left) == BOOL:
            one, other = self.truth(left, env), self.truth(right, env)
            if one in (T, F) or other in (T, F):
                known, open_ = (one, other) if one in (T, F) else (other, one)
                return open_ if known == T else negated(open_)
            return T if one == other else f"(= {one} {other})"
        first, second = self.spread(left, env), self.spread(right, env)
        return junction("or", (junction("and", iter((first[one], second[one]))) for one in first if one in second))

    def spread(self, term: Term, env: Mapping[Bound, Spread]) -> Spread:
        """A term of another sort: for each element that it may be, when it is that."""
        match term:
            case Bound():
                return env[term]
            case Apply():
                return self._apply(term, env)
            case Choice(condition, then, otherwise):
                decided = self.truth(condition, env)
                one, other = self.spread(then, env), self.spread(otherwise, env)
                found = {
                    item: self._ite(decided, one.get(item, F), other.get(item, F))
                    for item in dict.fromkeys((*one, *other))
                }
                return {item: when for item, when in found.items() if when != F}
            case _:
                raise AssertionError(f"{term} is a formula")

    def _apply(self, term: Apply, env: Mapping[Bound, Spread]) -> Spread:
        given = [{T: self.truth(one, env)} if sort_of(one) == BOOL else self.spread(one, env) for one in term.arguments]
        choices: list[tuple[tuple[Element, ...], str]] = [((), T)]
        for one in given:
            pairs: list[tuple[Element, str]] = list(one.items())
            if set(one) == {T}:
                pairs = [(T, one[T]), (F, negated(one[T]))]
            longer = [
                ((*keys, key), junction("and", iter((when, also)))) for keys, when in choices for key, also in pairs
            ]
            choices = [(keys, when) for keys, when in longer if when != F]
        if len(choices) == 1 and choices[0][1] == T:
            return self._at(term.symbol, choices[0][0], term.sort)
        merged: dict[Element, list[str]] = {}
        for keys, when in choices:
            for item, also in self._at(term.symbol, keys, term.sort).items():
                merged.setdefault(item, []).append(junction("and", iter((when, also))))
        return {item: junction("or", iter(conditions)) for item, conditions in merged.items()} or {T: F}

    def _at(self, symbol: str, keys: tuple[Element, ...], sort: str) -> Spread:
        known = self._fixed(symbol, keys, sort)
        if known is not None:
            return known
        if (symbol, keys) not in self.values:
            self.values[symbol, keys] = (
                self._updated(symbol, keys, sort) if symbol in self.updates else self._open(symbol, keys, sort)
            )
        return self.values[symbol, keys]

    def _fixed(self, symbol: str, keys: tuple[Element, ...], sort: str) -> Spread | None:
        """What a symbol with one meaning is."""
        if symbol.endswith("at_most"):
            return {T: T if keys[0] <= keys[1] else F}  # type: ignore[operator]
        if symbol.startswith("mentioned "):
            return {T: T}
        if symbol.startswith("in ") and symbol.endswith(" quorum"):
            return {T: T if keys[0] in keys[1] else F}  # type: ignore[operator]
        if keys:
            return None
        if symbol.startswith(WHATEVER):
            return {self.elements[sort][0]: T}
        if symbol in self.elements.get(sort, ()):
            return {symbol: T}
        if sort == NUMBER and _is_number(symbol):
            return {int(symbol): T}
        inside = symbol.removeprefix(f"{sort}(").removesuffix(")")
        if symbol == f"{sort}({inside})" and inside.isdigit():
            return {int(inside): T}
        return None

    def _open(self, symbol: str, keys: tuple[Element, ...], sort: str) -> Spread:
        if sort == BOOL:
            return {T: self._atom(symbol, keys, T)}
        found: Spread = {one: self._atom(symbol, keys, one) for one in self.elements[sort]}
        names = list(found.values())
        self.lines.append(f"(assert {junction('or', iter(names))})")
        self.lines += (f"(assert (or (not {one}) (not {other})))" for one, other in combinations(names, 2))
        return found

    def _updated(self, symbol: str, keys: tuple[Element, ...], sort: str) -> Spread:
        update = self.updates[symbol]
        env: dict[Bound, Spread] = {
            one: {T: str(key)} if one.sort == BOOL else {key: T} for one, key in zip(update.formals, keys, strict=True)
        }
        if sort == BOOL:
            return {T: self._named(symbol, keys, T, self.truth(update.value, env))}
        new = self.spread(update.value, env)
        return {item: self._named(symbol, keys, item, when) for item, when in new.items()}

    def _named(self, symbol: str, keys: tuple[Element, ...], value: Element, meaning: str) -> str:
        if len(meaning) < 40:
            return meaning
        name = self._atom(symbol, keys, value)
        self.lines.append(f"(assert (= {name} {meaning}))")
        return name

    def _atom(self, symbol: str, keys: tuple[Element, ...], value: Element) -> str:
        name = f"p{len(self.atoms)}"
        self.atoms[symbol, keys, value] = name
        self.lines.append(f"(declare-fun {name} () Bool)")
        return name


def _is_number(text: str) -> bool:
    return text.removeprefix("-").isdigit()


def grounding(theory: Theory, sizes: Mapping[str, int], numbers: int = 4, below: int = 0) -> Grounding:
    """A theory at these sizes, with so many numbers at least; `below`: how many of them lie below all that it names."""
    made = Grounding(theory, sizes, numbers, below)
    made.prepare()
    return made


def ground(one: Obligation, base: Grounding) -> list[tuple[str, str]]:
    """The assertions of an obligation at a size, each with what it says. Declarations are among the lines of `base`."""
    _, said = parts(one)
    base.updates = {after(update.symbol.name): update for update in one.transition.updates}
    assert set(base.updates) <= set(afterwards(one).values()), "an update of what does not change"
    return [(meaning, base.truth(fact, {})) for meaning, fact in said]


def sizes_of(theory: Theory, size: int) -> dict[str, int]:
    """Every kind of node with so many members, and every pool of identities with one more."""
    open_ = theory.open_kinds
    return {
        one.name: size if one.name in open_ else size + 1
        for one in theory.sorts
        if not one.members and one.name != NUMBER
    }
