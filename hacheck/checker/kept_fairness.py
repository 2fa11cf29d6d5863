"""Which fairness a loop keeps: for each handler that a property takes to be fair, by which step of the loop it gets its
turn, or that it could not go on."""

from __future__ import annotations

from collections.abc import Iterator

from hacheck.model.evaluation import EvaluationError
from hacheck.model.interpreter import Interpreter, Taken, instances
from hacheck.model.ir import Action, Fairness, Property, System
from hacheck.model.render import show
from hacheck.model.runs import Run, State
from hacheck.model.types import Value

TRIED_MAX = 20_000
"""With more instances times states than this nobody looks."""
NAMED_MAX = 4
"""So many of one handler are named."""


def kept_fairness(system: System, run: Run, prop: Property) -> tuple[str, ...]:
    """A phrase for each fair handler: `serve: Client 1 in step 3; Client 2 cannot go on after step 4`. Nothing of a
    run that ends, and where nothing has to be fair. Cost: the outcomes of the fair actions in each state of the loop.
    """
    if run.loop is None or not prop.fairness:
        return ()
    states = list(run.states)[run.loop :]
    fair = {one.handler: one for one in prop.fairness}
    chosen = [action for action in system.actions if action.handler in fair]
    if len(states) * sum(1 for action in chosen for _ in instances(action)) > TRIED_MAX:
        return ()
    return tuple(filter(None, (_kept(system, run, one, states) for one in prop.fairness)))


def put_off(system: System, run: Run, prop: Property) -> tuple[str, ...]:
    """The handlers, and repairs after faults, that could go on in each state of the loop and never do, as nothing
    says that they are fair: what a spec forgot may be among them. None of a run that ends.

    Cost: as of `kept_fairness`."""
    if run.loop is None:
        return ()
    states = list(run.states)[run.loop :]
    done = {system.actions[step.action].handler for step in run.steps[run.loop :]}
    fair = {one.handler for one in prop.fairness}
    others = [
        (index, action)
        for index, action in enumerate(system.actions)
        if action.kind != "fault" and action.handler not in fair | done
    ]
    if len(states) * sum(1 for _, action in others for _ in instances(action)) > TRIED_MAX:
        return ()
    interpreter = Interpreter(system)
    found = dict.fromkeys(
        action.handler
        for index, action in others
        if any(
            all(_changes(interpreter, index, arguments, state) for state in states) for arguments in instances(action)
        )
    )
    return tuple(found)


def _changes(interpreter: Interpreter, action: int, arguments: tuple[Value, ...], state: State) -> bool:
    """Whether an action could lead to another state."""
    try:
        outcomes = interpreter.outcomes_with(action, arguments, state)
        return any(isinstance(one, Taken) and one.step.state != state for one in outcomes)
    except EvaluationError:
        return True  # the error is something that happens


def _kept(system: System, run: Run, fair: Fairness, states: list[State]) -> str:
    assert run.loop is not None, "there is a loop"
    taken: dict[str, int] = {}
    for number, step in enumerate(run.steps[run.loop :], start=run.loop + 1):
        action = system.actions[step.action]
        if action.handler == fair.handler:
            taken.setdefault(_whose(action, step.arguments, fair), number)
    idle: dict[str, int] = {}
    for whose, enabled in _enabled(system, fair, states).items():
        if whose not in taken:
            idle[whose] = enabled.index(False) + run.loop if False in enabled else -1
    if not taken and not idle:
        return ""
    said = [f"{whose} in step {step}".strip() for whose, step in taken.items()]
    stopped: dict[int, list[str]] = {}
    for whose, after in idle.items():
        if after >= 0:
            stopped.setdefault(after, []).append(whose)
    said += [f"{_listed(who)} cannot go on after step {after}".strip() for after, who in stopped.items()]
    more = [f"{len(said) - NAMED_MAX} more"] if len(said) > NAMED_MAX + 1 else []
    return f"{fair.handler}: {'; '.join([*said[:NAMED_MAX], *more] if more else said)}" if said else ""


def _listed(names: list[str]) -> str:
    """`Client 1 and Client 2`; of many the number."""
    if len(names) > NAMED_MAX:
        return f"{', '.join(names[: NAMED_MAX - 1])} and {len(names) - NAMED_MAX + 1} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _enabled(system: System, fair: Fairness, states: list[State]) -> dict[str, list[bool]]:
    """For whom the handler is fair, and in which states it could go on."""
    interpreter, found = Interpreter(system), dict[str, list[bool]]()
    for index, action in enumerate(system.actions):
        if action.handler != fair.handler:
            continue
        for arguments in instances(action):
            whose = _whose(action, arguments, fair)
            before = found.setdefault(whose, [False] * len(states))
            for place, state in enumerate(states):
                before[place] = before[place] or _is_possible(interpreter, index, arguments, state)
    return found


def _is_possible(interpreter: Interpreter, action: int, arguments: tuple[Value, ...], state: State) -> bool:
    try:
        return any(True for _ in interpreter.outcomes_with(action, arguments, state))
    except EvaluationError:
        return True  # the error is something that happens


def _whose(action: Action, arguments: tuple[Value, ...], fair: Fairness) -> str:
    return ", ".join(_values(action, arguments, fair))


def _values(action: Action, arguments: tuple[Value, ...], fair: Fairness) -> Iterator[str]:
    wanted = dict.fromkeys(name for name in (action.actor, *fair.arguments) if name is not None)
    given = {name: show(kind, value) for (name, kind), value in zip(action.parameters, arguments, strict=True)}
    yield from (given[name] for name in wanted if name in given)
