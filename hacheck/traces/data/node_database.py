"""The database of one node, as its own lines make it, and where these contradict each other."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from hacheck.traces.conformance.verdicts import Place
from hacheck.traces.data.content import Content
from hacheck.traces.data.contradictions import LINES, Contradiction, listed

Report = Callable[[Contradiction], None]


class Taking(Struct):
    """A database that replaces the one of the node. `adds`, `removes`: the names on which lines must still come."""

    place: Place
    adds: set[str]
    removes: set[str]


class Restart(Struct, frozen=True):
    """A process that begins again. `before`: what its predecessor had; `loaded`: what is on the disk; `served`: whether
    the predecessor was in the service of a group; `removed`: names that it had removed; `began`: when it began."""

    node: str
    start: Place
    before: frozenset[str]
    loaded: frozenset[str]
    served: bool
    removed: frozenset[str]
    began: int


class Fetch(Struct, frozen=True):
    """A database that a node took from another one: `place` is of the line before, `taken` of the one that shows it."""

    node: str
    source: str
    place: Place
    taken: Place
    version: int


class Dropped(Struct, frozen=True):
    """Names that a node had, and that a database lacks which it took. `began`: when its process did."""

    node: str
    place: Place
    names: frozenset[str]
    began: Place | None


class NodeDatabase(Struct):
    """Follows the lines of one node. `group`: in whose service it is; `member`: not as the coordinator; `made`: the
    names that it added since then."""

    node: str
    noun: str
    report: Report
    content: Content = field(default_factory=Content)
    group: str | None = None
    member: bool = False
    made: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    restarts: list[Restart] = field(default_factory=list)
    fetches: list[Fetch] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    _loading: set[str] | None = None
    _start: Place | None = None
    _before: tuple[frozenset[str] | None, bool, frozenset[str], int] = (None, False, frozenset(), 0)
    _began: int = 0
    _taking: Taking | None = None
    _fetching: tuple[str, Place] | None = None
    _added_at: dict[str, Place] = field(default_factory=dict)

    def start(self, place: Place) -> None:
        """A process begins."""
        self.loaded()
        names = None if self.content.names is None else frozenset(self.content.names)
        self._before = (names, self.group is not None, frozenset(self.removed), self._began)
        self._loading, self._start = set(), place
        self._began = time_of(place)
        self.group, self._taking, self._fetching = None, None, None
        self.removed.clear()

    def load(self, name: str) -> None:
        """A name is on the disk of a process that begins."""
        if self._loading is not None:
            self._loading.add(name)

    def loaded(self) -> None:
        """All lines on what is on the disk are there."""
        if self._loading is None or self._start is None:
            return
        before, served, removed, began = self._before
        if before is not None:
            loaded = frozenset(self._loading)
            self.restarts.append(Restart(self.node, self._start, before, loaded, served, removed, began))
        self.content.replace(time_of(self._start), self._loading)
        self._loading = None
        self._added_at.clear()

    def fetch(self, source: str, place: Place) -> None:
        """It is about to take the database of another node."""
        self.loaded()
        self._fetching = (source, place)

    def take(self, names: frozenset[str], place: Place) -> None:
        """Another database replaces its own."""
        self.loaded()
        self._taken()
        own = self.content.names
        self._taking = None if own is None else Taking(place, set(names - own), set(own - names))
        if own is not None and own - names:
            self.dropped.append(Dropped(self.node, place, frozenset(own - names), self._start))
        self.content.replace(time_of(place), names)
        if self._fetching is not None:
            source, at = self._fetching
            self.fetches.append(Fetch(self.node, source, at, place, len(self.content.versions) - 1))
        self._fetching = None

    def add(self, name: str, place: Place) -> bool:
        """A name more. Returns whether it is a change, and does not come with a database that was taken."""
        self.loaded()
        if self._taking is not None and name in self._taking.adds:
            self._taking.adds.discard(name)
            self._added_at[name] = place
            return False
        if self.content.names is not None and name in self.content.names:
            since = self._added_at.get(name)
            text = f"{listed(self.noun, [name])} was added a second time at node {self.node}, which had it"
            self.report(Contradiction(LINES, text, place, since, self.node))
        else:
            self.content.add(time_of(place), name)
        self._added_at[name] = place
        self.made.add(name)
        return True

    def remove(self, name: str, place: Place) -> bool:
        """A name less. Returns whether it is a change, and does not come with a database that was taken."""
        self.loaded()
        self.removed.add(name)
        if self._taking is not None and name in self._taking.removes:
            self._taking.removes.discard(name)
            return False
        if self.content.names is not None and name not in self.content.names:
            text = f"{listed(self.noun, [name])} was removed at node {self.node}, which did not have it"
            self.report(Contradiction(LINES, text, place, None, self.node))
        else:
            self.content.remove(time_of(place), name)
        return True

    def serve(self, group: str, *, member: bool) -> None:
        """It begins to serve: a database that it took before is there as a whole."""
        self.loaded()
        self._taken()
        self.group, self.member = group, member
        self.made.clear()

    def leave(self) -> None:
        """It serves no longer."""
        self.loaded()
        self.group = None

    def _taken(self) -> None:
        """Looks whether all lines came that belong to a database that was taken."""
        taking, self._taking = self._taking, None
        for names, verb in () if taking is None else ((taking.adds, "adds"), (taking.removes, "removes")):
            if names and taking is not None:
                said = f"{listed(self.noun, names)}, which its own lines {'lack' if verb == 'adds' else 'had'}"
                text = f"node {self.node} took a database that {verb} {said}, and no line {verb} it"
                self.report(Contradiction(LINES, text, taking.place, None, self.node))


def time_of(place: Place) -> int:
    """When a record was written; 0 where it does not say."""
    return place.time or 0
