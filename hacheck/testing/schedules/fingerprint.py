"""What a cluster is like, as a value: equal for clusters that go on alike, whatever way they came there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from enum import Enum
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, TypeAlias

from msgspec import Struct

from hacheck.testing.schedules.cluster import Cluster

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
    way = _KNOWN.get(kind)
    if way is None:
        way = _KNOWN[kind] = _way(kind)
    return way(value, met)


_KNOWN: dict[type, _Way] = {}


def _way(kind: type) -> _Way:
    """How objects of a type are frozen."""
    if kind in (int, str, bytes, float, bool, type(None), BuiltinFunctionType) or issubclass(kind, (type, Enum)):
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
    return tuple([_frozen(item, met) for item in value])


def _frozen_struct(value: Any, met: _Met) -> Any:
    try:
        hash(value)
    except TypeError:  # it holds what can change
        fields = [_frozen(getattr(value, name), met) for name in value.__struct_fields__]
        return (type(value).__qualname__, *fields)
    return value


def _function(value: Any, met: _Met) -> Any:
    cells = tuple(_frozen(cell.cell_contents, met) for cell in value.__closure__ or ())
    return (value.__module__, value.__qualname__, cells)


_WAYS: Mapping[type, _Way] = {
    Mapping: lambda value, met: (
        "map",
        tuple([(_frozen(key, met), _frozen(item, met)) for key, item in value.items()]),
    ),
    list: lambda value, met: ("list", tuple([_frozen(item, met) for item in value])),
    deque: lambda value, met: ("list", tuple([_frozen(item, met) for item in value])),
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
        inside = [_frozen(getattr(value, slot, None), met) for slot in slots]
        attributes = getattr(value, "__dict__", None)
        if attributes:
            inside += [(key, _frozen(item, met)) for key, item in attributes.items()]
        return (name, *inside)

    return held
