"""Identities numbered in the order in which the slots of a state hold them, as text of the kernel language.

The words of the state are the locals `s0`, `s1`, and so on. An identity is a number from 1, 0 is none. A table says
which new number each has got, 0 for none yet; it is a word or several, `m0_0` and so on.

Slots that have a place of their own come first. Identities that only sets and bags hold get the numbers after those,
by what is known of them without naming any: in which sets they are, and in which elements of bags. What this does
not distinguish is interchangeable, unless one element of a bag can hold two of them; then each of them is tried.
"""

from __future__ import annotations

from hacheck.checker.explicit.symmetry.slot_renaming import Lines, Words, indented, sorting_lines
from hacheck.compile.codegen.word_layout import WORD_BITS
from hacheck.compile.lowering.permuted_slots import Held, Resorting, exchange_in, slots_holding
from hacheck.model.types import Identity

_FULL = (1 << WORD_BITS) - 1
_SPREAD = 0x9E3779B97F4A7C15  # as in `signature`


class Numbering:
    """The numbering of one pool. `number` distinguishes its locals from those of other pools; `tables` are the words of
    its table, `next` the number that comes next."""

    def __init__(self, words: Words, pool: Identity, number: int) -> None:
        self.words, self.pool, self.number = words, pool, number
        slots = slots_holding(words.layout, pool)
        self.own = [held for held in slots if not held.loose]
        self.loose = [held for held in slots if held.loose]
        self.bits = 4 if 3 < pool.size < 16 else pool.size.bit_length()  # a shift is cheaper than a product
        self.mask = (1 << self.bits) - 1
        self.entries = WORD_BITS // self.bits  # of one word of the table; entry 0 stays 0
        self.tables = [f"m{number}_{table}" for table in range(-(-(pool.size + 1) // self.entries))]
        self.next = f"next{number}"

    # ---- slots of their own ----

    def lines(self) -> Lines:
        """The lines that number the identities in slots of their own, and begin the table."""
        lines = [f"{table} = 0" for table in self.tables]
        lines.append(f"{self.next} = 1")
        for held in self.own:
            lines += self.numbered(held)
        return lines

    def numbered(self, held: Held) -> Lines:
        """One slot gets its identity's number, a new one if it has none. (Most slots hold none most of the time, and
        a branch that is foreseen costs less than to wait for the table.)"""
        lines = [f"y = {self.entry('x')}", "f = y == 0", f"u = {self.next} & (0 - f)", "y = y | u"]
        lines += [*self.enter("x", "u"), f"{self.next} = {self.next} + f", self.put(held)]
        if self.is_sure(held):
            return [f"x = {self.identity(held)}", *lines]
        return [f"x = {self.identity(held)}", "if x:", *indented(lines)]

    def is_sure(self, held: Held) -> bool:
        """Whether a slot always holds an identity."""
        return not held.is_option and not held.presence

    def identity(self, held: Held) -> str:
        """What a slot holds."""
        content = self.words.content(held.slot)
        if held.is_option:
            return content
        return " * ".join([f"({content} + 1)", *self.words.present(held.presence)])

    def put(self, held: Held) -> str:
        """The line that makes a slot that is there hold `y`."""
        (part,) = self.words.bits(held.slot)
        kept = _FULL & ~(((1 << part.width) - 1) << part.shift)
        new = "y" if held.is_option else "y - 1"
        return f"s{part.word} = s{part.word} & {kept} | ({new}) << {part.shift}"

    def entry(self, identity: str) -> str:
        """The number of an identity."""
        text = ""
        for number, table in reversed(list(enumerate(self.tables))):
            found = f"({table} >> {self.place(identity, number)} & {self.mask})"
            text = f"{found} if {identity} < {(number + 1) * self.entries} else {text}" if text else found
        return text

    def enter(self, identity: str, number: str) -> Lines:
        """The lines that add a number to an entry that is 0."""
        if len(self.tables) == 1:
            (table,) = self.tables
            return [f"{table} = {table} | {number} << {self.place(identity, 0)}"]
        lines: Lines = []
        for place, table in enumerate(self.tables):
            low, high = place * self.entries, (place + 1) * self.entries
            entered = f"{table} = {table} | {number} << {self.place(identity, place)}"
            lines += [f"if {identity} >= {low} and {identity} < {high}:", *indented([entered])]
        return lines

    def place(self, identity: str, table: int) -> str:
        """Where in a word of the table an entry is."""
        first = table * self.entries
        return f"({identity} - {first}) * {self.bits}" if first else f"{identity} * {self.bits}"

    # ---- sets and bags ----

    @property
    def left(self) -> str:
        """The local with a bit for each identity that has no number yet."""
        return f"left{self.number}"

    def gather(self) -> Lines:
        """The lines that find the identities which only sets and bags hold."""
        lines: Lines = [f"{self.left} = 0"]
        for held in self.loose:
            content = self.words.content(held.slot)
            if held.is_set:
                for member in range(1, self.pool.size + 1):
                    test = f"if {self.bit(held, member)} and {self.entry(str(member))} == 0:"
                    lines += [test, *indented([f"{self.left} = {self.left} | {1 << member}"])]
            else:
                inside = [f"x = {content if held.is_option else f'{content} + 1'}"]
                test = "if x and y == 0:" if held.is_option else "if y == 0:"
                inside += [f"y = {self.entry('x')}", test, *indented([f"{self.left} = {self.left} | 1 << x"])]
                lines += [f"if {' and '.join(self.words.present(held.presence))}:", *indented(inside)]
        return lines

    def bit(self, held: Held, member: int) -> str:
        """Whether a set has a member."""
        return self.words.bit(held.slot, member if held.is_option else member - 1)

    def renumber(self) -> Lines:
        """The lines that put the numbers of the table into sets and bags."""
        lines: Lines = []
        for held in self.loose:
            if held.is_set:
                lines += self.renumbered_set(held)
                continue
            content = self.words.content(held.slot)
            inside = [
                f"x = {content if held.is_option else f'{content} + 1'}",
                f"y = {self.entry('x')}",
                self.put(held),
            ]
            lines += [f"if {' and '.join(self.words.present(held.presence))}:", *indented(inside)]
        return lines

    def renumbered_set(self, held: Held) -> Lines:
        (part,) = self.words.bits(held.slot)
        lines = ["u = 0"]
        for member in range(1, self.pool.size + 1):
            moved = f"1 << {self.entry(str(member))}" if held.is_option else f"1 << {self.entry(str(member))} >> 1"
            lines += [f"if {self.bit(held, member)}:", *indented([f"u = u | {moved}"])]
        members = (1 << part.width) - (2 if held.is_option else 1)
        kept = _FULL & ~(members << part.shift)
        return [*lines, f"s{part.word} = s{part.word} & {kept} | u << {part.shift}"]

    def bags(self) -> tuple[Resorting, ...]:
        """The bags that hold identities of the pool."""
        taken = exchange_in(self.words.layout, self.pool, 1, 2)
        assert taken is not None, f"{self.pool.name}s are not symmetric"
        return taken.bags

    # ---- what distinguishes identities that have no number ----

    def is_entangled(self, masked: frozenset[int]) -> bool:
        """Whether an element of a bag can hold two identities, so that the rank of one may depend on another."""
        return any(len(masked.intersection(row)) > 1 for bag in self.bags() for row in bag.items)

    def rank(self, masked: frozenset[int]) -> str:
        """A function: what is known of identity `x` without its name, as a number. `masked`: the slots that hold
        identities."""
        names = ", ".join(self.words.names)
        lines = ["r = 0"]
        rows = {slot: (bag, row) for bag in self.bags() for row in bag.items for slot in row}
        labels = {held.slot: place for place, held in enumerate(self.loose)}
        for held in self.loose:
            content = self.words.content(held.slot)
            if held.is_set:
                number = "x" if held.is_option else "(x - 1)"
                lines.append(f"r = r + ({content} >> {number} & 1) * {_mixed(labels[held.slot])}")
                continue
            tests = [f"{content} == {'x' if held.is_option else 'x - 1'}", *self.words.present(held.presence)]
            code = str(_mixed(labels[held.slot]))
            if held.slot in rows:
                # elements of one bag differ by what else is in them, not by their places
                bag, row = rows[held.slot]
                code = str(_mixed(labels[bag.items[0][row.index(held.slot)]]))
                for other in (part for slot in row if slot not in masked for part in self.words.contents(slot)):
                    code = f"scattered({code} + {other})"
            lines += [f"if {' and '.join(tests)}:", *indented([f"r = r + {code}"])]
        return "\n".join([f"def rank{self.number}({names}, x):", *indented([*lines, "return r"]), ""])


def _mixed(label: int) -> int:
    """A number for a label such that no two sums of a few are equal, but by a chance of 2**-64 (splitmix64)."""
    number = (label + 1) * _SPREAD & _FULL
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & _FULL
    number = (number ^ number >> 27) * 0x94D049BB133111EB & _FULL
    return number ^ number >> 31


def finish(words: Words, numberings: tuple[Numbering, ...]) -> Lines:
    """The lines that end a numbering: everything in sets and bags renumbered, the bags sorted."""
    lines = [line for numbering in numberings for line in numbering.renumber()]
    bags: dict[Resorting, None] = {}
    for numbering in numberings:
        bags.update(dict.fromkeys(numbering.bags()))
    return [*lines, *(line for bag in bags for line in sorting_lines(words, bag))]
