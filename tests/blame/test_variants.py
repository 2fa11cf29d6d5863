"""Systems that differ in what their steps do are one system with a constant, in which each still is what it was."""

from __future__ import annotations

import random
from collections.abc import Iterator

from msgspec.structs import replace

from hacheck.checker.blame.variant_system import can_join, joined_bodies, joined_system, whole_bodies
from hacheck.model import ir
from hacheck.model.evaluation import EvaluationError
from hacheck.model.interpreter import Failed, Interpreter, StoppedAtBound, Taken
from hacheck.model.rewrite import rebuild
from hacheck.model.runs import State
from tests.properties.scale import seeds
from tests.strategies import seeded_system


def changed(body: tuple[ir.Statement, ...], chance: random.Random) -> tuple[ir.Statement, ...]:
    """A body with some statements left out, with a condition the other way round, or said twice."""
    made: list[ir.Statement] = []
    for one in body:
        match one:
            case ir.If(condition, then, otherwise) if chance.random() < 0.7:
                turned = ir.Unary("not", condition) if chance.random() < 0.4 else condition
                made.append(ir.If(turned, changed(then, chance), changed(otherwise, chance)))
            case ir.ForEach():
                made.append(replace(one, body=changed(one.body, chance)))
            case ir.Assign() if chance.random() < 0.3:
                if chance.random() < 0.5:
                    made += [one, one]
            case ir.Let(name, kind, value) if chance.random() < 0.5:  # its name lasts to the end of the block
                said_again = ir.Let(name, kind, ir.Conditional(ir.TRUE, value, value))
                made += [ir.If(ir.TRUE, (), ()), said_again]
            case _:
                made.append(one)
    return tuple(made)


def other_values(body: tuple[ir.Statement, ...], chance: random.Random) -> tuple[ir.Statement, ...]:
    """A body in which some numbers are others of the same type."""

    def change(node: object) -> object:
        if isinstance(node, ir.Constant) and isinstance(node.value, bool) and chance.random() < 0.5:
            return ir.Constant(not node.value, node.type)
        return rebuild(node, change)

    return tuple(change(one) for one in body)  # type: ignore[misc]


def variants(system: ir.System, chance: random.Random) -> Iterator[ir.System]:
    """The system, and some in which the steps differ; in one of them an action is missing."""
    yield system
    for _ in range(3):
        treat = chance.choice([changed, other_values])
        actions = [
            one if chance.random() < 0.4 else replace(one, body=treat(one.body, chance)) for one in system.actions
        ]
        place = chance.randrange(len(actions))
        actions[place] = replace(actions[place], guard=ir.Unary("not", actions[place].guard))
        yield replace(system, actions=tuple(actions))
    yield replace(system, actions=system.actions[1:])


def outcomes(system: ir.System, state: State) -> set[tuple[object, ...]]:
    """What may happen in a state, by the names of actions: their arguments and choices, and the state after it, the
    bound that is met or the words of an error."""
    found: set[tuple[object, ...]] = set()
    for one in Interpreter(system).outcomes(state):
        match one:
            case Taken(step):
                found.add((system.actions[step.action].name, step.arguments, step.choices, step.state))
            case StoppedAtBound(action, arguments, choices, bound):
                found.add((system.actions[action].name, arguments, choices, bound))
            case Failed(error):
                found.add((system.actions[error.action].name, error.arguments, error.choices, error.message))
    return found


@seeds(93_000, 400, together=50)
def test_each_system_steps_within_the_joined_one_as_by_itself(seeds: range) -> None:
    """In every state that is reached, each system has the outcomes that the joined one has with its constant."""
    compared = differ = 0
    for seed in seeds:
        chance = random.Random(seed)
        base = seeded_system(seed, risky=False)
        asked = base.properties[0].name
        systems = list(variants(base, chance))
        assert all(can_join(base, one, asked) for one in systems)
        for join in (joined_bodies, whole_bodies):
            try:
                made = joined_system(systems, asked, join)
            except EvaluationError:
                continue
            for place, system in enumerate(systems):
                compared += compare(system, made.system, place)
                differ += system.actions != base.actions
    assert compared > 2_000
    assert differ


def compare(system: ir.System, joined: ir.System, place: int) -> int:
    """How many states were compared."""
    interpreter = Interpreter(system)
    waiting = list(interpreter.initial_states())[:2]
    seen = set(waiting)
    compared = 0
    while waiting and compared < 12:
        state = waiting.pop(0)
        compared += 1
        wanted = outcomes(system, state)
        assert outcomes(joined, (*state, place)) == {(*one[:-1], _with(one[-1], place)) for one in wanted}
        following = [one[-1] for one in sorted(wanted, key=repr) if isinstance(one[-1], tuple)]
        waiting += [one for one in following if one not in seen]
        seen.update(following)
    return compared


def _with(end: object, place: int) -> object:
    return (*end, place) if isinstance(end, tuple) else end
