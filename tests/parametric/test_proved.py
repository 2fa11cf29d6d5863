"""What is proved for every number of nodes, and that Z3 alone agrees."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from hacheck.checker.parametric import certificate
from hacheck.checker.parametric.encoding_context import Unsupported
from hacheck.checker.parametric.mypyvy_export import text as as_mypyvy
from hacheck.checker.parametric.proof import prepared
from hacheck.checker.symbolic.z3_library import z3_module
from tests.cli.command import hacheck
from tests.nightly import nightly
from tests.parametric.proofs import EXAMPLES, ROOT, proof_of, verdicts, wanted
from tests.parametric.pyv import Program, Refused

ICESTORM_CLAIMS = """
invariant one_is_led "never two groups are followed by a majority each": at most one n: Replica where leads(n)
step_invariant majority_has_it "who acknowledges a change, has it on a majority of disks, its own included":
  every u in acknowledged satisfies
  u in old(acknowledged) or majority({ m: Replica where u in m.topics or server == m })
"""
"""The core safety of the election of `spec/icestorm.ha`, said of that file itself."""


def z3() -> str:
    """The solver that the wheel installs, beside Python or on the path."""
    beside = Path(sys.executable).parent / "z3"
    found = str(beside) if beside.exists() else shutil.which("z3")
    assert found, "no z3 to check certificates with"
    return found


@pytest.mark.parametrize("name", ["quorum_election", "lock_servers"])
def test_example_is_proved_with_its_lemmas(name: str) -> None:
    found = proof_of(wanted((EXAMPLES / f"{name}.ha").read_text()))
    assert set(verdicts(found).values()) == {"proved"}
    assert found.theory.notes == ()


@pytest.mark.parametrize("name", ["quorum_election", "lock_servers"])
def test_z3_alone_checks_the_certificate(name: str, tmp_path: Path) -> None:
    found = proof_of(wanted((EXAMPLES / f"{name}.ha").read_text()))
    files = certificate.write(tmp_path, found.theory, found.claims, found.outcomes)
    assert len(files) == len(found.outcomes)
    for file in files:
        ended = subprocess.run([z3(), "-T:120", str(file)], capture_output=True, text=True, timeout=150, check=False)
        assert ended.stdout == "unsat\n", file.name
    index = json.loads((tmp_path / "index.json").read_text())
    assert [one["file"] for one in index["obligations"]] == [file.name for file in files]
    every_step = {(one["kind"], one["shows"]) for one in index["obligations"]}
    assert len(every_step) == len(files), "each obligation is there once"


def test_a_certificate_has_every_obligation_of_each_claim() -> None:
    found = proof_of(wanted((EXAMPLES / "lock_servers.ha").read_text()))
    shown = {(one.obligation.transition.name, one.obligation.claim.name) for one in found.outcomes}
    steps = [found.theory.start, *found.theory.transitions]
    assert shown == {(step.name, claim.name) for step in steps for claim in found.claims}
    actions = {step.action for step in found.theory.transitions}
    assert actions == set(range(len(found.theory.system.actions))), "every action is told"


def test_mypyvy_text_declares_what_it_uses_once() -> None:
    found = proof_of(wanted((EXAMPLES / "lock_servers.ha").read_text()))
    lines = as_mypyvy(found.theory, found.claims).splitlines()
    declared = [line.split("(")[0].split(":")[0] for line in lines if line.startswith(("mutable", "immutable", "sort"))]
    assert len(declared) == len(set(declared))
    assert sum(line.startswith("transition ") for line in lines) == len(found.theory.transitions)
    assert sum(line.startswith("invariant ") for line in lines) == 2


@pytest.mark.parametrize("name", ["quorum_election", "lock_servers"])
def test_mypyvy_text_is_of_its_grammar_and_says_the_same(name: str) -> None:
    """What it asks a solver is never refuted; of the locks all of it is shown at once."""
    _, theory = prepared(wanted((EXAMPLES / f"{name}.ha").read_text()))
    program = Program(as_mypyvy(theory, theory.claims))
    assert len(program.transitions) == len(theory.transitions)
    assert len(program.invariants) == len(theory.claims)
    answers = {title: answer_of(text) for title, text in program.obligations()}
    assert len(answers) == len(theory.claims) * (1 + len(theory.transitions))
    assert "sat" not in answers.values()
    shown = sum(said == "unsat" for said in answers.values())
    assert shown == len(answers) if name == "lock_servers" else shown > len(answers) - 5


def answer_of(text: str) -> str:
    """What the solver says of assertions in a second."""
    solver = z3_module().Solver()
    solver.set("timeout", 1_000)
    solver.from_string(text)
    return str(solver.check())


@pytest.mark.parametrize("wrong", ["a relation of all that is not", "nothing new", "too many sorts"])
def test_what_mypyvy_would_refuse_is_refused(wrong: str) -> None:
    _, theory = prepared(wanted((EXAMPLES / "lock_servers.ha").read_text()))
    text = as_mypyvy(theory, theory.claims)
    broken = {
        "a relation of all that is not": text.replace(
            "  modifies Server_mode_2\n", "  modifies Server_mode_2, Server_up\n"
        ),
        "nothing new": text.replace("  modifies Server_mode_2\n", "  =\n"),
        "too many sorts": text.replace("sort Gateway\n", "sort Gateway\nsort Server_mode_2\n"),
    }[wrong]
    assert broken != text
    with pytest.raises(Refused):
        Program(broken)


def test_lemmas_of_the_locks_are_found() -> None:
    text = (EXAMPLES / "lock_servers.ha").read_text()
    without = "\n".join(line for line in text.splitlines() if not line.startswith("lemma"))
    found = proof_of(wanted(without), searched=True)
    assert found.proved
    assert found.found


@nightly
def test_lemmas_of_the_election_are_found() -> None:
    text = (ROOT / "bench" / "quorum_election.ha").read_text()
    assert "lemma" not in text
    found = proof_of(wanted(text), seconds=300, searched=True)
    assert found.proved


def test_core_of_icestorm_is_proved_of_the_shipped_spec() -> None:
    text = (ROOT / "spec" / "icestorm.ha").read_text() + ICESTORM_CLAIMS
    found = proof_of(wanted(text, "default", "one_is_led", "majority_has_it"), seconds=300)
    assert verdicts(found) == {"one_is_led": "proved", "majority_has_it": "proved"}
    assert "every number of Replicas from 2" in found.theory.covers


def test_the_command_says_what_is_covered() -> None:
    ended = hacheck("prove", str(EXAMPLES / "lock_servers.ha"))
    assert ended.code == 0
    assert "every number of Servers" in ended.out
    assert "proved: 22 obligations shown" in ended.out


def test_the_command_shows_the_run_that_violates_a_false_property() -> None:
    lossy = ("prove", str(EXAMPLES / "lock_servers.ha"), "--check", "lossy", "--property", "one_active")
    ended = hacheck(*lossy)
    assert ended.code == 1
    assert "one_active: violated with 3 Servers" in ended.out
    assert "lose LockFile" in ended.out
    assert "counterexample to induction" not in ended.out
    assert "lemma is missing" not in ended.out
    found = json.loads(hacheck(*lossy, "--json", "-").out)
    assert {one["name"]: one["verdict"] for one in found["properties"]}["one_active"] == "violated"
    (run,) = [one for one in found["violations"] if one["property"] == "one_active"]
    assert run["nodes"]["Server"] == 3
    assert len(run["run"]["steps"]) == 3
    assert not found["proved"]


PAIRED = """
system Paired "One server marks another; where there is one, it marks none."
param servers = 1 in 1..5
node Server[servers] symmetric { marked: bool = false  busy: bool = false }
environment action mark(s: Server, t: Server) when s != t do t.marked := true
action work(s: Server) do s.busy := not s.busy
invariant none_is_marked: no s: Server where s.marked
invariant one_or_more: some s: Server where s.busy or not s.busy
check default expect all hold
"""


def test_what_a_larger_size_violates_is_violated_and_the_rest_is_proved(tmp_path: Path) -> None:
    (tmp_path / "paired.ha").write_text(PAIRED)
    ended = hacheck("prove", str(tmp_path / "paired.ha"))
    assert ended.code == 1
    assert "none_is_marked: violated with 2 Servers" in ended.out
    assert "one_or_more     proved" in ended.out
    assert hacheck("verify", str(tmp_path / "paired.ha")).code == 0, "at one it holds"


def test_the_command_tells_a_counterexample_to_induction(tmp_path: Path) -> None:
    (tmp_path / "fenced.ha").write_text(FENCED)
    ended = hacheck("prove", str(tmp_path / "fenced.ha"), "--given")
    assert ended.code == 3
    assert "counterexample to induction of newer" in ended.out
    assert "not proved, which does not mean violated;" in ended.out


FENCED = """
system Fenced "A store takes no write of an older token; why that is so is not said."
param tokens = 3 in 1..9
node Writer[2] symmetric { token: 0..tokens = 0 }
node Store { highest: 0..tokens = 0 }
ghost last: 0..tokens = 0
environment action grant(w: Writer, token: 0..tokens) do w.token := token
environment action write(w: Writer) do
  if w.token >= Store.highest then {
    Store.highest := w.token
    last := w.token
  }
