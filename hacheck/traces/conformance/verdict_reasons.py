"""What both ways of checking have in common: where a trace stopped, as a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from hacheck.model.ir import System
from hacheck.traces.conformance.diagnosis import Diagnoser, Diagnosis
from hacheck.traces.conformance.follower import Memory
from hacheck.traces.conformance.kernels import control as k
from hacheck.traces.conformance.record_encoding import Unmatchable
from hacheck.traces.conformance.state_differences import too_many
from hacheck.traces.conformance.verdicts import Verdict, VerdictKind
from hacheck.traces.records import EVENT, FILE, LINE, NODE, SEQ

BOUNDS_SHOWN = 6
EVENTS_SHOWN = 6
"""So many events of the spec are named where a trace has none of them."""


def place_of(batch: Any, row: int) -> dict[str, Any]:
    """Where a record is, in the terms of a verdict."""
    names = batch.schema.names

    def value(column: str) -> Any:
        return batch.column(column)[row].as_py() if column in names else None

    return {
        "seq": value(SEQ),
        "node": value(NODE) or "",
        "event": value(EVENT) or "",
        "file": value(FILE) or "",
        "line": value(LINE),
    }


def with_unknown_duration(verdict: Verdict, why: str) -> Verdict:
    """The verdict on a trace in which a property may have been broken, for an unknown time."""
    if verdict.kind != "conforms":
        return verdict
    return replace(verdict, kind="unknown", reason=f"it is unknown how long a property was broken: {why}")


def outcome(
    diagnoser: Diagnoser,
    status: int,
    limited: int,
    unmatchable: Unmatchable | None,
    bounds: Callable[[], tuple[str, ...]],
    memory: Memory,
) -> tuple[VerdictKind, str]:
    """The verdict on a trace that stopped, and the reason. `bounds`: which bounds were met, called where it matters;
    `memory`: where the trace was followed."""
    if status == k.FULL:
        return "unknown", f"{too_many(memory, 'the trace')}; --states {8 * memory.capacity} follows more"
    if unmatchable is not None:
        return ("unknown" if unmatchable.why != "value" else "deviates"), unmatchable.text
    if limited:
        return "unknown", beyond_bounds(bounds(), diagnoser.system)
    if not diagnoser.complete:
        return "unknown", "the trace may have begun in a state that was not tried; a larger --any-start tries more"
    return "deviates", "no run of the model writes this line here"


def beyond_bounds(bounds: Sequence[str], system: System) -> str:
    """That nobody knows what becomes of a trace, as these bounds were met; none where it is not known which."""
    meanings = dict(system.bounds)
    words = [(name, meanings.get(name, name)) for name in bounds[:BOUNDS_SHOWN]]
    named_bounds = [meaning if meaning.startswith(name) else f"{name}: {meaning}" for name, meaning in words]
    named_bounds += [f"{len(bounds) - BOUNDS_SHOWN} more"] * (len(bounds) > BOUNDS_SHOWN)
    named = f" ({'; '.join(named_bounds)})" if named_bounds else ""
    if len(bounds) == 1:
        return f"a bound of the model was reached{named}; with a larger one the trace might conform"
    return f"bounds of the model were reached{named}; with larger ones the trace might conform"


def followed_to_its_end(
    diagnoser: Diagnoser, trace_id: str, counts: Mapping[str, Any], width: int, properties: Mapping[str, Any]
) -> Verdict:
    """The verdict on a trace that some run explains. Where none of its records could be compared, every run would: so
    nothing is known of it. `counts`: `records` and `compared`; `properties`: what was violated, as in `Verdict`."""
    if counts["compared"]:
        return Verdict(trace_id, "conforms", width=width, **counts, **properties)
    names = [event.name for event in diagnoser.compiled.shape.events if event.written]
    more = f" and {len(names) - EVENTS_SHOWN} more" if len(names) > EVENTS_SHOWN else ""
    known = f"{', '.join(names[:EVENTS_SHOWN])}{more}" or "none"
    reason = f"nothing was compared: no step of the model writes any of the trace's events (steps write: {known})"
    return Verdict(trace_id, "unknown", reason=reason, width=width, **counts, **properties)


def with_diagnosis(verdict: Verdict, found: Diagnosis | None) -> Verdict:
    """The verdict with what would have been possible, and what would mend the trace."""
    if found is None:
        return verdict
    return replace(
        verdict,
        expected=found.expected,
        repair=found.repair,
        repair_text=found.text,
        repair_records=found.records,
        run=found.run,
        transition="" if found.impossible is None else found.impossible.transition,
        failing=() if found.impossible is None else found.impossible.failing,
        assumption=found.assumption,
    )
