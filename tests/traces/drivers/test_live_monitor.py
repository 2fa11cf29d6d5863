"""Logs that are followed while they are written: what is read, what is said, and that it is said once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hacheck.traces.adapters.adapter_files import load
from hacheck.traces.adapters.logs import LogDataset
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.drivers.live_monitor import Alert, LiveMonitor, Watch
from hacheck.traces.findings import FreshFindings, TracesError
from hacheck.traces.records import Order
from tests.traces.two_balancers import ADAPTER, SKEW_MS, SPEC, START, line, random_lines, the_system

ROOT = Path(__file__).parents[3]
SPLIT = [
    line(1, "started", 0.0),
    line(1, "backup", 0.5),
    line(2, "started", 1.0),
    line(2, "backup", 1.5),
    line(1, "master", 4.0),
    line(2, "master", 60.0),
]
"""Two masters, if the first has not died without a word."""
NOW = START.timestamp() + 3600


@pytest.fixture(scope="module")
def checker() -> TraceChecker:
    return TraceChecker(the_system(), Order.PER_NODE, skew_ns=SKEW_MS * 1_000_000, checked=("one_master",))


@pytest.fixture
def watch(checker: TraceChecker, tmp_path: Path) -> Watch:
    (tmp_path / "balancers.toml").write_text(ADAPTER, encoding="utf-8")
    (tmp_path / "logs").mkdir()
    (tmp_path / "results").mkdir()
    adapter = load(str(tmp_path / "balancers.toml"))
    schema = LogDataset((), adapter).schema
    return Watch(tmp_path / "logs", adapter, None, schema, checker, tmp_path / "results", 2.0)


def write(watch: Watch, lines: list[tuple[str, str]]) -> None:
    """Appends lines to logs."""
    for name, text in lines:
        with (watch.place / name).open("a", encoding="utf-8") as file:
            file.write(text)


def followed(monitor: LiveMonitor, now: float = NOW) -> list[Alert]:
    """What is said of everything that is there."""
    return [*(monitor.step(now, last=True) or ()), *(monitor.step(now + 1, last=True) or ())]


def said(watch: Watch) -> list[tuple[int, str, str]]:
    """The alerts in the file: number, kind, property."""
    rows = map(json.loads, (watch.results / "alerts.jsonl").read_text(encoding="utf-8").splitlines())
    return [(one["id"], one["kind"], one["property"]) for one in rows]


def events(monitor: LiveMonitor) -> list[str]:
    """The events that were read, by file and line."""
    rows = sorted(monitor.traces["logs"].rows, key=lambda row: (row["node"], row["time"]))
    return [f"{row['node']} {row['event']}" for row in rows]


def test_possible_split_is_said_and_then_the_violation_with_its_line(watch: Watch) -> None:
    monitor = LiveMonitor(watch, FreshFindings())
    write(watch, SPLIT)
    (possible,) = followed(monitor)
    assert (possible.kind, possible.property, possible.file, possible.line) == ("possible", "one_master", "lb2.log", 3)
    write(watch, [line(1, "master", 61.0)])  # only a master that gives up in between could write it, and none does
    found = followed(monitor, NOW + 10)
    assert [one.kind for one in found] == ["deviates"]
    assert (found[0].file, found[0].line) == ("lb1.log", 4)


def test_distance_falls_when_the_second_node_is_ready(watch: Watch) -> None:
    monitor = LiveMonitor(watch, FreshFindings())
    alerts = []
    for one in SPLIT[:5]:
        write(watch, [one])
        alerts += followed(monitor)
    now = monitor.traces["logs"].now.distances["one_master"]
    assert (now.fewest, now.most, now.exact) == (0, 1, True)
    assert now.words == "between no fault and one fault away: cut LB - LB (LB 1, LB 2)"
    assert all(one.kind == "distance" for one in alerts)


def test_every_state_of_a_monitor_that_ends_is_one_that_goes_on(watch: Watch, tmp_path: Path) -> None:
    lines = random_lines(4, 14)
    for one in lines:
        write(watch, [one])
        followed(LiveMonitor(watch, FreshFindings()))
    whole = LiveMonitor(watch, FreshFindings())
    assert followed(whole) == []
    rows = [json.loads(row) for row in (watch.results / "records.jsonl").read_text().splitlines()]
    assert len(rows) == len(lines)
    assert len({(row["file"], row["line"]) for row in rows}) == len(lines)
    assert [number for number, _, _ in said(watch)] == list(range(1, len(said(watch)) + 1))


def test_what_the_checkpoint_does_not_know_of_is_cut_off(watch: Watch) -> None:
    write(watch, SPLIT)
    followed(LiveMonitor(watch, FreshFindings()))
    before = said(watch)
    for name in ("alerts.jsonl", "records.jsonl"):
        with (watch.results / name).open("a", encoding="utf-8") as file:
            file.write('{"half": ')
    assert followed(LiveMonitor(watch, FreshFindings())) == []
    assert said(watch) == before


def test_rotated_log_is_read_to_its_end_and_then_the_new_one(watch: Watch) -> None:
    monitor = LiveMonitor(watch, FreshFindings())
    write(watch, SPLIT[:1])
    followed(monitor)
    write(watch, SPLIT[1:2])
    (watch.place / "lb1.log").rename(watch.place / "lb1.log.1")
    write(watch, [*SPLIT[2:]])
    followed(monitor, NOW + 5)
    assert events(monitor) == ["lb1 started", "lb1 backup", "lb1 master", "lb2 started", "lb2 backup", "lb2 master"]
    again = LiveMonitor(watch, FreshFindings())
    followed(again, NOW + 9)
    assert events(again) == events(monitor)


def test_log_that_is_cut_back_is_read_from_its_beginning(watch: Watch) -> None:
    monitor = LiveMonitor(watch, FreshFindings())
    write(watch, SPLIT[:4])
    followed(monitor)
    os.truncate(watch.place / "lb1.log", 0)
    write(watch, SPLIT[4:])
    followed(monitor, NOW + 5)
    assert events(monitor)[:3] == ["lb1 started", "lb1 backup", "lb1 master"]


def test_entry_waits_until_it_is_over(watch: Watch) -> None:
    monitor = LiveMonitor(watch, FreshFindings())
    write(watch, SPLIT[:2])
    monitor.step(NOW)
    assert events(monitor) == ["lb1 started"]
    monitor.step(NOW + 0.1)
    assert events(monitor) == ["lb1 started"]
    monitor.step(NOW + 1)
    assert events(monitor) == ["lb1 started", "lb1 backup"]
    with (watch.place / "lb1.log").open("a", encoding="utf-8") as file:
        file.write(SPLIT[4][1].rstrip("\n"))  # no line yet
    monitor.step(NOW + 2)
    monitor.step(NOW + 3)
    assert events(monitor) == ["lb1 started", "lb1 backup"]


def test_damaged_checkpoint_is_refused(watch: Watch) -> None:
    (watch.results / "checkpoint.json").write_text('{"hacheck.live": 9}', encoding="utf-8")
    with pytest.raises(TracesError, match="no checkpoint of a monitor of logs"):
        LiveMonitor(watch, FreshFindings())


def test_monitor_that_is_killed_loses_and_repeats_nothing(watch: Watch, tmp_path: Path) -> None:
    (tmp_path / "guarded.ha").write_text(SPEC, encoding="utf-8")
    lines = SPLIT + [
        line(2, "started", 70 + number / 10) for number in range(30)
    ]  # it dies again and again, without a word
    words = ["monitor", "guarded.ha", "logs", "--adapter", "balancers.toml", "--property", "one_master"]
    command = [sys.executable, "-m", "hacheck", *words, "--results", "results", "--skew", str(SKEW_MS), "--quiet"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for start in range(0, len(lines), 12):
        process = subprocess.Popen(command, cwd=tmp_path, env=environment)
        try:
            for one in lines[start : start + 12]:
                write(watch, [one])
                time.sleep(0.02)
            records = watch.results / "records.jsonl"
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and (
                not records.exists() or records.read_bytes().count(b"\n") < start + 6
            ):
                time.sleep(0.02)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
    ended = subprocess.run([*command, "--once"], cwd=tmp_path, env=environment, check=False)
    assert ended.returncode == 0
    rows = [json.loads(row) for row in (watch.results / "records.jsonl").read_text().splitlines()]
    assert sorted((row["file"], row["line"]) for row in rows) == [
        *(("lb1.log", number) for number in range(1, 4)),
        *(("lb2.log", number) for number in range(1, 34)),
    ]
    kinds: dict[str, Any] = {}
    for _, kind, name in said(watch):
        kinds[f"{kind} {name}"] = kinds.get(f"{kind} {name}", 0) + 1
    assert kinds.pop("possible one_master") == 1
    assert set(kinds) <= {"distance one_master"}
