"""Spin and hacheck on one state graph, in turn, as rows of a table."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from exploring import Explored, Task, explored
from measuring import in_turn, middle
from msgspec import Struct
from msgspec.structs import replace
from promela import promela
from spin import PLAIN, TUNED, Verified, missing, slots_for, verifier
from systems import system_of

HEAD = (
    f"{'':34}{'states':>12} {'steps':>13} {'user s':>7} {'states/s':>11} {'ratio':>6} {'system s':>8} {'B/state':>8}"
    f" {'verdict s':>9}"
)


class Row(Struct, frozen=True):
    """One run: user seconds of exploring, the system's for the whole process, the most memory that it held for each
    state, and CPU seconds from the text to the verdict with nothing kept from before.

    The system's seconds are told apart, since they say more of the machine: a host that takes free memory back from a
    virtual machine has it pay for each page anew, ten times as much in one run as in the next.
    """

    name: str
    states: int
    steps: int
    seconds: float
    system_seconds: float
    bytes_per_state: float
    verdict_seconds: float

    def text(self, own: Row) -> str:
        """The row; the ratio is how many times as many states a second hacheck's `own` run explores."""
        speed = self.states / self.seconds
        ratio = own.states / own.seconds / speed
        return (
            f"{self.name:34}{self.states:>12,} {self.steps:>13,} {self.seconds:>7.2f} {speed:>11,.0f}"
            f" {ratio:>6.1f} {self.system_seconds:>8.2f} {self.bytes_per_state:>8.1f} {self.verdict_seconds:>9.2f}"
        )


class Rival(Struct, frozen=True):
    """A way to explore, run as often as wanted."""

    name: str
    run: Callable[[], Row]


def spin_row(name: str, model: str, folder: Path, flags: tuple[str, ...], slots: int) -> Rival:
    """Spin with these flags, compiled once; Spin's start counts as a step, which is taken off."""
    made = verifier(model, folder, flags)

    def run() -> Row:
        found: Verified = made.run(slots)
        cpu, system = found.cost.cpu_seconds, found.cost.system_seconds
        memory = found.bytes_per_state
        return Row(name, found.states, found.steps - 1, cpu - system, system, memory, made.made + cpu)

    return Rival(name, run)


def hacheck_row(name: str, task: Task) -> Rival:
    """hacheck with nothing compiled before, and then, as Spin's verifier, thoroughly, before anything is explored."""

    def run() -> Row:
        found: Explored = explored(replace(task, optimise=True), clock="user")
        if found.stopped is not None:
            raise RuntimeError(f"{task.spec} was not explored completely: {found.stopped}")
        seconds, cost = found.seconds["exploring"], found.cost
        memory = cost.memory_bytes / found.states
        return Row(name, found.states, found.steps, seconds, cost.system_seconds, memory, cost.cpu_seconds)

    return Rival(name, run)


def rivals(task: Task, states: int, by_hand: str | None, folder: Path) -> list[Rival]:
    """hacheck first, then Spin where it is installed: on a model written by hand if there is one, which has no
    invariants, on the model that is printed from the same lowered form, with the invariants that hacheck is asked,
    and on that with Spin's best settings for this many states."""
    found = [hacheck_row(f"hacheck, {task.engine} engine", task)]
    if missing() is not None:
        return found
    printed = promela(system_of(task.spec, task.check, dict(task.settings)), task.properties)
    if by_hand is not None:
        found.append(spin_row("Spin, by hand", by_hand, folder / "hand", PLAIN, 24))
    found.append(spin_row("Spin, printed", printed, folder / "plain", PLAIN, 24))
    found.append(spin_row("Spin, printed, best flags", printed, folder / "tuned", TUNED, slots_for(states)))
    return found


def compare(title: str, task: Task, by_hand: str | None = None, runs: int = 3) -> None:
    """Prints the middle one of some runs of each, run in turn, asked the invariants that hold. Raises `RuntimeError` if
    two of them do not find the same states and steps."""
    print(title, flush=True)
    with TemporaryDirectory() as folder:
        first = explored(task)
        task = replace(task, properties=first.held)
        contest = rivals(task, first.states, by_hand, Path(folder))
        results = in_turn([rival.run for rival in contest], runs)
    rows = [middle(found, lambda row: row.seconds) for found in results]
    for row in rows:
        print("  " + row.text(rows[0]), flush=True)
    counts = {(row.states, row.steps) for row in rows}
    if len(counts) > 1:
        raise RuntimeError(f"the states or steps differ: {counts}")


def told_missing() -> None:
    """Says so where there is no peer."""
    reason = missing()
    if reason is not None:
        print(f"NO PEER: {reason}; on Debian: apt-get install spin gcc. Only hacheck is measured.", file=sys.stderr)
