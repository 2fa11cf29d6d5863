"""How users read a model: values, what a step changed, expressions.

`show` renders one value, `place` the name of a part of a variable, `show_expression` a guard in the style of
the language, and `changes` what a step did, down to the leaf.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from hacheck.model.ir import System
from hacheck.model.render_expression import show_expression, show_type
from hacheck.model.render_value import located, place, show
from hacheck.model.runs import State
from hacheck.model.types import Map, Option, Record, Type, Value, values

__all__ = ["Change", "changes", "place", "show", "show_expression", "show_type", "spoken"]


class Change(Struct, frozen=True):
    """One leaf of the state that a step changed.

    `node`: the kind and id of the node whose field it is, or `None` for what belongs to no node. `place`:
    what changed, without the node ("mode", "Link.request[1][2]"). `before` and `after`: the values in words.
    """

    node: tuple[str, int] | None
    place: str
    before: str
    after: str

    def __str__(self) -> str:
        where = f"{self.node[0]} {self.node[1]}." if self.node else ""
        return f"{where}{self.place}: {self.before} -> {self.after}"


def changes(system: System, before: State, after: State) -> tuple[Change, ...]:
    """What differs between two states, leaf by leaf: by node in the order of `System.nodes`, then what no
    node owns.

    Maps and records are taken apart, so that one member that changed is one line; sets, sequences and bags
    are shown whole. Cost: the size of the two states.
    """
    order = {node.name: index for index, node in enumerate(system.nodes)}
    found: list[Change] = []
    for variable, old, new in zip(system.variables, before, after, strict=True):
        for path, kind, was, now in _leaves(variable.type, old, new, ()):
            node, words = located(variable.name, variable.type, path)
            found.append(Change(node, words, show(kind, was), show(kind, now)))

    def group(change: Change) -> tuple[int, int]:
        return (order.get(change.node[0], len(order)), change.node[1]) if change.node else (len(order) + 1, 0)

    return tuple(sorted(found, key=group))


def _leaves(
    kind: Type, before: Value, after: Value, path: tuple[Value, ...]
) -> Iterator[tuple[tuple[Value, ...], Type, Value, Value]]:
    if before == after:
        return
    match kind:
        case Map(key, element):
            for name, old, new in zip(values(key), before, after, strict=True):
                yield from _leaves(element, old, new, (*path, name))
        case Record(_, fields):
            for (field, part), old, new in zip(fields, before, after, strict=True):
                yield from _leaves(part, old, new, (*path, field))
        case Option(element) if before is not None and after is not None:
            yield from _leaves(element, before, after, path)
        case _:
            yield path, kind, before, after


_KEPT = re.compile(r"(?!(?:lock|message|operation)\.)(?P<handler>\w+\.\w+)\.(?P<local>[\w ]+?)(?:_\d+)?")
"""The name of a variable that keeps a local: node, handler, local, and a number where a handler has several."""


def spoken(name: str) -> str:
    """A variable's name as it is spoken of: `LockFile.holder`, not `lock.LockFile.holder`; `clock of Server`; `cut
    links Server - Manager`. A local that a handler keeps has its word in the spec, without the number that sets it
    apart from others of that word."""
    if name.startswith("clock."):
        return f"clock of {name.removeprefix('clock.')}"
    if name.startswith("cut."):
        return f"cut links {' - '.join(name.split('.')[1:])}"
    if (kept := _KEPT.fullmatch(name)) is not None:
        local = kept["local"].removesuffix(" to come")
        return f"{kept['handler']}.{local}" + (" still to come" if local != kept["local"] else "")
    for prefix in ("lock.", "message.", "operation."):
        name = name.removeprefix(prefix)
    return name
