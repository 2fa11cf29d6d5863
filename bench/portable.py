"""States per second of the portable engine on QuorumElection.

    python bench/portable.py [N T K]...

Prints, for each size, the distinct states, the steps, the bits of a state, the time to prepare (lowering and code
generation), the CPU time of the search, and states and steps for each second of it. Without sizes: 3 2 1, 3 3 1 and
4 1 2.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.portable.breadth_first_search import search
from hacheck.checker.explicit.portable.condition_functions import prepare
from hacheck.checker.explicit.property_conditions import pose
from hacheck.compile.lowering.layout import pack
from hacheck.compile.lowering.system import lower
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import System
from hacheck.model.language import load

SPEC = Path(__file__).resolve().parent / "quorum_election.ha"
SIZES = ((3, 2, 1), (3, 3, 1), (4, 1, 2))


def system_of(size: tuple[int, ...]) -> System:
    """The system for N, T and K."""
    loaded = load(SPEC.read_text(encoding="utf-8"), str(SPEC))
    assert loaded.specification is not None, loaded.diagnostics
    settings = dict(zip(("replicas", "terms", "crashes"), map(str, size), strict=True))
    instance = loaded.specification.instantiate(settings)
    assert instance.system is not None, instance.diagnostics
    return instance.system


def measure(size: tuple[int, ...]) -> str:
    """One row: a size explored once, completely, with its properties asked of every state."""
    system = system_of(size)
    start = time.thread_time()
    initial = Interpreter(system).initial_states()
    lowered = lower(system, initial)
    questions = pose(lowered, ())
    prepared = prepare(lowered, questions)
    ready = time.thread_time()
    packed = [pack(lowered.layout, state) for state in initial]
    log = search(prepared.code, packed, list(prepared.finders), Limits(), lambda _: True)
    seconds = time.thread_time() - ready
    states, steps = len(log.order), sum(log.counts)
    name = " ".join(map(str, size))
    return (
        f"{name:7} {states:>9,} {steps:>10,} {lowered.layout.width:>5} {ready - start:>10.3f} {seconds:>9.2f}"
        f" {states / seconds:>10,.0f} {steps / seconds:>10,.0f}"
    )


def main(arguments: list[str]) -> None:
    """Prints the table for the sizes given as N T K N T K …"""
    numbers = [int(argument) for argument in arguments]
    sizes = tuple(zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)) or SIZES
    print(f"Python {sys.version.split()[0]}")
    print("N T K      states      steps  bits  prepare s  search s   states/s    steps/s")
    for size in sizes:
        print(measure(size))


if __name__ == "__main__":
    main(sys.argv[1:])
