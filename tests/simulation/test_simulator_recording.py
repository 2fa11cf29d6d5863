"""What a simulator and real processes record is what the rest of hacheck reads as a trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hacheck.impl.recording import Line, Log, merged, write_trace
from hacheck.impl.system import Refused
from hacheck.traces.dataset import open_traces
from hacheck.traces.findings import Findings
from hacheck.traces.record_checks import checked_batches


def rows(path: Path, wrong: int = 0) -> list[dict[str, Any]]:
    findings = Findings()
    traces = open_traces(path, findings)
    found = pa.Table.from_batches(list(checked_batches(traces, findings))).to_pylist()
    assert findings.total == wrong
    return found


def test_trace_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    lines = [
        Line("replica-1", 10, "elected", {"group": "a-1", "members": [1, 2], "whole": True}),
        Line("replica-2", 9, "left", {"group": "a-1", "load": 0.5, "members": []}),
        Line("replica-1", 11, "idle"),
    ]
    assert write_trace(tmp_path / "one.jsonl", "run-7", "total", lines) == 3
    found = rows(tmp_path / "one.jsonl")
    assert [(row["seq"], row["node"], row["time"], row["event"]) for row in found] == [
        (1, "replica-1", 10, "elected"),
        (2, "replica-2", 9, "left"),
        (3, "replica-1", 11, "idle"),
    ]
    assert found[0]["fields"] == {"group": "a-1", "members": [1, 2], "whole": True, "load": None}
    assert found[1]["fields"]["members"] == []


def test_field_of_several_types_is_written_in_words(tmp_path: Path) -> None:
    lines = [
        Line("a", 1, "x", {"value": 3, "many": {2, 1}}),
        Line("a", 2, "y", {"value": True, "many": "none"}),
        Line("a", 3, "z", {"value": None}),
    ]
    write_trace(tmp_path / "one.jsonl", "t", "total", lines)
    found = [row["fields"] for row in rows(tmp_path / "one.jsonl")]
    assert [fields["value"] for fields in found] == ["3", "true", None]
    assert [fields["many"] for fields in found] == [["1", "2"], ["none"], None]


def test_value_that_no_trace_can_show_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="no value that a trace can show"):
        write_trace(tmp_path / "one.jsonl", "t", "total", [Line("a", 1, "x", {"value": {"a": 1}})])
    assert list(tmp_path.iterdir()) == []


def test_logs_of_processes_become_one_trace_in_the_order_of_their_clocks(tmp_path: Path) -> None:
    for node, incarnation, times in (("a", 0, (1, 5)), ("b", 0, (2, 9)), ("a", 1, (4, 7))):
        log = Log(tmp_path, node, incarnation)
        for time in times:
            log.add(time, "tick", {"incarnation": incarnation})
        log.close()
    with (tmp_path / "b-000000.log").open("ab") as file:
        file.write(b'{"node":"b","time":11,"eve')  # killed while it wrote
    assert merged(tmp_path, "t", tmp_path / "t.jsonl") == 6
    found = rows(tmp_path / "t.jsonl", wrong=1)  # the clock of `a` was set back while it was down
    assert [row["node"] for row in found] == ["a", "b", "a", "a", "a", "b"]
    assert [row["fields"]["incarnation"] for row in found if row["node"] == "a"] == [0, 0, 1, 1], "as each was written"


def test_an_incarnation_is_not_recorded_twice(tmp_path: Path) -> None:
    Log(tmp_path, "a", 0).close()
    with pytest.raises(Refused, match="empty folder"):
        Log(tmp_path, "a", 0)


def test_line_of_a_log_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a-000000.log").write_bytes(b"nonsense\n")
    with pytest.raises(Refused, match=r"a-000000\.log, line 1"):
        merged(tmp_path, "t", tmp_path / "t.jsonl")
