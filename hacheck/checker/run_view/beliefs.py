"""Wrong beliefs: where a node is wrong about another one, found in a view without a word about them in the spec.

A relation has two sides: where in one step of the run `X.v` comes to name Y and `Y.w` comes to name X, the variables
`v` and `w` are taken for the two sides of one relation. A belief begins where `X.v` newly names Y while the other side
names X. It is wrong from the first state in which the other side no longer does, as long as X is up and still names Y.
A lock is believed to be held by a node that is not its holder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from hacheck.checker.run_view.view_reader import Json, ViewReader

LOCK = re.compile(r"^(?P<lock>.+)\.believed\[(?P<node>[^\]]*)\]$")


class Belief(Struct, frozen=True):
    """`holder` is wrong about `about` in the states from `wrong` to `until`.

    `variable`: the field that names the other node (of a lock, what it is called); `back`: the other side of the
    relation. `born`: the step since which the holder believes it, 0 from the beginning.
    """

    rule: Literal["relation", "lock"]
    holder: str
    about: str
    variable: str
    back: str
    born: int
    wrong: int
    until: int

    def to_json(self) -> Json:
        """The belief as a part of a view."""
        return {name: getattr(self, name) for name in self.__struct_fields__}


def wrong_beliefs(reader: ViewReader) -> list[Belief]:
    """All wrong beliefs of a run, in the order in which they become wrong. Cost: a pass over its steps."""
    found = [*_relations(reader), *_locks(reader)]
    return sorted(found, key=lambda belief: (belief.wrong, belief.until))


# ---- relations ----


def _sides(reader: ViewReader) -> dict[str, set[str]]:
    """For each field the fields that are the other side of its relation somewhere in the run."""
    found: dict[str, set[str]] = {}
    for step in range(1, reader.last + 1):
        fields = [change for change in reader.changes(step) if change.owner and change.role == "field"]
        pairs = [
            (one.name, other.name)
            for one in fields
            for other in fields
            if one.owner != other.owner
            and other.owner in _new(reader, one.before, one.after)
            and one.owner in _new(reader, other.before, other.after)
        ]
        if any(one == other for one, other in pairs):  # `partner` and `partner` say more than `node_id` and `partner`
            pairs = [(one, other) for one, other in pairs if one == other]
        for one, other in pairs:
            found.setdefault(one, set()).add(other)
    return found


def _new(reader: ViewReader, before: str, after: str) -> set[str]:
    return {*reader.mentions(after)} - {*reader.mentions(before)}


def _relations(reader: ViewReader) -> Iterator[Belief]:
    sides = _sides(reader)
    held: dict[tuple[str, str, str], tuple[list[str], int]] = {}
    wrong: dict[tuple[str, str, str], int] = {}
    for number in range(1, reader.last + 1):
        for change in reader.changes(number):
            if change.owner and change.name in sides:
                for about in _new(reader, change.before, change.after) - {change.owner}:
                    backs = _backs(reader, number, change.owner, change.name, about, sides[change.name])
                    if backs:
                        held[change.owner, change.name, about] = (backs, number)
        for key, (backs, born) in list(held.items()):
            holder, name, about = key
            still = about in reader.mentions(reader.value(number, holder, name))
            answered = any(holder in reader.mentions(reader.value(number, about, back)) for back in backs)
            if still and reader.is_up(number, holder) and not answered:
                wrong.setdefault(key, number)
            elif key in wrong:
                yield Belief("relation", holder, about, name, backs[0], born, wrong.pop(key), number - 1)
            if not still:
                del held[key]
    for (holder, name, about), since in wrong.items():
        backs, born = held[holder, name, about]
        yield Belief("relation", holder, about, name, backs[0], born, since, reader.last)


def _backs(reader: ViewReader, number: int, holder: str, name: str, about: str, sides: set[str]) -> list[str]:
    """The fields of the other node that name the holder now; one of the same name goes before others."""
    found = sorted(back for back in sides if holder in reader.mentions(reader.value(number, about, back)))
    return [name] if name in found else found


# ---- locks ----


def _locks(reader: ViewReader) -> Iterator[Belief]:
    for slot in reader.slots:
        matched = LOCK.match(slot["name"]) if slot["role"] == "lock" else None
        if matched is not None and matched["node"] in reader.kind_of:
            yield from _lock(reader, matched["lock"], matched["node"])


def _lock(reader: ViewReader, lock: str, node: str) -> Iterator[Belief]:
    held_by = f"{lock}.holder"
    born, wrong = 0, 0
    for number in range(reader.last + 1):
        believes = _believes(reader, number, lock, node)
        if believes and number and not _believes(reader, number - 1, lock, node):
            born = number
        mistaken = believes and reader.is_up(number, node) and reader.value(number, "", held_by) != node
        if mistaken and not wrong:
            wrong = number
        elif not mistaken and wrong:
            yield Belief("lock", node, lock, f"{lock}.believed", held_by, born, wrong, number - 1)
            wrong = 0
    if wrong:
        yield Belief("lock", node, lock, f"{lock}.believed", held_by, born, wrong, reader.last)


def _believes(reader: ViewReader, number: int, lock: str, node: str) -> bool:
    """Whether a node believes that it holds a lock; of a lease, as long as its own clock has not passed its end."""
    if reader.value(number, "", f"{lock}.believed[{node}]") != "true":
        return False
    until = reader.value(number, "", f"{lock}.mine[{node}]")
    clock = reader.value(number, "", f"clock of {reader.kind_of[node]}[{node}]")
    return not (until.isdigit() and clock.isdigit()) or int(clock) < int(until)
