"""Runs as JSON: what `--json` writes and a saved run is read from. Nothing is lost.

```
{"initial": {variable: value, …},
 "steps": [{"action": name, "arguments": {parameter: value, …}, "choices": [value, …],
            "node": "Replica 2" or null, "changes": ["Replica 2.mode: inactive -> election", …],
            "state": {variable: value, …}}, …],
 "loop": number of steps before the part that repeats, or null,
 "fault": {"action": …, "arguments": …, "choices": …, "message": …} or null}
```

Choices are written without their types: a list is a tuple and `{"#set": […]}` a set. `node` and `changes` are
for readers and are not read back. An action whose name several have is `name#index`.
"""

from __future__ import annotations

from hacheck.model.ir import Action, System
from hacheck.model.render import changes, show
from hacheck.model.runs import Run, State, Step, StepError
from hacheck.model.types import Value
from hacheck.model.value_json import (
    Json,
    JsonError,
    plain_from_json,
    plain_to_json,
    value_from_json,
    value_to_json,
)


def run_to_json(system: System, run: Run) -> dict[str, Json]:
    """The run as JSON. It must be a run of this system. Cost: the size of its states."""
    states = run.states
    return {
        "initial": state_to_json(system, run.initial),
        "steps": [_step_to_json(system, before, step) for before, step in zip(states, run.steps, strict=False)],
        "loop": run.loop,
        "fault": None if run.error is None else _error_to_json(system, run.error),
    }


def state_to_json(system: System, state: State) -> dict[str, Json]:
    """One state as an object of all its variables."""
    return {
        variable.name: value_to_json(variable.type, value)
        for variable, value in zip(system.variables, state, strict=True)
    }


def _step_to_json(system: System, before: State, step: Step) -> dict[str, Json]:
    return {
        **_instance_to_json(system, step.action, step.arguments, step.choices),
        "node": acting_node(system.actions[step.action], step.arguments),
        "changes": [str(change) for change in changes(system, before, step.state)],
        "state": state_to_json(system, step.state),
    }


def _error_to_json(system: System, error: StepError) -> dict[str, Json]:
    return {
        **_instance_to_json(system, error.action, error.arguments, error.choices),
        "message": error.message,
    }


def _instance_to_json(
    system: System, action: int, arguments: tuple[Value, ...], choices: tuple[Value, ...]
) -> dict[str, Json]:
    parameters = system.actions[action].parameters
    return {
        "action": action_name(system, action),
        "arguments": {
            name: value_to_json(kind, value) for (name, kind), value in zip(parameters, arguments, strict=True)
        },
        "choices": [plain_to_json(choice) for choice in choices],
    }


def action_name(system: System, action: int) -> str:
    """The action's name, with its index where another action has the same name."""
    name = system.actions[action].name
    unique = sum(1 for other in system.actions if other.name == name) == 1
    return name if unique else f"{name}#{action}"


def acting_node(action: Action, arguments: tuple[Value, ...]) -> str | None:
    """The node a step happens on, in words, or `None` for the environment."""
    for (name, kind), value in zip(action.parameters, arguments, strict=True):
        if name == subject(action):
            return show(kind, value)
    return None


def subject(action: Action) -> str | None:
    """The parameter that is the node which a step belongs to: where it happens, or whose clock goes on."""
    own_clock = action.kind == "environment" and action.name.startswith("clock of ")
    return action.parameters[0][0] if own_clock else action.actor


# ---- reading ----


def run_from_json(system: System, json: Json) -> Run:
    """The run that JSON written by `run_to_json` stands for.

    Errors: `JsonError`, saying where, when it is not the run of this system: unknown names, values outside
    their types. Whether the steps are possible is not examined here; `replay` does that.
    """
    top = _object(json, "run", ("initial", "steps"), ("loop", "fault"))
    if not isinstance(top["steps"], list):
        raise JsonError("run.steps: expected a list")
    loop = top.get("loop")
    if loop is not None and (not isinstance(loop, int) or isinstance(loop, bool)):
        raise JsonError(f"run.loop: expected a number, found {loop!r}")
    error = top.get("fault")
    return Run(
        state_from_json(system, top["initial"], "run.initial"),
        tuple(_step_from_json(system, step, f"run.steps[{place}]") for place, step in enumerate(top["steps"])),
        loop,
        None if error is None else _error_from_json(system, error, "run.fault"),
    )


def state_from_json(system: System, json: Json, where: str = "state") -> State:
    """The state that an object of all variables stands for. Errors: `JsonError`."""
    names = tuple(variable.name for variable in system.variables)
    members = _object(json, where, names)
    unknown = [name for name in members if name not in names]
    if unknown:
        raise JsonError(f"{where}: {system.name} has no variable {unknown[0]}")
    return tuple(
        value_from_json(variable.type, members[variable.name], f"{where}.{variable.name}")
        for variable in system.variables
    )


def _step_from_json(system: System, json: Json, where: str) -> Step:
    members = _object(json, where, ("action", "arguments", "choices", "state"), ("node", "changes"))
    action, arguments, choices = _instance_from_json(system, members, where)
    return Step(action, arguments, choices, state_from_json(system, members["state"], f"{where}.state"))


def _error_from_json(system: System, json: Json, where: str) -> StepError:
    members = _object(json, where, ("action", "arguments", "choices", "message"))
    action, arguments, choices = _instance_from_json(system, members, where)
    if not isinstance(members["message"], str):
        raise JsonError(f"{where}.message: expected a text")
    return StepError(action, arguments, choices, members["message"])


def _instance_from_json(
    system: System, members: dict[str, Json], where: str
) -> tuple[int, tuple[Value, ...], tuple[Value, ...]]:
    names = [action_name(system, index) for index in range(len(system.actions))]
    if members["action"] not in names:
        raise JsonError(f"{where}.action: {system.name} has no action {members['action']!r}")
    action = names.index(members["action"])
    parameters = system.actions[action].parameters
    given = _object(members["arguments"], f"{where}.arguments", tuple(name for name, _ in parameters))
    if not isinstance(members["choices"], list):
        raise JsonError(f"{where}.choices: expected a list")
    return (
        action,
        tuple(value_from_json(kind, given[name], f"{where}.arguments.{name}") for name, kind in parameters),
        tuple(plain_from_json(choice, f"{where}.choices") for choice in members["choices"]),
    )


def _object(json: Json, where: str, needed: tuple[str, ...], allowed: tuple[str, ...] | None = None) -> dict[str, Json]:
    """The members of an object, all those needed and, if `allowed` is given, no others but these."""
    if not isinstance(json, dict):
        raise JsonError(f"{where}: expected an object, found {json!r}")
    missing = [name for name in needed if name not in json]
    if missing:
        raise JsonError(f"{where}: {missing[0]} is missing")
    if allowed is not None:
        extra = [name for name in json if name not in needed and name not in allowed]
        if extra:
            raise JsonError(f"{where}: {extra[0]} is not expected here")
    return json
