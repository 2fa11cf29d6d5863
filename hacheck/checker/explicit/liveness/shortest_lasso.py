"""The lasso that shows a violation: the shortest way into a fair set, and a loop there that does what fairness asks."""

from __future__ import annotations

import ctypes

from msgspec import Struct

from hacheck.checker.explicit.liveness import edge_lists, lasso_kernels
from hacheck.checker.explicit.liveness import graph_fields as fields
from hacheck.checker.explicit.liveness.kernel_slices import Slices
from hacheck.checker.explicit.liveness.working_memory import Ground


class Walk(Struct, frozen=True):
    """Vertices one after the other, and the constraint that each step between them takes, from 1, or 0."""

    vertices: list[int]
    taken: list[int]


class FairnessMask(Struct, frozen=True):
    """What fairness asks of a loop: weak and strong constraints, as bits."""

    weak: int
    strong: int


def nearest_fair(ground: Ground, slices: Slices, levels: list[int]) -> tuple[int, int] | None:
    """The vertex of least state, among those at the fewest steps, in a fair set, and its level; `None` if there is no
    fair set. `levels`: where in ORDER each level begins, and the end."""
    for level in range(len(levels) - 1):
        ground.words[fields.BEST] = fields.NOTHING
        slices.over("find_fair", levels[level], levels[level + 1])
        if ground.words[fields.BEST] != fields.NOTHING:
            return ground.words[fields.BEST], level
    return None


def path_into(ground: Ground, slices: Slices, levels: list[int], entry: int, level: int) -> list[int]:
    """A shortest walk to a vertex of this level from one at which a run may begin to wait: its vertices. Cost: going
    once through the lists of the levels before."""
    walk = [entry]
    while not ground.is_start(walk[-1]):
        level -= 1
        ground.words[fields.TARGET] = walk[-1]
        ground.words[fields.BEST] = fields.NOTHING
        slices.over("find_before", levels[level], levels[level + 1])
        walk.append(ground.words[fields.BEST])
        assert walk[-1] != fields.NOTHING, "a vertex that was reached has one before it"
    return walk[::-1]


def fair_loop(ground: Ground, slices: Slices, end: int, entry: int, mask: FairnessMask) -> Walk:
    """A walk from a vertex of a fair set back to it, without leaving the set, that is fair when repeated for ever. A
    walk of no steps means staying. `end`: of what is in ORDER. Cost: one search of the set for each constraint."""
    loop = Walk([entry], [])
    able = slices.list_at(entry).enabled & (mask.weak | mask.strong)
    if not able:
        return loop
    ground.words[fields.PART] = ground.number(entry)
    ground.put_mask(fields.EVER, 0)
    slices.over("sum_enabled", 0, end)
    owed = ground.mask(fields.EVER) & (mask.strong | mask.weak & able)  # a weak one that is disabled here is satisfied
    while owed:
        ground.words[fields.HOME] = fields.NOTHING
        ground.put_mask(fields.OWED, owed)
        ground.put_mask(fields.OWED_WEAK, owed & mask.weak)
        for vertex, taken in _walk(ground, slices, loop.vertices[-1]):
            owed &= ~(1 << taken >> 1)
            owed &= mask.strong | slices.list_at(vertex).enabled
            loop.vertices.append(vertex)
            loop.taken.append(taken)
    if loop.vertices[-1] != entry:
        ground.words[fields.HOME] = entry
        ground.put_mask(fields.OWED_WEAK, 0)
        for vertex, taken in _walk(ground, slices, loop.vertices[-1]):
            loop.vertices.append(vertex)
            loop.taken.append(taken)
    return loop


def _walk(ground: Ground, slices: Slices, start: int) -> list[tuple[int, int]]:
    """The shortest walk of at least one step to what is looked for: each vertex after the start, and what the step to
    it takes."""
    records, queue = ground.words[fields.RECORDS], ground.words[fields.STACK]
    ctypes.c_uint32.from_address(records + 8 * start).value = lasso_kernels.QUEUED
    ctypes.c_uint32.from_address(queue).value = start
    ground.words[fields.HEAD], ground.words[fields.HEIGHT] = 0, 1
    said = slices.until("walk", ground.words.address)
    assert said != lasso_kernels.NO_WALK, "a strongly connected set has a walk to each of its steps"
    place, found = ground.words[fields.HEAD], []
    if said == lasso_kernels.FOUND_STEP_TO:
        found.append(slices.list_at(ground.vertex_at(fields.STACK, place)).steps[ground.words[fields.FOUND_STEP]])
    while place:
        target = ground.vertex_at(fields.STACK, place)
        place = ground.vertex_at(fields.FRAMES, place)
        steps = slices.list_at(ground.vertex_at(fields.STACK, place)).steps
        found.append(next(step for step in steps if step[0] == target))
    slices.until("end_walk", ground.words.address)
    return found[::-1]


def instance_of(ground: Ground, slices: Slices, before: int, after: int, constraint: int) -> int:
    """An instance that leads from one vertex to another and takes this constraint."""
    state, worker = 8 * ground.space.words, ground.workers[0]
    wanted = ctypes.string_at(ground.state_address(after), state)
    ctypes.memmove(worker[edge_lists.BUFFER], ground.state_address(before), state)
    count = slices.kernels["successors_of"](ground.words.address, worker.address, 1)
    for place in range(count):
        tag = ctypes.c_uint64.from_address(worker[edge_lists.TAGS] + 8 * place).value
        instance = tag & (edge_lists.STOP - 1)
        leads_there = ctypes.string_at(worker[edge_lists.OUT] + state * place, state) == wanted
        if leads_there and not tag & edge_lists.STOP and ground.taken_by[instance] == constraint:
            return instance
    raise AssertionError("a step that was listed can be found again")
