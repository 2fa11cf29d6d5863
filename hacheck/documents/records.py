"""Documents about records: what `hacheck conform`, `hacheck traces` and `hacheck simulate --traces` write."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType, field

from hacheck.documents.document import Document, Part
from hacheck.documents.run import Run


class RecordPlace(Part, frozen=True, kw_only=True):
    """A record of a trace. `time`: nanoseconds since 1970, null where it has none."""

    seq: int
    node: str
    event: str
    time: int | None
    file: str
    line: int | None


class LateRestoration(Part, frozen=True, kw_only=True):
    """An invariant that was broken for `nanoseconds`, longer than the `most` allowed, from one record to another.
    `sure`: in every explanation of the trace."""

    invariant: str
    sure: bool
    nanoseconds: int
    most: int
    start: RecordPlace
    end: RecordPlace


class BrokenStretch(Part, frozen=True, kw_only=True):
    """A stretch of the log in which an invariant was broken, from one record to another.

    `sure`: in every run that explains the whole log. `nanoseconds`: how long, at least where `is_open`: then it was
    still broken when the log ended; null without times. `nodes`: who broke it at its beginning, and `since`: for each
    of them the last record that it wrote up to then, null where there is none. `detail`: of data, what is wrong.
    `decides`: of the first stretch of an invariant that is not sure, the step without a line on which it depends;
    `breaking`, `sparing`: what the two nearest explanations do from there, of which the first breaks the invariant.
    """

    invariant: str
    sure: bool
    nanoseconds: int | None
    start: RecordPlace
    end: RecordPlace
    is_open: bool
    nodes: list[str]
    since: list[RecordPlace | None]
    detail: str = ""
    decides: str = ""
    breaking: str = ""
    sparing: str = ""


class TraceVerdict(Part, frozen=True, kw_only=True):
    """What was found of one trace.

    `compared`: records whose events the spec knows. `seq`, `node`, `event`, `file`, `line`: the record at which the
    trace leaves the model. `expected`: the lines that the model would have allowed there. `repair`: the nearest
    conforming edit, `repair_records`: how many further records it explains. `run`: a shortest run of the model up to
    there. `width`: the most states that explained the trace at once. `violated`: properties violated in every
    run that explains the whole trace, `perhaps`: in some, as `name@seq`; `broken`: the stretches in which they were;
    `excluded`: properties that only runs violate in which a node ended long after its last line, with these nodes.
    `settings`: those that its records gave. `transition`: the action that would have written the record, with its node;
    `failing`: its conditions that are false in the nearest state, and fields that it would have written otherwise;
    `assumption`: the one that alone forbids it. Each is empty where it is not known.
    """

    trace_id: str
    kind: Literal["conforms", "deviates", "unknown"]
    records: int
    compared: int
    reason: str
    seq: int | None
    node: str
    event: str
    file: str
    line: int | None
    expected: list[str]
    repair: Literal["", "wrong field", "extra line", "missing line"]
    repair_text: str
    repair_records: int
    run: Run | None
    width: int
    violated: list[str]
    perhaps: list[str]
    late: list[LateRestoration]
    broken: list[BrokenStretch]
    settings: list[str]
    transition: str
    failing: list[str]
    assumption: str
    excluded: list[str]


class RecordFinding(Part, frozen=True, kw_only=True):
    """Something that is wrong with a record. A key stands only where it is known."""

    kind: str
    message: str
    file: str | UnsetType = UNSET
    line: int | UnsetType = UNSET
    trace_id: str | UnsetType = UNSET
    text: str | UnsetType = UNSET


class RecordFindings(Part, frozen=True, kw_only=True):
    """Everything that is wrong with the records: how much of each kind, and the first of each."""

    total: int
    counts: dict[str, int]
    quarantined_records: int
    damaged_traces: int
    first: list[RecordFinding]


class TraceCounts(Part, frozen=True, kw_only=True):
    """Traces by verdict."""

    conforms: int
    deviates: int
    unknown: int


class VerdictWithoutChoice(Part, frozen=True, kw_only=True):
    """What would be reported of a trace if the spec did not choose a setting for logs: `setting` is `name=value`, as
    the check has it; the rest as of `TraceVerdict`."""

    trace_id: str
    setting: str
    kind: Literal["conforms", "deviates", "unknown"]
    reason: str
    seq: int | None
    event: str
    file: str
    line: int | None
    violated: list[str]


class ConformDocument(Document, tag="conform", frozen=True, kw_only=True):
    """What `hacheck conform` found. `lines`: which steps write records; `within_ns`: for how long which invariant may
    be broken; `complete`: every trace has its verdict; `not_compared`: records of events that the spec has not;
    `chosen_for_logs`: the switches that the spec's `trace` block sets otherwise than the check does; `without_choices`:
    of the first traces that deviate or violate a property, what would be reported without each of these (of the command
    only)."""

    spec: str
    check: str
    settings: dict[str, str]
    traces: str
    lines: Literal["every step", "as the spec says"]
    skew_ms: int
    within_ns: dict[str, int]
    exit_code: int
    complete: bool
    counts: TraceCounts
    records: int
    not_compared: dict[str, int]
    verdicts: list[TraceVerdict]
    findings: RecordFindings
    chosen_for_logs: dict[str, str] = field(default_factory=dict)
    without_choices: list[VerdictWithoutChoice] = field(default_factory=list)


class RecordSchema(Part, frozen=True, kw_only=True):
    """What the records of the traces have in common: their version, their order, and the types of their fields."""

    format: int = field(name="hacheck.traces")
    order: str
    fields: dict[str, str]


class RecordsPerTrace(Part, frozen=True, kw_only=True):
    """How long the traces are, in records."""

    min: int
    median: float
    max: int


class TraceStatistics(Part, frozen=True, kw_only=True):
    """How much there is. Times are in nanoseconds since 1970; `events`, `nodes`: records of each."""

    traces: int
    records: int
    records_per_trace: RecordsPerTrace
    first_time: int | None
    last_time: int | None
    without_time: int
    events: dict[str, int]
    nodes: dict[str, int]


class LineCounts(Part, frozen=True, kw_only=True):
    """What became of the lines of logs: those of events, those that mean `nothing` or are of an `unknown` kind."""

    lines: int
    events: dict[str, int]
    nothing: dict[str, int]
    unknown: dict[str, int]
    continued: int
    blank: int
    findings: int


class TracesDocument(Document, tag="traces", frozen=True, kw_only=True):
    """What `hacheck traces` found. `lines`: of logs only. `out`, `files`: what was written, where something was."""

    action: str
    place: str
    exit_code: int
    schema: RecordSchema
    findings: RecordFindings
    traces: TraceStatistics
    lines: LineCounts | None
    out: str | UnsetType = UNSET
    files: int | UnsetType = UNSET


class WrittenTraces(Part, frozen=True, kw_only=True):
    """How much was written. `ended_early`: traces shorter than requested, since no further step was possible."""

    files: int
    traces: int
    ended_early: int
    steps: int


class SimulateTracesDocument(Document, tag="simulate-traces", frozen=True, kw_only=True):
    """What `hacheck simulate --traces` wrote. `traces`, `steps`: how many of each were requested; `drop_lines`,
    `mutate`: shares; `records`: those written; `damage`: how many lines were changed on purpose."""

    spec: str
    check: str
    settings: dict[str, str]
    lines: Literal["every step", "as the spec says"]
    traces: int
    steps: int
    seed: int
    hidden: list[str]
    hidden_fields: list[str]
    skew_ms: int | None
    drop_lines: float
    mutate: float
    mutations: list[str]
    format: Literal["parquet", "jsonl"]
    complete: bool
    written: WrittenTraces
    records: int
    damage: int
    out: str
    jobs: int
    seconds: float
    exit_code: int
