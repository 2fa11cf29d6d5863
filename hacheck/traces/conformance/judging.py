"""What both ways of judging have in common: where a trace stopped, as a verdict."""

from __future__ import annotations

from typing import Any

from hacheck.model.data import replace
from hacheck.traces.conformance import control as k
from hacheck.traces.conformance.encoding import Misfit
from hacheck.traces.conformance.explaining import Explainer, Explanation
from hacheck.traces.conformance.verdicts import Verdict, VerdictKind
from hacheck.traces.records import EVENT, FILE, LINE, NODE, SEQ


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


def outcome(explainer: Explainer, status: int, limited: int, misfit: Misfit | None) -> tuple[VerdictKind, str]:
    """The verdict on a trace that stopped, and the reason."""
    if status == k.FULL:
        return "unknown", f"more than {explainer.weaver.memory.capacity:,} states of the model explain it up to here"
    if misfit is not None:
        return ("unknown" if misfit.why != "value" else "deviates"), misfit.text
    if limited:
        return "unknown", "the model's bounds were met on the way; with larger ones it might go on"
    if not explainer.complete:
        return "unknown", "it may have begun in a state that was not among those looked at"
    return "deviates", "no run of the model writes this line here"


def explained(verdict: Verdict, found: Explanation | None) -> Verdict:
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
    )
