"""The names that a node's database holds, over time. A whole set is kept by reference: by a digest of its names, and
changes of it, so that a large one costs no more than the lines about it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import TypeAlias

from msgspec import Struct, field

Reference: TypeAlias = tuple[int, int]
"""How many names, and the digest of all of them: 128 bits, so that two sets that differ have the same with a
probability of 2**-128."""

NOTHING: Reference = (0, 0)


def digest(name: str) -> int:
    """The digest of one name; that of a set is the exclusive or of those of its names."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest(), "big")


def reference(names: Iterable[str]) -> Reference:
    """The reference of a set."""
    found = NOTHING
    for name in set(names):
        found = (found[0] + 1, found[1] ^ digest(name))
    return found


class Version(Struct, frozen=True):
    """What a database holds from a moment on. `at`: nanoseconds since 1970; `held`: its reference, `None` where nobody
    knows; `whole`: all names, where the line shows them; else `added` and `removed`, the change."""

    at: int
    held: Reference | None
    whole: frozenset[str] | None = None
    added: str | None = None
    removed: str | None = None


class Content(Struct):
    """The names of one database, now and at each moment before. `names`: `None` until a line shows them all."""

    names: set[str] | None = None
    held: Reference = NOTHING
    versions: list[Version] = field(default_factory=list)

    def replace(self, at: int, names: Iterable[str]) -> None:
        """From now on it holds these."""
        self.names = set(names)
        self.held = reference(self.names)
        self.versions.append(Version(at, self.held, whole=frozenset(self.names)))

    def add(self, at: int, name: str) -> None:
        """A name more, which was not there; nothing where nobody knows what is there."""
        if self.names is not None:
            self.names.add(name)
            self.held = (self.held[0] + 1, self.held[1] ^ digest(name))
            self.versions.append(Version(at, self.held, added=name))

    def remove(self, at: int, name: str) -> None:
        """A name less, which was there."""
        if self.names is not None:
            self.names.discard(name)
            self.held = (self.held[0] - 1, self.held[1] ^ digest(name))
            self.versions.append(Version(at, self.held, removed=name))

    def forget(self, at: int) -> None:
        """From now on nobody knows what it holds."""
        self.names = None
        self.versions.append(Version(at, None))

    def within(self, start: int, end: int) -> Iterator[int]:
        """The places of the versions that were there at some moment from `start` to `end`."""
        first = bisect_left(self.versions, start, key=lambda one: one.at)
        yield from range(max(first - 1, 0), bisect_right(self.versions, end, key=lambda one: one.at))

    def known_within(self, start: int, end: int) -> bool:
        """Whether a line shows what it held, all that time."""
        places = list(self.within(start, end))
        found = [self.versions[place] for place in places]
        return bool(found) and found[0].at <= start and all(one.held is not None for one in found)

    def at(self, place: int) -> frozenset[str]:
        """All names of a version that is known. Cost: linear in the changes since all of them were last shown."""
        begin = place
        while self.versions[begin].whole is None:
            begin -= 1
        names = set(self.versions[begin].whole or ())
        for one in self.versions[begin + 1 : place + 1]:
            names |= {one.added} if one.added is not None else set()
            names -= {one.removed} if one.removed is not None else set()
        return frozenset(names)
