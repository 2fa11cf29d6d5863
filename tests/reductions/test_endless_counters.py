"""Counters without an end: nothing that the real system does is missed, and every run is one of it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

import pytest

from hacheck.checker.engine import Answer, Limits
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.checker.explicit.native_program import explored_form, lowered_form
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.checker.explicit.symmetry.canonical_states import canonicaliser
from hacheck.checker.verify import Prepared, Question, not_reached, run_check
from hacheck.compile.codegen.word_layout import arranged_in_words, word_count
from hacheck.compile.kernels.to_llvm import kernel_ir_of_source
from hacheck.compile.kernels.to_python import as_python_of_source
from hacheck.compile.lowering.layout import Layout, pack, unpack
from hacheck.compile.machine.compiler import KERNEL_LEVELS, compile_object, link
from hacheck.model import ir
from hacheck.model.counters import value_distances as gaps_module
from hacheck.model.counters.counter_discipline import Uses, uses_of
from hacheck.model.counters.value_distances import FULL, HIGH, Distances, followed
from hacheck.model.interpreter import Taken, replay
from hacheck.model.language import load
from hacheck.model.runs import State
from hacheck.model.system_text import parse_system, print_system
from tests.nightly import first_of
from tests.reductions.following import Both, both, check_steps, system_of
from tests.reductions.searching import representatives
from tests.strategies.counting import Specs

LIMITS = Limits(states_max=30_000)


def _go_on(_: object) -> bool:
    return True


def _random(seeds: Sequence[int]) -> list[Both]:
    return [pair for seed in seeds if (pair := both(system_of(Specs(seed).spec()))) is not None]


# ---- what is followed ----


@pytest.mark.parametrize("first", first_of(range(0, 2_000, 4)))
def test_every_step_of_a_system_is_one_of_what_is_followed(first: int) -> None:
    for pair in _random(range(first, first + 4)):
        check_steps(pair, 40)


def test_the_comparison_notices_what_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It fails where the next greater value is never near, always near, or distances are forgotten too soon."""
    choice = gaps_module._Raising.choice

    def never(raising: gaps_module._Raising, raised: ir.Binary) -> tuple[ir.Statement, ...]:
        return choice(raising, raised)[:1]

    def always(raising: gaps_module._Raising, raised: ir.Binary) -> tuple[ir.Statement, ...]:
        cut, _, noted = choice(raising, raised)
        assert isinstance(noted, ir.Assign)
        return cut, ir.Assign(noted.target, raised)

    for name, wrong in (("never", never), ("always", always)):
        with monkeypatch.context() as patch:
            patch.setattr(gaps_module._Raising, "choice", wrong)
            assert _is_noticed(), name
    with monkeypatch.context() as patch:
        patch.setattr(Uses, "exact_up_to", property(lambda uses: uses.offset + 1))
        assert _is_noticed()


def _is_noticed() -> bool:
    for seed in range(60):
        for pair in _random([seed]):
            try:
                check_steps(pair, 40)
            except AssertionError:
                return True
    return False


# ---- representatives ----


def _canonical(pair: Both) -> tuple[Callable[..., int], Callable[..., int], Layout]:
    """The kernel that finds representatives, run as Python and compiled."""
    form = lowered_form(pair.made.system, (), True, pair.made.distances)
    lowered = arranged_in_words(form.lowered)
    text = canonicaliser(pair.made.system, lowered.layout, (), pair.made.distances).canonical
    compiled = link([compile_object(kernel_ir_of_source(text, {}, ["canonical"]), KERNEL_LEVELS)])
    python = as_python_of_source(text, {})["canonical"]
    return python, compiled.function("canonical", 2), lowered.layout


def _raw_states(pair: Both, count: int) -> list[State]:
    """What steps of the followed system lead to."""
    order = [pair.closed(state) for state in pair.followed.initial_states()]
    found: dict[State, None] = {}
    place = 0
    while place < len(order) and len(found) < count:
        for outcome in pair.followed.outcomes(order[place]):
            if isinstance(outcome, Taken) and outcome.step.state not in found:
                found[outcome.step.state] = None
                standing = pair.closed(outcome.step.state)
                order += [standing] if standing not in order else []
        place += 1
    return list(found)


