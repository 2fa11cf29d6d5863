"""No output of a command is one of its inputs, and what is written takes the place of what was there at once."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from hacheck.atomic_files import replace_text, replacing
from hacheck.cli.command_line import Option, parameters_of
from hacheck.cli.commands import COMMANDS
from hacheck.cli.guard import ExitCode
from tests.cli.command import hacheck

SPEC = """system S "x"
use "lib/l.ha"
node A { on: bool = false }
action go(a: A) do a.on := true
invariant fine: true
"""
LIBRARY = 'library L "x"\ndefine twice(b: bool) = b and b\n'
RECORDS = '{"trace_id": "t", "node": "a", "seq": 1, "event": "x"}\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with inputs of every kind, which is the current one."""
    monkeypatch.chdir(tmp_path)
    files = {"mine.ha": SPEC, "lib/l.ha": LIBRARY, "t.jsonl": RECORDS, "in/t.jsonl": RECORDS, "names.txt": "x\n"}
    files |= {"run.json": '{"spec": "mine.ha"}', "several.json": '{"specs": [{"spec": "no.ha"}, {"path": "mine.ha"}]}'}
    files |= {"page.svg": SPEC, "a.toml": "", "old.json": "{}", "runs/icestorm-1.json": "{}"}
    for name, text in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    Path("link.ha").symlink_to("mine.ha")
    os.link("mine.ha", "hard.json")
    Path("folder").symlink_to("in")
    return tmp_path


