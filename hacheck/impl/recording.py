"""Traces of what a cluster did, as JSON lines in the schema of `docs/traces.md`.

One process that sees everything, as a simulator does, writes whole traces with `write_trace`. Real processes cannot
number each other's records: each writes a log of its own with `Log`, and `merged` puts the logs of one run together.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any

import msgspec

from hacheck.impl.node import Name
from hacheck.impl.system import Refused

TOTAL, PER_NODE = "total", "per_node"
"""Whether records of different processes are in the order in which they happened."""

SUFFIX = ".jsonl"
UNFINISHED = ".unfinished"
INT_MAX = (1 << 63) - 1


class Line(msgspec.Struct, frozen=True, gc=False):
    """A record as one process wrote it. `time`: nanoseconds since 1970 by its own clock."""

    node: Name
    time: int
    event: str
    fields: Mapping[str, Any] = {}


def write_trace(path: Path, trace_id: str, order: str, lines: Iterable[Line]) -> int:
    """Writes one trace to a file, which appears when it is whole. Returns how many records it has.

    Errors: `OSError`; `Refused`, for fields that are no values of a trace.
    """
    kept = list(lines)
    types = _types(kept)
    words = {name for name, kind in types.items() if kind in ("string", "strings")}
    header = {"hacheck.traces": 1, "order": order, "fields": types}
    encode = msgspec.json.encode
    unfinished = path.with_name(f".{path.name}{UNFINISHED}")
    with unfinished.open("wb") as file:
        file.write(encode(header) + b"\n")
        for seq, line in enumerate(kept, 1):
            fields = {
                name: _value(value, types[name], name in words)
                for name, value in line.fields.items()
                if name in types  # else nothing but empty lists, of which nobody knows what of
            }
            content = {"trace_id": trace_id, "node": line.node, "seq": seq, "time": line.time, "event": line.event}
            file.write(encode(content | ({"fields": fields} if fields else {})) + b"\n")
    os.replace(unfinished, path)
    return len(kept)


# ---- types of fields ----


def type_of(value: object) -> str | None:
    """The type of a field with this value, as headers name it; `None` for an empty list or nothing, which fit several.
    Errors: `Refused`."""
    match value:
        case None:
            return None
        case bool():
            return "bool"
        case int() if -INT_MAX - 1 <= value <= INT_MAX:
            return "int"
        case float():
            return "float"
        case str():
            return "string"
        case bytes():
            return "string"
        case list() | tuple() | set() | frozenset():
            kinds = {type_of(item) for item in value}
            if not kinds:
                return None
            return "ints" if kinds == {"int"} else "strings"
    raise Refused(f"{value!r} is no value that a trace can show: numbers, words, truth values and lists of them are")


def _types(lines: Sequence[Line]) -> dict[str, str]:
    """The type of each field that has one. Where records differ, a field is words, or lists of words.

    A field with nothing but empty lists has none: it would be of one type in this trace and of another in the next.
    """
    found: dict[str, set[str]] = {}
    lists: dict[str, bool] = {}
    for line in lines:
        for name, value in line.fields.items():
            kinds = found.setdefault(name, set())
            lists[name] = lists.get(name, False) or isinstance(value, (list, tuple, set, frozenset))
            kind = type_of(value)
            if kind is not None:
                kinds.add(kind)
    return {name: _united(kinds, lists[name]) for name, kinds in found.items() if kinds or not lists[name]}


def _united(kinds: set[str], some_list: bool) -> str:
    if len(kinds) == 1 and some_list == next(iter(kinds)).endswith("s"):
        return next(iter(kinds))
    if kinds == {"int", "float"}:
        return "float"
    return "strings" if some_list else "string"


def _value(value: Any, kind: str, words: bool) -> Any:
    if value is None:
        return None
    if kind in ("ints", "strings"):
        items = sorted(value) if isinstance(value, (set, frozenset)) else value
        items = list(items) if isinstance(items, (list, tuple)) else [items]
        return [word(item) for item in items] if words else items
    return word(value) if words else value


def word(value: object) -> str:
    """A value as a word, as traces write it where a field is not always of one type."""
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case bytes():
            return value.hex()
        case list() | tuple():
            return ",".join(word(item) for item in value)
    return str(value)


# ---- logs of single processes ----


class Log:
    """The log of one incarnation of a process: a line for each record, as soon as it is there. To be closed."""

    def __init__(self, folder: Path, node: Name, incarnation: int) -> None:
        """Errors: `OSError`; `Refused`, if that incarnation has a log already."""
        path = folder / f"{node}-{incarnation:06d}.log"
        try:
            self._file: IO[bytes] = path.open("xb", buffering=0)
        except FileExistsError:
            raise Refused(f"{path} is there already: record into an empty folder") from None
        self._node = node
        self._encoder = msgspec.json.Encoder()

    def add(self, time: int, event: str, fields: Mapping[str, Any]) -> None:
        """Writes a line. `time`: nanoseconds since 1970. Errors: `OSError`."""
        shown = {
            name: sorted(value) if isinstance(value, (set, frozenset)) else value for name, value in fields.items()
        }
        self._file.write(self._encoder.encode(Line(self._node, time, event, shown)) + b"\n")

    def close(self) -> None:
        """Nothing more will be written."""
        self._file.close()


def merged(folder: Path, trace_id: str, path: Path) -> int:
    """Puts the logs of a folder together as one trace, in the order of their clocks and, of one process, as written.
    Returns how many records it has.

    A last line that a process did not finish writing is left out. Errors: `OSError`; `Refused`, for other lines that
    are none.
    """
    logs = [list(_read(log)) for log in sorted(folder.glob("*.log"))]
    by_node: dict[Name, list[Line]] = {}
    for line in chain.from_iterable(logs):
        by_node.setdefault(line.node, []).append(line)
    placed = []
    for place, lines in enumerate(by_node.values()):
        time = 0
        for number, line in enumerate(lines):
            time = max(time, line.time)  # a clock may have been set back
            placed.append((time, place, number, line))
    placed.sort(key=lambda item: item[:3])
    return write_trace(path, trace_id, PER_NODE, [line for *_, line in placed])


def _read(log: Path) -> Iterator[Line]:
    decode = msgspec.json.Decoder(Line).decode
    content = log.read_bytes().split(b"\n")
    for number, text in enumerate(content[:-1], 1):
        try:
            yield decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Refused(f"{log}, line {number}: {error}") from None
