"""The Z3 engines on the command line: what is printed, with which exit code, and what Z3 itself reads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import z3

from hacheck.checker.symbolic.smtlib_script import script_of
from tests.cli.command import hacheck
from tests.strategies import seeded_system

ROOT = Path(__file__).parents[2]
ELECTION = str(ROOT / "bench" / "quorum_election.ha")
LEMMAS = str(ROOT / "bench" / "quorum_election_lemmas.ha")


def test_a_violation_within_the_depth_is_told_as_by_any_engine() -> None:
    ended = hacheck("verify", ELECTION, "--check", "broken", "--engine", "bmc", "--depth", "8", "--json", "-")
    assert ended.code == 0, ended.err
    (check,) = json.loads(ended.out)["checks"]
    assert check["engine"] == "bmc"
    found = {one["name"]: one for one in check["properties"]}["one_leader_per_term"]
    assert (found["verdict"], len(found["run"])) == ("violated", 9)


def test_a_bound_is_no_verdict() -> None:
    ended = hacheck("verify", ELECTION, "--check", "default", "--engine", "bmc", "--depth", "2", columns=120)
    assert ended.code == 3
    assert "not violated up to depth 2" in ended.out
    assert "holds" not in ended.out


def test_a_proof_is_one() -> None:
    asked = ("--check", "default", "--property", "one_leader_per_term")
    ended = hacheck("verify", LEMMAS, *asked, "--engine", "induction")
    assert ended.code == 0, ended.err
    assert "every depth (inductive)" in ended.out


def test_what_is_not_inductive_is_no_violation_and_shows_a_step() -> None:
    asked = ("--engine", "induction", "--depth", "1", "--given")
    ended = hacheck("verify", ELECTION, "--check", "default", *asked, columns=120)
    assert ended.code == 3
    assert "not inductive" in ended.out
    assert "a step from a state that is not ruled out" in ended.out
    assert "a state that nothing shown rules out" in ended.out


@pytest.mark.parametrize("name", ["bmc", "induction"])
def test_a_limit_of_memory_is_told(name: str) -> None:
    ended = hacheck("verify", LEMMAS, "--check", "default", "--engine", name, "--memory", "1M", columns=120)
    assert ended.code == 3
    assert "of memory were in use" in ended.out


def test_where_z3_has_no_memory_left_that_is_told() -> None:
    """The limit here is Z3's own, for all of a process; it meets it as it would meet that of the machine."""
    code = (
        "import sys, z3\nfrom hacheck.cli.main import exit_code\nz3.set_param('memory_max_size', 40)\n"
        f"sys.exit(exit_code(['verify', {ELECTION!r}, '--check', 'default', '--engine', 'bmc', '--depth', '14']))\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 3, ended.stderr
    assert "Z3 ran out of memory" in " ".join(ended.stdout.split())


def test_z3_reads_what_is_printed(tmp_path: Path) -> None:
    script = tmp_path / "election.smt2"
    script.write_text(hacheck("inspect", ELECTION, "--smt").out, encoding="utf-8")
    told = subprocess.run(
        [str(Path(sys.executable).with_name("z3")), str(script)], capture_output=True, text=True, check=True
    )
    assert "error" not in told.stdout
    lines = told.stdout.splitlines()
    assert lines[:2] == ["an initial state, and a step from it:", "sat"]
    assert lines[2:4] == ["one_leader_per_term, found in an initial state:", "unsat"]


def test_what_is_printed_of_random_systems_is_smt_lib() -> None:
    for seed in range(40):
        system = seeded_system(seed, risky=False)
        solver = z3.Solver()
        solver.from_string(script_of(system).replace("(check-sat)", ""))


def test_z3_is_not_loaded_before_it_is_asked() -> None:
    code = (
        "import sys\nfrom hacheck.cli.main import exit_code\n"
        f"exit_code(['verify', {ELECTION!r}, '--check', 'default', '--states', '10'])\n"
        "print('LOADED', 'z3' in sys.modules)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "LOADED False" in ended.stdout
