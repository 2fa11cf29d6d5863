"""The memory of the visited set, and how it grows: into a table of four times the size while it is small, of twice the
size when that is much memory, and fuller than is fast only where there is no room for more.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Generator
from typing import TypeAlias

from hacheck.checker.explicit.search.control_words import ROOM, SHIFT, TABLE
from hacheck.compile.machine.reserved_memory import Region

Move: TypeAlias = Callable[[list[tuple[int, ...]]], None]
"""Calls `rehash` with each of these arguments, at once."""

BITS_MAX = 32
"""The logarithm of the most slots: a place is among the bits of a tag."""

_QUADRUPLING_BITS = 24  # up to this size; 128 MiB
_FAST, _FULL = 0.6, 0.85  # loads: what is aimed at, and what is borne where there is no room
_LAST = 0.95  # for what must not be lost
_PIECE = 2**20  # slots that are moved at once; some milliseconds


class Visited:
    """The table: `2 ** bits` slots of 8 bytes.

    - `region`: its memory; `None` once it is freed or was given up half way.
    - `is_crowded`: whether it is filled up beyond what is fast.
    """

    __slots__ = ("bits", "is_crowded", "region", "shared")

    def __init__(self, shared: array[int], bits: int) -> None:
        self.shared, self.bits, self.is_crowded = shared, bits, False
        self.region: Region | None = Region(8 << bits)
        self._announce(self.region)

    @property
    def bytes(self) -> int:
        """The memory it takes."""
        return 0 if self.region is None else 8 << self.bits

    def next_bits(self, used: int, bytes_free: int) -> int | None:
        """How large the next table is for more than `used` states, if not more than so many bytes are to be added;
        `None` if it cannot grow."""
        wanted = self.bits + (2 if self.bits + 2 <= _QUADRUPLING_BITS else 1)
        while used > _room(wanted, _FAST):
            wanted += 1
        least = self.bits + 1
        while used > _room(least, _FULL):
            least += 1
        for bits in range(min(wanted, BITS_MAX), least - 1, -1):
            if (8 << bits) - self.bytes <= bytes_free:
                return bits
        return None

    def crowd(self, used: int) -> bool:
        """Allows a higher load instead of growing, if that gives room for more than `used` states."""
        if self.is_crowded or used > _room(self.bits, _FULL):
            return False
        self.is_crowded = True
        self.shared[ROOM] = _room(self.bits, _FULL)
        return True

    def open_to_the_last(self) -> None:
        """Allows nearly every slot to be taken."""
        self.shared[ROOM] = max(self.shared[ROOM], _room(self.bits, _LAST))

    def grow(self, bits: int, move: Move, threads: int) -> Generator[None, None, None]:
        """Moves into a table of `2 ** bits` slots, piece by piece, resting after each. What was moved is given back to
        the machine at once, so there is no table until the last piece is moved."""
        old, slots = self.region, 1 << self.bits
        assert old is not None, "a table that was given up does not grow"
        new = Region(8 << bits)
        self.region = None
        try:
            for start in range(0, slots, _PIECE * threads):
                starts = range(start, min(start + _PIECE * threads, slots), _PIECE)
                move([(old.address, at, min(at + _PIECE, slots), new.address, 64 - bits) for at in starts])
                old.forget(8 * start, 8 * min(start + _PIECE * threads, slots))
                yield
        except BaseException:
            new.free()
            raise
        finally:
            old.free()
        self.region, self.bits, self.is_crowded = new, bits, False
        self._announce(new)

    def free(self) -> None:
        """Gives the memory back."""
        if self.region is not None:
            self.region.free()
            self.region = None

    def _announce(self, region: Region) -> None:
        self.shared[TABLE], self.shared[SHIFT] = region.address, 64 - self.bits
        self.shared[ROOM] = _room(self.bits, _FULL if self.bits == BITS_MAX else _FAST)


def _room(bits: int, load: float) -> int:
    return int(load * (1 << bits))
