"""What can be said of one member of a kind without naming any: a number by which members are sorted.

A signature depends on a state and a member, and permuting both leaves it as it is. It is put together from the slots
that have to do with the member: its own fields as they are, whether others name it, and what lies between it and the
others as sums, in which their order does not show. Members of the kind, and of other kinds whose members are
symmetric too, are seen only as "this one", "another one" and "none".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from hacheck.checker.explicit.symmetry.slot_renaming import Words
from hacheck.compile.codegen.word_layout import WORD_BITS
from hacheck.compile.lowering.layout import Cell, Flagged, Group, Place, Series
from hacheck.compile.lowering.permuted_slots import Presence
from hacheck.model.ir import System
from hacheck.model.symmetry_types import SymmetryClass, mentions
from hacheck.model.types import Bag, Identity, Map, Node, Option, Record, Set, Type, ordinal, values

_SPREAD = 0x9E3779B97F4A7C15  # odd, and its bits are without a pattern: 2**64 divided by the golden ratio
_FULL = (1 << WORD_BITS) - 1
_EXACT_BITS_MAX = 24  # of a sum that keeps apart how often each value occurs


class Signature(Struct, frozen=True):
    """The signatures of the members of a class, as expressions: `own` of what each member has for itself, `shared` of
    what lies between members. `shared` is empty where there is nothing of that sort."""

    own: tuple[str, ...]
    shared: tuple[str, ...]


class _Seen(Struct, frozen=True):
    """A number seen from a member: `label` says what it is without naming a member, `text` is its value."""

    label: tuple[object, ...]
    text: str
    high: int


def signature_of(system: System, words: Words, symmetric: SymmetryClass, masked: Sequence[SymmetryClass]) -> Signature:
    """The signatures of a class; `masked` are the classes whose members may not be distinguished, this one included."""
    own: list[str] = []
    shared: list[str] = []
    for member in symmetric.members:
        seen: dict[tuple[object, ...], list[_Seen]] = {}
        view = _View(words, symmetric, masked, member)
        for variable, place in zip(system.variables, words.layout.places, strict=True):
            for item in view.of(place, (variable.name,), ()):
                seen.setdefault(item.label, []).append(item)
        ordered = [seen[label] for label in sorted(seen, key=repr)]
        own.append(_joined([_single(items[0]) for items in ordered if len(items) == 1]))
        shared.append(_joined([_sum(items) for items in ordered if len(items) > 1]))
    return Signature(tuple(own), tuple(shared) if any(text != "0" for text in shared) else ())


class _View(Struct, frozen=True):
    """The state as one member sees it."""

    words: Words
    symmetric: SymmetryClass
    masked: Sequence[SymmetryClass]
    member: int

    def of(self, place: Place, label: tuple[object, ...], presence: tuple[Presence, ...]) -> Iterator[_Seen]:
        """What can be seen of a part of the state."""
        match place:
            case Cell(kind, slot):
                if slot is not None:
                    yield from self.cell(kind, slot, label, presence)
            case Flagged(_, flag, inner):
                yield from self.number(flag, (*label, "?"))
                yield from self.of(inner, label, (*presence, Presence(flag, 1)))
            case Group(Map(key, _), items):
                for name, item in zip(values(key), items, strict=True):
                    yield from self.of(item, (*label, self.named(key, name)), presence)
            case Group(Record(_, fields), items):
                for (name, _), item in zip(fields, items, strict=True):
                    yield from self.of(item, (*label, name), presence)
            case Series(kind, length, items):
                if length is None:
                    return
                yield from self.number(length, (*label, "length"))
                for index, item in enumerate(items):
                    step = "any" if isinstance(kind, Bag) else index
                    yield from self.of(item, (*label, step), (*presence, Presence(length, index + 1)))
            case _:
                raise AssertionError(f"no such place: {place}")

    def named(self, key: Type, name: object) -> tuple[str, object]:
        """A map's key as this member knows it."""
        if name is not None:
            for one in self.masked:
                if mentions(one.kind, key) and name in one.members:
                    mine = one == self.symmetric and name == self.member
                    return "key", "this" if mine else one
        return "named", name

    def cell(self, kind: Type, slot: int, label: tuple[object, ...], presence: tuple[Presence, ...]) -> Iterator[_Seen]:
        if self.words.layout.slots[slot].fixed is not None:
            return
        found = [one for one in self.masked if mentions(one.kind, kind)]
        if not found:
            yield from self.number(slot, label)
        elif isinstance(kind, Set):
            yield from self.set_of(kind, found, slot, label)
        else:
            yield from self.one_of(kind, found, slot, label, presence)

    def number(self, slot: int, label: tuple[object, ...]) -> Iterator[_Seen]:
        """A content that no permutation changes; of interest if it is the member's own."""
        if ("key", "this") not in label or self.words.layout.slots[slot].fixed is not None:
            return
        for part, text in enumerate(self.words.contents(slot)):
            high = self.words.layout.slots[slot].high >> WORD_BITS * part
            yield _Seen((*label, part), text, high & _FULL if high <= _FULL else _FULL)

    def one_of(
        self,
        kind: Type,
        found: list[SymmetryClass],
        slot: int,
        label: tuple[object, ...],
        presence: tuple[Presence, ...],
    ) -> Iterator[_Seen]:
        """A content that is a member: whether it is this one, one of those that are not symmetric, or none."""
        content, there = self.words.content(slot), self.words.present(presence)
        named = {name for name in _members(kind) if all(name not in one.members for one in found)}
        if self.symmetric in found:
            yield self.equal(kind, self.member, content, there, (*label, "this"))
        if ("key", "this") not in label:
            return
        for name in sorted(named):
            yield self.equal(kind, name, content, there, (*label, name))
        if isinstance(kind, Option):
            yield _Seen((*label, "none"), f"({content} == 0)", 1)

    def equal(self, kind: Type, name: int, content: str, there: list[str], label: tuple[object, ...]) -> _Seen:
        needed = [] if isinstance(kind, Option) else there
        return _Seen(label, f"({' & '.join([f'({content} == {ordinal(kind, name)})', *needed])})", 1)

    def set_of(self, kind: Set, found: list[SymmetryClass], slot: int, label: tuple[object, ...]) -> Iterator[_Seen]:
        """A set of members: whether this one is in it, and of the member's own how many are."""
        if self.symmetric in found:
            yield _Seen((*label, "has"), self.words.bit(slot, ordinal(kind.element, self.member)), 1)
        if ("key", "this") in label:
            size = " + ".join(f"popcount({part})" for part in self.words.contents(slot))
            yield _Seen((*label, "size"), f"({size})", self.words.layout.slots[slot].width)


