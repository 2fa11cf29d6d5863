"""What exchanging two members of a kind does to the slots of a state.

Slots of a map's entries for the two change places; a slot that holds a member is renamed, one that holds a set of
members has two of its bits exchanged, and bags in which anything was renamed are sorted again.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from hacheck.compile.lowering.layout import Cell, Flagged, Group, Layout, Place, Series, slots_of
from hacheck.model.symmetry_types import Kind, exchange, mentions, renamed
from hacheck.model.types import Bag, Identity, Map, Option, Set, Type, ordinal, values


class Presence(Struct, frozen=True):
    """A slot's part of the state is there only while slot `slot` holds `least` at least."""

    slot: int
    least: int


class Renaming(Struct, frozen=True):
    """A slot that holds a member of the kind: `first` and `second` are its contents for the two members. Where one of
    `presence` fails it holds 0, which is then no member."""

    slot: int
    first: int
    second: int
    presence: tuple[Presence, ...]


class Crossing(Struct, frozen=True):
    """A slot that holds a set of members: these two of its bits change places."""

    slot: int
    first: int
    second: int


class Resorting(Struct, frozen=True):
    """A bag whose elements are to be sorted again. `length`: the slot with their number; `items`: for each element its
    slots, the one that counts most first."""

    length: int
    items: tuple[tuple[int, ...], ...]


class Exchange(Struct, frozen=True):
    """The exchange of two members: first slots `moved` change contents in pairs, then contents are renamed and bits
    crossed, then bags are sorted, inner ones first. Slots that never change are in none of these."""

    moved: tuple[tuple[int, int], ...]
    renamings: tuple[Renaming, ...]
    crossings: tuple[Crossing, ...]
    bags: tuple[Resorting, ...]


def exchange_in(layout: Layout, kind: Kind, first: int, second: int) -> Exchange | None:
    """The exchange of two members on a layout; `None` where a slot that never changes distinguishes them, so that not
    every exchanged state can be written down. Cost: the slots of the layout."""
    found = _Exchange(layout, kind, first, second)
    for place in layout.places:
        if not found.visit(place, place, ()):
            return None
    return Exchange(tuple(found.moved), tuple(found.renamings), tuple(found.crossings), tuple(found.bags))


class _Exchange:
    def __init__(self, layout: Layout, kind: Kind, first: int, second: int) -> None:
        self.layout, self.kind = layout, kind
        self.new = exchange(first, second)
        self.pair = first, second
        self.moved: list[tuple[int, int]] = []
        self.renamings: list[Renaming] = []
        self.crossings: list[Crossing] = []
        self.bags: list[Resorting] = []
        self.known: dict[int, bool] = {}  # by the identity of types, which the layout holds

    def visit(self, place: Place, target: Place, presence: tuple[Presence, ...]) -> bool:
        """Notes what becomes of the content of `place`, which goes to `target`, a place of the same type. Whether it
        can."""
        if place is target and not self.mentioned(place.type):
            return True
        match place, target:
            case Cell(), Cell():
                return self.cell(place, target, presence)
            case Flagged(_, flag, inner), Flagged(_, other, over):
                return self.move(flag, other) and self.visit(inner, over, (*presence, Presence(other, 1)))
            case Group(Map(key, _), items), Group(_, others):
                spots = list(values(key))
                places = [spots.index(renamed(self.kind, key, spot, self.new)) for spot in spots]
                return all(self.visit(item, others[place], presence) for item, place in zip(items, places, strict=True))
            case Group(_, items), Group(_, others):
                return all(self.visit(item, other, presence) for item, other in zip(items, others, strict=True))
            case Series(kind, length, items), Series(_, other, others):
                if length is None or other is None:
                    return True
                if not self.move(length, other):
                    return False
                for index, (item, over) in enumerate(zip(items, others, strict=True)):
                    if not self.visit(item, over, (*presence, Presence(other, index + 1))):
                        return False
                return not isinstance(kind, Bag) or not self.mentioned(kind.element) or self.sort(other, others)
            case _:
                raise AssertionError(f"{place} and {target} differ in form")

    def mentioned(self, kind: Type) -> bool:
        """Whether values of a type can mention members."""
        found = self.known.get(id(kind))
        if found is None:
            found = self.known[id(kind)] = mentions(self.kind, kind)
        return found

    def cell(self, place: Cell, target: Cell, presence: tuple[Presence, ...]) -> bool:
        if place.slot is None or target.slot is None:
            return True
        kind, slot = place.type, target.slot
        if not self.mentioned(kind):
            return self.move(place.slot, slot)
        old = self.layout.slots[place.slot].fixed
        if old is not None:
            return self.layout.slots[slot].fixed == self.changed(kind, old, presence)
        if not self.move(place.slot, slot):
            return False
        if isinstance(kind, Set):
            bits = [ordinal(kind.element, one) for one in self.pair]
            self.crossings.append(Crossing(slot, min(bits), max(bits)))
        else:
            numbers = [ordinal(kind, one) for one in self.pair]
            needed = () if isinstance(kind, Option) else self.uncertain(presence)
            if needed is not None:
                self.renamings.append(Renaming(slot, numbers[0], numbers[1], needed))
        return True

    def changed(self, kind: Type, content: int, presence: tuple[Presence, ...]) -> int:
        """What a content that never changes would become."""
        first, second = self.pair
        if isinstance(kind, Set):
            bits = [ordinal(kind.element, one) for one in self.pair]
            found = [content >> bit & 1 for bit in bits]
            return content if found[0] == found[1] else content ^ sum(1 << bit for bit in bits)
        if not isinstance(kind, Option) and self.uncertain(presence) is None:
            return content
        numbers = {ordinal(kind, first): ordinal(kind, second), ordinal(kind, second): ordinal(kind, first)}
        return numbers.get(content, content)

    def uncertain(self, presence: tuple[Presence, ...]) -> tuple[Presence, ...] | None:
        """Those that are not always met; `None` where one never is."""
        left = []
        for one in presence:
            fixed = self.layout.slots[one.slot].fixed
            if fixed is None:
                left.append(one)
            elif fixed < one.least:
                return None
        return tuple(left)

    def move(self, slot: int, target: int) -> bool:
        """Whether two slots can change places; the pair is noted once."""
        old, new = self.layout.slots[slot], self.layout.slots[target]
        if old.fixed is None and new.fixed is None and slot < target:
            self.moved.append((slot, target))
        return old.fixed == new.fixed

    def sort(self, length: int, items: tuple[Place, ...]) -> bool:
        """Notes that a bag has to be sorted; whether its elements can all be written anywhere in it."""
        rows = [tuple(slots_of(item)) for item in items]
        fixed = [[self.layout.slots[slot].fixed for slot in row] for row in rows]
        room = self.layout.slots[length].fixed
        room = len(items) if room is None else room
        if any(row != fixed[0] for row in fixed[:room]):
            return False
        if room > 1 and any(content is None for content in fixed[0]):
            columns = [place for place, content in enumerate(fixed[0]) if content is None]
            self.bags.append(Resorting(length, tuple(tuple(row[column] for column in columns) for row in rows[:room])))
        return True


