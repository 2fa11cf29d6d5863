"""Apalache's Informal Trace Format, read back: what was written must say everything of a state.

**Source**: Apalache, ADR-015 "Informal Trace Format in JSON".
"""

from __future__ import annotations

from typing import Any

from hacheck.model.ir import System
from hacheck.model.runs import State
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
    values,
)


def itf_to_states(system: System, trace: Any) -> tuple[State, ...]:
    """The states of a trace of this system."""
    return tuple(
        tuple(value_from_itf(variable.type, state[variable.name]) for variable in system.variables)
        for state in trace["states"]
    )


def value_from_itf(kind: Type, json: Any) -> Value:
    """The value that an expression stands for."""
    match kind:
        case Bool() | Enum():
            return json
        case Range():
            return int(json["#bigint"])
        case Node(name) | Identity(name):
            assert json.startswith(f"{name} ")
            return int(json.removeprefix(f"{name} "))
        case Option(element):
            assert json["tag"] in ("None", "Some")
            return None if json["tag"] == "None" else value_from_itf(element, json["value"])
        case Set(element):
            return frozenset(value_from_itf(element, item) for item in json["#set"])
        case Sequence(element, _) | Bag(element, _):
            return tuple(value_from_itf(element, item) for item in json)
        case Map(key, element):
            found = {value_from_itf(key, name): value_from_itf(element, item) for name, item in json["#map"]}
            return tuple(found[name] for name in values(key))
        case Record(_, fields):
            return tuple(value_from_itf(field, json[name]) for name, field in fields)
