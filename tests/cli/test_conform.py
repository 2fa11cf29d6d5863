"""`hacheck conform` and `hacheck monitor`: verdicts, exit codes, what is refused, and what is written."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hacheck.traces.dataset import Dataset
from hacheck.traces.findings import Findings
from tests.cli.command import hacheck

SPEC = """system Lease "one server at a time"
param last_term = 100 in 1..100
node Server[2] symmetric { state mode: { idle, serving } = idle term: 0..last_term = 0 }
shared last: 0..last_term = 0
environment action begin(s: Server) when s.mode == idle and (no o: Server where o.mode == serving) and last < last_term
do
  last := last + 1
  s.term := last
  s.mode := serving
  log began(term: s.term) at s
action stop(s: Server) when s.mode == serving do s.mode := idle
invariant few: last < 3
check default expect few violated
"""
GOOD = [("1", "began", 1), ("2", "began", 2), ("1", "began", 3)]
WRONG = [("1", "began", 1), ("2", "began", 3), ("1", "began", 4)]


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """A spec whose `stop` leaves no line."""
    path = tmp_path / "lease.ha"
    path.write_text(SPEC, encoding="utf-8")
    return path


def written(folder: Path, order: str = "total", **traces: list[tuple[str, str, int]]) -> Path:
    """Traces as a file of JSON lines."""
    lines = [json.dumps({"hacheck.traces": 1, "order": order, "fields": {"term": "int"}})]
    for name, records in traces.items():
        for seq, (node, event, term) in enumerate(records, start=1):
            content = {"trace_id": name, "node": node, "seq": seq, "time": seq * 10**9, "event": event}
            lines.append(json.dumps(content | {"fields": {"term": term}}))
    path = folder / "traces.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def verdicts(folder: Path) -> dict[str, dict[str, object]]:
    """The verdicts in what `--json` wrote, by trace."""
    content = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    return {one["trace_id"]: one for one in content["verdicts"]}


@pytest.mark.parametrize("lazily", ["action", "branch"])
@pytest.mark.parametrize("order", ["total", "per_node"])
def test_a_line_that_the_settings_rule_out_deviates(tmp_path: Path, order: str, lazily: str) -> None:
    gives_up = {
        "action": "action stop(s: Server) when lazy and s.mode == serving do\n  s.mode := idle\n  log stopped() at s\n",
        "branch": "action stop(s: Server) when s.mode == serving do\n  s.mode := idle\n"
        "  if lazy then log stopped() at s\n",
    }
    spec = tmp_path / "lease.ha"
    stop = "action stop(s: Server) when s.mode == serving do s.mode := idle\n"
    spec.write_text(SPEC.replace(stop, "switch lazy = off\n" + gives_up[lazily]), encoding="utf-8")
    traces = written(tmp_path, order, one=[("1", "began", 1), ("1", "stopped", 1)])
    ended = hacheck("conform", str(spec), str(traces), columns=120)
    assert "the spec writes `stopped` under other settings only" in ended.out
    assert ended.code == 1
    assert hacheck("conform", str(spec), str(traces), "--set", "lazy=on").code == 0


@pytest.mark.parametrize("order", ["total", "per_node"])
def test_a_trace_that_leaves_the_protocol_is_told_with_what_would_have_been(
    spec: Path, tmp_path: Path, order: str
) -> None:
    traces = written(tmp_path, order, good=GOOD, wrong=WRONG)
    ended = hacheck("conform", str(spec), str(traces), "--json", str(tmp_path / "found.json"), columns=120)
    assert ended.code == 1
    assert "2 traces, 6 records: 1 conform, 1 deviate" in ended.out
    found = verdicts(tmp_path)
    assert found["good"]["kind"] == "conforms"
    wrong = found["wrong"]
    assert (wrong["kind"], wrong["seq"], wrong["event"]) == ("deviates", 2, "began")
    assert wrong["expected"] == ["Server 2: began(term: 2)", "Server 1: began(term: 2)"]
    assert wrong["repair"] == "missing line"
    assert [step["action"] for step in wrong["run"]["steps"]] == ["begin"]  # type: ignore[index]


@pytest.mark.parametrize("order", ["total", "per_node"])
def test_a_line_that_is_left_out_is_not_explained(tmp_path: Path, order: str) -> None:
    spec = tmp_path / "lease.ha"
    spec.write_text(f"{SPEC}action boast(s: Server) when s.term > 5 do log boasted(term: s.term)\n", encoding="utf-8")
    boast = ("1", "boasted", 1)
    wrong = {"only": [boast], "first": [boast, *GOOD], "last": [*GOOD, boast], "twice": [*GOOD, boast, boast]}
    traces = written(tmp_path, order, **wrong)
    common = ("conform", str(spec), str(traces))
    assert hacheck(*common, "--json", str(tmp_path / "found.json")).code == 1
    mended = {name: (one["repair"], one["repair_records"]) for name, one in verdicts(tmp_path).items()}
    assert mended == {"only": ("", 0), "first": ("extra line", 3), "last": ("extra line", 0), "twice": ("", 0)}
    shown = hacheck(*common, columns=120).out
    assert "without this line, the next 3 records would be explained" in shown
    assert shown.count("without this line, the trace would conform") == 1


COUNTERS = """system Counters "two that count in secret"
node Server[2] { n: counter up to 3 = 0  m: counter up to 9 = 0 }
action count(s: Server) do s.n := s.n + 1
action count_too(s: Server) when s.m < 4 do s.m := s.m + 1
environment action boast(s: Server) when s.n > 5 do log boasted() at s
check default expect all hold
"""


@pytest.mark.parametrize("order", ["total", "per_node"])
def test_bounds_that_were_met_are_named(tmp_path: Path, order: str) -> None:
    spec = tmp_path / "counters.ha"
    spec.write_text(COUNTERS, encoding="utf-8")
    traces = written(tmp_path, order, **{name: [("1", "boasted", 0)] for name in ("one", "two")})
    assert hacheck("conform", str(spec), str(traces), "--json", str(tmp_path / "found.json")).code == 3
    met = "a bound of the model was reached (Server.n up to 3); with a larger one the trace might conform"
    assert [one["reason"] for one in verdicts(tmp_path).values()] == [met, met]


def test_settings_of_the_command_line_are_repeated(spec: Path, tmp_path: Path) -> None:
    traces = written(tmp_path, good=GOOD)
    ended = hacheck("conform", str(spec), str(traces), "--set", "last_term=3", columns=300)
    assert "lease.ha under the settings of check default with last_term=3\n" in ended.out
    assert "default\n" in hacheck("conform", str(spec), str(traces), columns=300).out


def test_conforming_traces_make_a_table_and_a_violated_property_counts(spec: Path, tmp_path: Path) -> None:
    traces = written(tmp_path, good=GOOD, other=GOOD[:2])
    table = tmp_path / "verdicts.parquet"
    ended = hacheck("conform", str(spec), str(traces), "--out", str(table), "--property", "all")
    assert ended.code == 1
    assert "violated: few in 1 trace" in ended.out
    assert sorted(pq.read_table(table)["verdict"].to_pylist()) == ["conforms", "conforms"]


def test_traces_are_read_once_and_verdicts_written_only_where_a_table_is_requested(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unknown = [("1", "began", 1), ("1", "stopped", 1), ("2", "stopped", 1), ("2", "began", 2), ("1", "paused", 1)]
    traces = written(tmp_path, good=GOOD, other=unknown)
    reads: list[str] = []
    located = Dataset.located

    def counted(self: Dataset, findings: Findings) -> Iterator[Any]:
        reads.extend(file.name for file in self.files)
        return located(self, findings)

    monkeypatch.setattr(Dataset, "located", counted)
    monkeypatch.setattr(pq, "ParquetWriter", lambda *_: pytest.fail("nobody requested a table"))
    found = tmp_path / "found.json"
    ended = hacheck("conform", str(spec), str(traces), "--json", str(found), columns=120)
    assert ended.code == 0
    assert len(reads) == len(set(reads)), "each file is read once"
    assert "2 traces, 8 records: 2 conform" in ended.out
    assert "3 records (stopped 2, paused 1)" in ended.out
    assert json.loads(found.read_text(encoding="utf-8"))["not_compared"] == {"stopped": 2, "paused": 1}
    assert {name: one["compared"] for name, one in verdicts(tmp_path).items()} == {"good": 3, "other": 2}


@pytest.mark.parametrize("order", ["total", "per_node"])
def test_what_was_broken_for_too_long_is_told_and_deviates(spec: Path, tmp_path: Path, order: str) -> None:
    traces = written(tmp_path, order, long=[*GOOD, ("2", "began", 4), ("1", "began", 5)], short=GOOD[:2])
    table = tmp_path / "verdicts.parquet"
    common = ("conform", str(spec), str(traces), "--within", "few=1500ms")
    ended = hacheck(*common, "--json", str(tmp_path / "found.json"), "--out", str(table), columns=200)
    assert ended.code == 1
    assert "`few` is restored within 1.5 s" in ended.out
    assert "`few` was broken for 2 s, longer than 1.5 s: from began (record 3) to began (record 5)" in ended.out
    assert "broken for too long: few in 1 trace" in ended.out
    assert "violated:" not in ended.out
    found = verdicts(tmp_path)
    assert (found["long"]["kind"], found["long"]["seq"], found["short"]["kind"]) == ("deviates", 3, "conforms")
    (late,) = found["long"]["late"]  # type: ignore[misc]
    assert (late["invariant"], late["sure"], late["nanoseconds"]) == ("few", True, 2 * 10**9)
    assert (late["start"]["seq"], late["end"]["seq"], late["end"]["time"]) == (3, 5, 5 * 10**9)
    rows = {row["trace_id"]: row["late"] for row in pq.read_table(table).to_pylist()}
    assert (len(rows["long"]), rows["short"]) == (1, [])
    assert hacheck("conform", str(spec), str(traces), "--within", "few=1m").code == 0


def test_a_monitor_tells_what_was_broken_for_too_long(spec: Path, tmp_path: Path) -> None:
    incoming, results = tmp_path / "incoming", tmp_path / "results"
    incoming.mkdir()
    written(incoming, long=[*GOOD, ("2", "began", 4), ("1", "began", 5)], short=GOOD[:2])
    common = ("monitor", str(spec), str(incoming), "--results", str(results), "--once")
    assert hacheck(*common, "--within", "few=1500ms").code == 1
    lines = (results / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    told = {one["trace_id"]: one for one in (json.loads(line)["verdict"] for line in lines)}
    assert (told["long"]["verdict"], told["short"]["verdict"]) == ("deviates", "conforms")
    assert told["long"]["late"][0]["start"]["seq"] == 3


def test_settings_come_from_the_records_of_each_trace(tmp_path: Path) -> None:
    spec = tmp_path / "lease.ha"
    text = SPEC.replace("node Server[2]", "param servers = 2 in 2..4\nnode Server[servers]")
    spec.write_text(text + "trace with servers = 2\n  from hello(term): servers = term\n", encoding="utf-8")
    hello = ("1", "hello", 3)
    third = [hello, ("1", "began", 1), ("3", "began", 2)]
    traces = written(tmp_path, three=third, two=third[1:], twice=[*third, ("2", "hello", 4)])
    ended = hacheck("conform", str(spec), str(traces), "--json", str(tmp_path / "found.json"), "--runs", columns=120)
    assert ended.code == 3
    found = verdicts(tmp_path)
    assert {name: one["kind"] for name, one in found.items()} == {
        "three": "conforms",
        "two": "unknown",
        "twice": "unknown",
    }
    assert found["three"]["settings"] == ["servers=3"]
    assert found["twice"]["reason"] == "`term` of `hello` gives servers = 4, and another record 3"
    assert (found["twice"]["seq"], found["twice"]["node"]) == (4, "2")
    assert "settings from records: servers=3 in 1 trace" in ended.out
    assert "not compared" not in ended.out
    assert hacheck("conform", str(spec), str(traces), "--set", "servers=4").code == 0


def test_what_cannot_be_told_is_undecided(spec: Path, tmp_path: Path) -> None:
    traces = written(tmp_path, stranger=[("3", "began", 1)], beyond=[("1", "began", 999)], good=GOOD)
    ended = hacheck("conform", str(spec), str(traces), "--json", str(tmp_path / "found.json"))
    assert ended.code == 3
    found = verdicts(tmp_path)
    assert {name: one["kind"] for name, one in found.items()} == {
        "stranger": "unknown",
        "beyond": "unknown",
        "good": "conforms",
    }
    assert "no node `3`" in str(found["stranger"]["reason"])


def test_a_damaged_trace_is_undecided_and_the_input_is_bad(spec: Path, tmp_path: Path) -> None:
    traces = written(tmp_path, good=GOOD, other=GOOD)
    lines = traces.read_text(encoding="utf-8").splitlines()
    traces.write_text("\n".join([*lines[:2], *lines[3:]]) + "\n", encoding="utf-8")
    ended = hacheck("conform", str(spec), str(traces), "--json", str(tmp_path / "found.json"))
    assert ended.code == 2
    found = verdicts(tmp_path)
    assert (found["good"]["kind"], found["other"]["kind"]) == ("unknown", "conforms")


def test_a_log_that_begins_in_the_middle(spec: Path, tmp_path: Path) -> None:
    traces = written(tmp_path, late=GOOD[1:])
    assert hacheck("conform", str(spec), str(traces)).code == 1
    assert hacheck("conform", str(spec), str(traces), "--any-start", "1000").code == 0
    assert hacheck("conform", str(spec), str(traces), "--any-start", "1").code == 3


def test_logs_of_something_else_are_told(spec: Path, tmp_path: Path) -> None:
    traces = written(tmp_path, a=[("1", "begins", 1), ("2", "begins", 2)])
    ended = hacheck("conform", str(spec), str(traces), "--json", str(tmp_path / "found.json"), columns=120)
    assert ended.code == 3
    assert "1 trace, 2 records: 1 undecided" in ended.out
    assert "nothing was compared: do these logs belong" in ended.out
    content = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert (content["exit_code"], content["counts"]) == (3, {"conforms": 0, "deviates": 0, "unknown": 1})
    why = "nothing was compared: no step of the model writes any of the trace's events (steps write: began)"
    assert (content["verdicts"][0]["kind"], content["verdicts"][0]["reason"]) == ("unknown", why)
    assert f"    {why}" in ended.out
    some = written(tmp_path, a=[("1", "begins", 1), ("2", "began", 1)])
    assert "do these logs belong" not in hacheck("conform", str(spec), str(some)).out


def test_a_monitor_says_of_logs_of_something_else_that_they_are_undecided(spec: Path, tmp_path: Path) -> None:
    incoming, results = tmp_path / "incoming", tmp_path / "results"
    incoming.mkdir()
    written(incoming, good=GOOD, other=[("1", "begins", 1)])
    assert hacheck("monitor", str(spec), str(incoming), "--results", str(results), "--once").code == 3
    lines = (results / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    told = {one["trace_id"]: one["verdict"] for one in (json.loads(line)["verdict"] for line in lines)}
    assert told == {"good": "conforms", "other": "unknown"}


def test_how_to_call_a_node_is_told(spec: Path, tmp_path: Path) -> None:
    ended = hacheck("conform", str(spec), str(written(tmp_path, a=[("primary", "began", 1)])))
    assert ended.code == 3
    assert "the model has no node `primary`" in ended.out
    assert "map it to a node of the model: --node primary=NODE" in ended.out


def test_events_that_the_spec_does_not_know_are_counted(spec: Path, tmp_path: Path) -> None:
    ended = hacheck("conform", str(spec), str(written(tmp_path, good=[*GOOD, ("1", "noise", 0)])))
    assert ended.code == 0
    assert "1 record (noise 1)" in " ".join(ended.out.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--check", "nothing"), "unknown check `nothing`"),
        (("--hide", "nothing"), "unknown event `nothing`"),
        (("--property", "nothing"), "unknown invariant `nothing`"),
        (("--within", "nothing=1s"), "unknown invariant `nothing`"),
        (("--within", "few=soon"), "expected INVARIANT=TIME"),
        (("--node", "primary"), "expected NAME=NODE"),
        (("--node", "primary=Server-3"), "unknown node `Server-3`"),
        (("--node", "one=Server-1", "--node", "two=Server-1"), "each node has one name"),
        (("--set", "nothing=1"), "unknown setting `nothing`"),
        (("--engine", "nothing"), "unknown engine `nothing`"),
        (("--master", "local"), "--master needs Spark"),
        (("--out", "verdicts.txt"), "expected a .parquet file"),
        (("--adapter", "nothing"), "nothing"),
    ],
)
def test_what_is_not_there_is_bad_input(spec: Path, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    ended = hacheck("conform", str(spec), str(written(tmp_path, good=GOOD)), *arguments)
    assert ended.code == 2
    assert said in " ".join(ended.err.split())


@pytest.mark.parametrize("order", ["total", "per_node"])
def test_nodes_that_logs_call_by_other_names(tmp_path: Path, order: str) -> None:
    path = tmp_path / "lease.ha"
    path.write_text(SPEC.replace("log began(term: s.term)", "log began(term: s.term, who: s)"), encoding="utf-8")
    lines = [json.dumps({"hacheck.traces": 1, "order": order, "fields": {"term": "int", "who": "string"}})]
    for seq, (node, who) in enumerate((("left", "left"), ("right", "right"), ("left", "right")), start=1):
        content = {"trace_id": "one", "node": node, "seq": seq, "time": seq * 10**9, "event": "began"}
        lines.append(json.dumps(content | {"fields": {"term": seq, "who": who}}))
    (tmp_path / "traces.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    arguments = ("conform", str(path), str(tmp_path / "traces.jsonl"), "--json", str(tmp_path / "found.json"))
    assert hacheck(*arguments).code == 3
    assert "no node `left`" in str(verdicts(tmp_path)["one"]["reason"])  # and not what it says of `left`
    assert hacheck(*arguments, "--node", "left=Server-1", "--node", "right=Server-2").code == 1
    found = verdicts(tmp_path)["one"]
    assert (found["seq"], found["expected"]) == (3, [f"Server {n}: began(term: 3, who: Server {n})" for n in (1, 2)])


def test_verdicts_are_not_written_where_records_are_awaited(spec: Path, tmp_path: Path) -> None:
    ended = hacheck("monitor", str(spec), str(tmp_path), "--results", str(tmp_path / "results"), "--once")
    assert (ended.code, "lies in a folder that is read" in " ".join(ended.err.split())) == (2, True)


def test_a_monitor_goes_on_where_it_was(spec: Path, tmp_path: Path) -> None:
    incoming, results = tmp_path / "incoming", tmp_path / "results"
    incoming.mkdir()
    traces = written(tmp_path, good=GOOD, wrong=WRONG)
    (incoming / "first.jsonl").write_text(traces.read_text(encoding="utf-8"), encoding="utf-8")
    ended = hacheck("monitor", str(spec), str(incoming), "--results", str(results), "--once")
    assert ended.code == 1
    lines = (results / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    told = [one["verdict"] for one in map(json.loads, lines)]
    assert {one["trace_id"]: one["verdict"] for one in told} == {"good": "conforms", "wrong": "deviates"}
    assert "2 traces, 6 records: 1 conform, 1 deviate" in ended.out, "also those behind the one that is wrong"
    assert "earlier runs" not in ended.out
    for _ in range(2):
        again = hacheck("monitor", str(spec), str(incoming), "--results", str(results), "--once")
        assert (again.code, (results / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()) == (0, lines)
        assert "0 traces, 0 records: no trace was checked" in again.out
        assert "reported by earlier runs: 2 traces: 1 conform, 1 deviate" in again.out


def test_pyarrow_of_a_process_that_is_not_the_commands_own_still_knows_pandas(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    log = tmp_path / "log.jsonl"
    log.write_text('{"hacheck.traces": 1, "order": "total", "fields": {}}\n', encoding="utf-8")
    hacheck("conform", "icestorm", str(log))
    program = (
        "import pyarrow as pa, sys\n"
        "from hacheck.traces.arrow_without_pandas import leave_pandas_out\n"
        "leave_pandas_out()\n"
        "print('pandas' in sys.modules, pa.array([1, 2]).to_pylist())\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == "False [1, 2]\n"
    assert pa.array([1, 2]).to_pandas().tolist() == [1, 2]
