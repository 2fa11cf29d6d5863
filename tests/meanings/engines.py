"""What the engines say of one system: generated Python, machine code, and Z3 up to a depth."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hacheck.checker.engine import DEPTH_REACHED, Answer, Limits
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.checker.symbolic.bounded_model_checking import BoundedEngine
from hacheck.checker.symbolic.lassos import LIVE
from hacheck.model.ir import System
from hacheck.model.runs import Run

LIMITS = Limits(states_max=2_000, wall_seconds_max=20.0)
DEPTH_MAX = 5
Z3_SECONDS = 20.0


def disagreements(system: System, states: int | None, cache: Path | None) -> Iterator[str] | None:
    """What the engines say differently of a system, none where it has too many states.

    `states`: how many the system has, by the comparison of its meanings, if that saw all of them. Machine code, which
    `cache` is for (none: only generated Python explores), must find what generated Python finds: states, transitions,
    depth, verdicts and lengths of runs, and with symmetry reduction and slicing the verdicts and lengths. Z3 must find
    every violation and witness of up to `DEPTH_MAX` steps at its length, and no other.
    """
    python = PortableEngine().check(system, (), LIMITS, lambda _: True)
    if not python.coverage.complete and not python.unstartable:
        return None
    return _disagreements(system, python, states, cache)


def _disagreements(system: System, python: Answer, states: int | None, cache: Path | None) -> Iterator[str]:
    if states is not None and python.coverage.states != states:
        yield f"states: {states} | generated Python {python.coverage.states}"
    if cache is None:
        return
    full = NativeEngine(reductions=False, cache=cache).check(system, (), LIMITS, lambda _: True)
    if _counts(full) != _counts(python):
        yield f"counts: {_counts(python)} | {_counts(full)}"
    yield from _verdicts("machine code", python, full)
    reduced = NativeEngine(cache=cache).check(system, (), LIMITS, lambda _: True)
    if not reduced.endless:
        yield from _verdicts("machine code with reductions", python, reduced)
    yield from _by_z3(system, python)


def _counts(answer: Answer) -> tuple[int, int, int, tuple[tuple[str, int], ...]]:
    found = answer.coverage
    return found.states, found.transitions, found.depth, found.bounds_reached


def _verdicts(engine: str, python: Answer, other: Answer) -> Iterator[str]:
    if (python.error is None) != (other.error is None) or python.unstartable != other.unstartable:
        yield f"{engine}: error of the spec: {python.error is not None} | {other.error is not None}"
    for first, second in zip(python.properties, other.properties, strict=True):
        if (first.verdict, _length(first.run)) != (second.verdict, _length(second.run)):
            said = f"{first.verdict} {_length(first.run)} | {second.verdict} {_length(second.run)}"
            yield f"{engine}: {first.name}: {said}"


def _length(run: Run | None) -> int | None:
    return None if run is None else len(run.steps)


def _by_z3(system: System, python: Answer) -> Iterator[str]:
    depth = min(DEPTH_MAX, python.coverage.depth + 1)
    limits = Limits(wall_seconds_max=Z3_SECONDS)
    answer = BoundedEngine(depth).check(system, (), limits, lambda _: True)
    if answer.coverage.stopped not in (None, DEPTH_REACHED) or python.error is not None:
        return  # no time, or properties that an error of the spec leaves open
    for asked, first, second in zip(system.properties, python.properties, answer.properties, strict=True):
        if asked.kind in LIVE or first.verdict == "unknown":
            continue
        wanted = first.run if (first.verdict == "holds") == (asked.kind == "reachable") else None
        expected = _length(wanted) if wanted is not None and len(wanted.steps) <= depth else None
        if _length(second.run) != expected:
            yield f"Z3: {asked.name}: {first.verdict} {expected} | {second.verdict} {_length(second.run)}"
