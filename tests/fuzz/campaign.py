"""Draws inputs, has them read, and notes what fails: once for each place in hacheck where it does."""

from __future__ import annotations

import hashlib
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.fuzz.kinds import Kind

CORPUS = Path(__file__).parent / "corpus"
"""What each kind found once, a folder for each: read again by every run of the tests."""

WALL_FACTOR = 9
"""A hang is so much CPU time, or this many times as long by the clock: the machine may be busy."""


class Hang(BaseException):
    """An input was read for too long."""


@dataclass
class Found:
    """What a campaign found: how many inputs, how much CPU time, and failures by signature with an input for each."""

    inputs: int = 0
    cpu_seconds: float = 0.0
    failures: Counter[str] = field(default_factory=Counter)
    examples: dict[str, bytes] = field(default_factory=dict)


def run(kind: Kind, inputs: int, seed: int, note: Callable[[str, bytes], None] = lambda name, content: None) -> Found:
    """Has so many inputs read. `note` is called with each new failure."""
    found = Found()
    started = time.process_time()
    for number in range(inputs):
        content = kind.draw(Random(f"{kind.name} {seed} {number}"))
        failure = failure_of(kind, content)
        found.inputs += 1
        if failure is None:
            continue
        found.failures[failure] += 1
        known = found.examples.get(failure)
        if known is None or len(content) < len(known):
            found.examples[failure] = content
            if known is None:
                note(failure, content)
    found.cpu_seconds = time.process_time() - started
    return found


def failure_of(kind: Kind, content: bytes) -> str | None:
    """The signature of what goes wrong when an input is read, `None` where all is well."""
    try:
        with watched(kind.cpu_seconds_max):
            kind.read(content)
    except Hang as hang:
        return f"hang {_place(hang)}"
    except Exception as error:
        return signature(error)
    return None


def signature(error: BaseException) -> str:
    """The type of an error and the innermost place in hacheck; the text of an assertion of the fuzzer itself."""
    place = _place(error)
    return f"{type(error).__name__} {place}" if place else f"{type(error).__name__}: {str(error)[:100]}"


def _place(error: BaseException) -> str:
    trace = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in trace if "/hacheck/" in frame.filename]
    if not frames or ("/fuzz/" in trace[-1].filename and not isinstance(error, Hang)):
        return ""
    last = frames[-1]
    return f"{last.filename.rpartition('/hacheck/')[2]}:{last.name}"


@contextmanager
def watched(cpu_seconds: float) -> Iterator[None]:
    """Raises `Hang` in what takes longer."""

    def stop(number: int, frame: object) -> None:
        raise Hang(f"more than {cpu_seconds} s")

    before = signal.signal(signal.SIGPROF, stop), signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    signal.setitimer(signal.ITIMER_REAL, cpu_seconds * WALL_FACTOR)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGPROF, before[0])
        signal.signal(signal.SIGALRM, before[1])


def smaller(kind: Kind, content: bytes, failure: str, seconds: float = 10.0) -> bytes:
    """An input with the same failure from which nothing more can be left out; where the time is over, something."""
    end = time.monotonic() + seconds
    size = max(len(content) // 2, 1)
    while size:
        at = 0
        while at < len(content):
            if time.monotonic() > end:
                return content
            shorter = content[:at] + content[at + size :]
            if failure_of(kind, shorter) == failure:
                content = shorter
            else:
                at += size
        size //= 2
    return content


def corpus(kind: Kind) -> list[Path]:
    """The inputs that are kept of a kind."""
    return sorted((CORPUS / kind.name).glob(f"*{kind.ending}"))


def keep(kind: Kind, content: bytes, folder: Path = CORPUS) -> Path:
    """Adds an input to the corpus, or to another folder."""
    place = folder / kind.name
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{hashlib.sha256(content).hexdigest()[:12]}{kind.ending}"
    path.write_bytes(content)
    return path
