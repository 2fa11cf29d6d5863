"""How to explore is the user's to say, and what came of it is told."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hacheck.checker.explicit import native_program
from hacheck.cli.engines import Exploring, engine_for
from hacheck.cli.guard import ExitCode
from hacheck.compile.machine import compiler
from hacheck.compile.machine.compiler import Availability
from hacheck.supervise.resources import usable_cores
from tests.cli.command import hacheck

SPECS = Path(__file__).parent.parent / "golden" / "specs"
PAIR = str(SPECS / "pair.ha")
ELECTION = str(Path(__file__).parents[2] / "bench" / "quorum_election.ha")


def found(*arguments: str, **variables: str) -> dict[str, Any]:
    """What `verify --json` says of the first check."""
    ended = hacheck("verify", *arguments, "--json", "-", **variables)
    assert ended.code in (ExitCode.AS_EXPECTED, ExitCode.NOT_AS_EXPECTED, ExitCode.UNDECIDED), ended.err
    check: dict[str, Any] = json.loads(ended.out)["checks"][0]
    return check


def test_every_engine_is_named_in_the_json() -> None:
    answers = [found(PAIR, "--check", "crashing", "--engine", name) for name in ("native", "python", "simulation")]
    assert [answer["engine"] for answer in answers] == ["native", "python", "simulation"]
    assert answers[0]["threads"] == usable_cores()
    assert answers[1]["threads"] == 1
    assert "exploring" in answers[0]["phases"]
    assert answers[0]["bytes_per_state"] > 0


def test_engines_say_the_same() -> None:
    native, python = (
        found(PAIR, "--check", "crashing", "--no-reductions", "--engine", name) for name in ("native", "python")
    )
    for name in ("states", "transitions", "depth", "actions", "outcome", "never_reached"):
        assert native[name] == python[name]
    assert [(item["name"], item["verdict"]) for item in native["properties"]] == [
        (item["name"], item["verdict"]) for item in python["properties"]
    ]


def test_the_number_of_threads_is_told_and_changes_nothing() -> None:
    one, three = (found(ELECTION, "--check", "default", "--threads", number) for number in ("1", "3"))
    assert (one["threads"], three["threads"]) == (1, 3)
    assert (one["states"], one["transitions"], one["depth"]) == (three["states"], three["transitions"], three["depth"])


def test_reductions_are_told_with_what_they_save() -> None:
    whole, reduced = found(ELECTION, "--check", "default", "--no-reductions"), found(ELECTION, "--check", "default")
    assert whole["reductions"] == []
    (phrase,) = reduced["reductions"]
    assert (
        phrase
        == f"symmetry: Replica 1..3 are interchangeable, {reduced['states']:,} states stand for {whole['states']:,}"
    )
    assert reduced["states"] < whole["states"] / 5


def test_with_hashes_the_probability_of_an_omission_is_told_and_liveness_is_open() -> None:
    check = found(PAIR, "--check", "crashing", "--fingerprint", "--no-reductions")
    assert check["omission_probability"] == pytest.approx(check["states"] ** 2 / 2**65)
    scopes = {item["name"]: (item["verdict"], item["scope"]) for item in check["properties"]}
    assert scopes["one_active"][0] == "holds"
    assert "with a probability of at most" in scopes["one_active"][1]
    assert scopes["recovers"][0] == "unknown"
    assert "with hashes" in scopes["recovers"][1]
    shown = hacheck("verify", PAIR, "--check", "naive", "--fingerprint", "--property", "serving", "--exhaustive")
    assert "probability of at most" in " ".join(shown.out.split())


def test_what_was_explored_is_kept_and_gone_on_from(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    stopped = hacheck("verify", ELECTION, "--check", "default", "--depth", "9", "--checkpoint", str(folder))
    assert stopped.code == ExitCode.UNDECIDED
    assert (folder / "default").is_dir()
    resumed = found(ELECTION, "--check", "default", "--resume", str(folder))
    again = hacheck("verify", ELECTION, "--check", "default", "--checkpoint", str(folder))
    assert again.code == ExitCode.BAD_INPUT
    assert "default is kept there already" in again.err
    assert f"--resume {folder}" in " ".join(again.err.split())
    whole = found(ELECTION, "--check", "default")
    for name in ("states", "transitions", "depth", "actions", "complete"):
        assert resumed[name] == whole[name]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--engine", "nativ"), "did you mean native?"),
        (("--threads", "0"), "not a whole number above zero"),
        (("--engine", "python", "--threads", "2"), "--threads is for the native engine"),
        (("--given",), "--given is for induction"),
        (("--engine", "bmc", "--given"), "--given is for induction"),
        (("--engine", "python", "--fingerprint"), "--fingerprint is for the native engine"),
        (("--engine", "simulation", "--checkpoint", "x"), "--checkpoint is for the native engine"),
        (("--engine", "bmc", "--threads", "2"), "--threads is for the native engine"),
        (("--engine", "induction", "--fingerprint"), "--fingerprint is for the native engine"),
        (("--engine", "induction", "--resume", "x"), "--resume is for the native engine"),
        (("--engine", "bmc", "--states", "9"), "--states is not for bmc: bmc looks at runs, and counts no states"),
        (("--engine", "bmc", "--states", "9"), "say how many steps, --depth N, or how long"),
        (("--engine", "induction", "--states", "9"), "--states is not for induction: induction explores no states"),
        (("--engine", "induction", "--states", "9"), "say the greatest k, --depth N"),
        (("--checkpoint", "a", "--resume", "b"), "name different folders"),
        (("--resume", "nowhere"), "nothing of default, crashing, leased, naive is kept there"),
        (("--checkpoint", "/dev/null/x"), "no checkpoint can be kept in"),
    ],
)
def test_what_cannot_be_done_is_refused(
    arguments: tuple[str, ...], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = hacheck("verify", PAIR, *arguments)
    assert ended.code == ExitCode.BAD_INPUT
    assert words in " ".join(ended.err.split())


def test_all_refuse_what_their_engine_would_ignore() -> None:
    ended = hacheck("verify", "--all", "--engine", "bmc", "--states", "9")
    assert ended.code == ExitCode.BAD_INPUT
    assert "--states is not for bmc" in ended.err


@pytest.mark.parametrize("option", ["--threads", "--fingerprint", "--checkpoint"])
def test_what_only_machine_code_can_do_is_refused_without_it(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiler, "is_available", lambda: Availability("llvmlite is not installed"))
    value = {"--threads": ("2",), "--checkpoint": (str(tmp_path / "kept"),)}.get(option, ())
    ended = hacheck("verify", PAIR, option, *value)
    assert ended.code == ExitCode.BAD_INPUT
    assert f"{option} is for the native engine, which is not there: llvmlite is not installed" in ended.err


@pytest.mark.parametrize("engine", ["native", "python", "simulation"])
@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (("--states", "5"), "5 states reached"),
        (("--depth", "2"), ""),
        (("--time", "0.000001"), "seconds passed"),
        (("--memory", "1k"), "of memory used"),
    ],
)
def test_every_limit_that_is_taken_ends_it(engine: str, limit: tuple[str, ...], said: str) -> None:
    check = found(PAIR, "--check", "naive", "--engine", engine, *limit)
    assert said in json.dumps(check)
    if limit[0] == "--depth":
        assert check["depth"] == 2


def test_a_walk_is_as_long_as_the_depth_says(tmp_path: Path) -> None:
    spec = tmp_path / "count.ha"
    spec.write_text(
        'system Count "x"\nnode N { n: 0..999 = 0 }\naction up(x: N) when x.n < 999 do x.n := x.n + 1\n'
        "reachable far: some x: N where x.n == 500\ncheck default\n",
        encoding="utf-8",
    )
    walks = ("--engine", "simulation")
    assert found(str(spec), *walks)["depth"] == 200
    assert found(str(spec), *walks, "--depth", "600")["depth"] == 600


def test_a_checkpoint_of_another_check_is_refused(tmp_path: Path) -> None:
    hacheck("verify", PAIR, "--check", "naive", "--checkpoint", str(tmp_path))
    ended = hacheck("verify", PAIR, "--check", "naive", "--property", "serving", "--resume", str(tmp_path))
    assert ended.code == ExitCode.BAD_INPUT
    assert "is of something else" in ended.err


def test_without_llvmlite_the_portable_engine_explores_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native_program, "is_available", lambda: Availability("llvmlite is not installed"))
    ended = hacheck("verify", PAIR, "--check", "crashing", HACHECK_CACHE_DIR=str(tmp_path))
    assert ended.code == ExitCode.NOT_AS_EXPECTED
    assert "explored without machine code" in ended.out
    check = found(PAIR, "--check", "crashing", HACHECK_CACHE_DIR=str(tmp_path))
    assert check["engine"] == "python"
    assert check["notes"] == ["explored without machine code, which is slower: llvmlite is not installed"]


def test_the_machine_has_a_core_at_least() -> None:
    assert 1 <= usable_cores() <= (os.cpu_count() or 1)
    engine = engine_for(Exploring())
    assert getattr(engine, "threads", 0) == usable_cores()
