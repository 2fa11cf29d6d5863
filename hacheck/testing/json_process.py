"""A process that gets requests and answers them, in lines of JSON; all else that it does is reported, with its last
output."""

from __future__ import annotations

import json
import os
import queue
import shlex
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

LINES_KEPT = 20
"""So many of the last lines of its standard error are reported."""

LINE_MAX = 1 << 20
"""The longest answer, in bytes."""

_SHOWN_MAX = 200  # characters of an answer that is none
_END_SECONDS = 1.0  # for what a process that has ended wrote at last


class ProcessFailure(Exception):
    """A process under test did not do as requested: says what it did instead."""

    __module__ = "hacheck.testing"  # where people find it


class Talk:
    """A process, from its start to its end. `failed`: whether it did something else than answer."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        """Errors: `ProcessFailure` where it cannot be started."""
        self._command, self._request, self.failed = command, "", False
        self._heard: queue.Queue[list[bytes | None]] = queue.Queue()
        self._answers: deque[bytes | None] = deque()
        self._last: deque[str] = deque(maxlen=LINES_KEPT)
        try:
            self._process = subprocess.Popen(
                list(command), cwd=folder, env={**os.environ, **environment}, start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise ProcessFailure(f"{shlex.join(command)}: cannot be started in {folder}: {reason}") from None
        self._threads = [
            threading.Thread(target=self._hear, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._note, args=(self._process.stderr,), daemon=True),
        ]
        for one in self._threads:
            one.start()

    @property
    def alive(self) -> bool:
        """Whether the process is there, and has answered every request."""
        return not self.failed and self._process.poll() is None

    def ask(self, request: Mapping[str, Any], seconds: float) -> Any:
        """The answer to a request. Errors: `ProcessFailure`."""
        if self._request:  # what a process says before any request is reported as its first answer
            self._none_too_many()
        self._request = json.dumps(request)
        assert self._process.stdin is not None, "it has a pipe"
        try:
            self._process.stdin.write(self._request.encode() + b"\n")
            self._process.stdin.flush()
        except OSError:  # it reads no more: why shows in what it does
            pass
        try:
            line = self._answer(seconds)
        except queue.Empty:
            raise self.failure(f"no answer after {seconds:g} s") from None
        if line is None:
            raise self._ended()
        if len(line) >= LINE_MAX:
            raise self.failure(f"an answer of more than {LINE_MAX:,} bytes")
        try:
            return json.loads(line)
        except ValueError:
            raise self.failure(f"its answer is not JSON: {_short(line)}") from None

    def _none_too_many(self) -> None:
        """Errors: `ProcessFailure` where there is an answer without a request."""
        with suppress(queue.Empty):
            line = self._answer(0)
            if line is None:
                raise self._ended()
            raise self.failure(f"an answer too many: {_short(line)}")

    def _answer(self, seconds: float) -> bytes | None:
        """The next line, `None` where there are no more. Errors: `queue.Empty` where none comes in time."""
        if not self._answers:
            self._answers.extend(self._heard.get(timeout=seconds) if seconds else self._heard.get_nowait())
        return self._answers.popleft()

    def failure(self, what: str) -> ProcessFailure:
        """What to raise: what it did at which request, and what it wrote at last. It gets no more requests."""
        self.failed = True
        parts = [f"{shlex.join(self._command)}: {what}"]
        if self._request:
            parts.append(f"request: {self._request}")
        said = list(self._last)
        parts += ["its standard error:", *(f"  {line}" for line in said)] if said else ["its standard error is empty"]
        return ProcessFailure("\n".join(parts))

    def _ended(self) -> ProcessFailure:
        """What to raise when nothing more is to be read."""
        until = time.monotonic() + _END_SECONDS
        while self._process.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        self._threads[1].join(_END_SECONDS)
        code = self._process.poll()
        if code is None:
            return self.failure("it closed its standard output, and runs on")
        if code < 0:
            return self.failure(f"it was ended by {_signal_name(-code)}")
        return self.failure(f"it ended with exit code {code}")

    def end(self) -> None:
        """Kills the process and its group. Cost: no more than a moment."""
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for one in self._threads:
            one.join(_END_SECONDS)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with suppress(OSError, ValueError):
                assert pipe is not None, "it has pipes"
                pipe.close()

    def _hear(self, stream: IO[bytes]) -> None:
        """Takes answers in, those that come at once together; `None` when there will be no more."""
        last = b""
        with suppress(OSError, ValueError):
            while come := os.read(stream.fileno(), LINE_MAX):
                *lines, last = (last + come).split(b"\n")
                if lines:
                    self._heard.put([*lines])
                if len(last) >= LINE_MAX:
                    break
        self._heard.put([last, None] if last else [None])

    def _note(self, stream: IO[bytes]) -> None:
        """Takes in what it says besides."""
        with suppress(OSError, ValueError):
            while line := stream.readline(LINE_MAX):
                self._last.append(line.decode("utf-8", "replace").rstrip())


def _short(line: bytes) -> str:
    text = line.decode("utf-8", "replace").rstrip("\n")
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}…"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
