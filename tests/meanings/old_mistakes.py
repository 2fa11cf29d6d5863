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

from hacheck.model.language import faults, liveness


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
    liveness,
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
