"""State spaces for the native liveness without its search: of graphs, and of what the portable engine finds.

Successors are called back, so the tests know how often they are asked for.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.liveness.liveness_verdicts import Searched, check_liveness
from hacheck.checker.explicit.liveness.marked_states import conditions
from hacheck.checker.explicit.liveness.working_memory import EXPORTED, KERNELS, StateSpace, Words, kernel_constants
from hacheck.checker.explicit.portable.breadth_first_search import Log, search
from hacheck.checker.explicit.portable.condition_functions import Prepared, prepare
from hacheck.checker.explicit.portable.liveness_verdicts import check_liveness as judge_portably
from hacheck.checker.explicit.portable.portable_result import subject_of
from hacheck.checker.explicit.portable.python_program import compiled, marking_source
from hacheck.checker.explicit.portable.shortest_paths import path_to
from hacheck.checker.explicit.property_conditions import pose
from hacheck.checker.explicit.run_reconstruction import run_along
from hacheck.checker.explicit.search import control_words, state_kernels
from hacheck.checker.explicit.search_result import Lasso, LivenessVerdict, Subject, Valueless
from hacheck.compile.kernels.to_llvm import kernel_ir
from hacheck.compile.kernels.to_python import as_python
from hacheck.compile.lowering.layout import pack
from hacheck.compile.lowering.system import lower
from hacheck.compile.machine.compiler import compile_object, link
from hacheck.compile.machine.reserved_memory import Region
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import System
from hacheck.model.runs import Run
from hacheck.supervise.task import Cancelled

STOP = 1 << 31
"""In a tag: an outcome that is no step."""

_EXPAND = ctypes.CFUNCTYPE(ctypes.c_uint64, *[ctypes.c_uint64] * 5)


@cache
def _linked(constants: tuple[tuple[str, int], ...], interpreted: bool) -> dict[str, Callable[..., int]]:
    exported = {**EXPORTED, "enter": 4}
    if interpreted:
        return as_python((*KERNELS, state_kernels.enter), dict(constants))
    code = link([compile_object(kernel_ir((*KERNELS, state_kernels.enter), dict(constants), exported))])
    return {name: code.function(name, count) for name, count in exported.items()}


def linked(constants: Mapping[str, int], interpreted: bool = False) -> dict[str, Callable[..., int]]:
    """The kernels, compiled or as Python."""
    return _linked(tuple(constants.items()), interpreted)


def new_notes() -> array[int]:
    """Notes for a function that notes nothing."""
    return array("Q", [0])


@contextmanager
def space_of(
    levels: Sequence[Sequence[int]],
    outcomes: Callable[[int], Sequence[tuple[int, int]]],
    words: int,
    enter: Callable[..., int],
    owners: int = 1,
) -> Iterator[StateSpace]:
    """A state space. `levels`: the packed states at each number of steps; `outcomes`: for a state where each one leads,
    and the instance, with `STOP` for one that is no step; `owners`: how many threads are to have found the states."""
    size = sum(len(level) for level in levels)
    state, span = 8 * words, 2 * size + 1
    slots = 1 << (4 * size + 64).bit_length()
    store, table = Region(state * (span * owners + 1)), Region(8 * slots)
    shared, hashes = Words(128), Words(256)
    shared[control_words.LOG], shared[control_words.TABLE] = store.address, table.address
    shared[control_words.SHIFT] = 64 - (slots.bit_length() - 1)
    used, ranges = [0] * owners, []
    for level in levels:
        before = list(used)
        for place, packed in enumerate(level):
            owner = place * 7 % owners
            store.write(state * (owner * span + used[owner]), packed.to_bytes(state, "little"))
            used[owner] += 1
        found = ((owner * span + before[owner], owner * span + used[owner]) for owner in range(owners))
        ranges.append(tuple((first, end) for first, end in found if first < end))
    spans = tuple((owner * span, owner * span + used[owner]) for owner in range(owners) if used[owner])
    for first, end in spans:
        enter(first, end, shared.address, hashes.address)

    def expand(states: int, n: int, out: int, tags: int, notes: int) -> int:
        listed = []
        for place in range(n):
            packed = int.from_bytes(ctypes.string_at(states + place * state, state), "little")
            listed += [(number, place, *outcome) for number, outcome in enumerate(outcomes(packed))]
        for k, (_, place, successor, instance) in enumerate(sorted(listed)):  # as functions do that run some instances
            ctypes.memmove(out + k * state, successor.to_bytes(state, "little"), state)
            ctypes.c_uint64.from_address(tags + 8 * k).value = place << 32 | instance
        return len(listed)

    function = _EXPAND(expand)
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    most = max((len(outcomes(packed)) for level in levels for packed in level), default=0)
    try:
        yield StateSpace(
            words, store.address, spans, tuple(ranges), shared.address, address, 0, new_notes, max(most, 1)
        )
    finally:
        store.free()
        table.free()


@dataclass
class World:
    """A system that the portable engine has searched, judged by the native liveness.

    `threads`: that it has; `owners`: how many are to have found the states; `room`: bytes that it may take;
    `interpreted`: its kernels run as Python.
    """

    system: System
    threads: int = 1
    owners: int = 1
    room: int | None = None
    interpreted: bool = False
    prepared: Prepared = field(init=False)
    log: Log = field(init=False)

    def __post_init__(self) -> None:
        initial = Interpreter(self.system).initial_states()
        lowered = lower(self.system, initial)
        self.prepared = prepare(lowered, pose(lowered, ()))
        packed = [pack(lowered.layout, state) for state in initial]
        self.log = search(self.prepared.code, packed, list(self.prepared.finders), Limits(), lambda _: True)

    @property
    def subject(self) -> Subject:
        """What was searched."""
        return subject_of(self.prepared.code)

    def shown(self, judgement: LivenessVerdict) -> Run | None:
        """The run that goes with a judgement, replayed."""
        if isinstance(judgement, Lasso):
            return run_along(self.subject, judgement.path, judgement.loop)
        return run_along(self.subject, judgement.path) if isinstance(judgement, Valueless) else None

    def judge_portably(self) -> list[LivenessVerdict]:
        """What the portable engine says of everything asked."""
        return judge_portably(self.prepared.code, self.log, self.system.properties)

    def check_liveness(self, poll: Callable[[], None] = lambda: None) -> list[LivenessVerdict]:
        """What the native liveness says of everything asked."""
        code, log, asked = self.prepared.code, self.log, self.system.properties
        instances = self.subject.instances
        words = max(-(-code.lowered.layout.width // 64), 1)
        enter = linked(kernel_constants(words, 0, 0))["enter"]
        ends = [*log.levels[1:], len(log.order)]
        levels = [log.order[first:end] for first, end in zip(log.levels, ends, strict=True)]
        marks = {key: self._mark(words, node) for key, node in conditions(code.lowered, asked)}
        with space_of(levels, cache(self._outcomes), words, enter, self.owners) as space:
            path = partial(path_to, code, log)
            compiled_for = partial(linked, interpreted=self.interpreted)
            searched = Searched(
                self.system, instances, space, marks, compiled_for, path, self.threads, self.room, "no memory is left"
            )
            return check_liveness(searched, asked, poll)

    def _outcomes(self, state: int) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for function in self.prepared.code.listing():
            reached: list[int] = []
            taken: list[int] = []
            stopped: list[int] = []
            function(state, reached.append, taken.append, stopped.append, stopped.append)
            found += zip(reached, taken, strict=True)
            found += [(state, instance | STOP) for instance in stopped]
        return found

    def _mark(self, words: int, node: Any) -> Callable[..., int]:
        portable = compiled(marking_source(self.prepared.code.lowered, node), "condition")["mark"]
        size = 8 * words

        def mark(states: int, n: int, marks: int) -> int:
            content = ctypes.string_at(states, n * size)
            given = [int.from_bytes(content[at : at + size], "little") for at in range(0, n * size, size)]
            ctypes.memmove(marks, bytes(portable(given)), n)
            return 0

        return mark


def give_up_after(pulses: int) -> Callable[[], None]:
    """A pulse that gives up when it is called once more than so often."""
    left = [pulses]

    def poll() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Cancelled("interrupted")

    return poll
