"""What the whole log says of a property: states that later records rule out explain no earlier ones.

A search keeps, for each cut, the states that explain the records before it. Here those are left that lie on a run which
explains *every* record: a backward pass over the kept sets. A property is violated where every such run violates it,
excluded where none does, and possible where some do: then it depends on steps that write no line.

Two things are known beyond the records that are compared (see `node_lives`). No run ends a node in silence before the
last line of its log. And where only runs break a property that end a node long after its last line, though nothing
shows that it was there, the property counts as excluded; the nodes that are taken to have ended promptly are named.
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
from hacheck.traces.conformance.node_lives import NodeLives

STATES_MAX = 2_000_000
"""Where more states explain a trace, all cuts counted, nothing is looked back on."""

STEPS_MAX = 4_000_000
"""Where more steps lead from these states, nothing is known of them beyond the records."""

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
    place and one among the states of another cut. `late`: which hidden ones no prompt run takes."""

    hidden: tuple[Any, Any]
    shown: list[tuple[Cut, Any, Any]]
    late: Any

    @property
    def count(self) -> int:
        """How many steps there are."""
        return len(self.late) + sum(len(sources) for _, sources, _ in self.shown)

    def _hidden(self, prompt: bool) -> tuple[Any, Any]:
        sources, targets = self.hidden
        return (sources[~self.late], targets[~self.late]) if prompt else (sources, targets)

    def before(self, good: Any, allowed: Any, later: Mapping[Cut, Any], prompt: bool = False) -> Any:
        """The states from which the good ones, here or at a later cut, are reached through allowed ones. `prompt`: by
        steps that are not late."""
        good = good & allowed
        for cut, sources, targets in self.shown:
            good[sources[later[cut][targets]]] = True
        good &= allowed
        sources, targets = self._hidden(prompt)
        while True:
            more = good[targets] & ~good[sources] & allowed[sources]
            if not more.any():
                return good
            good[sources[more]] = True

    def after(self, reached: Any, later: Mapping[Cut, Any], prompt: bool) -> None:
        """Adds the states to which those that are reached lead, here and at later cuts."""
        sources, targets = self._hidden(prompt)
        while True:
            more = reached[sources] & ~reached[targets]
            if not more.any():
                break
            reached[targets[more]] = True
        for cut, shown_sources, shown_targets in self.shown:
            later[cut][shown_targets[reached[shown_sources]]] = True


