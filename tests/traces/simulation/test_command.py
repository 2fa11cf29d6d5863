"""`hacheck simulate --traces`: the same bytes however many write, whole files whatever happens, and what it refuses."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from hacheck.cli.logs.trace_simulation import Output, Unlike, Walks, Writing, empty_folder, plan_of
from hacheck.traces import manifest
from hacheck.traces.dataset import ROW, SOURCE, open_traces
from hacheck.traces.findings import Findings
from hacheck.traces.simulation import random_walk
from hacheck.traces.simulation.part_files import MANIFEST, TRUTH
from hacheck.traces.simulation.plan import Plan
from hacheck.traces.sorted_records import sorted_batches
from tests.cli.command import hacheck
from tests.traces.simulation.reference import is_run
from tests.traces.simulation.specs import EVERYTHING, PLAIN, system_of


@pytest.fixture
def spec(tmp_path: Path) -> str:
    """A spec whose lines show one of everything."""
    path = tmp_path / "everything.ha"
    path.write_text(EVERYTHING)
    return str(path)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file in a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def in_small_files(spec: str, unlike: Unlike, output: Output) -> Plan:
    """A plan for 40 traces, a few of them in each file."""
    walks = Walks(spec, None, {}, traces=40, steps=20, seed=3)
    return replace(plan_of(walks, unlike, output)[2], together=10)


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_the_same_bytes_by_one_process_and_by_two(spec: str, tmp_path: Path, form: str) -> None:
    unlike = Unlike(skew=20, drop="1%", mutate="0.5")
    found = []
    for jobs in (1, 2):
        output = Output(str(tmp_path / f"out{jobs}"), form, jobs, quiet=True, no_color=True)
        work = Writing(in_small_files(spec, unlike, output), empty_folder(str(output.out)), output)
        files, stopped = work.run()
        assert stopped is None
        assert work.jobs == jobs
        assert sum(file.written.traces for file in files.values()) == 40
        found.append(contents(tmp_path / f"out{jobs}"))
    assert len(found[0]) == 3 * 4 and found[0] == found[1]  # noqa: PT018  # both say: the same files


def test_traces_can_be_read_and_are_in_order(spec: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = hacheck("simulate", spec, "--traces", "50", "--steps", "30", "--out", str(out))
    assert ended.code == 0, ended.err
    assert "50 traces" in ended.out
    findings = Findings()
    dataset = open_traces(out, findings)
    assert dataset.in_order
    assert [file.name for file in dataset.files] == ["part-00000.parquet"]
    batches = list(sorted_batches(dataset, findings))
    assert not findings.total
    records = sum(batch.num_rows for batch in batches)
    said = json.loads((out / MANIFEST).read_text())
    assert said["complete"]
    assert said["records"] == records
    assert said["written"]["steps"] == 50 * 30
    parts = manifest.read(out)
    assert parts is not None
    assert (parts[0].records, parts[0].traces) == (records, 50)


def test_both_forms_say_the_same(spec: str, tmp_path: Path) -> None:
    rows = []
    for form in ("parquet", "jsonl"):
        out = tmp_path / form
        ended = hacheck("simulate", spec, "--traces", "9", "--out", str(out), "--format", form, "--skew", "5")
        assert ended.code == 0, ended.err
        findings = Findings()
        dataset = open_traces(out, findings)
        batches = [batch.drop_columns([SOURCE, ROW]) for batch in sorted_batches(dataset, findings)]
        rows.append([row for batch in batches for row in batch.to_pylist()])
        assert not findings.total
    assert rows[0] == rows[1]


def test_texts_are_texts_for_whoever_reads_the_files(spec: str, tmp_path: Path) -> None:
    assert hacheck("simulate", spec, "--traces", "3", "--out", str(tmp_path / "out")).code == 0
    schema = pq.ParquetFile(tmp_path / "out" / "part-00000.parquet").schema_arrow
    assert str(schema.field("event").type) == "string"
    assert str(schema.field("fields").type.field("mode").type) == "string"
    assert json.loads(schema.metadata[b"hacheck.traces"])["order"] == "total"


def test_the_summary_is_json(spec: str, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    options = ("--traces", "20", "--out", out, "--mutate", "100%", "--mutations", "lost,swap", "--hide", "round")
    ended = hacheck("simulate", spec, *options, "--json", "-")
    assert ended.code == 0, ended.err
    said = json.loads(ended.out)
    assert said["damage"] == 20
    assert said["mutations"] == ["swap", "lost"]
    assert said["hidden"] == ["round"]
    assert said["exit_code"] == 0
    kinds = pq.read_table(Path(out) / TRUTH / "damage-00000.parquet")["kind"].to_pylist()
    assert set(kinds) == {"lost", "swap"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--traces", "5"), "--traces needs --out"),
        (("--out", "x"), "--out is for traces"),
        (("--skew", "5"), "--skew is for traces"),
        (("--traces", "0", "--out", "x"), "not a whole number above zero"),
        (("--traces", "2G", "--out", "x"), "not a whole number"),
        (("--traces", "2e9", "--out", "x"), "traces at most"),
        (("--traces", "5", "--steps", "20000000", "--out", "x"), "equal to 1000000"),
        (("--traces", "5", "--out", "x", "--format", "csv"), "no such form"),
        (("--traces", "5", "--out", "x", "--hide", "rounds"), "unknown event `rounds`"),
        (("--traces", "5", "--out", "x", "--hide-fields", "joined.too"), "unknown field `joined.too`"),
        (("--traces", "5", "--out", "x", "--mutate", "2"), "not a share"),
        (("--traces", "5", "--out", "x", "--drop-lines", "few"), "not a share"),
        (("--traces", "5", "--out", "x", "--mutations", "lost"), "--mutations needs --mutate"),
        (("--traces", "5", "--out", "x", "--mutate", "1%", "--mutations", "loss"), "unknown mutation `loss`"),
        (("--traces", "5", "--out", "x", "--check", "none"), "unknown check"),
        (("--traces", "5", "--out", "x", "--set", "n=1"), "unknown setting"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = hacheck("simulate", spec, *options, columns=200)
    assert ended.code == 2
    assert message in ended.err
    assert not (tmp_path / "x").exists(), "nothing is begun"


def test_a_folder_with_something_in_it_is_left_alone(spec: str, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "part-00000.parquet").write_text("mine")
    ended = hacheck("simulate", spec, "--traces", "5", "--out", str(tmp_path / "mine"), columns=200)
    assert ended.code == 2
    assert "is not empty" in ended.err
    assert contents(tmp_path / "mine") == {"part-00000.parquet": b"mine"}


def test_a_folder_that_cannot_be_is_told(spec: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = hacheck("simulate", spec, "--traces", "5", "--out", str(tmp_path / "file" / "out"), columns=200)
    assert ended.code == 2
    assert "cannot be used as a folder" in ended.err


def test_a_system_that_never_begins_is_told(tmp_path: Path) -> None:
    path = tmp_path / "never.ha"
    path.write_text(
        "system Never node N { n: 0..1 = 0 } initially do choose k: 0..1 where k > 1\n  action a(n: N) do n.n := 1"
    )
    ended = hacheck("simulate", str(path), "--traces", "5", "--out", str(tmp_path / "out"), columns=200)
    assert ended.code == 2
    assert "no initial state" in ended.err


def test_where_nothing_is_compiled_the_portable_program_walks(
    spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random_walk, "is_available", lambda: False)
    out = tmp_path / "out"
    ended = hacheck("simulate", spec, "--traces", "4", "--steps", "30", "--seed", "77", "--out", str(out))
    assert ended.code == 0, ended.err
    findings = Findings()
    dataset = open_traces(out, findings)
    records = [row for batch in dataset.batches(findings) for row in batch.to_pylist()]
    steps = pq.read_table(out / TRUTH / "steps-00000.parquet").to_pylist()
    assert len(steps) == 4 * 30
    system = system_of(EVERYTHING)
    for trace in {step["trace_id"] for step in steps}:
        mine = [[row for row in rows if row["trace_id"] == trace] for rows in (steps, records)]
        assert is_run(system, *mine)


@pytest.mark.parametrize(
    "options", [("--steps", "0"), ("--hide", "founding,founded,joined,left,counted,round,settled,asked")]
)
def test_traces_without_lines_have_no_records(spec: str, tmp_path: Path, options: tuple[str, str]) -> None:
    out = tmp_path / "out"
    more = ("--skew", "5", "--mutate", "1", "--drop-lines", "0.1")
    ended = hacheck("simulate", spec, "--traces", "7", "--out", str(out), *options, *more)
    assert ended.code == 0, ended.err
    assert "7 traces, 0 records" in ended.out
    assert not list(out.glob("part-*")), "a file without records would be one that somebody has lost them from"
    assert len(list((out / TRUTH).glob("steps-*"))) == 1


def test_no_room_is_told_and_leaves_no_half_file(spec: str, tmp_path: Path) -> None:
    """A limit on the size of files stands for a disk that is full: the machine refuses in the same way.

    Python writes none of its own meanwhile: under the limit it would keep compiled modules cut short, and take them
    for whole ones ever after.
    """

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    command = [sys.executable, "-m", "hacheck", "simulate", spec, "--traces", "2000", "--out", str(tmp_path / "out")]
    environment = {**os.environ, "HACHECK_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run(command, capture_output=True, text=True, preexec_fn=limited, env=environment, check=False)
    assert ended.returncode == 2, ended.stderr
    assert "cannot be written" in ended.stderr
    assert contents(tmp_path / "out") == {}


def test_control_c_leaves_whole_files_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "plain.ha"
    path.write_text(PLAIN)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "hacheck", "simulate", str(path), "--traces", "100M", "--out", str(out)]
    running = subprocess.Popen(
        [*command, "--jobs", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        until = time.monotonic() + 120
        while not list(out.glob("part-*.parquet")) and time.monotonic() < until:
            time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        said, complaints = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 3, complaints
    assert "the files are complete" in said
    summary = json.loads((out / MANIFEST).read_text())
    assert not summary["complete"]
    assert not [name for name in contents(out) if "unfinished" in name]
    findings = Findings()
    dataset = open_traces(out, findings)
    assert dataset.in_order
    records = sum(pq.ParquetFile(file.path).metadata.num_rows for file in dataset.files)
    assert records == summary["records"] > 0
    truths = sum(pq.ParquetFile(one).metadata.num_rows for one in (out / TRUTH).glob("steps-*.parquet"))
    assert truths == summary["written"]["steps"]
