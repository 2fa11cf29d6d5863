"""The comparison that `conform` makes, with the libraries that read traces."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from hacheck.api import conformance
from hacheck.api.comparison import (
    Comparison,
    compared_with,
    system_under,
    unknown_events,
    wanted_comparison,
    writers_of,
)
from hacheck.api.conform_document import conform_document
from hacheck.api.errors import InputError
from hacheck.model.observing.record_layout import ObservingError
from hacheck.traces.adapters.adapter_files import load as load_adapter
from hacheck.traces.adapters.log_extent import needed_skew_ns
from hacheck.traces.adapters.logs import LogDataset, open_logs
from hacheck.traces.data.data_verdicts import data_rules_of
from hacheck.traces.dataset import open_traces, place_of
from hacheck.traces.drivers.local import Options, check_locally
from hacheck.traces.drivers.log_verdicts import LogVerdicts
from hacheck.traces.findings import Findings, TracesError

if TYPE_CHECKING:
    from hacheck.api.specification import Spec
    from hacheck.documents.records import ConformDocument
    from hacheck.model.ir import System
    from hacheck.traces.dataset import Located
    from hacheck.traces.drivers.contract import Progress

__all__ = ["Comparison", "SearchLimits", "Source", "compare", "wanted_comparison"]


class Source(Struct, frozen=True):
    """Where the records come from."""

    place: str
    adapter: str | None
    zone: str | None

    def opened(self, findings: Findings) -> Located:
        """The records, or those made of logs. Errors: `TracesError`."""
        path = place_of(self.place)
        if self.adapter is None:
            return open_traces(path, findings)
        return open_logs(path, load_adapter(self.adapter), self.zone)


def stamp_skew_ms(dataset: Located) -> int:
    """What is added to the skew since stamps of logs are cut off to whole seconds, in milliseconds."""
    return needed_skew_ns(dataset) // 1_000_000 if isinstance(dataset, LogDataset) else 0


class SearchLimits(Struct, frozen=True):
    """How far the search for an explanation goes, and how many processes do it (`None`: this one)."""

    skew_ms: int
    states_max: int
    any_start: int
    workers: int | None


def compare(
    spec: Spec,
    system: System,
    wanted: Comparison,
    source: Source,
    limits: SearchLimits,
    report: Callable[[Progress], bool] | None,
) -> ConformDocument:
    """What comparing finds. Errors: `InputError`."""
    findings = Findings(None)
    try:
        compared = compared_with(wanted, spec.specification, system)
        dataset = source.opened(findings)
        skew_ms = limits.skew_ms + stamp_skew_ms(dataset)
        base = compared.base(
            dataset.schema.order, skew_ms=skew_ms, capacity=limits.states_max, any_start=limits.any_start
        )
        checker = compared.checker(base)
        completed = LogVerdicts(dataset, base.skew_ns)
        outcome = check_locally(
            dataset,
            checker,
            findings,
            collect=True,
            options=Options(workers=limits.workers, here=limits.workers is None),
            report=report or (lambda progress: True),
            completed=completed,
        )
        for finding in completed.absences(lambda settings: writers_of(system_under(checker, settings))):
            findings.add(finding)
    except TracesError as error:
        raise InputError(error.message, error.hint) from None
    except ObservingError as error:
        raise InputError(f"{spec.path}: {error}", "see `log` in docs/language.md: hacheck explain language") from None
    rules = data_rules_of(dataset)
    return conform_document(
        spec=spec.called,
        traces=source.place,
        compared=compared,
        skew_ms=skew_ms,
        exit_code=conformance.exit_code(outcome, findings),
        outcome=outcome,
        not_compared=unknown_events(outcome, compared, checker, frozenset() if rules is None else rules.own_events),
        findings=findings,
    )
