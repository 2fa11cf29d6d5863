"""Step invariants as invariants over states: a variable for each says whether a step broke it so far."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model.types import Bool

SUFFIX = " was broken"
"""What the name of such a variable ends with; no name of a spec has a blank."""


def with_step_monitors(system: ir.System, names: Collection[str]) -> ir.System:
    """The system in which these step invariants are invariants: that no step broke them so far. A step of any action
    counts, a fault, too."""
    steps = [one for one in system.properties if one.kind == "step" and one.name in names]
    if not steps:
        return system
    monitors = {one.name: ir.Variable(f"{one.name}{SUFFIX}", Bool()) for one in steps}
    added = tuple(ir.StateVariable(monitor.name, Bool(), False, None, "shared") for monitor in monitors.values())
    noted = tuple(_noted(monitors[one.name], one.goal) for one in steps)
    properties = tuple(
        replace(one, kind="invariant", goal=ir.Unary("not", monitors[one.name])) if one in steps else one
        for one in system.properties
    )
    actions = tuple(replace(action, body=(*action.body, *noted)) for action in system.actions)
    return replace(system, variables=(*system.variables, *added), properties=properties, actions=actions)


def _noted(monitor: ir.Variable, goal: ir.Expression) -> ir.Assign:
    return ir.Assign(ir.Target(monitor), ir.Binary("or", monitor, ir.Unary("not", goal)))


def is_monitor(goal: ir.Expression) -> bool:
    """Whether an invariant is a step invariant that was made one."""
    return isinstance(goal, ir.Unary) and isinstance(goal.operand, ir.Variable) and goal.operand.name.endswith(SUFFIX)
