"""Which conditions keep a step from happening: none where it is possible, and without those named it would be."""

from __future__ import annotations

import random

from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model.evaluation import EvaluationError
from hacheck.model.failing_conditions import failing_conditions, why_impossible
from hacheck.model.interpreter import Interpreter, Taken, instances
from hacheck.model.language import load
from hacheck.model.render import show_expression
from hacheck.model.rewrite import conjuncts
from hacheck.model.runs import Run, State
from tests.properties.scale import seeds
from tests.strategies import seeded_system


def states_of(system: ir.System, chance: random.Random, count: int) -> list[State]:
    """Some states of a random walk."""
    interpreter = Interpreter(system)
    try:
        found = list(interpreter.initial_states())[:1]
        while found and len(found) < count:
            steps = [one.step.state for one in interpreter.outcomes(found[-1]) if isinstance(one, Taken)]
            if not steps:
                break
            found.append(chance.choice(steps))
    except EvaluationError:
        return []
    return found


def without(action: ir.Action, failing: set[str]) -> ir.Action:
    """The action without some conditions of its guard."""
    guard: ir.Expression = ir.TRUE
    for part in conjuncts(action.guard):
        if show_expression(part) not in failing:
            guard = part if guard == ir.TRUE else ir.Binary("and", guard, part)
    return replace(action, guard=guard)


@seeds(81_000, 120, together=40)
def test_step_is_possible_exactly_without_the_conditions_that_fail(seeds: range) -> None:
    possible = weakened = 0
    for seed in seeds:
        system, chance = seeded_system(seed), random.Random(seed)
        interpreter = Interpreter(system)
        for state in states_of(system, chance, 4):
            for number, action in enumerate(system.actions):
                for arguments in list(instances(action))[:6]:
                    outcomes = list(interpreter.outcomes_with(number, arguments, state))
                    failing = failing_conditions(system, state, number, arguments)
                    if outcomes:
                        assert not failing or failing[0].kind == "bound"
                        possible += 1
                        continue
                    names = {show_expression(part) for part in conjuncts(action.guard)}
                    if {one.text for one in failing} <= names:
                        actions = list(system.actions)
                        actions[number] = without(action, {one.text for one in failing})
                        changed = Interpreter(replace(system, actions=tuple(actions)))
                        assert list(changed.outcomes_with(number, arguments, state))
                        weakened += 1
    assert possible > 50
    assert weakened > 50


SPEC = """system Small
node Server[2] { state mode: { idle, busy, done } = idle  load: 0..3 = 0 }
message job(size: 0..3) from Server to Server up to 1
action start(s: Server, o: Server) when s.mode == idle and s.load < 2 and s != o do
  s.mode := busy
  step work when s.load == 0:
  s.mode := done
action stop(s: Server) when s.mode == done do s.mode := idle
on job(size) at n from m when n.load < 3 do n.load := size
action ask(s: Server, o: Server) do send job(1) to o
faults { crash Server up to 1 }
invariant fine: no s: Server where s.load == 3
"""


def test_words_name_the_condition_and_the_values_it_reads() -> None:
    loaded = load(SPEC, "small.ha")
    assert loaded.specification is not None, loaded.diagnostics
    system = loaded.specification.instantiate().system
    assert system is not None
    numbers = {action.name: number for number, action in enumerate(system.actions)}
    (start,) = Interpreter(system).initial_states()

    def words(action: str, *arguments: int) -> list[str]:
        return [one.words for one in failing_conditions(system, start, numbers[action], arguments)]

    assert words("start", 1, 2) == []
    assert words("start", 1, 1) == ["`s != o` is false (o is Server 1)"]
    assert words("start.work", 1) == ["`start` is not at `work`: it is not under way"]
    assert words("stop", 2) == ["`s.mode == done` is false (s.mode is idle)"]
    assert words("job", 1, 2) == ["no `job` is under way from Server 2 to Server 1"]
    assert words("restart Server", 1) == ["Server 1 is up"]


def test_first_impossible_step_of_a_run_has_its_reasons() -> None:
    specs = [load(text, "small.ha").specification for text in (SPEC, SPEC.replace("s.load < 2", "s.load > 2"))]
    assert all(specs)
    old, new = (one.instantiate().system for one in specs if one is not None)
    assert old is not None
    assert new is not None
    interpreter = Interpreter(old)
    (start,) = interpreter.initial_states()
    numbers = {action.name: number for number, action in enumerate(old.actions)}
    (step,) = [one.step for one in interpreter.outcomes_with(numbers["start"], (1, 2), start) if isinstance(one, Taken)]
    run = Run(start, (step,))
    assert why_impossible(old, run) == ()
    assert [one.words for one in why_impossible(new, run)] == ["`2 < s.load` is false (s.load is 0)"]
