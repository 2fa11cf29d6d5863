"""A run as a story: who did what, and what arrived where, without what goes on all the time.

Faults, starts and ends are always shown; of records and messages those of rare kinds, and all that came shortly before
the end. What is left out is counted.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from hacheck.impl.node import Fired as TimerFired
from hacheck.impl.node import (
    Input,
    LockAnswered,
    Message,
    Name,
    Received,
    SharedRead,
    Started,
    Unreachable,
    WriteFailed,
    Written,
)
from hacheck.impl.simulator.faults import Fault
from hacheck.impl.simulator.history import Came, Entry, Given, Recorded, Sent, Standing, Strike, Unlocked, Went

RARE = 6
"""Records and messages of kinds of which there are no more than so many are shown wherever they are."""

LAST = 24
"""So many lines before the end are shown, whatever they are."""

LINES_MAX = 80
"""A story has no more lines; the oldest that need not be shown make way."""

WORDS_MAX = 160


class StoryLine(msgspec.Struct, frozen=True):
    """A line of a story. `member`: on whom it happens; `other`: who sent it, or who never got it. `mark`: what it is:
    `message`, `lost`, `record`, `input`, `start`, `end`, `fault`, `healed`, or `gap` for what is left out."""

    at_us: int
    mark: str
    text: str
    member: Name = ""
    other: Name = ""


def story(entries: Sequence[Entry], until_us: int) -> list[StoryLine]:
    """The lines of a run up to a time, the most useful ones."""
    shown = [(line, always, kind) for line, always, kind in _lines(entries) if line.at_us <= until_us]
    kinds = Counter(kind for _, _, kind in shown)
    number = len(shown)
    keep = [always or kinds[kind] <= RARE or place >= number - LAST for place, (_, always, kind) in enumerate(shown)]
    surplus = sum(keep) - LINES_MAX
    for place, (_, always, _) in enumerate(shown):
        if surplus <= 0 or place >= number - LAST:
            break
        if keep[place] and not always:
            keep[place] = False
            surplus -= 1
    return list(_with_gaps([line for line, _, _ in shown], keep))


def _with_gaps(lines: Sequence[StoryLine], keep: Sequence[bool]) -> Iterator[StoryLine]:
    left_out: Counter[str] = Counter()
    for line, kept in zip(lines, keep, strict=True):
        if not kept:
            left_out[line.mark] += 1
            continue
        if left_out:
            yield StoryLine(line.at_us, "gap", _gap(left_out))
            left_out.clear()
        yield line
    if left_out and lines:
        yield StoryLine(lines[-1].at_us, "gap", _gap(left_out))


def _gap(left_out: Mapping[str, int]) -> str:
    names = {"lost": "lost message", "input": "other input"}
    counted = ((number, names.get(mark, mark)) for mark, number in sorted(left_out.items()))
    return ", ".join(f"{number:,} {noun}{'' if number == 1 else 's'}" for number, noun in counted)


def _lines(entries: Iterable[Entry]) -> Iterator[tuple[StoryLine, bool, str]]:
    """Each thing that is worth a line: the line, whether it must be shown, and what kind of thing it is."""
    under_way: dict[tuple[Name, Name], deque[Sent]] = {}
    lost: set[int] = set()
    listed = list(entries)
    for entry in listed:  # first, which messages never arrived
        if isinstance(entry, Sent):
            under_way.setdefault((entry.member, entry.to), deque()).append(entry)
        elif isinstance(entry, Given) and isinstance(entry.what, Received):
            waiting = under_way.get((entry.what.sender, entry.member), deque())
            while waiting:
                sent = waiting.popleft()
                if sent.message is entry.what.message:
                    break
                lost.add(id(sent))
    lost.update(id(sent) for waiting in under_way.values() for sent in waiting)
    for entry in listed:
        line = _line(entry, lost)
        if line is not None:
            yield line


def _line(entry: Entry, lost: set[int]) -> tuple[StoryLine, bool, str] | None:
    match entry:
        case Unlocked() | Standing():
            return None
        case Sent(at_us, member, to, message):
            if id(entry) not in lost:
                return None  # shown when it arrives
            return (
                StoryLine(at_us, "lost", f"{_message(message)} never arrives", to, member),
                False,
                _kind("lost", message),
            )
        case Given(at_us, member, Received(sender, message)):
            return StoryLine(at_us, "message", _message(message), member, sender), False, _kind("message", message)
        case Given(at_us, member, what):
            text = _input(what)
            return (
                None
                if text is None
                else (StoryLine(at_us, "input", text, member), False, f"input {type(what).__name__}")
            )
        case Recorded(at_us, _, member, record):
            words = " ".join(f"{name}={_value(value)}" for name, value in record.fields.items())
            return StoryLine(at_us, "record", _short(f"{record.event} {words}".rstrip()), member), False, record.event
        case Came(at_us, member, incarnation):
            text = "starts again" if incarnation else "starts"
            return StoryLine(at_us, "start", text, member), True, ""
        case Went(at_us, member, why):
            return StoryLine(at_us, "end", _short(f"ends: {why}"), member), True, ""
        case Strike(at_us, fault, begins):
            return StoryLine(at_us, "fault" if begins else "healed", fault_words(fault, begins)), True, ""


def _kind(mark: str, message: Message) -> str:
    return f"{mark} {type(message).__name__}"


def _input(what: Input) -> str | None:
    match what:
        case Started() | Written() | SharedRead(failed=""):
            return None  # shown as its start; what goes well is not shown
        case TimerFired(timer):
            return f"timer {timer}"
        case Unreachable(peer):
            return f"finds {peer} unreachable"
        case WriteFailed(_, reason):
            return f"cannot write: {reason}"
        case LockAnswered(lock, granted, reason):
            return f"gets the lock {lock}" if granted else f"does not get the lock {lock}: {reason}"
        case SharedRead(_, value, failed):
            return (
                f"reads {'nothing' if value is None else f'{len(value)} bytes'}" if not failed else f"reads: {failed}"
            )
    return _short(type(what).__name__)


def fault_words(fault: Fault, begins: bool = True) -> str:
    """A fault in words."""
    whom = ", ".join((*fault.members, *fault.hosts)) or _directions(fault.links)
    if not begins:
        return f"over: {fault.label} {whom}"
    lasts = f" for {fault.for_us / 1e6:.3f} s" if fault.for_us else ""
    amount = f" ({fault.amount})" if fault.amount else ""
    return _short(f"{fault.label} {whom}{lasts}{amount}")


def _directions(links: Sequence[tuple[Name, Name]]) -> str:
    there = set(links)
    both = [pair for pair in links if (pair[1], pair[0]) in there and pair[0] < pair[1]]
    one = [pair for pair in links if (pair[1], pair[0]) not in there]
    return ", ".join([*(f"{a} <-> {b}" for a, b in both), *(f"{a} -> {b}" for a, b in one)])


def _message(message: Message) -> str:
    fields = ", ".join(f"{name}={_value(getattr(message, name))}" for name in message.__struct_fields__)
    return _short(f"{type(message).__name__}({fields})")


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) if isinstance(value, (str, int, bool)) else repr(value)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= WORDS_MAX else f"{text[: WORDS_MAX - 1]}…"
