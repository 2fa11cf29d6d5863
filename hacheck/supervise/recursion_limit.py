"""Room for recursion over deeply nested code, and for pickling it."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO

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


def pickled(value: object) -> bytes:
    """The value as bytes, however deeply it is nested. Python 3.12 bounds the depth of its pickler in C by a number of
    its own, beside the recursion limit; where that is reached, the pickler in Python does the work."""
    with room_for_nesting():
        try:
            return pickle.dumps(value)
        except RecursionError:
            output = BytesIO()
            pickle._Pickler(output).dump(value)
            return output.getvalue()