step_invariant newer: last >= old(last)
check default expect all hold
"""


def test_the_whole_state_before_is_told(tmp_path: Path) -> None:
    (tmp_path / "fenced.ha").write_text(FENCED)
    ended = hacheck("prove", str(tmp_path / "fenced.ha"), "--given")
    assert ended.code == 3
    _, _, told = ended.out.partition("the state before\n")
    before, _, step = told.partition("write(w: Writer")
    assert "token = " in before, "the step does not change it, and is possible by it"
    assert "last = " in before
    assert "last" in step


def test_claims_that_were_found_are_told_with_what_to_do_with_them() -> None:
    pair = str(ROOT / "tests" / "golden" / "specs" / "pair.ha")
    told = " ".join(hacheck("prove", pair, "--check", "crashing").out.split())
    assert "claims were found besides the spec's: written into the spec as lemmas, they need not be found again" in told
    told = " ".join(hacheck("prove", str(EXAMPLES / "quorum_election.ha")).out.split())
    assert "-> Replica: the solver might not have terminated; it did, and the proof is valid" in told
    assert "were found" not in told
    words = ("--check", "crashing", "--property", "one_active", "--engine", "induction")
    told = " ".join(hacheck("verify", pair, *words).out.split())
    assert "note proved with 2 lemmas that were found; written into the spec, they save the search" in told
    assert "note lemma found_1: no a: Server" in told


def test_the_command_writes_json() -> None:
    ended = hacheck("prove", str(EXAMPLES / "lock_servers.ha"), "--json", "-")
    found = json.loads(ended.out)
    assert found["proved"]
    assert {one["verdict"] for one in found["obligations"]} == {"shown"}


def test_a_spec_outside_the_fragment_is_told_why() -> None:
    ended = hacheck("prove", str(ROOT / "spec" / "fiorano_shared.ha"))
    assert ended.code == 2
    assert "not in the fragment" in ended.out


def test_what_comes_after_something_told_in_no_logic_is_looked_at_too() -> None:
    text = """system Slots "Whoever comes takes the first slot that is free."
