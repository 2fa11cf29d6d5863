"""What is wrong with traces: findings, each with file and line, counted by kind and never dropped.

A reader notes it here and continues. A trace with a finding is *damaged*: what is left of it must not be checked
as if it were whole.
"""

from __future__ import annotations

import json
from collections import Counter
from enum import Enum
from typing import TextIO

from msgspec import Struct

SHOWN_MAX = 100
"""Of each kind so many findings are kept in memory. The others are counted, and written where a quarantine is."""

TEXT_MAX = 10_000
"""So many characters of a bad line are kept."""


class TracesError(Exception):
    """Traces that cannot be worked on at all, or a place that cannot be written to: what, and what to do."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Kind(Enum):
    """The kinds of findings, by the names they have in JSON."""

    TRUNCATED = "truncated"
    NOT_JSON = "not_json"
    MISSING_COLUMN = "missing_column"
    EXTRA_COLUMN = "extra_column"
    WRONG_TYPE = "wrong_type"
    WRONG_VALUE = "wrong_value"
    UNKNOWN_EVENT = "unknown_event"
    UNKNOWN_NODE = "unknown_node"
    DUPLICATE_SEQ = "duplicate_seq"
    MISSING_SEQ = "missing_seq"
    TIME_BACKWARDS = "time_backwards"
    HEADER = "header"
    VERSION = "version"
    INCOMPATIBLE = "incompatible"
    UNREADABLE = "unreadable"
    EMPTY = "empty"
    ALMOST = "almost"
    NO_TIME = "no_time"
    SPLIT_TRACE = "split_trace"
    NOT_TEXT = "not_text"
    NO_LOG = "no_log"
    LOG_ENDS = "log_ends"


MEANINGS = {
    Kind.TRUNCATED: "a last line that ends in the middle of a record",
    Kind.NOT_JSON: "a line that is not a JSON object",
    Kind.MISSING_COLUMN: "a record or file without a required column",
    Kind.EXTRA_COLUMN: "a record or file with a column or field that the schema does not have",
    Kind.WRONG_TYPE: "a value or column of another type",
    Kind.WRONG_VALUE: "a value of the right type that is not allowed: an empty name, a number out of range",
    Kind.UNKNOWN_EVENT: "an event that is not expected",
    Kind.UNKNOWN_NODE: "a node that is not expected",
    Kind.DUPLICATE_SEQ: "a sequence number that several records of a trace have",
    Kind.MISSING_SEQ: "sequence numbers of a trace that no record has",
    Kind.TIME_BACKWARDS: "a node whose clock went back",
    Kind.HEADER: "a header that cannot be read",
    Kind.VERSION: "another version of the schema",
    Kind.INCOMPATIBLE: "a file whose schema contradicts those of files read before it",
    Kind.UNREADABLE: "a file that cannot be read, or only in part",
    Kind.EMPTY: "a file without records",
    Kind.ALMOST: "a line of a log that looks like a known message and is not one",
    Kind.NO_TIME: "a line of a log whose time cannot be read",
    Kind.SPLIT_TRACE: "a trace in several pieces, in a folder whose manifest says one piece",
    Kind.NOT_TEXT: "a line of a log with bytes that are no text",
    Kind.NO_LOG: "a node of the system without a log",
    Kind.LOG_ENDS: "a node whose log ends long before those of the others",
}
"""What each kind means, for people."""

KEPT = frozenset({Kind.MISSING_SEQ, Kind.TIME_BACKWARDS, Kind.EMPTY, Kind.SPLIT_TRACE, Kind.NO_LOG, Kind.LOG_ENDS})
"""Findings that quarantine nothing: the records are there, but their trace is damaged."""


class Finding(Struct, frozen=True):
    """One thing that is wrong, and where. `line` is a line of a text, or a row of a Parquet file, from 1."""

    kind: Kind
    message: str
    file: str
    line: int | None = None
    trace_id: str | None = None
    text: str | None = None
    records: int = 1

    @property
    def place(self) -> str:
        """`FILE:LINE`, or the file alone."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def to_json(self) -> dict[str, object]:
        """As a JSON object; what is not known is left out."""
        known = {"kind": self.kind.value, "message": self.message, "file": self.file, "line": self.line}
        known |= {"trace_id": self.trace_id, "text": self.text}
        return {name: value for name, value in known.items() if value is not None}


class Findings:
    """All findings of one run: counts, the first of each kind, the damaged traces; every one goes to a quarantine
    (JSON lines) if there is one."""

    def __init__(self, quarantine: TextIO | None = None) -> None:
        self.counts: Counter[Kind] = Counter()
        self.first: list[Finding] = []
        self.damaged: dict[str, Finding] = {}
        self.unplaced: list[Finding] = []
        self.quarantined = 0
        self._quarantine = quarantine

    def add(self, finding: Finding) -> None:
        """Takes note of a finding."""
        self.counts[finding.kind] += 1
        if self.counts[finding.kind] <= SHOWN_MAX:
            self.first.append(finding)
        if finding.kind not in KEPT:
            self.quarantined += finding.records
        if finding.trace_id is not None:
            self.damaged.setdefault(finding.trace_id, finding)
        elif finding.kind is not Kind.EMPTY and len(self.unplaced) < SHOWN_MAX:
            self.unplaced.append(finding)
        if self._quarantine is not None:
            self._quarantine.write(json.dumps(finding.to_json(), ensure_ascii=True) + "\n")

    def damage(self, trace_id: str, finding: Finding) -> None:
        """Notes that a trace is damaged by a finding already added."""
        self.damaged.setdefault(trace_id, finding)

    @property
    def total(self) -> int:
        """How many findings there are."""
        return self.counts.total()

    def to_json(self) -> dict[str, object]:
        """Counts by kind, the first of each, how many records were left out and which traces are damaged."""
        return {
            "total": self.total,
            "counts": {
                kind.value: number for kind, number in sorted(self.counts.items(), key=lambda item: item[0].value)
            },
            "quarantined_records": self.quarantined,
            "damaged_traces": len(self.damaged),
            "first": [finding.to_json() for finding in self.first],
        }


class NotedFindings(Findings):
    """Findings that others take as well. `noted`: all of them in order, with the trace of damage that is no finding of
    its own."""

    def __init__(self, others: Findings) -> None:
        super().__init__()
        self._others = others
        self.noted: list[tuple[str | None, Finding]] = []

    def add(self, finding: Finding) -> None:
        """Takes note of a finding, and hands it on."""
        self.noted.append((None, finding))
        self._others.add(finding)

    def damage(self, trace_id: str, finding: Finding) -> None:
        """Notes damage, and hands it on."""
        self.noted.append((trace_id, finding))
        self._others.damage(trace_id, finding)


class FreshFindings(Findings):
    """Findings of which `fresh` has those that were not taken yet."""

    def __init__(self) -> None:
        super().__init__()
        self.fresh: list[Finding] = []

    def add(self, finding: Finding) -> None:
        """Takes note of a finding, and that it is new."""
        super().add(finding)
        self.fresh.append(finding)

    def taken(self) -> list[Finding]:
        """What is new since the last call."""
        new, self.fresh = self.fresh, []
        return new


def text_of(line: bytes) -> str:
    """A bad line as it is kept: what is no UTF-8 written as escapes, cut where it is very long."""
    return line[:TEXT_MAX].decode("utf-8", errors="backslashreplace")
