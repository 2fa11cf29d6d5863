"""Which facts hold in which reachable states, and which outcomes differ in more than the names of nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hacheck.checker.symbolic.lemma_candidates import Literal
from hacheck.checker.symbolic.prepared_encoding import Prepared
from hacheck.checker.symbolic.reachable_states import evaluated
from hacheck.checker.symbolic.system_encoding import Encoding
from hacheck.model.types import Node


def fact_name(number: int) -> str:
    """Under which name an encoding has a fact."""
    return f"fact {number}"


class Table:
    """Which facts hold in which reachable states: for each fact, and for its opposite, a bit for each state."""

    def __init__(self, prepared: Prepared, columns: Any, count: int, size: int) -> None:
        sought = prepared.encoding.sought
        self.count, self.size = count, size
        self._nodes = {
            number: sought[fact_name(number)].wanted for number in range(size) if fact_name(number) in sought
        }
        self._numbers = tuple(self._nodes)
        holds = self._evaluated(columns, count)
        # States in which the same facts hold are one.
        packed = np.unique(np.packbits(holds, axis=0).T.copy(), axis=0)
        holds = np.unpackbits(packed.T, axis=0, count=size).astype(bool)
        self.rows = holds.shape[1]
        self.bits = np.empty((2, size, (self.rows + 63) // 64), dtype=np.uint64)
        for truth in (0, 1):
            padded = np.zeros((size, self.bits.shape[2] * 64), dtype=bool)
            padded[:, : self.rows] = holds == bool(truth)
            self.bits[truth] = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)

    def _evaluated(self, columns: Any, count: int) -> Any:
        holds = np.zeros((self.size, count), dtype=bool)
        found = evaluated(list(self._nodes.values()), columns)
        for number, column in zip(self._numbers, found, strict=True):
            holds[number] = np.broadcast_to(column, (count,)) != 0
        return holds

    def literals(self, contents: dict[int, int], layout: Any) -> list[bool]:
        """Which facts hold in one state."""
        columns = {
            index: np.array([contents[index] if slot.fixed is None else slot.fixed], dtype=np.int64)
            for index, slot in enumerate(layout.slots)
        }
        return [bool(one) for one in self._evaluated(columns, 1)[:, 0]]

    def with_all(self, cube: Sequence[Literal]) -> Any:
        """The states in which all of these hold."""
        found = np.full(self.bits.shape[2], ~np.uint64(0))
        for fact, holds in cube:
            found = found & self.bits[int(holds), fact]
        return found

    def never(self, cube: Sequence[Literal]) -> bool:
        """Whether no reachable state has all of these."""
        return not self.with_all(cube).any()

    def completing(self, cube: Sequence[Literal], others: Sequence[Literal]) -> list[Literal]:
        """Those of the others that never hold beside all of these."""
        if not others:
            return []
        index = np.array([fact for fact, _ in others]), np.array([int(holds) for _, holds in others])
        having = self.with_all(cube)
        kept = np.flatnonzero(having)
        left = (self.bits[index[1][:, None], index[0][:, None], kept[None, :]] & having[kept]).any(axis=1)
        return [one for one, some in zip(others, left, strict=True) if not some]


def unlike(encoding: Encoding) -> Iterator[int]:
    """Outcomes of which no two differ in the names of nodes only. Claims are about all nodes, so where nodes are
    symmetric what one outcome keeps, the others keep; the proof in the end is of all of them."""
    seen: set[object] = set()
    counted: Counter[int] = Counter()
    lowered = encoding.lowered
    for number, outcome in enumerate(encoding.behaviour.steps):
        instance = lowered.instances[outcome.instance]
        counted[outcome.instance] += 1
        names: dict[object, int] = {}
        pattern: list[object] = []
        for (_, kind), value in zip(
            lowered.system.actions[instance.action].parameters, instance.arguments, strict=True
        ):
            if isinstance(kind, Node) and not kind.ranked:
                pattern.append(names.setdefault((kind.name, value), len(names)))
            else:
                pattern.append(repr(value))
        key = instance.action, counted[outcome.instance], tuple(pattern)
        if key not in seen:
            seen.add(key)
            yield number
