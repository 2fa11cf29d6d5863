"""How many identities of a type a state and a step can hold: as many as its pool needs when the spec states no size."""

from __future__ import annotations

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.rewrite import statements, walk


def places(system: ir.System, name: str) -> int:
    """How many identities of one type the whole state can hold at once."""
    held = sum(_capacity(variable.type, name) for variable in system.variables)
    return held + max((_carried(action, name) for action in system.actions), default=0)


def _carried(action: ir.Action, name: str) -> int:
    """How many more one step can hold in its locals and draw in one statement."""
    lets = [part for part in statements(action.body) if isinstance(part, ir.Let)]
    bound = [part for part in statements(action.body) if isinstance(part, ir.Choose | ir.ForEach)]
    drawn = sum(1 for one in action.body for part in walk(one) if isinstance(part, ir.Fresh))
    carried = sum(_capacity(kind, name) for _, kind in action.parameters)
    carried += sum(_capacity(part.type, name) for part in lets)
    carried += sum(_capacity(part.domain.type, name) for part in bound)
    return carried + drawn


def _capacity(kind: ty.Type, name: str) -> int:
    match kind:
        case ty.Identity(found, _):
            return int(found == name)
        case ty.Option(element):
            return _capacity(element, name)
        case ty.Map(key, value):
            return ty.cardinality(key) * _capacity(value, name)
        case ty.Record(_, fields):
            return sum(_capacity(field, name) for _, field in fields)
        case ty.Sequence(element, capacity) | ty.Bag(element, capacity):
            return capacity * _capacity(element, name)
        case _:
            return 0


def uncounted(kind: ty.Type, name: str) -> bool:
    """Whether the type holds a set of identities, or a map over them."""
    match kind:
        case ty.Set(element):
            return _capacity(element, name) > 0
        case ty.Map(key, value):
            return _capacity(key, name) > 0 or uncounted(value, name)
        case ty.Record(_, fields):
            return any(uncounted(field, name) for _, field in fields)
        case ty.Option(element) | ty.Sequence(element, _) | ty.Bag(element, _):
            return uncounted(element, name)
        case _:
            return False
