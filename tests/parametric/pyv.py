"""A reader of files for mypyvy, written from its grammar and its rules of sorts: what it refuses, and what it would ask
a solver to verify a file.

**Source**: Feldman, Sagiv, Shoham, Wilcox and others: mypyvy, the modules `parser` and `typechecker` of its sources.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from lark import Lark, Token, Tree

GRAMMAR = r"""
start: declaration*
?declaration: "sort" ID                                             -> sort
    | MUTABLE "relation" ID ["(" ids ")"]                           -> relation
    | MUTABLE "constant" ID ":" ID                                  -> constant
    | MUTABLE "function" ID "(" ids ")" ":" ID                      -> function
    | "axiom" expr                                                  -> axiom
    | "init" expr                                                   -> init
    | "invariant" "[" ID "]" expr                                   -> invariant
    | "transition" ID "(" [vars] ")" body                           -> transition
body: "modifies" ids expr | "=" expr                                -> unmodified
ids: ID ("," ID)*
vars: variable ("," variable)*
variable: ID ":" ID
?expr: QUANTIFIER vars "." expr                                     -> quantified
    | "if" expr "then" expr "else" expr                             -> choice
    | equivalence
?equivalence: implication | implication "<->" implication           -> equivalent
?implication: disjunction | disjunction "->" implication            -> implies
?disjunction: conjunction | conjunction ("|" conjunction)+          -> disjunction
?conjunction: equation | equation ("&" equation)+                   -> conjunction
?equation: negated | negated "=" negated                            -> equal
    | negated "!=" negated                                          -> unequal
?negated: "!" negated                                               -> negation
    | "(" expr ")"
    | "new" "(" expr ")"                                            -> new
    | "distinct" "(" args ")"                                       -> distinct
    | "true"                                                        -> true
    | "false"                                                       -> false
    | ID                                                            -> name
    | ID "(" args ")"                                               -> applied
