"""Every step from the sets of candidates, in the kernel language, and whether the sets violate properties."""

from __future__ import annotations

from hacheck.compile.kernels.language import call, load8, load64, store64
from hacheck.compile.kernels.packed_states import W
from hacheck.traces.conformance.kernels.control import (
    BLOCK,
    BYTES,
    COUNT,
    EMITTED,
    EMITTED_CAPACITY,
    EMITTED_COUNT,
    ERROR,
    ERRORS,
    EXPAND,
    EXPANDED,
    LIMITED_COUNT,
    LIMITED_FIRST,
    MARK,
    MARK_COUNT,
    MARK_WORDS,
    MARKS,
    NOTES,
    NOWHERE,
    OUT,
    PAUSE,
    PEAK,
    PERHAPS,
    SURELY,
    TAGS,
    TAKEN_MASK,
    TAKEN_MASKS,
    TAKEN_SHIFT,
    TAKEN_WORD,
)
from hacheck.traces.conformance.kernels.state_sets import RECORDS, add, entry, set_at


def add_all(control: int, position: int, k: int) -> int:
    """Puts `k` states after steps from a position where they belong. Returns 0 if a set has no room."""
    word = load64(control, TAKEN_WORD)
    shift = load64(control, TAKEN_SHIFT)
    mask = load64(control, TAKEN_MASK)
    state = load64(control, OUT)
    j = 0
    while j < k:
        content = load64(state, word)
        taken = (content >> shift) & mask
        store64(state, word, content & ~(mask << shift))
        if not add(control, position + taken, state):
            return 0
        state += (W + RECORDS) * 8
        j += 1
    return 1


def spread(control: int, position: int, done: int) -> int:
    """Takes every step from the candidates of a position but the first `done`, and from those that join them. Returns
    how many candidates there are then; 0 if a set has no room."""
    block = load64(control, BLOCK)
    out = load64(control, OUT)
    chosen = set_at(control, position)
    while done < load64(chosen, COUNT):
        n = load64(chosen, COUNT) - done
        n = block if n > block else n
        tags = load64(control, TAGS)
        k = call(load64(control, EXPAND), entry(chosen, done), n, out, tags, load64(control, NOTES))
        done += n
        if not add_all(control, position, k):
            return 0
    store64(control, EXPANDED, load64(control, EXPANDED) + done)
    if done > load64(control, PEAK):
        store64(control, PEAK, done)
    return done


def close(control: int, done: int) -> int:
    """Takes every step from the candidates of the first set, from number `done` on, and from those that join them by a
    step that takes no record; what takes some is listed. Returns how many are done, fewer than there are where the list
    is full or it is time to ask the caller; `NOWHERE` if the set has no room."""
    out = load64(control, OUT)
    masks = load64(control, TAKEN_MASKS)
    block = load64(control, BLOCK)
    chosen = set_at(control, 0)
    listed = load64(control, EMITTED_COUNT)
    expanded = load64(control, EXPANDED)
    while done < load64(chosen, COUNT):
        n = load64(chosen, COUNT) - done
        n = block if n > block else n
        k = call(load64(control, EXPAND), entry(chosen, done), n, out, load64(control, TAGS), load64(control, NOTES))
        if listed + k > load64(control, EMITTED_CAPACITY) or expanded >= load64(control, PAUSE):
            break
        state = out
        j = 0
        while j < k:
            taken = 0
            for w in range(W):
                taken = taken | (load64(state, w) & load64(masks, w))
            if taken:
                to = load64(control, EMITTED) + listed * (W * 8)
                for w in range(W):
                    store64(to, w, load64(state, w))
                listed += 1
            elif not add(control, 0, state):
                return NOWHERE
            state += (W + RECORDS) * 8
            j += 1
        done += n
        expanded += n
    store64(control, EMITTED_COUNT, listed)
    store64(control, EXPANDED, expanded)
    return done


def mark_some(control: int, first: int, count: int, position: int) -> None:
    """Evaluates every checked property in some candidates of a position."""
    bytes = load64(control, BYTES)
    number = 0
    while number < load64(control, MARK_COUNT):
        marked = load64(control, MARKS) + number * (MARK_WORDS * 8)
        if load64(marked, SURELY) == NOWHERE:
            call(load64(marked, MARK), first, count, bytes)
            violated = 0
            i = 0
            while i < count:
                violated += load8(bytes, i)
                i += 1
            if violated and load64(marked, PERHAPS) == NOWHERE:
                store64(marked, PERHAPS, position)
            if violated == count:
                store64(marked, SURELY, position)
        number += 1


def mark(control: int, position: int) -> None:
    """Evaluates every checked property in the candidates of a position."""
    chosen = set_at(control, position)
    mark_some(control, entry(chosen, 0), load64(chosen, COUNT), position)


def limited(control: int) -> int:
    """How many outcomes were no step so far."""
    notes = load64(control, NOTES)
    error = load64(control, ERROR)
    if load64(notes, error):
        # The sign stays until it is taken away: the next trace is not to blame for it.
        store64(notes, error, 0)
        store64(control, ERRORS, load64(control, ERRORS) + 1)
    total = load64(control, ERRORS)
    i = 0
    while i < load64(control, LIMITED_COUNT):
        total += load64(notes, load64(control, LIMITED_FIRST) + i)
        i += 1
    return total


KERNELS = (add_all, spread, close, mark_some, mark, limited)
