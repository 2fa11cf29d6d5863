"""Traces of Arrow tables, told to a tracker line by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hacheck.testing.line_encoding import Event
from hacheck.testing.state_tracker import Broken, Track, Tracker


def events_of(batch: Any) -> dict[str, list[Event]]:
    """The records of a table as lines, by trace."""
    found: dict[str, list[Event]] = {}
    for row in batch.to_pylist():
        fields = {name: value for name, value in (row.get("fields") or {}).items() if value is not None}
        found.setdefault(row["trace_id"], []).append(Event(row["node"], row["event"], fields))
    return found


def followed(tracker: Tracker, events: Sequence[Event]) -> tuple[int, Track | Broken]:
    """How many lines the model follows, and what there is then."""
    track = tracker.start
    for number, event in enumerate(events):
        found = tracker.after(track, event)
        if isinstance(found, Broken):
            return number, found
        track = found
    return len(events), track