args: expr ("," expr)*
MUTABLE.2: "mutable" | "immutable"
QUANTIFIER.2: "forall" | "exists"
ID: /[a-zA-Z_][a-zA-Z_0-9]*/
COMMENT: /#.*/
%import common.WS
%ignore WS
%ignore COMMENT
"""
WORDS = (
    "modifies sort mutable immutable derived relation constant function init transition invariant sketch axiom new old",
    "forall exists true false zerostate onestate twostate theorem definition assume assert automaton global safety",
    "phase self any trace if then else let in sat unsat distinct",
)
RESERVED = frozenset(word for line in WORDS for word in line.split())
BOOL = "Bool"
SIGNS = {"conjunction": "and", "disjunction": "or", "implies": "=>", "equivalent": "=", "negation": "not"}


class Refused(Exception):
    """What mypyvy would not take."""


@dataclass(frozen=True)
class Declared:
    """A symbol: the sorts of its arguments, that of its value, and whether steps change it."""

    arguments: tuple[str, ...]
    sort: str
    mutable: bool


@dataclass
class Scope:
    """Where an expression stands. `locals`: sorts of variables; `new`: whether it is inside `new`; `states`: of how
    many states it may speak. `seen`: the mutable symbols it speaks of, with whether of the new state. `modified`: those
    that the step modifies; all others have one name before it and after it."""

    locals: dict[str, str]
    states: int
    new: bool = False
    seen: set[tuple[str, bool]] = field(default_factory=set)
    modified: frozenset[str] = frozenset()

    def inside(self, **changed: Any) -> Scope:
        """The same with something else."""
        return Scope(**{**self.__dict__, **changed})


@cache
def _parser() -> Lark:
    return Lark(GRAMMAR, parser="lalr", maybe_placeholders=True)


class Program:
    """A file that was read. Errors: `Refused`, `lark.UnexpectedInput`."""

    def __init__(self, text: str) -> None:
        self.sorts: list[str] = []
        self.symbols: dict[str, Declared] = {}
        self.axioms: list[str] = []
        self.inits: list[str] = []
        self.invariants: dict[str, tuple[str, str]] = {}
        self.transitions: dict[str, tuple[tuple[tuple[str, str], ...], str, frozenset[str]]] = {}
        tree = _parser().parse(text)
        for part in tree.children:
            self._declared(part)
        for part in tree.children:
            self._said(part)

    def _new(self, name: str) -> str:
        if name in RESERVED or name in self.symbols or name in self.sorts:
            raise Refused(f"{name} is taken")
        return name

    def _sort(self, name: str) -> str:
        if name not in self.sorts:
            raise Refused(f"there is no sort {name}")
        return name

    def _declared(self, part: Tree[Token]) -> None:
        match part.data, [one if isinstance(one, Tree) else one and str(one) for one in part.children]:
            case "sort", [name]:
                self.sorts.append(self._new(name))
            case "relation", [kind, name, ids]:
                arguments = tuple(self._sort(str(one)) for one in ids.children) if ids else ()
                self.symbols[self._new(name)] = Declared(arguments, BOOL, kind == "mutable")
            case "constant", [kind, name, sort]:
                self.symbols[self._new(name)] = Declared((), self._sort(sort), kind == "mutable")
            case "function", [kind, name, ids, sort]:
                arguments = tuple(self._sort(str(one)) for one in ids.children)
                self.symbols[self._new(name)] = Declared(arguments, self._sort(sort), kind == "mutable")

    def _said(self, part: Tree[Token]) -> None:
        match part.data, part.children:
            case "axiom", [expr]:
                self.axioms.append(self._formula(expr, Scope({}, 0)))
            case "init", [expr]:
                scope = Scope({}, 1)
                self.inits.append(self._formula(expr, scope))
                if not scope.seen:
                    raise Refused("an initial condition mentions no mutable symbol")
            case "invariant", [name, expr]:
                scope = Scope({}, 1)
                every = frozenset(one for one, symbol in self.symbols.items() if symbol.mutable)
                after = self._formula(expr, Scope({}, 2, new=True, modified=every))
                self.invariants[str(name)] = self._formula(expr, scope), after
                if not scope.seen:
                    raise Refused(f"{name} mentions no mutable symbol")
            case "transition", [name, parameters, body]:
                self._step(str(name), parameters, body)

    def _step(self, name: str, parameters: Tree[Token] | None, body: Tree[Token]) -> None:
        own = tuple(self._variables(parameters)) if parameters else ()
        modified = frozenset(str(one) for one in body.children[0].children) if body.data == "body" else frozenset()
        for one in modified:
            if one not in self.symbols or not self.symbols[one].mutable:
                raise Refused(f"{name} modifies {one}, which is not mutable")
        scope = Scope(dict(own), 2, modified=modified)
        formula = self._formula(body.children[-1], scope)
        after = {one for one, new in scope.seen if new}
        if after - modified:
            raise Refused(f"{name} does not say that it modifies {after - modified}")
        if modified - after:
            raise Refused(f"{name} modifies {modified - after}, which it does not speak of")
        self.transitions[name] = own, formula, modified

    def _variables(self, found: Tree[Token]) -> Iterator[tuple[str, str]]:
        for one in found.children:
            name, sort = map(str, one.children)
            if name in self.symbols or name in RESERVED:
                raise Refused(f"{name} is declared globally")
            yield name, self._sort(sort)

    def _formula(self, expr: Any, scope: Scope) -> str:
        return self._of(expr, scope, BOOL)

    def _of(self, expr: Any, scope: Scope, sort: str) -> str:
        told, found = self._told(expr, scope)
        if found != sort:
            raise Refused(f"expected {sort}, got {found}")
        return told

    def _told(self, expr: Any, scope: Scope) -> tuple[str, str]:
        """An expression as SMT-LIB, and its sort."""
        match expr.data, expr.children:
            case "quantified", [word, variables, body]:
                own = dict(self._variables(variables))
                listed = " ".join(f"(|{name}| |{sort}|)" for name, sort in own.items())
                inside = scope.inside(locals={**scope.locals, **own})
                return f"({word} ({listed}) {self._formula(body, inside)})", BOOL
            case "choice", [condition, then, otherwise]:
                first, sort = self._told(then, scope)
                return f"(ite {self._formula(condition, scope)} {first} {self._of(otherwise, scope, sort)})", sort
            case "equal" | "unequal" | "distinct" as word, parts:
                parts = parts[0].children if word == "distinct" else parts
                first, sort = self._told(parts[0], scope)
                rest = " ".join(self._of(one, scope, sort) for one in parts[1:])
                return f"({'=' if word == 'equal' else 'distinct'} {first} {rest})", BOOL
            case "true" | "false" as word, _:
                return str(word), BOOL
            case "new", [inner]:
                if scope.states < 2 or scope.new:
                    raise Refused("`new` cannot stand here")
                return self._told(inner, scope.inside(new=True))
            case "name", [name]:
                if str(name) in scope.locals:
                    return f"|{name}|", scope.locals[str(name)]
                return self._symbol(str(name), (), scope)
            case "applied", [name, args]:
                return self._symbol(str(name), tuple(args.children), scope)
            case word, parts:
                return f"({SIGNS[str(word)]} {' '.join(self._formula(one, scope) for one in parts)})", BOOL

    def _symbol(self, name: str, args: tuple[Any, ...], scope: Scope) -> tuple[str, str]:
        if name not in self.symbols:
            raise Refused(f"{name} is not declared")
        symbol = self.symbols[name]
        if len(args) != len(symbol.arguments):
            raise Refused(f"{name} takes {len(symbol.arguments)} arguments")
        if symbol.mutable and not scope.states:
            raise Refused(f"{name} is mutable")
        if symbol.mutable:
            scope.seen.add((name, scope.new))
        mark = "'" if scope.new and name in scope.modified else ""
        inside = " ".join(self._of(one, scope, sort) for one, sort in zip(args, symbol.arguments, strict=True))
        return (f"(|{name}{mark}| {inside})" if args else f"|{name}{mark}|"), symbol.sort

    # ---- what has to be shown ----

    def obligations(self) -> Iterator[tuple[str, str]]:
        """What the file claims, as texts that a solver has to find contradictory: that each invariant holds at first,
        and that each step keeps it."""
        for name, (formula, _) in self.invariants.items():
            yield f"{name} at first", self._text([*self.axioms, *self.inits, f"(not {formula})"])
        held = [before for before, _ in self.invariants.values()]
        for step, (own, formula, modified) in self.transitions.items():
            constants = [f"(declare-const |{name}| |{sort}|)" for name, sort in own]
            same = [self._unchanged(name) for name, one in self.symbols.items() if one.mutable and name not in modified]
            for name, (_, after) in self.invariants.items():
                said = [*self.axioms, *held, formula, *same, f"(not {after})"]
                yield f"{step} keeps {name}", self._text(said, constants)

    def _unchanged(self, name: str) -> str:
        arguments = self.symbols[name].arguments
        if not arguments:
            return f"(= |{name}'| |{name}|)"
        listed = " ".join(f"(|a{place}| |{sort}|)" for place, sort in enumerate(arguments))
        inside = " ".join(f"|a{place}|" for place in range(len(arguments)))
        return f"(forall ({listed}) (= (|{name}'| {inside}) (|{name}| {inside})))"

    def _text(self, said: list[str], more: list[str] | None = None) -> str:
        lines = [f"(declare-sort |{sort}| 0)" for sort in self.sorts]
        for name, symbol in self.symbols.items():
            arguments = " ".join(f"|{sort}|" for sort in symbol.arguments)
            sort = symbol.sort if symbol.sort == BOOL else f"|{symbol.sort}|"
            lines += [
                f"(declare-fun |{name}{mark}| ({arguments}) {sort})"
                for mark in (("", "'") if symbol.mutable else ("",))
            ]
        return "\n".join([*lines, *(more or []), *(f"(assert {one})" for one in said)])
