"""What happened in a step, as data that a picture can be drawn from: messages, calls, locks, faults, links.

An event is an object with its kind under `t`: `send`, `take` and `lost` (`name`, `item`, `from`, `to`), `cleared` (lost
because an end crashed), `call` (`op`, `from`, `to`, `outcome`, `answer`), `direct` (`from`, `to`: a field of another
node is written), `crash`, `restart`, `pause`, `resume` (`node`), `cut` and `heal` (`a`, `b`), `lock` (`lock`, `before`,
`after`), `believe` (`lock`, `node`, `value`) and `acknowledged` (`what`, `item`: clients have been promised it).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from hacheck.checker.described_run import called
from hacheck.checker.run_view.acknowledgements import acknowledged
from hacheck.checker.step_effects import _difference
from hacheck.model.choices import choices_made
from hacheck.model.ir import StateVariable, System
from hacheck.model.language.operations import OUTCOME, OUTCOME_HALTING
from hacheck.model.render import show, spoken
from hacheck.model.runs import State, Step
from hacheck.model.types import Map, Value, values

Event: TypeAlias = dict[str, Any]

NODE_FAULTS = ("crash", "restart", "pause", "resume", "halt")


def events_of(system: System, before: State, step: Step, actor: str) -> list[Event]:
    """The events of a step. Cost: that of the step."""
    action = system.actions[step.action]
    found: list[Event] = []
    if action.kind in ("fault", "repair") and actor and (verb := action.name.split()[0]) in NODE_FAULTS:
        found.append({"t": verb, "node": actor})
    found += _calls(system, before, step, actor)
    crashes = any(event["t"] == "crash" for event in found)
    for variable, was, now in zip(system.variables, before, step.state, strict=True):
        if was == now:
            continue
        if variable.role == "channel":
            found += _messages(variable, was, now, actor, crashes)
        elif variable.role == "lock":
            found += _locks(variable, was, now)
        elif variable.name.startswith("cut."):
            found += _links(variable, was, now)
        elif variable.owner is not None and variable.role == "field" and action.kind == "protocol":
            found += _direct(variable, was, now, actor)
    for what, item in acknowledged(system, before, step.state):
        found.append({"t": "acknowledged", "what": what, "item": item})
    return _distinct(found)


def _calls(system: System, before: State, step: Step, actor: str) -> Iterator[Event]:
    for made in choices_made(system, before, step):
        if made.type not in (OUTCOME, OUTCOME_HALTING):
            continue
        operation, _, callee = called(made).partition(" at ")
        outcome = "answered" if made.value == OUTCOME.members[0] else str(made.value)
        if callee and callee not in ("call", actor):
            yield {"t": "call", "op": operation, "from": actor, "to": callee, "outcome": outcome}


def _messages(variable: StateVariable, was: Value, now: Value, actor: str, crashes: bool) -> Iterator[Event]:
    kind = variable.type
    name = spoken(variable.name)
    if not isinstance(kind, Map) or not isinstance(kind.value, Map) or name.endswith((".waiting", ".serving")):
        return
    answers = name.endswith(".answer")
    for sender, olds, news in zip(values(kind.key), was, now, strict=True):
        for receiver, old, new in zip(values(kind.value.key), olds, news, strict=True):
            if old == new:
                continue
            ends = show(kind.key, sender), show(kind.value.key, receiver)
            source, target = reversed(ends) if answers else ends
            gone, come = _difference(kind.value.value, old, new)
            how = "cleared" if crashes else "take" if target == actor else "lost"
            for words, items in ((how, gone), ("send", come)):
                for item in items:
                    yield {"t": words, "name": name, "item": item, "from": source, "to": target}


def _locks(variable: StateVariable, was: Value, now: Value) -> Iterator[Event]:
    name, _, part = spoken(variable.name).rpartition(".")
    kind = variable.type
    if part == "holder" and not isinstance(kind, Map):
        yield {"t": "lock", "lock": name, "before": show(kind, was), "after": show(kind, now)}
    elif part == "believed" and isinstance(kind, Map):
        for node, old, new in zip(values(kind.key), was, now, strict=True):
            if old != new:
                yield {"t": "believe", "lock": name, "node": show(kind.key, node), "value": show(kind.value, new)}


def _links(variable: StateVariable, was: Value, now: Value) -> Iterator[Event]:
    kind = variable.type
    if not isinstance(kind, Map) or not isinstance(kind.value, Map):
        return
    for one, olds, news in zip(values(kind.key), was, now, strict=True):
        for other, old, new in zip(values(kind.value.key), olds, news, strict=True):
            if old != new:
                ends = sorted((show(kind.key, one), show(kind.value.key, other)))
                yield {"t": "cut" if new else "heal", "a": ends[0], "b": ends[1]}


def _direct(variable: StateVariable, was: Value, now: Value, actor: str) -> Iterator[Event]:
    kind = variable.type
    assert isinstance(kind, Map), f"the field {variable.name} is no map"
    for node, old, new in zip(values(kind.key), was, now, strict=True):
        if old != new and actor and (owner := show(kind.key, node)) != actor:
            yield {"t": "direct", "from": actor, "to": owner}


def _distinct(found: list[Event]) -> list[Event]:
    """Links are stored once for each direction, and several fields of a node may be written."""
    kept: list[Event] = []
    for event in found:
        if event["t"] not in ("cut", "heal", "direct") or event not in kept:
            kept.append(event)
    return kept