@pytest.mark.parametrize("first", first_of(range(5_000, 5_200, 5)))
def test_the_kernel_finds_what_stands_for_a_state(first: int) -> None:
    for pair in _random(range(first, first + 5)):
        python, compiled, layout = _canonical(pair)
        raw = _raw_states(pair, 60)
        packed = [pack(layout, state) for state in raw]
        expected = [pack(layout, pair.closed(state)) for state in raw]
        count = word_count(layout)
        assert representatives(python, count, packed) == expected
        assert representatives(compiled, count, packed) == expected


CROWDED = """system Crowded "Many values."
type Term = counter up to 3 or more
node S[2] ranked { kept: map 0..15 to Term = 0  a: Term = 0 }
action raise(s: S) do s.a := s.a + 1
action keep(s: S) do
  choose k: 0..15
  s.kept[k] := s.a
reachable above: some s: S, k: 0..15 where s.kept[k] > s.a
"""


def test_where_there_is_no_room_values_stay_in_their_order_and_no_more_is_raised() -> None:
    pair = both(system_of(CROWDED))
    assert pair is not None
    python, compiled, layout = _canonical(pair)
    chance, full = random.Random(1), 0
    for _ in range(200):
        some = (chance.sample(range(HIGH + 1), count) for count in (3, 20))
        levels = chance.choice((range(0, HIGH, 2), *some))
        drawn = [*levels, *chance.choices(levels, k=32)][:32]
        kept = tuple(drawn[:16]), tuple(drawn[16:])
        state = (kept, (chance.choice(levels), chance.choice(levels)), 0)
        (packed,) = representatives(python, word_count(layout), [pack(layout, state)])
        assert representatives(compiled, word_count(layout), [pack(layout, state)]) == [packed]
        after = unpack(layout, packed)
        before_values, after_values = _values(state), _values(after)
        pairs = sorted(set(zip(before_values, after_values, strict=True)))
        assert [new for _, new in pairs] == sorted({new for _, new in pairs})
        distances = [(b[0] - a[0], b[1] - a[1]) for a, b in zip([(0, 0), *pairs], pairs, strict=False)]
        assert all(new == min(old, 3) or (old, new) == (2, 3) or after[2] == FULL for old, new in distances if old)
        assert all(new >= 2 for old, new in distances if old >= 2)
        full += after[2] == FULL
        assert after[2] in (0, FULL)
    assert 0 < full < 200


def _values(state: State) -> list[int]:
    kept, a, _ = state
    return [*kept[0], *kept[1], *a]


# ---- verdicts ----


def _bounded(text: str, bound: int) -> ir.System:
    return system_of(re.sub(r"counter up to \d+ or more", f"counter up to {bound}", text))


def _confirmed(system: ir.System, answer: Answer) -> None:
    for found in answer.properties:
        if found.run is not None:
            assert replay(system, found.run) is None, found
    if answer.error is not None:
        assert replay(system, answer.error) is None


@pytest.mark.parametrize("seed", first_of(range(20_000, 20_400), 3))
def test_verdicts_are_those_of_every_bound_that_is_great_enough(seed: int) -> None:
    """A violation within a bound is found, and none is shorter; what is violated is so within a bound as great as the
    run is long."""
    text = Specs(seed).spec()
    system = system_of(text)
    answer = NativeEngine().check(system, (), LIMITS, _go_on)
    _confirmed(system, answer)
    unsure = " ".join(answer.notes)
    mine = {found.name: found for found in answer.properties}
    for bound in (1, 2, 4):
        within = PortableEngine().check(_bounded(text, bound), (), Limits(states_max=3_000), _go_on)
        for other in within.properties:
            found = mine[other.name]
            if found.name in unsure or uses_of(system, "Term").obstacles:
                continue
            if other.verdict == "violated":
                assert other.run is not None
                assert found.verdict in ("violated", "unknown"), (seed, bound, found)
                if found.verdict == "violated":
                    assert found.run is not None
                    assert len(found.run.steps) <= len(other.run.steps)
                    if within.coverage.complete and len(found.run.steps) < bound:
                        assert len(found.run.steps) == len(other.run.steps)
            elif other.verdict == "holds" and found.verdict == "violated" and answer.error is None:
                assert found.run is not None
                assert len(found.run.steps) >= bound or not within.coverage.complete


