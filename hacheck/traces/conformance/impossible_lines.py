"""Why a line is impossible: the transition that would have written it, and which of its conditions fail in the nearest
state that explains the log up to there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from hacheck.compile import from_words
from hacheck.model.execution import Line
from hacheck.model.failing_conditions import Attempt, FailingCondition, attempts
from hacheck.model.interpreter import instances
from hacheck.model.ir import Action, Constant, Local, System
from hacheck.model.observing.line_writers import lines_of
from hacheck.model.observing.record_layout import FIRST_EVENT, Event, Field
from hacheck.model.render import show, show_expression
from hacheck.model.run_json import acting_node, action_name
from hacheck.model.runs import State
from hacheck.model.types import Node, Option, Range, Set, Type, Value, values
from hacheck.traces.conformance.interleavings import Cut, Streams
from hacheck.traces.conformance.trace_program import Bits, Compiled

STATES_TRIED = 24
"""So many of the states that explain a log up to a place are tried."""

FAILING_SHOWN = 3
"""So many conditions are named; where more fail, the state is not near."""

NO_SOURCES: Mapping[str, str] = MappingProxyType({})
"""Where it does not matter what fields show."""

_INCOMPLETE = 5  # a step that cannot be completed at all counts as so many conditions more


class ImpossibleLine(Struct, frozen=True):
    """Why no step writes a line in the nearest state.

    - `event`: of the line; `action`: the transition that would have written it; `node`: where, or nothing;
    - `conditions`: those of the transition that fail; `differences`: fields that it would have written otherwise, and
      lines that it writes as well and that are not there; each as a part of a sentence.
    """

    event: str
    action: str
    node: str
    conditions: tuple[FailingCondition, ...]
    differences: tuple[str, ...]

    @property
    def transition(self) -> str:
        """The transition and its node: `merge_continue.commence at Replica 3`."""
        return f"{self.action} at {self.node}" if self.node else self.action

    @property
    def failing(self) -> tuple[str, ...]:
        """What is in the way, as parts of a sentence."""
        return (*(one.words for one in self.conditions), *self.differences)


class Record(Struct, frozen=True):
    """A record of a log as the model reads it: its event, who wrote it (`None`: nobody; `known_writer`: whether it says
    so), and the value of each field that it has and that something compares."""

    event: Event
    known_writer: bool
    writer: tuple[str, int] | None
    values: dict[str, Value]


def impossible_line(
    system: System, compiled: Compiled, rows: Any, streams: Streams, cut: Cut, stream: int, begun: Cut
) -> ImpossibleLine | None:
    """Why the next record of a stream is impossible, where a trace leaves the model; `None` where nothing is known.

    `rows`: the states, packed, that explain what is before `cut`; `begun`: how many records of each stream behind it
    are the first lines of a step. Cost: some executions of each action that writes such a line, in each state.
    """
    wanted = record_of(compiled, streams, stream, cut[stream] + begun[stream])
    if wanted is None:
        return None
    search = _Search(system, compiled, streams, cut, stream, begun, wanted)
    best: tuple[tuple[int, int], ImpossibleLine] | None = None
    seen: set[State] = set()
    for row in rows[:STATES_TRIED].tolist():
        state = compiled.state(from_words(row))
        if state in seen:
            continue
        seen.add(state)
        for found in search.found(state, None if best is None else sum(best[0])):
            if best is None or found[0] < best[0]:
                best = found
    return None if best is None or not best[1].failing else best[1]


class _Search(Struct, frozen=True):
    system: System
    compiled: Compiled
    streams: Streams
    cut: Cut
    stream: int
    begun: Cut
    wanted: Record

    def found(self, state: State, most: int | None) -> Iterator[tuple[tuple[int, int], ImpossibleLine]]:
        """Each way to write the line from a state, with how far it is from being possible. `most`: no more than this
        is of interest."""
        event = self.wanted.event.name
        for number, action in enumerate(self.system.actions):
            if not any(line.event == event for line in lines_of(action)):
                continue
            for arguments in instances(action):
                if not self._may_write(action, arguments):
                    continue
                limit = FAILING_SHOWN if most is None else min(most, FAILING_SHOWN)
                for attempt in attempts(self.system, state, number, arguments, event, limit):
                    differences = self._differences(attempt)
                    if differences is not None:
                        distance = len(attempt.failing) + len(differences) + _INCOMPLETE * bool(attempt.error)
                        yield (distance, len(attempt.failing)), self._made(attempt, tuple(differences))

    def _may_write(self, action: Action, arguments: tuple[Value, ...]) -> bool:
        """Whether an instance may write a line of the record's node, as far as its parameters say."""
        if not self.wanted.known_writer:
            return True
        given = {name: (kind, value) for (name, kind), value in zip(action.parameters, arguments, strict=True)}
        for line in lines_of(action):
            if line.event != self.wanted.event.name:
                continue
            match line.node:
                case None:
                    writer = None
                case Local(name) if name in given and isinstance(given[name][0], Node):
                    kind, value = given[name]
                    assert isinstance(kind, Node), "checked above"
                    writer = kind.name, value
                case _:
                    return True
            if writer == self.wanted.writer:
                return True
        return False

    def _differences(self, attempt: Attempt) -> list[str] | None:
        """How the lines of an attempt differ from the records that come next; `None` where the record is not among
        them, or what was begun is not so."""
        merged = self.compiled.shape.merged
        found: list[str] = []
        has_record = False
        counts = [0] * len(self.cut)
        for line in attempt.lines:
            place = 0 if merged else self.compiled.shape.writers.index(line.node)
            ahead, counts[place] = counts[place], counts[place] + 1
            record = record_of(self.compiled, self.streams, place, self.cut[place] + ahead)
            if (place, ahead) == (self.stream, self.begun[self.stream]):
                if not _is_like(line, record):
                    return None
                assert record is not None, "what is like a line is there"
                has_record = True
                found += _fields_unlike(line, record, self._sources(attempt.action))
            elif ahead < self.begun[place]:
                if record is None or not _is_like(line, record) or any(_fields_unlike(line, record)):
                    return None
            elif place != self.stream and self._is_missing(line, record, place, ahead):
                found.append(f"it also writes `{line.event}` of {_writer(line.node)}, which is not there")
        # Where what a step needs fails, it may have no further lines that could be looked at.
        return found if has_record or (attempt.error and attempt.failing) else None

    def _sources(self, action: int) -> dict[str, str]:
        """What the line shows as each field, in words, where the action says so in one way."""
        written: dict[str, set[str]] = {}
        for line in lines_of(self.system.actions[action]):
            for shown in line.fields if line.event == self.wanted.event.name else ():
                plain = isinstance(shown.value, Constant | Local)
                written.setdefault(shown.name, set()).add("" if plain else show_expression(shown.value))
        return {name: next(iter(texts)) for name, texts in written.items() if len(texts) == 1}

    def _is_missing(self, line: Line, record: Record | None, place: int, ahead: int) -> bool:
        """Whether a further line of a step is not what comes next in its log, which does not end there."""
        if record is None:
            return self.cut[place] + ahead < len(self.streams.words[place])
        return not _is_like(line, record) or any(_fields_unlike(line, record))

    def _made(self, attempt: Attempt, differences: tuple[str, ...]) -> ImpossibleLine:
        action = self.system.actions[attempt.action]
        node = acting_node(action, attempt.arguments) or ""
        event = self.wanted.event.name
        return ImpossibleLine(event, action_name(self.system, attempt.action), node, attempt.failing, differences)


