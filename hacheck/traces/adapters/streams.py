"""The records of one node's logs, in the order of their lines, and a count of where every line went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hacheck.traces.adapters.description import Adapter
from hacheck.traces.adapters.entries import Entry, Stray, entries
from hacheck.traces.adapters.entry_events import (
    Almost,
    FoundEvent,
    Nothing,
    at,
    entry_of_object,
    event_of_object,
    found_event,
    stamp_text,
)
from hacheck.traces.adapters.line_counts import Tally
from hacheck.traces.adapters.open_telemetry import unwrapped
from hacheck.traces.adapters.time_stamps import Clock
from hacheck.traces.dataset import TraceFile
from hacheck.traces.findings import Finding, Findings, Kind, text_of
from hacheck.traces.json_records import Problem, parsed, problem_of_value, storable, type_of
from hacheck.traces.records import CAUSES, EVENT, FIELDS, MESSAGE, NODE, TIME, TRACE_ID, FieldType
from hacheck.traces.text_blocks import blocks

ENDS_WITHIN = "the file ends within a line"


class Record(Struct, frozen=True):
    """A record without its number. `when`: the latest time of its stream so far, in nanoseconds; 0 before the first."""

    when: int
    source: int
    line: int
    columns: dict[str, Any]


class StreamMemory(Struct, frozen=True):
    """What a stream knows of the lines before: the latest time, which nodes they named, how many there were of each
    event, and the last number of each node."""

    when: int = 0
    named_nodes: dict[str, str] = {}
    counts: list[tuple[str, str, int]] = []
    numbers: list[tuple[str, str, int]] = []


class Stream:
    """Reads the logs of one node (or one log, whose lines name the nodes), file after file."""

    def __init__(
        self,
        adapter: Adapter,
        fields: Mapping[str, FieldType],
        zone: str,
        node: str | None,
        trace_id: str,
        tally: Tally,
        findings: Findings,
        timeline_start: int | None = None,
        written: int | None = None,
    ) -> None:
        self._adapter = adapter
        self._fields = fields
        self._node = node
        self._trace_id = trace_id
        self._tally = tally
        self._findings = findings
        self._clocks: dict[str, Clock] = {}
        self._zone = zone
        self._timeline_start = timeline_start
        self._written = written
        self._when = 0
        self._named_nodes: dict[str, str] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._last_numbers: dict[tuple[str, str], int] = {}
        self._name = ""
        self._open_line: int | None = None
        self._known = adapter.complete_words
        self._called = dict(adapter.nodes)
        self._probe = Clock(adapter.line.times, zone, timeline_start, written)
        self._programs: set[str] = set()
        self._quiet: Entry | None = None
        self._quiet_until: int | None = None

    def quiet_until(self) -> int | None:
        """The time of the last line since the last call that is no event, and shows that what writes the events was
        there: of the same program, where the head shows programs, else of any. Read before the next event is."""
        self._settle()
        found, self._quiet_until = self._quiet_until, None
        return found

    def _settle(self) -> None:
        """Reads the time of a line that was only kept: that of the last one of many is needed."""
        if self._quiet is not None:
            self._quiet_until = self._time(self._quiet)
            self._quiet = None

    def records(self, files: list[tuple[int, TraceFile]]) -> Iterator[Record]:
        """The records of some files, which are read in the order of their first times."""
        if len(files) > 1:
            files = sorted(files, key=lambda item: self._first_time(item[1]))
        for source, file in files:
            self._name = file.name
            lines = self._lines(file)
            found = self._of_objects(lines) if self._adapter.json is not None else self._of_text(lines)
            if self._adapter.line.any_order:
                found = iter(sorted(found, key=lambda item: item[1].get(TIME) or 0))
            for line, columns in found:
                self._when = max(self._when, columns.get(TIME) or 0)
                yield Record(self._when, source, line, columns)

    def more(self, name: str, source: int, lines: Iterable[tuple[int, bytes]]) -> Iterator[Record]:
        """The records of further whole lines of a file that grows."""
        self._name, self._open_line = name, None
        found = self._of_objects(lines) if self._adapter.json is not None else self._of_text(lines)
        for line, columns in found:
            self._when = max(self._when, columns.get(TIME) or 0)
            yield Record(self._when, source, line, columns)

    def begins_entry(self, line: bytes) -> bool:
        """Whether a line begins an entry, so that no line before it goes on."""
        head = self._adapter.line.head
        return head is None or head.match(line.decode("utf-8", errors="backslashreplace")) is not None

    def memory(self) -> StreamMemory:
        """What lines that were read say about those to come."""
        counts = [(*key, number) for key, number in self._counts.items()]
        numbers = [(*key, number) for key, number in self._last_numbers.items()]
        return StreamMemory(self._when, dict(self._named_nodes), counts, numbers)

    def remember(self, memory: StreamMemory) -> None:
        """Goes on where `memory` was taken."""
        self._when, self._named_nodes = memory.when, dict(memory.named_nodes)
        self._counts = Counter({(node, event): number for node, event, number in memory.counts})
        self._last_numbers = {(trace, node): number for trace, node, number in memory.numbers}

    def _first_time(self, file: TraceFile) -> int:
        known = (self._adapter, self._fields, self._zone, self._node, self._trace_id)
        quiet = Stream(*known, Tally(), Findings(), self._timeline_start, self._written)
        first = next(quiet.records([(0, file)]), None)
        return 0 if first is None else first.when

    def _lines(self, file: TraceFile) -> Iterator[tuple[int, bytes]]:
        self._open_line = None
        for block in blocks(file.path, file.name, self._findings):
            for number, line in block.lines():
                self._tally.lines += 1
                if block.last:
                    self._open_line = number
                yield number, line

    def _of_text(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, dict[str, Any]]]:
        """The records of a text log."""
        for item in entries(lines, self._adapter.line, self._is_time):
            if isinstance(item, Stray):
                self._stray(item)
                continue
            self._tally.continued += item.more_count
            columns = self._entry(item)
            if columns is not None:
                yield item.line, columns

    def _is_time(self, text: str) -> bool:
        return self._probe.read(text) is not None

    def _stray(self, stray: Stray) -> None:
        if not stray.text.strip():
            self._tally.blank += 1
        elif not (stray.is_text and stray.is_utf8):
            self._finding(stray.line, Kind.NOT_TEXT, "bytes that are no text", stray.text)
        elif stray.line == self._open_line:
            self._finding(stray.line, Kind.TRUNCATED, ENDS_WITHIN, stray.text)
        elif self._known and not stray.continues:
            within = "the file begins within a line" if stray.line == 1 else "a line without the head that lines have"
            self._finding(stray.line, Kind.TRUNCATED if stray.line == 1 else Kind.ALMOST, within, stray.text)
        elif stray.continues:
            self._tally.unknown_line(f"(continues a line that is missing) {stray.text}")
        else:
            self._tally.unknown_line(stray.text)

    def _entry(self, entry: Entry) -> dict[str, Any] | None:
        """The columns of an entry that is an event; whatever else it is, is counted."""
        if entry.torn:
            message = "a line that another one cuts off"  # which counts for both
            self._finding(entry.line, Kind.TRUNCATED, message, entry.message, counted=False)
            return None
        if not entry.is_text:
            self._finding(entry.line, Kind.NOT_TEXT, "bytes that are no text", entry.message)
            return None
        meaning = found_event(entry, self._adapter)
        if self._cut_off(entry, meaning):
            self._finding(entry.line, Kind.TRUNCATED, ENDS_WITHIN, entry.message)
            return None
        program = entry.parts.get("program")
        if isinstance(meaning, Nothing):
            if program is None or program in self._programs:
                self._quiet = entry
            if meaning.name is None and self._unknown_of_known(entry):
                return None
            if meaning.name is None:
                category = " ".join(value for name, value in entry.parts.items() if name not in ("time", "stream"))
                self._tally.unknown_line(f"{category} {entry.message}")
            else:
                self._tally.nothing[meaning.name] += 1
            return None
        self._settle()
        when = self._time(entry)
        if program is not None:
            self._programs.add(program)
        if isinstance(meaning, Almost):
            self._finding(entry.line, Kind.ALMOST, meaning.message, entry.message)
            return None
        if when is None:
            self._finding(entry.line, Kind.NO_TIME, f"no time: {entry.parts.get('time', '')!r}", entry.message)
            return None
        return self._columns(entry.line, meaning, entry.parts.get("stream", ""), when, entry.message)

    def _cut_off(self, entry: Entry, meaning: FoundEvent | Nothing | Almost) -> bool:
        """Whether the file ends within the entry: its last line has no end, and is no event, or shows a value that
        would be a value, too, if more of it were missing."""
        if self._open_line is None or self._open_line > entry.line + entry.more_count:
            return False
        if entry.more_count or isinstance(meaning, Almost) or not entry.message:
            return True
        shorter = found_event(replace(entry, message=entry.message[:-1]), self._adapter)
        if not isinstance(meaning, FoundEvent) or not isinstance(shorter, FoundEvent):
            return not isinstance(meaning, FoundEvent)
        pairs = ((value, shorter.fields.get(name)) for name, value in meaning.fields.items())
        return any(less is not None and less != value for value, less in pairs)

    def _unknown_of_known(self, entry: Entry) -> bool:
        """Whether a message that no rule speaks of is a finding: bytes that are no text, or one of a kind of which all
        messages are known."""
        category = entry.parts.get(self._adapter.line.complete or "")
        if not entry.is_utf8:
            self._finding(entry.line, Kind.NOT_TEXT, "bytes that are no text", entry.message)
        elif category in self._known:
            self._finding(entry.line, Kind.ALMOST, f"no known message of {category}", entry.message)
        return not entry.is_utf8 or category in self._known

    def _time(self, entry: Entry) -> int | None:
        stream = entry.parts.get("stream", "")
        return self._read_time(stream, entry.parts.get("time", ""))

    def _read_time(self, stream: str, text: str) -> int | None:
        clock = self._clocks.get(stream)
        if clock is None:
            clock = self._clocks[stream] = Clock(
                self._adapter.line.times, self._zone, self._timeline_start, self._written
            )
        return clock.read(text)

    def _columns(
        self, line: int, meaning: FoundEvent, stream: str, when: int | None, text: str
    ) -> dict[str, Any] | None:
        """The columns of an event, once it is clear whose it is."""
        node = self._whose(meaning.node, stream)
        node = node if node is None else self._called.get(node, node)
        if node is None:
            message = "the line does not say which node wrote it"
            if meaning.node:
                owner = self._node or self._named_nodes.get(stream)
                message = f"the message is about node {meaning.node!r}, in a log of node {owner!r}"
            self._finding(line, Kind.UNKNOWN_NODE, message, text)
            return None
        fields = storable(meaning.fields, self._fields)
        if meaning.numbered:
            self._counts[node, meaning.event] += 1
            fields |= dict.fromkeys(meaning.numbered, self._counts[node, meaning.event])
        self._tally.events[meaning.event] += 1
        columns: dict[str, Any] = {NODE: node, TIME: when, EVENT: meaning.event}
        return columns | {FIELDS: fields} if self._fields else columns

    def _whose(self, said: str | None, stream: str) -> str | None:
        """The node of a line: what its file is named for, what it says itself, what the lines before it said."""
        if self._node is not None:
            return self._node if said in (None, self._node) else None
        if said is not None:
            self._named_nodes[stream] = said
            return said
        return None if self._adapter.json is not None else self._named_nodes.get(stream)

    def _of_objects(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, dict[str, Any]]]:
        """The records of JSON lines."""
        paths = self._adapter.json
        assert paths is not None, "the adapter is for JSON"
        for number, line in lines:
            if not line.strip():
                self._tally.blank += 1
                continue
            content = parsed(line)
            if isinstance(content, Problem):
                self._finding(number, content.kind, content.message, text_of(line))
                continue
            objects = list(unwrapped(content)) if paths.otlp else [content]
            self._tally.lines += len(objects) - 1  # each counts as a line
            for one in objects:
                columns = self._object(number, one, text_of(line))
                if columns is not None:
                    yield number, columns

    def _object(self, number: int, content: dict[str, Any], text: str) -> dict[str, Any] | None:
        """The columns of an object that is an event; whatever else it is, is counted."""
        paths = self._adapter.json
        assert paths is not None, "the adapter is for JSON"
        if paths.text:
            meaning = found_event(entry_of_object(number, content, paths), self._adapter)
        else:
            meaning = event_of_object(content, self._adapter, lambda stamp: self._read_time("", stamp))
        if isinstance(meaning, Nothing):
            if meaning.name is None:
                self._tally.unknown_line(str(at(content, paths.event) or at(content, paths.text) or text))
            else:
                self._tally.nothing[meaning.name] += 1
            return None
        if isinstance(meaning, Almost):
            self._finding(number, Kind.ALMOST, meaning.message, text)
            return None
        for name, value in meaning.fields.items():
            kind = self._fields.get(name)
            if kind is None or problem_of_value(value, kind) is not None:
                wanted_type = kind.value if kind else "of no type that fields have"
                self._finding(number, Kind.WRONG_TYPE, f"field {name} is {value!r}, not {wanted_type}", text)
                return None
        stamp = at(content, paths.time)
        stamp = at(content, paths.time_else) if stamp is None else stamp
        when = None if stamp is None else self._read_time("", stamp_text(stamp))
        if stamp is not None and when is None:
            self._finding(number, Kind.NO_TIME, f"no time: {stamp!r}", text)
            return None
        further = {MESSAGE: at(content, paths.message), CAUSES: at(content, paths.causes)}
        further |= {TRACE_ID: at(content, paths.trace_id)}
        further = {name: value for name, value in further.items() if value is not None}
        wanted = {MESSAGE: FieldType.STRING, CAUSES: FieldType.STRINGS, TRACE_ID: FieldType.STRING}
        for name, value in further.items():
            if problem_of_value(value, wanted[name]) is not None or value == "":
                self._finding(number, Kind.WRONG_TYPE, f"{name} is {value!r}", text)
                return None
        columns = self._columns(number, meaning, "", when, text)
        if columns is None:
            return None
        of = str(further.get(TRACE_ID, "")), str(columns[NODE])
        return columns | further if self._own_number(number, of, at(content, paths.seq), text) else None

    def _own_number(self, line: int, of: tuple[str, str], found: object, text: str) -> bool:
        """Looks at the number that a node gave its own record, and returns whether the record is to be kept. One that
        is missing is a record that was lost; a node that starts again may begin again, with 0 or 1."""
        if found is None:
            return True
        if not isinstance(found, int) or isinstance(found, bool):
            self._finding(line, Kind.WRONG_TYPE, f"the number {found!r} is not whole", text, counted=False)
            return False
        before = self._last_numbers.get(of)
        if before is not None and 1 < found <= before:
            message = f"number {found:,} of node {of[1]!r} comes after {before:,}"
            self._finding(line, Kind.DUPLICATE_SEQ, message, text, counted=False)
            return False
        if before is not None and found > before + 1:
            message = f"records {before + 1:,} to {found - 1:,} of node {of[1]!r} are missing before this one"
            self._finding(line, Kind.MISSING_SEQ, message, text, counted=False)
        self._last_numbers[of] = found
        return True

    def _finding(self, line: int, kind: Kind, message: str, text: str, *, counted: bool = True) -> None:
        if counted:
            self._tally.findings += 1
        self._findings.add(Finding(kind, message, self._name, line, self._trace_id, text.strip()))


def found_fields(
    files: Iterable[TraceFile], adapter: Adapter, declared_fields: Iterable[tuple[str, FieldType]]
) -> tuple[tuple[str, FieldType], ...]:
    """The fields of events that the adapter does not name, with the type of the first value of each."""
    paths = adapter.json
    assert paths is not None, "the adapter is for JSON"
    found = dict(declared_fields)
    for file in files:
        for block in blocks(file.path, file.name, Findings()):
            for _, line in block.lines():
                content = parsed(line) if line.strip() else None
                values = at(content, paths.fields) if isinstance(content, dict) else None
                for name, value in values.items() if isinstance(values, dict) else ():
                    kind = type_of(value)
                    if kind is not None and found.get(name) in (None, FieldType.INT) and found.get(name) is not kind:
                        found[name] = kind if name not in found or kind is FieldType.FLOAT else found[name]
    return tuple(found.items())
