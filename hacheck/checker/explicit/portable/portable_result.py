"""What a search of the portable engine leaves, as every engine's search leaves it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import partial

from msgspec import Struct

from hacheck.checker.explicit.portable.breadth_first_search import Log
from hacheck.checker.explicit.portable.condition_functions import Prepared
from hacheck.checker.explicit.portable.python_program import Code, successors
from hacheck.checker.explicit.portable.shortest_paths import path_to
from hacheck.checker.explicit.search_result import SPEC_ERROR, StatePath, Subject
from hacheck.compile.lowering.layout import pack

# Of how many states of a level the steps are listed. Where there are more, the first step found will do.
_LISTED_MAX = 20_000


def subject_of(code: Code) -> Subject:
    """What the code searches. Its states are not reduced."""
    lowered = code.lowered
    instances = tuple((instance.action, instance.arguments) for instance in lowered.instances)
    return Subject(lowered.system, instances, code.bounds, partial(pack, lowered.layout))


class LogFindings(Struct, frozen=True):
    """A log, and the generated code it was made with."""

    prepared: Prepared
    log: Log

    @property
    def size(self) -> int:
        """Distinct states found."""
        return len(self.log.order)

    @property
    def depth(self) -> int:
        """Steps to the states found last."""
        return self.log.depth

    @property
    def stopped(self) -> str | None:
        """Why the search ended early."""
        return self.log.stopped

    @property
    def counts(self) -> Sequence[int]:
        """Steps by action."""
        return self.log.counts

    @property
    def bounds_reached(self) -> Sequence[int]:
        """Cut steps by bound."""
        return self.log.bounds_reached

    @property
    def found(self) -> dict[str, int]:
        """The first state that met each condition that was met."""
        return self.log.found

    @property
    def hits(self) -> dict[str, tuple[int, int]]:
        """The first step that met each condition that was met."""
        return {key: hits[0] for key, hits in zip(self.prepared.steps, self.log.hits, strict=True) if hits}

    @property
    def errors(self) -> Sequence[tuple[int, int]]:
        """The first state and instance whose step is an error of the spec."""
        return self.log.errors

    @property
    def traced(self) -> dict[str, StatePath]:
        """None: what is needed to reconstruct runs is quick to find."""
        return {}

    @property
    def bytes_per_state(self) -> float | None:
        """Not counted: states are objects of Python."""
        return None

    def closest(self, key: str) -> Sequence[int]:
        """The states of one level that meet a condition, or from which a step does."""
        log = self.log
        if key == SPEC_ERROR:
            return [log.errors[0][0]]
        if key in self.prepared.steps:
            number = self.prepared.steps.index(key)
            first, end = self._level(log.hits[number][0][0])
            find = self.prepared.find_step(number)
            states = log.order[first : min(end, log.expanded)][:_LISTED_MAX]
            met = [
                state
                for state in states
                if find([(state, after) for after, _ in successors(self.prepared.code, state)])
            ]
            return met or [log.hits[number][0][0]]
        hit = log.found[key]
        finder = next(finder for finder in self.prepared.finders if finder.key == key)
        if finder.dead_only:
            return [hit]
        first, end = self._level(hit)
        return [state for state in log.order[first:end] if finder.find([state]) is not None]

    def _level(self, state: int) -> tuple[int, int]:
        """Where the level of a state begins and ends in the log."""
        log = self.log
        level = bisect_right(log.levels, log.order.index(state))
        return log.levels[level - 1], log.levels[level] if level < len(log.levels) else len(log.order)

    def packed(self, number: int) -> int:
        """A packed state by its number, in the order in which they were found."""
        return self.log.order[number]

    def contains(self, state: int) -> bool:
        """Whether a packed state was found."""
        return state in self.log.seen

    @property
    def complete(self) -> bool:
        """Whether every state that was found was expanded."""
        return self.stopped is None

    def path_to(self, targets: Sequence[int]) -> StatePath:
        """A shortest run to one of some states of one level."""
        return path_to(self.prepared.code, self.log, targets)
