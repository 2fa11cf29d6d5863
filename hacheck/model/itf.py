"""Runs in Apalache's Informal Trace Format, which trace viewers and test drivers of other tools read.

**Source**: Apalache, ADR-015 "Informal Trace Format in JSON". Numbers are written as `{"#bigint": "n"}`, as
Apalache does; nodes and identities as words ("Replica 3"), since those tools know no such types; options as a
variant with a `tag`, as Quint does; a bag as the list of its elements.
"""

from __future__ import annotations

from typing import assert_never

from hacheck.model.ir import System
from hacheck.model.render import changes, show
from hacheck.model.run_json import acting_node, action_name
from hacheck.model.runs import Run, State
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
    sort_key,
    values,
)
from hacheck.model.value_json import Json, plain_to_json


def run_to_itf(system: System, run: Run, description: str = "") -> dict[str, Json]:
    """The run as an ITF trace.

    The action that led to a state, its arguments and choices, the node it happened on and what it changed are
    in that state's `#meta`. `loop` is the state in which the part that repeats begins. A fault is in the
    trace's `#meta`.
    """
    meta: dict[str, Json] = {
        "format": "ITF",
        "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
        "source": system.name,
        "description": description or system.description,
        "settings": dict(system.settings),
    }
    if run.error is not None:
        meta["fault"] = {
            **_instance(system, run.error.action, run.error.arguments, run.error.choices),
            "message": run.error.message,
        }
    trace: dict[str, Json] = {"#meta": meta, "vars": [variable.name for variable in system.variables]}
    trace["states"] = [_state(system, {"index": 0}, run.initial)]
    states = run.states
    for index, step in enumerate(run.steps, start=1):
        about = {
            "index": index,
            **_instance(system, step.action, step.arguments, step.choices),
            "node": acting_node(system.actions[step.action], step.arguments),
            "changes": [str(change) for change in changes(system, states[index - 1], step.state)],
        }
        trace["states"].append(_state(system, about, step.state))
    if run.loop is not None:
        trace["loop"] = run.loop
    return trace


def _instance(system: System, action: int, arguments: tuple[Value, ...], choices: tuple[Value, ...]) -> dict[str, Json]:
    parameters = system.actions[action].parameters
    shown = {name: show(kind, value) for (name, kind), value in zip(parameters, arguments, strict=True)}
    return {
        "action": action_name(system, action),
        "arguments": shown,
        "choices": [plain_to_json(choice) for choice in choices],
    }


def _state(system: System, about: dict[str, Json], state: State) -> dict[str, Json]:
    state_object: dict[str, Json] = {"#meta": about}
    for variable, value in zip(system.variables, state, strict=True):
        state_object[variable.name] = value_to_itf(variable.type, value)
    return state_object


def value_to_itf(kind: Type, value: Value) -> Json:
    """One value as an ITF expression."""
    match kind:
        case Bool() | Enum():
            return value
        case Range():
            return {"#bigint": str(value)}
        case Node(name) | Identity(name):
            return f"{name} {value}"
        case Option(element):
            if value is None:
                return {"tag": "None", "value": {"#tup": []}}
            return {"tag": "Some", "value": value_to_itf(element, value)}
        case Set(element):
            ordered = sorted(value, key=lambda item: sort_key(element, item))
            return {"#set": [value_to_itf(element, item) for item in ordered]}
        case Map(key, element):
            pairs = zip(values(key), value, strict=True)
            return {"#map": [[value_to_itf(key, name), value_to_itf(element, item)] for name, item in pairs]}
        case Record(_, fields):
            parts = zip(fields, value, strict=True)
            return {name: value_to_itf(field, item) for (name, field), item in parts}
        case Sequence(element, _) | Bag(element, _):
            return [value_to_itf(element, item) for item in value]
        case _:
            assert_never(kind)
