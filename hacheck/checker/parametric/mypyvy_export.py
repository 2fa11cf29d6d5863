"""A theory in the language of mypyvy, for people who want to go on with it there.

Only what that language has is written: enumerations become sorts with named, distinct members, and so do truth values
that are arguments; what types say of states stands in `init` and in each transition. Hints to provers are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

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
    Symbol,
    Term,
    Truth,
    sort_of,
    symbols_of,
)
from hacheck.checker.parametric.smtlib_text import undeclared
from hacheck.checker.parametric.theory import Claim, Theory, Transition, Update

WORDS = frozenset(
    (
        "sort relation function constant axiom init transition invariant safety theorem modifies new old forall exists",
        "true false if then else let in bool int mutable immutable derived definition sketch assume distinct trace",
        "zerostate onestate twostate assert automaton global phase self any sat unsat",
    )
)


class Names:
    """Names as mypyvy has them: letters, digits and `_`, each for one name of the theory."""

    def __init__(self) -> None:
        self.has_truths = False
        self._by_text: dict[tuple[str, str], str] = {}
        self._used: set[str] = {word for line in WORDS for word in line.split()}

    def of(self, text: str, kind: str = "symbol") -> str:
        """The name of a symbol, a sort or a variable."""
        if (kind, text) not in self._by_text:
            plain = re.sub(r"\W+", "_", text.replace("?", "_there")).strip("_") or "x"
            plain = plain.upper() if kind == "variable" else plain
            plain = f"n{plain}" if plain[0].isdigit() else plain
            made, number = plain, 1
            while made in self._used:
                number += 1
                made = f"{plain}_{number}"
            self._used.add(made)
            self._by_text[kind, text] = made
        return self._by_text[kind, text]

    def sort(self, text: str) -> str:
        """The name of a sort; of truth values that of the sort which stands for them."""
        self.has_truths = self.has_truths or text == BOOL
        return self.of(text, "sort")

    def truth(self, value: bool) -> str:
        """The name of a truth value where it is a member of a sort."""
        return self.of("holds" if value else "does not hold", "truth value")


def text(theory: Theory, invariants: Iterable[Claim]) -> str:
    """The theory and its invariants as a file for mypyvy."""
    names = Names()
    lines: list[str] = []
    for sort in theory.sorts:
        lines += _sort(names, names.sort(sort.name), [names.of(one) for one in sort.members])
    lines += [_declaration(names, one, "immutable") for one in theory.rigid]
    lines += [_declaration(names, one, "immutable") for one in _whatever(theory)]
    for meaning, axiom in theory.axioms:
        lines += [f"# {meaning}", f"axiom {_term(names, axiom, {})}"]
    lines += [_declaration(names, one, "mutable") for one in theory.state]
    anew = dict.fromkeys(one for step in theory.transitions for one in _chosen_anew(step))
    lines += [_declaration(names, one, "mutable") for one in anew]
    lines += _start(names, theory)
    for transition in theory.transitions:
        lines += ["", *_transition(names, theory, transition)]
    lines.append("")
    mutable = {one.name for one in theory.state}
    for claim in invariants:
        name = names.of(claim.name, "claim")
        if claim.of_steps or claim.symbols or not mutable & symbols_of(claim.formula):
            lines.append(f"# left out: {name}, which is no formula about one state")
        else:
            lines.append(f"invariant [{name}] {_term(names, claim.formula, {})}")
    truths: list[str] = []
    if names.has_truths:
        truths = list(_sort(names, names.sort(BOOL), [names.truth(value) for value in (True, False)]))
    return "\n".join([f"# {theory.name}: {', '.join(theory.covers)}", "", *truths, *lines]) + "\n"


def _sort(names: Names, name: str, members: list[str]) -> Iterator[str]:
    """A sort, and its members if they are known."""
    yield f"sort {name}"
    yield from (f"immutable constant {one}: {name}" for one in members)
    if len(members) > 1:
        yield f"axiom distinct({', '.join(members)})"
    if members:
        one = names.of("member", "variable")
        yield f"axiom forall {one}:{name}. {' | '.join(f'{one} = {member}' for member in members)}"


def _whatever(theory: Theory) -> list[Symbol]:
    terms = [update.value for one in (theory.start, *theory.transitions) for update in one.updates]
    return [one for name, one in undeclared(terms, ()).items() if name.startswith(WHATEVER)]


def _declaration(names: Names, symbol: Symbol, kind: str) -> str:
    arguments = ", ".join(map(names.sort, symbol.arguments))
    inside = f"({arguments})" if arguments else ""
    if symbol.sort == BOOL:
        return f"{kind} relation {names.of(symbol.name)}{inside}"
    if not arguments:
        return f"{kind} constant {names.of(symbol.name)}: {names.sort(symbol.sort)}"
    return f"{kind} function {names.of(symbol.name)}{inside}: {names.sort(symbol.sort)}"


def _start(names: Names, theory: Theory) -> Iterator[str]:
    mutable = {one.name for one in theory.state}
    for symbol in theory.start.symbols:
        yield _declaration(names, symbol, "immutable")
    for fact in (*theory.typing, *theory.start.defined, *theory.start.conditions):
        # What speaks of no mutable symbol is no initial condition there.
        yield f"{'init' if mutable & symbols_of(fact) else 'axiom'} {_term(names, fact, {})}"
    for update in theory.start.updates:
        yield f"init ({_updated(names, update, {}, new=False)})"


def _updated(names: Names, update: Update, parameters: Mapping[str, str], *, new: bool) -> str:
    """What a symbol is after a step, or (not `new`) at the start, where constants of the step are parameters."""
    left = _applied(names, update.symbol, update.formals)
    equals = "<->" if update.symbol.sort == BOOL else "="
    body = f"{f'new({left})' if new else left} {equals} ({_term(names, update.value, parameters)})"
    return _for_all(names, update.formals, body)


def _kept_free(names: Names, symbol: Symbol) -> str:
    """That a symbol is after a step what it is: without such a sentence mypyvy takes it for forgotten."""
    formals = tuple(Bound(f"any {place}", sort) for place, sort in enumerate(symbol.arguments))
    applied = _applied(names, symbol, formals)
    return _for_all(names, formals, f"new({applied}) {'<->' if symbol.sort == BOOL else '='} new({applied})")


def _applied(names: Names, symbol: Symbol, formals: tuple[Bound, ...]) -> str:
    arguments = ", ".join(names.of(one.name, "variable") for one in formals)
    return names.of(symbol.name) + (f"({arguments})" if formals else "")


def _for_all(names: Names, formals: tuple[Bound, ...], body: str) -> str:
    return f"forall {_variables(names, formals)}. {body}" if formals else body


def _variables(names: Names, variables: tuple[Bound, ...]) -> str:
    return ", ".join(f"{names.of(one.name, 'variable')}:{names.sort(one.sort)}" for one in variables)


def _transition(names: Names, theory: Theory, transition: Transition) -> Iterator[str]:
    """A transition: its fresh constants are parameters; fresh functions are symbols that every step may choose anew."""
    constants = [one for one in transition.symbols if one not in _chosen_anew(transition)]
    parameters = {one.name: names.of(one.name, "parameter") for one in constants}
    listed = ", ".join(f"{parameters[one.name]}: {names.sort(one.sort)}" for one in constants)
    changed = {update.symbol for update in transition.updates}
    free = [one for step in theory.transitions for one in _chosen_anew(step) if one not in changed]
    yield f"transition {names.of(transition.name, 'transition')}({listed})"
    modified = dict.fromkeys(names.of(one.name) for one in (*(update.symbol for update in transition.updates), *free))
    yield f"  modifies {', '.join(modified)}" if modified else "  ="
    facts = (*theory.typing, *transition.defined, *transition.conditions)
    said = [_term(names, fact, parameters) for fact in facts]
    said += [_updated(names, update, parameters, new=True) for update in transition.updates]
    said += dict.fromkeys(_kept_free(names, one) for one in free)
    yield "  " + "\n  & ".join(f"({one})" for one in said or ["true"])


def _chosen_anew(transition: Transition) -> list[Symbol]:
    return [one for one in transition.symbols if one.arguments or one.sort == BOOL]


def _term(names: Names, term: Term, parameters: Mapping[str, str]) -> str:
    def inner(one: Term) -> str:
        return _term(names, one, parameters)

    match term:
        case Truth(value):
            return "true" if value else "false"
        case Bound(name, sort):
            variable = names.of(name, "variable")
            return f"({variable} = {names.truth(True)})" if sort == BOOL else variable
        case Apply(symbol, (), _):
            return parameters.get(symbol) or names.of(symbol)
        case Apply(symbol, arguments, _):
            return f"{names.of(symbol)}({', '.join(_argument(names, one, parameters) for one in arguments)})"
        case Equal(left, right):
            return f"({inner(left)} = {inner(right)})"
        case Not(operand):
            return f"!({inner(operand)})"
        case Junction(word, inside):
            return f"({f' {_SIGNS[word]} '.join(map(inner, inside))})"
        case Choice(condition, then, otherwise):
            return f"(if {inner(condition)} then {inner(then)} else {inner(otherwise)})"
        case Quantifier(word, variables, body, _):
            return f"({word} {_variables(names, variables)}. {inner(body)})"
        case _:
            assert_never(term)


def _argument(names: Names, term: Term, parameters: Mapping[str, str]) -> str:
    """An argument; truth values, which are no sort there, are members of one."""
    if sort_of(term) != BOOL:
        return _term(names, term, parameters)
    if isinstance(term, Bound):
        return names.of(term.name, "variable")
    return f"(if {_term(names, term, parameters)} then {names.truth(True)} else {names.truth(False)})"


_SIGNS = {"and": "&", "or": "|"}
