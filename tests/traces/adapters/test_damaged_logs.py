"""Damage to logs of a real cluster, and logs that are not there: each is noticed."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command import hacheck
from tests.traces.adapters.logs import read_logs

RECORDING = Path(__file__).parents[2] / "data" / "icestorm" / "a-cold-start-3"


def without_the_end(folder: Path) -> None:
    """The last line is cut off."""
    path = folder / "replica-3.log"
    path.write_bytes(path.read_bytes()[:-20])


def without_the_beginning(folder: Path) -> None:
    """The first line is cut off."""
    path = folder / "replica-3.log"
    path.write_bytes(path.read_bytes()[10:])


def with_garbage(folder: Path) -> None:
    """A line of bytes that are no text."""
    path = folder / "replica-2.log"
    path.write_bytes(path.read_bytes() + b"\xff\xfe garbage \x80\n")


def with_nul_bytes(folder: Path) -> None:
    """A block of NUL within a line, as a crash of a machine leaves it."""
    path = folder / "replica-2.log"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[-1] = lines[-1][:40] + b"\0" * 512 + lines[-1][40:]
    path.write_bytes(b"".join(lines))


def with_random_bytes(folder: Path) -> None:
    """One more log, of random bytes."""
    (folder / "replica-4.log").write_bytes(random.Random(7).randbytes(4096))


def with_an_unknown_message(folder: Path) -> None:
    """A message that no version is known to write."""
    path = folder / "replica-1.log"
    last = path.read_text(encoding="utf-8").splitlines()[-1]
    head = last[: last.index("Election: ") if "Election: " in last else last.index("TopicManager: ")]
    path.write_text(path.read_text(encoding="utf-8") + f"{head}Election: node 1: something new\n", encoding="utf-8")


DAMAGES: list[tuple[Callable[[Path], None], str]] = [
    (without_the_end, "truncated"),
    (without_the_beginning, "truncated"),
    (with_garbage, "not_text"),
    (with_nul_bytes, "not_text"),
    (with_random_bytes, "not_text"),
    (with_an_unknown_message, "almost"),
]


@pytest.mark.parametrize(("damage", "kind"), DAMAGES, ids=lambda held: getattr(held, "__name__", None))
def test_damage_is_a_finding(tmp_path: Path, damage: Callable[[Path], None], kind: str) -> None:
    folder = tmp_path / "night"
    shutil.copytree(RECORDING, folder)
    damage(folder)
    _, tally, findings = read_logs(folder, "icestorm")
    assert kind in {found.kind.value for found in findings.first}
    assert findings.damaged.keys() == {"night"}
    assert tally.lines == tally.accounted


@pytest.mark.parametrize("cut", range(2, 60, 7))
def test_last_line_that_is_cut_off_anywhere_is_a_finding(tmp_path: Path, cut: int) -> None:
    folder = tmp_path / "night"
    shutil.copytree(RECORDING, folder)
    path = folder / "replica-3.log"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]) + lines[-1][:-1][:-cut])
    _, _, findings = read_logs(folder, "icestorm")
    assert [found.kind.value for found in findings.first] == ["truncated"]


ADAPTER = r"""
name = "pairs"
[files]
name = '(?P<node>lb\d)\.log'
[line]
head = '(?P<time>\S+ \S+) (?P<stream>\S+): '
[[event]]
name = "master"
has = "now master"
pattern = 'now master'
"""

SPEC = """system Pair "two load balancers"
node LB[2] symmetric { state mode: { backup, master } = backup }
action take(n: LB)
  when n.mode == backup
do
  n.mode := master
  log master() at n
invariant one "one at a time": at most one n: LB where n.mode == master
check default expect one violated
"""


def compared(folder: Path, logs: dict[str, str], *options: str) -> tuple[int, dict[str, object], str]:
    """Exit code, document and text of `conform` of some logs, by file."""
    (folder / "pair.ha").write_text(SPEC, encoding="utf-8")
    (folder / "pairs.toml").write_text(ADAPTER, encoding="utf-8")
    for name, text in logs.items():
        path = folder / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    place = folder / "found.json"
    command = ("conform", str(folder / "pair.ha"), str(folder / "logs"), "--adapter", str(folder / "pairs.toml"))
    ended = hacheck(*command, "--json", str(place), *options, columns=200)
    return ended.code, json.loads(place.read_text(encoding="utf-8")), ended.out


def log(node: str, *lines: tuple[str, str]) -> str:
    """The text of a log."""
    return "".join(f"2026-11-22 {time} {node}: {text}\n" for time, text in lines)


def test_quiet_night_conforms_and_counts(tmp_path: Path) -> None:
    quiet = {f"quiet/lb{number}.log": log(f"lb{number}", ("03:00:00.5", "tick")) for number in (1, 2)}
    code, document, text = compared(tmp_path, quiet)
    assert (code, document["counts"]) == (0, {"conforms": 1, "deviates": 0, "unknown": 0})
    assert "of no known kind: 2 lines" in text


def test_log_in_which_no_time_can_be_read_is_no_quiet_night(tmp_path: Path) -> None:
    code, document, _ = compared(tmp_path, {"night/lb1.log": "hello\n", "night/lb2.log": "world\n"})
    assert (code, document["verdicts"]) == (3, [])


def test_node_without_a_log_is_named(tmp_path: Path) -> None:
    code, document, _ = compared(tmp_path, {"night/lb1.log": log("lb1", ("03:00:00.5", "now master"))})
    (finding,) = document["findings"]["first"]  # type: ignore[index]
    assert (code, finding["kind"], finding["message"]) == (2, "no_log", "LB 2 has no log: it may have done anything")


def test_log_that_ends_hours_before_the_other_is_named(tmp_path: Path) -> None:
    logs = {
        "night/lb1.log": log("lb1", ("03:00:00.5", "now master"), ("03:14:00.25", "tick")),
        "night/lb2.log": log("lb2", ("03:00:00.5", "tick"), ("05:58:00.5", "tick")),
    }
    code, document, _ = compared(tmp_path, logs)
    (finding,) = document["findings"]["first"]  # type: ignore[index]
    assert (code, finding["kind"]) == (2, "log_ends")
    assert finding["message"] == "the log of node lb1 ends 2 h 44 min before the last one"


def test_stamps_of_whole_seconds_add_a_second_to_the_skew(tmp_path: Path) -> None:
    logs = {f"night/lb{node}.log": log(f"lb{node}", *((f"03:00:0{at}", "tick") for at in range(4))) for node in (1, 2)}
    assert compared(tmp_path, logs, "--skew", "20")[1]["skew_ms"] == 1020
    fine = {name: text.replace("03:00:01", "03:00:01.5") for name, text in logs.items()}
    assert compared(tmp_path, fine, "--skew", "20")[1]["skew_ms"] == 20


def test_text_that_looks_like_a_head_without_a_time_is_part_of_a_message(tmp_path: Path) -> None:
    logs = {
        "night/lb1.log": log("lb1", ("03:00:00.5", "power lost worker: x"), ("03:00:01.5", "now master")),
        "night/lb2.log": log("lb2", ("03:00:00.5", "tick")),
    }
    code, document, _ = compared(tmp_path, logs)
    assert (code, document["findings"]["total"]) == (0, 0)  # type: ignore[index]
