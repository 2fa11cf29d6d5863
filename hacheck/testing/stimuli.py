"""What a test does to a system under test, step by step."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

WAIT = "wait"
"""The method of adapters that lets time pass, and the name of that step."""

SETTLE = "settle"
"""The method of adapters that ends all that is wrong and waits for the service, and the name of that step."""


class Step(Struct, frozen=True):
    """Something that a test did: a method of the adapter, and the arguments by name."""

    method: str
    arguments: tuple[tuple[str, Any], ...]

    @property
    def text(self) -> str:
        """It as one would write it: `crash(n='Server-1')`."""
        return f"{self.method}({', '.join(f'{name}={value!r}' for name, value in self.arguments)})"
