"""Lines of a system and records of a log: whether they say the same, and in which order nodes that log apart go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct, field

from hacheck.model.types import Option, Type, Value

Writer: TypeAlias = tuple[str, int] | None
Names: TypeAlias = frozenset[tuple[Type, Value, str]]
Cut: TypeAlias = tuple[int, ...]

ANYBODY = ("anybody", 0)
"""Who wrote a record that does not say who wrote it."""

LINES_MAX = 8
"""A step that writes more lines to one log meets a bound."""


class LogRecord(Struct, frozen=True):
    """A record. `fields`: values of the model, names as text; what is not there is not shown."""

    event: str
    node: Writer
    fields: Mapping[str, Value] = field(default_factory=dict)
    time: int | None = None
    message: str | None = None
    causes: tuple[str, ...] = ()


class WrittenLine(Struct, frozen=True):
    """A line that a step writes: for each field its type, its value, and whether it is shown by name."""

    event: str
    node: Writer
    fields: tuple[tuple[str, Type, Value, bool], ...]


class Drawn(Struct, frozen=True):
    """An identity is drawn afresh."""

    kind: Type
    value: Value


def agreeing(
    told: Sequence[WrittenLine | Drawn], records: Sequence[LogRecord], names: Names
) -> tuple[int, Names] | tuple[None, Names]:
    """How many lines a way writes, if they are these records; behind the last one nothing is known."""
    taken = 0
    for one in told:
        if isinstance(one, Drawn):
            names = forgotten(names, one)
            continue
        if taken == LINES_MAX:
            return taken + 1, names
        if taken < len(records):
            known = agreed(one, records[taken], names)
            if known is None:
                return None, names
            names = known
        taken += 1
    return taken, names


def forgotten(names: Names, drawn: Drawn) -> Names:
    """Without the name that an identity had before it was drawn again."""
    return frozenset(one for one in names if one[:2] != (drawn.kind, drawn.value))


def agreed(line: WrittenLine, record: LogRecord, names: Names) -> Names | None:
    """The names known after a line that is this record; `None` where it is not."""
    if line.event != record.event or record.node not in (line.node, ANYBODY):
        return None
    for name, kind, value, by_name in line.fields:
        if name not in record.fields:
            continue
        said = record.fields[name]
        if not by_name or value is None or said is None:
            if value != said or type(value) is not type(said):
                return None
            continue
        own = kind.element if isinstance(kind, Option) else kind
        others = {(one, called) for of, one, called in names if of == own and (one == value or called == said)}
        if others - {(value, said)}:
            return None
        names |= {(own, value, said)}
    return names


class Logs(Struct, frozen=True):
    """The records of nodes that logged apart. `times` are such that no log goes back; `None` where some are missing."""

    writers: tuple[Writer, ...]
    streams: tuple[tuple[LogRecord, ...], ...]
    times: tuple[tuple[int, ...], ...] | None
    skew: int

    @staticmethod
    def of(records: Sequence[LogRecord], skew: int) -> Logs:
        writers = tuple(dict.fromkeys(one.node for one in records))
        streams = tuple(tuple(one for one in records if one.node == writer) for writer in writers)
        times = None
        if all(one.time is not None for one in records):
            times = tuple(
                tuple(max(one.time or 0 for one in stream[: at + 1]) for at in range(len(stream))) for stream in streams
            )
        return Logs(writers, streams, times, skew)

    @property
    def end(self) -> Cut:
        """The cut that takes everything."""
        return tuple(len(stream) for stream in self.streams)

    def agreeing(
        self, told: Sequence[WrittenLine | Drawn], cut: Cut, names: Names
    ) -> tuple[Cut, Names, int, int] | None:
        """Where a way leads to, if its lines are the records that come next; the most lines of one log, and how many
        lines are behind the end of one."""
        at = list(cut)
        extra = dict.fromkeys(self.writers, 0)
        missing = 0
        for one in told:
            if isinstance(one, Drawn):
                names = forgotten(names, one)
                continue
            place = self.writers.index(one.node) if one.node in self.writers else None
            extra[one.node] = extra.get(one.node, 0) + 1
            if extra[one.node] > LINES_MAX:
                break
            if place is None or at[place] == len(self.streams[place]):
                missing += 1
                continue
            known = agreed(one, self.streams[place][at[place]], names)
            if known is None:
                return None
            names = known
            at[place] += 1
        return tuple(at), names, max(extra.values(), default=0), missing

    def ends(self, cut: Cut) -> bool:
        """Whether all that is left is as young as the newest record, or is one record of each node."""
        if self.times is None:
            return all(end - at <= 1 for end, at in zip(self.end, cut, strict=True))
        newest = max(times[-1] for times in self.times if times)
        left = [time for times, at in zip(self.times, cut, strict=True) for time in times[at:]]
        return all(time >= newest - self.skew for time in left)

    def may_follow(self, cut: Cut, after: Cut) -> bool:
        """Whether a step may take these records, as far as times and messages say."""
        pairs = tuple(zip(cut, after, strict=True))
        step = [(stream, at) for stream, (low, high) in enumerate(pairs) for at in range(low, high)]
        rest = [(stream, at) for stream, high in enumerate(after) for at in range(high, self.end[stream])]
        done = {(stream, at) for stream, high in enumerate(after) for at in range(high)}
        if self.times is not None:
            # Nothing is taken while something is left that was written long before.
            for stream, at in step:
                for other, late in rest:
                    if self.times[other][late] < self.times[stream][at] - self.skew:
                        return False
        return all(self.sent(cause, stream, done) for stream, at in step for cause in self.streams[stream][at].causes)

    def sent(self, cause: str, receiver: int, done: set[tuple[int, int]]) -> bool:
        """Whether a message was sent by one of these records, by the same node, by several nodes, or by none at all."""
        logs = enumerate(self.streams)
        senders = {(stream, at) for stream, log in logs for at, one in enumerate(log) if one.message == cause}
        if len({stream for stream, _ in senders}) > 1:
            return True
        return not senders or bool(senders & done) or any(stream == receiver for stream, _ in senders)
