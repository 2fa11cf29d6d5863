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
    member,
    sort_bag,
    sort_key,
    values,
)
from hacheck.model.value_json import Json, JsonError, plain_to_json


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


def itf_to_states(system: System, trace: Json) -> tuple[State, ...]:
    """The states of an ITF trace of this system, of any origin.

    Numbers may be plain or big; sets, lists and tuples may stand for each other, as the format allows.
    Actions are not read. Errors: `JsonError`, saying where, for anything else.
    """
    if not isinstance(trace, dict) or not isinstance(trace.get("states"), list):
        raise JsonError("an ITF trace is an object with a list of states")
    found: list[State] = []
    for index, state in enumerate(trace["states"]):
        if not isinstance(state, dict):
            raise JsonError(f"states[{index}]: expected an object")
        row: list[Value] = []
        for variable in system.variables:
            where = f"states[{index}].{variable.name}"
            if variable.name not in state:
                raise JsonError(f"{where} is missing")
            row.append(value_from_itf(variable.type, state[variable.name], where))
        found.append(tuple(row))
    return tuple(found)


def value_from_itf(kind: Type, json: Json, where: str = "value") -> Value:
    """The value that an ITF expression stands for. Errors: `JsonError`, saying where, when it is none of the
    type.
    """
    value = _read(kind, json, where)
    if not member(kind, value):
        raise JsonError(f"{where}: {json!r} is outside its type")
    return value


def _read(kind: Type, json: Json, where: str) -> Value:
    match kind:
        case Bool() | Enum():
            return json
        case Range():
            return _number(json, where)
        case Node(name) | Identity(name):
            if not isinstance(json, str) or not json.startswith(f"{name} ") or not json[len(name) + 1 :].isdecimal():
                raise JsonError(f"{where}: {json!r} is not a {name}")
            return int(json[len(name) + 1 :])
        case Option(element):
            match json:
                case {"tag": "None"}:
                    return None
                case {"tag": "Some", "value": inner}:
                    return value_from_itf(element, inner, where)
            raise JsonError(f"{where}: expected a variant, Some or None, found {json!r}")
        case Set(element):
            return frozenset(_items(element, json, where))
        case Sequence(element, _):
            return _items(element, json, where)
        case Bag(element, _):
            return sort_bag(element, _items(element, json, where))
        case Map(key, element):
            return _map(key, element, json, where)
        case Record(_, fields):
            if not isinstance(json, dict) or not all(name in json for name, _ in fields):
                raise JsonError(f"{where}: expected an object with {', '.join(name for name, _ in fields)}")
            return tuple(value_from_itf(field, json[name], f"{where}.{name}") for name, field in fields)
        case _:
            assert_never(kind)


def _number(json: Json, where: str) -> int:
    match json:
        case bool():
            raise JsonError(f"{where}: expected a number, found {json!r}")
        case int():
            return json
        case {"#bigint": str(digits)} if digits.removeprefix("-").isdecimal():
            return int(digits)
        case _:
            raise JsonError(f"{where}: expected a number, found {json!r}")


def _items(element: Type, json: Json, where: str) -> tuple[Value, ...]:
    match json:
        case list(items) | {"#set": list(items)} | {"#tup": list(items)}:
            return tuple(value_from_itf(element, item, f"{where}[{place}]") for place, item in enumerate(items))
        case _:
            raise JsonError(f"{where}: expected a list or set, found {json!r}")


def _map(key: Type, element: Type, json: Json, where: str) -> tuple[Value, ...]:
    if not isinstance(json, dict) or not isinstance(json.get("#map"), list):
        raise JsonError(f"{where}: expected a map, found {json!r}")
    found: dict[Value, Value] = {}
    for pair in json["#map"]:
        if not isinstance(pair, list) or len(pair) != 2:
            raise JsonError(f"{where}: expected pairs of key and value, found {pair!r}")
        found[value_from_itf(key, pair[0], f"{where} key")] = value_from_itf(element, pair[1], where)
    names = tuple(values(key))
    if len(json["#map"]) != len(names) or any(name not in found for name in names):
        raise JsonError(f"{where}: expected each key once")
    return tuple(found[name] for name in names)
