"""`conform`: whether logs are ones that a protocol could have written."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hacheck.api.errors import InputError
from hacheck.api.specification import Settings, Spec, load
from hacheck.api.view import Row, Shown, Tone, View
from hacheck.extras import missing_extra

if TYPE_CHECKING:
    from hacheck.documents.document import Json
    from hacheck.documents.records import ConformDocument, TraceVerdict
    from hacheck.traces.drivers.contract import Outcome, Progress
    from hacheck.traces.findings import Findings

SHOWN_MAX = 20
"""So many traces that do not conform are shown."""


class Conformance(Shown, frozen=True):
    """What was found of the traces. `document`: everything, as `hacheck conform --json` writes it."""

    spec: Spec
    document: ConformDocument

    @property
    def conforms(self) -> bool:
        """Whether every trace conforms and nothing is wrong with the records."""
        return self.document.exit_code == 0

    @property
    def complete(self) -> bool:
        """Whether every trace has its verdict."""
        return self.document.complete

    @property
    def verdicts(self) -> list[TraceVerdict]:
        """The verdicts, by trace: `kind` is `conforms`, `deviates` or `unknown`; the rest says where and why."""
        return self.document.verdicts

    @property
    def deviations(self) -> list[TraceVerdict]:
        """The verdicts of traces that the model could not have written."""
        return [one for one in self.verdicts if one.kind == "deviates"]

    @property
    def problems(self) -> list[str]:
        """What is wrong with the records themselves."""
        return [one.message for one in self.document.findings.first]

    def to_dict(self) -> dict[str, Json]:
        """The document that `hacheck conform --json` writes."""
        return self.document.to_dict()

    def view(self) -> View:
        """A row for each trace that does not conform, and the counts."""
        tones: dict[str, Tone] = {"deviates": "bad", "unknown": "open", "conforms": "good"}
        wrong = [one for one in self.verdicts if one.kind != "conforms"][:SHOWN_MAX]
        rows = tuple(Row(tones[one.kind], (one.trace_id, one.kind, place_of(one)), one.reason) for one in wrong)
        counts = self.document.counts
        lines = (
            f"{self.document.records:,} records: {counts.conforms:,} traces conform, {counts.deviates:,} deviate, "
            f"{counts.unknown:,} undecided",
            *self.problems[:SHOWN_MAX],
        )
        return View(f"{self.document.traces} compared with {self.spec.name}", rows, lines)

    def __repr__(self) -> str:
        return f"<Conformance with {self.spec.name}: {'conforms' if self.conforms else 'see deviations'}>"


def place_of(verdict: TraceVerdict) -> str:
    """The record at which a trace leaves the model."""
    if verdict.seq is None:
        return ""
    where = f"{verdict.file}:{verdict.line}" if verdict.file else f"record {verdict.seq}"
    return f"{verdict.node} {verdict.event} ({where})"


def conform(
    spec: str | os.PathLike[str] | Spec,
    traces: str | os.PathLike[str],
    *,
    adapter: str | None = None,
    time_zone: str | None = None,
    check: str | None = None,
    settings: Settings | None = None,
    every_step: bool = False,
    hide: Sequence[str] = (),
    skew_ms: int = 10,
    within_seconds: Mapping[str, float] | None = None,
    nodes: Mapping[str, str] | None = None,
    invariants: Sequence[str] = (),
    states_max: int = 128_000,
    any_start: int = 0,
    workers: int | None = None,
    report: Callable[[Progress], bool] | None = None,
) -> Conformance:
    """Compares traces, a file or a folder, with a protocol.

    - `adapter`: what makes records of logs, a shipped one (`icestorm`) or a file; `time_zone`: that of the logs.
    - `every_step`: a record stands for each step, whatever the spec says; `hide`: events that leave no line.
    - `skew_ms`: so far the clocks of two nodes may differ.
    - `within_seconds`: for how long which invariants may be broken; `invariants`: those checked on the way.
    - `nodes`: the model's names of nodes (`Server-1`), by those of the records.
    - `states_max`: as many states explain a trace at once before it is undecided.
    - `any_start`: traces may begin in the middle, in one of so many states; 0: they begin where the model does.
    - `workers`: so many processes do the work, for which a script needs `if __name__ == "__main__":`; by default this
      one does, one task after the other.
    - `report`: called between tasks, and several times a second where processes work; `False` ends the comparison.

    Errors: `InputError` for what the caller gave, for traces that cannot be read, and where the libraries for logs are
    missing (`pip install 'hacheck[logs]'`); `SpecError` for errors of the spec's text.
    """
    loaded = load(spec)
    system, question = loaded.system(check, settings, logs=True)
    place = os.fspath(traces)
    try:
        from hacheck.api import trace_comparison

        wanted = trace_comparison.wanted_comparison(
            question.name, settings, every_step, hide, within_seconds, nodes, invariants
        )
        source = trace_comparison.Source(place, adapter, time_zone)
        limits = trace_comparison.SearchLimits(skew_ms, states_max, any_start, workers)
        document = trace_comparison.compare(loaded, system, wanted, source, limits, report)
    except ImportError as error:
        missing = missing_extra(error)
        if missing is None:
            raise
        raise InputError(f"traces are read by {missing[0]}, which is not installed", missing[1]) from None
    return Conformance(loaded, document)


def exit_code(outcome: Outcome, findings: Findings, *, strict: bool = False) -> int:
    """What the command returns: a trace that deviates, or in which a property is certainly violated, counts most; then
    what is wrong with the input. `strict`: a property that is possibly violated counts like one that is."""
    broken = outcome.broken.get("violated") or (strict and outcome.broken.get("perhaps"))
    if outcome.counts.get("deviates") or broken:
        return 1
    if findings.total:
        return 2
    undecided = outcome.counts.get("unknown") or not outcome.complete or not outcome.traces
    return 3 if undecided else 0
