"""A process that watches files with `--watch`, for tests: rounds as they are printed, and its end."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECONDS_MAX = 60.0
"""How long a round may take on a busy machine before the test says that none came."""


class Watched:
    """A process that watches a file, and what it has printed. Each round ends with a line that begins `watching`."""

    def __init__(self, file: Path, folder: Path, words: tuple[str, ...]) -> None:
        self.file, self._shown = file, folder / "shown.txt"
        self._read, self._rounds = 0, 0
        command = [sys.executable, "-m", "hacheck", *words, "--watch"]
        plain = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
        with self._shown.open("w") as stream:
            self.process = subprocess.Popen(command, cwd=folder, env=plain, stdout=stream, stderr=subprocess.STDOUT)

    def round(self, text: str | None = None) -> str:
        """Saves a text, and waits for what is printed of it."""
        if text is not None:
            beside = self.file.with_suffix(".new")  # as many editors save
            beside.write_text(text, encoding="utf-8")
            beside.replace(self.file)
        self._rounds += 1
        deadline = time.monotonic() + SECONDS_MAX
        while (printed := self._shown.read_text("utf-8")).count("\nwatching") < self._rounds:
            assert self.process.poll() is None, printed
            assert time.monotonic() < deadline, printed
            time.sleep(0.02)
        fresh, self._read = printed[self._read :], len(printed)
        return fresh


@contextmanager
def watching(file: Path, *words: str, folder: Path | None = None) -> Iterator[Watched]:
    """A command that watches `file`, run in a folder: that of the file, unless another one is given."""
    one = Watched(file, folder or file.parent, words)
    try:
        yield one
    finally:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()
