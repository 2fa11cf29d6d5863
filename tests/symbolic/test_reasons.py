"""What a proof rests on is told, and the rest can go: all of it at once."""

from __future__ import annotations

import shlex
from pathlib import Path

from hacheck.checker.engine import Limits
from hacheck.checker.symbolic.unsat_cores import Reasons, reasons
from hacheck.model.ir import System
from hacheck.model.language import load
from tests.cli.command import hacheck
from tests.models.exploration import explore

LEMMAS = Path(__file__).parents[2] / "bench" / "quorum_election_lemmas.ha"

LOCK = """system Lock "Whoever holds the lock serves; how often one may crash does not matter."
node Server[2] symmetric { serves: bool = false }
ghost turns: 0..3 = 0
variable_of_holder
action take(s: Server) when HOLDER == none and turns < 3 do
  HOLDER := s
  s.serves := true
  turns := turns + 1
action leave(s: Server) when HOLDER == s do
  s.serves := false
  HOLDER := none
faults { crash Server up to 1 for good }
invariant one "never two": at most one s: Server where s.serves
lemma holds_it "who serves holds it": every s: Server satisfies s.serves implies HOLDER == s
check default expect all hold
""".replace("variable_of_holder", "shared HOLDER: Server? = none").replace("ghost turns", "shared turns")


TWOS = """system Twos "Steps of two from nought never meet an odd number."
node Server { n: 0..20 = 0  ready: bool = true }
action up(s: Server) when s.n < 19 and s.ready do s.n := s.n + 2
action rest(s: Server) when s.n == 20 do s.ready := false
invariant even: every s: Server satisfies s.n != 3
check default expect all hold
"""


def system_of(text: str) -> System:
    """The system that a text means."""
    loaded = load(text, "text.ha", lambda _: None)
    assert loaded.specification is not None, loaded.diagnostics
    made = loaded.specification.instantiate({}).system
    assert made is not None
    return made


def found(text: str, name: str) -> Reasons:
    """Why an invariant holds."""
    return reasons(system_of(text), name, Limits(), lambda _: True)


def words(parts: tuple[object, ...]) -> set[tuple[str, str]]:
    """Actions and conditions."""
    return {(part.action, part.words) for part in parts}  # type: ignore[attr-defined]


def test_the_lock_is_needed_and_the_limits_are_not() -> None:
    why = found(LOCK, "one")
    assert why.failed is None
    assert why.lemmas == ("holds_it",)
    assert ("take", "HOLDER == none") in words(why.needed)
    assert ("take", "turns < 3") in words(why.spare)
    assert {part.kind for part in why.spare} == {"guard", "limit"}


def test_without_what_is_needed_it_is_violated_and_without_the_rest_it_is_not() -> None:
    """The oracle is plain search by the interpreter, on texts without the conditions."""
    without = LOCK.replace("HOLDER == none and ", "")
    assert "one" in explore(system_of(without)).decided
    freed = LOCK.replace("up to 1 for good", "up to 2")
    assert "one" not in explore(system_of(freed)).decided


def test_the_majority_rule_is_needed_and_the_number_of_crashes_is_not() -> None:
    why = found(LEMMAS.read_text(encoding="utf-8"), "one_leader_per_term")
    assert why.failed is None
    assert ("reply", "majority(i.votes)") in words(why.needed)
    assert any(part.kind == "limit" and part.action == "crash Replica" for part in why.spare)


def test_what_is_not_inductive_has_no_reasons() -> None:
    why = found(TWOS.replace("s.n != 3", "s.n != 11"), "even")
    assert (why.failed, why.needed) == ("it is not inductive, up to k = 3", ())


def test_a_proof_that_takes_more_steps_has_reasons_too() -> None:
    """From 1 a step of two meets 3; but to 1 no step leads."""
    why = found(TWOS, "even")
    assert (why.failed, why.steps) == (None, 2)
    assert ("rest", "s.n == 20") in words(why.needed)
    assert {("up", "s.n < 19"), ("up", "s.ready")} <= words(why.spare)
    assert "even" not in explore(system_of(TWOS.replace(" and s.ready", ""))).decided
    without = LOCK[: LOCK.index("lemma")] + LOCK[LOCK.index("check default") :]
    why = found(without, "one")
    assert (why.failed, why.steps) == (None, 3)
    assert ("take", "HOLDER == none") in words(why.needed)
    freed = (
        without.replace(" and turns < 3", "")
        .replace("  turns := turns + 1\n", "")
        .replace("shared turns: 0..3 = 0\n", "")
    )
    assert "one" not in explore(system_of(freed)).decided


def test_what_shorter_runs_need_is_needed() -> None:
    """Nothing leads to 0 and 1, so that with two states nothing is needed of the step; but a run begins with 0."""
    text = TWOS.replace("s.n != 3", "s.n != 3 and s.n != 2").replace("s.n < 19", "s.n != 0 and s.n < 19")
    why = found(text, "even")
    assert (why.failed, why.steps) == (None, 2)
    assert ("up", "s.n != 0") in words(why.needed)


def test_what_few_steps_break_has_no_reasons() -> None:
    why = found(TWOS.replace("s.n != 3", "s.n != 2"), "even")
    assert why.failed is not None


def test_the_command_tells_lemmas_needs_and_settings(tmp_path: Path) -> None:
    spec = tmp_path / "lock.ha"
    spec.write_text(LOCK, encoding="utf-8")
    ended = hacheck("why", str(spec), columns=120)
    assert ended.code == 0, ended.err
    assert "because" in ended.out
    assert "take: only when HOLDER == none" in ended.out
    assert "it does without" in ended.out
    assert "holds at every depth" in ended.out
    assert "it needs: the conditions of the spec without which the proof fails" in " ".join(ended.out.split())
    election = hacheck("why", str(LEMMAS), "--settings", columns=120)
    assert "not proved with  votes_lost = on" in election.out


def test_the_command_says_where_there_is_no_proof(tmp_path: Path) -> None:
    spec = tmp_path / "lock.ha"
    spec.write_text(TWOS.replace("s.n != 3", "s.n != 11"), encoding="utf-8")
    ended = hacheck("why", str(spec))
    assert ended.code == 3
    assert "no proof: it is not inductive, up to k = 3" in ended.out
    assert "Only the lemmas of the spec were used" in ended.out
    command = next(line.strip() for line in ended.out.splitlines() if line.strip().startswith("hacheck verify"))
    assert command.endswith("--property even --engine induction")
    assert "not inductive" in hacheck(*shlex.split(command)[1:]).out
    assert "because:" not in ended.out


def test_the_command_tells_of_a_proof_that_takes_more_steps(tmp_path: Path) -> None:
    spec = tmp_path / "twos.ha"
    spec.write_text(TWOS, encoding="utf-8")
    ended = hacheck("why", str(spec))
    assert ended.code == 0, ended.out
    assert "even  holds at every depth (2-inductive)" in ended.out
