"""Names of properties: one that is checked for each value of its parameters is several, `answered(Client 1)` and so on.

A spec, a check and the command line name all of them at once: `answered`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable


def declared_name(name: str) -> str:
    """The name that a spec gives a property."""
    return name.partition("(")[0]


def is_named(name: str, names: Collection[str]) -> bool:
    """Whether a property is among those named, by its own name or by that which the spec gives it."""
    return name in names or declared_name(name) in names


def expanded(names: Collection[str], known: Iterable[str]) -> tuple[str, ...]:
    """Of the properties known, those that are named."""
    return tuple(name for name in known if is_named(name, names))


def nameable(known: Iterable[str]) -> list[str]:
    """All the names by which properties may be named."""
    return list(dict.fromkeys(one for name in known for one in (declared_name(name), name)))