def everything(place: Path) -> dict[str, bytes]:
    return {str(path.relative_to(place)): path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(
    "words",
    [
        "verify mine.ha --json mine.ha",
        "verify mine.ha --json ./lib/../mine.ha",
        "verify mine.ha --json link.ha",
        "verify link.ha --json mine.ha",
        "verify mine.ha --json hard.json",
        "verify mine.ha --json lib/l.ha",
        "verify mine.ha --itf lib --json x.json --checkpoint .",
        "verify mine.ha --json x.json --json mine.ha",
        "prove mine.ha --json mine.ha",
        "timing mine.ha --json mine.ha",
        "simulate mine.ha --json mine.ha",
        "simulate mine.ha --traces 2 --out .",
        "show run.json --report mine.ha",
        "show run.json --report run.json",
        "show run.json --report lib/l.ha",
        "show run.json --format svg --out link.ha",
        "show several.json --report mine.ha",
        "replay run.json --json mine.ha",
        "replay mine.ha --json mine.ha",
        "diagram mine.ha --out mine.ha",
        "doc mine.ha --out mine.ha",
        "doc page.svg --out page.md",
        "doc mine.ha --out new.svg",
        "check-impl icestorm --spec mine.ha --json mine.ha",
        "simulate-impl icestorm --replay runs/icestorm-1.json --json runs/icestorm-1.json",
        "simulate-impl icestorm --replay runs/icestorm-1.json --out runs",
        "traces validate t.jsonl --json t.jsonl",
        "traces validate t.jsonl --quarantine t.jsonl",
        "traces validate t.jsonl --json x --quarantine x",
        "traces validate t.jsonl --events @names.txt --json names.txt",
        "traces validate in --json in/x.json",
        "traces validate folder --json in/x.json",
        "traces convert t.jsonl --out t.jsonl",
        "traces convert file://{place}/t%2Ejsonl --out t.jsonl",
        "traces convert in --out folder/x.jsonl",
        "traces cluster in --out in/more",
        "traces validate t.jsonl --adapter a.toml --json a.toml",
        "conform mine.ha t.jsonl --out mine.ha",
        "conform mine.ha t.jsonl --json t.jsonl",
        "conform mine.ha t.jsonl --quarantine t.jsonl",
        "monitor mine.ha in --results in/x",
        "monitor mine.ha in --results in",
    ],
)
def test_no_output_is_an_input(place: Path, words: str) -> None:
    before = everything(place)
    ended = hacheck(*words.format(place=place).split())
    assert ended.code == ExitCode.BAD_INPUT, ended
    assert "read" in ended.err or "two outputs" in ended.err, ended.err
    assert everything(place) == before


def test_message_names_both(place: Path) -> None:
    said = hacheck("verify", "mine.ha", "--json", "link.ha", columns=200).err
    assert "--json link.ha" in said
    assert "SPEC mine.ha" in said


def test_an_output_beside_its_input_is_written(place: Path) -> None:
    assert hacheck("verify", "mine.ha", "--json", "mine.json").code == ExitCode.AS_EXPECTED
    assert json.loads(Path("mine.json").read_text(encoding="utf-8"))["system"] == "S"
    assert hacheck("simulate", "mine.ha", "--json", "old.json").code == ExitCode.AS_EXPECTED
    assert "run" in json.loads(Path("old.json").read_text(encoding="utf-8"))


def test_each_option_with_a_file_says_whether_it_is_read_or_written() -> None:
    for command in COMMANDS:
        for item in parameters_of(getattr(import_module(command.module), command.function)):
            if isinstance(item.declared, Option) and item.declared.metavar in ("FILE", "DIR", "PATH", "SPEC"):
                assert item.declared.reads or item.declared.writes, (command.name, item.declared.names)


def test_page_called_as_its_picture_is_refused(place: Path) -> None:
    assert "two outputs" in hacheck("doc", "mine.ha", "--static", "--out", "x.svg").err
    assert not Path("x.svg").exists()


@pytest.mark.parametrize("out", [".", "..", "lib", "lib/"])
def test_a_page_needs_the_name_of_a_file(place: Path, out: str) -> None:
    assert "directory" in hacheck("doc", "mine.ha", "--static", "--out", out).err


def test_a_certificate_goes_into_no_folder_with_other_files(place: Path) -> None:
    Path("README.txt").write_text("mine", encoding="utf-8")
    before = everything(place)
    ended = hacheck("prove", "mine.ha", "--certificate", "in")
    assert ended.code == ExitCode.BAD_INPUT, ended
    assert "t.jsonl" in ended.err
    assert everything(place) == before


def test_what_cannot_be_written_is_known_before_the_work_begins(place: Path) -> None:
    ended = hacheck("verify", "mine.ha", "--json", "nowhere/x.json")
    assert ended.code == ExitCode.BAD_INPUT
    assert "nowhere/x.json: cannot be written" in ended.err
    assert not ended.out


def test_an_interrupted_command_leaves_the_old_file_and_nothing_else(place: Path) -> None:
    Path("bad.ha").write_text("system", encoding="utf-8")
    before = everything(place)
    assert hacheck("verify", "bad.ha", "--json", "old.json").code == ExitCode.BAD_INPUT
    assert hacheck("verify", "bad.ha", "--json", "new.json").code == ExitCode.BAD_INPUT
    assert everything(place) == before


def test_standard_output_as_a_device_is_written_to(place: Path) -> None:
    command = [sys.executable, "-m", "hacheck", "verify", "mine.ha", "--quiet", "--json", "/dev/stdout"]
    through_pipe = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert '"system": "S"' in through_pipe
    with Path("all.txt").open("w", encoding="utf-8") as stream:
        number = stream.fileno()
        subprocess.run(command, stdout=stream, check=True)
        assert os.fstat(number).st_ino == Path("all.txt").stat().st_ino, "the file that is open was replaced"
    assert '"system": "S"' in Path("all.txt").read_text(encoding="utf-8")


# ---- replacing ----


def test_what_fails_half_way_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(UnicodeEncodeError), replacing(path) as own, own.open("w", encoding="ascii") as stream:
        stream.write("half" * 10_000 + "é")
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["x.txt"]


def test_mode_and_link_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "x.txt", tmp_path / "link"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o640)
    link.symlink_to(path)
    replace_text(link, "new\r\n")
    assert link.is_symlink()
    assert path.read_bytes() == b"new\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_pipe_is_written_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        replace_text(pipe, "through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
