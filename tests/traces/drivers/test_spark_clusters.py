"""What real clusters of the reference implementation and its simulator record follows the specs: judged on Spark.

Processes are killed (`kill -9`) and paused (`SIGSTOP`) while a client uses them; their records are one trace.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hacheck.impl.recording import TOTAL, write_trace
from hacheck.impl.simulator.history import History
from hacheck.impl.simulator.running import Plan, run
from hacheck.impl.systems import system
from hacheck.model.observing.line_writers import logged
from hacheck.testing.reference_protocols import FOLLOWED
from hacheck.testing.simulated_adapter import adapter_for
from hacheck.testing.tested_model import kept_invariants, place_of, specification_of
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.dataset import open_traces
from hacheck.traces.drivers.spark_batch import check_on_spark
from hacheck.traces.findings import Findings
from hacheck.traces.records import Order
from tests.nightly import nightly
from tests.runtime.clusters import Running, running, until

QUICK: Mapping[str, Mapping[str, str]] = {
    "icestorm": {
        "master_timeout": "2s",
        "election_timeout": "1s",
        "response_timeout": "1s",
        "start_delay": "300ms",
        "client_period": "1s",
    },
}
"""Settings besides, with which a cluster serves again within seconds."""

PROFILES = ("crashes", "pauses", "partitions")
"""What goes wrong in the runs of the simulator."""

DOWN_SECONDS, SERVED_LINES = 2.0, 4

LIMITS = {"messages_max", "operations"}
"""Settings with which clients do no more than a spec counts."""

SKEW_NS = 2_000_000
"""So far may what two processes write be from the order of their times."""


def judge_for(protocol: str, order: Order) -> TraceChecker:
    """What compares with the spec that a protocol follows. Processes of a cluster log apart, by one clock."""
    followed = FOLLOWED[protocol]
    specification = specification_of(place_of(followed.spec, adapter_for(protocol)))
    check = followed.check or "default"
    meant = specification.instantiate(dict(followed.settings), check, logs=True).system
    assert meant is not None
    asked = kept_invariants(specification, meant, check)
    return TraceChecker(logged(meant), order, skew_ns=SKEW_NS, checked=asked, called=followed.called)


def from_cluster(place: Path, protocol: str) -> Path:
    """The trace of a cluster whose servers were killed and paused, one after the other, while it was used."""
    followed = FOLLOWED[protocol]
    settings = {**followed.options, **QUICK.get(protocol, {})}
    with running(place, followed.code, followed.replicas, followed.clients, settings) as cluster:
        done = LIMITS & followed.options.keys()  # after so much nobody waits for a client any more
        goes_on = _served if not done else lambda _: time.sleep(DOWN_SECONDS)
        goes_on(cluster)
        for name in [name for name in cluster.standings() if name not in ("client-1", "manager")][:2]:
            for strike, mend in (("kill", "restart"), ("stop", "cont")):
                cluster.do(strike, name)
                time.sleep(DOWN_SECONDS)
                cluster.do(mend, name)
                goes_on(cluster)
    return place / "records" / "cluster.jsonl"


def _served(cluster: Running) -> None:
    """Waits until the client has been told of more."""
    before = len(cluster.lines("client-1"))
    until(lambda: len(cluster.lines("client-1")) >= before + SERVED_LINES, "the client goes on")


def from_simulator(folder: Path, protocol: str) -> None:
    """Puts traces of simulated runs into a folder, one for each profile."""
    followed = FOLLOWED[protocol]
    for seed, faults in enumerate(PROFILES):
        history = History(inputs=False)
        clients = 1 if followed.alone else max(2, followed.clients)
        plan = Plan(seed, followed.faults(faults), followed.replicas, clients, followed.options, fault_us=20_000_000)
        assert run(system(followed.code), plan, history).defect is None
        write_trace(folder / f"{faults}.jsonl", faults, TOTAL, history.lines())


@nightly
@pytest.mark.parametrize("protocol", FOLLOWED)
def test_recorded_runs_of_a_protocol_conform_on_spark(spark: Any, tmp_path: Path, protocol: str) -> None:
    folder = tmp_path / "simulated"
    folder.mkdir()
    from_simulator(folder, protocol)
    for place, traces in ((folder, len(PROFILES)), (from_cluster(tmp_path, protocol), 1)):
        findings = Findings()
        dataset = open_traces(place, findings)
        outcome = check_on_spark(spark, dataset, judge_for(protocol, dataset.schema.order), findings)
        assert findings.total == 0, findings.first
        assert outcome.counts == {"conforms": traces}, outcome.shown
        assert outcome.records > 50
