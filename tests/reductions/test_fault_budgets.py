"""What follows from fewer faults is what exploring with more of them finds; where that is not so, nothing follows."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from hacheck.api.specification import load, loads
from hacheck.api.verification import verify
from hacheck.checker.engine import Limits
from hacheck.checker.sweep.fault_budgets import FaultBudgets, carries_over, fault_budgets
from hacheck.model import ir
from hacheck.model.types import Range

ROOT = Path(__file__).resolve().parents[2]
SPEC = """system Pair "x"
param crashes = 1 in 0..4
param cuts = 1 in 0..4
param most = 1 in 0..4
node Server[2] { n: 0..4 = 0 }
action grow(s: Server) when s.n < 2 do s.n := s.n + 1
faults { crash Server up to crashes, cut Server - Server up to cuts, all together up to 4 }
invariant small: every s: Server satisfies s.n < 2 or up(other(s))
reachable grown: every s: Server satisfies s.n == 2
leads_to recovers(s: Server): not up(s) ~> up(s)
"""


def budgets_of(text: str, **settings: int) -> FaultBudgets:
    """The budgets of a spec under some settings."""
    found = fault_budgets(loads(text).system(None, settings)[0])
    assert found is not None
    return found


def test_one_system_is_another_with_larger_budgets_and_not_the_other_way_round() -> None:
    small, large, across = (budgets_of(SPEC, crashes=a, cuts=b) for a, b in ((1, 1), (2, 1), (1, 2)))
    assert dict(small.left) == {"budget.crash Server": 1, "budget.cut Server - Server": 1, "faults left": 4}
    assert small.grow_to(large)
    assert small.grow_to(small)
    assert small.grow_to(across)
    assert not large.grow_to(small)
    assert not large.grow_to(across)


def test_a_fault_that_is_left_out_makes_another_system() -> None:
    none, one = budgets_of(SPEC, crashes=0), budgets_of(SPEC, crashes=1)
    assert not none.grow_to(one)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("s.n < 2 do", "s.n < crashes do"),
        ("n: 0..4 = 0", "n: 0..4 = crashes"),
        ("s.n < 2 or", "s.n < crashes or"),
        ("crash Server up to crashes", "crash Server up to crashes when crashes < 3"),
        ("node Server[2]", "node Server[crashes + 1]"),
    ],
)
def test_where_a_budget_is_read_elsewhere_nothing_follows(before: str, after: str) -> None:
    text = SPEC.replace(before, after)
    if "Server[2]" in before:
        text = text.replace("up(other(s))", "up(s)")
    assert text != SPEC
    assert not budgets_of(text, crashes=2).grow_to(budgets_of(text, crashes=3))


def test_another_setting_makes_another_system_where_it_means_something() -> None:
    assert budgets_of(SPEC, most=1).grow_to(budgets_of(SPEC, most=2))  # nothing reads it
    text = SPEC.replace("s.n < 2 do", "s.n < most do")
    assert not budgets_of(text, most=1).grow_to(budgets_of(text, most=2))


def changed(system: ir.System, kind: str) -> ir.System:
    """A system of which something else depends on a budget."""
    name = next(one.name for one in system.variables if one.role == "budget")
    left = ir.Variable(name, Range(0, 1))
    some = ir.Binary("<", ir.Constant(0, Range(0, 0)), left)
    none = ir.Binary("==", left, ir.Constant(0, Range(0, 0)))
    grow = next(number for number, one in enumerate(system.actions) if one.name == "grow")
    crash = next(number for number, one in enumerate(system.actions) if one.kind == "fault")
    actions = list(system.actions)
    properties = list(system.properties)
    if kind == "guard of a step":
        actions[grow] = replace(actions[grow], guard=ir.Binary("and", actions[grow].guard, some))
    elif kind == "guard of a fault":
        actions[crash] = replace(actions[crash], guard=ir.Binary("and", actions[crash].guard, none))
    elif kind == "body of a fault":
        more = ir.Assign(ir.Target(left), ir.Constant(0, Range(0, 0)))
        actions[crash] = replace(actions[crash], body=(*actions[crash].body, more))
    elif kind == "property":
        properties[0] = replace(properties[0], goal=some)
    else:
        properties[0] = replace(properties[0], fairness=(ir.Fairness(actions[crash].handler, False),))
    return replace(system, actions=tuple(actions), properties=tuple(properties))


@pytest.mark.parametrize(
    "kind", ["guard of a step", "guard of a fault", "body of a fault", "property", "fairness of a fault"]
)
def test_budgets_that_something_else_depends_on_are_none(kind: str) -> None:
    system = loads(SPEC).system(None, {"crashes": 1})[0]
    assert fault_budgets(system) is not None
    assert fault_budgets(changed(system, kind)) is None


def test_a_system_without_budgets_has_none() -> None:
    assert fault_budgets(loads(SPEC.replace("faults {", "faults { wipe Server }\n#")).system()[0]) is None


CASES = (
    ("examples/raft/raft.ha", "crashes"),
    ("examples/drbd_pacemaker/drbd_pacemaker.ha", "budget"),
    ("spec/fiorano_shared.ha", "crashes"),
    ("spec/artemis_shared_store.ha", "crashes"),
)
FEW = Limits(states_max=100_000)


@pytest.mark.parametrize(("name", "setting"), CASES)
def test_verdicts_that_carry_over_are_those_of_the_larger_system(name: str, setting: str) -> None:
    spec = load(ROOT / name)
    followed = 0
    for check in spec.checks[:4]:
        systems = [fault_budgets(spec.system(check.name, {setting: count})[0]) for count in (1, 2)]
        if systems[0] is None or systems[1] is None or not systems[0].grow_to(systems[1]):
            continue
        fewer, more = (
            verify(spec, check=check.name, settings={setting: count}, limits=FEW, threads=1) for count in (1, 2)
        )
        for one in fewer.verdicts:
            other = more.verdict(one.name, check.name)
            if carries_over(one.verdict, one.kind) and other.verdict != "unknown":
                assert other.verdict == one.verdict
                runs = [found.counterexample or found.witness for found in (one, other)]
                assert runs[0] is None or len(runs[1].steps) <= len(runs[0].steps)
                followed += 1
    assert followed
