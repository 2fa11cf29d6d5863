"""What it costs to make a system's machine code, and that it grows with the number of action instances.

    python bench/compiling.py

CPU seconds of lowering, of printing LLVM IR and of LLVM itself, as it is first asked to compile: for the checks of
IceStorm, and for QuorumElection with 3 to 7 replicas, its properties asked as when verifying. Beside them the wall
seconds from the system to functions in memory as a verification pays them with nothing kept: reductions are looked for,
too, and LLVM works beside printing. Three runs of each in turn, the middle ones printed.
"""

from __future__ import annotations

import argparse
import gc
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from icestorm import SPEC as ICESTORM
from measuring import in_turn, machine, middle
from native import SPEC as QUORUM_ELECTION
from systems import system_of

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.native_program import Builder, levels_of
from hacheck.checker.explicit.property_conditions import pose
from hacheck.checker.explicit.stopwatch import Stopwatch
from hacheck.cli.main import GARBAGE_AFTER
from hacheck.compile.codegen.system_module import emit_in_parts
from hacheck.compile.lowering.system import lower
from hacheck.compile.machine.compiler import compile_object, is_available
from hacheck.compile.machine.object_cache import ObjectCache
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import System

CHECKS = ("default", "full_disk", "split_calls", "wide_three_faults")
REPLICAS = (3, 4, 5, 6, 7)


@dataclass(frozen=True, slots=True)
class Made:
    """CPU seconds of each part, for a number of action instances. `built`: wall seconds of a verification."""

    instances: int
    lowering: float
    printing: float
    compiling: float
    built: float

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.lowering + self.printing + self.compiling


def made(system: System) -> Made:
    """Makes the code of a system once."""
    initial = Interpreter(system).initial_states()
    start = time.process_time()
    lowered = lower(system, initial, copies_max=1)
    questions = pose(lowered, ())
    after_lowering = time.process_time()
    parts = emit_in_parts(lowered, questions.sought, questions.unblocking)
    texts = list(parts.texts)
    after_printing = time.process_time()
    for text in texts:
        compile_object(text, levels_of(optimise=False))
    end = time.process_time()
    times = after_lowering - start, after_printing - after_lowering, end - after_printing
    return Made(len(lowered.instances), *times, built(system))


def built(system: System) -> float:
    """Wall seconds from the system to functions in memory."""
    with TemporaryDirectory() as empty:
        watch = Stopwatch(Limits(), lambda _: True)
        Builder(system, (), True, ObjectCache(Path(empty)), watch).for_search()
        return watch.seconds()


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    assert is_available(), is_available().reason
    gc.set_threshold(GARBAGE_AFTER)  # as in the command
    print(machine())
    print(
        f"{'':28} {'instances':>9} {'lower':>7} {'print':>7} {'LLVM':>7} {'all s':>7} {'ms/instance':>11} {'wall s':>7}"
    )
    systems = {f"icestorm {check}": system_of(ICESTORM, check) for check in CHECKS}
    for count in REPLICAS:
        settings = {"replicas": str(count)}
        systems[f"QuorumElection {count} 2 1"] = system_of(QUORUM_ELECTION, settings=settings)
    results = in_turn([partial(made, system) for system in systems.values()], given.runs)
    for name, found in zip(systems, results, strict=True):
        cost = middle(found, lambda run: run.seconds)
        print(
            f"{name:28} {cost.instances:>9} {cost.lowering:>7.3f} {cost.printing:>7.3f} {cost.compiling:>7.3f}"
            f" {cost.seconds:>7.3f} {1_000 * cost.seconds / cost.instances:>11.2f} {cost.built:>7.3f}"
        )


if __name__ == "__main__":
    main()
