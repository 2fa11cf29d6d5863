"""From states to what can be observed of them, and back."""

from __future__ import annotations

from collections.abc import Mapping

from hacheck.model.direct.domains import all_of
from hacheck.model.direct.handlers import Handler, Handlers
from hacheck.model.direct.interfaces import FORGOTTEN, Key, State
from hacheck.model.direct.layout import Call, Layout
from hacheck.model.direct.machine import Frame
from hacheck.model.direct.program import Point
from hacheck.model.direct.values import Node, Value


def observe(layout: Layout, handlers: Handlers, state: State) -> dict[Key, Value]:
    """What is so in a state; frames become what is at a thread, and locals."""
    seen: dict[Key, Value] = {}
    for key, slot in layout.index.items():
        value = state.slots[slot]
        if key[0] != "frame":
            seen[key] = value
            continue
        _, node, thread = key
        seen["at", node, thread] = None if value is None else (value.handler, value.point)
        if value is not None:
            point = handlers.by_name[value.handler].program.point(value.point)
            for name, each in zip(point.locals, value.values, strict=True):
                seen["local", node, value.handler, name] = each
    for name, lock in layout.locks.items():
        if lock.freed_late:
            holder = seen["holder", name]
            seen["late", name] = holder is not None and not seen["believes", name, holder]
    return seen


def restore(layout: Layout, handlers: Handlers, observed: Mapping[Key, Value]) -> State:
    """The state that is observed so. Errors: `KeyError`."""
    slots: list[Value] = [None] * len(layout.index)
    for key, slot in layout.index.items():
        if key[0] != "frame":
            slots[slot] = observed[key]
    for key, slot in layout.index.items():
        if key[0] == "frame" and observed["at", *key[1:]] is not None:
            slots[slot] = _frame(layout, handlers, observed, key[1], observed["at", *key[1:]])
    return State(tuple(slots))


def _frame(
    layout: Layout, handlers: Handlers, observed: Mapping[Key, Value], node: Node, place: tuple[str, str]
) -> Frame:
    handler = handlers.by_name[place[0]]
    point = handler.program.point(place[1])
    values = []
    for name in point.locals:
        value = observed.get(("local", node, handler.name, name), FORGOTTEN)
        if value is FORGOTTEN:
            value = _only_value(handler, name)
        if value is FORGOTTEN and point.call is not None and name == point.call.targets:
            value = _callees(layout, handlers, observed, node, point)
        values.append(value)
    return Frame(handler.name, point.name, point.holding, tuple(values))


def _only_value(handler: Handler, name: str) -> Value:
    """What a parameter is though nobody remembers it: the one value of its type."""
    domain = dict(handler.names).get(name)
    values = () if domain is None else all_of(domain)
    return values[0] if len(values) == 1 else FORGOTTEN


def _callees(layout: Layout, handlers: Handlers, observed: Mapping[Key, Value], node: Node, point: Point) -> Value:
    """Whom a caller waits for: those of whom that is observed, but those whom its other handlers wait for; unless the
    callees of one of these are not observed, either."""
    assert point.call is not None
    operation = point.call.operation
    elsewhere: set[Node] = set()
    for key, place in observed.items():
        if key[:2] == ("at", node) and place is not None:
            site = handlers.by_name[place[0]].program.point(place[1]).call
            if site is not None and site is not point.call and site.operation == operation:
                callees = observed.get(("local", node, place[0], site.targets))
                if callees is None:
                    return FORGOTTEN
                elsewhere.update(callees)
    calls: dict[Node, Call] = {key[3]: observed[key] for key in layout.index if key[:3] == ("call", operation, node)}
    return frozenset(callee for callee, call in calls.items() if call.waiting and callee not in elsewhere)
