"""What the logs of IceStorm say where a process ends, by its own will or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.traces.adapters.adapter_files import load
from hacheck.traces.adapters.logs import open_logs
from hacheck.traces.findings import Findings


def test_a_further_line_that_a_death_cut_off_leaves_its_record_whole(tmp_path: Path) -> None:
    died = (
        "-! 11/21/26 23:22:53.169 replica2-IceStorm: warning: dispatch exception: src/Ice/StreamSocket.cpp:243: "
        "::Ice::ConnectionLostException:\n   operation: create-- 11/21/26 23:23:05.336 replica2-IceStorm: Election: "
        "I am node 2\n   \tnode: 1 proxy: DemoIceStorm/node1 -t\n"
    )
    (tmp_path / "replica-2.log").write_text(died, encoding="utf-8")
    dataset, findings = open_logs(tmp_path, load("icestorm"), None), Findings()
    events = [event for batch in dataset.located(findings) for event in batch.column("event").to_pylist()]
    assert (events, findings.total) == (["dispatch_failed", "started"], 0)


@pytest.mark.parametrize(
    ("file", "event"),
    [
        ("src/IceStorm/Observers.cpp:208: ", "update_failed"),
        ("src/IceStorm/TopicManagerI.cpp:46: ", "request_given_up"),
    ],
)
def test_a_lost_majority_is_told_from_a_call_that_was_given_up(tmp_path: Path, file: str, event: str) -> None:
    line = f"-! 11/21/26 23:22:53.169 replica2-IceStorm: warning: dispatch exception: {file}::Ice::UnknownException:\n"
    (tmp_path / "replica-2.log").write_text(line, encoding="utf-8")
    dataset = open_logs(tmp_path, load("icestorm"), None)
    found = [name for batch in dataset.located(Findings()) for name in batch.column("event").to_pylist()]
    assert found == [event]
