"""What an adapter says about a log: how its lines begin, which messages are which events, which mean nothing."""

from __future__ import annotations

import re

from msgspec import Struct

from hacheck.traces.adapters.data_rules import DataRules
from hacheck.traces.records import FieldType, Order


class FieldRule(Struct, frozen=True):
    """Where a field comes from. Of a text: the group of the pattern with its name (`group`), or every match of `each`
    in the whole message; `numbered` counts the events of this name at its node. Of JSON: the value at `path`; `clock`:
    it is a time stamp in one of the forms of the adapter, and the field has nanoseconds since 1970."""

    name: str
    type: FieldType
    about: str = ""
    each: re.Pattern[str] | None = None
    numbered: bool = False
    path: tuple[str, ...] = ()
    clock: bool = False


class EventRule(Struct, frozen=True):
    """Which messages are an event. `has`: every such message has one of these texts in it; one that has it and is no
    event after all is a finding. Without any, the pattern alone decides. `where`: what the parts of the head of the
    line must be. `whole`: the pattern speaks of all lines of the message, not of the first alone. Of JSON: `has` are
    keys that every such object has, whatever its event is called."""

    name: str
    about: str
    has: tuple[str, ...]
    pattern: re.Pattern[str] | None
    where: tuple[tuple[str, tuple[str, ...]], ...]
    whole: bool
    fields: tuple[FieldRule, ...]


class NothingRule(Struct, frozen=True):
    """Messages that mean nothing to anybody who checks a trace; they are counted under a name."""

    name: str
    about: str
    pattern: re.Pattern[str]
    where: tuple[tuple[str, tuple[str, ...]], ...]


class LineRule(Struct, frozen=True):
    """How a line is taken apart. `head`: the beginning of an entry, with groups for its parts: `time`, `node`,
    `stream` (lines with the same are of one node), and any others. `continuation`: lines that belong to the entry
    above. `times`: the forms of time stamps. `zone`: where clocks are. `clock_back_ns`: so far times may go back from
    one line to the next, for lines of several threads. `any_order`: lines of a file are in no order of time.
    `complete`: a part of the head; all messages are known of which it is what an event asks for, and every line has a
    head or continues one."""

    head: re.Pattern[str] | None
    continuation: re.Pattern[str] | None
    times: tuple[str, ...]
    zone: str
    clock_back_ns: int
    any_order: bool = False
    complete: str | None = None


class JsonPaths(Struct, frozen=True):
    """Where the parts of a record are in an object of JSON lines; `()` where they are not. `time_else`: where the time
    is if there is none at `time`; `text`: where a text is that says what happened, to which events apply as to a line;
    `otlp`: each line is an export of OpenTelemetry logs, with many records."""

    time: tuple[str, ...] = ()
    time_else: tuple[str, ...] = ()
    node: tuple[str, ...] = ()
    event: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    trace_id: tuple[str, ...] = ()
    seq: tuple[str, ...] = ()
    message: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    any_event: bool = False
    text: tuple[str, ...] = ()
    otlp: bool = False


class Adapter(Struct, frozen=True):
    """A whole adapter. `files`: the names of logs, with groups `node` and `trace` where names show these. `paths`: the
    same for paths below the folder that is read, for logs that all have one name; it is tried first. `node`: whose
    all records are, where files do not differ in that. `beside`: adapters for files that may stand beside the logs and
    say more of the same traces. `data`: what the events say of the data that nodes hold. `nodes`: what logs call
    nodes, and what they are called in records."""

    name: str
    about: str
    source: str
    order: Order
    files: re.Pattern[str] | None
    paths: re.Pattern[str] | None
    line: LineRule
    json: JsonPaths | None
    events: tuple[EventRule, ...]
    nothing: tuple[NothingRule, ...]
    node: str | None = None
    beside: tuple[Adapter, ...] = ()
    data: DataRules | None = None
    nodes: tuple[tuple[str, str], ...] = ()

    @property
    def every(self) -> tuple[Adapter, ...]:
        """It, and those beside it."""
        return (self, *self.beside)

    @property
    def complete_words(self) -> frozenset[str]:
        """What the part `complete` of a head may be, of messages that are all known."""
        wheres = (where for event in self.events for where in event.where)
        return frozenset(word for name, words in wheres if name == self.line.complete for word in words)

    def field_types(self) -> tuple[tuple[str, FieldType], ...]:
        """The fields of all events, by name, those of files beside it, too."""
        events = (event for one in self.every for event in one.events)
        return tuple({field.name: field.type for event in events for field in event.fields}.items())
