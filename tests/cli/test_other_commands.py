"""The smaller commands: simulate, inspect, list, diagram into files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hacheck import shipped
from hacheck.cli.commands import COMMANDS, ELSEWHERE, OPTIONS_ELSEWHERE
from hacheck.cli.guard import ExitCode
from hacheck.model.language.codes import CODES
from hacheck.model.system_text import parse_system
from tests.cli.command import hacheck

SPECS = Path(__file__).parent.parent / "golden" / "specs"
PAIR = str(SPECS / "pair.ha")


def test_the_same_seed_gives_the_same_run() -> None:
    one, other = (hacheck("simulate", PAIR, "--seed", "7", "--steps", "12").out for _ in range(2))
    assert one == other
    assert "12 Server" in one or "12  " in one
    assert one != hacheck("simulate", PAIR, "--seed", "8", "--steps", "12").out


def test_a_simulated_run_can_be_saved_and_shown_again(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    told = hacheck("simulate", PAIR, "--seed", "3", "--set", "losses=1", "--json", str(path)).out
    assert json.loads(path.read_text())["settings"]["losses"] == "1"
    shown = hacheck("show", str(path))
    assert shown.code == ExitCode.AS_EXPECTED
    last = [line for line in told.splitlines() if "Server" in line][-1].strip()
    assert last in shown.out


def test_a_saved_run_finds_its_spec_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SPECS)
    path = tmp_path / "run.json"
    hacheck("simulate", "pair.ha", "--json", str(path))
    monkeypatch.chdir(tmp_path)
    assert hacheck("show", str(path)).code == ExitCode.AS_EXPECTED


def test_a_run_into_a_standstill_says_so(tmp_path: Path) -> None:
    spec = tmp_path / "x.ha"
    spec.write_text(
        'system X "x"\nnode A[1] { state m : { a, b } = a }\n'
        "action go(n: A) when n.m == a do n.m := b\ninvariant i : every n: A satisfies n.m == a or n.m == b"
    )
    assert "Nothing more can happen" in hacheck("simulate", str(spec)).out


def test_the_model_is_printed_so_that_it_reads_back() -> None:
    ended = hacheck("inspect", PAIR, "--ir", "--check", "leased")
    assert dict(parse_system(ended.out).settings)["losses"] == "1"


def test_the_code_of_the_engine_is_printed() -> None:
    lowered = hacheck("inspect", PAIR, "--lowered", "--check", "naive").out
    assert " bits\n" in lowered
    assert "take_over(s: Server 1) when " in lowered
    compile(hacheck("inspect", PAIR, "--python").out, "generated", "exec")
    native = hacheck("inspect", PAIR, "--native", "--check", "naive").out
    assert "define i64 @expand(" in native
    assert "; Servers are not symmetric: recovers asks that start is fair to each Server" in native
    assert hacheck("inspect", PAIR, "--native", "--ir").code == ExitCode.BAD_INPUT


def test_the_list_names_every_shipped_spec() -> None:
    shown = hacheck("list").out
    assert all(name in shown for name in shipped.names())
    assert all(path.stem in shown for path in shipped.examples())
    assert "None" not in shown


def test_a_diagram_is_written_into_a_file(tmp_path: Path) -> None:
    for format, begin in (("svg", "<svg"), ("dot", "digraph"), ("mermaid", "stateDiagram"), ("text", " Server")):
        path = tmp_path / f"pair.{format}"
        ended = hacheck("diagram", PAIR, "--format", format, "--out", str(path))
        assert ended.code == ExitCode.AS_EXPECTED
        assert path.read_text(encoding="utf-8").startswith(begin)


def test_every_code_is_listed_and_explained_with_its_examples() -> None:
    listed = hacheck("explain").out
    for code, info in CODES.items():
        assert code in listed
        told = " ".join(hacheck("explain", code.lower(), PYTHONIOENCODING="utf-8").out.split())
        assert info.headline in told
        assert " ".join(info.explanation.split()) in told
        assert " ".join(info.example_right.split()) in told


def test_a_code_may_be_given_by_its_number() -> None:
    assert hacheck("explain", "103").out == hacheck("explain", "HA103").out


def test_an_unknown_code_is_answered_with_near_ones() -> None:
    ended = hacheck("explain", "HA999")
    assert ended.code == ExitCode.BAD_INPUT
    assert "did you mean" in ended.err


def test_a_file_without_runs_says_that_it_has_none(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    assert hacheck("verify", PAIR, "--check", "naive", "--property", "shared", "--depth", "1", "--json", str(path)).code
    ended = hacheck("show", str(path))
    assert ended.code == ExitCode.BAD_INPUT
    assert "holds no run to show" in ended.err


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("fiorano_s", ["fiorano_shared"]), ("", [*shipped.names(), "mine.ha", "specs/"]), ("specs/b", ["specs/b.ha"])],
)
def test_the_shell_is_offered_shipped_protocols_and_files(
    typed: str, offered: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "specs").mkdir()
    for name in ("mine.ha", "notes.txt", ".hidden.ha", "specs/b.ha"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    variables = {"COMP_WORDS": f"hacheck verify {typed}", "COMP_CWORD": "2", "_HACHECK_COMPLETE": "complete_bash"}
    assert hacheck(**variables).out.split() == offered


@pytest.mark.parametrize("word", ELSEWHERE)
def test_command_of_another_tool_is_answered_with_ours(word: str) -> None:
    ended = hacheck(word, PAIR)
    assert (ended.code, ended.out) == (ExitCode.BAD_INPUT, "")
    assert ended.err == f"error: hacheck has no command `{word}`\n  = hint: {ELSEWHERE[word]}\n"
    names = {command.name for command in COMMANDS}
    assert word not in names
    meant = set(re.findall(r"`hacheck ([a-z-]+)", ELSEWHERE[word]))
    assert meant
    assert meant <= names


COMMANDS_WITH = {"--adapter": "conform", "--steps": "simulate", "--traces": "simulate", "--out": "diagram"}
COMMANDS_WITH |= {"--format": "diagram"}


@pytest.mark.parametrize(
    ("option", "ours", "does"), [(option, *one) for option, several in OPTIONS_ELSEWHERE.items() for one in several]
)
def test_option_of_another_tool_is_answered_with_ours(option: str, ours: str, does: str) -> None:
    command = COMMANDS_WITH.get(ours, "verify")
    if option == ours:
        assert ours in hacheck(command, "--help", columns=200).out
        return
    ended = hacheck(command, PAIR, f"{option}=x")
    assert (ended.code, ended.out) == (ExitCode.BAD_INPUT, "")
    assert ended.err == f"error: hacheck {command} has no option `{option}`\n  = hint: {ours} {does}\n"
    assert ours in hacheck(command, "--help", columns=200).out


def test_diagram_ends_at_the_states_that_were_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "pair.json"
    assert hacheck("diagram", PAIR, "--format", "json", "--states", "5", "-o", str(path)).code == ExitCode.AS_EXPECTED
    assert json.loads(path.read_text())["states"] == 5


def test_why_of_a_violated_property_says_that_it_is_violated() -> None:
    ended = hacheck("why", PAIR, "--check", "leased", "--property", "one_active")
    assert ended.code == ExitCode.NOT_AS_EXPECTED
    assert "one_active  violated  in " in ended.out
    assert "--property one_active --runs" in ended.out


def test_a_spec_in_the_place_of_a_command_is_answered_with_verify() -> None:
    ended = hacheck("mine.ha")
    assert (ended.code, ended.err.splitlines()[1]) == (ExitCode.BAD_INPUT, "  = hint: hacheck verify mine.ha")


def test_a_file_here_comes_before_a_shipped_spec_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("icestorm.ha").write_text('system Mine "mine"\nnode A { }\ninvariant fine: true\n', encoding="utf-8")
    assert "Mine" in hacheck("list", "icestorm").out
    assert "HA IceStorm" in hacheck("list").out, "the list is of what is shipped"


def test_an_svg_may_be_redirected() -> None:
    assert hacheck("diagram", PAIR, "--static", "--format", "svg").out.startswith("<svg")


def test_a_run_is_shown_on_another_path(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    hacheck("simulate", PAIR, "--seed", "3", "--json", str(path))
    shown = hacheck("show", str(path), "--path", "3~0")
    assert (shown.code, "4 steps" in shown.out) == (ExitCode.AS_EXPECTED, True)
    wrong = hacheck("show", str(path), "--path", "3~999")
    assert (wrong.code, "there is no step 999 after step 3" in wrong.err) == (ExitCode.BAD_INPUT, True)
    both = hacheck("show", str(path), "--path", "3", "--report", str(tmp_path / "x.html"))
    assert (both.code, "--path goes with neither" in both.err) == (ExitCode.BAD_INPUT, True)
