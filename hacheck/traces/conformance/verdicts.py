"""What is said of each trace: the verdict, and the table that all drivers write."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
from msgspec import Struct, to_builtins

VerdictKind: TypeAlias = Literal["conforms", "deviates", "unknown"]

RepairKind: TypeAlias = Literal["", "wrong field", "extra line", "missing line"]


class Place(Struct, frozen=True):
    """A record of a trace. `time`: nanoseconds since 1970, `None` where it has none; likewise `line`."""

    seq: int
    node: str
    event: str
    time: int | None
    file: str
    line: int | None

    @property
    def words(self) -> str:
        """What it is, and where."""
        where = f"{self.file}:{self.line}" if self.file else f"record {self.seq}"
        return f"{self.event} ({where})"


class Late(Struct, frozen=True):
    """A property that was broken for longer than it may be: for `nanoseconds`, by the clocks of the log, which is more
    than `most`; from one record to another. `sure`: whatever the hidden steps were; else in some explanations."""

    invariant: str
    sure: bool
    nanoseconds: int
    most: int
    start: Place
    end: Place

    @property
    def words(self) -> str:
        """As a sentence without its full stop."""
        broken = "broken" if self.sure else "perhaps broken"
        lasted = seconds(self.nanoseconds) if self.nanoseconds < 120 * 10**9 else lasting(self.nanoseconds)
        between = 0 if self.start.time is None or self.end.time is None else self.end.time - self.start.time
        is_open = self.nanoseconds > between > 0 or self.start == self.end
        end = "the end of the log" if is_open else self.end.words
        how_long = f"for {'at least ' * is_open}{lasted}, longer than {seconds(self.most)}"
        return f"`{self.invariant}` was {broken} {how_long}: from {self.start.words} to {end}"


class Broken(Struct, frozen=True):
    """A stretch of the log in which an invariant was broken.

    - `sure`: in every run that explains the whole log; else in some of them.
    - `start`, `end`: the records between which; `is_open`: it was still broken when the log ended.
    - `nanoseconds`: how long, by the clocks of the log; at least that long where it is open; `None` without times.
    - `nodes`: the nodes of the model that broke it at its beginning, as `Server-1`.
    - `since`: for each of them the last record that it wrote before or at the beginning, where there is one.
    - `detail`: what is wrong, where more can be said than that the property is broken; else empty.
    - `decides`: of the first stretch that is not sure, the step without a line on which it depends; `breaking`,
      `sparing`: what the two nearest runs do from there, of which the first breaks the invariant. Empty where unknown.
    """

    invariant: str
    sure: bool
    nanoseconds: int | None
    start: Place
    end: Place
    is_open: bool
    nodes: tuple[str, ...] = ()
    since: tuple[Place | None, ...] = ()
    detail: str = ""
    decides: str = ""
    breaking: str = ""
    sparing: str = ""


def lasting(nanoseconds: int) -> str:
    """How long, as people say it: `41.0 s`, `0.8 ms`, `2 min 5 s`, `2 h 44 min`."""
    seconds = nanoseconds / 10**9
    if seconds < 0.1:
        return f"{nanoseconds / 10**6:.1f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def seconds(nanoseconds: int) -> str:
    """A time in seconds, as people write it: to the millisecond."""
    text = f"{nanoseconds / 10**9:.3f}".rstrip("0").rstrip(".")
    return f"{text} s"


class Verdict(Struct, frozen=True):
    """What was found of one trace.

    - `records`: those of the trace; `compared`: those whose events the spec knows.
    - `reason`: of `unknown`, and of `deviates`, as a sentence without its full stop.
    - `seq`, `node`, `event`, `file`, `line`: of the record at which the trace left the model, or at which nothing more
      could be said; empty or `None` where it conforms.
    - `expected`: the lines that the model would have allowed there, as text.
    - `repair`: the cheapest change after which the trace goes on; `repair_text`: in words; `repair_records`: how many
      more records it then explains; 0 where the last line is one too much.
    - `run`: a shortest run of the model that explains everything before, as JSON; empty where there is none.
    - `transition`: the action that would have written the record, with its node, and `failing`: its conditions that are
      false in the nearest state, and fields that it would have written otherwise; `assumption`: the one that alone
      forbids it. Empty where that is not known.
    - `width`: the most model states that explained the trace at once.
    - `violated`: properties that every run which explains the whole log violates, `perhaps`: those that some do; each
      as `name@seq`, the record before which it is first broken.
    - `broken`: the stretches in which properties were broken, in the order of time.
    - `late`: properties that were broken for longer than they may be. A trace in which one surely was deviates.
    - `excluded`: properties that would be possibly violated, or at more moments, but for nodes that are taken to have
      ended soon after their last lines, as `name: if ...`.
    - `settings`: those that its records gave, as `name=value`.
    """

    trace_id: str
    kind: VerdictKind
    records: int
    compared: int
    reason: str = ""
    seq: int | None = None
    node: str = ""
    event: str = ""
    file: str = ""
    line: int | None = None
    expected: tuple[str, ...] = ()
    repair: RepairKind = ""
    repair_text: str = ""
    repair_records: int = 0
    run: str = ""
    width: int = 0
    violated: tuple[str, ...] = ()
    perhaps: tuple[str, ...] = ()
    late: tuple[Late, ...] = ()
    broken: tuple[Broken, ...] = ()
    settings: tuple[str, ...] = ()
    transition: str = ""
    failing: tuple[str, ...] = ()
    assumption: str = ""
    excluded: tuple[str, ...] = ()


_TEXTS = pa.list_(pa.string())

_PLACE = pa.struct(
    [
        pa.field("seq", pa.int64()),
        pa.field("node", pa.string()),
        pa.field("event", pa.string()),
        pa.field("time", pa.int64()),
        pa.field("file", pa.string()),
        pa.field("line", pa.int64()),
    ]
)

_LATE = pa.struct(
    [
        pa.field("invariant", pa.string()),
        pa.field("sure", pa.bool_()),
        pa.field("nanoseconds", pa.int64()),
        pa.field("most", pa.int64()),
        pa.field("start", _PLACE),
        pa.field("end", _PLACE),
    ]
)

_BROKEN = pa.struct(
    [
        pa.field("invariant", pa.string()),
        pa.field("sure", pa.bool_()),
        pa.field("nanoseconds", pa.int64()),
        pa.field("start", _PLACE),
        pa.field("end", _PLACE),
        pa.field("is_open", pa.bool_()),
        pa.field("nodes", _TEXTS),
        pa.field("since", pa.list_(_PLACE)),
        pa.field("detail", pa.string()),
        pa.field("decides", pa.string()),
        pa.field("breaking", pa.string()),
        pa.field("sparing", pa.string()),
    ]
)

SCHEMA = pa.schema(
    [
        pa.field("trace_id", pa.string(), nullable=False),
        pa.field("verdict", pa.string(), nullable=False),
        pa.field("records", pa.int64(), nullable=False),
        pa.field("compared", pa.int64(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("seq", pa.int64()),
        pa.field("node", pa.string(), nullable=False),
        pa.field("event", pa.string(), nullable=False),
        pa.field("file", pa.string(), nullable=False),
        pa.field("line", pa.int64()),
        pa.field("expected", _TEXTS, nullable=False),
        pa.field("repair", pa.string(), nullable=False),
        pa.field("repair_text", pa.string(), nullable=False),
        pa.field("repair_records", pa.int64(), nullable=False),
        pa.field("run", pa.string(), nullable=False),
        pa.field("width", pa.int64(), nullable=False),
        pa.field("violated", _TEXTS, nullable=False),
        pa.field("perhaps", _TEXTS, nullable=False),
        pa.field("late", pa.list_(_LATE), nullable=False),
        pa.field("broken", pa.list_(_BROKEN), nullable=False),
        pa.field("settings", _TEXTS, nullable=False),
        pa.field("transition", pa.string(), nullable=False),
        pa.field("failing", _TEXTS, nullable=False),
        pa.field("assumption", pa.string(), nullable=False),
        pa.field("excluded", _TEXTS, nullable=False),
    ]
)
"""The table of verdicts, one row for each trace."""

_TUPLES = ("expected", "violated", "perhaps", "settings", "failing", "excluded")

_COLUMNS = tuple(name if name != "verdict" else "kind" for name in SCHEMA.names)


def to_batch(verdicts: list[Verdict]) -> Any:
    """Verdicts as an Arrow batch of `SCHEMA`."""
    columns = [[getattr(one, name) for one in verdicts] for name in _COLUMNS]
    for name in ("late", "broken"):
        columns[_COLUMNS.index(name)] = [[to_builtins(held) for held in getattr(one, name)] for one in verdicts]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    return pa.record_batch(arrays, schema=SCHEMA)


def conforming_batch(trace_ids: Any, records: Any, compared: Any, width: Any) -> Any:
    """Verdicts on traces that conform, of which nothing else is to be said, from arrays of one length, as an Arrow
    batch of `SCHEMA`."""
    columns = {"trace_id": trace_ids, "records": records, "compared": compared, "width": width}
    same = _nothing_to_say(max(len(trace_ids) - 1, 0).bit_length())
    arrays = [columns.get(name, same.column(name).slice(0, len(trace_ids))) for name in SCHEMA.names]
    return pa.record_batch(arrays, schema=SCHEMA)


@cache
def _nothing_to_say(power: int) -> Any:
    """Two to the power of so many verdicts that a trace conforms."""
    none = pa.array(np.zeros(1 << power, np.int64))
    return to_batch([Verdict("", "conforms", 0, 0)]).take(none)


def late_from(content: dict[str, Any]) -> Late:
    """A `Late` from plain data, as `msgspec.to_builtins` makes it of one."""
    return Late(**content | {"start": Place(**content["start"]), "end": Place(**content["end"])})


def broken_from(content: dict[str, Any]) -> Broken:
    """A `Broken` from plain data, as `msgspec.to_builtins` makes it of one."""
    since = tuple(None if one is None else Place(**one) for one in content["since"])
    places = {"start": Place(**content["start"]), "end": Place(**content["end"])}
    return Broken(**content | places | {"nodes": tuple(content["nodes"]), "since": since})


def from_batch(batch: Any) -> list[Verdict]:
    """The verdicts of an Arrow batch of `SCHEMA`."""
    found = []
    for row in batch.to_pylist():
        fields: dict[str, Any] = dict(row)
        fields["kind"] = fields.pop("verdict")
        fields |= {name: tuple(fields[name]) for name in _TUPLES}
        fields["late"] = tuple(late_from(one) for one in fields["late"])
        fields["broken"] = tuple(broken_from(one) for one in fields["broken"])
        found.append(Verdict(**fields))
    return found
