"""Several counterexamples: on small specs where they are known, and on random systems beside a plain search."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from hacheck.checker.blame.other_runs import OtherRuns, other_runs
from hacheck.checker.blame.trials import Subject, is_violated
from hacheck.checker.engine import Limits
from hacheck.model import ir
from hacheck.model.evaluation import EvaluationError
from hacheck.model.interpreter import Failed, Interpreter, Taken, replay
from hacheck.model.language import load
from hacheck.model.runs import Run
from tests.blame.test_trials_by_brute_force import SAFETY, STATES_MAX, TooMany, counterexample, go_on
from tests.cli.command import hacheck
from tests.properties.scale import seeds
from tests.strategies import seeded_system

LOST = """system Lost "Three ways to lose the only copy."
node Server[2] symmetric { durable on_disk: bool = false  memory: bool = false }
ghost acknowledged: bool = false
action take(s: Server) when not s.memory do
  s.memory := true
  acknowledged := true
action flush(s: Server) when s.memory do s.on_disk := true
environment action format(s: Server) do
  s.on_disk := false
  s.memory := false
faults { crash Server up to 2, wipe Server up to 1 }
invariant kept "what was acknowledged is somewhere": acknowledged implies some s: Server where s.memory or s.on_disk
"""

PARTS = """system Parts "Two parts of a property, broken by the same actions."
node Server { n: 0..3 = 0  m: 0..3 = 0 }
action count(s: Server) when s.n < 3 do
  s.n := s.n + 1
  choose more: bool
  if more then s.m := s.m + 1
invariant low: Server.n >= 0 and Server.n < 2 and Server.m < 1
"""

WAITING = """system Waiting "Served, unless something stops it."
node Server { done: bool = false  off: bool = false  broken: bool = false }
action serve(s: Server) when not s.off and not s.broken do s.done := true
environment action switch_off(s: Server) do s.off := true
environment action break(s: Server) do s.broken := true
eventually served: Server.done
  fair serve
