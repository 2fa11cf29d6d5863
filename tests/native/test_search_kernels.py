"""The loops of the search do the same as Python and compiled, and the visited set loses and doubles nothing."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from threading import Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hacheck.checker.explicit.search import explore_kernels, state_kernels
from hacheck.checker.explicit.search.control_words import (
    BY,
    DONE,
    END,
    FILTER,
    HASHES,
    LOG,
    NEXT,
    OUT,
    PARTS,
    PENDING,
    SHIFT,
    TABLE,
    TAGS,
    THREAD_WORDS,
)
from hacheck.compile.codegen.word_layout import from_words, to_words
from hacheck.compile.kernels.to_python import as_python
from tests.native.searching import kernels_for

RECENT = 4
ALL_BITS = (1 << 64) - 1
FEW_BITS = 0xC000_0000_0000_000F
"""Four tags, places in four corners."""

Functions = Mapping[str, Callable[..., int]]


@cache
def compiled(words: int, mask: int, alone: bool = False) -> Functions:
    constants = (("FILTER_MASK", RECENT - 1), ("HASH_MASK", mask))
    exported = explore_kernels.EXPORTED | {"drop_duplicates": 3, "insert": 4, "hash_of": 1}
    return kernels_for(words, False, alone, constants).compiled(explore_kernels.KERNELS, exported)


@cache
def interpreted(words: int, mask: int, alone: bool) -> Functions:
    constants = {"W": words, "ALONE": int(alone), "EXACT": 1, "FILTER_MASK": RECENT - 1, "HASH_MASK": mask}
    return as_python(explore_kernels.KERNELS, constants)


@dataclass
class Memory:
    """A visited set, a log and one thread, with room for some states."""

    words: int
    room: int
    bits: int
    shared: array[int] = field(default_factory=lambda: array("Q", bytes(8 * (PARTS + 8))))
    thread: array[int] = field(default_factory=lambda: array("Q", bytes(8 * THREAD_WORDS)))
    arrays: dict[str, array[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sizes = {"table": 1 << self.bits, "log": self.room * self.words, "out": self.room * self.words}
        sizes |= {"tags": self.room, "hashes": max(self.room, 256), "by": self.room, "recent": RECENT * self.words}
        for name, size in sizes.items():
            self.arrays[name] = array("Q", bytes(8 * size))
        self.shared[TABLE], self.shared[SHIFT], self.shared[LOG] = self.at("table"), 64 - self.bits, self.at("log")
        places = {OUT: "out", TAGS: "tags", HASHES: "hashes", BY: "by", FILTER: "recent"}
        for place, name in places.items():
            self.thread[place] = self.at(name)
        self.thread[END] = self.room

    def at(self, name: str) -> int:
        return self.arrays[name].buffer_info()[0]

    @property
    def addresses(self) -> tuple[int, int]:
        return self.thread.buffer_info()[0], self.shared.buffer_info()[0]

    def put(self, name: str, states: Sequence[int]) -> None:
        words = array("Q", [word for state in states for word in to_words(state, self.words)])
        self.arrays[name][: len(words)] = words

    def states(self, name: str, count: int) -> list[int]:
        content, words = self.arrays[name], self.words
        return [from_words(content[i * words : (i + 1) * words]) for i in range(count)]

    def contents(self) -> dict[str, list[int]]:
        return {name: content.tolist() for name, content in self.arrays.items()}


@st.composite
def worlds(draw: st.DrawFn) -> tuple[int, list[int]]:
    """Words of a state, and states of which some are equal and many alike."""
    words = draw(st.sampled_from([1, 2, 3, 5]))
    state = st.integers(0, 2 ** (64 * words) - 1) | st.integers(0, 5) | st.integers(0, 63).map(lambda bit: 1 << bit)
    states = draw(st.lists(state, min_size=1, max_size=40))
    return words, states + draw(st.lists(st.sampled_from(states), max_size=20))


@given(worlds(), st.sampled_from([ALL_BITS, FEW_BITS]), st.integers(0, 30), st.booleans())
@settings(max_examples=60)
def test_python_and_machine_code_look_up_alike(world: tuple[int, list[int]], mask: int, most: int, alone: bool) -> None:
    words, states = world
    contents = []
    for functions in (compiled(words, mask, alone), interpreted(words, mask, alone)):
        memory = Memory(words, 64, 7)
        functions["open_recent"](memory.addresses[0])
        memory.put("out", states)
        kept = functions["drop_duplicates"](*memory.addresses, len(states))
        new = functions["insert"](*memory.addresses, kept, most)
        contents.append((kept, new, memory.thread[NEXT], memory.thread[PENDING], memory.thread[DONE]))
        found = memory.arrays
        contents.append((found["table"].tolist(), found["log"].tolist(), found["recent"].tolist()))  # type: ignore[arg-type]
    assert contents[:2] == contents[2:]


@given(worlds(), st.sampled_from([ALL_BITS, FEW_BITS]), st.booleans())
@settings(max_examples=100)
def test_every_state_is_found_once(world: tuple[int, list[int]], mask: int, alone: bool) -> None:
    words, states = world
    functions, memory = compiled(words, mask, alone), Memory(words, 64, 7)
    functions["open_recent"](memory.addresses[0])
    memory.put("out", states)
    kept = functions["drop_duplicates"](*memory.addresses, len(states))
    assert set(memory.states("out", kept)) == set(states)
    assert functions["insert"](*memory.addresses, kept, ALL_BITS) == len(set(states))
    log = memory.states("log", memory.thread[NEXT])
    assert log == list(dict.fromkeys(states))
    memory.put("out", states)
    functions["locate"](memory.at("out"), len(states), memory.at("hashes"), memory.addresses[1])
    assert memory.arrays["hashes"][: len(states)].tolist() == [log.index(state) for state in states]


@given(worlds(), st.sampled_from([ALL_BITS, FEW_BITS]), st.integers(1, 4))
@settings(max_examples=60)
def test_a_larger_table_and_one_made_anew_know_the_same_states(
    world: tuple[int, list[int]], mask: int, more: int
) -> None:
    words, states = world
    distinct = list(dict.fromkeys(states))
    known, strangers = distinct[: len(distinct) // 2 + 1], distinct[len(distinct) // 2 + 1 :]
    functions, memory = compiled(words, mask), Memory(words, 64, 6)
    memory.put("log", known)
    functions["enter"](0, len(known), memory.addresses[1], memory.at("hashes"))
    larger = Memory(words, 64, 6 + more)
    larger.put("log", known)
    functions["rehash"](memory.at("table"), 0, 64, larger.at("table"), 64 - larger.bits)
    for grown in (memory, larger):
        grown.put("out", [*known, *strangers])
        functions["locate"](grown.at("out"), len(distinct), grown.at("hashes"), grown.addresses[1])
        places = grown.arrays["hashes"][: len(distinct)].tolist()
        assert places == [*range(len(known)), *([state_kernels.NOWHERE] * len(strangers))]


@given(st.lists(st.integers(0, 2**64 - 1), unique=True, min_size=2, max_size=50))
def test_states_of_one_word_have_hashes_of_their_own(states: list[int]) -> None:
    functions, memory = compiled(1, ALL_BITS), Memory(1, 64, 6)
    memory.put("out", states)
    assert len({functions["hash_of"](memory.at("out") + 8 * i) for i in range(len(states))}) == len(states)


@pytest.mark.parametrize("words", [1, 2, 3, 4, 7])
def test_each_bit_of_a_state_changes_half_of_the_hash(words: int) -> None:
    functions, memory = compiled(words, ALL_BITS), Memory(words, 4, 6)

    def hash_of(state: int) -> int:
        memory.put("out", [state])
        return functions["hash_of"](memory.at("out"))

    base = 0x0123_4567_89AB_CDEF_0F1E_2D3C_4B5A_6978
    changed = [(hash_of(base) ^ hash_of(base ^ 1 << bit)).bit_count() for bit in range(64 * words)]
    assert min(changed) >= 12
    assert 28 < sum(changed) / len(changed) < 36


@pytest.mark.parametrize("mask", [ALL_BITS, 0xFFF0_0000_0000_FFFF])
def test_threads_that_find_the_same_states_find_each_once(mask: int) -> None:
    count = 20_000
    states = [(i * 0x9E37_79B9) << 40 | i for i in range(count)]
    memory = Memory(2, 2 * count, 17)
    functions = compiled(2, mask)
    workers = [Memory(2, count, 1) for _ in range(2)]
    for number, worker in enumerate(workers):
        functions["open_recent"](worker.addresses[0])
        worker.put("out", states if number else states[::-1])
        worker.thread[NEXT], worker.thread[END] = number * count, (number + 1) * count

    def work(worker: Memory) -> None:
        kept = functions["drop_duplicates"](worker.addresses[0], memory.addresses[1], count)
        functions["insert"](worker.addresses[0], memory.addresses[1], kept, ALL_BITS)

    threads = [Thread(target=work, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log = memory.states("log", 2 * count)
    found = [log[number * count : worker.thread[NEXT]] for number, worker in enumerate(workers)]
    assert sorted(found[0] + found[1]) == sorted(states)
