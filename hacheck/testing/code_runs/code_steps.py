"""A run of code as steps of a view: one for each input of a process, with what the process did about it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct, field

from hacheck.impl.node import (
    Fired,
    Input,
    LockAnswered,
    LockLost,
    Message,
    Name,
    Received,
    Record,
    SharedRead,
    Started,
    Unreachable,
    WriteFailed,
    Written,
)
from hacheck.impl.recording import word
from hacheck.impl.simulator.faults import Fault
from hacheck.impl.simulator.history import (
    Came,
    Entry,
    Given,
    Recorded,
    Sent,
    Standing,
    Strike,
    Unlocked,
    Went,
)
from hacheck.impl.simulator.run_story import fault_words
from hacheck.impl.system import ANSWERED
from hacheck.wording import plural

Effect: TypeAlias = dict[str, Any]

CRASHES = ("crash", "power", "wipe")
"""Faults that end processes."""

NOTIFIED = "lock-told"
"""The fault that takes a lock away and says so."""

SERVING, OTHER = "serving", "other"
"""What a process is: whether it believes that clients are to turn to it."""

OUTCOME, GOOD = "outcome", "ok"
"""The field that says how a client was answered, and what it then relies on."""

ITEM_MAX = 60
"""So much at most is shown of a message or a record."""


class CodeStep(Struct):
    """A step: `action`: what comes to pass; `kind`, `effects`: as in a view; `values`: what of the state changes, by
    owner and name. `entry`: which of the entries begins it."""

    at_us: int
    entry: int
    action: str
    kind: str
    actor: Name
    caption: str = ""
    effects: list[Effect] = field(default_factory=list)
    values: dict[tuple[Name, str], str] = field(default_factory=dict)


class CodeSteps:
    """Makes steps of entries. `clients`: the members whose answers count as promises."""

    def __init__(self, entries: Sequence[Entry], clients: Iterable[Name]) -> None:
        self.entries, self.clients = entries, frozenset(clients)
        self.steps: list[CodeStep] = []
        self._sends = _arrivals(entries)
        self._send_steps: dict[int, tuple[int, Effect]] = {}
        self._down: dict[Name, bool] = {}
        self._pauses: dict[Name, int] = {}
        self._cuts: dict[tuple[Name, Name], set[tuple[Name, Name]]] = {}
        self._standing = Standing()

    def made(self) -> list[CodeStep]:
        """All steps, in order. Cost: one pass over the entries."""
        for place, entry in enumerate(self.entries):
            self._add(place, entry)
        return self.steps

    def _add(self, place: int, entry: Entry) -> None:
        match entry:
            case Sent():
                self._sent(place, entry)
            case Given(_, member, Started()) if self._last_is(member, "starts"):
                pass
            case Given(at_us, member, what):
                self._given(place, at_us, member, what)
            case Recorded(_, _, member, record):
                self._of(place, entry.at_us, member).effects.extend(self._record(member, record))
            case Unlocked(at_us, member, lock):
                self._believe(self._of(place, at_us, member), lock, member, False)
            case Came(at_us, member, incarnation):
                self._came(place, at_us, member, again=incarnation > 0)
            case Went(at_us, member, why):
                self._went(place, at_us, member, why)
            case Strike(at_us, fault, begins):
                self._strike(place, at_us, fault, begins)
            case Standing():
                self._stand(entry)

    def _step(self, place: int, at_us: int, action: str, kind: str, actor: Name, caption: str = "") -> CodeStep:
        made = CodeStep(at_us, place, action, kind, actor, caption)
        self.steps.append(made)
        return made

    def _last_is(self, member: Name, action: str) -> bool:
        return bool(self.steps) and self.steps[-1].actor == member and self.steps[-1].action.startswith(action)

    def _of(self, place: int, at_us: int, member: Name) -> CodeStep:
        """The step in which a member does something: the last one, which is its own."""
        if self.steps and self.steps[-1].actor == member and self.steps[-1].at_us == at_us:
            return self.steps[-1]
        return self._step(place, at_us, "acts", "protocol", member)

    # ---- messages and other inputs ----

    def _sent(self, place: int, entry: Sent) -> None:
        step = self._of(place, entry.at_us, entry.member)
        effect = _message("send", entry.message, entry.member, entry.to)
        step.effects.append(effect)
        if place in self._sends.lost:
            step.effects.append(_message("lost", entry.message, entry.member, entry.to) | {"sent": len(self.steps)})
            effect["until"] = len(self.steps)
        else:
            self._send_steps[place] = (len(self.steps), effect)

    def _given(self, place: int, at_us: int, member: Name, what: Input) -> None:
        name, detail = _input_name(what)
        step = self._step(place, at_us, name, "protocol", member, detail)
        match what:
            case Received(sender, message):
                taken = _message("take", message, sender, member)
                sent = self._send_steps.pop(self._sends.of.get(place, -1), None)
                if sent is not None:
                    taken["sent"] = sent[0]
                    sent[1]["until"] = len(self.steps)
                step.effects.append(taken)
            case LockAnswered(lock, granted, _):
                self._believe(step, lock, member, granted)
            case LockLost(lock):
                self._believe(step, lock, member, False)

    def _record(self, member: Name, record: Record) -> Iterator[Effect]:
        if record.event == ANSWERED and member in self.clients and record.fields.get(OUTCOME, GOOD) == GOOD:
            item = record.fields.get("request", next(iter(record.fields.values()), ""))
            yield {"t": "acknowledged", "what": "answered", "item": word(item)}
            return
        fields = _short(", ".join(f"{name}: {word(value)}" for name, value in record.fields.items()))
        yield {"t": "record", "node": member, "event": record.event, "fields": fields}

    # ---- processes ----

    def _came(self, place: int, at_us: int, member: Name, *, again: bool) -> None:
        step = self._step(
            place, at_us, "starts again" if again else "starts", "repair" if again else "protocol", member
        )
        if again:
            step.effects.append({"t": "restart", "node": member})
        step.values[member, "up"] = "true"
        self._down[member] = False

    def _went(self, place: int, at_us: int, member: Name, why: str) -> None:
        fault = why in CRASHES
        last = self.steps[-1] if self.steps else None
        if fault and last is not None and last.kind == "fault" and last.at_us == at_us and last.action == why:
            step = last  # the fault that it ends by
            step.actor = step.actor if step.actor == member else ""
        elif fault:
            step = self._step(place, at_us, why, "fault", member)
        else:
            step = self._of(place, at_us, member)
        if fault:
            step.effects.append({"t": "crash", "node": member, "wiped": why == "wipe"})
        else:
            step.effects.append({"t": "halt", "node": member})
            step.caption = f"ends: {_short(why)}"
        step.values[member, "up"] = "false"
        self._down[member] = True
        for lock in dict.fromkeys(name for name, _ in self._standing.held):
            self._believe(step, lock, member, False)

    # ---- faults ----

    def _strike(self, place: int, at_us: int, fault: Fault, begins: bool) -> None:
        actor = fault.members[0] if len(fault.members) == 1 else ""
        if fault.kind in CRASHES:
            if begins and any(not self._down.get(member, True) for member in fault.members):
                lasts = f"for {fault.for_us / 1e6:g} s" if fault.for_us else ""
                words = ", ".join(one for one in (fault.target, lasts) if one)
                self._step(place, at_us, fault.kind, "fault", actor, words)
            return  # a start says that it is over
        kind = "fault" if begins else "repair"
        words = fault_words(fault, begins)
        step = self._step(place, at_us, fault.kind if begins else f"{fault.kind} is over", kind, actor, words)
        if fault.kind == "pause":
            for member in fault.members:
                self._pause(step, member, 1 if begins else -1)
        elif fault.kind == "cut":
            for direction in fault.links:
                self._cut(step, direction, begins)

    def _pause(self, step: CodeStep, member: Name, change: int) -> None:
        before = self._pauses.get(member, 0)
        now = self._pauses[member] = before + change
        if bool(before) != bool(now):
            step.effects.append({"t": "pause" if now else "resume", "node": member})
            step.values[member, "paused"] = "true" if now else "false"

    def _cut(self, step: CodeStep, direction: tuple[Name, Name], begins: bool) -> None:
        """A link counts as cut as long as nothing gets through in one of its directions."""
        link = (min(direction), max(direction))
        open_cuts = self._cuts.setdefault(link, set())
        before = bool(open_cuts)
        if begins:
            open_cuts.add(direction)
        else:
            open_cuts.discard(direction)
        if before != bool(open_cuts):
            step.effects.append({"t": "cut" if begins else "heal", "a": link[0], "b": link[1]})

    # ---- who serves, who holds a lock ----

    def _stand(self, now: Standing) -> None:
        """What a step has led to is known after it."""
        before, self._standing = self._standing, now
        if not self.steps:
            return
        step = self.steps[-1]
        for member in {*before.serving} ^ {*now.serving}:
            step.values[member, "serves"] = SERVING if member in now.serving else OTHER
        old, new = dict(before.held), dict(now.held)
        for lock in dict.fromkeys((*old, *new)):
            was, is_now = old.get(lock, "none"), new.get(lock, "none")
            if was != is_now:
                effect = {"t": "lock", "lock": lock, "before": was, "after": is_now}
                step.effects.append(effect | ({"notified": True} if step.action == NOTIFIED else {}))
                step.values["", f"{lock}.holder"] = is_now

    def _believe(self, step: CodeStep, lock: Name, member: Name, believes: bool) -> None:
        step.values["", f"{lock}.believed[{member}]"] = "true" if believes else "false"


class _Arrivals(Struct, frozen=True):
    """`of`: for each message that arrived, by the place of its arrival, where it was sent; `lost`: where messages were
    sent that never arrived, although the run went on."""

    of: Mapping[int, int]
    lost: frozenset[int]


UNDER_WAY_US = 2_000_000
"""A message that was sent so shortly before the end of the run may still be under way."""


def _arrivals(entries: Sequence[Entry]) -> _Arrivals:
    waiting: dict[tuple[Name, Name, int], deque[int]] = {}
    of: dict[int, int] = {}
    times: dict[int, int] = {}
    for place, entry in enumerate(entries):
        if isinstance(entry, Sent):
            waiting.setdefault((entry.member, entry.to, id(entry.message)), deque()).append(place)
            times[place] = entry.at_us
        elif isinstance(entry, Given) and isinstance(entry.what, Received):
            queue = waiting.get((entry.what.sender, entry.member, id(entry.what.message)))
            if queue:  # else it is a copy of one that arrived before
                of[place] = queue.popleft()
    end = max((one.at_us for one in entries if not isinstance(one, Standing)), default=0)
    left = (place for queue in waiting.values() for place in queue)
    return _Arrivals(of, frozenset(place for place in left if end - times[place] >= UNDER_WAY_US))


def _message(what: str, message: Message, sender: Name, to: Name) -> Effect:
    fields = ", ".join(f"{name}: {word(getattr(message, name))}" for name in message.__struct_fields__)
    return {"t": what, "name": type(message).__name__, "item": _short(fields), "from": sender, "to": to}


def _input_name(what: Input) -> tuple[str, str]:
    """What kind of thing comes to pass, and what else is to be said of it."""
    match what:
        case Received(_, message):
            return type(message).__name__, ""
        case Fired(timer):
            return f"timer {timer}", ""
        case Unreachable(peer):
            return f"finds {peer} unreachable", ""
        case Written():
            return "written", ""
        case WriteFailed(_, reason):
            return "cannot write", reason
        case LockAnswered(lock, granted, reason):
            return (f"gets the lock {lock}", "") if granted else (f"does not get the lock {lock}", reason)
        case LockLost(lock):
            return f"learns that the lock {lock} is lost", ""
        case SharedRead(_, value, failed):
            if failed:
                return "cannot read", failed
            return "reads", "nothing" if value is None else plural(len(value), "byte")
    return "starts", ""


def _short(text: str) -> str:
    text = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in " ".join(text.split()))
    return text if len(text) <= ITEM_MAX else f"{text[: ITEM_MAX - 1]}…"