def _answer(text: str) -> Answer:
    system = system_of(text)
    answer = NativeEngine().check(system, (), LIMITS, _go_on)
    _confirmed(system, answer)
    return answer


LEAD = """system Lead "One is five ahead, the other comes three nearer."
type Term = counter up to {bound} or more
node S {{ a: Term = 0  b: Term = 0  left: 0..5 = 5  steps: 0..3 = 0 }}
action lead(s: S) when s.left > 0 do
  s.left := s.left - 1
  s.a := s.a + 1
action follow(s: S) when s.left == 0 and s.steps < 3 do
  s.steps := s.steps + 1
  s.b := s.b + 1
invariant never_caught: S.left > 0 or S.a != S.b
reachable near: S.left == 0 and S.a == S.b + 1
reachable caught: S.left == 0 and S.a == S.b
"""


def test_what_need_be_no_run_is_decided_up_to_the_bound() -> None:
    """Distances of five are forgotten, so the one behind might catch up; it never does."""
    answer = _answer(LEAD.format(bound=5))
    verdicts = {found.name: found.verdict for found in answer.properties}
    assert verdicts == {"never_caught": "holds", "near": "violated", "caught": "violated"}
    assert any("never_caught" in note and "runs found beyond it may not exist" in note for note in answer.notes)
    short = {found.name: found for found in _answer(LEAD.format(bound=2)).properties}
    assert short["never_caught"].scope.endswith("Term up to 2 (1 step beyond)")


def test_a_step_that_raises_a_value_in_vain_is_no_way_out_of_a_dead_end() -> None:
    text = """system Vain "What is raised is put back."
type Term = counter up to 3 or more
node S { a: Term = 0  b: Term = 0 }
action raise(s: S) when s.b <= s.a do s.b := s.b + 1
action vain(s: S) do
  s.a := s.b + 1
  s.a := 0
deadlock_free alive
"""
    (found,) = _answer(text).properties
    assert found.verdict == "violated"
    assert found.run is not None
    assert len(found.run.steps) == 1


def test_a_counter_that_grows_in_a_loop_is_no_lasso_that_could_be_shown() -> None:
    """What repeats is the state but for its numbers; nobody says "holds" of it, and nobody shows a run that is none."""
    text = """system Ever "Terms grow for ever."
type Term = counter up to 3 or more
node S { a: Term = 0  done: bool = false }
action raise(s: S) do s.a := s.a + 1
action finish_it(s: S) do s.done := true
eventually finished: S.done
eventually raised: S.a > 0
  fair raise
eventually settled: S.done
  fair raise
"""
    answers = {found.name: found for found in _answer(text).properties}
    assert answers["finished"].verdict == "violated"
    assert answers["raised"].verdict == "holds"
    assert answers["raised"].scope == "every reachable state"
    assert answers["settled"].verdict == "unknown"


def test_more_values_than_fit_are_a_bound_that_is_named() -> None:
    text = """system Crowd "Values two apart."
type Term = counter up to 3 or more
node S { top: Term = 0  next: 0..40 = 0  half: bool = false  kept: map 0..40 to Term = 0 }
action raise(s: S) when s.next < 40 do
  s.top := s.top + 1
  if s.half then {
    s.kept[s.next] := s.top
    s.next := s.next + 1
  }
  s.half := not s.half
reachable above: some k: 0..40 where S.kept[k] > S.top
"""
    (found,) = _answer(text).properties
    assert found.verdict == "violated"
    assert "as many different Terms at a time as fit" in found.scope


