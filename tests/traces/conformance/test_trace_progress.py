"""How far a large trace is: the share of its records that are explained."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.cli.logs.conformance import words_of
from hacheck.traces.adapters.adapter_files import load
from hacheck.traces.adapters.logs import open_logs
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.trace_progress import TraceProgress
from hacheck.traces.drivers.contract import Progress
from hacheck.traces.drivers.local import Options, check_locally
from hacheck.traces.findings import Findings
from tests.traces.two_balancers import ADAPTER, SKEW_MS, random_lines, the_system


@pytest.mark.parametrize("here", [True, False])
def test_share_of_a_trace_is_reported_while_it_is_checked(tmp_path: Path, here: bool) -> None:
    """In this process between two looks, and by another one in its messages."""
    (tmp_path / "balancers.toml").write_text(ADAPTER, encoding="utf-8")
    lines, logs = random_lines(1, 60), tmp_path / "logs"
    logs.mkdir()
    for name in ("lb1.log", "lb2.log"):
        (logs / name).write_text("".join(text for file, text in lines if file == name), encoding="utf-8")
    dataset = open_logs(logs, load(str(tmp_path / "balancers.toml")))
    checker = TraceChecker(the_system(), dataset.schema.order, skew_ns=SKEW_MS * 1_000_000)
    seen: list[Progress] = []
    options = Options(workers=1, here=here)
    check_locally(dataset, checker, Findings(), options=options, report=lambda far: seen.append(far) is None)
    shares = [far.trace_done for far in seen if far.trace_total]
    assert {far.trace_total for far in seen} <= {0, len(lines)}
    assert shares == sorted(shares)
    assert shares or not here, "a process of its own may be done before a second is over"


def test_process_of_its_own_tells_once_a_second() -> None:
    now, told = [0.0], []
    progress = TraceProgress(lambda: True, lambda done, total: told.append((done, total)), lambda: now[0])
    for second in (0.0, 0.5, 1.0, 1.5, 2.0):
        now[0] = second
        progress.at(int(10 * second), 40)
        assert progress()
    assert told == [(10, 40), (20, 40)]


def test_nothing_is_told_before_a_trace_is_known() -> None:
    told: list[int] = []
    progress = TraceProgress(lambda: False, lambda done, total: told.append(done), lambda: 10.0 * len(told) + 100.0)
    assert not progress()
    assert told == []


def test_words_of_a_share() -> None:
    said = words_of(Progress("checking", 0, 1, 881, 0, 1.0, 430, 881))
    assert said == "checking, 881 records, 0 traces checked, 48 % of a trace of 881"
