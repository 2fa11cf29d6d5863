"""`hacheck verify`: what it runs, what it says, what it returns."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hacheck.cli.guard import ExitCode
from tests.cli.command import hacheck

SPECS = Path(__file__).parent.parent / "golden" / "specs"
PAIR = str(SPECS / "pair.ha")


def test_all_as_expected_is_0() -> None:
    ended = hacheck("verify", PAIR, "--check", "default", "--check", "leased")
    assert ended.code == ExitCode.AS_EXPECTED
    assert "2 checks" in ended.out
    assert "2 as expected" in ended.out


def test_a_violation_that_nobody_expects_is_1_and_told_in_full() -> None:
    ended = hacheck("verify", PAIR, "--check", "naive")
    assert ended.code == ExitCode.NOT_AS_EXPECTED
    assert "!!! one_active BREAKS HERE" in ended.out
    assert "mode  activating -> active" in hacheck("verify", PAIR, "--check", "naive", "--steps").out


def test_a_violation_that_does_not_happen_is_1_too(tmp_path: Path) -> None:
    text = Path(PAIR).read_text(encoding="utf-8")
    spec = tmp_path / "pair.ha"
    spec.write_text(text + "\ncheck unfounded with losses = 0 expect one_active violated\n", encoding="utf-8")
    ended = hacheck("verify", str(spec), "--check", "unfounded")
    assert ended.code == ExitCode.NOT_AS_EXPECTED
    assert "but a violation is expected" in ended.out


def test_a_limit_makes_it_undecided_which_is_3() -> None:
    ended = hacheck("verify", PAIR, "--check", "default", "--states", "5")
    assert ended.code == ExitCode.UNDECIDED
    assert "stopped before the end" in ended.out


def test_checks_by_request_are_named_with_how_to_run_them() -> None:
    ended = hacheck("verify", PAIR)
    assert "not run, by request only: wide" in ended.out
    assert "--check wide" in ended.out
    assert "check wide =" in hacheck("verify", PAIR, "--wide", "--details").out


def test_only_the_properties_asked_are_decided() -> None:
    ended = hacheck("verify", PAIR, "--check", "default", "--property", "serving")
    assert "serving" in ended.out
    assert "one_active" not in ended.out


def test_settings_of_the_command_line_win_and_are_shown() -> None:
    ended = hacheck("verify", PAIR, "--check", "default", "--set", "crashes=2")
    assert "crashes = 2" in ended.out
    assert "crash Server, up to 2" in ended.out


def test_the_way_to_a_reachable_state_is_told_on_request() -> None:
    asked = ("verify", PAIR, "--check", "default", "--property", "serving")
    assert "take_over" not in hacheck(*asked).out
    assert "take_over" in hacheck(*asked, "--witnesses").out


def test_quietly_only_what_is_not_as_expected_is_told() -> None:
    ended = hacheck("verify", PAIR, "--quiet", "--check", "default", "--check", "naive")
    assert "check default" not in ended.out
    assert "check naive" in ended.out


def test_json_holds_what_the_screen_shows(tmp_path: Path) -> None:
    target = tmp_path / "found.json"
    ended = hacheck("verify", PAIR, "--json", str(target))
    content = json.loads(target.read_text())
    assert content["exit_code"] == ended.code
    assert content["not_run"] == ["wide"]
    checks = {check["name"]: check for check in content["checks"]}
    assert list(checks) == ["default", "crashing", "leased", "naive"]
    leased = checks["leased"]
    assert leased["expected"] is True
    assert checks["naive"]["expected"] is False
    assert leased["settings"] == {"crashes": "0", "losses": "1", "careful": "off"}
    assert leased["faults"] == ["lose LockFile, up to 1"]
    assert {"states", "transitions", "depth", "seconds", "complete", "bounds", "never_happened"} <= set(leased)
    found = leased["properties"][0]
    assert (found["name"], found["kind"], found["verdict"]) == ("one_active", "invariant", "violated")
    assert len(found["run"]) == 8
    assert found["run"][1]["action"] == "start"
    assert found["run"][-1]["state"]["Server.mode"] == {"1": "active", "2": "active"}


def test_json_on_standard_output_is_nothing_but_json() -> None:
    ended = hacheck("verify", PAIR, "--json", "-")
    assert json.loads(ended.out)["spec"] == PAIR
    assert "as expected" in ended.err


def test_every_run_can_be_written_as_itf_and_shown_again(tmp_path: Path) -> None:
    target = tmp_path / "found.json"
    hacheck("verify", PAIR, "--check", "naive", "--json", str(target), "--itf", str(tmp_path / "itf"))
    trace = json.loads((tmp_path / "itf" / "naive.one_active.itf.json").read_text())
    assert trace["#meta"]["format"] == "ITF"
    assert len(trace["states"]) == 8
    shown = hacheck("show", str(target))
    assert shown.code == ExitCode.AS_EXPECTED
    assert "services_up" in shown.out
    assert "Replayed" in shown.out
    assert json.loads(hacheck("show", str(target), "--itf").out)["states"] == trace["states"]


def test_of_several_runs_the_user_says_which(tmp_path: Path) -> None:
    target = tmp_path / "found.json"
    hacheck("verify", PAIR, "--json", str(target))
    ambiguous = hacheck("show", str(target))
    assert ambiguous.code == ExitCode.BAD_INPUT
    assert "--check leased --property one_active" in ambiguous.err
    chosen = hacheck("show", str(target), "--check", "leased", "--property", "one_active")
    assert "one_active" in chosen.out


def test_a_run_that_the_spec_does_not_have_is_not_shown(tmp_path: Path) -> None:
    target = tmp_path / "found.json"
    hacheck("verify", PAIR, "--check", "naive", "--json", str(target))
    content = json.loads(target.read_text())
    content["checks"][0]["properties"][0]["run"][2]["state"]["Server.mode"]["1"] = "active"
    target.write_text(json.dumps(content))
    shown = hacheck("show", str(target))
    assert shown.code == ExitCode.BAD_INPUT
    assert "not possible" in shown.err


def test_a_spec_without_checks_is_asked_everything(tmp_path: Path) -> None:
    path = tmp_path / "x.ha"
    path.write_text('system X "x"\nnode A[1] { state m : { a, b } = a }\ninvariant i : every n: A satisfies n.m == a')
    ended = hacheck("verify", str(path))
    assert ended.code == ExitCode.AS_EXPECTED
    assert "no check of its own" in ended.out


def test_a_spec_may_come_from_standard_input() -> None:
    ended = hacheck("verify", "-", "--check", "default", stdin=Path(PAIR).read_text())
    assert ended.code == ExitCode.AS_EXPECTED


def test_no_line_is_wider_than_the_console() -> None:
    for columns in (60, 80, 120, 200):
        ended = hacheck("verify", PAIR, "--runs", "--witnesses", columns=columns)
        lines = [line for line in ended.out.splitlines() if not line.startswith("  hacheck ")]  # to copy, whole
        assert all(len(line) <= columns for line in lines)


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"NO_COLOR": "", "TERM": "dumb"}])
def test_no_escape_sequences_where_they_are_not_wanted(variables: dict[str, str]) -> None:
    assert "\x1b" not in hacheck("verify", PAIR, **variables).out


class Terminal:
    """`hacheck` on a pseudo-terminal."""

    def __init__(self, *arguments: str, **variables: str) -> None:
        self._end, inner = pty.openpty()
        code = "from hacheck.cli.main import main; main()"
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "40", **variables}
        environment.pop("NO_COLOR", None) if "NO_COLOR" not in variables else None
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments], stdin=inner, stdout=inner, stderr=inner, env=environment
        )
        os.close(inner)
        self.shown = ""

    def read(self, until: str, seconds: float) -> bool:
        """Reads until some text is shown; whether it was."""
        end = time.monotonic() + seconds
        while until not in self.shown and time.monotonic() < end:
            if select.select([self._end], [], [], 0.1)[0]:
                try:
                    self.shown += os.read(self._end, 1 << 16).decode(errors="replace")
                except OSError:  # the other end is closed
                    break
        return until in self.shown

    def close(self) -> int:
        """The exit code, once the process has ended."""
        while self.read("\0", 0.5):
            pass
        code = self.process.wait(timeout=60)
        self.read("\0", 0.2)
        os.close(self._end)
        return code


COUNTERS = """
system Counters "ten thousand million states, for whoever is in a hurry"
node Counter[10] { state phase : { low, high } = low  count : 0..9 = 0 }
action up(c: Counter) when c.count < 9 do c.count := c.count + 1
invariant low : no c: Counter where c.phase == high
"""


def test_on_a_terminal_progress_is_live_and_ctrl_c_ends_it_with_what_was_covered(tmp_path: Path) -> None:
    path = tmp_path / "counters.ha"
    path.write_text(COUNTERS)
    terminal = Terminal("verify", str(path), "--no-reductions")
    try:
        assert terminal.read("waiting", 90), terminal.shown
        begin = time.monotonic()
        terminal.process.send_signal(signal.SIGINT)
        code = terminal.close()
        assert time.monotonic() - begin < 5
    finally:
        terminal.process.kill()
    assert code == ExitCode.UNDECIDED
    assert "interrupted" in terminal.shown
    assert "states" in terminal.shown
    assert "Traceback" not in terminal.shown


def test_on_a_terminal_without_colour_there_is_none() -> None:
    terminal = Terminal("verify", PAIR, "--check", "default", "--quiet", NO_COLOR="1")
    assert terminal.close() == ExitCode.AS_EXPECTED
    assert "\x1b[3" not in terminal.shown
    assert "\x1b[1m" not in terminal.shown


def test_on_a_terminal_what_matters_is_in_colour() -> None:
    terminal = Terminal("verify", PAIR, "--check", "naive", "--check", "default", TERM="xterm-256color")
    assert terminal.close() == ExitCode.NOT_AS_EXPECTED
    red = "\x1b[1;31m"
    assert f"{red}✘ one_active: violated" in terminal.shown
    assert f"{red}LockFile is LOST" in terminal.shown
    assert f"{red}1 not as expected" in terminal.shown


def test_a_check_that_asks_nothing_says_so(tmp_path: Path) -> None:
    spec = tmp_path / "idle.ha"
    spec.write_text('system Idle "x"\nnode A { on: bool = false }\naction go(a: A) do a.on := true\n')
    ended = hacheck("verify", str(spec))
    assert ended.code == 0
    assert "no property to check: without" in ended.out
    assert "as expected (no property to check)" in ended.out


def test_quietly_what_is_not_as_expected_is_told_and_nothing_else() -> None:
    checks = ("--check", "naive", "--check", "default")
    loud, quiet = hacheck("verify", PAIR, *checks), hacheck("verify", PAIR, *checks, "--quiet")
    assert quiet.code == loud.code == ExitCode.NOT_AS_EXPECTED
    assert "one_active: violated" in quiet.out
    told, _, table = quiet.out.rpartition("===")
    assert "  ~  " in table
    assert "  ~  " not in told
    assert "scope" in loud.out.rpartition("===")[0]
    assert "scope" not in quiet.out


def test_expected_violation_that_holds_under_other_settings_is_no_surprise(tmp_path: Path) -> None:
    spec = tmp_path / "two.ha"
    spec.write_text(
        'system Two "two"\nswitch apart = off "one waits for the other"\n'
        "node Server[2] symmetric { state mode: { off, on } = off }\n"
        "action start(s: Server) when s.mode == off only after apart implies other(s).mode == off do s.mode := on\n"
        "invariant one: at most one s: Server where s.mode == on\n"
        "check default expect one violated\ncheck alone with apart = on expect all hold\n",
        encoding="utf-8",
    )
    assert hacheck("verify", str(spec)).code == 0
    changed = hacheck("verify", str(spec), "--check", "default", "--set", "apart=on")
    assert changed.code == 0
    assert "but a violation is expected" not in changed.out
    broken = hacheck("verify", str(spec), "--check", "alone", "--set", "apart=off")
    assert broken.code == 1, "a violation is never passed over"
