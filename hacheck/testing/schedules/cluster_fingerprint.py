"""What a cluster is like, as a value: equal for clusters that go on alike, whatever way they came there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, TypeAlias

from msgspec import Struct

from hacheck.testing.schedules.stepped_cluster import Cluster

_Met: TypeAlias = dict[int, int]  # objects that were met before, by where
_Way: TypeAlias = Callable[[Any, _Met], Any]


def fingerprint(cluster: Cluster) -> int:
    """A number that differs for clusters that differ, but for a chance of one in 2^61 for each pair.

    Which of several links something was put under way on first does not count: nothing shows it. Cost: the processes
    that changed since it was asked the last time.
    """
    parts: list[Any] = []
    for process in cluster.processes.values():
        if process.printed is None:
            process.printed = hash(frozen((process.node, process.durable)))
        timers = tuple(sorted(process.timers.items()))
        waiting = frozen((tuple(process.writes), tuple(process.asked), process.unsynced))
        up = (process.node is None, process.incarnation, process.start_us, process.silent)
        parts.append((process.printed, up, process.now_us, timers, waiting))
    links = tuple((pair, frozen(tuple(queue))) for pair, queue in sorted(cluster.links.items()) if queue)
    hosts = tuple((frozen(host.content), host.holder) for host in cluster.hosts.values())
    return hash((tuple(parts), links, hosts, frozenset(cluster.spoken)))


def frozen(value: Any) -> Any:
    """A value that can be hashed, equal for equal ones. Objects are what they hold; those that hold each other are told
    by where they were met first."""
    return _frozen(value, {})


def _frozen(value: Any, met: _Met) -> Any:
    kind = type(value)
    if kind in _ATOMS:
        return value
    way = _KNOWN.get(kind)
    if way is None:
        way = _KNOWN[kind] = _way(kind)
    return way(value, met)


def _all(values: Iterable[Any], met: _Met) -> tuple[Any, ...]:
    """Several, in their order. Most of what nodes hold is frozen as it is: that is seen here, which costs half."""
    return tuple([value if type(value) in _ATOMS else _frozen(value, met) for value in values])


_ATOMS = frozenset((int, str, bytes, float, bool, type(None), BuiltinFunctionType))

_KNOWN: dict[type, _Way] = {}


def _way(kind: type) -> _Way:
    """How objects of a type are frozen."""
    if issubclass(kind, (type, Enum)):
        return _as_it_is
    if kind is tuple:
        return _tuple
    if issubclass(kind, Struct) and kind.__struct_config__.frozen:  # whether it is the same one shows nowhere
        return _frozen_struct
    for known, way in _WAYS.items():
        if issubclass(kind, known):
            return _once(way)
    return _once(_object(kind))


def _once(way: _Way) -> _Way:
    """Of an object that may be met again."""

    def once(value: Any, met: _Met) -> Any:
        seen = met.get(id(value))
        if seen is not None:
            return ("again", seen)
        met[id(value)] = len(met)
        return way(value, met)

    return once


def _as_it_is(value: Any, met: _Met) -> Any:
    return value


def _tuple(value: Any, met: _Met) -> Any:
    return _all(value, met)


def _frozen_struct(value: Any, met: _Met) -> Any:
    try:
        hash(value)
    except TypeError:  # it holds what can change
        fields = [getattr(value, name) for name in value.__struct_fields__]
        return (type(value).__qualname__, _all(fields, met))
    return value


def _function(value: Any, met: _Met) -> Any:
    cells = [cell.cell_contents for cell in value.__closure__ or ()]
    return (value.__module__, value.__qualname__, _all(cells, met))


_WAYS: Mapping[type, _Way] = {
    Mapping: lambda value, met: ("map", _all(value, met), _all(value.values(), met)),
    list: lambda value, met: ("list", _all(value, met)),
    deque: lambda value, met: ("list", _all(value, met)),
    set: lambda value, met: ("set", frozenset([_frozen(item, {}) for item in value])),
    frozenset: lambda value, met: ("set", frozenset([_frozen(item, {}) for item in value])),
    FunctionType: _function,
    MethodType: lambda value, met: (value.__func__.__qualname__, _frozen(value.__self__, met)),
}


def _object(kind: type) -> _Way:
    """How other objects of a type are frozen: by the values of their fields, slots and attributes."""
    name = kind.__qualname__
    slots: list[str] = list(getattr(kind, "__struct_fields__", ()))
    if not slots:
        for one in kind.__mro__:
            own = one.__dict__.get("__slots__", ())
            slots += [slot for slot in ((own,) if isinstance(own, str) else own) if not slot.startswith("__")]

    def held(value: Any, met: _Met) -> Any:
        inside = _all([getattr(value, slot, None) for slot in slots], met)
        attributes = getattr(value, "__dict__", None)
        if attributes:
            return (name, inside, tuple(attributes), _all(attributes.values(), met))
        return (name, inside)

    return held
