"""What assignments write: locals, shared variables, fields of nodes, and parts of these."""

from __future__ import annotations

from collections.abc import Iterable

from hacheck.model.direct.domains import Domain, stored
from hacheck.model.direct.expressions import Expressions, Scope
from hacheck.model.direct.interfaces import SpecificationFailure, UnsupportedError
from hacheck.model.direct.machine import Closure, Effect, Machine
from hacheck.model.direct.values import Map, Node, Record, Value
from hacheck.model.language import syntax_tree as t


def synced(expressions: Expressions, place: t.Place, scope: Scope) -> Effect:
    """What `sync` does: the field is on the disk as it is."""
    root = expressions.of(place.root, scope)
    (field,) = place.path
    assert isinstance(field, t.Name)
    name, index = field.text, expressions.layout.index

    def sync(m: Machine) -> None:
        node = root(m)
        m.memory[index["disk", node, name]] = m.memory[index["field", node, name]]

    return sync


def assignment(expressions: Expressions, place: t.Place, value: Closure, scope: Scope) -> Effect:
    """Writes a local, a shared variable or a field, or a part of one."""
    layout, name = expressions.layout, place.root.text
    path = _path(expressions, place, scope)
    if name in scope.keys and not path:
        return _local_assignment(scope.keys[name], path, value, scope.types.get(scope.keys[name]))
    if name not in scope.read and ("shared", name) in layout.index:
        slot = layout.index["shared", name]
        return lambda m: _write(m, slot, name, path, value, layout.domain[slot])
    root, key = expressions.of(place.root, scope), scope.keys.get(name)
    within = None if key is None else _local_assignment(key, path, value, scope.types.get(key))

    def assign(m: Machine) -> None:
        base = root(m)
        if not isinstance(base, Node):
            if within is None:
                raise UnsupportedError(f"`{name}` cannot be assigned")
            within(m)
            return
        field = path[0]
        assert isinstance(field, str)
        slot = layout.fields[field][base]
        _write(m, slot, f"{base.kind}.{field}", path[1:], value, layout.domain[slot])

    return assign


def _path(expressions: Expressions, place: t.Place, scope: Scope) -> list[str | Closure]:
    """The parts below a place's root: names of fields, and keys."""
    parts: list[str | Closure] = []
    for part, is_key in zip(place.path, place.keys, strict=True):
        if is_key:
            assert not isinstance(part, t.Name) or part.text
            parts.append(expressions.of(part, scope))
        else:
            assert isinstance(part, t.Name)
            parts.append(part.text)
    return parts


def _local_assignment(key: str, path: Iterable[str | Closure], value: Closure, domain: Domain | None) -> Effect:
    steps = list(path)

    def assign(m: Machine) -> None:
        new = value(m)
        if steps:
            new = _replaced(m, m.local(key), steps, new)
        m.env[key] = new if domain is None else stored(domain, new, key)

    return assign


def _write(m: Machine, slot: int, where: str, path: list[str | Closure], value: Closure, domain: Domain) -> None:
    new = value(m)
    m.memory[slot] = stored(domain, _replaced(m, m.memory[slot], path, new), where)


def _replaced(m: Machine, old: Value, path: list[str | Closure], new: Value) -> Value:
    """A value in which the part at a path is another."""
    if not path:
        return new
    first, *rest = path
    if isinstance(first, str):
        assert isinstance(old, Record)
        return old.having(first, _replaced(m, old.get(first), rest, new))
    key = first(m)
    if isinstance(old, Map):
        if key not in old.keys:
            raise SpecificationFailure(f"the map has no {key!r}")
        return old.having(key, _replaced(m, old.get(key), rest, new))
    if not 1 <= key <= len(old):
        raise SpecificationFailure(f"there is no element {key!r}")
    return (*old[: key - 1], _replaced(m, old[key - 1], rest, new), *old[key:])
