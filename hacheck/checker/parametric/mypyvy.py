"""A theory in the language of mypyvy, for people who want to go on with it there.

Only what that language has is written: enumerations become sorts with named, distinct members, and what types say of
states stands in `init` and in each transition. Hints to provers are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from hacheck.checker.parametric.logic import (
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
)
from hacheck.checker.parametric.smtlib import undeclared
from hacheck.checker.parametric.theory import Claim, Theory, Transition

WORDS = frozenset(
    (
        "sort relation function constant axiom init transition invariant safety theorem modifies new old forall exists",
        "true false if then else let in bool int mutable immutable derived definition sketch assume distinct trace",
    )
)


class Names:
    """Names as mypyvy has them: letters, digits and `_`, each for one name of the theory."""

    def __init__(self) -> None:
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
        return "bool" if text == BOOL else self.of(text, "sort")


def text(theory: Theory, invariants: Iterable[Claim]) -> str:
    """The theory and its invariants as a file for mypyvy."""
    names = Names()
    lines = [f"# {theory.name}: {', '.join(theory.covers)}", ""]
    lines += [f"sort {names.sort(one.name)}" for one in theory.sorts]
    for sort in theory.sorts:
        members = [names.of(one) for one in sort.members]
        lines += [f"immutable constant {one}: {names.sort(sort.name)}" for one in members]
        if len(members) > 1:
            lines.append(f"axiom distinct({', '.join(members)})")
        if members:
            cases = " | ".join(f"X = {one}" for one in members)
            lines.append(f"axiom forall X:{names.sort(sort.name)}. {cases}")
    lines += [_declaration(names, one, "immutable") for one in theory.rigid]
    lines += [_declaration(names, one, "immutable") for one in _whatever(theory)]
    for meaning, axiom in theory.axioms:
        lines += [f"# {meaning}", f"axiom {_term(names, axiom, {})}"]
    lines += [_declaration(names, one, "mutable") for one in theory.state]
    lines += _start(names, theory)
    for transition in theory.transitions:
        lines += ["", *_transition(names, theory, transition)]
    lines.append("")
    for claim in invariants:
        if not claim.of_steps and not claim.symbols:
            lines.append(f"invariant [{names.of(claim.name, 'claim')}] {_term(names, claim.formula, {})}")
    return "\n".join(lines) + "\n"


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
    for fact in theory.typing:
        yield f"init {_term(names, fact, {})}"
    for symbol in theory.start.symbols:
        yield _declaration(names, symbol, "immutable")
    for fact in (*theory.start.defined, *theory.start.conditions):
        yield f"init {_term(names, fact, {})}"
    for update in theory.start.updates:
        yield f"init {_updated(names, update.symbol, update.formals, update.value, new=False)}"


def _updated(names: Names, symbol: Symbol, formals: tuple[Bound, ...], value: Term, *, new: bool) -> str:
    variables = ", ".join(f"{names.of(one.name, 'variable')}:{names.sort(one.sort)}" for one in formals)
    arguments = ", ".join(names.of(one.name, "variable") for one in formals)
    left = names.of(symbol.name) + (f"({arguments})" if formals else "")
    left = f"new({left})" if new else left
    equals = "<->" if symbol.sort == BOOL else "="
    body = f"{left} {equals} ({_term(names, value, {})})"
    return f"(forall {variables}. {body})" if formals else f"({body})"


def _transition(names: Names, theory: Theory, transition: Transition) -> Iterator[str]:
    """A transition: its fresh constants are parameters; fresh functions are symbols that every step may choose anew."""
    constants = [one for one in transition.symbols if not one.arguments and one.sort != BOOL]
    others = [one for one in transition.symbols if one not in constants]
    for one in others:
        yield _declaration(names, one, "mutable")
    parameters = {one.name: names.of(one.name, "parameter") for one in constants}
    listed = ", ".join(f"{parameters[one.name]}: {names.sort(one.sort)}" for one in constants)
    changed = [update.symbol for update in transition.updates]
    yield f"transition {names.of(transition.name, 'transition')}({listed})"
    modified = [names.of(one.name) for one in changed]
    free = [
        names.of(one.name) for step in theory.transitions for one in step.symbols if one.arguments or one.sort == BOOL
    ]
    if modified or free:
        yield f"  modifies {', '.join(dict.fromkeys((*modified, *free)))}"
    facts = (*theory.typing, *transition.defined, *transition.conditions)
    said = [_term(names, fact, parameters) for fact in facts]
    for update in transition.updates:
        value = _Substituted(names, parameters)
        said.append(value.update(update.symbol, update.formals, update.value))
    yield "  " + "\n  & ".join(f"({one})" for one in said or ["true"])


class _Substituted:
    def __init__(self, names: Names, parameters: Mapping[str, str]) -> None:
        self._names, self._parameters = names, parameters

    def update(self, symbol: Symbol, formals: tuple[Bound, ...], value: Term) -> str:
        """What a symbol becomes, where constants of the step are parameters."""
        names = self._names
        variables = ", ".join(f"{names.of(one.name, 'variable')}:{names.sort(one.sort)}" for one in formals)
        arguments = ", ".join(names.of(one.name, "variable") for one in formals)
        left = names.of(symbol.name) + (f"({arguments})" if formals else "")
        equals = "<->" if symbol.sort == BOOL else "="
        body = f"new({left}) {equals} ({_term(names, value, self._parameters)})"
        return f"forall {variables}. {body}" if formals else body


def _term(names: Names, term: Term, parameters: Mapping[str, str]) -> str:
    def inner(one: Term) -> str:
        return _term(names, one, parameters)

    match term:
        case Truth(value):
            return "true" if value else "false"
        case Bound(name, _):
            return names.of(name, "variable")
        case Apply(symbol, (), _):
            return parameters.get(symbol) or names.of(symbol)
        case Apply(symbol, arguments, _):
            return f"{names.of(symbol)}({', '.join(map(inner, arguments))})"
        case Equal(left, right):
            return f"({inner(left)} = {inner(right)})"
        case Not(operand):
            return f"!({inner(operand)})"
        case Junction(word, inside):
            return f"({f' {_SIGNS[word]} '.join(map(inner, inside))})"
        case Choice(condition, then, otherwise):
            return f"(if {inner(condition)} then {inner(then)} else {inner(otherwise)})"
        case Quantifier(word, variables, body, _):
            listed = ", ".join(f"{names.of(one.name, 'variable')}:{names.sort(one.sort)}" for one in variables)
            return f"({word} {listed}. {inner(body)})"
        case _:
            assert_never(term)


_SIGNS = {"and": "&", "or": "|"}
