"""Whatever a user gives that cannot be used: a clear message, exit 2, and never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hacheck.cli.guard import ExitCode
from tests.cli.command import Ended, hacheck

SPECS = Path(__file__).parent.parent / "golden" / "specs"
PAIR = str(SPECS / "pair.ha")


def refused(*arguments: str, stdin: str | bytes | None = None) -> str:
    """What is said on standard error when a command is refused as bad input."""
    ended = hacheck(*arguments, stdin=stdin)
    assert ended.code == ExitCode.BAD_INPUT, ended
    assert "Traceback" not in ended.err + ended.out
    assert ended.err.strip(), "nothing was said"
    return ended.err


def test_a_missing_file() -> None:
    assert "no file" in refused("verify", "nowhere/x.ha")


def test_a_name_that_is_nearly_shipped_is_answered_with_the_shipped_one() -> None:
    assert "icestorm" in refused("verify", "icestrom")


def test_a_folder_says_which_specs_it_holds() -> None:
    said = refused("verify", str(SPECS))
    assert "folder" in said
    assert "pair.ha" in said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "HA002"),
        (b" \n\t\n", "HA002"),
        (b"# only a comment\n", "HA002"),
        (b"\xff\xfe\x00binary", "not UTF-8"),
        (b"system X \xe4", "not UTF-8"),
        (b"x" * ((1 << 20) + 1), "larger than 1 MiB"),
        (b"system X " + b"x" * 900_000, "HA"),
        (b"\x00\x01\x02", "HA"),
        (b"{" * 10_000, "HA"),
        (b"node A { b : { c } }", "HA"),
    ],
    ids=["empty", "blank", "comment", "utf16", "latin1", "huge", "long-line", "control", "braces", "headless"],
)
def test_a_file_that_is_no_spec(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "x.ha"
    path.write_bytes(content)
    shown = refused("verify", str(path))
    assert said in shown
    assert all(len(line) < 300 for line in shown.splitlines())


def test_a_link_that_leads_nowhere_is_no_missing_file(tmp_path: Path) -> None:
    loop, dangling = tmp_path / "loop.ha", tmp_path / "dangling.ha"
    loop.symlink_to(loop)
    dangling.symlink_to("nowhere.ha")
    assert "loop.ha: cannot be read: Too many levels of symbolic links" in refused("verify", str(loop))
    assert "dangling.ha: cannot be read: No such file" in refused("verify", str(dangling))


def test_an_empty_library_is_told_as_one(tmp_path: Path) -> None:
    (tmp_path / "empty.ha").write_text("")
    spec = tmp_path / "x.ha"
    spec.write_text('system X "x"\nuse "empty.ha"\n')
    said = refused("verify", str(spec))
    assert "HA002" in said
    assert "empty.ha" in said


def test_a_file_to_write_is_no_folder(tmp_path: Path) -> None:
    place = tmp_path / "own"
    assert f"{place}/: names a directory" in refused("verify", PAIR, "--json", f"{place}/").replace("\n", "")
    assert not place.exists()


def test_ten_thousand_brackets_are_no_reason_to_crash(tmp_path: Path) -> None:
    path = tmp_path / "x.ha"
    path.write_text('system X "x"\ninvariant a : ' + "(" * 10_000 + "true" + ")" * 10_000)
    assert hacheck("verify", str(path)).code in (ExitCode.AS_EXPECTED, ExitCode.BAD_INPUT)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "x.ha"
    path.write_text('system X "x"')
    path.chmod(0)
    assert "permission" in refused("verify", str(path))


def test_a_path_with_characters_that_move_the_cursor_is_shown_escaped() -> None:
    assert "\\x1b" in refused("verify", "a\x1b[2Jb.ha")


def test_a_path_longer_than_any_file_has() -> None:
    assert len(refused("verify", "a" * 100_000)) < 3_000


@pytest.mark.parametrize(
    "arguments",
    [("fmt",), ("doc", PAIR, "--out"), ("verify", PAIR, "--checkpoint"), ("verify", PAIR, "--json")],
    ids=" ".join,
)
def test_every_name_longer_than_any_file_has_is_refused(arguments: tuple[str, ...], tmp_path: Path) -> None:
    assert "File name too long" in refused(*arguments, str(tmp_path / ("x" * 300)))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--check", "defalt"), "did you mean default?"),
        (("--property", "one_activ"), "did you mean one_active?"),
        (("--set", "crash=1"), "did you mean crashes?"),
        (("--set", "crashes"), "NAME=VALUE"),
        (("--set", "crashes=lots"), "crashes"),
        (("--set", "crashes=99"), "crashes"),
        (("--set", "careful=3"), "careful"),
        (("--set", "crashes=\x1b[2J"), "crashes"),
        (("--states", "0"), "--states"),
        (("--depth", "x"), "--depth"),
        (("--time", "soon"), "--time"),
        (("--memory", "lots"), "--memory"),
        (("--engine", "steam"), "python"),
        (("--json", "/nowhere/at/all.json"), "cannot be written"),
        (("--json", "/"), "is a directory"),
        (("--itf", "/dev/null/x"), "folder"),
        (("--no-such-option",), "No such option"),
    ],
    ids=lambda value: value[0] + value[-1] if isinstance(value, tuple) else "",
)
def test_an_option_that_cannot_be_used_is_refused_before_anything_runs(arguments: tuple[str, ...], said: str) -> None:
    ended = hacheck("verify", PAIR, *arguments)
    assert ended.code == ExitCode.BAD_INPUT
    assert said in ended.err
    assert "explored" not in ended.out
    assert "\x1b" not in ended.err


def test_a_json_file_that_was_made_for_nothing_is_removed(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    hacheck("verify", PAIR, "--json", str(target), "--check", "nonsense")
    assert not target.exists()


def test_an_error_of_the_spec_found_on_the_way_is_bad_input_with_the_run_that_leads_there() -> None:
    ended = hacheck("verify", str(SPECS / "overflow.ha"))
    assert ended.code == ExitCode.BAD_INPUT
    assert "would be 3, outside 0..2" in ended.out
    assert "serve" in ended.out


def test_every_mistake_in_a_spec_is_shown() -> None:
    said = refused("verify", str(SPECS / "wrong.ha"))
    assert "did you mean `mode`?" in said
    assert "2 errors" in said


@pytest.mark.parametrize("command", ["diagram", "simulate", "inspect"])
def test_every_command_that_takes_a_spec_refuses_a_wrong_one(command: str) -> None:
    assert "HA" in refused(command, str(SPECS / "wrong.ha"))
    assert "no file" in refused(command, "nowhere.ha")


def test_a_diagram_of_a_node_that_does_not_exist() -> None:
    assert "did you mean Server?" in refused("diagram", PAIR, "--node", "Sever")
    assert "svg" in refused("diagram", PAIR, "--format", "svgg")


@pytest.mark.parametrize(
    "content",
    ["", "nonsense", "[]", "3", "{}", '{"checks": 3}', '{"run": []}', "[" * 100_000, '{"checks": [{"name": 1}]}'],
)
def test_a_saved_run_that_is_none(tmp_path: Path, content: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(content)
    assert "run.json" in refused("show", str(path))


def test_a_saved_run_that_is_missing_or_a_folder(tmp_path: Path) -> None:
    refused("show", str(tmp_path / "none.json"))
    refused("show", str(tmp_path))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_end_in_a_message(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "any.ha"
    path.write_bytes(content)
    ended = hacheck("verify", str(path))
    assert ended.code in (ExitCode.AS_EXPECTED, ExitCode.BAD_INPUT)
    assert "\x1b" not in ended.err


def piped(*arguments: str) -> subprocess.Popen[bytes]:
    """`hacheck` as a process of its own, with pipes."""
    code = "from hacheck.cli.main import main; main()"
    return subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.parametrize("more", [(), ("--json", "-")], ids=["text", "json"])
def test_whoever_closes_the_pipe_hears_nothing_more(more: tuple[str, ...]) -> None:
    process = piped("verify", PAIR, *more)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(timeout=60) == ExitCode.UNDECIDED
    assert "Traceback" not in said
    assert "Error" not in said


def test_our_own_bug_is_one_line_with_version_command_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise AssertionError("the search lost a state")

    monkeypatch.setattr("hacheck.cli.checking.explored_checks.engine_for", broken)
    ended: Ended = hacheck("verify", PAIR)
    assert ended.code == ExitCode.OUR_BUG
    assert len(ended.err.strip().splitlines()) == 1
    for part in ("the search lost a state", "version", "report", "--debug"):
        assert part in ended.err


def test_a_list_that_is_read_in_part_is_fine() -> None:
    process = piped("list")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert (process.wait(timeout=60), said) == (ExitCode.AS_EXPECTED, b"")