param slots = 2 in 1..9
node Server[2] symmetric { taken: map 1..slots to bool = each k: 1..slots -> false }
action take(s: Server) when some k: 1..slots where not s.taken[k] do
  let first = min k: 1..slots where not s.taken[k] by k
  s.taken[first] := true
invariant something: some s: Server where s.taken[1] or not s.taken[1]
check default expect all hold
"""
    with pytest.raises(Unsupported, match="a choice among numbers up to a setting of any value"):
        proof_of(wanted(text))


def test_without_z3_it_says_what_to_install() -> None:
    with patch.dict(sys.modules, {"z3": None}):
        ended = hacheck("prove", str(EXAMPLES / "lock_servers.ha"))
    assert ended.code == 2
    assert "Z3 is not installed: pip install 'hacheck[prove]'" in ended.err


def test_time_ends_a_proof() -> None:
    ended = hacheck("prove", str(EXAMPLES / "quorum_election.ha"), "--time", "0.01")
    assert ended.code == 3
    assert "out of time" in ended.out


def test_z3_is_not_loaded_at_the_start() -> None:
    code = "import sys, hacheck.cli.main, hacheck.cli.commands.prove; sys.exit('z3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_negative_numbers_are_told_as_numbers() -> None:
    text = """system Debt "Each server owes one, or nothing."
node Server[3] symmetric { owed: -1..1 = 0 }
action borrow(s: Server) when s.owed == 0 do s.owed := -1
invariant no_gain: every s: Server satisfies s.owed <= 0
"""
    assert verdicts(proof_of(wanted(text, None))) == {"no_gain": "proved"}
    assert verdicts(proof_of(wanted(text.replace("s.owed := -1", "s.owed := 1"), None)))["no_gain"] != "proved"


def test_a_partition_of_several_kinds_is_of_the_fragment() -> None:
    text = """system Mixed "a server counts to one, whatever is cut"
node Server[3] symmetric { n: 0..3 = 0 }
node Client { }
action write(s: Server) do s.n := 1
invariant low: every s: Server satisfies s.n < 2
faults { partition Server and Client up to 1 }
check default expect all hold
"""
    assert proof_of(wanted(text)).proved
