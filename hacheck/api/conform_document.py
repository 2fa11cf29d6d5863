"""The document of `conform`, made from what was found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import to_builtins

from hacheck import __version__
from hacheck.documents.document import from_dict
from hacheck.documents.records import ConformDocument, RecordFindings, TraceCounts, TraceVerdict
from hacheck.traces.conformance.verdicts import Verdict, from_batch

if TYPE_CHECKING:
    from hacheck.api.comparison import Compared
    from hacheck.traces.drivers.contract import Outcome
    from hacheck.traces.findings import Findings


def conform_document(
    *,
    spec: str,
    traces: str,
    compared: Compared,
    skew_ms: int,
    exit_code: int,
    outcome: Outcome,
    not_compared: Mapping[str, int],
    findings: Findings,
) -> ConformDocument:
    """Everything that was found. `spec`, `traces`: as the user named them; `not_compared`: records of events that the
    spec does not have, by event."""
    counts = outcome.counts
    return ConformDocument(
        hacheck=__version__,
        spec=spec,
        check=compared.check,
        settings=dict(compared.system.settings),
        traces=traces,
        lines="every step" if compared.every_step else "as the spec says",
        skew_ms=skew_ms,
        within_ns={rule.name: rule.nanoseconds for rule in compared.rules},
        exit_code=int(exit_code),
        complete=outcome.complete,
        counts=TraceCounts(
            conforms=counts.get("conforms", 0), deviates=counts.get("deviates", 0), unknown=counts.get("unknown", 0)
        ),
        records=outcome.records,
        not_compared=dict(not_compared),
        verdicts=[trace_verdict(verdict) for batch in outcome.verdicts for verdict in from_batch(batch)],
        findings=from_dict(RecordFindings, findings.to_json()),
    )


def trace_verdict(verdict: Verdict) -> TraceVerdict:
    """A verdict in a document."""
    run = json.loads(verdict.run) if verdict.run else None
    return from_dict(TraceVerdict, to_builtins(verdict) | {"run": run})
