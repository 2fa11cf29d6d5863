"""Shortest runs from the log of a search: fewest steps, and among those fewest faults."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from hacheck.checker.explicit.portable.breadth_first_search import Log, predecessor
from hacheck.checker.explicit.portable.python_program import Code, successors
from hacheck.checker.explicit.search_result import StatePath

# Among how many states faults are counted. Where a run's levels hold more, it is the run found first.
_COUNTED_MAX = 100_000


def path_to(code: Code, log: Log, targets: Sequence[int]) -> StatePath:
    """A shortest run to one of some states, which are all of one level. Cost: that of listing the successors of all
    states that are nearer, if these are few enough to count faults."""
    place = log.order.index(targets[0])
    depth = bisect_right(log.levels, place) - 1
    if log.levels[depth] > _COUNTED_MAX:
        return _first_found(code, log, place)
    return _fewest_faults(code, log, targets, depth)


def _first_found(code: Code, log: Log, place: int) -> StatePath:
    index: int | None = place
    states: list[int] = []
    while index is not None:
        states.append(log.order[index])
        index = predecessor(code, log, index)
    return StatePath(states[::-1])


def _fewest_faults(code: Code, log: Log, targets: Sequence[int], depth: int) -> StatePath:
    """Goes back level by level, keeping for each state on a shortest run the fewest faults from there on."""
    actions = code.lowered.system.actions
    faulty = [actions[instance.action].kind == "fault" for instance in code.lowered.instances]
    ahead: dict[int, tuple[int, int, int]] = dict.fromkeys(targets, (0, -1, -1))
    layers = [ahead]
    for level in range(depth - 1, -1, -1):
        here: dict[int, tuple[int, int, int]] = {}
        for state in log.order[log.levels[level] : log.levels[level + 1]]:
            for successor, instance in successors(code, state):
                if successor in ahead:
                    faults = ahead[successor][0] + faulty[instance]
                    if state not in here or faults < here[state][0]:
                        here[state] = faults, instance, successor
        layers.append(here)
        ahead = here
    state = min(ahead, key=lambda state: ahead[state][0])
    states, by = [state], []
    for layer in layers[:0:-1]:
        _, instance, state = layer[state]
        states.append(state)
        by.append(instance)
    return StatePath(states, tuple(by))
