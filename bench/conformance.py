"""Logs compared with a model: records a second of the loop alone, and from Parquet files to verdicts.

    python bench/conformance.py [--records N] [--whole N]

Traces are runs of QuorumElection, made by `hacheck simulate`. The loop is timed with everything logged, and with events
hidden so that more and more states explain the log at each record: `CASES`. Each is followed from nothing: what the
automaton knows at the end it has learned from these records. `known` is the share of them whose move was known by then;
`again` what a record costs in a second pass, in which nothing is new; `worked out` what one cost more whose move was
not known; `without` records a second with the automaton switched off, of a few traces, in turn; `interpreter` how many
times slower the reference interpreter is, which does the same with sets of states.

`--whole`: then so many records go from Parquet files to verdicts through the driver for one machine, once with the
model and once with a judge that says nothing (wall and CPU seconds, all processes).
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
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import System
from hacheck.model.observing.line_writers import logged
from hacheck.model.observing.record_conditions import observed
from hacheck.model.runs import State
from hacheck.traces.conformance.automaton import BYTES as KNOWN_BYTES
from hacheck.traces.conformance.follower import Follower, Memory
from hacheck.traces.conformance.kernels import control as k
from hacheck.traces.conformance.record_encoding import Encoder
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.trace_compiler import compiled
from hacheck.traces.conformance.trace_program import Compiled
from hacheck.traces.conformance.verdicts import Verdict, to_batch
from hacheck.traces.dataset import open_traces
from hacheck.traces.drivers.local import check_locally
from hacheck.traces.findings import Findings
from hacheck.traces.records import EVENT, TRACE_ID, Order

SPEC = Path(__file__).parent / "quorum_election.ha"
LOST = ("lose request", "lose reply")
CASES: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("every event", 3, ()),
    ("replies that are lost leave none", 3, LOST[1:]),
    ("one term, no lost message leaves one", 1, LOST),
    ("two terms, no lost message leaves one", 2, LOST),
    ("three terms, no lost message leaves one", 3, LOST),
)
"""What is timed: how many terms there are, and which events are hidden. With one term some seventeen states explain a
record, with two some twenty-seven."""

TERMS = 3  # of the records that go through the driver
WITHOUT_TRACES = 100
PURE_TRACES, PURE_RECORDS = 2, 5


def the_system(hidden: tuple[str, ...] = (), terms: int = TERMS) -> System:
    """QuorumElection, a line for each step but the hidden ones."""
    specification = load_specification(str(SPEC), no_color=True)
    return logged(instantiate(specification, {"terms": str(terms)}, logs=True), True, hidden)


def simulated(folder: Path, traces: int, terms: int = TERMS, steps: int = 100) -> Path:
    """Runs as traces."""
    place = folder / f"traces-{traces}-{terms}"
    if not place.exists():
        words = ["--traces", str(traces), "--steps", str(steps), "--set", f"terms={terms}", "--out", str(place)]
        subprocess.run([sys.executable, "-m", "hacheck", "simulate", str(SPEC), *words, "--quiet"], check=True)
    return place


def batches_of(place: Path) -> list[Any]:
    """The records of traces, some at a time."""
    batches = pd.dataset(place, format="parquet", exclude_invalid_files=True).to_batches()
    return [batch for batch in batches if batch.num_rows and EVENT in batch.schema.names]


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


def timed(follower: Follower, words: Any, parts: Any) -> tuple[float, float]:
    """CPU seconds that it takes to follow traces, and how many states explain all records together."""
    before, begun = follower.memory.expanded, time.process_time()
    found = follower.follow(words, parts.copy())
    seconds = time.process_time() - begun
    assert (found[:, k.STATUS] == k.FOLLOWED).all(), "runs of the model conform"
    return seconds, follower.memory.expanded - before


def of_the_loop(name: str, batches: list[Any], terms: int, hidden: tuple[str, ...]) -> None:
    """A line of the table."""
    system = the_system(hidden, terms)
    made = compiled(observed(system))
    words, parts, total = in_words(made, batches)
    some = parts[:WITHOUT_TRACES]
    without, automatic = Follower(made), Follower(made, Memory(made, known_bytes=KNOWN_BYTES))
    automaton = automatic.memory.automaton
    assert automaton is not None, "there is one"
    slow = [timed(without, words, some)[0]]
    first, states = timed(automatic, words, parts)
    figures = automaton.figures()
    slow.append(timed(without, words, some)[0])
    again = min(timed(automatic, words, parts)[0] for _ in range(3)) / total
    later = automaton.figures()
    slow.append(timed(without, words, some)[0])
    rate, plain = total / first, int(some[:, k.LENGTH].sum()) / sorted(slow)[1]
    begun = time.process_time()
    records = sum(pure(system, batch, hidden) for batch in first_traces(batches))
    python = records / (time.process_time() - begun)
    known = "" if not figures.worked_out else f"{figures.recalled / total:.2f}"
    new = ""
    if figures.worked_out and later.forgotten == 0:
        new = f"{(first - total * again) / figures.worked_out * 1e6:.2f} us"
    print(
        f"{name:<42}{total:>11,}{states / total:>8.1f}{rate / 1e6:>9.2f} M{known:>7}{again * 1e9:>8.0f} ns{new:>10}"
        f"{plain / 1e6:>9.2f} M{rate / plain:>7.1f}{rate / python:>12,.0f}"
    )


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

    def check(self, batches: Iterator[Any], report: Any = None) -> Iterator[Any]:
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
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--whole", type=int, default=0)
    chosen = parser.parse_args()
    print(machine())
    with TemporaryDirectory() as folder:
        print(
            f"{'':<42}{'records':>11}{'states':>8}{'records/s':>11}{'known':>7}{'again':>11}{'worked out':>10}"
            f"{'without':>11}{'ratio':>7}{'interpreter':>12}"
        )
        for name, terms, hidden in CASES:
            of_the_loop(name, batches_of(simulated(Path(folder), chosen.records // 100, terms)), terms, hidden)
        if chosen.whole:
            of_the_driver(simulated(Path(folder), chosen.whole // 100))


if __name__ == "__main__":
    main()
