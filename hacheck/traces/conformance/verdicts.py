"""What is said of each trace: the verdict, and the table that all drivers write."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import pyarrow as pa

from hacheck.model.data import dataclass

VerdictKind: TypeAlias = Literal["conforms", "deviates", "unknown"]

RepairKind: TypeAlias = Literal["", "wrong field", "extra line", "missing line"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found of one trace.

    - `records`: those of the trace; `compared`: those whose events the spec knows.
    - `reason`: of `unknown`, and of `deviates`, as a sentence without its full stop.
    - `seq`, `node`, `event`, `file`, `line`: of the record at which the trace left the model, or at which nothing more
      could be said; empty or `None` where it conforms.
    - `expected`: the lines that the model would have allowed there, as text.
    - `repair`: the cheapest change after which the trace goes on; `repair_text`: in words; `repair_records`: how many
      more records it then explains.
    - `run`: a shortest run of the model that explains everything before, as JSON; empty where none is told.
    - `width`: the most model states that explained the trace at once.
    - `violated`: properties that were violated on the way whatever the hidden steps were, `perhaps`: in some of the
      explanations only; each as `name@seq`.
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


_TEXTS = pa.list_(pa.string())

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
    ]
)
"""The table of verdicts, one row for each trace."""

_COLUMNS = tuple(name if name != "verdict" else "kind" for name in SCHEMA.names)


def to_batch(verdicts: list[Verdict]) -> Any:
    """Verdicts as an Arrow batch of `SCHEMA`."""
    columns = [[getattr(one, name) for one in verdicts] for name in _COLUMNS]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    return pa.record_batch(arrays, schema=SCHEMA)


def from_batch(batch: Any) -> list[Verdict]:
    """The verdicts of an Arrow batch of `SCHEMA`."""
    found = []
    for row in batch.to_pylist():
        fields: dict[str, Any] = dict(row)
        fields["kind"] = fields.pop("verdict")
        fields |= {name: tuple(fields[name]) for name in ("expected", "violated", "perhaps")}
        found.append(Verdict(**fields))
    return found
