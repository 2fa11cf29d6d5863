"""Random runs of shipped specs: steps of a walk beside the pure-Python walk, and records a second into files.

    python bench/simulating.py [SPEC …] [--traces N] [--events N]

For each spec: steps a second by machine code and by the portable program, in turn, one core each; then records a second
from the walk to Parquet files, truth included, by one process (CPU seconds). `--events`: then writes traces with at
least so many records, by as many processes as there are cores, and tells the wall seconds.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from measuring import in_turn, machine, middle, spent

from hacheck import shipped
from hacheck.checker.explicit.portable.python_program import Code, Wanted, generate
from hacheck.checker.explicit.portable.random_walks import _walk
from hacheck.cli.sources import load_specification
from hacheck.compile.lowering.layout import pack
from hacheck.compile.lowering.system import lower
from hacheck.model import ir
from hacheck.model.interpreter import Interpreter
from hacheck.model.observing.line_writers import has_lines, logged
from hacheck.traces.simulation.part_files import TRUTH, write_part
from hacheck.traces.simulation.plan import Plan
from hacheck.traces.simulation.trace_maker import Maker

STEPS = 200
PURE_WALKS = 20  # so many in pure Python, which takes long enough


def system_of(name: str) -> tuple[ir.System, bool]:
    """The system that logs are compared with, and whether its spec says what is logged."""
    made = load_specification(name, no_color=True).instantiate({}, None, logs=True).system
    assert made is not None, f"{name} is shipped"
    return logged(made, not has_lines(made)), has_lines(made)


def by_machine_code(maker: Maker) -> float:
    """Steps a CPU second."""
    begun = time.process_time()
    walked = maker.walker.walk(0, maker.plan.chunk)
    return len(walked.by) / (time.process_time() - begun)


def by_python(code: Code, initial: list[int]) -> float:
    """Steps a CPU second."""
    begun = time.process_time()
    steps = sum(len(_walk(code, initial, random.Random(seed), STEPS).by) for seed in range(PURE_WALKS))
    return steps / (time.process_time() - begun)


def into_files(maker: Maker) -> float:
    """Records a CPU second."""
    with TemporaryDirectory() as folder:
        (Path(folder) / TRUTH).mkdir()
        begun = time.process_time()
        file = write_part(maker, Path(folder), 0, lambda written: True)
        assert file is not None, "nobody stops it"
        return file.written.records / (time.process_time() - begun)


def row(name: str, traces: int, runs: int) -> None:
    """Prints the figures of a spec."""
    system, says = system_of(name)
    maker = Maker(Plan(system, name, traces, STEPS, seed=1))
    initial = Interpreter(system).initial_states()
    lowered = lower(system, initial)
    code = generate(lowered, Wanted())
    starts = [pack(lowered.layout, state) for state in initial]
    by_machine_code(maker)
    contest = [partial(by_machine_code, maker), partial(by_python, code, starts), partial(into_files, maker)]
    native, pure, files = (middle(found, lambda rate: rate) for found in in_turn(contest, runs))
    lines = "as the spec says" if says else "every step"
    print(f"{name:22} {lines:17} {native:13,.0f} {pure:11,.0f} {native / pure:7,.0f} {files:12,.0f}")


def command(name: str, events: int) -> None:
    """Prints what the command takes for so many records."""
    system, _ = system_of(name)
    made = Maker(Plan(system, name, 200, STEPS, seed=1)).make(0, 200)
    traces = -(-events * 200 // max(made.records.num_rows, 1))
    with TemporaryDirectory() as folder:
        words = ["simulate", name, "--traces", str(traces), "--steps", str(STEPS), "--out", f"{folder}/out", "-q"]
        cost = spent([sys.executable, "-m", "hacheck", *words])
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    print(f"{name}: {traces:,} traces, about {events:,} records, {size / 1e6:,.0f} MB: {cost.wall_seconds:.1f} s")


def main() -> None:
    """Prints the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("specs", nargs="*", metavar="SPEC")
    parser.add_argument("--traces", type=int, default=5_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--events", type=int, default=0)
    given = parser.parse_args()
    print(machine())
    print(f"{'spec':22} {'lines':17} {'walk, steps/s':>13} {'in Python':>11} {'ratio':>7} {'to files/s':>12}")
    for name in given.specs or shipped.names():
        row(name, given.traces, given.runs)
    if given.events:
        command((given.specs or ["icestorm"])[0], given.events)


if __name__ == "__main__":
    main()
