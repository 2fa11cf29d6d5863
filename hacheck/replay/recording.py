"""What a replay writes down besides the product's own logs: `messages.txt`, every message and step by time."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from types import TracebackType

from hacheck.replay.traffic import Message

MESSAGES = "messages.txt"


class Recording:
    """The folder of one replay. To be used from any thread, as a context."""

    def __init__(self, folder: Path) -> None:
        """Errors: `OSError`, if the folder is there already, or cannot be made."""
        folder.mkdir(parents=True)
        self.folder = folder
        self.began = time.monotonic()
        self._file = (folder / MESSAGES).open("w", encoding="utf-8")
        self._lock = threading.Lock()
        self._closed = False

    @property
    def passed(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self.began

    def note(self, text: str) -> None:
        """Writes a line, with the time."""
        with self._lock:
            if not self._closed:
                self._file.write(f"{self.passed:8.3f}  {text}\n")
                self._file.flush()

    def message(self, message: Message) -> None:
        """Writes down a message and its fate."""
        self.note(f"      {message.text}")

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._closed = True
            self._file.close()
