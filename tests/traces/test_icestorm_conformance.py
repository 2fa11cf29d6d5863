"""Recordings of a real IceStorm 3.7.8 cluster, compared with the released code's protocol and with the manual's."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from hacheck.model.observing.lines import logged
from hacheck.traces.adapters.loading import load
from hacheck.traces.adapters.logs import open_logs
from hacheck.traces.checking import checked_batches
from hacheck.traces.conformance.checker import TraceChecker
from hacheck.traces.conformance.verdicts import Verdict, from_batch
from hacheck.traces.findings import Findings
from tests.seeds.driving import specification

RECORDINGS = Path(__file__).parents[1] / "data" / "icestorm"
SKEW_NS = 10_000_000


@cache
def verdicts(check: str) -> dict[str, Verdict]:
    """The verdicts on all recordings under the settings of a check, by trace."""
    instance = specification("icestorm").instantiate({}, check, logs=True)
    assert instance.system is not None, instance.diagnostics
    dataset, findings = open_logs(RECORDINGS, load("icestorm"), None), Findings()
    checker = TraceChecker(logged(instance.system), dataset.schema.order, skew_ns=SKEW_NS)
    batches = checker.check(checked_batches(dataset, findings))
    found = {one.trace_id: one for batch in batches for one in from_batch(batch)}
    assert not findings.total
    return found


def test_the_released_code_wrote_every_recording() -> None:
    found = verdicts("as_released")
    assert {"a-cold-start-3", "c-kill-coordinator", "e-lose-majority"} <= set(found)
    assert {name: one.kind for name, one in found.items() if one.kind != "conforms"} == {}


@pytest.mark.parametrize("name", ["a-cold-start-3", "c-kill-coordinator"])
def test_the_manuals_protocol_could_have_written_those_without_its_faults(name: str) -> None:
    assert verdicts("default")[name].kind == "conforms"


def test_a_generation_that_does_not_increase_is_none_of_the_manuals_protocol() -> None:
    found = verdicts("default")["e-lose-majority"]
    assert (found.kind, found.event, found.line) == ("deviates", "commenced", 72)
    assert (found.repair, found.repair_text) == ("wrong field", "`generation` of `commenced`")
    assert found.expected[0].endswith("generation: 2)")
    assert found.run
