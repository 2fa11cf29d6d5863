"""Formulas as SMT-LIB 2 text, which Z3 and other solvers read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import assert_never

from hacheck.checker.parametric.first_order_logic import (
    BOOL,
    Apply,
    Bound,
    Choice,
    Equal,
    Junction,
    Not,
    Quantifier,
    Sort,
    Symbol,
    Term,
    Truth,
    walk,
)

NEGATIVE = re.compile(r"-[0-9]+")
"""What Z3 reads as a number, though the standard has it for a name."""
SIMPLE = re.compile(r"[a-zA-Z~!@%^&*_+=<>.?/-][a-zA-Z0-9~!@%^&*_+=<>.?/-]*")
RESERVED = frozenset(
    {"and", "or", "not", "=", "ite", "true", "false", "let", "forall", "exists", "as", "par", "_", "!"}
)


def name(text: str) -> str:
    """A name as SMT-LIB has it: quoted, unless it is a simple symbol."""
    plain = SIMPLE.fullmatch(text) and text not in RESERVED and not NEGATIVE.fullmatch(text)
    return text if plain else f"|{text}|"


def sort_name(sort: str) -> str:
    return sort if sort == BOOL else name(f"{sort}")


def term(one: Term) -> str:
    """A term."""
    match one:
        case Truth(value):
            return "true" if value else "false"
        case Bound(text, _):
            return name(text)
        case Apply(symbol, (), _):
            return name(symbol)
        case Apply(symbol, arguments, _):
            return f"({name(symbol)} {' '.join(map(term, arguments))})"
        case Equal(left, right):
            return f"(= {term(left)} {term(right)})"
        case Not(operand):
            return f"(not {term(operand)})"
        case Junction(word, inside):
            return f"({word} {' '.join(map(term, inside))})"
        case Choice(condition, then, otherwise):
            return f"(ite {term(condition)} {term(then)} {term(otherwise)})"
        case Quantifier(word, variables, body, ()):
            return f"({word} ({formals(variables)}) {term(body)})"
        case Quantifier(word, variables, body, patterns):
            hint = " ".join(map(term, patterns))
            return f"({word} ({formals(variables)}) (! {term(body)} :pattern ({hint})))"
        case _:
            assert_never(one)


def formals(variables: Iterable[Bound]) -> str:
    return " ".join(f"({name(one.name)} {sort_name(one.sort)})" for one in variables)


def sorts(declared: Iterable[Sort]) -> Iterator[str]:
    """Declarations of sorts: those with known members as enumerations."""
    for one in declared:
        if one.members:
            members = " ".join(f"({name(item)})" for item in one.members)
            yield f"(declare-datatypes (({sort_name(one.name)} 0)) (({members})))"
        else:
            yield f"(declare-sort {sort_name(one.name)} 0)"


def declaration(symbol: Symbol) -> str:
    arguments = " ".join(map(sort_name, symbol.arguments))
    return f"(declare-fun {name(symbol.name)} ({arguments}) {sort_name(symbol.sort)})"


def definition(symbol: str, variables: Iterable[Bound], sort: str, value: Term) -> str:
    return f"(define-fun {name(symbol)} ({formals(variables)}) {sort_name(sort)}\n  {term(value)})"


def assertion(formula: Term) -> str:
    return f"(assert {term(formula)})"


def comment(text: str) -> str:
    return "\n".join(f"; {line}" for line in text.splitlines())


def undeclared(formulas: Iterable[Term], known: Iterable[str]) -> dict[str, Symbol]:
    """Symbols used and declared nowhere: values that nobody asks for, and members of enumerations left out."""
    declared = set(known)
    found: dict[str, Symbol] = {}
    for formula in formulas:
        for one in walk(formula):
            if isinstance(one, Apply) and one.symbol not in declared:
                found[one.symbol] = Symbol(one.symbol, (), one.sort)
    return found
