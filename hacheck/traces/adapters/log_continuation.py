"""Until when each node's log continues after a record: lines that are no events show that it was there.

A record of a log has the field `log_until` where such lines follow before the node's next record: the time of the last
of them. So what is compared with a model knows until when a node lived at least, though it compares events only.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from hacheck.traces.adapters.streams import Record, Stream
from hacheck.traces.dataset import TraceFile
from hacheck.traces.records import FIELDS

LOG_UNTIL = "log_until"
"""The field, in nanoseconds since 1970; no adapter has an event with a field of this name."""


def with_log_until(stream: Stream, files: list[tuple[int, TraceFile]]) -> Iterator[Record]:
    """The records of one node's logs, each when the next one is known."""
    held: Record | None = None
    for record in stream.records(files):
        if held is not None:
            yield _continued(held, stream.quiet_until())
        else:
            stream.quiet_until()  # lines before the first event belong to no record
        held = record
    if held is not None:
        yield _continued(held, stream.quiet_until())


def _continued(record: Record, until: int | None) -> Record:
    if until is None or until <= record.when:
        return record
    columns = record.columns
    return replace(record, columns=columns | {FIELDS: columns.get(FIELDS, {}) | {LOG_UNTIL: until}})
