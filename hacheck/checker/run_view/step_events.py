"""What happened in a step, as data that a picture can be drawn from: messages, calls, locks, faults, links.

An event is an object with its kind under `t`:

| kind | what it has |
|---|---|
| `send`, `take`, `lost` | `name`, `item`, `from`, `to` |
| `cleared`, `replaced` | the same: lost because an end crashed; by a newer one, where only the latest is under way |
| `call` | `op`, `from`, `to`, `outcome`, `arguments`, `answer`; `lost`, if a fault took request or answer away |
| `direct` | `from`, `to`: a field of another node is written |
| `crash`, `restart`, `pause`, `resume`, `halt` | `node`; of a crash also `wiped`: its disk is lost, too |
| `cut`, `heal` | `a`, `b` |
| `lock` | `lock`, `before`, `after` |
| `believe` | `lock`, `node`, `value` |
| `acknowledged` | `what`, `item`: clients have been promised it |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from hacheck.checker.described_run import call_made, calls_lost, is_outcome
from hacheck.checker.run_view.acknowledgements import acknowledged
from hacheck.checker.step_effects import difference
from hacheck.model.choices import Made
from hacheck.model.ir import StateVariable, System
from hacheck.model.render import show, spoken
from hacheck.model.runs import State, Step
from hacheck.model.types import Map, Value, values

Event: TypeAlias = dict[str, Any]

NODE_FAULTS = ("restart", "pause", "resume")
CRASHES = ("crash", "wipe", "blackout")
"""Faults that stop nodes: one, one with its disk, all of a kind."""


def events_of(system: System, before: State, step: Step, actor: str, made: Sequence[Made]) -> list[Event]:
    """The events of a step. `made`: what was chosen in it. Cost: that of the step."""
    action = system.actions[step.action]
    found: list[Event] = []
    verb = action.name.split()[0] if action.kind in ("fault", "repair") else ""
    if verb in CRASHES:
        found += [
            {"t": "crash", "node": node, "wiped": verb == "wipe"} for node in _stopped(system, before, step.state)
        ]
    elif verb in NODE_FAULTS and actor:
        found.append({"t": verb, "node": actor})
    elif not verb:
        found += [{"t": "halt", "node": node} for node in _stopped(system, before, step.state)]
    found += _calls(made, actor, 0 if verb else calls_lost(system, before, step.state))
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


def _stopped(system: System, before: State, after: State) -> Iterator[str]:
    """The nodes that were up and are not."""
    for variable, was, now in zip(system.variables, before, after, strict=True):
        kind = variable.type
        if was != now and variable.name == f"{variable.owner}.up" and isinstance(kind, Map):
            pairs = zip(values(kind.key), was, now, strict=True)
            yield from (show(kind.key, node) for node, old, new in pairs if old and not new)


def _calls(made: Sequence[Made], actor: str, lost: int) -> list[Event]:
    """`lost`: how many of the calls that failed were lost; an answer that is lost comes before a call that is not done,
    which may have another reason."""
    found = list(_all_calls(made, actor))
    failed = [one for outcome in ("answer lost", "not done") for one in found if one["outcome"] == outcome]
    for one in failed[:lost]:
        one["lost"] = True
    return found


def _all_calls(made: Sequence[Made], actor: str) -> Iterator[Event]:
    for one in made:
        call = call_made(one) if is_outcome(one) else None
        if call is not None and call.callee != (caller := call.caller or actor):
            yield {
                "t": "call", "op": call.operation, "from": caller, "to": call.callee, "outcome": str(one.value),
                "arguments": [list(pair) for pair in call.arguments], "answer": call.answer,
            }  # fmt: skip


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
            gone, come = difference(kind.value.value, old, new)
            how = "cleared" if crashes else "take" if target == actor else "replaced" if gone and come else "lost"
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
