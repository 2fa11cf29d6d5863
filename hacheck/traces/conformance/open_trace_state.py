"""What is known of open traces as bytes that may lie in a file: a versioned format, checked like any input.

A head with the version and a digest, then MessagePack of plain data; arrays of numbers and batches of records
are written as such. Nothing that is read is run. What has another form than was written is refused, and so is what does
not fit the system that it is to go on with: machine code works on these arrays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hacheck.traces.conformance.verdicts import Verdict, to_batch
from hacheck.traces.findings import TracesError
from hacheck.traces.records import TRACE_ID

HEAD = b"hacheck trace state 1\n"
"""What it begins with; another version has another number."""

_ARRAY, _RECORDS = 1, 2
_KINDS = ("uint64", "int64", "float64", "bool")
_HINT = "start again: give another folder for results, or remove this one"

RECORDS_MAX = 2**62
"""A trace that is open has fewer records: with those to come they still fit into the table of verdicts."""

Kept = TypeVar("Kept")


class Open(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A trace whose end has not come; see `total_order`."""

    trace_id: str
    records: int
    compared: int
    verdict: Verdict | None
    words: list[Any]
    surely: dict[str, int]
    perhaps: dict[str, int]


class Memory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The candidates of all sets; see `follower`."""

    sets: list[Any]
    position: int
    peak: int
    limited: int
    marks: Any


class Followed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `TotallyOrdered` knows of the trace whose end has not come."""

    open: Open | None
    carried: Any
    names: tuple[dict[str, int], int]
    renamed: tuple[dict[int, int], int]
    memory: Memory | None


class Timed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `TimedTotallyOrdered` knows of it."""

    inner: Followed
    pieces: dict[str, list[Any]]
    last: str


class FollowedState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A trace in one order. `reported`: whether its verdict was reported."""

    held: Followed
    reported: bool


class TimedState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The same, checked by rules of time, too."""

    held: Timed
    reported: bool


class PiecesState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The records of a trace that is checked when it ends."""

    pieces: list[Any]


class ContradictionState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A record that contradicts another in what it says of a setting; see `derived_settings`."""

    reason: str
    place: dict[str, str | int | None]


class BySettingsState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A trace that is checked under the settings that its records give; `inner`: as it is checked, as bytes."""

    trace_id: str
    values: dict[str, str]
    wrong: ContradictionState | None
    fixed: bool
    seen: int
    inner: bytes | None
    pieces: list[Any]


def damaged(why: str) -> TracesError:
    """That what was kept of a trace cannot be gone on with."""
    return TracesError(f"the saved state of an open trace {why}", _HINT)


def to_bytes(state: msgspec.Struct) -> bytes:
    """A state as bytes."""
    content = msgspec.msgpack.encode(state, enc_hook=_written)
    return HEAD + hashlib.sha256(content).digest() + content


def from_bytes(content: bytes, kind: type[Kept]) -> Kept:
    """The state of a kind in bytes. Errors: `TracesError` for another version, what is damaged, and another kind."""
    if not content.startswith(HEAD):
        raise damaged("was written by another version of hacheck")
    digest, rest = content[len(HEAD) : len(HEAD) + 32], content[len(HEAD) + 32 :]
    if hashlib.sha256(rest).digest() != digest:
        raise damaged("is damaged: its digest is wrong")
    try:
        return msgspec.msgpack.decode(rest, type=kind, ext_hook=_read)
    except (msgspec.DecodeError, pa.ArrowException, OSError, EOFError, ValueError, TypeError, KeyError) as error:
        raise damaged(f"has another form than expected: {error}") from None


def _written(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        assert value.dtype.name in _KINDS, f"an array of {value.dtype}"
        parts = (value.dtype.name, list(value.shape), np.ascontiguousarray(value).tobytes())
        return msgspec.msgpack.Ext(_ARRAY, msgspec.msgpack.encode(parts))
    if isinstance(value, np.integer):
        return int(value)
    assert isinstance(value, pa.RecordBatch), f"{type(value).__name__} is not kept"
    return msgspec.msgpack.Ext(_RECORDS, _records_bytes(value))


def _records_bytes(batch: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _read(code: int, content: memoryview) -> Any:
    match code:
        case 1:
            kind, shape, data = msgspec.msgpack.decode(content, type=tuple[str, list[int], bytes])
            if kind not in _KINDS or any(size < 0 for size in shape):
                raise ValueError("an array of another kind")
            return np.frombuffer(data, kind).reshape(shape).copy()
        case 2:
            (batch,) = pa.ipc.open_stream(pa.py_buffer(bytes(content)))
            batch.validate(full=True)
            return batch
        case _:
            raise ValueError(f"extension {code}")


def is_numbers(value: Any, columns: int | None = None) -> bool:
    """Whether a value is a table of words, with so many columns."""
    fits = isinstance(value, np.ndarray) and value.dtype == np.uint64 and value.ndim == 2
    return bool(fits and (columns is None or value.shape[1] == columns))


def one_trace(batches: Sequence[Any]) -> str | None:
    """The trace of which all records in batches are; `None` without any batch. Errors: `TracesError` where they are not
    records of one trace."""
    traces: set[Any] = set()
    for batch in batches:
        if not isinstance(batch, pa.RecordBatch) or not batch.num_rows or not batch.schema.equals(batches[0].schema):
            raise damaged("has no records where some are expected")
        try:
            traces.update(pc.unique(batch.column(TRACE_ID)).to_pylist())
        except (KeyError, UnicodeDecodeError, pa.ArrowException) as error:
            raise damaged(f"has no records where some are expected: {error}") from None
    if len(traces) > 1 or not all(isinstance(trace, str) for trace in traces):
        raise damaged("has records of other traces")
    return next(iter(traces), None)


def is_storable(verdict: Verdict) -> bool:
    """Whether a verdict fits into the table of verdicts."""
    try:
        to_batch([verdict])
    except OverflowError:
        return False
    return True


def is_count(value: int, most: int = 2**63 - 1) -> bool:
    """Whether a number can be a count."""
    return 0 <= value <= most