# ---- where identities are ----


class Held(Struct, frozen=True):
    """A slot that holds an identity, or a set of them. `loose`: it is a set, or in a bag."""

    slot: int
    is_option: bool
    is_set: bool
    loose: bool
    presence: tuple[Presence, ...]


def slots_holding(layout: Layout, pool: Identity) -> list[Held]:
    """The slots that can hold identities of a pool, those with a place of their own first."""
    found = [held for place in layout.places for held in _held(pool, place, False, ())]
    return sorted((held for held in found if layout.slots[held.slot].fixed is None), key=lambda held: held.loose)


def _held(pool: Identity, place: Place, loose: bool, presence: tuple[Presence, ...]) -> Iterator[Held]:
    match place:
        case Cell(kind, slot):
            if slot is not None and mentions(pool, kind):
                element = kind.element if isinstance(kind, Set) else kind
                is_set = isinstance(kind, Set)
                yield Held(slot, isinstance(element, Option), is_set, loose or is_set, presence)
        case Flagged(_, flag, inner):
            yield from _held(pool, inner, loose, (*presence, Presence(flag, 1)))
        case Group(_, items):
            for item in items:
                yield from _held(pool, item, loose, presence)
        case Series(kind, length, items):
            for index, item in enumerate(items):
                there = () if length is None else (Presence(length, index + 1),)
                yield from _held(pool, item, loose or isinstance(kind, Bag), (*presence, *there))


def exchanged(layout: Layout, taken: Exchange, raw: list[int]) -> list[int]:
    """The contents of all slots after the exchange. For tests, and as the definition of what an exchange is."""
    after = list(raw)
    for slot, target in taken.moved:
        after[slot], after[target] = raw[target], raw[slot]
    for item in taken.renamings:
        if all(after[one.slot] >= one.least for one in item.presence):
            names = {item.first: item.second, item.second: item.first}
            after[item.slot] = names.get(after[item.slot], after[item.slot])
    for cross in taken.crossings:
        if after[cross.slot] >> cross.first & 1 != after[cross.slot] >> cross.second & 1:
            after[cross.slot] ^= 1 << cross.first | 1 << cross.second
    for bag in taken.bags:
        length = layout.slots[bag.length].fixed
        count = after[bag.length] if length is None else length
        rows = sorted(tuple(after[slot] for slot in row) for row in bag.items[:count])
        for row, contents in zip(bag.items, rows, strict=False):
            for slot, content in zip(row, contents, strict=True):
                after[slot] = content
    return after
