"""What a cluster is like, as a value: equal for clusters with the same future, whatever their past."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, TypeAlias

from msgspec import Struct

from hacheck.impl.stepper import Cluster

_Visited: TypeAlias = dict[int, int]  # objects that were met before, by where
_Freeze: TypeAlias = Callable[[Any, _Visited], Any]


def fingerprint(cluster: Cluster) -> int:
    """A number that differs for clusters that differ, but for a chance of one in 2^61 for each pair.

    Which of several links something was put under way on first does not count: nothing shows it. Cost: the processes
    that changed since the last call.
    """
    parts: list[Any] = []
    for process in cluster.processes.values():
        if process.printed is None:
            process.printed = hash(frozen((process.node, process.durable)))
        timers = tuple(sorted(process.timers.items()))
        waiting = frozen((tuple(process.writes), tuple(process.requests), process.unsynced))
        up = (process.node is None, process.incarnation, process.start_us, process.silent)
        parts.append((process.printed, up, process.now_us, timers, waiting))
    links = tuple((pair, frozen(tuple(queue))) for pair, queue in sorted(cluster.links.items()) if queue)
    hosts = tuple((frozen(host.content), host.holder) for host in cluster.hosts.values())
    return hash((tuple(parts), links, hosts, frozenset(cluster.spoken)))


def frozen(value: Any) -> Any:
    """A value that can be hashed, equal for equal ones. Objects are what they hold; those that hold each other are
    named by where they were met first."""
    return _frozen(value, {})


def _frozen(value: Any, visited: _Visited) -> Any:
    kind = type(value)
    if kind in _ATOMS:
        return value
    freeze = _KNOWN.get(kind)
    if freeze is None:
        freeze = _KNOWN[kind] = _freezer(kind)
    return freeze(value, visited)


def _all(values: Iterable[Any], visited: _Visited) -> tuple[Any, ...]:
    """Several, in their order. Most of what nodes hold is frozen as it is: that is seen here, which costs half."""
    return tuple([value if type(value) in _ATOMS else _frozen(value, visited) for value in values])


_ATOMS = frozenset((int, str, bytes, float, bool, type(None), BuiltinFunctionType))

_KNOWN: dict[type, _Freeze] = {}


def _freezer(kind: type) -> _Freeze:
    """How objects of a type are frozen."""
    if issubclass(kind, (type, Enum)):
        return _as_it_is
    if kind is tuple:
        return _tuple
    if issubclass(kind, Struct) and kind.__struct_config__.frozen:  # whether it is the same one shows nowhere
        return _frozen_struct
    for known, freeze in _FREEZERS.items():
        if issubclass(kind, known):
            return _once(freeze)
    return _once(_object(kind))


def _once(freeze: _Freeze) -> _Freeze:
    """Of an object that may be met again."""

    def once(value: Any, visited: _Visited) -> Any:
        seen = visited.get(id(value))
        if seen is not None:
            return ("again", seen)
        visited[id(value)] = len(visited)
        return freeze(value, visited)

    return once


def _as_it_is(value: Any, visited: _Visited) -> Any:
    return value


def _tuple(value: Any, visited: _Visited) -> Any:
    return _all(value, visited)


def _frozen_struct(value: Any, visited: _Visited) -> Any:
    try:
        hash(value)
    except TypeError:  # it holds what can change
        fields = [getattr(value, name) for name in value.__struct_fields__]
        return (type(value).__qualname__, _all(fields, visited))
    return value


def _function(value: Any, visited: _Visited) -> Any:
    cells = [cell.cell_contents for cell in value.__closure__ or ()]
    return (value.__module__, value.__qualname__, _all(cells, visited))


_FREEZERS: Mapping[type, _Freeze] = {
    Mapping: lambda value, visited: ("map", _all(value, visited), _all(value.values(), visited)),
    list: lambda value, visited: ("list", _all(value, visited)),
    deque: lambda value, visited: ("list", _all(value, visited)),
    set: lambda value, visited: ("set", frozenset([_frozen(item, {}) for item in value])),
    frozenset: lambda value, visited: ("set", frozenset([_frozen(item, {}) for item in value])),
    FunctionType: _function,
    MethodType: lambda value, visited: (value.__func__.__qualname__, _frozen(value.__self__, visited)),
}


def _object(kind: type) -> _Freeze:
    """How other objects of a type are frozen: by the values of their fields, slots and attributes."""
    name = kind.__qualname__
    slots: list[str] = list(getattr(kind, "__struct_fields__", ()))
    if not slots:
        for one in kind.__mro__:
            own = one.__dict__.get("__slots__", ())
            slots += [slot for slot in ((own,) if isinstance(own, str) else own) if not slot.startswith("__")]

    def held(value: Any, visited: _Visited) -> Any:
        inside = _all([getattr(value, slot, None) for slot in slots], visited)
        attributes = getattr(value, "__dict__", None)
        if attributes:
            return (name, inside, tuple(attributes), _all(attributes.values(), visited))
        return (name, inside)

    return held