# ---- records ----


def record_of(compiled: Compiled, streams: Streams, stream: int, at: int) -> Record | None:
    """A record of a stream; `None` behind its end, and where it is no line of the model."""
    if at >= len(streams.words[stream]):
        return None
    words, shape, places = streams.words[stream][at], compiled.shape, compiled.record
    number = _number(words, places.event)
    if not FIRST_EVENT <= number < shape.end:
        return None
    event = shape.events[number - FIRST_EVENT]
    said = _number(words, places.writer) if shape.merged else stream + 1
    shown: dict[str, Value] = {}
    for field in event.fields:
        given, content = places.given[field.column], places.content[field.column]
        held = shape.columns[field.column].type
        kind = held.element if isinstance(held, Option) else held
        if field.by_name or content is None:
            continue
        ordinal = _number(words, content)
        if isinstance(kind, Set):
            if given is None or _number(words, given):
                shown[field.name] = frozenset(
                    one for place, one in enumerate(values(kind.element)) if ordinal >> place & 1
                )
        elif ordinal:
            shown[field.name] = _nth(kind, ordinal - 1)
    return Record(event, said > 0, shape.writers[said - 1] if said else None, shown)


def _number(words: Any, place: Bits | None) -> int:
    return 0 if place is None else int(words[place.word]) >> place.shift & (1 << place.width) - 1


def _nth(kind: Type, ordinal: int) -> Value:
    return kind.low + ordinal if isinstance(kind, Range) else next(islice(values(kind), ordinal, None))


def _is_like(line: Line, record: Record | None) -> bool:
    """Whether a line is of the record's event and node."""
    if record is None or line.event != record.event.name:
        return False
    return not record.known_writer or line.node == record.writer


def _fields_unlike(line: Line, record: Record, sources: Mapping[str, str] = NO_SOURCES) -> Iterator[str]:
    """The fields that a line shows with other values than the record has, in words. `sources`: what they show."""
    fields = {field.name: field for field in record.event.fields}
    for name, kind, value in line.fields:
        field = fields[name]
        if name in record.values and _as_recorded(field, kind, value) != record.values[name]:
            source = f" (`{sources[name]}`)" if sources.get(name) else ""
            has = _recorded(field, record.values[name])
            yield f"`{name}` would be {show(kind, value)}{source}, and the line has {has}"


def _as_recorded(field: Field, kind: Type, value: Value) -> Value:
    """What a record has for a value that a line shows."""
    if field.optional:
        assert isinstance(field.type, Range), "an option of a number is a number"
        return field.type.low if value is None else value
    if isinstance(field.type, Set) and isinstance(kind, Option):
        return frozenset(() if value is None else (value,))
    return value


def _recorded(field: Field, value: Value) -> str:
    """The value of a field of a record, in words."""
    if field.optional and isinstance(field.type, Range) and value == field.type.low:
        return "none"
    return show(field.type, value)


def _writer(node: tuple[str, int] | None) -> str:
    return "nobody" if node is None else f"{node[0]} {node[1]}"
