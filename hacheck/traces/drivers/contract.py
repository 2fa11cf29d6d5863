"""What drivers and checkers promise each other, and what a driver says while it runs and when it is done.

A checker is a picklable object: a driver sends copies of it to other processes, and to other machines. A driver gives
each copy whole traces, in order; which traces, and how many, is the driver's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct, field

from hacheck.traces.conformance.verdicts import Verdict
from hacheck.traces.findings import TracesError

SHOWN_MAX = 100
"""Of the traces that do not conform so many verdicts are kept in memory, those of the first trace ids."""


class OpenTrace(Protocol):
    """A trace that is checked while its records come in."""

    def feed(self, batch: Any) -> list[Verdict]:
        """Takes the next records of the trace, in the order of `seq`. Returns a verdict that is certain by now, if
        there is one; after that nothing more is fed."""
        ...

    def state(self) -> bytes:
        """All there is to know to go on later, in another process: what `ConformanceChecker.resume` takes."""
        ...

    def kept_records(self) -> list[Any] | None:
        """The records that it keeps for later, as batches; `None` where it has taken none yet."""
        ...

    def close(self) -> Verdict:
        """The verdict, when no more records come."""
        ...


class ConformanceChecker(Protocol):
    """Checks traces."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the record schema that it reads. `fields` means all fields of events, `fields.NAME` one."""
        ...

    def check(self, batches: Iterator[Any], report: Callable[[], bool] = ...) -> Iterator[Any]:
        """Checks whole traces, one after another, sorted by (trace_id, seq); a trace may go on in the next batch.

        Batches have the columns that it reads, in the order and with the types of the record schema. What comes out are
        batches of `verdicts.SCHEMA`, one row for each trace. `report` is called some times a second and says whether to
        go on; if not, no verdicts come any more.
        """
        ...

    def resume(self, state: bytes | None) -> OpenTrace:
        """A trace to be fed: a new one, or one that goes on where its `state` was taken."""
        ...


BrokenKind: TypeAlias = Literal["violated", "perhaps", "late", "perhaps late"]
"""How a property was broken in a trace: violated in every explanation of the whole log, or for longer than allowed;
`perhaps`: in some explanations only."""

Phase: TypeAlias = Literal["starting", "reading", "checking", "finishing"]


class Progress(Struct, frozen=True):
    """How far a driver is. `done` of `total` parts of the phase are over; `total` is 0 where nobody knows.
    `trace_done` of `trace_total` records are explained of the trace that is being checked, where that is known."""

    phase: Phase
    done: int
    total: int
    records: int
    traces: int
    wall_seconds: float
    trace_done: int = 0
    trace_total: int = 0


Report: TypeAlias = Callable[[Progress], bool]
"""Called several times a second with how far a driver is; returns whether to continue."""


class Outcome(Struct, frozen=True):
    """What a driver found.

    - `complete`: every trace has its verdict; otherwise the run was stopped early;
    - `traces`, `records`: how many have a verdict; `counts`: traces by kind of verdict;
    - `shown`: verdicts of traces that do not conform, or in which a property may be violated, by trace id, at most
      `SHOWN_MAX`;
    - `table`: where the table of all verdicts is, if one was requested;
    - `before`: verdicts by kind of earlier runs of a resumed monitor;
    - `broken`: traces by `BrokenKind`, then by property; `settings`: traces by the settings that their records gave;
    - `events`: records of each event, as the trace checker got them (batch drivers only);
    - `verdicts`: all of them as batches of `verdicts.SCHEMA`, if they were requested;
    - `unknown_lines`: lines of logs that no rule of the adapter speaks of.
    """

    complete: bool
    traces: int
    records: int
    counts: Mapping[str, int]
    shown: tuple[Verdict, ...]
    table: str | None = None
    before: Mapping[str, int] = field(default_factory=dict)
    broken: Mapping[BrokenKind, Mapping[str, int]] = field(default_factory=dict)
    settings: Mapping[tuple[str, ...], int] = field(default_factory=dict)
    events: Mapping[str, int] = field(default_factory=dict)
    verdicts: tuple[Any, ...] = ()
    unknown_lines: int = 0


class DriverError(TracesError):
    """The machinery failed, not the traces: a process died, two tasks checked one trace, no Java. No verdict is lost
    silently: its caller has no complete table."""