class Hindsight(Struct):
    """The runs that explain a log, up to its end or as far as it is explained. `search`: has kept the states of each
    cut of these `streams`, of which `result` became.

    - `lives`: what is known of its nodes beyond the records; `None` where nothing is;
    - `marks`: by number of a property and cut; `certainty`: by number of a property;
    - `edges`, `indices`: by cut, what is worked out once; `ruled_out`: whether steps were left out by `lives`;
    - `alive`: by cut, which of the kept states lead to the end of the log; `spared`: by number of a property and cut,
      which do without breaking it;
    - `presumed`: by number of a property the nodes that are taken to have ended promptly, each with a cut before which
      it must have; else the property would be possible, or at more moments.
    """

    search: InterleavingSearch
    streams: Streams
    result: SearchResult
    lives: NodeLives | None = None
    marks: dict[int, dict[Cut, Marks]] = field(default_factory=dict)
    certainty: dict[int, Certainty] = field(default_factory=dict)
    alive: dict[Cut, Any] = field(default_factory=dict)
    spared: dict[int, dict[Cut, Any]] = field(default_factory=dict)
    presumed: dict[int, dict[str, Cut]] = field(default_factory=dict)
    edges: dict[Cut, _Edges] = field(default_factory=dict)
    indices: dict[Cut, _Index] = field(default_factory=dict)
    ruled_out: bool = False

    def look_back(self, numbers: Sequence[int]) -> None:
        """Finds `marks`, `certainty` and `presumed` of some properties. Cost: each kept state is expanded once more."""
        cuts = sorted(self.search.kept, key=lambda one: (sum(one), one), reverse=True)
        alive = self.alive = {}
        good = self.spared = {number: {} for number in numbers}
        self.marks = {number: {} for number in numbers}
        steps = 0
        for cut in cuts:
            states = self.search.kept[cut]
            self.indices[cut] = _index_of(states)
            edges = self._edges(cut, states)
            end, every = np.full(len(states), cut in self._ends()), np.ones(len(states), bool)
            alive[cut] = edges.before(end, every, alive)
            if self.lives is not None:
                self.edges[cut] = edges
                steps += edges.count
            if steps > STEPS_MAX:
                return self._by_records_only(numbers)
            for number, violates in self._violating(cut, numbers):
                good[number][cut] = edges.before(end, ~violates, good[number])
                self._mark(number, cut, states, violates, alive[cut])
        start, first = self.start()
        if not alive[start][first].any():  # what is known beyond the records does not fit them
            return self._by_records_only(numbers)
        if self.ruled_out:
            self._mark_anew(numbers, cuts)
        for number in numbers:
            spared = good[number][start][first].any()
            broken = any(mark.some for mark in self.marks[number].values())
            self.certainty[number] = "violated" if not spared else "possible" if broken else "excluded"
        self._presume([number for number in numbers if self.certainty[number] == "possible"], cuts)
        return None

    def _by_records_only(self, numbers: Sequence[int]) -> None:
        """Looks back by nothing but the records that are compared."""
        assert self.lives is not None, "some run writes the records"
        self.lives, self.ruled_out, self.edges = None, False, {}
        self.look_back(numbers)

    def _violating(self, cut: Cut, numbers: Sequence[int]) -> Iterator[tuple[int, Any]]:
        """Which states of a cut violate each property."""
        self.search.memory.hold(self.search.kept[cut])
        for number in numbers:
            yield number, self.search.memory.violating(number)

    def _mark_anew(self, numbers: Sequence[int], cuts: Sequence[Cut]) -> None:
        """Marks without the states that are reached only by steps that are ruled out."""
        explaining = self._explaining(cuts, prompt=False)
        assert explaining is not None, "some run explains the log"
        self.marks = {number: {} for number in numbers}
        for cut in cuts:
            for number, violates in self._violating(cut, numbers):
                self._mark(number, cut, self.search.kept[cut], violates, explaining[cut])

    def _ends(self) -> set[Cut]:
        """The cuts at which runs end that explain all that can be explained."""
        ends = {self.result.cut, *self.result.others}
        if self.result.status == k.FULL:
            ends |= {cut for cut in self.result.waiting if cut in self.search.kept}
        return ends

    def start(self) -> tuple[Cut, Any]:
        """The first cut, and the places of the states there in which traces begin."""
        start = (0,) * len(self.streams.lengths)
        first = self.indices[start].find(self._starts())
        return start, first[first >= 0]

    def _explaining(self, cuts: Sequence[Cut], prompt: bool) -> dict[Cut, Any] | None:
        """By cut, which states lie on a run that explains the whole log; `None` if there is none. `cuts`: the last one
        first; `prompt`: on a prompt run."""
        ends = self._ends()
        alive: dict[Cut, Any] = {}
        for cut in cuts:
            count = len(self.search.kept[cut])
            alive[cut] = self.edges[cut].before(np.full(count, cut in ends), np.ones(count, bool), alive, prompt)
        start, first = self.start()
        reached = {cut: np.zeros(len(self.search.kept[cut]), bool) for cut in cuts}
        reached[start][first] = True
        for cut in reversed(cuts):
            self.edges[cut].after(reached[cut], reached, prompt)
        found = {cut: alive[cut] & reached[cut] for cut in cuts}
        return found if alive[start][first].any() else None

    def _presume(self, numbers: Sequence[int], cuts: Sequence[Cut]) -> None:
        """Excludes the properties that no prompt run breaks, and of others the moments at which none does."""
        if not numbers or self.lives is None or not any(self.edges[cut].late.any() for cut in cuts):
            return
        explaining, prompt = self._explaining(cuts, prompt=False), self._explaining(cuts, prompt=True)
        if prompt is None or explaining is None:
            return
        for number in numbers:
            self.presumed[number] = {}
        for cut in reversed(cuts):
            sources, targets = (places[self.edges[cut].late] for places in self.edges[cut].hidden)
            leads_on = explaining[cut][sources] & explaining[cut][targets]
            sources, targets = sources[leads_on], targets[leads_on]
            for number, violates in self._violating(cut, numbers):
                mark = self.marks[number].get(cut)
                if mark is None or not mark.some:
                    continue
                names = self._ended_late(cut, sources, targets, violates)
                self.presumed[number] = dict.fromkeys(names, cut) | self.presumed[number]
                both = np.flatnonzero(violates & prompt[cut])
                shown = self.search.kept[cut][both[0]].copy() if len(both) else None
                self.marks[number][cut] = Marks(len(both) > 0, mark.every and len(both) > 0, shown)
        for number in numbers:
            if not any(mark.some for mark in self.marks[number].values()):
                self.certainty[number] = "excluded"

    def _ended_late(self, cut: Cut, sources: Any, targets: Any, among: Any) -> list[str]:
        """The nodes that late steps end, from some states of a cut."""
        states = self.search.kept[cut]
        before, after = states[sources[among[sources]]], states[targets[among[sources]]]
        late = () if self.lives is None else self.lives.late(cut)
        return [node.name for node in late if node.ended(before, after).any()]

    def _starts(self) -> Any:
        return self.search.memory.starts if self.search.starts is None else self.search.starts

    def _mark(self, number: int, cut: Cut, states: Any, violates: Any, alive: Any) -> None:
        if alive.any():
            both = np.flatnonzero(violates & alive)
            shown = states[both[0]].copy() if len(both) else None
            self.marks[number][cut] = Marks(len(both) > 0, len(both) == np.count_nonzero(alive), shown)

    def _edges(self, cut: Cut, states: Any) -> _Edges:
        sources, targets, late = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, bool)]
        shown: list[tuple[Cut, Any, Any]] = []
        if cut != self.streams.lengths:
            for mine, _, to, places, is_late in self._found_steps(cut, states):
                if to == cut:
                    sources.append(mine)
                    targets.append(places)
                    late.append(is_late)
                else:
                    shown.append((to, mine, places))
        return _Edges((np.concatenate(sources), np.concatenate(targets)), shown, np.concatenate(late))

    def steps_from(self, cut: Cut, states: Any) -> Iterator[tuple[Any, Any, Cut, Any]]:
        """The steps from some states of a cut, by their places, to kept ones: the places of their states among these,
        their instances, the cut that they lead to, and the places there."""
        for mine, instances, to, places, _ in self._found_steps(cut, self.search.kept[cut][states]):
            yield mine, instances, to, places

    def _found_steps(self, cut: Cut, states: Any) -> Iterator[tuple[Any, Any, Cut, Any, Any]]:
        """The same from states in words; last, which of the hidden ones no prompt run takes."""
        for of_state, instances, after, real in self._steps(cut, states):
            is_hidden = ~real.any(axis=1)
            mine, place = of_state[is_hidden], self.indices[cut].find(after[is_hidden])
            kept, late = self._known(cut, states[mine], after[is_hidden])
            kept &= place >= 0
            yield mine[kept], instances[is_hidden][kept], cut, place[kept], late[kept]
            for taken in np.unique(real[~is_hidden], axis=0):
                to = tuple(at + int(more) for at, more in zip(cut, taken, strict=True))
                if to in self.indices:
                    these = (real == taken).all(axis=1)
                    place = self.indices[to].find(after[these])
                    there = place >= 0
                    yield of_state[these][there], instances[these][there], to, place[there], np.zeros(0, bool)

    def _known(self, cut: Cut, before: Any, after: Any) -> tuple[Any, Any]:
        """Which hidden steps are possible by what is known beyond the records, and which of them no prompt run
        takes."""
        ends_living, late = np.zeros(len(before), bool), np.zeros(len(before), bool)
        if self.lives is not None:
            for node in self.lives.continuing(cut):
                ends_living |= node.ended(before, after)
            for node in self.lives.late(cut):
                late |= node.ended(before, after)
            self.ruled_out |= bool(ends_living.any())
        return ~ends_living, late

    def _steps(self, cut: Cut, states: Any) -> Iterator[tuple[Any, Any, Any, Any]]:
        """Every step from some states: the place of its state, the instance, the state after it, how many records of
        each stream it took."""
        memory, streams = self.search.memory, self.streams
        left = np.array(streams.lengths) - np.array(cut)
        for sources, instances, after in memory.steps(states, self.search.window(streams, cut)):
            taken = taken_by(self.search.compiled, after)
            real = np.minimum(taken, left)
            possible = ((taken.sum(axis=1) == 0) | (real.sum(axis=1) > 0)) & streams.whole(cut, taken)
            after = (after & ~memory.masks)[possible]
            yield sources[possible].astype(np.int64), instances[possible].astype(np.int64), after, real[possible]


def looked_back(
    search: InterleavingSearch,
    streams: Streams,
    numbers: Sequence[int],
    breaches: Breaches | None,
    report: Callable[[], bool] = lambda: True,
    lives: NodeLives | None = None,
) -> tuple[SearchResult, Hindsight | None] | None:
    """Follows a trace once more, and looks back from its end. `breaches`: takes note of each cut, with the states that
    are left; `lives`: of the trace's nodes. No hindsight where more than `STATES_MAX` states explain the trace. `None`
    if `report` says not to go on."""
    keeping = replace(search, keeps=True, kept_max=STATES_MAX)
    result = keeping.run(streams, report)
    if result is None:
        return None
    if not keeping.kept:
        return result, None
    found = Hindsight(keeping, streams, result, lives)
    found.look_back(numbers)
    if breaches is not None:
        for number in numbers:
            for cut, mark in found.marks[number].items():
                breaches.see(cut, number, mark.some, mark.every, mark.broken)
    return result, found
