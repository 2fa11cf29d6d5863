"""Where goals and premises hold, by generated functions that mark states."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence

from hacheck.checker.explicit.liveness.kernel_slices import Slices
from hacheck.checker.explicit.liveness.working_memory import StateSpace
from hacheck.compile.lowering.blocks import Lowered
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.system import lower_condition
from hacheck.model.ir import Property

_STATES = 2**14  # marked in one call


def conditions(lowered: Lowered, properties: Sequence[Property]) -> tuple[tuple[str, Node], ...]:
    """The conditions that liveness has marked, by key: for each `eventually` and `leads_to` property P, `goal:P` and
    `premise:P`, and where these can have no value `goal-error:P` and `premise-error:P`."""
    found: list[tuple[str, Node]] = []
    for item in properties:
        if item.kind in ("eventually", "leads_to"):
            for key, expression in (("goal", item.goal), ("premise", item.premise)):
                if expression is not None:
                    condition = lower_condition(lowered, expression)
                    found.append((f"{key}:{item.name}", condition.value))
                    if condition.error is not lowered.graph.zero:
                        found.append((f"{key}-error:{item.name}", condition.error))
    return tuple(found)


class Marks:
    """Marks the states of a state space, some at a time. `poll` is called in between, and may raise `Cancelled`."""

    def __init__(
        self, space: StateSpace, functions: Mapping[str, Callable[..., int]], poll: Callable[[], None]
    ) -> None:
        """`functions`: by key; what is not there holds in every state."""
        self.space = space
        self.functions = functions
        self.poll = poll
        self._buffers = {key: array("B", bytes(_STATES)) for key in ("goal", "premise")}

    def first(self, key: str) -> list[int]:
        """The packed states in which the condition holds, of the level at the fewest steps that has any; none if there
        is no such condition."""
        if key not in self.functions:
            return []
        size, log = 8 * self.space.words, self.space.log
        for level in self.space.levels:
            found: list[int] = []
            for first, count in _pieces(level):
                marks = self._marked("goal", key, first, count)
                at = marks.find(1)
                while at >= 0:
                    found.append(int.from_bytes(ctypes.string_at(log + (first + at) * size, size), "little"))
                    at = marks.find(1, at + 1)
            if found:
                return found
        return []

    def doubt(self, slices: Slices, prop: Property) -> None:
        """Flags the vertices in which the goal does not hold."""
        kernel, address = slices.kernels["doubt"], slices.ground.words.address
        vertex = 0
        for first, count in _pieces(self.space.spans):
            self._marked("goal", f"goal:{prop.name}", first, count)
            kernel(address, vertex, count, self._address("goal"))
            vertex += count

    def prepare(self, slices: Slices, prop: Property) -> None:
        """Makes all vertices ready for the work on a property."""
        kernel, address = slices.kernels["prepare"], slices.ground.words.address
        starts = self.space.levels[0] if prop.kind == "eventually" else None
        vertex = 0
        for first, count in _pieces(self.space.spans):
            self._marked("goal", f"goal:{prop.name}", first, count)
            if starts is None:
                self._marked("premise", f"premise:{prop.name}", first, count)
            else:
                self._only("premise", starts, first, count)
            kernel(address, vertex, count, self._address("goal"), self._address("premise"))
            vertex += count

    def _marked(self, buffer: str, key: str, first: int, count: int) -> bytes:
        """Where a condition holds: a byte for each of some states, in a buffer."""
        self.poll()
        if key in self.functions:
            states = self.space.log + first * self.space.words * 8
            self.functions[key](states, count, self._address(buffer))
        else:
            ctypes.memset(self._address(buffer), 1, count)
        return ctypes.string_at(self._address(buffer), count)

    def _only(self, buffer: str, ranges: tuple[tuple[int, int], ...], first: int, count: int) -> None:
        """Marks, of some states, those in ranges of indices."""
        address = self._address(buffer)
        ctypes.memset(address, 0, count)
        for low, high in ranges:
            low, high = max(low, first), min(high, first + count)
            if low < high:
                ctypes.memset(address + low - first, 1, high - low)

    def _address(self, buffer: str) -> int:
        return self._buffers[buffer].buffer_info()[0]


def _pieces(ranges: tuple[tuple[int, int], ...]) -> Iterator[tuple[int, int]]:
    """Ranges of indices in pieces, each with its first index and its size."""
    for first, end in ranges:
        while first < end:
            yield first, min(_STATES, end - first)
            first += _STATES
