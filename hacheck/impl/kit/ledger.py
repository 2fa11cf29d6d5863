"""What clients requested and what they were answered, and who served meanwhile: what oracles hold a run against.

A request that was not answered, or with an unknown outcome, may have been done, or not; `ok` and `failed` are sure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from hacheck.impl.node import Name
from hacheck.impl.system import Broken

OK, FAILED, UNKNOWN = "ok", "failed", "unknown"


class Request(Struct):
    """A client's request: what it is to send and to consume, by the names of messages, and as `fields` of its record
    what its protocol says besides. `outcome`: what was answered last, and `ok` for good."""

    client: Name
    fields: Mapping[str, Any]
    sent: tuple[str, ...] = ()
    consumed: tuple[str, ...] = ()
    outcome: str = UNKNOWN


class Ledger:
    """The requests of a run, by their names."""

    def __init__(self) -> None:
        self.requests: dict[str, Request] = {}

    def requested(self, client: Name, fields: Mapping[str, Any]) -> Request:
        """A request, from the record of it: made for the first time, or once more without an answer to the first."""
        known = self.requests.get(fields["request"])
        if known is not None and known.outcome == OK:
            return known
        request = Request(client, fields, tuple(fields.get("sent", ())), tuple(fields.get("consumed", ())))
        self.requests[fields["request"]] = request
        return request

    def answered(self, fields: Mapping[str, Any]) -> Request:
        """An answer, from the record of it."""
        request = self.requests[fields["request"]]
        if request.outcome != OK:
            request.outcome = fields["outcome"]
        return request

    def acknowledged(self) -> Iterator[tuple[str, Request]]:
        """The requests that were answered with `ok`."""
        return ((name, request) for name, request in self.requests.items() if request.outcome == OK)

    def consumed(self) -> tuple[Counter[str], set[str]]:
        """How often each message was certainly consumed, and which ones perhaps or certainly were."""
        certainly = Counter(name for _, request in self.acknowledged() for name in request.consumed)
        perhaps = {name for one in self.requests.values() if one.outcome != FAILED for name in one.consumed}
        return certainly, perhaps


def lost(at_us: int, name: str, why: str = "was acknowledged") -> Broken:
    """A message that should be there."""
    return Broken("acknowledged-kept", f"message {name} {why}, and is gone", at_us)


def repeated(
    at_us: int, present: Counter[str], consumed: Counter[str], twice: str = "exactly-once"
) -> Iterator[Broken]:
    """Messages that are there more than once, were consumed more than once (the promise `twice`), or are there though
    they were consumed."""
    for name, times in consumed.items():
        if times > 1:
            yield Broken(twice, f"message {name} was consumed {times} times", at_us)
        if present[name]:
            yield Broken("consumed-once", f"message {name} was consumed, and is there again", at_us)
    for name, times in present.items():
        if times > 1:
            yield Broken("exactly-once", f"message {name} is there {times} times", at_us)


class Incumbents:
    """Who serves just now, and what. `several`: two may serve, if they serve different things. `broken`: the first
    times that two served at once and must not; `seen`: what ever was served."""

    KEPT_MAX = 3

    def __init__(self, *, several: bool = True) -> None:
        self.serving: dict[Name, str] = {}
        self.seen: dict[str, None] = {}
        self.broken: list[Broken] = []
        self._several = several

    def begins(self, at_us: int, member: Name, what: str = "") -> None:
        """A member serves from now on. `what`: what it serves, where there are several things."""
        others = [name for name in self.serving if name != member]
        same = [name for name in others if self.serving[name] == what]
        if same and self.serving.get(member) != what:
            self.at_once(at_us, [member, *same], what)
        elif others and not same and not self._several:
            self._broken(at_us, f"{member} serves {what}, and {', '.join(others)} another one")
        self.serving[member] = what
        self.seen[what] = None

    def at_once(self, at_us: int, members: list[Name], what: str = "") -> None:
        """Several serve one thing at once."""
        self._broken(at_us, f"{' and '.join(members)} both serve{f' {what}' if what else ''}")

    def _broken(self, at_us: int, story: str) -> None:
        if len(self.broken) < self.KEPT_MAX:
            self.broken.append(Broken("one-active", story, at_us))

    def ends(self, member: Name) -> None:
        """It serves no more, or is gone."""
        self.serving.pop(member, None)
