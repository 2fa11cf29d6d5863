"""Room for recursion over deeply nested code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_FRAMES = 20_000


@contextmanager
def room_for_nesting() -> Iterator[None]:
    """Lets calls nest as deeply as hundreds of checks in one action need. Frames of Python functions take no room on
    the stack of the machine, so this is memory, not a crash."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
