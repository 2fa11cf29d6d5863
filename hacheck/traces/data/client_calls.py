"""What clients called, and were answered."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from hacheck.traces.adapters.data_rules import ClientCalls
from hacheck.traces.conformance.verdicts import Place

FOR_EVER = 1 << 63
"""When a call ended that nobody saw end."""


class Call(Struct, frozen=True):
    """A call of a client. `called`, `ended`: nanoseconds since 1970; `done`: the client knows that it was carried out;
    `names`: what a read returned, `None` for other calls."""

    place: Place
    operation: str
    name: str
    node: str
    called: int
    ended: int
    done: bool
    names: frozenset[str] | None


def call_of(place: Place, fields: dict[str, Any], rules: ClientCalls) -> Call | None:
    """The call that a record is about; `None` if it says nothing of data."""
    operation = fields.get("operation")
    if operation not in (*rules.add, *rules.remove, *rules.read) or fields.get("called") is None:
        return None
    done = fields.get("outcome") in rules.done
    names = fields.get("names")
    return Call(
        place=place,
        operation=operation,
        name=fields.get("name") or "",
        node=fields.get("asked") or "",
        called=fields["called"],
        ended=place.time if done and place.time is not None else FOR_EVER,
        done=done,
        names=frozenset(names) if done and names is not None and operation in rules.read else None,
    )


class Calls(Struct, frozen=True):
    """All calls of a trace, by what they are about."""

    adds: dict[str, list[Call]]
    removes: dict[str, list[Call]]
    reads: list[Call]

    @property
    def any_change(self) -> bool:
        """Whether clients recorded what they changed at all."""
        return bool(self.adds or self.removes)

    def add_called_by(self, name: str, moment: int) -> bool:
        """Whether a client had called, by then, to add a name."""
        return any(call.called <= moment for call in self.adds.get(name, ()))

    def remove_called_by(self, name: str, moment: int) -> bool:
        """Whether a client had called, by then, to remove it."""
        return any(call.called <= moment for call in self.removes.get(name, ()))


def sorted_calls(calls: list[Call], rules: ClientCalls) -> Calls:
    """The calls by what they are about."""
    found = Calls({}, {}, [])
    for call in sorted(calls, key=lambda one: one.called):
        if call.operation in rules.add:
            found.adds.setdefault(call.name, []).append(call)
        elif call.operation in rules.remove:
            found.removes.setdefault(call.name, []).append(call)
        elif call.names is not None:
            found.reads.append(call)
    return found
