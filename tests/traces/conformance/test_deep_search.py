"""One run is looked for, the furthest runs first, where more states explain a trace than are kept at once."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from hacheck.model.observing.line_writers import logged
from hacheck.traces.adapters.adapter_files import load
from hacheck.traces.adapters.logs import open_logs
from hacheck.traces.conformance import partial_order
from hacheck.traces.conformance.deep_search import found_deeply
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.verdicts import from_batch
from hacheck.traces.findings import Findings
from hacheck.traces.record_checks import checked_batches
from hacheck.traces.records import Order
from tests.interop.damage import KINDS, damaged
from tests.seeds.driving import specification

RECORDINGS = Path(__file__).parents[2] / "data" / "icestorm"
FEW = 16
"""More states than these explain some recording at some moment."""


@pytest.fixture(scope="module")
def checker() -> TraceChecker:
    """Keeps few states, and looks at no property."""
    system = specification("icestorm").instantiate({"timeline": "on"}, "as_released", logs=True).system
    assert system is not None, "the check makes a system"
    return TraceChecker(logged(system), Order.PER_NODE, skew_ns=10_000_000, explained_max=0, capacity=FEW)


def kinds(logs: Path, checker: TraceChecker) -> dict[str, str]:
    """What is found of each trace."""
    batches = checked_batches(open_logs(logs, load("icestorm")), Findings())
    return {one.trace_id: one.kind for batch in checker.check(batches) for one in from_batch(batch)}


def test_run_is_found_where_too_many_states_explain_a_recording(
    checker: TraceChecker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(kinds(RECORDINGS, checker).values()) == {"conforms"}
    monkeypatch.setattr(partial_order, "found_deeply", lambda *given: False)
    assert "unknown" in kinds(RECORDINGS, checker).values(), "without it"


@pytest.mark.parametrize("kind", KINDS)
def test_changed_recording_is_never_explained(tmp_path: Path, checker: TraceChecker, kind: str) -> None:
    assert damaged(RECORDINGS / "c-kill-coordinator", tmp_path / "logs", kind) is not None
    assert "conforms" not in kinds(tmp_path / "logs", checker).values()


def test_it_is_given_up_after_so_many_states(checker: TraceChecker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partial_order, "found_deeply", partial(found_deeply, expanded_max=1))
    assert "unknown" in kinds(RECORDINGS, checker).values()


def test_it_ends_when_it_is_stopped(checker: TraceChecker) -> None:
    calls = []
    batches = checked_batches(open_logs(RECORDINGS, load("icestorm")), Findings())
    found = list(checker.check(batches, lambda: calls.append(1) is None and len(calls) < 400))
    assert len(calls) == 400
    assert sum(batch.num_rows for batch in found) < 3
