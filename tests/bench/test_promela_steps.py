"""The options that Promela is printed from make exactly the steps of the system, one for each outcome."""

from __future__ import annotations

from pathlib import Path

import promela_steps
import pytest
from msgspec.structs import replace
from promela_steps import Option, options
from systems import system_of

from hacheck.checker.explicit.portable.python_program import Wanted, generate, successors
from hacheck.compile.lowering.blocks import Block, Branch, Emit, Instance, Lowered, Stopped
from hacheck.compile.lowering.layout import pack
from hacheck.compile.lowering.system import lower
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import Assign, Binary, Choose, Constant, Domain, If, Local, System, Target, Unary, Variable
from hacheck.model.types import Bool, Range
from hacheck.supervise.recursion_limit import room_for_nesting
from tests.models import small
from tests.nightly import first_of, nightly
from tests.strategies import seeded_system

ROOT = Path(__file__).resolve().parents[2]
STATES_MAX = 300


def lowered_of(system: System, copies_max: int) -> tuple[Lowered, list[int]]:
    """A lowered system and its packed initial states."""
    initial = Interpreter(system).initial_states()
    lowered = lower(system, initial, copies_max)
    return lowered, [pack(lowered.layout, state) for state in initial]


def outcomes_max(block: Block) -> int:
    """The most outcomes of one run of a block."""
    total = 0
    for statement in block:
        if isinstance(statement, Emit | Stopped):
            total += 1
        elif isinstance(statement, Branch):
            total += max(outcomes_max(statement.then), outcomes_max(statement.otherwise))
    return total


def outcomes_min(block: Block) -> int:
    """The fewest outcomes of one run of a block."""
    total = 0
    for statement in block:
        if isinstance(statement, Emit):
            total += 1
        elif isinstance(statement, Branch):
            total += min(outcomes_min(statement.then), outcomes_min(statement.otherwise))
    return total


def as_instances(found: list[Option]) -> tuple[Instance, ...]:
    """Options as instances of the lowered form, which the portable engine's generator prints as well."""
    return tuple(
        Instance(option.instance.action, option.instance.arguments, option.guard, option.block) for option in found
    )


def assert_same_steps(system: System, copies_max: int) -> int:
    """Every state has the same steps, as often, by the same actions. Returns how many states were compared."""
    lowered, order = lowered_of(system, copies_max)
    with room_for_nesting():
        found = options(lowered)
    for option in found:
        assert outcomes_max(option.block) == 1
        assert outcomes_min(option.block) == 1
    printed = replace(lowered, instances=as_instances(found))
    codes = [generate(item, Wanted()) for item in (lowered, printed)]
    acting = [[instance.action for instance in item.instances] for item in (lowered, printed)]
    exact = all(option.exact for option in found)
    seen = set(order)
    for state in order:
        steps = [
            sorted((after, actions[by]) for after, by in successors(code, state) if exact or after != state)
            for code, actions in zip(codes, acting, strict=True)
        ]
        assert steps[0] == steps[1]
        for after, _ in steps[0]:
            if after not in seen and len(order) < STATES_MAX:
                seen.add(after)
                order.append(after)
    return len(order)


@pytest.mark.parametrize("first", first_of(range(3_000, 3_200, 50)))
def test_random_systems_have_the_same_steps(first: int) -> None:
    compared = [
        assert_same_steps(seeded_system(seed), copies) for seed in range(first, first + 50) for copies in (1, 4)
    ]
    assert sum(compared) > 1_000


def test_steps_are_the_same_where_guards_are_too_long_and_blocks_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promela_steps, "_GUARD_NODES_MAX", 3)
    monkeypatch.setattr(promela_steps, "_STATEMENTS_MAX", 3)
    compared = [assert_same_steps(seeded_system(seed), 1) for seed in range(3_200, 3_260)]
    assert sum(compared) > 1_000


def test_choice_becomes_as_many_options_as_it_has_outcomes() -> None:
    number = Variable("number", Range(0, 3))
    body = Choose("x", Domain(Range(0, 3), None, None)), Assign(Target(number), Local("x", Range(0, 3)))
    lowered, _ = lowered_of(small.system({number: 0}, small.action(*body)), 1)
    assert len(lowered.instances) == 1
    assert len(options(lowered)) == 4


def test_choice_of_which_one_branch_is_possible_stays_one_option() -> None:
    number, flag = Variable("number", Range(0, 3)), Variable("flag", Bool())
    wanted = Binary("==", Local("x", Bool()), flag)
    body = (
        Choose("x", Domain(Bool(), None, wanted)),
        If(Local("x", Bool()), (Assign(Target(number), Constant(3, Range(0, 3))),), ()),
        Assign(Target(flag), Unary("not", flag)),
    )
    lowered, _ = lowered_of(small.system({number: 0, flag: False}, small.action(*body)), 1)
    assert len(options(lowered)) == 1


@nightly
@pytest.mark.parametrize("check", ["full_disk", "default"])
def test_icestorm_has_the_same_steps(check: str) -> None:
    assert_same_steps(system_of(ROOT / "spec" / "icestorm.ha", check), 1)
