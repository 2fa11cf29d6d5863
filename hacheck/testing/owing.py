"""What a step of the model that has begun to be shown would have written next: the answer to what a test just did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hacheck.model.execution import Line
from hacheck.model.semantics import Interpreter
from hacheck.model.types import Bool, Enum, Node, Option, Range, Type, Value
from hacheck.testing.driving import argument
from hacheck.testing.encoding import Event
from hacheck.traces.conformance.encoding import NOBODY
from hacheck.traces.conformance.explaining import LINES_SHOWN, STATES_ASKED, line_text

if TYPE_CHECKING:
    from hacheck.testing.tracking import Track, Tracker


def owed(tracker: Tracker, track: Track, shown: Sequence[Event]) -> tuple[str, ...]:
    """The next lines, as text, of steps that have written the last of the lines shown and have more to write. `shown`:
    all lines that led to `track`. Of many states only some are asked."""
    if not track.owing:
        return ()
    known = [event for event in shown if tracker.lines.knows(event)]
    interpreter = Interpreter(tracker.system)
    texts: dict[str, None] = {}
    for place in range(len(track.last)):
        written = known[place - len(track.last) :]
        for row in tracker.closure(track.sets[place])[:STATES_ASKED]:
            for _, lines in interpreter.steps_with_lines(tracker.state(row)):
                if len(lines) > len(written) and _begins(tracker, lines, written):
                    texts[line_text(lines[len(written)])] = None
    return tuple(sorted(texts)[:LINES_SHOWN])


def _begins(tracker: Tracker, lines: Sequence[Line], written: Sequence[Event]) -> bool:
    return all(_alike(tracker, line, event) for line, event in zip(lines, written, strict=False))


def _alike(tracker: Tracker, line: Line, event: Event) -> bool:
    node = NOBODY if line.node is None else f"{line.node[0]}-{line.node[1]}"
    called = tracker.compiled.called
    if line.event != event.name or called.get(event.node, event.node) != node:
        return False
    return all(_shows(kind, value, event.fields[name]) for name, kind, value in line.fields if name in event.fields)


def _shows(kind: Type, value: Value, given: object) -> bool:
    """Whether a field may show a value as given: always where the log has names of its own, or a set."""
    inner = kind.element if isinstance(kind, Option) else kind
    plain = "none" if given is None else given
    if not isinstance(inner, (Bool, Enum, Node, Range)) or (isinstance(inner, Range) and isinstance(plain, str)):
        return True
    mine = argument(kind, value)
    return ("none" if mine is None else mine) == plain