"""

Needs = tuple[frozenset[tuple[str, int]], frozenset[str]]


def needs(system: ir.System, run: Run) -> Needs:
    """How often each fault of a run happens, and which other actions do."""
    times = Counter(system.actions[step.action].name for step in run.steps)
    faults = {action.name for action in system.actions if action.kind == "fault"}
    return frozenset((name, many) for name, many in times.items() if name in faults), frozenset(set(times) - faults)


def found_in(text: str, name: str, wanted: int) -> tuple[ir.System, Run, OtherRuns]:
    loaded = load(text, "some.ha")
    assert loaded.specification is not None
    system = loaded.specification.instantiate({}).system
    assert system is not None
    (prop,) = (one for one in system.properties if one.name == name)
    from hacheck.checker.explicit.portable.portable_engine import PortableEngine

    answer = PortableEngine().check(system, (name,), Limits(), go_on)
    (run,) = (one.run for one in answer.properties if one.name == name)
    assert run is not None
    found = other_runs(Subject(system, prop, run), wanted, Limits(), go_on)
    assert all(replay(system, one.run) is None for one in found.runs)
    return system, run, found


def test_each_differs_in_faults_or_actions_and_there_are_no_others() -> None:
    system, run, found = found_in(LOST, "kept", 8)
    all_needs = [needs(system, one) for one in (run, *(one.run for one in found.runs))]
    assert len(set(all_needs)) == len(all_needs) == 3
    assert {frozenset(actions) - {"take"} for _, actions in all_needs} == {frozenset({"format"}), frozenset()}
    assert {fault for faults, _ in all_needs for fault in faults} == {("crash Server", 1), ("wipe Server", 1)}
    assert found.exhausted
    assert "no other counterexample within these bounds" in found.words
    assert [len(one.run.steps) for one in found.runs] == [2, 2]
    assert {one.words for one in found.runs} == {
        "without format; with crash Server",
        "without format; with wipe Server",
    }


def test_fewer_are_found_where_fewer_are_wanted() -> None:
    _, _, found = found_in(LOST, "kept", 1)
    assert len(found.runs) == 1
    assert not found.words


def test_another_part_of_the_property_breaks() -> None:
    system, run, found = found_in(PARTS, "low", 3)
    (other,) = found.runs
    assert needs(system, run) == needs(system, other.run)
    assert (len(run.steps), run.states[-1], len(other.run.steps), other.run.states[-1]) == (
        1,
        ((1,), (1,)),
        2,
        ((2,), (0,)),
    )
    assert other.words == "what breaks is (Server 1).n < 2"


def test_of_infinite_runs_a_fair_handler_is_never_left_out() -> None:
    system, run, found = found_in(WAITING, "served", 4)
    assert [needs(system, one) for one in (run, *(one.run for one in found.runs))] in (
        [(frozenset(), frozenset({"switch_off"})), (frozenset(), frozenset({"break"}))],
        [(frozenset(), frozenset({"break"})), (frozenset(), frozenset({"switch_off"}))],
    )
    assert not found.exhausted
    assert found.words == "no further counterexample was found"


def test_the_command_shows_and_writes_them(tmp_path: Path) -> None:
    spec, out = tmp_path / "lost.ha", tmp_path / "found.json"
    spec.write_text(LOST + "check default expect all hold\n", encoding="utf-8")
    done = hacheck("verify", str(spec), "--counterexamples", "3", "--json", str(out))
    assert done.code == 1
    assert "counterexample 2 of kept: 2 steps, 1 fault" in done.out
    assert "differs from the first: without format" in done.out
    others = json.loads(out.read_text(encoding="utf-8"))["checks"][0]["properties"][0]["others"]
    assert [len(one["run"]) for one in others["runs"]] == [3, 3]
    assert others["wanted"] == 2


def test_the_command_says_where_there_is_nothing_to_look_for(tmp_path: Path) -> None:
    spec = tmp_path / "lost.ha"
    spec.write_text(LOST + "check default expect kept violated\n", encoding="utf-8")
    done = hacheck("verify", str(spec), "--counterexamples", "3")
    assert done.code == 0
    assert "counterexamples: there is no counterexample to try" in done.out
    refused = hacheck("verify", "--all", "--counterexamples", "3")
    assert refused.code == 2
    assert "--counterexamples is about one spec" in refused.err


# ---- random systems ----


def violations(system: ir.System, prop: ir.Property) -> dict[Needs, int]:
    """The length of a shortest violation for each set of faults and actions that one has. Errors: `TooMany`."""
    interpreter = Interpreter(system)
    names = [one.name for one in system.actions]
    faults = [one.kind == "fault" for one in system.actions]
    level = [(state, (frozenset[tuple[str, int]](), frozenset[str]())) for state in interpreter.initial_states()]
    seen, found, length = set(level), dict[Needs, int](), 0
    while level:
        following = []
        for state, (times, actions) in level:
            if is_violated(interpreter, prop, Run(state, ())):
                found.setdefault((times, actions), length)
                continue
            for outcome in interpreter.outcomes(state):
                if isinstance(outcome, Failed):
                    raise TooMany
                if not isinstance(outcome, Taken):
                    continue
                name, after = names[outcome.step.action], outcome.step.state
                many = dict(times)
                if faults[outcome.step.action]:
                    many[name] = many.get(name, 0) + 1
                then = frozenset(many.items()), actions | ({name} - set(many))
                if prop.kind == "step" and not interpreter.holds_step(prop, state, after):
                    found.setdefault(then, length + 1)
                elif (after, then) not in seen:
                    seen.add((after, then))
                    following.append((after, then))
        if len(seen) > STATES_MAX:
            raise TooMany
        level, length = following, length + 1
    return found


def has(some: Needs, other: Needs) -> bool:
    """Whether one has all that another has."""
    times = dict(some[0])
    return other[1] <= some[1] and all(times.get(name, 0) >= many for name, many in other[0])


@seeds(97_000, 600, together=60)
def test_random_systems_have_no_other_violations(seeds: range) -> None:
    compared = several = 0
    for seed in seeds:
        system = seeded_system(seed, risky=False)
        last = len(system.actions) - 1
        renamed = tuple(replace(one, name=f"{one.name}_{place}") for place, one in enumerate(system.actions))
        system = replace(system, actions=(*renamed[:last], replace(renamed[last], kind="fault")))
        for prop in system.properties:
            if prop.kind not in SAFETY:
                continue
            try:
                run = counterexample(system, prop)
                if run is None:
                    continue
                every = violations(system, prop)
            except (TooMany, EvaluationError):
                continue
            others = other_runs(Subject(system, prop, run), 20, Limits(), go_on)
            first, known = needs(system, run), [needs(system, one.run) for one in others.runs]
            for one, found in zip(known, others.runs, strict=True):
                same_part = "what breaks" not in found.words
                assert every[one] == len(found.run.steps) if same_part else every[one] <= len(found.run.steps), seed
            if others.exhausted:
                assert all(any(has(each, one) for one in (first, *known)) for each in every), seed
            different = [length for each, length in every.items() if not has(each, first)]
            if known and first not in known:
                assert len(others.runs[0].run.steps) == min(different), seed
            assert bool(different) <= bool(known), seed
            compared, several = compared + 1, several + (len(known) > 1)
    assert compared > 5
    assert several > 0


@pytest.mark.parametrize("wanted", [1, 2])
def test_the_first_ones_are_the_shortest(wanted: int) -> None:
    _, _, every = found_in(LOST, "kept", 8)
    _, _, found = found_in(LOST, "kept", wanted)
    assert [one.words for one in found.runs] == [one.words for one in every.runs][:wanted]
