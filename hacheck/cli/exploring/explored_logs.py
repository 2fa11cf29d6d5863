"""Where `hacheck explore` begins with a log: a shortest run up to where each trace leaves the protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hacheck.cli.guard import BadInput
from hacheck.cli.logs.comparison_options import comparison, what_is_compared
from hacheck.cli.logs.conformance import ConformRequest, check_traces
from hacheck.cli.page.conform_data import shown_run
from hacheck.cli.page.report_data import ShownRun
from hacheck.model.language import Specification
from hacheck.model.observing.record_layout import ObservingError
from hacheck.traces.conformance.verdicts import from_batch
from hacheck.traces.findings import Findings, TracesError

if TYPE_CHECKING:
    from hacheck.cli.exploring.explorer import ExploreRequest

SKEW_MS, CAPACITY = 10, 16_000
"""As `hacheck conform` has them where nothing is said."""


def from_log(request: ExploreRequest, specification: Specification, traces: str) -> list[ShownRun]:
    """The runs. Errors: `BadInput`, also where every trace conforms."""
    settings = [f"{name}={value}" for name, value in request.settings.items()]
    request_for_logs = ConformRequest(
        spec=request.spec,
        traces=traces,
        adapter=request.adapter,
        zone=None,
        comparison=comparison(request.check, settings, False, None, None, None),
        skew_ms=SKEW_MS,
        capacity=CAPACITY,
        any_start=0,
        engine="local",
        properties=(),
        strict=False,
        out=None,
        json="-",
        quarantine=None,
        runs=True,
        quiet=False,
        no_color=request.no_color,
    )
    compared = what_is_compared(request_for_logs.comparison, specification, (), no_color=request.no_color)
    try:
        found = check_traces(request_for_logs, compared, Findings(), None)
    except TracesError as error:
        raise BadInput(error.message, error.hint) from None
    except ObservingError as error:
        raise BadInput(f"{request.spec}: {error}", "see `log` in docs/language.md: hacheck explain language") from None
    verdicts = [verdict for batch in found.outcome.verdicts for verdict in from_batch(batch)]
    shown = [run for verdict in verdicts if (run := shown_run(found, verdict)) is not None]
    if not shown:
        counts = ", ".join(f"{count} {kind}" for kind, count in found.outcome.counts.items() if count)
        said = f"no trace leaves the protocol ({counts or 'no trace'})"
        raise BadInput(f"--log {traces}: {said}", "leave --log out to begin with the initial state")
    return shown
