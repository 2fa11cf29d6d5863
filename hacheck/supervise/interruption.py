"""Ctrl-C as a polite request to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interruption:
    """Whether the user wants to stop. The first Ctrl-C requests it, the second ends the process at once."""

    def __init__(self) -> None:
        self.requested = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True

    @contextmanager
    def watching(self) -> Iterator[Interruption]:
        """Listens to Ctrl-C (and to a polite kill) as long as the block runs."""
        listening = threading.current_thread() is threading.main_thread()  # only there Python lets us listen
        numbers = (signal.SIGINT, signal.SIGTERM) if listening else ()
        before = {number: signal.getsignal(number) for number in numbers}
        for number in before:
            signal.signal(number, self._handle)
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
