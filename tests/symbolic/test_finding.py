"""Lemmas that induction lacks are found, proved like any others, and told so that a spec may say them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hacheck.checker.engine import Answer, Limits
from hacheck.checker.symbolic.k_induction import InductionEngine
from hacheck.model.ir import System
from hacheck.model.language import load
from tests.cli.command import hacheck
from tests.nightly import nightly

ROOT = Path(__file__).parents[2]
ELECTION = ROOT / "bench" / "quorum_election.ha"
LOCKS = ROOT / "examples" / "proofs" / "lock_servers.ha"
FIORANO = ROOT / "spec" / "fiorano_shared.ha"
SAYS = "lemma "


def system_of(text: str, check: str | None = None, path: Path = LOCKS, **settings: str) -> System:
    """The system that a text means under a check."""
    specification = load(text, str(path), lambda name: Path(name).read_text(encoding="utf-8")).specification
    assert specification is not None
    made = specification.instantiate(settings, check).system
    assert made is not None, "the lemmas are of the language"
    return made


def safety(system: System) -> tuple[str, ...]:
    """What can be shown."""
    return tuple(one.name for one in system.properties if one.kind in ("invariant", "step"))


def check(system: System, finding: bool) -> Answer:
    """What simple induction says of all that can be shown."""
    engine = InductionEngine(1, reachability=False, finding=finding)
    return engine.check(system, safety(system), Limits(), lambda _: True)


def verdicts(answer: Answer) -> set[str]:
    """All verdicts."""
    return {found.verdict for found in answer.properties}


def found_in(answer: Answer) -> list[str]:
    """The lemmas that were found, as declarations."""
    return [note for note in answer.notes if note.startswith(SAYS)]


def without_lemmas(text: str) -> str:
    """A text without its lemmas, each of one line."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("lemma"))


def assert_found_and_pasted(text: str, path: Path, name: str | None = None, **settings: str) -> None:
    """Nothing is shown without; everything is with what is found; and what is found does when it is pasted."""
    system = system_of(text, name, path, **settings)
    assert "not-inductive" in verdicts(check(system, False))
    answer = check(system, True)
    assert verdicts(answer) == {"holds"}, answer.notes
    lemmas = found_in(answer)
    assert lemmas
    assert list(answer.lemmas) == lemmas
    pasted = system_of("\n".join((text, *lemmas, "")), name, path, **settings)
    assert verdicts(check(pasted, False)) == {"holds"}


def test_what_a_lock_has_to_do_with_modes_is_found() -> None:
    assert_found_and_pasted(without_lemmas(LOCKS.read_text(encoding="utf-8")), LOCKS)


@pytest.mark.parametrize("broken", ["lossy", "from_memory"])
def test_nothing_is_found_for_a_broken_protocol(broken: str) -> None:
    answer = check(system_of(without_lemmas(LOCKS.read_text(encoding="utf-8")), broken), True)
    assert "holds" not in verdicts(answer)
    assert not found_in(answer)


def test_json_has_the_lemmas_that_were_found(tmp_path: Path) -> None:
    spec = tmp_path / "locks.ha"
    spec.write_text(without_lemmas(LOCKS.read_text(encoding="utf-8")), encoding="utf-8")
    asked = ("--check", "default", "--engine", "induction", "--depth", "1", "--json", "-")
    (found,) = json.loads(hacheck("verify", str(spec), *asked).out)["checks"]
    assert found["lemmas_found"]
    assert all(one.startswith("lemma found_") for one in found["lemmas_found"])
    (given,) = json.loads(hacheck("verify", str(spec), *asked, "--given").out)["checks"]
    assert given["lemmas_found"] == []


@nightly
def test_a_quorum_election_is_shown_without_help() -> None:
    assert_found_and_pasted(ELECTION.read_text("utf-8"), ELECTION, replicas="3", terms="2", crashes="1")


@nightly
def test_nothing_is_found_for_a_broken_election() -> None:
    answer = check(system_of(ELECTION.read_text("utf-8"), "broken", ELECTION), True)
    assert "holds" not in verdicts(answer)


@nightly
def test_a_pair_with_a_shared_database_is_shown_without_help() -> None:
    assert_found_and_pasted(FIORANO.read_text("utf-8"), FIORANO, "default")


CALLS = """
system Calls "A number that is stored elsewhere by a call before it is said."
node Client { n: 0..2 = 0  said: 0..2 = 0 }
node Store { n: 0..2 = 0 }
operation store(n: 0..2) from Client to Store returns bool
action add(c: Client) when c.n < 2 do
  c.n := c.n + 1
  call store(c.n) at Store as heard
  c.said := c.n
serve store(n) at s from c do
  s.n := n
  answer true
invariant stored: Client.said <= Store.n
check default expect all hold
"""


def test_what_no_spec_may_say_is_not_said_to_be_sayable() -> None:
    system = system_of(CALLS)
    answer = check(system, True)
    assert verdicts(answer) == {"holds"}, answer.notes
    assert any("lemmas that were found are not shown, as the language has no words" in note for note in answer.notes)
    assert list(answer.lemmas) == found_in(answer)
    assert safety(system_of("\n".join((CALLS, *answer.lemmas, "")))), "what may be said can be"
