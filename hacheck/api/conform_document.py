"""The document of `conform`, made from what was found."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import to_builtins

from hacheck import __version__
from hacheck.api.explaining_settings import OtherChoice, chosen_for_logs
from hacheck.documents.document import from_dict
from hacheck.documents.records import (
    ConformDocument,
    RecordFindings,
    TraceCounts,
    TraceVerdict,
    VerdictWithoutChoice,
)
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
    without_choices: Iterable[tuple[str, OtherChoice]] = (),
) -> ConformDocument:
    """Everything that was found. `spec`, `traces`: as the user named them; `not_compared`: records of events that the
    spec does not have, by event; `without_choices`: with the traces, what would be reported without what the spec
    chooses for logs."""
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
        chosen_for_logs=dict(chosen_for_logs(compared.specification, compared.check)),
        without_choices=[_without_choice(trace_id, other) for trace_id, other in without_choices],
    )


def _without_choice(trace_id: str, other: OtherChoice) -> VerdictWithoutChoice:
    found = other.verdict
    return VerdictWithoutChoice(
        trace_id=trace_id,
        setting=other.setting,
        kind=found.kind,
        reason=found.reason,
        seq=found.seq,
        event=found.event,
        file=found.file,
        line=found.line,
        violated=list(found.violated),
    )


def trace_verdict(verdict: Verdict) -> TraceVerdict:
    """A verdict in a document."""
    run = json.loads(verdict.run) if verdict.run else None
    return from_dict(TraceVerdict, to_builtins(verdict) | {"run": run})
