"""What the whole log says of a property: states that later records rule out explain no earlier ones.

A search keeps, for each cut, the states that explain the records before it. Here those are left that lie on a run which
explains *every* record: a backward pass over the kept sets. A property is violated where every such run violates it,
excluded where none does, and possible where some do: then it depends on steps that write no line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from hacheck.traces.conformance.broken_durations import Breaches
from hacheck.traces.conformance.interleavings import Cut, InterleavingSearch, SearchResult, Streams, row_keys, taken_by
from hacheck.traces.conformance.kernels import control as k

STATES_MAX = 2_000_000
"""Where more states explain a trace, all cuts counted, nothing is looked back on."""

Certainty: TypeAlias = Literal["violated", "possible", "excluded"]


class Marks(Struct, frozen=True):
    """Of a property at a cut: whether `some` and whether `every` state there breaks it that lies on a run which
    explains the whole log. `broken`: one of those that do, in words."""

    some: bool
    every: bool
    broken: Any = None


class _Index(Struct):
    """The states of a cut, found by their words."""

    rows: Any
    order: Any
    keys: Any

    def find(self, rows: Any) -> Any:
        """The place of each row; -1 for one that is not there."""
        keys = row_keys(rows)
        at = np.searchsorted(self.keys, keys)
        found = np.full(len(rows), -1, np.int64)
        open_ones = np.flatnonzero(at < len(self.keys))
        while len(open_ones):  # mostly once; again for rows of equal keys
            at_now = at[open_ones]
            same_key = self.keys[at_now] == keys[open_ones]
            open_ones, at_now = open_ones[same_key], at_now[same_key]
            places = self.order[at_now]
            equal = (self.rows[places] == rows[open_ones]).all(axis=1)
            found[open_ones[equal]] = places[equal]
            open_ones = open_ones[~equal]
            at[open_ones] += 1
            open_ones = open_ones[at[open_ones] < len(self.keys)]
        return found


def _index_of(rows: Any) -> _Index:
    keys = row_keys(rows)
    order = np.argsort(keys, kind="stable")
    return _Index(rows, order, keys[order])


class _Edges(Struct):
    """The steps from the states of a cut: `hidden` ones as pairs of places, and those `shown` by records as pairs of a
    place and one among the states of another cut."""

    hidden: tuple[Any, Any]
    shown: list[tuple[Cut, Any, Any]]

    def before(self, good: Any, allowed: Any, later: Mapping[Cut, Any]) -> Any:
        """The states from which the good ones, here or at a later cut, are reached through allowed ones."""
        good = good & allowed
        for cut, sources, targets in self.shown:
            good[sources[later[cut][targets]]] = True
        good &= allowed
        sources, targets = self.hidden
        while True:
            more = good[targets] & ~good[sources] & allowed[sources]
            if not more.any():
                return good
            good[sources[more]] = True


class Hindsight(Struct):
    """The runs that explain a log, up to its end or as far as it is explained. `search`: has kept the states of each
    cut of these `streams`, of which `result` became.

    - `marks`: by number of a property and cut; - `certainty`: by number of a property.
    """

    search: InterleavingSearch
    streams: Streams
    result: SearchResult
    marks: dict[int, dict[Cut, Marks]] = field(default_factory=dict)
    certainty: dict[int, Certainty] = field(default_factory=dict)

    def look_back(self, numbers: Sequence[int]) -> None:
        """Finds `marks` and `certainty` of some properties. Cost: each kept state is expanded once more."""
        kept, ends = self.search.kept, {self.result.cut, *self.result.others}
        if self.result.status == k.FULL:
            ends |= {cut for cut in self.result.waiting if cut in kept}
        alive: dict[Cut, Any] = {}
        good: dict[int, dict[Cut, Any]] = {number: {} for number in numbers}
        indices: dict[Cut, _Index] = {}
        for number in numbers:
            self.marks[number] = {}
        for cut in sorted(kept, key=lambda one: (sum(one), one), reverse=True):
            states = kept[cut]
            indices[cut] = _index_of(states)
            edges = self._edges(cut, states, indices)
            end = np.full(len(states), cut in ends)
            every = np.ones(len(states), bool)
            alive[cut] = edges.before(end, every, alive)
            self.search.memory.hold(states)
            for number in numbers:
                violates = self.search.memory.violating(number)
                good[number][cut] = edges.before(end, ~violates, good[number])
                self._mark(number, cut, states, violates, alive[cut])
        start = (0,) * len(self.streams.lengths)
        first = indices[start].find(self._starts())
        for number in numbers:
            spared = good[number][start][first[first >= 0]].any()
            broken = any(mark.some for mark in self.marks[number].values())
            self.certainty[number] = "violated" if not spared else "possible" if broken else "excluded"

    def _starts(self) -> Any:
        return self.search.memory.starts if self.search.starts is None else self.search.starts

    def _mark(self, number: int, cut: Cut, states: Any, violates: Any, alive: Any) -> None:
        if alive.any():
            both = np.flatnonzero(violates & alive)
            shown = states[both[0]].copy() if len(both) else None
            self.marks[number][cut] = Marks(len(both) > 0, len(both) == np.count_nonzero(alive), shown)

    def _edges(self, cut: Cut, states: Any, indices: Mapping[Cut, _Index]) -> _Edges:
        sources, targets = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        shown: list[tuple[Cut, Any, Any]] = []
        if cut != self.streams.lengths:
            for of_state, after, real in self._steps(cut, states):
                is_hidden = ~real.any(axis=1)
                sources.append(of_state[is_hidden])
                targets.append(indices[cut].find(after[is_hidden]))
                for taken in np.unique(real[~is_hidden], axis=0):
                    to = tuple(at + int(more) for at, more in zip(cut, taken, strict=True))
                    if to in indices:
                        mine = (real == taken).all(axis=1)
                        places = indices[to].find(after[mine])
                        shown.append((to, of_state[mine][places >= 0], places[places >= 0]))
        from_all, to_all = np.concatenate(sources), np.concatenate(targets)
        return _Edges((from_all[to_all >= 0], to_all[to_all >= 0]), shown)

    def _steps(self, cut: Cut, states: Any) -> Iterator[tuple[Any, Any, Any]]:
        """Every step from some states: the place of its state, the state after it, how many records of each stream it
        took."""
        memory, streams = self.search.memory, self.streams
        left = np.array(streams.lengths) - np.array(cut)
        for sources, _, after in memory.steps(states, self.search.window(streams, cut)):
            taken = taken_by(self.search.compiled, after)
            real = np.minimum(taken, left)
            possible = ((taken.sum(axis=1) == 0) | (real.sum(axis=1) > 0)) & streams.whole(cut, taken)
            yield sources[possible].astype(np.int64), (after & ~memory.masks)[possible], real[possible]


def looked_back(
    search: InterleavingSearch,
    streams: Streams,
    numbers: Sequence[int],
    breaches: Breaches | None,
    report: Callable[[], bool] = lambda: True,
) -> tuple[SearchResult, Hindsight | None] | None:
    """Follows a trace once more, and looks back from its end. `breaches`: takes note of each cut, with the states that
    are left. No hindsight where more than `STATES_MAX` states explain the trace. `None` if `report` says not to go
    on."""
    keeping = replace(search, keeps=True, kept_max=STATES_MAX)
    result = keeping.run(streams, report)
    if result is None:
        return None
    if not keeping.kept:
        return result, None
    found = Hindsight(keeping, streams, result)
    found.look_back(numbers)
    if breaches is not None:
        for number in numbers:
            for cut, mark in found.marks[number].items():
                breaches.see(cut, number, mark.some, mark.every, mark.broken)
    return result, found
