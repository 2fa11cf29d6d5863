"""States of a model as structures of its theory, and what formulas say of them, by plain Python.

The code of a formula is made once and evaluated in many states: a claim that one of them refutes needs no prover.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, assert_never

from hacheck.checker.parametric.cti_states import named_members
from hacheck.checker.parametric.encoding_context import NUMBER
from hacheck.checker.parametric.finite_instances import Element, Grounding
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
)
from hacheck.model import ir
from hacheck.model.types import (
    Bag,
    Bool,
    Enum,
    Identity,
    Map,
    Node,
    Option,
    Range,
    Record,
    Sequence,
    Set,
    Type,
    Value,
)

Structure = Mapping[str, Mapping[tuple[Element, ...], Any]]
"""What each symbol is at which arguments; a relation has those of which it is true, each with `True`."""


def structure(system: ir.System, state: tuple[Value, ...]) -> Structure:
    """A state as what each symbol is."""
    made: dict[str, dict[tuple[Element, ...], Any]] = {}
    for variable, value in zip(system.variables, state, strict=True):
        if variable.role != "budget":
            for name, keys, item in parts(variable.type, value, variable.name, ()):
                made.setdefault(name, {})[keys] = item
    return made


def parts(
    kind: Type, value: Value, name: str, keys: tuple[Element, ...]
) -> Iterator[tuple[str, tuple[Element, ...], Any]]:
    """The leaves of a value: symbol, arguments and what it is there. A relation has those of which it is true; the
    value of what is none has no leaf."""
    match kind:
        case Bool():
            yield name, keys, bool(value)
        case Range() | Enum() | Node() | Identity():
            yield name, keys, value if isinstance(kind, Range) else dict(named_members(kind))[value]
        case Option(element) if isinstance(element, Identity) or (isinstance(element, Node) and element.size > 1):
            if value is not None:
                yield name, (*keys, value), True
        case Option(element):
            yield f"{name}?", keys, value is not None
            if value is not None:
                yield from parts(element, value, name, keys)
        case Set(Option(element)):
            yield f"{name}.none", keys, None in value
            yield from ((name, (*keys, _key(element, one)), True) for one in value if one is not None)
        case Set(element):
            yield from ((name, (*keys, _key(element, one)), True) for one in value)
        case Map(key, inner):
            members = named_members(key)
            only = isinstance(key, Node | Enum) and len(members) == 1
            for (_, at), item in zip(members, value, strict=True):
                yield from parts(inner, item, name, keys if only else (*keys, at))
        case Record(_, fields):
            for (field, part), item in zip(fields, value, strict=True):
                yield from parts(part, item, f"{name}.{field}", keys)
        case Bag(element, _):
            yield from ((name, (*keys, *_flat(element, one)), True) for one in value)
        case Sequence():
            return
        case _:
            assert_never(kind)


def _key(kind: Type, value: Value) -> Element:
    found: Element = next(at for one, at in named_members(kind) if one == value and type(one) is type(value))
    return found


def _flat(kind: Type, value: Value) -> tuple[Element, ...]:
    if isinstance(kind, Record):
        return tuple(one for (_, part), item in zip(kind.fields, value, strict=True) for one in _flat(part, item))
    return (_key(kind, value),)


# ---- formulas as code --------------------------------------------------------------------------------------------


def compiled(formula: Term, grounding: Grounding) -> Callable[[Structure], bool]:
    """A closed formula as a function of structures. Terms about numbers and quorums are decided as in `grounding`;
    a symbol that a structure says nothing of is false, or nothing that equals anything."""
    names: dict[Bound, str] = {}
    spaces: dict[str, object] = {f"E{place}": items for place, items in enumerate(grounding.elements.values())}
    places = {sort: f"E{place}" for place, sort in enumerate(grounding.elements)}
    constants: dict[str, object] = {}

    def code(term: Term) -> str:
        match term:
            case Truth(value):
                return str(value)
            case Bound():
                return names[term]
            case Apply():
                return applied(term)
            case Equal(left, right):
                return f"({code(left)} == {code(right)})"
            case Not(operand):
                return f"(not {code(operand)})"
            case Junction(word, inside):
                return f"({f' {word} '.join(map(code, inside))})"
            case Choice(condition, then, otherwise):
                return f"({code(then)} if {code(condition)} else {code(otherwise)})"
            case Quantifier(word, variables, body, _):
                for one in variables:
                    names[one] = f"v{len(names)}"
                loops = " ".join(f"for {names[one]} in {places[one.sort]}" for one in variables)
                return f"{'all' if word == 'forall' else 'any'}({code(body)} {loops})"
            case _:
                assert_never(term)

    def applied(term: Apply) -> str:
        symbol, arguments = term.symbol, [code(one) for one in term.arguments]
        if symbol.endswith("at_most"):
            return f"({arguments[0]} <= {arguments[1]})"
        if symbol.startswith("mentioned "):
            return "True"
        if symbol.startswith("in ") and symbol.endswith(" quorum"):
            return f"({arguments[0]} in {arguments[1]})"
        if not arguments and (symbol.startswith(WHATEVER) or symbol in grounding.elements.get(term.sort, ())):
            constants[f"k{len(constants)}"] = symbol
            return f"k{len(constants) - 1}"
        if not arguments and term.sort == NUMBER and symbol.removeprefix("-").isdigit():
            return symbol
        inside = symbol.removeprefix(f"{term.sort}(").removesuffix(")")
        if not arguments and symbol == f"{term.sort}({inside})" and inside.isdigit():
            return inside
        constants[f"s{len(constants)}"] = symbol
        keys = "".join(f"{one}, " for one in arguments)
        otherwise = ", False" if term.sort == BOOL else ""
        return f"S[s{len(constants) - 1}].get(({keys}){otherwise})"

    text = code(formula)
    space: dict[str, Any] = {**spaces, **constants}
    exec(f"def holds(state):\n    S = Lenient(state)\n    return {text}", {**space, "Lenient": _Lenient}, space)
    function: Callable[[Structure], bool] = space["holds"]
    return function


class _Lenient(dict[str, Any]):
    """A structure in which a symbol that nothing is said of is false everywhere."""

    def __missing__(self, key: str) -> Mapping[tuple[Element, ...], Any]:
        return {}
