"""Strongly connected components, and whether they are fair, in the kernel language: Tarjan's algorithm, no recursion.

It goes over the lists of `graph_fields`, and stops after so many steps to be called again. Constraints that are
enabled or taken in a component are gathered on the way, so that it is decided when its last vertex is left. Most
components are single vertices.

A frame is what is known of a vertex whose steps are being followed: the vertex and its number, 32 bits each; the least
number that can be reached and the step to be followed next, 32 bits each; then for the vertices found below it in its
component, itself included, `MASKS` words each of the constraints that steps take, that are enabled in all of them, and
that are enabled in some.
"""

from __future__ import annotations

from hacheck.checker.explicit.liveness.edge_lists import bit_in, enabled_word, entry_at, list_of
from hacheck.checker.explicit.liveness.graph_fields import (
    AGAIN,
    AGAIN_COUNT,
    CLOSING,
    DEPTH,
    DONE,
    FAIR_COUNT,
    FIRST_PART,
    FRAMES,
    HEAD_BOUND,
    HEIGHT,
    MASKS,
    MORE,
    NUMBERED,
    OUTSIDE,
    PART,
    PARTS,
    RECORDS,
    ROOTS,
    ROOTS_END,
    ROOTS_NEXT,
    ROUND_END,
    STACK,
    STARVED,
    STRONG,
    TARGET_BITS,
    WEAK,
)
from hacheck.compile.kernels.language import load32, load64, prefetch, store32, store64

FRAME_BYTES = 16  # and then the masks
VERTEX, NUMBER, LEAST, NEXT_STEP = 0, 1, 2, 3  # 32 bits each

# Set when the kernels are compiled: where in a frame the masks are, in words.
TAKEN = 2
ALWAYS = 3
SOMETIMES = 4

OPEN, UNFAIR, FAIR, DOUBTFUL = 0, 1, 2, 3
"""What becomes of the members of the component at hand; `OPEN`: there is none."""


def frame_of(ground: int, depth: int) -> int:
    """The address of the innermost of `depth` frames."""
    return load64(ground, FRAMES) + (depth - 1) * (FRAME_BYTES + MASKS * 24)


def visit(ground: int, vertex: int, depth: int, height: int, number: int) -> None:
    """Gives a vertex its number, puts it on the stack and opens frame `depth` for it."""
    records = load64(ground, RECORDS)
    store32(records, vertex * 2, number)
    store32(load64(ground, STACK), height, vertex)
    frame = frame_of(ground, depth)
    store32(frame, VERTEX, vertex)
    store32(frame, NUMBER, number)
    store32(frame, LEAST, number)
    store32(frame, NEXT_STEP, 0)
    for w in range(MASKS):
        store64(frame, TAKEN + w, 0)
        store64(frame, SOMETIMES + w, 0)
    bits = load64(ground, TARGET_BITS)
    list_ = list_of(ground, vertex)
    count = entry_at(list_, 0) & (HEAD_BOUND - 1)
    step = 0
    while step < count:
        entry = entry_at(list_, 1 + step)
        prefetch(records, entry & ((1 << bits) - 1))
        for w in range(MASKS):
            store64(frame, SOMETIMES + w, load64(frame, SOMETIMES + w) | bit_in(w, entry >> bits))
        step += 1
    for w in range(MASKS):
        store64(frame, ALWAYS + w, load64(frame, SOMETIMES + w))


def follow(ground: int, frame: int, part: int) -> int:
    """Follows the steps of a frame's vertex up to one to a vertex of the part without a number, which is returned; else
    `OUTSIDE`."""
    records = load64(ground, RECORDS)
    list_ = list_of(ground, load32(frame, VERTEX))
    count = entry_at(list_, 0) & (HEAD_BOUND - 1)
    bits = load64(ground, TARGET_BITS)
    least = load32(frame, LEAST)
    step = load32(frame, NEXT_STEP)
    found = OUTSIDE
    while step < count and found == OUTSIDE:
        entry = entry_at(list_, 1 + step)
        target = entry & ((1 << bits) - 1)
        number = load32(records, target * 2)
        if number == part:
            found = target
        elif number < FIRST_PART and number != 0:
            if number < least:
                least = number
            for w in range(MASKS):
                store64(frame, TAKEN + w, load64(frame, TAKEN + w) | bit_in(w, entry >> bits))
        step += 1
    store32(frame, LEAST, least)
    store32(frame, NEXT_STEP, step)
    return found


