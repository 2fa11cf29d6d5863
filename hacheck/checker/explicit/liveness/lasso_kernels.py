"""The way into a fair set and the walks of a loop inside it, in the kernel language.

A walk is found breadth first from a vertex, without leaving its part. Meanwhile the vertices in the queue have the
number `QUEUED`.
"""

from __future__ import annotations

from hacheck.checker.explicit.liveness.edge_lists import bit_in, enabled_word, entry_at, list_of, state_of
from hacheck.checker.explicit.liveness.graph_fields import (
    BEST,
    DONE,
    EVER,
    FOUND_STEP,
    FRAMES,
    HEAD,
    HEAD_BOUND,
    HEIGHT,
    HOME,
    MASKS,
    MORE,
    NOTHING,
    ORDER,
    OUTSIDE,
    OWED,
    OWED_WEAK,
    PART,
    RECORDS,
    STACK,
    TARGET,
    TARGET_BITS,
)
from hacheck.compile.kernels.language import load32, load64, store32, store64
from hacheck.compile.kernels.packed_states import W

QUEUED = 1
"""The number of a vertex in the queue of a walk."""

FOUND_VERTEX, FOUND_STEP_TO, NO_WALK = 2, 3, 4
"""What `walk` says besides `MORE`."""


def is_less(left: int, right: int) -> int:
    """Whether one packed state is less than another."""
    less = 0
    for w in range(W):
        if load64(left, w) != load64(right, w):
            less = load64(left, w) < load64(right, w)
    return less


def offer(ground: int, vertex: int) -> None:
    """Makes a vertex the best one if its state is the least so far."""
    best = load64(ground, BEST)
    if best == NOTHING or is_less(state_of(ground, vertex), state_of(ground, best)):
        store64(ground, BEST, vertex)


def find_fair(ground: int, first: int, end: int) -> None:
    """Offers the vertices of a range of ORDER that are in a fair set."""
    order = load64(ground, ORDER)
    records = load64(ground, RECORDS)
    while first < end:
        vertex = load32(order, first)
        if load32(records, vertex * 2) != OUTSIDE:
            offer(ground, vertex)
        first += 1


def find_before(ground: int, first: int, end: int) -> None:
    """Offers the vertices of a range of ORDER that have a step to TARGET."""
    order = load64(ground, ORDER)
    target = load64(ground, TARGET)
    targets = (1 << load64(ground, TARGET_BITS)) - 1
    while first < end:
        vertex = load32(order, first)
        list_ = list_of(ground, vertex)
        count = entry_at(list_, 0) & (HEAD_BOUND - 1)
        step = 0
        while step < count:
            if entry_at(list_, 1 + step) & targets == target:
                offer(ground, vertex)
                break
            step += 1
        first += 1


def sum_enabled(ground: int, first: int, end: int) -> None:
    """Adds to EVER what is enabled in the vertices of a range of ORDER that are in PART."""
    order = load64(ground, ORDER)
    records = load64(ground, RECORDS)
    ever = load64(ground, EVER)
    while first < end:
        vertex = load32(order, first)
        if load32(records, vertex * 2) == load64(ground, PART):
            list_ = list_of(ground, vertex)
            for w in range(MASKS):
                store64(ever, w, load64(ever, w) | enabled_word(ground, list_, w))
        first += 1


def pays(ground: int, target: int, constraint: int) -> int:
    """Whether a step to this vertex, which takes this constraint, is what the walk looks for."""
    if load64(ground, HOME) != NOTHING:
        return target == load64(ground, HOME)
    paid = 0
    for w in range(MASKS):
        paid = paid | (load64(load64(ground, OWED), w) & bit_in(w, constraint))
    return paid != 0


def disables(ground: int, list_: int) -> int:
    """Whether one of the weak constraints that are owed is disabled in the vertex of a list."""
    disabled = 0
    for w in range(MASKS):
        owed = load64(load64(ground, OWED_WEAK), w)
        if owed:
            disabled = disabled | (owed & ~enabled_word(ground, list_, w))
    return disabled != 0


def walk(ground: int, vertices: int) -> int:
    """Goes on breadth first from the vertices in the queue, which are in PART, for so many of them. What it looks for
    is at the place HEAD of the queue, or at the end of the step FOUND_STEP of that vertex's list."""
    queue = load64(ground, STACK)
    came = load64(ground, FRAMES)
    records = load64(ground, RECORDS)
    part = load64(ground, PART)
    bits = load64(ground, TARGET_BITS)
    head = load64(ground, HEAD)
    height = load64(ground, HEIGHT)
    said = MORE
    while vertices and said == MORE:
        vertices -= 1
        if head == height:
            said = NO_WALK
            break
        list_ = list_of(ground, load32(queue, head))
        if head and disables(ground, list_):
            said = FOUND_VERTEX
            break
        count = entry_at(list_, 0) & (HEAD_BOUND - 1)
        step = 0
        while step < count:
            entry = entry_at(list_, 1 + step)
            target = entry & ((1 << bits) - 1)
            number = load32(records, target * 2)
            inside = number == part
            if (inside or number == QUEUED) and pays(ground, target, entry >> bits):
                store64(ground, FOUND_STEP, step)
                said = FOUND_STEP_TO
                break
            if inside:
                store32(records, target * 2, QUEUED)
                store32(queue, height, target)
                store32(came, height, head)
                height += 1
            step += 1
        if said == MORE:
            head += 1
    store64(ground, HEAD, head)
    store64(ground, HEIGHT, height)
    return said


def end_walk(ground: int, vertices: int) -> int:
    """Takes so many vertices out of the queue again. Returns whether it is empty."""
    queue = load64(ground, STACK)
    records = load64(ground, RECORDS)
    height = load64(ground, HEIGHT)
    while vertices and height:
        vertices -= 1
        height -= 1
        store32(records, load32(queue, height) * 2, load64(ground, PART))
    store64(ground, HEIGHT, height)
    return MORE if height else DONE
