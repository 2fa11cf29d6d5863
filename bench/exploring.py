"""One exploration by hacheck in a process of its own, and what each phase of it cost.

    python bench/exploring.py SPEC [--check NAME] [--set NAME=VALUE]... [--engine native] [--threads N]
        [--property NAME]... [--kinds safety] [--reductions]

Prints one JSON object. The other scripts of this folder start it, so that every exploration touches its memory for
the first time, as a user's does. Reductions are off unless asked for: peers explore the same states.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

from measuring import Spent, spent
from msgspec import Struct, field
from systems import system_of

from hacheck.checker.engine import Answer, Engine, Limits
from hacheck.checker.explicit import stopwatch
from hacheck.model.ir import System

_ON_RUNS = ("eventually", "leads_to")


class Task(Struct, frozen=True):
    """What to explore: a spec's check or settings. `properties`: which are asked; if none is named, those of `kinds`
    ("all", "safety" or "liveness")."""

    spec: Path
    check: str | None = None
    settings: tuple[tuple[str, str], ...] = ()
    properties: tuple[str, ...] = ()
    kinds: str = "all"
    engine: str = "native"
    threads: int = 1
    reductions: bool = False
    optimise: bool = False
    limits: Limits = field(default_factory=Limits)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The command line that says the same."""
        found = [str(self.spec), f"--kinds={self.kinds}", f"--engine={self.engine}", f"--threads={self.threads}"]
        found += [f"--check={self.check}"] if self.check else []
        found += [f"--set={name}={value}" for name, value in self.settings]
        found += [f"--property={name}" for name in self.properties]
        limits = {"--seconds": self.limits.wall_seconds_max, "--bytes": self.limits.memory_bytes_max}
        found += [f"{name}={value}" for name, value in limits.items() if value is not None]
        flags = {"--reductions": self.reductions, "--optimise": self.optimise}
        return (*found, *(flag for flag, given in flags.items() if given))


class Explored(Struct, frozen=True):
    """What an exploration found and cost. `held`: the invariants asked that hold. `seconds`:
    of each phase, CPU or wall as asked for. `cost`: of the whole process, from the start of Python
    to the verdict."""

    states: int
    steps: int
    depth: int
    stopped: str | None
    bytes_per_state: float | None
    reductions: tuple[str, ...]
    held: tuple[str, ...]
    seconds: dict[str, float]
    cost: Spent

    @property
    def states_per_second(self) -> float:
        """States for each second of the exploration proper."""
        return self.states / self.seconds["exploring"]


def explored(task: Task, cache: Path | None = None, clock: str = "cpu") -> Explored:
    """Explores in a new process. `cache`: the folder of compiled code, by default a new one. `clock`: which seconds of
    phases are told, of `CLOCKS`."""
    with TemporaryDirectory() as empty:
        command = (sys.executable, str(Path(__file__).resolve()), *task.arguments, f"--clock={clock}")
        cost = spent(command, environment={"HACHECK_CACHE_DIR": str(cache or empty)})
    told: dict[str, Any] = json.loads(cost.output.splitlines()[-1])
    told |= {name: tuple(told[name]) for name in ("reductions", "held")}
    return Explored(**told, cost=cost)


def engine_of(task: Task) -> Engine:
    """The engine of a task."""
    if task.engine == "portable":
        from hacheck.checker.explicit.portable.portable_engine import PortableEngine

        return PortableEngine()
    from hacheck.checker.explicit.native_engine import NativeEngine

    return NativeEngine(threads=task.threads, reductions=task.reductions, optimise=task.optimise)


def asked(system: System, kinds: str) -> tuple[str, ...]:
    """The names of the properties of these kinds."""
    found = tuple(
        item.name for item in system.properties if kinds == "all" or (item.kind in _ON_RUNS) == (kinds == "liveness")
    )
    if not found:
        sys.exit(f"{system.name} has no properties of the kind asked for: {kinds}")
    return found


CLOCKS: Mapping[str, Callable[[], float]] = {
    "cpu": time.process_time,  # of this process: a machine that others use as well stretches wall seconds
    "user": lambda: resource.getrusage(resource.RUSAGE_SELF).ru_utime,  # without what the kernel does for it
    "wall": time.perf_counter,
}


def answered(system: System, task: Task, clock: str) -> Answer:
    """The engine's answer, its phases told by a clock."""
    names = task.properties or asked(system, task.kinds)
    with phases_by(CLOCKS[clock]):
        return engine_of(task).check(system, names, task.limits, lambda _: True)


@contextmanager
def phases_by(clock: Callable[[], float]) -> Iterator[None]:
    """Has engines tell the seconds of their phases by a clock."""
    before = vars(stopwatch)["time"]
    vars(stopwatch)["time"] = SimpleNamespace(perf_counter=clock)
    try:
        yield
    finally:
        vars(stopwatch)["time"] = before


def main(arguments: Sequence[str] | None = None) -> None:
    """Explores and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spec", type=Path)
    parser.add_argument("--check")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--property", action="append", default=[], metavar="NAME")
    parser.add_argument("--kinds", choices=("all", "safety", "liveness"), default="all")
    parser.add_argument("--engine", choices=("native", "portable"), default="native")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--reductions", action="store_true")
    parser.add_argument("--optimise", action="store_true")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--bytes", type=int)
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="cpu")
    given = parser.parse_args(arguments)
    task = Task(
        given.spec,
        given.check,
        tuple(tuple(item.split("=", 1)) for item in given.set),
        tuple(given.property),
        given.kinds,
        given.engine,
        given.threads,
        given.reductions,
        given.optimise,
        Limits(wall_seconds_max=given.seconds, memory_bytes_max=given.bytes),
    )
    system = system_of(task.spec, task.check, dict(task.settings))
    answer = answered(system, task, given.clock)
    coverage = answer.coverage
    invariants = {item.name for item in system.properties if item.kind == "invariant"}
    told = {
        "states": coverage.states,
        "steps": coverage.transitions,
        "depth": coverage.depth,
        "stopped": coverage.stopped,
        "bytes_per_state": coverage.bytes_per_state,
        "reductions": answer.reductions,
        "held": [item.name for item in answer.properties if item.verdict == "holds" and item.name in invariants],
        "seconds": dict(answer.phases),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
