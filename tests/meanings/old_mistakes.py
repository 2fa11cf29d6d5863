"""Mistakes that the elaboration once made, put back in: a part of a function's text replaced by another."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any
from unittest.mock import patch

from hacheck.model.language import faults, halting_calls, local_liveness, locks, message_losses


@dataclass(frozen=True)
class Mistake:
    """A function of a module in which `right` stands, and what stood there while it was wrong."""

    name: str
    module: ModuleType
    function: str
    right: str
    wrong: str

    @contextmanager
    def made(self) -> Iterator[None]:
        """The mistake is made as long as this lasts."""
        function: Any = getattr(self.module, self.function)
        assert isinstance(function, FunctionType)
        source = textwrap.dedent(inspect.getsource(function))
        assert source.count(self.right) == 1, f"{self.name}: `{self.right}` stands in {self.function} no longer"
        space: dict[str, Any] = {}
        exec(compile(source.replace(self.right, self.wrong), self.function, "exec"), self.module.__dict__, space)
        with patch.object(self.module, self.function, space[self.function]):
            yield


KEY_FORGOTTEN = Mistake(
    "a local that is read only as a key is forgotten",
    local_liveness,
    "live_before",
    "case ir.Assign(ir.Target(root, (_,)), value) if root.name in reads.names:",
    "case ir.Assign(ir.Target(root, (_,)), value):",
)
FAULT_EXCLUDED = Mistake(
    "a fault whose `when` asks `not up(x)` never happens",
    faults,
    "_is_ruled_out",
    "Scope(context, state=False)",
    "Scope(context)",
)
FIRST_LOST = Mistake(
    "of equal messages of a `fifo` link only the first is lost",
    message_losses,
    "_lose_message",
    """if isinstance(slot, ty.Sequence):
        body = _without_one(context, slot, current, target)
    elif isinstance(slot, ty.Bag):""",
    "if not isinstance(slot, ty.Option):",
)
COPY_LAST = Mistake(
    "a copy on a `fifo` link stands behind all others",
    message_losses,
    "_with_a_copy",
    '_place("behind", place, queue, slot)',
    '_place("behind", ir.Unary("size", queue), queue, slot)',
)
GIVEN_BACK_FOR_ANOTHER = Mistake(
    "a node gives back a lock, `freed late`, that is still held for its process before",
    locks,
    "release",
    "held_for(context, lock, node)",
    'ir.Binary("==", holder_of(context, lock), ir.Unary("some", node))',
)
STEP_OUTLIVES_NODE = Mistake(
    "a step goes on after a call in which its own node has halted",
    halting_calls,
    "_halted",
    "found.add(owner.name)",
    "found.discard(owner.name)",
)
