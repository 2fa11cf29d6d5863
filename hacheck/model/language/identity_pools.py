"""How many identities of a type a state and a step can hold: as many as its pool needs when the spec states no size."""

from __future__ import annotations

from collections.abc import Iterable

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.rewrite import statements, walk


def places(system: ir.System, names: Iterable[str]) -> dict[str, int]:
    """How many identities of each of these types the whole state and one step can hold at once. Cost: the system's
    size."""
    carriers = [_carriers((), system.initial), *(_carriers(one.parameters, one.body) for one in system.actions)]
    found = {}
    for name in names:
        held = sum(_capacity(variable.type, name) for variable in system.variables)
        carried = (drawn + sum(_capacity(kind, name) for kind in kinds) for kinds, drawn in carriers)
        found[name] = held + max(carried, default=0)
    return found


def _carriers(parameters: Iterable[tuple[str, ty.Type]], body: tuple[ir.Statement, ...]) -> tuple[list[ty.Type], int]:
    """The types of the locals of a step, or of what is done initially, and how many identities it draws."""
    inside = list(statements(body))
    kinds = [kind for _, kind in parameters]
    kinds += [part.type for part in inside if isinstance(part, ir.Let)]
    kinds += [part.domain.type for part in inside if isinstance(part, ir.Choose | ir.ForEach)]
    return kinds, sum(1 for one in body for part in walk(one) if isinstance(part, ir.Fresh))


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