# ---- where it is done ----

OBSTACLES = (
    ("s.n := s.n + 2", "is added to something else than 1"),
    ("s.n := s.n + s.n", "is added to something else than 1"),
    ("s.plain := s.n", "is taken for a plain number"),
    ("s.n := s.plain", "takes the value of a plain number"),
    ("if s.n - 1 > 2 then s.n := 0", "is subtracted or multiplied"),
    ("if s.n == 9 then s.n := 0", "is compared with or set to 9"),
    ("if s.n == s.plain then s.n := 0", "takes the value of a plain number"),
    ("s.n := s.n + 1\n  s.m := s.m + 1", "is raised twice in one step"),
    ("for k: 0..1 do s.n := s.n + 1", "is raised in a `for`"),
    ("choose k: Term\n  s.n := k", "is gone through"),
    ("s.plain := s.counts[s.n]", "is a position or a key"),
    ("s.n := if s.o == none then 0 else value(s.o) + 1", "is raised where it may have no value"),
)


@pytest.mark.parametrize(("line", "reason"), OBSTACLES)
def test_what_forbids_to_forget_distances_is_named(line: str, reason: str) -> None:
    text = f"""system Uses "What is done with a counter."
type Term = counter up to 2 or more
node S {{ n: Term = 0  m: Term = 0  o: Term? = none  plain: 0..3 = 0  counts: map 0..2 to 0..3 = 0 }}
action go(s: S) do
  {line}
invariant fine: S.n == S.n
"""
    system = system_of(text)
    made = followed(system)
    assert not made.distances
    ((counter, reasons),) = made.bounded
    assert counter == "Term"
    assert any(reason in one and "line 4" in one for one in reasons), reasons
    notes = NativeEngine().check(system, (), LIMITS, _go_on).notes
    assert any(reason in note for note in notes)


def test_settings_decide_whether_a_counter_has_an_end() -> None:
    text = LEAD.format(bound=2).replace("or more", "or more (if endless)")
    for setting, found in (("on", ("Term",)), ("off", ())):
        assert system_of(text.replace("type Term", f"switch endless = {setting}\ntype Term")).endless == found


def test_a_condition_that_settings_do_not_decide_is_refused() -> None:
    text = LEAD.format(bound=2).replace("or more", "or more (if up(S))")
    loaded = load(text, "test.ha")
    assert loaded.specification is None
    assert loaded.diagnostics[0].code.startswith("HA")


def test_a_counter_without_an_end_is_no_bound_that_was_not_reached() -> None:
    system = system_of(LEAD.format(bound=9))
    question, engine = Question("default", ""), NativeEngine()
    for asked, spare in (((), ()), ((), ("Term",))):
        result = run_check(Prepared(question, system, asked), engine, LIMITS, _go_on, replay)
        assert tuple(name for name, _ in not_reached(result)) == spare
        engine = NativeEngine(reductions=False)


def test_without_reductions_a_counter_ends_at_its_bound() -> None:
    system = system_of(LEAD.format(bound=2))
    answer = NativeEngine(reductions=False).check(system, (), LIMITS, _go_on)
    assert answer.coverage.bounds_reached == (("Term", 1),)
    assert explored_form(system, False).system.endless == ()


def test_the_text_of_a_system_says_which_counters_have_no_end() -> None:
    system = system_of(LEAD.format(bound=2))
    assert system.endless == ("Term",)
    assert parse_system(print_system(system)) == system


def test_a_distance_is_kept_as_far_as_a_comparison_can_tell() -> None:
    """Exact distances are those that a step, which raises a value by one, and a comparison can tell apart."""
    text = LEAD.format(bound=3).replace("S.a == S.b + 1", "S.a == S.b + 1 + 1")
    assert uses_of(system_of(text), "Term").exact_up_to == 4
    assert followed(system_of(text)).distances == (Distances("Term", 0, 4),)
