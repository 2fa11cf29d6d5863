"""Two systems of which one only allows more faults: what is violated in the smaller one is violated in the larger one.

Every run of the smaller system is one of the larger, step by step, with more left of the budgets: budgets are read by
nothing but the guards `0 < budget` of faults, which more makes true all the more, and a fault takes one. So a run that
violates a property, and one that reaches something, is one there, too; a shorter one may be there besides. On infinite
runs this needs that no fault is fair, since a fault that can happen more often could then not be put off.

That is not taken from the text of a spec: both systems are compared, part by part. A budget of 0 leaves its fault out
altogether, with variables and steps of its own, so nothing follows from that to a budget of 1.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable

from msgspec import Struct
from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model.rewrite import Tree, conjuncts, walk
from hacheck.model.system_text import print_system
from hacheck.model.types import Range


class FaultBudgets(Struct, frozen=True):
    """How often each fault of a system may happen, and what the rest of the system is (`shape`, a digest)."""

    left: tuple[tuple[str, int], ...]
    shape: str

    def grow_to(self, larger: FaultBudgets) -> bool:
        """Whether the other system is this one with the same budgets or larger ones."""
        mine, others = dict(self.left), dict(larger.left)
        same = self.shape == larger.shape and mine.keys() == others.keys()
        return same and all(count <= others[name] for name, count in mine.items())


def fault_budgets(system: ir.System) -> FaultBudgets | None:
    """The budgets of a system; `None` where it has none, or where something else than faults depends on them. Cost:
    the size of the system, some 0.1 s for a large one."""
    found = {one.name: one for one in system.variables if one.role == "budget"}
    if not found or not _only_spent(system, found.keys()):
        return None
    left = tuple((name, int(str(one.initial))) for name, one in found.items())
    return FaultBudgets(left, _shape(system, found.keys()))


def carries_over(verdict: str, kind: ir.PropertyKind) -> bool:
    """Whether a verdict is one that a run shows, which larger budgets do not take away."""
    return verdict == ("holds" if kind == "reachable" else "violated")


def _only_spent(system: ir.System, budgets: Collection[str]) -> bool:
    """Whether budgets are in guards of faults, which take one, and nowhere else; and no such fault is fair."""
    elsewhere: list[Tree] = [*system.initial]
    for prop in system.properties:
        elsewhere += [prop.goal, *([] if prop.premise is None else [prop.premise])]
    for one in (*system.definitions, *system.promises):
        elsewhere.append(one.value)
    for action in system.actions:
        parts = _other_reads(action, budgets) if action.kind == "fault" else [action.guard, *action.body]
        elsewhere += parts
    if _read(elsewhere, budgets):
        return False
    spending = {one.handler for one in system.actions if one.kind == "fault" and _read(one.body, budgets)}
    return not any(fair.handler in spending for prop in system.properties for fair in prop.fairness)


def _other_reads(action: ir.Action, budgets: Collection[str]) -> list[Tree]:
    """The parts of a fault that are neither `0 < budget` in its guard nor `budget := budget - 1` in its body."""
    zero, one = ir.Constant(0, Range(0, 0)), ir.Constant(1, Range(1, 1))
    found: list[Tree] = []
    for condition in conjuncts(action.guard):
        match condition:
            case ir.Binary("<", first, ir.Variable(name)) if first == zero and name in budgets:
                continue
        found.append(condition)
    for statement in action.body:
        match statement:
            case ir.Assign(ir.Target(ir.Variable(name), ()), ir.Binary("-", ir.Variable(same), last)) if (
                name in budgets and same == name and last == one
            ):
                continue
        found.append(statement)
    return found


def _read(trees: Iterable[Tree], budgets: Collection[str]) -> bool:
    return any(isinstance(part, ir.Variable) and part.name in budgets for tree in trees for part in walk(tree))


def _shape(system: ir.System, budgets: Collection[str]) -> str:
    """A digest of all that explorations depend on, but how large the budgets are."""
    variables = tuple(
        replace(one, type=Range(0, 1), initial=1) if one.name in budgets else one for one in system.variables
    )
    text = print_system(replace(system, variables=variables, settings=(), faults=(), observations=()))
    for name in budgets:
        text = re.sub(rf"\(Variable {re.escape(json.dumps(name, ensure_ascii=False))} 0\.\.\d+\)", "(budget)", text)
    return hashlib.sha256(text.encode()).hexdigest()
