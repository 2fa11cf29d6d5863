"""Whether what is wrong in traces is found, all of it and nothing else.

    python bench/detection.py [--traces N] [--share X]

Simulates runs of QuorumElection with one wrong value, one lost line or one swapped pair in a share of them, has them
judged, and compares the verdicts with the truth beside the traces. A damaged trace that conforms must be a run of the
model after all: the reference interpreter says whether it is.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from measuring import machine

from hacheck.cli.sources import instantiate, load_specification
from hacheck.model.execution import Line
from hacheck.model.interpreter import Interpreter
from hacheck.model.observing.line_writers import logged
from hacheck.traces.simulation.record_values import word

SPEC = Path(__file__).parent / "quorum_election.ha"
STEPS = 20


def is_run(interpreter: Interpreter, records: list[dict[str, Any]]) -> bool:
    """Whether a trace, each step of which is a record, is a run of the model."""
    states = set(interpreter.initial_states())
    for record in records:
        shown = {name: value for name, value in record["fields"].items() if value is not None}
        states = {
            step.state
            for state in states
            for step, (line,) in interpreter.steps_with_lines(state)
            if says(line) == (record["node"], record["event"], shown)
        }
    return bool(states)


def says(line: Line) -> tuple[str, str, dict[str, str]]:
    """What a record of a line says."""
    node = "-" if line.node is None else f"{line.node[0]}-{line.node[1]}"
    return node, line.event, {name: word(kind, value) for name, kind, value in line.fields}


def main() -> None:
    """Prints how many of each kind were found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=int, default=100_000)
    parser.add_argument("--share", type=float, default=0.01)
    chosen = parser.parse_args()
    print(machine())
    command = [sys.executable, "-m", "hacheck"]
    with TemporaryDirectory() as folder:
        place, table = Path(folder) / "traces", Path(folder) / "verdicts.parquet"
        wrong = ["--mutate", str(chosen.share), "--mutations", "value,lost,swap"]
        made = ["--traces", str(chosen.traces), "--steps", str(STEPS), "--out", str(place), "--quiet"]
        subprocess.run([*command, "simulate", str(SPEC), *made, *wrong], check=True)
        judged = [*command, "conform", str(SPEC), str(place), "--out", str(table), "--quiet"]
        subprocess.run(judged, check=False, stdout=subprocess.DEVNULL)
        verdicts = pq.read_table(table, columns=["trace_id", "verdict"])
        names, kinds = (verdicts[name].to_pylist() for name in ("trace_id", "verdict"))
        told(place, dict(zip(names, kinds, strict=True)), damaged(place))


def damaged(place: Path) -> dict[str, str]:
    """What was done to which trace."""
    found: dict[str, str] = {}
    for file in sorted((place / "_truth").glob("damage-*.parquet")):
        table = pq.read_table(file, columns=["trace_id", "kind"])
        found.update(zip(table["trace_id"].to_pylist(), table["kind"].to_pylist(), strict=True))
    return found


def told(place: Path, verdicts: dict[str, str], damage: dict[str, str]) -> None:
    """Prints a line for each kind, and what is amiss."""
    whole = Counter(verdict for name, verdict in verdicts.items() if name not in damage)
    print(f"not damaged: {dict(whole)}")
    system = instantiate(load_specification(str(SPEC), no_color=True), {}, logs=True)
    interpreter = Interpreter(logged(system, True))
    missed = [name for name in damage if verdicts[name] == "conforms"]
    records = pq.ParquetDataset(sorted(place.glob("part-*.parquet"))).read(["trace_id", "node", "event", "fields"])
    of_missed = records.filter(pc.is_in(records["trace_id"], pa.array(missed, pa.string())))
    runs: dict[str, list[dict[str, Any]]] = {}
    for record in of_missed.to_pylist():
        runs.setdefault(record["trace_id"], []).append(record)
    legal = {name for name in missed if is_run(interpreter, runs.get(name, []))}
    for kind in sorted(set(damage.values())):
        mine = [name for name in damage if damage[name] == kind]
        found = sum(verdicts[name] == "deviates" for name in mine)
        still = sum(name in legal for name in mine)
        print(
            f"{kind:<6} {len(mine):>6} damaged: {found:>6} found, {still:>5} still runs of the model, "
            f"{len(mine) - found - still:>3} missed"
        )


if __name__ == "__main__":
    main()
