"""`hacheck verify --all`: a row for each shipped spec, and one verdict over all."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hacheck import shipped
from hacheck.cli.guard import ExitCode
from tests.cli.command import hacheck

SPECS = Path(__file__).parent.parent / "golden" / "specs"
ALIVE = 'system Alive "x"\nnode A { up_to: 0..2 = 0 }\naction go(a: A) when a.up_to < 2 do a.up_to := a.up_to + 1\n'
FINE = ALIVE + "invariant small: A.up_to <= 2\ncheck default expect all hold\n"
FALSE = ALIVE + "invariant small: A.up_to <= 1\ncheck default expect all hold\ncheck loose expect small violated\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose specs are the shipped ones; the working folder is another one."""
    specs = tmp_path / "specs"
    specs.mkdir()
    monkeypatch.setattr(shipped, "directory", lambda: specs)
    monkeypatch.chdir(tmp_path)
    return specs


def ship(folder: Path, **texts: str) -> None:
    """Makes specs of texts."""
    for name, text in texts.items():
        (folder / f"{name}.ha").write_text(text, encoding="utf-8")


def test_every_spec_has_a_row_and_all_is_as_expected(folder: Path) -> None:
    ship(folder, one=FINE, pair=(SPECS / "beat.ha").read_text(encoding="utf-8"))
    ended = hacheck("verify", "--all")
    assert ended.code == ExitCode.AS_EXPECTED
    rows = [line.split() for line in ended.out.splitlines()]
    assert [row[1] for row in rows[1:3]] == ["one", "pair"]
    assert rows[1][2:4] == ["1", "3"]
    assert "2 specs" in ended.out
    assert ended.out.count("as expected") == 3


def test_a_check_that_is_a_surprise_has_a_line_of_its_own(folder: Path) -> None:
    ship(folder, fine=FINE, wrong=FALSE)
    ended = hacheck("verify", "--all")
    assert ended.code == ExitCode.NOT_AS_EXPECTED
    assert "check default: small violated" in ended.out
    assert "check loose" not in ended.out
    assert "hacheck verify wrong --check default" in ended.out
    assert "3 checks" in ended.out
    assert "2 as expected, 1 not as expected" in ended.out


def test_quietly_only_specs_with_surprises_have_a_row(folder: Path) -> None:
    ship(folder, fine=FINE, wrong=FALSE)
    ended = hacheck("verify", "--all", "--quiet")
    assert " fine " not in ended.out
    assert " wrong " in ended.out


def test_a_limit_is_one_of_each_check_and_leaves_it_undecided(folder: Path) -> None:
    ship(folder, fine=FINE)
    ended = hacheck("verify", "--all", "--states", "1")
    assert ended.code == ExitCode.UNDECIDED
    assert "1 undecided" in ended.out


def test_a_spec_with_errors_is_named_and_the_others_are_run(folder: Path) -> None:
    ship(folder, broken="system X {", fine=FINE)
    ended = hacheck("verify", "--all")
    assert ended.code == ExitCode.BAD_INPUT
    assert "has errors, see above" in ended.out
    assert "with errors: broken" in ended.out
    assert "1 as expected" in ended.out
    assert "broken.ha" in ended.err


def test_checks_by_request_are_counted_and_run_when_asked_for(folder: Path) -> None:
    ship(folder, fine=FINE + "check far by request expect all hold\n")
    assert "by request, not run: 1 check" in hacheck("verify", "--all").out
    asked = hacheck("verify", "--all", "--wide").out
    assert "by request" not in asked
    assert "2 checks" in asked


def test_json_has_each_spec_as_a_single_run_has_it(folder: Path) -> None:
    ship(folder, fine=FINE, wrong=FALSE)
    ended = hacheck("verify", "--all", "--json", "-")
    content = json.loads(ended.out)
    assert content["exit_code"] == ended.code == ExitCode.NOT_AS_EXPECTED
    assert content["not_run"] == []
    assert [(one["spec"], one["exit_code"]) for one in content["specs"]] == [("fine", 0), ("wrong", 1)]
    alone = json.loads(hacheck("verify", "wrong", "--json", "-").out)
    assert untimed(content["specs"][1]) == untimed(alone)
    assert "wrong" in ended.err


def untimed(found: dict[str, object]) -> str:
    """What was found, without what depends on how it was run: time, memory and threads."""
    how = {"phases": 0, "seconds": 0, "bytes_per_state": 0, "threads": 0}
    return json.dumps([{**check, **how} for check in found["checks"]])  # type: ignore[attr-defined]


def test_a_run_of_one_of_the_specs_can_be_shown_again(folder: Path, tmp_path: Path) -> None:
    ship(folder, fine=FINE, wrong=FALSE)
    saved = str(tmp_path / "found.json")
    hacheck("verify", "--all", "--json", saved)
    vague = hacheck("show", saved)
    assert vague.code == ExitCode.BAD_INPUT
    assert "--spec: fine, wrong" in " ".join(vague.err.split())
    assert hacheck("show", saved, "--spec", "wrogn").code == ExitCode.BAD_INPUT
    shown = hacheck("show", saved, "--spec", "wrong", "--check", "loose")
    assert shown.code == ExitCode.AS_EXPECTED
    assert "Replayed" in shown.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("fine",), "`fine` is one"),
        (("--check", "default"), "--check goes with one spec"),
        (("--property", "small"), "--property goes with one spec"),
        (("--set", "a=1"), "--set goes with one spec"),
        (("--itf", "folder"), "--itf goes with one spec"),
        (("--checkpoint", "folder"), "--checkpoint and --resume goes with one spec"),
        (("--runs",), "--runs goes with one spec"),
        (("--witnesses",), "--witnesses goes with one spec"),
    ],
)
def test_what_only_one_spec_has_is_refused(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    ship(folder, fine=FINE)
    ended = hacheck("verify", "--all", *arguments)
    assert ended.code == ExitCode.BAD_INPUT
    assert said in " ".join(ended.err.split())
    assert ended.out == ""


def test_without_a_spec_and_without_all_the_user_is_told_what_there_is() -> None:
    ended = hacheck("verify")
    assert ended.code == ExitCode.BAD_INPUT
    assert "--all" in ended.err


def test_control_c_ends_with_what_was_found(tmp_path: Path) -> None:
    slow = (
        'system Slow "x"\nnode A[6] ranked { n: 0..60 = 0 }\n'
        "action go(a: A) when a.n < 60 do a.n := a.n + 1\ninvariant fine: every a: A satisfies a.n <= 60\n"
    )
    ship(tmp_path, a_fine=FINE, b_slow=slow, c_later=FINE)
    code = (
        "import sys; from pathlib import Path; from hacheck import shipped; from hacheck.cli.main import main\n"
        "folder = Path(sys.argv.pop())\nshipped.directory = lambda: folder\nmain()"
    )
    command = [sys.executable, "-c", code, "verify", "--all", "--jobs", "1", "--memory", "1GiB", str(tmp_path)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    first = [running.stdout.readline() for _ in range(2)]
    time.sleep(1.0)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=30)
    assert "a_fine" in first[1]
    assert running.returncode == ExitCode.UNDECIDED
    assert "b_slow" in out
    assert "c_later" in out.splitlines()[-1]
