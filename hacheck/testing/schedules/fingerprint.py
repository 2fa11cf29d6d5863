"""What a cluster is like, as a value: equal for clusters that go on alike, whatever way they came there."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from enum import Enum
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from msgspec import Struct

from hacheck.testing.schedules.cluster import Cluster

_PLAIN = (int, str, bytes, float, bool, type(None), type, Enum)


def fingerprint(cluster: Cluster) -> int:
    """A number that differs for clusters that differ, but for a chance of one in 2^61 for each pair.

    Which of several links something was put under way on first does not count: nothing shows it. Cost: the processes
    that changed since it was asked the last time.
    """
    parts: list[Any] = []
    for process in cluster.processes.values():
        if process.printed is None:
            process.printed = hash(frozen(process.node)), hash(frozen(process.durable))
        timers = tuple(sorted((due, name) for name, due in process.timers.items()))
        writes = tuple(frozen(write) for write in process.writes)
        asked = tuple(frozen(one) for one in process.asked)
        up = (process.node is None, process.incarnation, process.start_us)
        parts.append((process.printed, up, process.now_us, timers, writes, asked))
    links = (
        (pair, tuple(frozen(message) for message in queue)) for pair, queue in sorted(cluster.links.items()) if queue
    )
    hosts = tuple((frozen(host.content), host.holder) for host in cluster.hosts.values())
    return hash((tuple(parts), tuple(links), hosts, frozenset(cluster.spoken)))


def frozen(value: Any) -> Any:
    """A value that can be hashed, equal for equal ones. Objects are what they hold; those that hold each other are told
    by where they were met first."""
    return _frozen(value, {})


def _frozen(value: Any, met: dict[int, int]) -> Any:
    if isinstance(value, _PLAIN):
        return value
    seen = met.get(id(value))
    if seen is not None:
        return ("again", seen)
    if isinstance(value, tuple):
        return tuple(_frozen(item, met) for item in value)
    if isinstance(value, Struct) and value.__struct_config__.frozen:  # whether it is the same one shows nowhere
        return (type(value).__qualname__, *_held(value, met))
    met[id(value)] = len(met)
    if isinstance(value, Mapping):
        return ("map", tuple((_frozen(key, met), _frozen(item, met)) for key, item in value.items()))
    if isinstance(value, list | deque):
        return ("list", tuple(_frozen(item, met) for item in value))
    if isinstance(value, set | frozenset):
        return ("set", frozenset(_frozen(item, {}) for item in value))
    if isinstance(value, FunctionType):
        cells = tuple(_frozen(cell.cell_contents, met) for cell in value.__closure__ or ())
        return (value.__module__, value.__qualname__, cells)
    if isinstance(value, MethodType):
        return (value.__func__.__qualname__, _frozen(value.__self__, met))
    if isinstance(value, BuiltinFunctionType):
        return value.__qualname__
    return (type(value).__qualname__, tuple(_held(value, met)))


def _held(value: Any, met: dict[int, int]) -> Any:
    """What an object holds: the values of its fields, slots and attributes."""
    if isinstance(value, Struct):
        for name in value.__struct_fields__:
            yield _frozen(getattr(value, name), met)
        return
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                yield name, _frozen(getattr(value, name), met)
    for name, item in getattr(value, "__dict__", {}).items():
        yield name, _frozen(item, met)
