"""The loop that walks at random, in the kernel language: one step after another, each among those that are possible."""

from __future__ import annotations

from hacheck.compile.kernels.language import call, load64, multiply_high, store8, store32, store64

# Set when the kernels are compiled:
W = 1  # words of a state
LINES = 0  # lines that a step may write into its state
LINE = 0  # words of one line
FIRST = 0  # the word in which the first one begins

CONTROL = (
    "EXPAND",  # the generated function
    "OUT",
    "TAGS",
    "NOTES",
    "STATE",  # the state of the walk
    "STARTS",  # the states that a walk may start in
    "START_COUNT",
    "KEY",  # where the numbers of the seed begin
    "STEPS",  # of a walk at most
    "COUNT_WORD",  # where a state says how many lines the last step wrote
    "COUNT_SHIFT",
    "COUNT_MASK",
    "BY",  # the instance of each step, 32 bits
    "LENGTHS",  # for each walk, how many steps it has
    "WRITTEN",  # for each step, how many lines it wrote, 8 bits
    "CONTENT",  # the words of all lines
    "STATES",  # room for the states of the walks, if they are wanted
)
"""The words of the control block: numbers and addresses."""

(
    EXPAND,
    OUT,
    TAGS,
    NOTES,
    STATE,
    STARTS,
    START_COUNT,
    KEY,
    STEPS,
    COUNT_WORD,
    COUNT_SHIFT,
    COUNT_MASK,
    BY,
    LENGTHS,
    WRITTEN,
    CONTENT,
    STATES,
) = range(len(CONTROL))


def mixed(x: int) -> int:
    """As `random_numbers.mixed`."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB
    return x ^ (x >> 31)


def copy(to: int, state: int) -> None:
    """Copies a state."""
    for w in range(W):
        store64(to, w, load64(state, w))


def keep(control: int, place: int) -> None:
    """Keeps the state of the walk as the one in a place, if states are wanted."""
    states = load64(control, STATES)
    if states:
        copy(states + place * (W * 8), load64(control, STATE))


def walk(control: int, trace: int, count: int) -> int:
    """Walks as `count` traces from number `trace` on, and writes what they did one after another. Returns how many
    lines they wrote.

    Of `STATES`, walk `i` has `STEPS + 1` places.
    """
    expand = load64(control, EXPAND)
    state = load64(control, STATE)
    out = load64(control, OUT)
    tags = load64(control, TAGS)
    notes = load64(control, NOTES)
    by = load64(control, BY)
    written = load64(control, WRITTEN)
    content = load64(control, CONTENT)
    steps = load64(control, STEPS)
    done = 0
    lines = 0
    i = 0
    while i < count:
        number = mixed(load64(control, KEY) + (trace + i + 1) * 0x9E3779B97F4A7C15)
        start = multiply_high(mixed(number), load64(control, START_COUNT))
        copy(state, load64(control, STARTS) + start * (W * 8))
        keep(control, i * (steps + 1))
        step = 0
        while step < steps:
            k = call(expand, state, 1, out, tags, notes)
            if k == 0:
                break
            number += 0x9E3779B97F4A7C15
            chosen = multiply_high(mixed(number), k)
            copy(state, out + chosen * (W * 8))
            store32(by, done, load64(tags, chosen))
            step += 1
            keep(control, i * (steps + 1) + step)
            if LINES:
                n = (load64(state, load64(control, COUNT_WORD)) >> load64(control, COUNT_SHIFT)) & load64(
                    control, COUNT_MASK
                )
                store8(written, done, n)
                w = 0
                while w < n * LINE:
                    store64(content, lines * LINE + w, load64(state, FIRST + w))
                    w += 1
                lines += n
            done += 1
        store64(load64(control, LENGTHS), i, step)
        i += 1
    return lines


KERNELS = (mixed, copy, keep, walk)
EXPORTED = {"walk": 3}
