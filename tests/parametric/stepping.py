"""Whether a theory allows what the interpreter does: states and steps of a system as questions to the theory."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

from hacheck.checker.parametric.finite_instances import Element, Grounding, grounding
from hacheck.checker.parametric.finite_structures import Structure, parts, structure
from hacheck.checker.parametric.first_order_logic import BOOL, Apply, Bound, Symbol
from hacheck.checker.parametric.size_independence import Uniform
from hacheck.checker.parametric.solver_queries import SolverSession, solve_propositions
from hacheck.checker.parametric.theory import Theory, Transition, after
from hacheck.checker.parametric.theory_builder import theory_of
from hacheck.model.ir import System
from hacheck.model.runs import State, Step
from hacheck.model.types import Identity, Node


def theory_at(system: System) -> Theory:
    """The theory of a system taken as it is, each kind of several nodes as one of which there may be any number."""
    kinds = tuple((node.name, 2) for node in system.nodes if node.size > 1)
    asked = tuple(one for one in system.properties if one.kind in ("invariant", "step"))
    return theory_of(
        Uniform(system, kinds, (), (), frozenset(), tuple(range(len(system.actions)))), asked, lambda _: ""
    )


def sizes(system: System, theory: Theory) -> dict[str, int]:
    """How many members each sort without known ones has in this system."""
    found = {node.name: node.size for node in system.nodes}
    for variable in system.variables:
        found.update(_pools(variable.type))
    for action in system.actions:
        for _, kind in action.parameters:
            found.update(_pools(kind))
    return {sort.name: found.get(sort.name, 3) for sort in theory.sorts}


def _pools(kind: object) -> dict[str, int]:
    if isinstance(kind, Identity):
        return {kind.name: kind.size}
    if isinstance(kind, Node) or not hasattr(kind, "__struct_fields__"):
        return {}
    found: dict[str, int] = {}
    for name in kind.__struct_fields__:
        inner = getattr(kind, name)
        for part in inner if isinstance(inner, tuple) else (inner,):
            for one in part if isinstance(part, tuple) else (part,):
                found.update(_pools(one))
    return found


def allows(theory: Theory, system: System, before: State, step: Step) -> bool:
    """Whether some transition of the theory is this step, with these arguments."""
    ways = [one for one in theory.transitions if one.action == step.action]
    return any(_possible(theory, system, one, before, step.state, step.arguments) for one in ways)


def begins(theory: Theory, system: System, state: State) -> bool:
    """Whether the theory has this state as one at the start."""
    return _possible(theory, system, theory.start, None, state, ())


def grounded(theory: Theory, system: System) -> Grounding:
    """The theory at the sizes of a system, with numbers to spare on both sides."""
    return grounding(theory, sizes(system, theory), numbers=24, below=8)


def _possible(
    theory: Theory,
    system: System,
    transition: Transition,
    before: State | None,
    now: State,
    arguments: tuple[object, ...],
) -> bool:
    base = grounded(theory, system)
    base.updates = {after(one.symbol.name): one for one in transition.updates}
    said = [base.truth(fact, {}) for fact in (*transition.defined, *transition.conditions)]
    if before is not None:
        said += [base.truth(fact, {}) for fact in theory.typing]
        said += _is(base, theory, structure(system, before), {})
    names = {one.symbol.name: after(one.symbol.name) for one in transition.updates}
    if before is None:
        names = {one.name: after(one.name) for one in theory.state}
    said += _is(base, theory, structure(system, now), names)
    for (_, kind, symbols), value in zip(transition.parameters, arguments, strict=True):
        told = {name: (keys, item) for name, keys, item in parts(kind, value, "", ()) if item is not False}
        for symbol in symbols if len(symbols) == 1 and not symbols[0].arguments else ():
            said += [_equals(base, symbol.name, symbol, (), told[""][1] if "" in told else False)]
    found = solve_propositions(SolverSession(time.monotonic() + 60), base.lines, said)
    assert found.said != "unknown", "a question without quantifiers"
    return found.said == "sat"


def _is(base: Grounding, theory: Theory, told: Structure, names: dict[str, str]) -> list[str]:
    """That every leaf is what a structure says; a scalar that it says nothing of is anything."""
    said = []
    for symbol in theory.state:
        at = told.get(symbol.name, {})
        for keys in _keys(base, symbol):
            if symbol.sort == BOOL or keys in at:
                said.append(_equals(base, names.get(symbol.name, symbol.name), symbol, keys, at.get(keys, False)))
    return said


def _keys(base: Grounding, symbol: Symbol) -> Iterator[tuple[Element, ...]]:
    spaces = [("true", "false") if sort == BOOL else base.elements[sort] for sort in symbol.arguments]
    yield from itertools.product(*spaces)


def _equals(base: Grounding, name: str, symbol: Symbol, keys: tuple[Element, ...], value: object) -> str:
    formals = tuple(Bound(f"at {place}", sort) for place, sort in enumerate(symbol.arguments))
    env = {
        one: {"true": str(key)} if one.sort == BOOL else {key: "true"} for one, key in zip(formals, keys, strict=True)
    }
    applied = Apply(name, formals, symbol.sort)
    if symbol.sort == BOOL:
        told = base.truth(applied, env)
        return told if value else f"(not {told})"
    return base.spread(applied, env).get(value, "false")  # type: ignore[call-overload, no-any-return]
