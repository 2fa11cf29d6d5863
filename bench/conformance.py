"""Logs compared with a model: records a second of the loop alone, and from Parquet files to verdicts.

    python bench/conformance.py [--records N] [--whole N]

Traces are runs of QuorumElection, made by `hacheck simulate`. The loop is timed with everything logged, and with some
events hidden so that about twenty states explain the log at each record; beside it, in turn, the reference interpreter
does the same with sets of states. `--whole`: then so many records go from Parquet files to verdicts through the driver
for one machine, once with the model and once with a judge that says nothing (wall and CPU seconds, all processes).
"""

from __future__ import annotations

import argparse
import itertools
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow.dataset as pd
from measuring import machine

from hacheck.cli.sources import instantiate, load_specification
from hacheck.model.ir import System
from hacheck.model.observing.lines import logged
from hacheck.model.observing.reading import observed
from hacheck.model.runs import State
from hacheck.model.semantics import Interpreter
from hacheck.traces.conformance import control as k
from hacheck.traces.conformance.checker import TraceChecker
from hacheck.traces.conformance.encoding import Encoder
from hacheck.traces.conformance.following import Follower, Memory
from hacheck.traces.conformance.program import Compiled, compiled
from hacheck.traces.conformance.verdicts import Verdict, to_batch
from hacheck.traces.dataset import open_traces
from hacheck.traces.drivers.local import check_locally
from hacheck.traces.findings import Findings
from hacheck.traces.records import EVENT, TRACE_ID, Order

SPEC = Path(__file__).parent / "quorum_election.ha"
SETTINGS = {"terms": "3"}
HIDDEN = ("lose request", "lose reply")
ROUNDS = 5
PURE_TRACES, PURE_RECORDS = 2, 5


def the_system(hidden: tuple[str, ...] = ()) -> System:
    """QuorumElection, a line for each step but the hidden ones."""
    specification = load_specification(str(SPEC), no_color=True)
    return logged(instantiate(specification, SETTINGS, logs=True), True, hidden)


def simulated(folder: Path, traces: int, steps: int = 100) -> Path:
    """Runs as traces."""
    place = folder / f"traces-{traces}"
    command = [sys.executable, "-m", "hacheck", "simulate", str(SPEC), "--traces", str(traces), "--steps", str(steps)]
    settings = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
    subprocess.run([*command, *settings, "--out", str(place), "--quiet"], check=True)
    return place


def in_words(made: Compiled, batches: list[Any]) -> tuple[Any, Any, int]:
    """All records as the loop gets them, the parts, and how many records are compared."""
    words, parts, first, total = [], [], 0, 0
    gap = np.zeros((2 * made.shape.places, made.record.words), np.uint64)
    for batch in batches:
        ids = batch.column(TRACE_ID).to_pylist()
        starts = [0, *(row for row in range(1, len(ids)) if ids[row] != ids[row - 1]), len(ids)]
        for start, end in itertools.pairwise(starts):
            encoded = Encoder(made).encode(batch.slice(start, end - start))
            words += [encoded.words, gap]
            parts.append((first, len(encoded.words), 0, 1))
            first += len(encoded.words) + len(gap)
            total += len(encoded.words)
    return np.concatenate(words), np.array(parts, np.uint64), total


def of_the_loop(batches: list[Any], hidden: tuple[str, ...]) -> None:
    """Records a CPU second, and states looked at for each record."""
    system = the_system(hidden)
    made = compiled(observed(system))
    words, parts, total = in_words(made, batches)
    memory = Memory(made)
    follower = Follower(made, memory)
    seconds = []
    for _ in range(ROUNDS):
        before, expanded = time.process_time(), memory.expanded
        found = follower.follow(words, parts.copy())
        seconds.append(time.process_time() - before)
        assert (found[:, k.STATUS] == k.FOLLOWED).all(), "runs of the model conform"
    expanded = memory.expanded - expanded
    begun = time.process_time()
    records = sum(pure(system, batch, hidden) for batch in first_traces(batches))
    rate, slow = total / sorted(seconds)[len(seconds) // 2], records / (time.process_time() - begun)
    name = f"without {len(hidden)} of the events" if hidden else "every event"
    looked = f"{expanded / total:.1f} states/record"
    print(f"{name:<28}{rate / 1e6:>8.2f} M records/s {looked:>22} {rate / slow:>9,.0f} times the interpreter")


def first_traces(batches: list[Any]) -> Iterator[Any]:
    """Some traces, each as a batch."""
    ids = batches[0].column(TRACE_ID).to_pylist()
    for name in list(dict.fromkeys(ids))[:PURE_TRACES]:
        yield batches[0].slice(ids.index(name), ids.count(name))


def pure(system: System, batch: Any, hidden: tuple[str, ...]) -> int:
    """Follows a trace with the interpreter. Returns how many records were compared."""
    interpreter = Interpreter(system)
    states: set[State] = set(interpreter.initial_states())
    count = 0
    for event in batch.column(EVENT).to_pylist()[:PURE_RECORDS]:
        if event in hidden:
            continue
        count += 1
        waiting, closed, after = list(states), set(states), set()
        while waiting:
            for step, lines in interpreter.steps_with_lines(waiting.pop()):
                if not lines and step.state not in closed:
                    closed.add(step.state)
                    waiting.append(step.state)
                elif lines and lines[0].event == event:
                    after.add(step.state)
        states = after
    return count


class SaysNothing:
    """A judge that only counts."""

    columns = TraceChecker(the_system(), Order.TOTAL).columns

    def check(self, batches: Iterator[Any]) -> Iterator[Any]:
        """A verdict on each trace, without looking."""
        seen: dict[str, int] = {}
        for batch in batches:
            for pair in batch.column(TRACE_ID).value_counts().to_pylist():
                seen[pair["values"]] = seen.get(pair["values"], 0) + pair["counts"]
            *done, last = seen.items()
            if done:
                yield to_batch([Verdict(name, "conforms", count, count) for name, count in done])
            seen = dict([last])
        yield to_batch([Verdict(name, "conforms", count, count) for name, count in seen.items()])


def of_the_driver(place: Path) -> None:
    """From files to verdicts."""
    for name, judge in (("nothing", SaysNothing()), ("the model", TraceChecker(the_system(), Order.TOTAL))):
        findings = Findings()
        begun, cpu = time.perf_counter(), spent_by_all()
        outcome = check_locally(open_traces(place, findings), judge, findings)  # type: ignore[arg-type]
        wall, busy = time.perf_counter() - begun, spent_by_all() - cpu
        assert outcome.complete, "nobody stopped it"
        cost = f"{wall:.1f} s wall, {busy:.1f} s CPU"
        print(f"judged by {name:<12}{outcome.records:>12,} records {cost:>28}  {dict(outcome.counts)}")


def spent_by_all() -> float:
    """CPU seconds of this process and of those it started that have ended."""
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in found)


def main() -> None:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--whole", type=int, default=0)
    chosen = parser.parse_args()
    print(machine())
    with TemporaryDirectory() as folder:
        place = simulated(Path(folder), chosen.records // 100)
        batches = [
            batch
            for batch in pd.dataset(place, format="parquet", exclude_invalid_files=True).to_batches()
            if batch.num_rows
        ]
        batches = [batch for batch in batches if EVENT in batch.schema.names]
        of_the_loop(batches, ())
        of_the_loop([batches[0].slice(0, 5_000)], HIDDEN)
        if chosen.whole:
            of_the_driver(simulated(Path(folder), chosen.whole // 100))


if __name__ == "__main__":
    main()