def _members(kind: Type) -> range:
    inner = kind.element if isinstance(kind, Option) else kind
    assert isinstance(inner, Node | Identity), f"members of {kind}"
    return range(1, inner.size + 1)


# ---- numbers put together ----


class _Number(Struct, frozen=True):
    """A value of so many bits."""

    text: str
    bits: int


def _single(item: _Seen) -> _Number:
    return _Number(item.text, item.high.bit_length())


def _sum(items: Sequence[_Seen]) -> _Number:
    """How often each value occurs, exactly where that takes few bits."""
    high, room = items[0].high, len(items).bit_length()
    if high == 1:
        return _Number(f"({' + '.join(item.text for item in items)})", room)
    if high * room <= _EXACT_BITS_MAX:
        # a one at `room` bits for each number from 1; 0 is what remains
        terms = (f"((1 << {item.text} * {room}) >> {room})" for item in items)
        return _Number(f"({' + '.join(terms)})", high * room)
    return _Number(f"({' + '.join(f'scattered({item.text})' for item in items)})", WORD_BITS)


def _joined(numbers: Sequence[_Number]) -> str:
    """One number of 64 bits made of several, exactly where there is room."""
    result, chunk, used = "", "", 0
    for item in numbers:
        if item.bits == 0:
            continue
        if used + item.bits > WORD_BITS:
            result = _folded(result, chunk)
            chunk, used = "", 0
        chunk = f"{chunk} | {item.text} << {used}" if chunk else f"{item.text}"
        used += item.bits
    return _folded(result, chunk) or "0"


def _folded(before: str, chunk: str) -> str:
    if not before or not chunk:
        return before or chunk
    return f"scattered({before}) + ({chunk})"


SCATTERED = f"""
def scattered(x):
    x = (x ^ x >> 32) * {_SPREAD}
    return x ^ x >> 29
"""
"""The function that sums and signatures of more than 64 bits are mixed with; it leaves 0 as it is."""
