"""`hacheck traces` as a user meets it: what it prints, what it writes, how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.command import hacheck
from tests.traces.sample_files import jsonl, read_all, record

RECORDINGS = Path(__file__).parents[1] / "data" / "icestorm"


def test_good_traces_are_valid(tmp_path: Path) -> None:
    place = jsonl(tmp_path / "a.jsonl", record("t", 1), record("t", 2, node="b"))
    ended = hacheck("traces", "validate", str(place))
    assert (ended.code, ended.err) == (0, "")
    assert "1 trace, 2 records of 2 nodes" in ended.out
    assert "no finding" in ended.out


def test_place_may_be_a_url_of_a_file(tmp_path: Path) -> None:
    place = jsonl(tmp_path / "a b.jsonl", record("t", 1))
    assert hacheck("traces", "validate", place.as_uri()).code == 0
    ended = hacheck("traces", "validate", "s3://bucket/night.parquet")
    assert ended.code == 2
    assert "not on this machine" in ended.err


def test_what_is_wrong_is_shown_with_its_place_and_written(tmp_path: Path) -> None:
    place = jsonl(tmp_path / "a.jsonl", record("t", 1), "{", record("t", 3), record("good", 1))
    bad, found = tmp_path / "bad.jsonl", tmp_path / "found.json"
    ended = hacheck("traces", "validate", str(place), "--quarantine", str(bad), "--json", str(found), columns=200)
    assert ended.code == 2
    assert f"{place}:2" in ended.out
    assert f"{place}:3" in ended.out
    assert "1 record left out, 1 trace damaged" in ended.out
    lines = [json.loads(line) for line in bad.read_text().splitlines()]
    assert [(line["kind"], line["line"]) for line in lines] == [("not_json", 2), ("missing_seq", 3)]
    assert lines[0]["text"] == "{"
    content = json.loads(found.read_text())
    assert content["exit_code"] == 2
    assert content["findings"]["counts"] == {"missing_seq": 1, "not_json": 1}
    assert content["traces"]["records"] == 3


def test_events_and_nodes_that_may_occur_are_given_as_words_or_as_a_file(tmp_path: Path) -> None:
    place = jsonl(tmp_path / "a.jsonl", record("t", 1), record("t", 2, event="tock"), record("t", 3, node="z"))
    names = tmp_path / "names.txt"
    names.write_text("tick\ntock\n")
    assert hacheck("traces", "validate", str(place), "--events", f"@{names}").code == 0
    ended = hacheck("traces", "validate", str(place), "--events", "tick", "--nodes", "a,b")
    assert ended.code == 2
    assert "unknown event 'tock'" in ended.out
    assert "unknown node 'z'" in ended.out


def test_clock_that_may_go_back(tmp_path: Path) -> None:
    place = jsonl(tmp_path / "a.jsonl", record("t", 1), record("t", 2) | {"time": record("t", 0)["time"]})
    assert hacheck("traces", "validate", str(place)).code == 2
    assert hacheck("traces", "validate", str(place), "--clock-back", "1000").code == 0


def test_lines_of_logs_are_accounted_for() -> None:
    ended = hacheck("traces", "validate", str(RECORDINGS), "--adapter", "icestorm")
    assert ended.code == 0
    assert "397 lines of logs: 322 in events, 72 belong to the line above, 3 mean nothing" in ended.out


def test_statistics_name_events_nodes_and_times() -> None:
    ended = hacheck("traces", "stats", str(RECORDINGS / "a-cold-start-3"), "--adapter", "icestorm")
    assert ended.code == 0
    assert "time: 2026-11-20 09:33:59.047000 UTC to 2026-11-20 09:34:29.215000 UTC" in ended.out
    assert "state_change" in ended.out
    content = json.loads(
        hacheck("traces", "stats", str(RECORDINGS / "a-cold-start-3"), "--adapter", "icestorm", "--json", "-").out
    )
    assert content["traces"]["records_per_trace"] == {"min": 49, "median": 49.0, "max": 49}
    assert content["lines"]["lines"] == 62


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
def test_logs_are_converted(tmp_path: Path, name: str) -> None:
    ended = hacheck("traces", "convert", str(RECORDINGS), "--adapter", "icestorm", "--out", str(tmp_path / name))
    assert ended.code == 0
    records, findings = read_all(tmp_path / name)
    assert (len(records), findings.total) == (322, 0)
    assert records[3] == {
        "trace_id": "a-cold-start-3",
        "node": "1",
        "seq": 4,
        "time": 1_795_167_239_065_000_000,
        "event": "started",
        "fields": {"incarnation": 1, "nodes": [1, 2, 3]},
        "file": "a-cold-start-3/replica-1.log",
        "line": 1,
    }


def test_good_records_are_written_although_others_are_bad(tmp_path: Path) -> None:
    place = jsonl(tmp_path / "a.jsonl", record("t", 1), "{", record("u", 1))
    ended = hacheck("traces", "convert", str(place), "--out", str(tmp_path / "b.parquet"))
    assert ended.code == 2
    assert read_all(tmp_path / "b.parquet")[0] == [record("t", 1), record("u", 1)]


def test_clustering_writes_a_folder(tmp_path: Path) -> None:
    rows = [record(f"t{at}", seq) for seq in (1, 2, 3) for at in range(5)]
    place = jsonl(tmp_path / "a.jsonl", *rows)
    ended = hacheck("traces", "cluster", str(place), "--out", str(tmp_path / "out"), "--part-records", "6")
    assert ended.code == 0
    assert "files: 3" in ended.out
    assert hacheck("traces", "validate", str(tmp_path / "out")).code == 0
    again = hacheck("traces", "cluster", str(place), "--out", str(tmp_path / "out"))
    assert again.code == 2
    assert "not empty" in again.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("validate", "nowhere"), "no such file or folder"),
        (("look", "."), "unknown action `look`"),
        (("validate", "{}"), "no traces in this folder"),
        (("convert", "{}"), "--out is missing"),
        (("stats", "{}", "--out", "x.jsonl"), "writes no traces"),
        (("validate", "{}", "--adapter", "icestrom"), "did you mean icestorm?"),
        (("validate", "{}", "--adapter", "icestorm"), "no logs in this folder"),
        (("validate", "{}", "--time-zone", "UTC"), "is for logs"),
        (("validate", "{}", "--adapter", "icestorm", "--time-zone", "Mars"), "unknown time zone 'Mars'"),
        (("validate", "{}", "--events", ","), "the list is empty"),
        (("validate", "{}", "--events", "@nowhere"), "cannot be read"),
        (("validate", "{}", "--part-records", "0"), "not a whole number above zero"),
    ],
)
def test_what_cannot_be_done_is_said(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    ended = hacheck("traces", *(word.replace("{}", str(tmp_path)) for word in arguments), columns=300)
    assert ended.code == 2
    assert told in ended.err
    assert "Traceback" not in ended.err


def test_quiet_says_nothing_if_all_is_well(tmp_path: Path) -> None:
    place = jsonl(tmp_path / "a.jsonl", record("t", 1))
    assert hacheck("traces", "validate", str(place), "--quiet").out == ""


def test_help_shows_examples_and_exit_codes() -> None:
    shown = " ".join(hacheck("traces", "--help", columns=160).out.split())
    assert "hacheck traces validate" in shown
    assert "2 bad input, or findings" in shown


def test_escapes_in_traces_do_not_reach_the_terminal(tmp_path: Path) -> None:
    place = jsonl(tmp_path / "a.jsonl", record("\x1b[31mt", 2, event="[bold]x"))
    ended = hacheck("traces", "stats", str(place))
    assert "\x1b" not in ended.out
    assert "[bold]x" in ended.out


def test_start_of_other_commands_loads_no_library_for_traces() -> None:
    code = (
        "import sys\n"
        "from hacheck.cli.main import exit_code\n"
        "exit_code(['list'])\n"
        "exit_code(['traces', '--help'])\n"
        "print('LOADED', *sorted({'pyarrow', 'duckdb', 'numpy'} & set(sys.modules)))\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.rpartition("LOADED")[2].split() == []


def test_interrupted_reading_ends_undecided_and_leaves_nothing(tmp_path: Path) -> None:
    lines = b"".join(json.dumps(record(f"t{at}", 1)).encode() + b"\n" for at in range(1_000))
    with (tmp_path / "many.jsonl").open("wb") as stream:
        for _ in range(300):
            stream.write(lines)
    arguments = ["traces", "convert", str(tmp_path / "many.jsonl"), "--out", str(tmp_path / "out.parquet")]
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # also where the shell ignores it
    command = [sys.executable, "-c", f"{heard}; from hacheck.cli.main import main; main()", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not list(tmp_path.glob(".hacheck-*")):  # until it has begun to write
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 3, err
    assert "interrupted" in err
    assert [path.name for path in tmp_path.iterdir()] == ["many.jsonl"]
