"""Identities numbered in the order in which the slots of a state hold them, as text of the kernel language.

The words of the state are the locals `s0`, `s1`, and so on. Slots that have a place of their own come first;
identities that only sets and bags hold get the numbers after those, in an order that is still to be settled.
"""

from __future__ import annotations

from hacheck.checker.explicit.native.canonical_slots import Lines, Words, indented, sorting_lines
from hacheck.checker.explicit.native.words import WORD_BITS
from hacheck.model.lowering.canonical import Held, Resorting, exchange_in, slots_holding
from hacheck.model.types import Identity

_FULL = (1 << WORD_BITS) - 1


class Numbering:
    """The numbering of one pool. `number` tells its locals from those of other pools: `held…` is one more than the
    identities that slots with a place of their own hold, `next…` one more than all that the state holds."""

    def __init__(self, words: Words, pool: Identity, number: int) -> None:
        self.words, self.pool = words, pool
        self.held, self.next = f"held{number}", f"next{number}"
        self.slots = slots_holding(words.layout, pool)
        self.bits = pool.size.bit_length()
        self.mask = (1 << self.bits) - 1
        self.entries = WORD_BITS // self.bits  # of one word of the table; entry 0 stays 0
        self.tables = -(-(pool.size + 1) // self.entries)

    @property
    def loose(self) -> bool:
        """Whether sets or bags hold identities of the pool."""
        return any(held.loose for held in self.slots)

    def rank(self, place: int, signature: str) -> str:
        """What to sort the identity with number `place + 1` by: those in slots of their own keep their place, those
        that nothing holds come last."""
        found = f"{1 << WORD_BITS - 2} | ({signature}) >> 2"
        return f"{place} if {self.held} > {place + 1} else ({found}) if {self.next} > {place + 1} else {_FULL}"

    def lines(self) -> Lines:
        """The lines that number the identities."""
        lines = [f"m{table} = 0" for table in range(self.tables)]
        lines.append(f"{self.next} = 1")
        own = [held for held in self.slots if not held.loose]
        for held in own:
            lines += self.renumbered(held)
        if not self.loose:
            return lines
        lines.append(f"{self.held} = {self.next}")
        for held in self.slots[len(own) :]:
            lines += self.renumbered_set(held) if held.is_set else self.renumbered(held)
        for bag in self.bags():
            lines += sorting_lines(self.words, bag)
        return lines

    def bags(self) -> tuple[Resorting, ...]:
        taken = exchange_in(self.words.layout, self.pool, 1, 2)
        assert taken is not None, f"{self.pool.name}s are not alike"
        return taken.bags

    def renumbered(self, held: Held) -> Lines:
        """One slot."""
        content = self.words.content(held.slot)
        there = [] if held.is_option else self.words.present(held.presence)
        index = content if held.is_option else " * ".join([f"({content} + 1)", *there])
        back = "" if held.is_option else " - (x != 0)" if there else " - 1"
        sure = not held.is_option and not there
        lines = [f"x = {index}", *self.look_up(), f"f = y == 0{'' if sure else ' and x != 0'}"]
        (part,) = self.words.bits(held.slot)
        kept = _FULL & ~(((1 << part.width) - 1) << part.shift)
        new = f"y{back}" if not part.shift else f"(y{back}) << {part.shift}"
        return [*lines, *self.enter(), f"s{part.word} = s{part.word} & {kept} | {new}"]

    def renumbered_set(self, held: Held) -> Lines:
        """One set: bit by bit."""
        (part,) = self.words.bits(held.slot)
        lines = ["u = 0"]
        for member in range(1, self.pool.size + 1):
            bit = member if held.is_option else member - 1
            lines += [f"t = {self.words.bit(held.slot, bit)}", f"x = {member}", *self.look_up()]
            lines += ["f = t & (y == 0)", *self.enter()]
            lines.append("u = u | t << y" if held.is_option else "u = u | t << y >> 1")
        members = (1 << part.width) - (2 if held.is_option else 1)
        kept = _FULL & ~(members << part.shift)
        moved = f"u << {part.shift}" if part.shift else "u"
        return [*lines, f"s{part.word} = s{part.word} & {kept} | {moved}"]

    def look_up(self) -> Lines:
        """`y` becomes the number of identity `x`, or 0."""
        text = ""
        for table in reversed(range(self.tables)):
            entry = f"m{table} >> {self.place(table)} & {self.mask}"
            text = f"({entry}) if x < {(table + 1) * self.entries} else {text}" if text else f"({entry})"
        return [f"y = {text}"]

    def enter(self) -> Lines:
        """Where `f` holds, identity `x` gets the next number, which becomes `y`."""
        lines = [f"y = y + f * {self.next}"]
        if self.tables == 1:
            lines.append(f"m0 = m0 | f * {self.next} << {self.place(0)}")
        else:
            for table in range(self.tables):
                low, high = table * self.entries, (table + 1) * self.entries
                here = f"if x >= {low} and x < {high}:"
                entry = f"m{table} = m{table} | f * {self.next} << {self.place(table)}"
                lines += [here, *indented([entry])]
        return [*lines, f"{self.next} = {self.next} + f"]

    def place(self, table: int) -> str:
        """Where in a word of the table the entry of `x` is."""
        first = table * self.entries
        return f"(x - {first}) * {self.bits}" if first else f"x * {self.bits}"
