"""Whether a solver is sure to come to an end: no sort depends on itself.

A function from one sort to another, and an `exists` of one sort below a `forall` of another, make elements of the one
out of elements of the other. Where these dependencies go round in no circle, only finitely many elements matter, and
validity is decidable (the fragment known as EPR, with functions between sorts in one direction). A majority claimed for
each node makes a circle: each node has a quorum, and each two quorums have a node.

**Source**: Padon, Losa, Sagiv, Shoham: Paxos Made EPR (2017), section 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hacheck.checker.parametric.first_order_logic import (
    BOOL,
    Choice,
    Equal,
    Junction,
    Not,
    Quantifier,
    Symbol,
    Term,
    parts,
    sort_of,
)
from hacheck.checker.parametric.proof_obligations import Obligation
from hacheck.checker.parametric.proof_obligations import parts as assertions
from hacheck.checker.parametric.theory import Theory

Edge = tuple[str, str]


def circle(theory: Theory, obligations: Sequence[Obligation]) -> tuple[str, ...]:
    """Sorts that depend on each other in a circle, the first one once more at the end; empty where there is none."""
    known = {one.name for one in theory.sorts if one.members}
    edges: dict[Edge, None] = {}
    for symbol in (*theory.rigid, *theory.state):
        edges.update(_of_function(symbol))
    for _, axiom in theory.axioms:
        edges.update(_of_term(axiom, (), negative=False))
    seen: set[int] = set()
    for one in obligations:
        symbols, said = assertions(one)
        for symbol in symbols:
            edges.update(_of_function(symbol))
        for _, fact in said:
            if id(fact) not in seen:
                seen.add(id(fact))
                edges.update(_of_term(fact, (), negative=False))
        for update in one.transition.updates if id(one.transition) not in seen else ():
            edges.update(_both_polarities(update.value, tuple(formal.sort for formal in update.formals)))
        seen.add(id(one.transition))
    return _found([(low, high) for low, high in edges if not {low, high} & (known | {BOOL})])


def _of_function(symbol: Symbol) -> dict[Edge, None]:
    return {} if symbol.sort == BOOL else {(one, symbol.sort): None for one in symbol.arguments}


def _both_polarities(term: Term, above: tuple[str, ...]) -> dict[Edge, None]:
    return {**_of_term(term, above, negative=False), **_of_term(term, above, negative=True)}


def _of_term(term: Term, above: tuple[str, ...], *, negative: bool) -> dict[Edge, None]:
    """The dependencies that a formula makes, where it is true, or (`negative`) where it is false."""
    return dict.fromkeys(_edges(term, above, negative=negative))


def _edges(term: Term, above: tuple[str, ...], *, negative: bool) -> Iterator[Edge]:
    match term:
        case Quantifier(word, variables, body, _):
            sorts = tuple(one.sort for one in variables)
            if (word == "exists") == negative:
                yield from _edges(body, (*above, *sorts), negative=negative)
            else:
                yield from ((one, other) for one in above for other in sorts)
                yield from _edges(body, above, negative=negative)
        case Not(operand):
            yield from _edges(operand, above, negative=not negative)
        case Junction(_, inside):
            for one in inside:
                yield from _edges(one, above, negative=negative)
        case Choice(condition, then, otherwise):
            for negative in (True, False):
                yield from _edges(condition, above, negative=negative)
            for one in (then, otherwise):
                yield from _edges(one, above, negative=negative)
        case Equal(left, right) if sort_of(left) == BOOL:
            for one in (left, right):
                for negative in (True, False):
                    yield from _edges(one, above, negative=negative)
        case _:
            for one in parts(term):
                for negative in (True, False):
                    yield from _edges(one, above, negative=negative)


def _found(edges: Sequence[Edge]) -> tuple[str, ...]:
    """A circle among edges."""
    after: dict[str, list[str]] = {}
    for low, high in edges:
        after.setdefault(low, []).append(high)
    for start in after:
        paths: list[tuple[str, ...]] = [(start,)]
        seen: set[str] = set()
        while paths:
            path = paths.pop(0)
            for one in after.get(path[-1], ()):
                if one == start:
                    return (*path, start)
                if one not in seen:
                    seen.add(one)
                    paths.append((*path, one))
    return ()