def hand_up(ground: int, frame: int, depth: int) -> None:
    """Adds what is known of a vertex to the frame above, whose component it belongs to."""
    above = frame_of(ground, depth - 1)
    if load32(frame, LEAST) < load32(above, LEAST):
        store32(above, LEAST, load32(frame, LEAST))
    list_ = list_of(ground, load32(above, VERTEX))
    constraint = entry_at(list_, load32(above, NEXT_STEP)) >> load64(ground, TARGET_BITS)
    for w in range(MASKS):
        taken = load64(above, TAKEN + w) | load64(frame, TAKEN + w) | bit_in(w, constraint)
        store64(above, TAKEN + w, taken)
        store64(above, ALWAYS + w, load64(above, ALWAYS + w) & load64(frame, ALWAYS + w))
        store64(above, SOMETIMES + w, load64(above, SOMETIMES + w) | load64(frame, SOMETIMES + w))


def fate_of(ground: int, frame: int, alone: int) -> int:
    """What becomes of a component, from the frame of the vertex found first. `alone`: it is the only one."""
    unserved = 0
    hungry = 0
    for w in range(MASKS):
        untaken = ~load64(frame, TAKEN + w)
        unserved = unserved | (load64(frame, ALWAYS + w) & untaken & load64(load64(ground, WEAK), w))
        starved = load64(frame, SOMETIMES + w) & untaken & load64(load64(ground, STRONG), w)
        store64(load64(ground, STARVED), w, starved)
        hungry = hungry | starved
    if unserved or (hungry and alone):
        return UNFAIR
    return DOUBTFUL if hungry else FAIR


def release(ground: int, member: int, closing: int) -> None:
    """Marks a member of a component that is finished: in a doubtful one, those in which no starved constraint is
    enabled may still have a fair set among them."""
    mark = OUTSIDE
    if closing == FAIR:
        mark = load64(ground, PARTS)
    if closing == DOUBTFUL:
        list_ = list_of(ground, member)
        starved = 0
        for w in range(MASKS):
            starved = starved | (enabled_word(ground, list_, w) & load64(load64(ground, STARVED), w))
        if starved == 0:
            mark = load64(ground, PARTS)
            again = load64(ground, AGAIN_COUNT)
            store32(load64(ground, AGAIN), again, member)
            store64(ground, AGAIN_COUNT, again + 1)
    store32(load64(ground, RECORDS), member * 2, mark)


def find_components(ground: int, steps: int) -> int:
    """Decides the components of the parts that the vertices of ROOTS are in, up to so many steps. Vertices of a fair
    component get a part of their own as their number, and so do those among which another search may find one, which
    are listed in AGAIN; all others become `OUTSIDE`. Returns whether it is done."""
    depth = load64(ground, DEPTH)
    height = load64(ground, HEIGHT)
    numbered = load64(ground, NUMBERED)
    closing = load64(ground, CLOSING)
    root = load64(ground, ROOTS_NEXT)
    part = load64(ground, PART)
    round_end = load64(ground, ROUND_END)
    done = MORE
    while steps:
        steps -= 1
        if closing != OPEN:
            height -= 1
            member = load32(load64(ground, STACK), height)
            release(ground, member, closing)
            if member == load32(frame_of(ground, depth), VERTEX):
                if closing != UNFAIR:
                    store64(ground, PARTS, load64(ground, PARTS) + 1)
                if closing == FAIR:
                    store64(ground, FAIR_COUNT, load64(ground, FAIR_COUNT) + 1)
                closing = OPEN
                depth -= 1
        elif depth == 0:
            if root == load64(ground, ROOTS_END):
                done = DONE
                break
            vertex = load32(load64(ground, ROOTS), root)
            root += 1
            part = load32(load64(ground, RECORDS), vertex * 2)
            if part >= FIRST_PART and part < round_end:
                numbered += 1
                visit(ground, vertex, 1, 0, numbered)
                depth = 1
                height = 1
        else:
            frame = frame_of(ground, depth)
            vertex = follow(ground, frame, part)
            if vertex != OUTSIDE:
                numbered += 1
                depth += 1
                visit(ground, vertex, depth, height, numbered)
                height += 1
            elif load32(frame, LEAST) == load32(frame, NUMBER):
                alone = load32(load64(ground, STACK), height - 1) == load32(frame, VERTEX)
                closing = fate_of(ground, frame, alone)
            else:
                hand_up(ground, frame, depth)
                depth -= 1
    store64(ground, DEPTH, depth)
    store64(ground, HEIGHT, height)
    store64(ground, NUMBERED, numbered)
    store64(ground, CLOSING, closing)
    store64(ground, ROOTS_NEXT, root)
    store64(ground, PART, part)
    return done
