"""Runs of the reference implementation in the simulator, recorded as traces, and what `conform` says of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from hacheck.cli.running.followed import conform_options
from hacheck.impl.recording import TOTAL, Line, write_trace
from hacheck.impl.simulator.faults import Fault
from hacheck.impl.simulator.history import History
from hacheck.impl.simulator.running import Plan, run
from hacheck.impl.systems import system
from hacheck.testing.reference_protocols import FOLLOWED
from tests.cli.command import hacheck

SECOND_US = 1_000_000


def words_for(name: str) -> tuple[str, ...]:
    """How `hacheck conform` is told what a protocol's code follows."""
    return (FOLLOWED[name].spec, *conform_options(FOLLOWED[name]))


def recorded(
    folder: Path,
    name: str,
    faults: str | tuple[Fault, ...],
    seeds: range,
    settings: Mapping[str, str],
    *,
    replicas: int,
    clients: int = 2,
    seconds: int = 20,
    kept: Callable[[Line], bool] = lambda line: True,
    told: Callable[[Line], Line] = lambda line: line,
) -> Path:
    """A folder with the trace of each seed: those of its records that are kept, as they are to be told."""
    folder.mkdir()
    for seed in seeds:
        history = History(inputs=False)
        plan = Plan(
            seed=seed,
            faults=faults,
            replicas=replicas,
            clients=clients,
            settings=dict(settings),
            fault_us=seconds * SECOND_US,
        )
        outcome = run(system(name), plan, history)
        assert outcome.defect is None
        write_trace(folder / f"{seed}.jsonl", f"{name}-{seed}", TOTAL, map(told, filter(kept, history.lines())))
    return folder


def verdicts(spec: tuple[str, ...], folder: Path) -> Counter[str]:
    """How many traces got which verdict."""
    found = folder.with_suffix(".json")
    ended = hacheck("conform", spec[0], str(folder), *spec[1:], "--json", str(found), "--quiet")
    assert ended.code in (0, 1, 3), (ended.code, ended.err)
    counts = json.loads(found.read_text())["counts"]
    return Counter({verdict: count for verdict, count in counts.items() if count})
